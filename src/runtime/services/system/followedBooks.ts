/**
 * The books as metrics follow them (operator surface, metrics): each look sums what was posted since the last one, found
 * by key, so that they can be watched at any size. A look reads and nothing else; what it found is taken in one step, so a
 * look that is given up leaves nothing behind.
 */
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { SqlError } from "effect/sql"

/** Above this many a queue is shown as this many: counting on would cost more than it says. */
export const countLimit = 100_000

/** Posting ids summed in one look: after a longer pause the following starts anew, and says so. */
const followLimit = 2_000_000n

/** The newest posting and settlement item of one snapshot: ids follow commits, so both belong together. */
interface Marks {
  readonly posting: bigint
  readonly item: bigint
}
interface Sum {
  readonly currency: string
  readonly amount: string
}
/** `since`: the partner's last change of custody model, by its number among the ledger's transactions. */
interface Difference {
  readonly partner: bigint
  readonly since: bigint
  readonly amount: string
}
interface Seq {
  readonly partner: bigint
  readonly seq: bigint
}
interface Count {
  readonly n: bigint
}

export interface Look {
  readonly marks: Marks
  readonly sums: ReadonlyArray<Sum>
  readonly differences: ReadonlyArray<Difference>
  readonly seqs: ReadonlyArray<Seq>
  /** Event numbers missing since the last look. */
  readonly gaps: bigint
  /** Posting ids that this look leaves out. */
  readonly unfollowed: bigint
  readonly unsealed: bigint
  readonly deliveries: { readonly due: bigint; readonly failed: bigint }
  readonly pool: ReadonlyArray<{ readonly state: string; readonly n: bigint }>
}

const nothing: Marks = { posting: 0n, item: 0n }
const int8s = (values: ReadonlyArray<bigint>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.int8))

export class FollowedBooks {
  /** Null before the first look. */
  private marks: Marks | null = null
  private readonly seqs = new Map<bigint, bigint>()
  readonly sums = new Map<string, bigint>()
  /** Partners under PARTNER custody alone, each since its last change of custody model. */
  readonly differences = new Map<bigint, { readonly since: bigint; readonly amount: bigint }>()
  gaps = 0n
  /** Posting ids that no look summed. */
  unfollowed = 0n

  /** Reads what a look needs; `now` is business time. */
  look(sql: PgClient.PgClient, now: number): Effect.Effect<Look, SqlError.SqlError> {
    const { marks: before, seqs: known } = this
    return Effect.gen(function* () {
      const [marks = nothing] = yield* sql.unsafe<Marks>(marksText)
      const distance = before === null ? 0n : marks.posting - before.posting
      const unfollowed = distance > followLimit ? distance : 0n
      // Nothing is summed by the first look and after too long a pause; who is under PARTNER custody is asked all the same.
      const from = before === null || unfollowed > 0n ? marks : before
      const range = [from.posting, marks.posting]
      const seqs = yield* sql.unsafe<Seq>(lastSeqText)
      const [unsealed] = yield* sql.unsafe<Count>(unsealedText)
      const [deliveries] = yield* sql.unsafe<Look["deliveries"]>(deliveriesText, [BigInt(now)])
      return {
        marks,
        unfollowed,
        sums: yield* sql.unsafe<Sum>(sumsText, range),
        differences: yield* sql.unsafe<Difference>(differencesText, [...range, from.item, marks.item]),
        seqs,
        gaps: yield* missingEvents(sql, known, seqs),
        unsealed: unsealed?.n ?? 0n,
        deliveries: deliveries ?? { due: 0n, failed: 0n },
        pool: yield* sql.unsafe<{ readonly state: string; readonly n: bigint }>(poolText)
      }
    })
  }

