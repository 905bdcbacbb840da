/**
 * A machine's step as rows: the first row of an object and the one after an event, with state, version, context and the
 * columns that mirror the context. Pure; `advance.ts` writes them and applies the effects.
 */
import type { EventFrom, InputFrom } from "xstate"
import type { MachineEffect } from "../../machines/Effects.ts"
import { machines, type MachineOf } from "../../machines/registry.ts"
import { begin, create, type Step, step, versionOf } from "../engine/machine/step.ts"
import { catalogue, type KindOf, type MachineTable, type NewColumns, type Tables } from "../tables/Catalogue.ts"
import type { MachineRow, TableSpec } from "../tables/Table.ts"

export type InputOf<T extends MachineTable> = InputFrom<MachineOf<KindOf<T>>>
export type EventOf<T extends MachineTable> = EventFrom<MachineOf<KindOf<T>>>

/** The row of an object after a step, and the effects that its machine emitted in the step. */
export interface Stepped<T extends MachineTable> {
  readonly row: Tables[T]
  readonly effects: ReadonlyArray<MachineEffect>
}

/** The first row of an object, after its creation event if one is given. Throws if the machine refuses that event. */
export const firstRow = <T extends MachineTable>(
  table: T,
  input: InputOf<T>,
  columns: NewColumns<NoInfer<T>>,
  event?: EventOf<NoInfer<T>>
): Stepped<T> => {
  const machine = machineOf(table)
  if (event === undefined) return stepped(table, columns, begin(machine, input as never))
  const created = create(machine, input as never, event as never)
  if (!created.changed) throw new Error(`a new ${catalogue[table].title} refused its creation`)
  return stepped(table, columns, created)
}

/** The row after an event; null if its state does not accept the event. */
export const nextRow = <T extends MachineTable>(
  table: T,
  row: Tables[T],
  event: EventOf<NoInfer<T>>
): Stepped<T> | null => {
  const { state, context } = row as MachineRow
  const decision = step(machineOf(table), { state, context: context as never }, event as never)
  return decision.changed ? stepped(table, row, decision) : null
}

const specOf = (table: MachineTable): TableSpec => catalogue[table]

const machineOf = (table: MachineTable) => machines[catalogue[table].machine as KindOf<typeof table>].machine

const stepped = <T extends MachineTable>(table: T, columns: object, moved: Step): Stepped<T> => {
  const { machine, mirrors } = specOf(table)
  const { state, context, effects } = moved
  const row = {
    ...columns,
    state,
    version: versionOf(machine as KindOf<T>),
    context: context as object,
    ...mirrors?.(context as never)
  }
  // The only place where a step, typed by its machine, becomes the row of that machine's table.
  return { row: row as Tables[T], effects }
}
