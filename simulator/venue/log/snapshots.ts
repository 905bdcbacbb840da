/**
 * A snapshot as a file of records: a head with the length of every list of the state, then the lists in pieces. So no line
 * grows with the books, the process can do other work between pieces, and the counts reveal a torn or truncated file. A single
 * record with the whole state is the older format.
 */
import type { VenueState } from "../core/VenueState.ts"
import { lineOf } from "./records.ts"

export interface Snapshot {
  /** Wall time of the last input that the snapshot contains, Unix ms; null if it contains no input. */
  readonly at: number | null
  readonly state: VenueState
}

type Lists = Readonly<Record<string, ReadonlyArray<unknown>>>

interface Head<State> {
  readonly at: number | null
  /** The state without its lists, which follow in records of their own. */
  readonly state: State
  readonly lists?: Readonly<Record<string, number>>
}

interface Piece {
  readonly list: string
  readonly items: ReadonlyArray<unknown>
}

/** Number of items that one record holds. */
const pieceLength = 500

/** The lines of a snapshot; the state must not change until the last one is taken. */
export function* snapshotLines({ at, state }: Snapshot): Generator<string, void> {
  const { events, ...others } = state
  const lists: Lists = { ...listsOf(others), events: events.events }
  const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => !Array.isArray(value)))
  const head: Head<object> = {
    at,
    state: { ...rest, events: { ...events, events: [] } },
    lists: Object.fromEntries(Object.entries(lists).map(([list, items]) => [list, items.length]))
  }
  yield lineOf(head)
  for (const [list, items] of Object.entries(lists)) {
    for (let from = 0; from < items.length; from += pieceLength) {
      const piece: Piece = { list, items: items.slice(from, from + pieceLength) }
      yield lineOf(piece)
    }
  }
}

/** The snapshot in a file's records; null if it is incomplete. */
export const snapshotOf = (records: ReadonlyArray<unknown>): Snapshot | null => {
  const [head, ...pieces] = records as readonly [Head<VenueState> | undefined, ...ReadonlyArray<Piece>]
  if (head === undefined) return null
  if (head.lists === undefined) return pieces.length > 0 ? null : head
  const lists = new Map<string, Array<unknown>>(Object.keys(head.lists).map((list) => [list, []]))
  for (const { list, items } of pieces) for (const item of items) lists.get(list)?.push(item)
  if (Object.entries(head.lists).some(([list, length]) => lists.get(list)?.length !== length)) return null
  const { events = [], ...others } = Object.fromEntries(lists)
  return { at: head.at, state: Object.assign(head.state, others, { events: { ...head.state.events, events } }) }
}

const listsOf = (state: object): Lists =>
  Object.fromEntries(
    Object.entries(state).filter((entry): entry is [string, Array<unknown>] => Array.isArray(entry[1]))
  )
