/**
 * Decisions on rows that no mailbox holds in memory: they are read first, and the decision counts only when the mailbox
 * has committed nothing in between that they depend on. A commit whose fate was unknown meanwhile reloads the mailbox, so
 * it is seen as well.
 */
import { Effect, Random } from "effect"
import {
  type ActorHost,
  type Attribution,
  type Command,
  type DispatchError,
  type Turn,
  Unavailable
} from "../../engine/mailbox/ActorHost.ts"
import type { SubjectKey } from "../../engine/journal/Commit.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { TableName } from "../../store/Rows.ts"

/** Rounds before a busy mailbox is told as such. */
const rounds = 8
/** Wall milliseconds between two rounds, at the most: in step with steady traffic every round would fail like the first. */
const pauseMillis = 20

interface Unmoved<R, A> {
  readonly subject: SubjectKey
  readonly by: Attribution
  readonly partner?: NonNullable<Command<A>["partner"]>
  /** The mailbox's tables that every commit which touches the rows read writes too; whatever it commits when absent. */
  readonly restsOn?: ReadonlyArray<TableName>
  /**
   * Whether the mailbox alone refuses, whatever was read: in the last round that is told, with reasons that may be a moment
   * old, instead of a mailbox that is too busy. Such a decision writes nothing.
   */
  readonly refusesAnyway?: (state: SubjectState) => boolean
  readonly read: (state: SubjectState) => Effect.Effect<R, Unavailable>
  readonly decide: (turn: Turn, read: R) => A
}

const moved = Symbol("moved")

/** The rows of some tables as they are: a commit that writes one puts another in its place. */
const rowsOf = (state: SubjectState, tables: ReadonlyArray<TableName>): ReadonlyArray<object> =>
  tables.flatMap((table): ReadonlyArray<object> => state.all(table))

const sameRows = (a: ReadonlyArray<object>, b: ReadonlyArray<object>): boolean =>
  a.length === b.length && a.every((row, index) => row === b[index])

/** Reads and decides, again and again until nothing happened between the two. */
export const decideUnmoved = <R, A>(
  host: ActorHost["Service"],
  { subject, by, partner, restsOn, refusesAnyway, read, decide }: Unmoved<R, A>
): Effect.Effect<A, DispatchError> => {
  const round = (left: number): Effect.Effect<A, DispatchError> =>
    Effect.gen(function* () {
      if (left === 0) return yield* new Unavailable({ unknown: false })
      if (left < rounds) yield* Effect.flatMap(Random.nextBetween(0, pauseMillis), (millis) => Effect.sleep(millis))
      const seen = yield* host.read(subject, (state) => ({
        token: state.token,
        rows: rowsOf(state, restsOn ?? []),
        found: read(state)
      }))
      const same = (state: SubjectState): boolean =>
        state.token === seen.token || (restsOn !== undefined && sameRows(seen.rows, rowsOf(state, restsOn)))
      const found = yield* seen.found
      const decided = yield* host.dispatch<A | typeof moved>({
        subject,
        by,
        ...(partner === undefined ? {} : { partner }),
        decide: (turn) =>
          same(turn.state) || (left === 1 && refusesAnyway?.(turn.state) === true) ? decide(turn, found) : moved
      })
      return decided === moved ? yield* round(left - 1) : (decided as A)
    })
  return round(rounds)
}
