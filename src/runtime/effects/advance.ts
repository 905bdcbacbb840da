/**
 * The only place that creates or steps an object of a machine: the machine decides, the row is written with its state, version
 * and context, and its effects become rows of the same commit.
 */
import type { MachineEffect } from "../../machines/Effects.ts"
import type { Turn } from "../engine/mailbox/ActorHost.ts"
import { catalogue, type MachineTable, type NewColumns, type Tables } from "../tables/Catalogue.ts"
import type { TableSpec } from "../tables/Table.ts"
import type { Instance, ObjectName } from "./Instance.ts"
import { applyEffects } from "./Interpreter.ts"
import { type EventOf, firstRow, type InputOf, nextRow } from "./machineRow.ts"

interface Belonging {
  /** The owner of the object; if absent, the columns of its row name the owner. */
  readonly of?: Instance
}

interface Start<T extends MachineTable> extends Belonging {
  readonly input: InputOf<T>
  readonly columns: NewColumns<T>
  /** The creation event of a machine whose first state is never stored; the machine must accept it. */
  readonly event?: EventOf<T>
}

/** Creates an object of a table's machine in the turn's draft. Throws if the machine refuses the creation event. */
export const start = <T extends MachineTable>(turn: Turn, table: T, options: Start<NoInfer<T>>): Tables[T] => {
  const { input, columns, event } = options
  const { row, effects } = firstRow(table, input, columns, event)
  turn.draft.put(table, row)
  logMove(turn, table, row, null)
  applyEffects(turn, instanceOf(table, row, options), effects)
  return row
}

interface Advance<T extends MachineTable> extends Belonging {
  /** Columns that change with the step but do not mirror the context. */
  readonly set?: Partial<NewColumns<T>>
  /** Types of effects to leave out, because they have no receiver. */
  readonly without?: ReadonlyArray<MachineEffect["type"]>
}

/** Steps an object by an event in the turn's draft; null, and no write, if its state does not accept the event. */
export const advance = <T extends MachineTable>(
  turn: Turn,
  table: T,
  row: Tables[NoInfer<T>],
  event: EventOf<NoInfer<T>>,
  options: Advance<NoInfer<T>> = {}
): Tables[T] | null => {
  const next = nextRow(table, row, event)
  if (next === null) return null
  const { set, without = [] } = options
  const written = set === undefined ? next.row : Object.assign(next.row, set)
  turn.draft.put(table, written)
  logMove(turn, table, written, stateOf(row))
  const effects = without.length === 0 ? next.effects : next.effects.filter(({ type }) => !without.includes(type))
  applyEffects(turn, instanceOf(table, written, options), effects)
  return written
}

/** Adds an entry to the event log for a transition; `from` null: the object is new. */
const logMove = <T extends MachineTable>(turn: Turn, table: T, row: Tables[T], from: string | null): void => {
  const state = stateOf(row)
  if (from === state || !catalogue[table].logged) return
  const { partnerId, clientId } = ownerOf(table, row)
  if (partnerId === null) throw new Error("an object of trading has a partner")
  const data = { machine: catalogue[table].object, id: idOf(row), from, to: state }
  const seq = turn.draft.nextEventSlot()
  turn.draft.put("events", { partnerId, seq, name: "state.changed", clientId, data, ts: turn.now })
}

const stateOf = (row: object): string => (row as { readonly state: string }).state
const idOf = (row: object): number => (row as { readonly id: number }).id

/** The name of an object in audit rows: its kind and the columns of its key. */
export const objectName = <T extends MachineTable>(table: T, row: Tables[T]): ObjectName => {
  const { object, key } = catalogue[table]
  const values = row as Readonly<Record<string, unknown>>
  let name = object as string
  for (const column of key) name += `:${values[column] as string}`
  return name as ObjectName
}

const instanceOf = <T extends MachineTable>(table: T, row: Tables[T], { of }: Belonging): Instance => ({
  ...(of ?? ownerOf(table, row)),
  object: objectName(table, row)
})

const ownerOf = (table: MachineTable, row: object): Instance => {
  const { residence } = catalogue[table] as TableSpec
  const columns = row as Readonly<Record<string, number | null | undefined>>
  const partnerId = residence?.subject === "partner" ? columns[residence.column ?? ""] : columns["partnerId"]
  return { partnerId: partnerId ?? null, clientId: columns["clientId"] ?? null }
}
