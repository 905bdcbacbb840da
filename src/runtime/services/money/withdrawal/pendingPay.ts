/**
 * Guards of a withdrawal besides its own gates. While an approval of its payment is pending, the bank may be paying, so
 * the money is not given back. A refusal because the stored destination is not the filed one is logged (D10).
 */
import { Effect } from "effect"
import { conflict, type Refusal, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import type { ApprovalRow } from "../../../tables/operator.ts"
import { systemSubject } from "../../shared/OperatorCaller.ts"
import { isOtherDestination } from "./withdrawalDecisions.ts"

interface Parts {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
}

/** The refusal that names the pending approval, or null. The system's mailbox holds the PENDING ones. */
export const pendingPay = ({ host, clock }: Parts, requestId: number): Effect.Effect<Refusal | null, Unavailable> =>
  host.read(systemSubject, (state) => {
    const row = state.all("approvals").find((each) => isPayOf(each, requestId) && expiresAt(each) > clock.now())
    if (row === undefined) return null
    return conflict(
      "APPROVAL_PENDING",
      `Approval ${row.id} waits for paying this withdrawal request: refuse it first (approval refuse ${row.id}).`,
      { approvalId: row.id, requestId }
    )
  })

const isPayOf = ({ command, args, state }: ApprovalRow, requestId: number): boolean =>
  state === "PENDING" && command === "withdrawal pay" && args["requestId"] === requestId

const expiresAt = ({ context }: ApprovalRow): number => context.expiresAt

/**
 * Logs that the stored destination was changed. Operators must find this in the log; only the caller receives the
 * refusal.
 */
export const logOtherDestination = (requestId: number, verdict: Verdict<unknown>): Effect.Effect<void> =>
  verdict.ok || !isOtherDestination(verdict.refusal)
    ? Effect.void
    : Effect.logError(
        `the stored destination of withdrawal request ${requestId} is not the filed one: the service refuses the request; do not pay it, and find out who changed the database`
      )
