/**
 * The sandbox's automatic decisions on clients with a published last name. Durable timers of the client, set at its
 * onboarding, start turns that run the same decisions as compliance. Only a sandbox service sets these timers and has
 * their handlers (D1, D2, D3).
 */
import { personClaims } from "../../../../machines/kyc/personKey.ts"
import { sandboxRetry } from "../../../../machines/sandbox/sandboxNames.ts"
import type { SandboxDecision, SandboxTimer } from "../../../../machines/timerNames.ts"
import type { Verdict } from "../../../../machines/shared/Refusal.ts"
import type { ActorHost, Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { bookAdjustment } from "../../money/ledger/Adjustments.ts"
import { shutRefusal } from "../../money/ledger/Booking.ts"
import { type AccountFacts, accountBlockers, closeClient } from "../../lifecycle/closingDecisions.ts"
import { setSandboxTimer } from "../../clients/client/sandboxTimers.ts"
import {
  clearClient,
  type ClientTurn,
  liftRestriction,
  rejectReliance,
  restrictClient
} from "../../clients/client/clientDecisions.ts"
import { downgradeClient } from "../../lifecycle/lifecycleDecisions.ts"
import { instanceOf } from "../../account/clientState.ts"
import { closingPartners } from "../../partners/closingPartners.ts"
import type { Directory, PartnerView } from "../../partners/Directory.ts"
import { partnerOfTurn } from "../../partners/partnerOfTurn.ts"
import { rejectPerson, requestDocuments } from "../../clients/kyc/reviewDecisions.ts"

/** The reason of every decision; the partner reads it where a note is shown. */
const reason = "Decided by the sandbox because of the client's last name."

type Decide = (at: ClientTurn, client: ClientRow, partner: PartnerView) => Verdict<unknown>

/**
 * The facts of the zero check, without a database read. A client for which money was ever booked is left to the
 * operator. All claims of the person are released without a search for other clients of the same person: a search at
 * their onboarding works without claims (A1-28).
 */
const accountFacts = (state: SubjectState, client: ClientRow): AccountFacts => ({
  openItems: state.all("balances").length === 0 ? [] : ["Money was booked for this client."],
  personClaims: personClaims(client.personKey)
})

const credit = { currency: "USDC", amount: 1_000_000n, reason, reference: null } as const

const decisionsOf = (host: ActorHost["Service"]): { readonly [D in SandboxDecision]: Decide } => ({
  // No second screening takes place: the entry that held the client is the sandbox's own.
  clear: (at, client) => clearClient(at, client, reason, null),
  rejectReliance: (at, client) => rejectReliance(at, client, reason),
  rejectPerson: (at, client) =>
    rejectPerson(at, client, reason, accountBlockers(at.turn.state, accountFacts(at.turn.state, client))),
  requestDocuments: (at, client) => requestDocuments(at, client, reason),
  restrict: (at, client) => restrictClient(at, client, "NO_NEW_RISK", reason),
  lift: (at, client) => liftRestriction(at, client, "NO_NEW_RISK", reason),
  downgrade: (at, client) => downgradeClient(at, client, reason),
  close: (at, client) => closeClient(at, client, reason, accountFacts(at.turn.state, client)),
  credit: (at, client, partner) => {
    const shut = shutRefusal(client, partner, closingPartners(host))
    return shut === null ? bookAdjustment(at.turn, client, partner, credit) : { ok: false, refusal: shut }
  }
})

/**
 * The handlers of the timers by name. A refused decision is retried for a while, because the partner may still have to
 * make the calls that it requires.
 */
export const sandboxHandlers = (
  directory: Directory["Service"],
  host: ActorHost["Service"]
): { readonly [N in SandboxTimer]: TimerHandler } => {
  const decisions = decisionsOf(host)
  const handler = (decision: SandboxDecision) => (turn: Turn) => {
    const client = turn.state.one("clients")
    const partner = client === undefined ? null : partnerOfTurn(turn, directory, client)
    if (client === undefined || partner === null) return
    const instance = instanceOf(client, partner)
    if (decisions[decision]({ turn, instance, by: "COMPLIANCE" }, client, partner).ok) return
    const next = turn.now + sandboxRetry.everyMillis
    if (next <= client.createdAt + sandboxRetry.untilMillis) setSandboxTimer(turn, decision, next, instance)
  }
  return {
    "sandbox.clear": handler("clear"),
    "sandbox.rejectReliance": handler("rejectReliance"),
    "sandbox.rejectPerson": handler("rejectPerson"),
    "sandbox.requestDocuments": handler("requestDocuments"),
    "sandbox.restrict": handler("restrict"),
    "sandbox.lift": handler("lift"),
    "sandbox.downgrade": handler("downgrade"),
    "sandbox.close": handler("close"),
    "sandbox.credit": handler("credit")
  }
}
