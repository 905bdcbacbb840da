/**
 * What deposit notices and withdrawal requests are filed and decided with alike (document 3, Money write gates; A3-01,
 * A3-02). A mailbox holds those that are still open. A reference is looked up before the gates, because an own one is
 * replayed whatever they say; the filing commit claims it, so that of two filings of one reference the second is looked
 * up again. So is one that a gate refuses after its mailbox has moved: what the gate counted may have been the same
 * request.
 */
import { Effect } from "effect"
import { accept, conflict, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import {
  type ActorHost,
  type ClaimLost,
  type DispatchError,
  FactNeeded,
  type StoreAnswer,
  type Turn,
  Unavailable
} from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow, TableName, Tables } from "../../store/Rows.ts"
import { type Caller, presentPartner } from "../partner/Caller.ts"
import { clientSubject, ownClient } from "../client/clientState.ts"
import type { Directory, PartnerView } from "../partner/Directory.ts"
import type { OperatorCaller } from "../operator/OperatorKeys.ts"
import { firstRow } from "../shared/rowLists.ts"
import type { RowReads } from "../../ports/RowReads.ts"

interface FilingTools {
  readonly host: ActorHost["Service"]
  readonly directory: Directory["Service"]
  readonly stored: RowReads["Service"]
}

interface Filing<T extends TableName, A> {
  readonly caller: Caller
  readonly clientId: number
  readonly table: T
  /** The unique fact of the reference. */
  readonly claim: string
  /** `filed`: the row that held the reference when it was looked up; null: it was free. */
  readonly decide: (turn: Turn, filed: Tables[T] | null) => Verdict<A>
  readonly store: StoreAnswer<Verdict<A>>
}

export const notUnderBroker = conflict("This partner is under PARTNER custody: use collateral reports.")

/** The client and its partner as the turn has them, behind the gates that come before the reference (A3-02). */
export const brokerClient = (
  { state }: Turn,
  directory: Directory["Service"],
  caller: Caller
): Verdict<{ readonly client: ClientRow; readonly partner: PartnerView }> => {
  const client = ownClient(state, caller.partner.row.id)
  if (client === null) return refuse(unknown("Client"))
  const partner = presentPartner(directory, caller)
  return partner.row.custodyModel === "BROKER" ? accept({ client, partner }) : refuse(notUnderBroker)
}

/** Readings of a row or a reference before giving up: each can lose to one step of somebody else. */
const rereadLimit = 2

/** The row that holds a unique fact; null when it is free. */
export const rowUnder = <T extends TableName>(
  stored: RowReads["Service"],
  table: T,
  claim: string
): Effect.Effect<Tables[T] | null, Unavailable> =>
  Effect.flatMap(stored.holders([claim]), ([holder]) =>
    holder === undefined ? Effect.succeed(null) : firstRow(stored, table, [{ column: "id", value: holder.owner }])
  )

/** Whether a filing must look its reference up, once more: it was not known, or lost it to another filing. */
export const needsLookUp =
  (claim: string) =>
  (error: DispatchError): error is FactNeeded | ClaimLost =>
    error._tag === "FactNeeded" || (error._tag === "ClaimLost" && error.claims.every(({ name }) => name === claim))

/** Files under a reference: looked up, then decided in the client's mailbox. */
export const fileByReference = <T extends TableName, A>(
  { host, directory, stored }: FilingTools,
  { caller, clientId, table, claim, decide, store }: Filing<T, A>
): Effect.Effect<Verdict<A>, DispatchError> => {
  const subject = clientSubject(clientId)
  const attempt = (token: number | null, filed: Tables[T] | null, last: boolean) =>
    host.dispatch({
      subject,
      by: caller.by,
      partner: () => directory.stamp(caller.partner.row.id),
      decide: (turn) => {
        const verdict = decide(turn, filed)
        if (!verdict.ok && !last && filed === null && turn.state.token !== token) {
          throw new FactNeeded({ fact: "partnerRef" })
        }
        return verdict
      },
      store
    })
  const run = (tries: number): Effect.Effect<Verdict<A>, DispatchError> =>
    Effect.gen(function* () {
      // How far the mailbox was before the look, not after it.
      const token = yield* host.read(subject, (state) => state.token)
      const filed = yield* rowUnder(stored, table, claim)
      return yield* Effect.catchIf(attempt(token, filed, tries === 0), needsLookUp(claim), () =>
        tries === 0 ? Effect.fail(new Unavailable({ unknown: false })) : run(tries - 1)
      )
    })
  return run(rereadLimit)
}

/** A decision on a row that is read first: again when it answers null, because the mailbox holds the row no more. */
export const rereading = <A>(
  decide: Effect.Effect<A | null, DispatchError>,
  tries = rereadLimit
): Effect.Effect<A, DispatchError> =>
  Effect.flatMap(decide, (decided) => {
    if (decided !== null) return Effect.succeed(decided)
    return tries === 0 ? Effect.fail(new Unavailable({ unknown: false })) : rereading(decide, tries - 1)
  })

/** The gate lets only these two roles through; another one here is a defect. */
export const financeDecider = ({ role }: OperatorCaller): "FINANCE" | "ADMIN" => {
  if (role !== "FINANCE" && role !== "ADMIN") throw new Error("money is decided in a finance role")
  return role
}
