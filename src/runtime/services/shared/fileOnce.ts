/**
 * Filing under a reference (A3-01, A3-14, A3-25, A3-43). Three promises, for every caller:
 *
 * - What is filed under a reference is filed at most once, for ever: the filing commit claims the reference.
 * - An own reference replays what was filed, whatever the gates behind it say now: no refusal by `decide` is answered
 *   before the reference has been looked up, unless it leaves a row, which is a filing of its own. What the caller refuses
 *   before it files (custody model, fields), and what `decide` asks before it replays, come first.
 * - Who loses the race for a reference replays the winner.
 *
 * A look-up that is out of date, because the mailbox has moved since, is made once more with the mailbox held. A filing
 * whose fate is unknown (`Unavailable`) is filed again by its caller, and then replays what was written.
 */
import { Effect } from "effect"
import type { Verdict } from "../../../machines/shared/Refusal.ts"
import {
  type ActorHost,
  type ClaimLost,
  type Command,
  type DispatchError,
  FactNeeded,
  type Turn,
  Unavailable
} from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { TableName, Tables } from "../../tables/Catalogue.ts"
import { firstRow } from "./firstRow.ts"
import { decideHeld } from "./unmoved.ts"

interface Tools {
  readonly host: ActorHost["Service"]
  readonly stored: Pick<RowReads["Service"], "holders">
}

interface Filing<F, A> extends Omit<Command<Verdict<A>>, "decide"> {
  /** The unique fact of the reference, which `decide` claims when it files; null: filed under none. */
  readonly claim: string | null
  /** What is filed, by the id that the claim holds. */
  readonly read: (owner: number) => Effect.Effect<F, Unavailable>
  /**
   * `first`: the reference is looked up before the first decision. `late`: it is taken to be free until the commit or a
   * refusal asks for it, so that a fresh one costs no look-up; for hot paths whose replays are few.
   */
  readonly look: "first" | "late"
  /**
   * Replays `filed`, refuses, or files anew and claims the reference. Null: the reference is free, or taken to be. A
   * refusal that leaves rows must claim the reference like a filing.
   */
  readonly decide: (turn: Turn, filed: NoInfer<F> | null) => Verdict<A>
}

/** Files, or replays what was filed. Rounds are few: a reference that was lost to somebody else is found by the next look. */
export const fileOnce = <F, A>(
  { host, stored }: Tools,
  filing: Filing<F, A>
): Effect.Effect<Verdict<A>, DispatchError> => {
  const { claim, read, look, decide } = filing
  if (claim === null) return host.dispatch({ ...filing, decide: (turn) => decide(turn, null) })
  const attempt = (filed: F | null, known: (turn: Turn) => boolean) =>
    host.dispatch({
      ...filing,
      decide: (turn) => {
        const verdict = decide(turn, filed)
        if (!verdict.ok && filed === null && turn.draft.isEmpty && !known(turn)) {
          throw new FactNeeded({ fact: "reference" })
        }
        return verdict
      }
    })
  const unseen = () => attempt(null, () => false)
  const seen = () =>
    Effect.gen(function* () {
      // The version from before the look: a change during the look must be noticed.
      const token = yield* host.read(filing.subject, (state) => state.token)
      const filed = yield* filedUnder(stored, claim, read)
      return yield* attempt(filed, ({ state }) => state.token === token)
    })
  const held = () => decideHeld(host, { ...filing, read: () => filedUnder(stored, claim, read), decide })
  const rounds = look === "first" ? [seen, held, held] : [unseen, seen, held, held]
  const run = (at: number): Effect.Effect<Verdict<A>, DispatchError> => {
    const round = rounds[at]
    if (round === undefined) return Effect.fail(new Unavailable({ unknown: false }))
    return Effect.catchIf(round(), needsLook(claim), () => run(at + 1))
  }
  return run(0)
}

/** Whether the reference has to be looked up: it was not known, or is taken. Other facts lost with it are lost again. */
const needsLook =
  (claim: string) =>
  (error: DispatchError): error is FactNeeded | ClaimLost =>
    error._tag === "FactNeeded" || (error._tag === "ClaimLost" && error.claims.some(({ name }) => name === claim))

/** What is filed under a reference now; null: it is free, or there is none. */
export const filedUnder = <F>(
  stored: Pick<RowReads["Service"], "holders">,
  claim: string | null,
  read: (owner: number) => Effect.Effect<F, Unavailable>
): Effect.Effect<F | null, Unavailable> =>
  Effect.flatMap(
    claim === null ? Effect.succeed([]) : stored.holders([claim]),
    ([holder]): Effect.Effect<F | null, Unavailable> =>
      holder === undefined ? Effect.succeed(null) : read(holder.owner)
  )

/** Reads the row of a table that a claim belongs to: both are written by one commit. */
export const rowFiled =
  <T extends TableName>(stored: RowReads["Service"], table: T) =>
  (owner: number): Effect.Effect<Tables[T], Unavailable> =>
    Effect.map(firstRow(stored, table, [{ column: "id", value: owner }]), (row) => {
      if (row === null) throw new Error(`a reference belongs to row ${owner} of ${table}, which is not there`)
      return row
    })
