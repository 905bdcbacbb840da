/** Figures on partners' clients and money, the debts between the firms, and the last uses of keys (A1-06, A1-13). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { LifecycleState } from "../../../machines/client/Client.ts"
import type { VerificationLevel } from "../../../machines/verification/Blocks.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"

type Rows<A> = Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>

const countOf = (sql: PgClient.PgClient, text: string, partnerId: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(sql.unsafe<{ readonly n: bigint }>(text, [BigInt(partnerId)]), ([row]) => Number(row?.n ?? 0))

export interface ClientCount {
  readonly state: LifecycleState
  readonly level: VerificationLevel
  readonly n: bigint
}

/** The number of clients by state and level; empty combinations are left out. */
export const clientCounts = (sql: PgClient.PgClient, partnerId: number): Rows<ClientCount> =>
  sql.unsafe<ClientCount>(
    "SELECT state, level, count(*) AS n FROM clients WHERE partner_id = $1 GROUP BY state, level",
    [BigInt(partnerId)]
  )

/** Minor units of one currency as text: sums of many 64-bit amounts may overflow 64 bits. */
export interface CurrencySum {
  readonly currency: Currency
  readonly cash: string
  readonly reserved: string
}

/** The sums of cash and of reserves of a partner's clients, one row for each currency. */
export const clientCash = (sql: PgClient.PgClient, partnerId: number): Rows<CurrencySum> =>
  sql.unsafe<CurrencySum>(
    "SELECT currency, sum(cash) AS cash, sum(reserved) AS reserved FROM balances WHERE partner_id = $1 GROUP BY currency",
    [BigInt(partnerId)]
  )

/** The number of KYC packages that wait for a manual review, of clients that are neither refused nor closed. */
export const pendingReviews = (sql: PgClient.PgClient, partnerId: number): Effect.Effect<number, SqlError.SqlError> =>
  countOf(
    sql,
    "SELECT count(*) AS n FROM kyc_packages k JOIN clients c ON c.id = k.client_id WHERE k.partner_id = $1 AND k.state IN ('SPOT_CHECK', 'DOCUMENTS_REQUESTED') AND c.state NOT IN ('KYC_REJECTED', 'CLOSED')",
    partnerId
  )

export const pendingDeposits = (sql: PgClient.PgClient, partnerId: number): Effect.Effect<number, SqlError.SqlError> =>
  countOf(sql, "SELECT count(*) AS n FROM deposit_notices WHERE partner_id = $1 AND state = 'PENDING'", partnerId)

export const pendingWithdrawals = (
  sql: PgClient.PgClient,
  partnerId: number
): Effect.Effect<number, SqlError.SqlError> =>
  countOf(
    sql,
    "SELECT count(*) AS n FROM withdrawal_requests WHERE partner_id = $1 AND state IN ('REQUESTED', 'APPROVED')",
    partnerId
  )

export const openContracts = (sql: PgClient.PgClient, partnerId: number): Effect.Effect<number, SqlError.SqlError> =>
  countOf(sql, "SELECT count(*) AS n FROM barrier_contracts WHERE partner_id = $1 AND state = 'OPEN'", partnerId)

export const openSwaps = (sql: PgClient.PgClient, partnerId: number): Effect.Effect<number, SqlError.SqlError> =>
  countOf(
    sql,
    "SELECT count(*) AS n FROM swaps WHERE partner_id = $1 AND state IN ('ACCEPTING', 'OPEN', 'DEFAULTED') AND closed_at IS NULL",
    partnerId
  )

/** Ids of all partners that are closed. */
export const closedPartners = (sql: PgClient.PgClient): Rows<number> =>
  Effect.map(sql.unsafe<{ readonly id: bigint }>("SELECT id FROM partners WHERE state = 'CLOSED'"), (rows) =>
    rows.map(({ id }) => Number(id))
  )

/** The last use of each key, Unix ms; unused keys are left out. */
export const keyUses = (sql: PgClient.PgClient): Effect.Effect<ReadonlyMap<number, number>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly key_id: bigint; readonly last_used_at: bigint }>(
      "SELECT key_id, last_used_at FROM key_usage"
    ),
    (rows) => new Map(rows.map((row) => [Number(row.key_id), Number(row.last_used_at)]))
  )

/** Limit on the ids that are listed of a group. `n` counts all of them. */
export const namedIds = 5

/** The balances of one currency and kind that are all positive, or all negative. */
export interface HeldGroup {
  readonly kind: "cash" | "reserved"
  readonly currency: string
  readonly n: bigint
  /** Minor units, signed, as text: sums of many 64-bit amounts may overflow 64 bits. */
  readonly total: string
  /** The first ids of the group's clients, separated by commas. */
  readonly ids: string
}

/** Figures on a partner's collateral; micro-USDC as text. */
export interface CustodyFigures {
  /** The balance of the partner's house account. */
  readonly account: string
  /** The sum of the recorded payments between the firms; positive if the service paid the partner. */
  readonly paid: string
}

/** Balances that are not zero by currency, kind and sign, USDC first; `usdcAlone`: only USDC. */
export const heldGroups = (sql: PgClient.PgClient, partnerId: number, usdcAlone: boolean): Rows<HeldGroup> =>
  sql.unsafe<HeldGroup>(
    `SELECT b.currency, k.kind, count(*) AS n, sum(k.amount)::text AS total,
         array_to_string((array_agg(b.client_id ORDER BY b.client_id))[1:${namedIds}], ', ') AS ids
    FROM balances b CROSS JOIN LATERAL (VALUES ('cash', b.cash), ('reserved', b.reserved)) AS k (kind, amount)
   WHERE b.partner_id = $1 AND k.amount <> 0${usdcAlone ? " AND b.currency = 'USDC'" : ""}
   GROUP BY b.currency, k.kind, sign(k.amount)
   ORDER BY (b.currency <> 'USDC'), b.currency, k.kind, sign(k.amount)`,
    [BigInt(partnerId)]
  )

/** House accounts have no index of their own: their postings are found through the reports that booked them. */
export const custodyFigures = (
  sql: PgClient.PgClient,
  partnerId: number
): Effect.Effect<CustodyFigures, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<CustodyFigures>(
      `SELECT (-coalesce(sum(amount), 0))::text AS account,
              (SELECT coalesce(sum(amount), 0)::text FROM interfirm_records WHERE partner_id = $1) AS paid
         FROM posting_totals
        WHERE partner_id = $1 AND currency = 'USDC' AND type IN ('PARTNER_COLLATERAL_IN', 'PARTNER_COLLATERAL_OUT')`,
      [BigInt(partnerId)]
    ),
    ([row]) => row ?? { account: "0", paid: "0" }
  )

/** The net of all items, less the payments between the firms; micro-USDC as text. */
export const outstandingOf = (sql: PgClient.PgClient, partnerId: number): Effect.Effect<string, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly total: string }>(
      `SELECT ((SELECT coalesce(sum(credits - debits), 0) FROM settlement_totals WHERE partner_id = $1)
             - (SELECT coalesce(sum(amount), 0) FROM interfirm_records WHERE partner_id = $1))::text AS total`,
      [BigInt(partnerId)]
    ),
    ([row]) => row?.total ?? "0"
  )
