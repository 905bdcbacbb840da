/**
 * Shared by the decisions on deposit notices and on withdrawal requests. A client's mailbox holds the open notices and
 * requests (A3-02).
 */
import { Effect } from "effect"
import { accept, conflict, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { type DispatchError, type Turn, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../tables/client.ts"
import { type Caller, partnerNow } from "../partners/Caller.ts"
import { ownClient } from "../account/clientState.ts"
import type { Directory, PartnerView } from "../partners/Directory.ts"
import type { OperatorCaller } from "../shared/OperatorCaller.ts"

export const notUnderBroker = conflict(
  "PARTNER_CUSTODY",
  "This partner is under PARTNER custody: use collateral reports."
)

/** The client and its partner as the turn has them, after the gates that come before the reference. */
export const brokerClient = (
  { state }: Turn,
  directory: Directory["Service"],
  caller: Caller
): Verdict<{ readonly client: ClientRow; readonly partner: PartnerView }> => {
  const client = ownClient(state, caller.partner.row.id)
  if (client === null) return refuse(unknown("Client"))
  const partner = partnerNow(directory, caller)
  return partner.row.custodyModel === "BROKER" ? accept({ client, partner }) : refuse(notUnderBroker)
}

/** Reads of a row before giving up: each can lose to one concurrent step. */
const rereadLimit = 2

/**
 * Decides on a row that is read first. It repeats while `attempt` returns null because the mailbox no longer holds the
 * row.
 */
export const rereading = <A>(
  attempt: Effect.Effect<A | null, DispatchError>,
  tries = rereadLimit
): Effect.Effect<A, DispatchError> =>
  Effect.flatMap(attempt, (answer) => {
    if (answer !== null) return Effect.succeed(answer)
    return tries === 0 ? Effect.fail(new Unavailable({ unknown: false })) : rereading(attempt, tries - 1)
  })

/** The gate lets only these two roles through; another role here is a defect. */
export const financeLabel = ({ role }: OperatorCaller): "FINANCE" | "ADMIN" => {
  if (role !== "FINANCE" && role !== "ADMIN") throw new Error("money is decided in a finance role")
  return role
}
