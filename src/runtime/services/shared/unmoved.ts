/**
 * Decisions on rows that no mailbox holds in memory: they are read first, and the decision counts only when the mailbox
 * has committed nothing in between that they depend on. A commit whose fate was unknown meanwhile reloads the mailbox, so
 * it is seen as well. A mailbox that moves all the time is held in the end, where the decision asks for it.
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

/** Rounds before the caller gets that the mailbox is busy. */
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
   * The last round reads with the mailbox held: its other turns wait for as long as that takes, so that the decision ends
   * whatever moves. Only for a `read` that is bounded and asks no mailbox.
   */
  readonly heldAtLast?: boolean
  readonly read: (state: SubjectState) => Effect.Effect<R, Unavailable>
  readonly decide: (turn: Turn, read: R) => A
}

interface Held<R, A> extends Omit<Command<A>, "decide">, Pick<Unmoved<R, A>, "read" | "decide"> {}

const moved = Symbol("moved")

/** The rows of some tables as they are: a commit that writes one puts another in its place. */
const rowsOf = (state: SubjectState, tables: ReadonlyArray<TableName>): ReadonlyArray<object> =>
  tables.flatMap((table): ReadonlyArray<object> => state.all(table))

const sameRows = (a: ReadonlyArray<object>, b: ReadonlyArray<object>): boolean =>
  a.length === b.length && a.every((row, index) => row === b[index])

/** Reads and decides, again and again until nothing happened between the two. */
export const decideUnmoved = <R, A>(
  host: ActorHost["Service"],
  { subject, by, partner, restsOn, heldAtLast = false, read, decide }: Unmoved<R, A>
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
 * `read` that is bounded and asks no mailbox.
 */
export const decideHeld = <R, A>(
  host: ActorHost["Service"],
  { read, decide, store, ...command }: Held<R, A>
): Effect.Effect<A, DispatchError> =>
  Effect.suspend(() => {
    let found: { readonly token: number | null; readonly rows: Exit.Exit<R, Unavailable> } | null = null
    const look = (state: SubjectState): Effect.Effect<void> => {
      const { token } = state
      return Effect.map(Effect.exit(read(state)), (rows) => {
        found = { token, rows }
      })
    }
    return Effect.flatten(
      host.dispatch<Exit.Exit<A, Unavailable>>({
        ...command,
        decide: (turn) => {
          // A commit whose fate was unknown may be seen after the look: then it is made again.
          if (found === null || found.token !== turn.state.token) throw new TurnHeld(look(turn.state))
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
