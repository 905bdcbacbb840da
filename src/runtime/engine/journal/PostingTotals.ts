/**
 * The sums of a batch's postings on clients' money per partner, currency, ledger type and UTC day: summaries read these sums
 * instead of every posting (doc 3, Settlement report). Summed here, where type and time are at hand; a trigger would have to
 * query both for each posting (A3-22).
 */
import type { CommitRows } from "../../tables/Catalogue.ts"

/** The length of a totals row, ms. It must never change: stored rows depend on it. */
export const totalsDayMillis = 86_400_000

export interface PostingTotal {
  readonly partnerId: number
  readonly currency: string
  readonly type: string
  readonly day: number
  amount: bigint
}

export class PostingTotals {
  private readonly sums = new Map<string, PostingTotal>()
  /**
   * The sum to which the last posting was added. Most postings of a batch belong to the same sum, which saves the lookup.
   */
  private last: PostingTotal | null = null

  /** Adds the postings of one commit. Each transaction is in the same commit as its postings. */
  add({ postings, ledgerTransactions }: CommitRows): void {
    for (const { txId, clientId, partnerId, currency, amount } of postings ?? []) {
      if (clientId === null) continue
      const transaction = ledgerTransactions?.find((each) => each.txId === txId)
      if (transaction === undefined) throw new Error("a posting came without its transaction")
      const { type, ts } = transaction
      this.sumOf(partnerId, currency, type, Math.floor(ts / totalsDayMillis)).amount += amount
    }
  }

  values(): Iterable<Readonly<PostingTotal>> {
    return this.sums.values()
  }

  private sumOf(partnerId: number, currency: string, type: string, day: number): PostingTotal {
    const { last } = this
    if (last?.partnerId === partnerId && last.currency === currency && last.type === type && last.day === day)
      return last
    const key = `${partnerId} ${currency} ${day} ${type}`
    let sum = this.sums.get(key)
    if (sum === undefined) this.sums.set(key, (sum = { partnerId, currency, type, day, amount: 0n }))
    this.last = sum
    return sum
  }
}
