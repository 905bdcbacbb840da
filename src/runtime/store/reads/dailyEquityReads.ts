/** The state of accounts at the midnights of some days. The history is read only if the account has traded since (STS-28). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { ContractContext } from "../../../machines/contract/Contract.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { int8s } from "../arrays.ts"
import type { DailyEquityRow } from "../../tables/statementJob.ts"
import type { Bounds } from "./statementJobReads.ts"

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

/** An amount of a currency: the current balance, or the sum of the bookings between two of the requested midnights. */
export interface HeldSum {
  readonly currency: Currency
  readonly kind: "cash" | "reserved"
  readonly amount: bigint
  /** The number of requested midnights before these bookings, at least 1; 0: the current balance. */
  readonly behind: number
}

export interface AccountSince {
  readonly clientId: number
  readonly partnerId: number
  readonly sums: ReadonlyArray<HeldSum>
  /**
   * True if a perpetual was traded, or a contract began or ended, since the first day: today's open objects differ from those of
   * that day.
   */
  readonly moved: boolean
  readonly positions: ReadonlyArray<{ readonly symbol: string; readonly netQty: string; readonly avgEntry: string }>
  readonly contracts: ReadonlyArray<ContractContext>
}

interface RawAccount {
  readonly id: bigint
  readonly partner_id: bigint
  readonly sums: ReadonlyArray<readonly [Currency, "cash" | "reserved", string, number]> | null
  readonly moved: boolean
  readonly positions: AccountSince["positions"] | null
  readonly contracts: AccountSince["contracts"] | null
}

/**
 * The current accounts, and their bookings since each of some days, from one snapshot: a concurrent booking is in both or in
 * neither. `bounds`: the last rows before each midnight, in the order of time.
 */
export const accountsSince = (
  sql: PgClient.PgClient,
  clientIds: ReadonlyArray<number>,
  bounds: ReadonlyArray<Bounds>
): Reading<ReadonlyArray<AccountSince>> =>
  Effect.map(
    sql.unsafe<RawAccount>(
      `SELECT c.id, l.partner_id,
         (SELECT json_agg(json_build_array(currency, kind, amount::text, behind)) FROM (
            SELECT currency, 'cash' AS kind, cash AS amount, 0 AS behind FROM balances WHERE client_id = c.id
            UNION ALL SELECT currency, 'reserved', reserved, 0 FROM balances WHERE client_id = c.id
            UNION ALL SELECT currency, kind, sum(amount), width_bucket(posting_id, $2::int8[]) FROM postings
              WHERE client_id = c.id AND posting_id >= $3 GROUP BY 1, 2, 4) sums) AS sums,
         EXISTS (SELECT 1 FROM fills WHERE client_id = c.id AND id > $4 AND family = 'PERP')
           OR (EXISTS (SELECT 1 FROM barrier_contracts WHERE client_id = c.id)
             AND EXISTS (SELECT 1 FROM postings p JOIN ledger_transactions t USING (tx_id)
               WHERE p.client_id = c.id AND p.posting_id >= $3
                 AND (t.type = 'BARRIER_SETTLE' OR t.key LIKE 'commission:contract:%'))) AS moved,
         (SELECT json_agg(json_build_object('symbol', symbol, 'netQty', net_qty, 'avgEntry', avg_entry))
            FROM positions WHERE client_id = c.id AND state = 'OPEN') AS positions,
         (SELECT json_agg(context) FROM barrier_contracts WHERE client_id = c.id AND state = 'OPEN') AS contracts
       FROM unnest($1::int8[]) AS c(id) JOIN clients l ON l.id = c.id ORDER BY c.id`,
      [
        int8s(clientIds),
        int8s(bounds.map(({ posting }) => posting + 1)),
        BigInt((bounds[0]?.posting ?? 0) + 1),
        BigInt(bounds[0]?.fill ?? 0)
      ]
    ),
    (rows) =>
      rows.map(({ id, partner_id, sums, moved, positions, contracts }) => ({
        clientId: Number(id),
        partnerId: Number(partner_id),
        sums: (sums ?? []).map(([currency, kind, amount, behind]) => ({
          currency,
          kind,
          amount: BigInt(amount),
          behind
        })),
        moved,
        positions: positions ?? [],
        contracts: contracts ?? []
      }))
  )

/** The stored equities of a client at some midnights, by day; `unvalued` is null in older rows. */
export const keptEquities = (
  sql: PgClient.PgClient,
  clientId: number,
  days: ReadonlyArray<number>
): Reading<ReadonlyMap<number, Pick<DailyEquityRow, "equity" | "unvalued">>> =>
  Effect.map(
    sql.unsafe<{ readonly day: bigint; readonly equity: bigint; readonly unvalued: bigint | null }>(
      `SELECT e.day, e.equity, e.unvalued FROM unnest($2::int8[]) AS d(day) JOIN daily_equities e ON e.day = d.day AND e.client_id = $1`,
      [BigInt(clientId), int8s(days)]
    ),
    (rows) =>
      new Map(
        rows.map(({ day, equity, unvalued }) => [
          Number(day),
          { equity, unvalued: unvalued === null ? null : Number(unvalued) }
        ])
      )
  )

/** The ranges of midnights for which a client's equities are stored: jobs that are finished and did not fail for it. */
export const equitiesCovered = (
  sql: PgClient.PgClient,
  clientId: number,
  from: number,
  to: number
): Reading<ReadonlyArray<{ readonly from: number; readonly to: number }>> =>
  Effect.map(
    sql.unsafe<{ readonly period_from: bigint; readonly period_to: bigint }>(
      `SELECT j.period_from, j.period_to FROM statement_jobs j
        WHERE j.name = 'EQUITIES' AND j.ended_at IS NOT NULL AND j.period_from <= $3 AND j.period_to >= $2
          AND NOT EXISTS (SELECT 1 FROM statement_job_failures f
            WHERE f.job_id = j.id AND f.client_id = $1 AND f.state = 'OPEN')`,
      [BigInt(clientId), BigInt(from), BigInt(to)]
    ),
    (rows) => rows.map(({ period_from, period_to }) => ({ from: Number(period_from), to: Number(period_to) }))
  )
