/**
 * Helpers of the decisions on deposit notices and on withdrawal requests. A client's mailbox holds the open notices and
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

/** Runs the gates that precede the lookup of the reference. Returns the client and its partner as the turn sees them. */
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

/** How often an outdated read is repeated. Only a concurrent step makes a read outdated, and a row has few steps. */
const rereadLimit = 2

/** Reads a row and decides on it. It repeats while `attempt` returns null because the mailbox no longer holds the row. */
export const rereading = <A>(
  attempt: Effect.Effect<A | null, DispatchError>,
  tries = rereadLimit
): Effect.Effect<A, DispatchError> =>
  Effect.flatMap(attempt, (answer) => {
    if (answer !== null) return Effect.succeed(answer)
    return tries === 0 ? Effect.fail(new Unavailable({ unknown: false })) : rereading(attempt, tries - 1)
  })

/** The role of a caller who decides on money. The route admits only these two roles; another role here is a defect. */
export const financeLabel = ({ role }: OperatorCaller): "FINANCE" | "ADMIN" => {
  if (role !== "FINANCE" && role !== "ADMIN") throw new Error("money is decided in a finance role")
  return role
}
