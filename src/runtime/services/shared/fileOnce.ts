/**
 * Files an object under a reference. Three promises hold for every caller:
 *
 * - At most one object is ever filed under a reference, because the filing commit claims the reference.
 * - A repeated reference replays the filed object, even if the gates would refuse it now. So a refusal by `decide` is returned
 *   only after a lookup of the reference. A refusal that leaves a row counts as a filing of its own.
 * - Of two concurrent requests with one reference, the one that commits later replays the object of the other.
 *
 * Two kinds of checks precede the replay: those of the caller before it files (custody model, fields), and those of `decide`
 * before it replays.
 *
 * A lookup that is out of date because the mailbox has moved is repeated once with the mailbox held. A filing with an unknown
 * result (`Unavailable`) is filed again by its caller, and then replays the stored object.
 *
 * A3-01, A3-14, A3-25, A3-43.
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
import { decideHeld } from "./readThenDecide.ts"

interface Tools {
  readonly host: ActorHost["Service"]
  readonly stored: Pick<RowReads["Service"], "holders">
}

interface Filing<F, A> extends Omit<Command<Verdict<A>>, "decide"> {
  /** The unique fact of the reference, which `decide` claims when it files; null: the object has no reference. */
  readonly claim: string | null
  /** Reads the filed object by the id that the claim holds. */
  readonly read: (owner: number) => Effect.Effect<F, Unavailable>
  /**
   * When the reference is looked up. `first`: before the first decision. `late`: only when the commit or a refusal
   * needs it; until then the reference counts as free, so a new reference costs no lookup. `late` suits hot paths with
   * few replays.
   */
  readonly lookup: "first" | "late"
  /**
   * Replays `filed`, refuses, or files a new object and claims the reference. Null: the reference is free, or is
   * assumed to be. A refusal that leaves rows must claim the reference like a filing.
   */
  readonly decide: (turn: Turn, filed: NoInfer<F> | null) => Verdict<A>
}

/**
 * Files, or replays the filed object. Few rounds suffice: if another request has claimed the reference, the next lookup finds its
 * row.
 */
export const fileOnce = <F, A>(
  { host, stored }: Tools,
  filing: Filing<F, A>
): Effect.Effect<Verdict<A>, DispatchError> => {
  const { claim, read, lookup, decide } = filing
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
      // The mailbox's version before the lookup, so that a change during the lookup is noticed.
      const token = yield* host.read(filing.subject, (state) => state.token)
      const filed = yield* filedUnder(stored, claim, read)
      return yield* attempt(filed, ({ state }) => state.token === token)
    })
  const held = () => decideHeld(host, { ...filing, read: () => filedUnder(stored, claim, read), decide })
  const rounds = lookup === "first" ? [seen, held, held] : [unseen, seen, held, held]
  const run = (at: number): Effect.Effect<Verdict<A>, DispatchError> => {
    const round = rounds[at]
    if (round === undefined) return Effect.fail(new Unavailable({ unknown: false }))
    return Effect.catchIf(round(), needsLookup(claim), () => run(at + 1))
  }
  return run(0)
}

/**
 * True if the conflict is about the reference: it was not looked up, or another filing took it. After a conflict about
 * other facts only the decision is repeated.
 */
const needsLookup =
  (claim: string) =>
  (error: DispatchError): error is FactNeeded | ClaimLost =>
    error._tag === "FactNeeded" || (error._tag === "ClaimLost" && error.claims.some(({ name }) => name === claim))

/** The object filed under a reference; null: the reference is free, or the claim is null. */
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

/** Reads the row of a table by the id that a claim holds. A missing row is a defect, because one commit writes both. */
export const rowFiled =
  <T extends TableName>(stored: RowReads["Service"], table: T) =>
  (owner: number): Effect.Effect<Tables[T], Unavailable> =>
    Effect.map(firstRow(stored, table, [{ column: "id", value: owner }]), (row) => {
      if (row === null) throw new Error(`a reference belongs to row ${owner} of ${table}, which is not there`)
      return row
    })
