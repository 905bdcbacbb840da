/** What was made of the machines beforehand: their layouts, tables of transitions, and what goes through them (decision 29). */
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

/** What goes through a machine where it is tried, as `npm run machine-coverage` has recorded it. */
export const coverageOf = (kind: Kind): MachineCoverage => readCoverage(covered(), kind)
