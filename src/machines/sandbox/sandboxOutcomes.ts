/**
 * The way to bring each machine into each of its states in a sandbox, for partner developers and the operator; it comes from
 * the registry. The reference at /docs, docs/sandbox.md and `sim names` show it.
 */
import { statesOf } from "../describe.ts"
import { type Kind, kinds, machines } from "../registry.ts"
import type { Reach } from "../registryEntry.ts"

export interface SandboxOutcome extends Reach {
  readonly machine: Kind
  readonly state: string
  readonly meaning: string
  readonly final: boolean
}

const reachOf = (kind: Kind): Readonly<Record<string, Reach>> => machines[kind].reached

/** Every stored state of every machine in the machines' own order, with its meaning and how to reach it. */
export const sandboxOutcomes: ReadonlyArray<SandboxOutcome> = kinds.flatMap((machine) =>
  statesOf(machines[machine].machine).flatMap(({ name: state, description: meaning, final }) => {
    const row = reachOf(machine)[state]
    return row === undefined ? [] : [{ machine, state, meaning, final, ...row }]
  })
)

/** Rows that name no state of their machine. Must be empty: otherwise table and machines differ. */
export const strayOutcomes: ReadonlyArray<string> = kinds.flatMap((machine) => {
  const known = statesOf(machines[machine].machine).map(({ name }) => name)
  return Object.keys(reachOf(machine)).flatMap((state) => (known.includes(state) ? [] : [`${machine} ${state}`]))
})