  take({ marks, sums, differences, seqs, gaps, unfollowed }: Look): void {
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

/** Of all partners in one question, each in its own stretch of numbers. */
const missingEvents = (
  sql: PgClient.PgClient,
  known: ReadonlyMap<bigint, bigint>,
  seqs: ReadonlyArray<Seq>
): Effect.Effect<bigint, SqlError.SqlError> => {
  const moved = seqs.flatMap(({ partner, seq }) => {
    const before = known.get(partner)
    return before === undefined || before === seq ? [] : [{ partner, before, seq }]
  })
  if (moved.length === 0) return Effect.succeed(0n)
  const due = moved.reduce((sum, { before, seq }) => sum + seq - before, 0n)
  return Effect.map(
    sql.unsafe<Count>(eventsText, [
      int8s(moved.map(({ partner }) => partner)),
      int8s(moved.map(({ before }) => before)),
      int8s(moved.map(({ seq }) => seq))
    ]),
    ([found]) => due - (found?.n ?? 0n)
  )
}

const marksText = `SELECT coalesce((SELECT max(posting_id) FROM postings), 0) AS posting,
  coalesce((SELECT max(id) FROM settlement_items), 0) AS item`

const sumsText = `SELECT currency, sum(amount)::text AS amount FROM postings
  WHERE posting_id > $1 AND posting_id <= $2 GROUP BY currency`

/**
 * Clients' money less collateral less what is to be settled, of partners under PARTNER custody: zero (doc 3, summary).
 * What was posted under a model that a partner has left is not judged by the one it has now: a change takes a number of
 * the ledger's transactions, and numbers follow commits.
 */
const differencesText = `WITH held AS MATERIALIZED (
    SELECT f.id, coalesce((SELECT max(c.id) FROM custody_changes c WHERE c.partner_id = f.id), 0) AS since
      FROM partners f WHERE f.custody_model = 'PARTNER'),
  moved AS (
    SELECT p.partner_id, sum(p.amount) AS amount FROM postings p JOIN held h ON h.id = p.partner_id AND p.tx_id > h.since
     WHERE p.posting_id > $1 AND p.posting_id <= $2 AND p.currency = 'USDC'
       AND (p.client_id IS NOT NULL OR p.account LIKE 'partner_custody:%') GROUP BY p.partner_id),
  items AS (
    SELECT i.partner_id, sum(i.amount) AS amount FROM settlement_items i JOIN held h ON h.id = i.partner_id AND i.tx_id > h.since
     WHERE i.id > $3 AND i.id <= $4 GROUP BY i.partner_id)
  SELECT h.id AS partner, h.since, (coalesce(m.amount, 0) - coalesce(i.amount, 0))::text AS amount FROM held h
    LEFT JOIN moved m ON m.partner_id = h.id LEFT JOIN items i ON i.partner_id = h.id`

const lastSeqText =
  "SELECT p.id AS partner, coalesce((SELECT max(seq) FROM events e WHERE e.partner_id = p.id), 0) AS seq FROM partners p"
const eventsText = `SELECT count(*) AS n FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS w (partner, before, last)
  JOIN events e ON e.partner_id = w.partner AND e.seq > w.before AND e.seq <= w.last`

const unsealedText = `WITH last AS MATERIALIZED (SELECT * FROM seals ORDER BY number DESC LIMIT 1)
  SELECT (SELECT count(*) FROM audit WHERE id > coalesce((SELECT audit_to FROM last), 0))
       + (SELECT count(*) FROM decisions WHERE id > coalesce((SELECT decision_to FROM last), 0))
       + (SELECT count(*) FROM ledger_transactions WHERE tx_id > coalesce((SELECT transaction_to FROM last), 0))
       + (SELECT count(*) FROM postings WHERE posting_id > coalesce((SELECT posting_to FROM last), 0))
       + (SELECT count(*) FROM interfirm_records WHERE id > coalesce((SELECT interfirm_to FROM last), 0))
       + (SELECT count(*) FROM custody_changes WHERE id > coalesce((SELECT custody_to FROM last), 0)) AS n`

/** Both halves read partial indexes that hold just what is counted. */
const deliveriesText = `SELECT
  (SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries
     WHERE state IN ('PENDING', 'RETRYING') AND next_at <= $1 LIMIT ${countLimit}) d) AS due,
  (SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE state = 'FAILED' LIMIT ${countLimit}) f) AS failed`

const poolText = `SELECT coalesce(state, 'unknown') AS state, count(*) AS n FROM pg_stat_activity
  WHERE application_name = 'brokerage' AND datname = current_database() GROUP BY 1`
