/** What the generator made of the machines beforehand: their layouts and tables of transitions (decision 29). */
import { readFileSync } from "node:fs"
import type { TableRow } from "../../../machines/describe.ts"
import type { MachineLayout } from "../../../machines/picture/MachineLayout.ts"
import type { Kind } from "../../../machines/registry.ts"

const once = <A>(file: string): (() => A) => {
  let read: A | undefined
  return () => (read ??= JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as A)
}

export const layouts = once<Readonly<Record<Kind, MachineLayout>>>("layouts.json")
export const transitions = once<Readonly<Record<Kind, ReadonlyArray<TableRow>>>>("transitions.json")
