/**
 * The books for metrics, followed incrementally. Each read sums the postings since the last one, by key, so its cost
 * does not depend on the size of the books. A result is applied in one step after the read, so an abandoned read has no
 * effect.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import {
  countEvents,
  countUnsealed,
  type CustodyDifference,
  type DeliveryQueue,
  deliveryQueue,
  differencesBetween,
  lastSeqs,
  type LastSeq,
  type NewestIds,
  newestIds,
  type PoolState,
  poolStates,
  postedBetween,
  type PostedSum
} from "../../../store/reads/metricReads.ts"

/**
 * The most posting ids per read. After a longer pause the sums begin again, and the metrics report the number of
 * omitted ids.
 */
const followLimit = 2_000_000n

export interface BooksRead {
  readonly marks: NewestIds
  readonly sums: ReadonlyArray<PostedSum>
  readonly differences: ReadonlyArray<CustodyDifference>
  readonly seqs: ReadonlyArray<LastSeq>
  /** Event numbers missing since the last read. */
  readonly gaps: bigint
  /** Posting ids that this read leaves out. */
  readonly unfollowed: bigint
  readonly unsealed: bigint
  readonly deliveries: DeliveryQueue
  readonly pool: ReadonlyArray<PoolState>
}

export class FollowedBooks {
  /** The newest ids that the sums include; null before the first read. */
  private marks: NewestIds | null = null
  private readonly seqs = new Map<bigint, bigint>()
  readonly sums = new Map<string, bigint>()
  /**
   * By partner under PARTNER custody, since its last change of the custody model: clients' USDC less collateral less unsettled
   * items, in micro-USDC. Zero while the books agree.
   */
  readonly differences = new Map<bigint, { readonly since: bigint; readonly amount: bigint }>()
  gaps = 0n
  /** Posting ids that no read has summed, because the pause before it was too long. */
  unfollowed = 0n

  /** Reads the new postings; `now` is business time. */
  read(sql: PgClient.PgClient, now: number): Effect.Effect<BooksRead, SqlError.SqlError> {
    const { marks: before, seqs: known } = this
    return Effect.gen(function* () {
      const marks = yield* newestIds(sql)
      const distance = before === null ? 0n : marks.posting - before.posting
      const unfollowed = distance > followLimit ? distance : 0n
      // The first read, and a read after too long a pause, sum no postings. They still query the partners under PARTNER
      // custody.
      const from = before === null || unfollowed > 0n ? marks : before
      const seqs = yield* lastSeqs(sql)
      const unsealed = yield* countUnsealed(sql)
      const deliveries = yield* deliveryQueue(sql, now)
      return {
        marks,
        unfollowed,
        sums: yield* postedBetween(sql, from, marks),
        differences: yield* differencesBetween(sql, from, marks),
        seqs,
        gaps: yield* missingEvents(sql, known, seqs),
        unsealed,
        deliveries,
        pool: yield* poolStates(sql)
      }
    })
  }

  take({ marks, sums, differences, seqs, gaps, unfollowed }: BooksRead): void {
    this.marks = marks
    this.gaps += gaps
    this.unfollowed += unfollowed
    for (const { partner, seq } of seqs) this.seqs.set(partner, seq)
    for (const { currency, amount } of sums) {
      this.sums.set(currency, (this.sums.get(currency) ?? 0n) + BigInt(amount))
    }
    const before = new Map(this.differences)
    this.differences.clear()
    for (const { partner, since, amount } of differences) {
      const was = before.get(partner)
      const kept = was?.since === since ? was.amount : 0n
      this.differences.set(partner, { since, amount: kept + BigInt(amount) })
    }
  }
}

/** The number of missing events of all partners, in one query. Each partner has its own range of numbers. */
const missingEvents = (
  sql: PgClient.PgClient,
  known: ReadonlyMap<bigint, bigint>,
  seqs: ReadonlyArray<LastSeq>
): Effect.Effect<bigint, SqlError.SqlError> => {
  const moved = seqs.flatMap(({ partner, seq }) => {
    const before = known.get(partner)
    return before === undefined || before === seq ? [] : [{ partner, before, seq }]
  })
  if (moved.length === 0) return Effect.succeed(0n)
  const due = moved.reduce((sum, { before, seq }) => sum + seq - before, 0n)
  return Effect.map(countEvents(sql, moved), (found) => due - found)
}
