/**
 * What the postings of a batch add to clients' money, summed per partner, currency, ledger type and UTC day: summaries read
 * these sums instead of every posting (document 3, Settlement report; A3-22). Summed here, where type and time are at hand;
 * a trigger would have to look both up for each posting.
 */
import type { CommitRows } from "./Commit.ts"

/** Milliseconds of a totals row. Fixed for ever: rows are stored under it. */
export const totalsDayMillis = 86_400_000

export interface PostingTotal {
  readonly partnerId: number
  readonly currency: string
  readonly type: string
  readonly day: number
  readonly amount: bigint
}

export class PostingTotals {
  private readonly sums = new Map<string, PostingTotal>()

  /** A commit writes a transaction together with its postings. */
  add({ postings, ledgerTransactions }: CommitRows): void {
    for (const { txId, clientId, partnerId, currency, amount } of postings ?? []) {
      if (clientId === null) continue
      const transaction = ledgerTransactions?.find((each) => each.txId === txId)
      if (transaction === undefined) throw new Error("a posting came without its transaction")
      const { type, ts } = transaction
      const day = Math.floor(ts / totalsDayMillis)
      const key = `${partnerId} ${currency} ${day} ${type}`
      const before = this.sums.get(key)
      this.sums.set(key, { partnerId, currency, type, day, amount: (before?.amount ?? 0n) + amount })
    }
  }

  values(): Iterable<PostingTotal> {
    return this.sums.values()
  }
}
