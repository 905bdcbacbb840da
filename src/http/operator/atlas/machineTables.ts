/** Generated data of the machines: layouts, transition tables and coverage (decision 29). */
import { readFileSync } from "node:fs"
import type { TableRow } from "../../../machines/describe.ts"
import { type MachineCoverage, readCoverage, type StoredCoverage } from "../../../machines/picture/MachineCoverage.ts"
import type { MachineLayout } from "../../../machines/picture/MachineLayout.ts"
import type { Kind } from "../../../machines/registry.ts"

const once = <A>(file: string): (() => A) => {
  let read: A | undefined
  return () => (read ??= JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as A)
}

export const layouts = once<Readonly<Record<Kind, MachineLayout>>>("layouts.json")
export const transitions = once<Readonly<Record<Kind, ReadonlyArray<TableRow>>>>("transitions.json")

const covered = once<StoredCoverage>("coverage.json")

/** The coverage of a machine as recorded by `npm run machine-coverage`. */
export const coverageOf = (kind: Kind): MachineCoverage => readCoverage(covered(), kind)
