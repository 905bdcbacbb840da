/**
 * Optimistic decisions on rows that no mailbox holds in memory. The rows are read first. The decision counts only if
 * the mailbox has committed nothing in between that it depends on. A commit with an unknown result reloads the
 * mailbox, so it is noticed as well. If the mailbox moves all the time, the last round holds it, where the caller
 * allows that.
 */
import { Effect, Exit, Random } from "effect"
import {
  type ActorHost,
  type Attribution,
  type Command,
  type DispatchError,
  type Turn,
  Unavailable
} from "../../engine/mailbox/ActorHost.ts"
import { TurnHeld } from "../../engine/mailbox/TurnHeld.ts"
import type { SubjectKey } from "../../engine/journal/Commit.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { TableName } from "../../tables/Catalogue.ts"

/** Rounds before the caller gets "the mailbox is busy". */
const rounds = 8
/**
 * Longest pause between two rounds, wall ms. It is random: in step with steady traffic every round would fail like the
 * first.
 */
const pauseMillis = 20

interface ReadThenDecide<R, A> {
  readonly subject: SubjectKey
  readonly by: Attribution
  readonly partner?: NonNullable<Command<A>["partner"]>
  /**
   * The tables that the decision depends on: every commit that changes the rows read also writes to one of these
   * tables. Absent: any commit of the mailbox invalidates the decision.
   */
  readonly restsOn?: ReadonlyArray<TableName>
  /**
   * True: the last round reads with the mailbox held, so other turns wait and the decision always ends. Only for a `read` that is
   * bounded and uses no mailbox.
   */
  readonly heldAtLast?: boolean
  readonly read: (state: SubjectState) => Effect.Effect<R, Unavailable>
  readonly decide: (turn: Turn, read: R) => A
}

interface Held<R, A> extends Omit<Command<A>, "decide">, Pick<ReadThenDecide<R, A>, "read" | "decide"> {}

const moved = Symbol("moved")

/** The current rows of some tables: a commit that writes a row replaces its object, so identity shows a change. */
const rowsOf = (state: SubjectState, tables: ReadonlyArray<TableName>): ReadonlyArray<object> =>
  tables.flatMap((table): ReadonlyArray<object> => state.all(table))

const sameRows = (a: ReadonlyArray<object>, b: ReadonlyArray<object>): boolean =>
  a.length === b.length && a.every((row, index) => row === b[index])

/** Reads and decides, and repeats both until no commit came between them. */
export const readThenDecide = <R, A>(
  host: ActorHost["Service"],
  { subject, by, partner, restsOn, heldAtLast = false, read, decide }: ReadThenDecide<R, A>
): Effect.Effect<A, DispatchError> => {
  const command = { subject, by, ...(partner === undefined ? {} : { partner }) }
  const round = (left: number): Effect.Effect<A, DispatchError> =>
    Effect.gen(function* () {
      if (left === 0) return yield* new Unavailable({ unknown: false })
      if (left === 1 && heldAtLast) return yield* decideHeld(host, { ...command, read, decide })
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
        ...command,
        decide: (turn) => (same(turn.state) ? decide(turn, found) : moved)
      })
      return decided === moved ? yield* round(left - 1) : (decided as A)
    })
  return round(rounds)
}

/**
 * Reads with the mailbox held, then decides: the turn keeps its place at the head until the rows are read. Only for a
 * `read` that is bounded and uses no mailbox.
 */
export const decideHeld = <R, A>(
  host: ActorHost["Service"],
  { read, decide, store, ...command }: Held<R, A>
): Effect.Effect<A, DispatchError> =>
  Effect.suspend(() => {
    let found: { readonly token: number | null; readonly rows: Exit.Exit<R, Unavailable> } | null = null
    const loadRows = (state: SubjectState): Effect.Effect<void> => {
      const { token } = state
      return Effect.map(Effect.exit(read(state)), (rows) => {
        found = { token, rows }
      })
    }
    return Effect.flatten(
      host.dispatch<Exit.Exit<A, Unavailable>>({
        ...command,
        decide: (turn) => {
          // A commit with an unknown result may appear after the read: then the read is repeated.
          if (found === null || found.token !== turn.state.token) throw new TurnHeld(loadRows(turn.state))
          return Exit.map(found.rows, (rows) => decide(turn, rows))
        },
        ...(store === undefined
          ? {}
          : {
              store: {
                row: (exit, turn) => (Exit.isSuccess(exit) ? store.row(exit.value, turn) : null),
                committed: (row) => store.committed(row)
              }
            })
      })
    )
  })
