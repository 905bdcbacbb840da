/**
 * Accounts whose differences do not count yet. A call in flight, or a report that does not fit and whose object is read again,
 * may explain every difference of its account. So nothing is settled meanwhile, for two minutes at most: a venue that leaves
 * calls and reads without an answer must not hide a difference (A2-103, A2-115).
 */
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../engine/mailbox/turnRows.ts"

/** The longest time for which the differences of an account do not count, ms of business time. */
export const deferredMost = 120_000
/** A further comparison after this time begins a new deferral, ms of business time: the open call or read may be another one. */
export const deferralEnds = 600_000
/** Limit on the accounts that are followed. The differences of a further account count at once. */
const followedMost = 10_000

export class DeferredAccounts {
  /** By client: the times of the first and the last comparison in a row that found a call in flight or an open read. */
  private readonly deferrals = new Map<number, { readonly first: number; readonly last: number }>()

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
    const first = before === undefined || now - before.last >= deferralEnds ? now : before.first
    this.deferrals.set(clientId, { first, last: now })
    return now - first < deferredMost
  }
}

/** A sentence for the operator: the differences of the account are settled later. */
export const deferred = (uid: string): string =>
  `A call in flight, or a report that is read again, may explain differences of ${uid}: it is compared again in a minute.`
