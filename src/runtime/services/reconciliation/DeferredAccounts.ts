/**
 * Accounts whose differences do not count yet. A call in flight, or a report that does not fit and whose object is read again,
 * may explain every difference of its account. So nothing is settled meanwhile, for two minutes at most: a venue that leaves
 * calls and reads without an answer must not hide a difference (A2-103, A2-115).
 */
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../engine/mailbox/turnRows.ts"

/** The longest time for which the differences of an account do not count, ms of business time. */
export const deferredMost = 120_000
/** After its differences have counted, an account can begin a new deferral this much later, ms of business time. */
export const deferralEnds = 600_000
/** Limit on the accounts that are followed. The differences of a further account count at once. */
const followedMost = 10_000

export class DeferredAccounts {
  /** By client: the time of the first deferred comparison, and that of the last one whose differences counted, if any did. */
  private readonly deferrals = new Map<number, { readonly first: number; readonly counted: number | null }>()

  /** Whether the account's differences do not count in this turn. */
  defers(turn: Turn, clientId: number): boolean {
    const isOpen =
      turn.state.all("venueCalls").length > 0 ||
      rowsInTurn(turn, "venueMisfits").some(({ state }) => state === "READING")
    if (!isOpen) {
      this.deferrals.delete(clientId)
      return false
    }
    const { now } = turn
    const before = this.deferrals.get(clientId)
    if (before === undefined && this.deferrals.size >= followedMost) return false
    // A deferral ends with a comparison that counts, however late that comparison comes.
    const isOver = before !== undefined && before.counted !== null && now - before.counted >= deferralEnds
    const first = before === undefined || isOver ? now : before.first
    const isDeferred = now - first < deferredMost
    this.deferrals.set(clientId, { first, counted: isDeferred ? null : now })
    return isDeferred
  }
}

/** A sentence for the operator: the differences of the account are settled later. */
export const deferred = (uid: string): string =>
  `A call in flight, or a report that is read again, may explain differences of ${uid}: it is compared again in a minute.`
