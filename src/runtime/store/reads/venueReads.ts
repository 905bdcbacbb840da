/** The state of the communication with the venue: calls in flight, event checkpoints, and the accounts that the venue knows. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { OwnMoney } from "../../../machines/reconciliation/money.ts"
import { type Trade, tradesCompared } from "../../../machines/venue/trades.ts"
import { texts } from "../arrays.ts"

export interface VenueTraffic {
  /** Refs of calls in flight, the oldest first. */
  readonly inFlight: ReadonlyArray<string>
  /** The number of the last venue event up to which all are applied or quarantined. */
  readonly taken: number
  /** Uids of the accounts that occur in venue events, or that have open contracts or swaps. */
  readonly accounts: ReadonlyArray<string>
}

const trafficText = `SELECT
    COALESCE((SELECT json_agg(ref) FROM (SELECT ref FROM venue_calls ORDER BY at, ref LIMIT $1) oldest), '[]') AS in_flight,
    COALESCE((SELECT max(number) FROM venue_cursor), 0) AS taken,
    COALESCE((SELECT json_agg(uid ORDER BY uid) FROM clients WHERE id IN (
        SELECT client_id FROM venue_accounts UNION SELECT client_id FROM barrier_contracts WHERE state = 'OPEN'
        UNION SELECT client_id FROM swaps WHERE state IN ('OPEN', 'DEFAULTED') AND closed_at IS NULL)), '[]') AS accounts`

interface Row {
  readonly in_flight: ReadonlyArray<string>
  readonly taken: bigint
  readonly accounts: ReadonlyArray<string>
}

/** The traffic with the venue, with at most `limit` calls in flight. */
export const venueTraffic = (sql: PgClient.PgClient, limit: number): Effect.Effect<VenueTraffic, SqlError.SqlError> =>
  Effect.map(sql.unsafe<Row>(trafficText, [BigInt(limit)]), ([row]) => ({
    inFlight: row?.in_flight ?? [],
    taken: Number(row?.taken ?? 0n),
    accounts: row?.accounts ?? []
  }))

/** The open objects of an account in this service, to compare with those at the venue. */
export interface OpenHere {
  /** The open contracts by the venue's id, with their quantities. */
  readonly contracts: ReadonlyArray<{ readonly id: number; readonly qty: string }>
  /** The open swaps by the venue's id, each with the amount that may still be paid, even if it is written off. */
  readonly swaps: ReadonlyArray<{ readonly id: number; readonly notional: string }>
  /** Ids of the requests that the venue has confirmed. */
  readonly requests: ReadonlyArray<number>
  /** The position in each market, including spot quantities; flat ones are left out. */
  readonly positions: ReadonlyArray<{ readonly symbol: string; readonly qty: string }>
  /** Working orders with their remaining quantities. */
  readonly orders: ReadonlyArray<{ readonly id: number; readonly left: string }>
  /** The latest booked trades, newest first. */
  readonly trades: ReadonlyArray<Trade>
  /** The ledger's sums of the client's money at the venue, to compare with the venue's (A2-103). */
  readonly money: OwnMoney
}

export const nothingOpen: OpenHere = {
  contracts: [],
  swaps: [],
  requests: [],
  positions: [],
  orders: [],
  trades: [],
  money: { balances: [], totals: undefined }
}

const openText = `SELECT uid,
    (SELECT json_agg(json_build_object('id', (context ->> 'venueContractId')::bigint, 'qty', context ->> 'qty'))
       FROM barrier_contracts WHERE client_id = clients.id AND state = 'OPEN') AS contracts,
    (SELECT json_agg(json_build_object('id', contract_id, 'notional', context ->> 'notional'))
       FROM swaps WHERE client_id = clients.id AND state IN ('OPEN', 'DEFAULTED')) AS swaps,
    (SELECT json_agg(id) FROM rfqs
      WHERE client_id = clients.id AND state = 'OPEN' AND context ->> 'venueRfqId' IS NOT NULL) AS requests,
    (SELECT json_agg(json_build_object('symbol', symbol, 'qty', net_qty))
       FROM positions WHERE client_id = clients.id AND net_qty::numeric <> 0) AS positions,
    (SELECT json_agg(json_build_object('id', id, 'left', ((context ->> 'qty')::numeric - (context ->> 'filledQty')::numeric)::text))
       FROM orders WHERE client_id = clients.id AND works) AS orders,
    (SELECT json_agg(json_build_object('tradeId', trade_id, 'side', side, 'qty', qty, 'price', price) ORDER BY id DESC)
       FROM (SELECT * FROM fills WHERE client_id = clients.id ORDER BY id DESC LIMIT ${tradesCompared}) AS latest) AS trades,
    (SELECT json_agg(json_build_object('currency', currency, 'fromVenue', from_venue::text))
       FROM balances WHERE client_id = clients.id) AS balances,
    (SELECT json_build_object('perpFlow', perp_flow::text, 'fillsPnl', fills_pnl::text)
       FROM account_totals WHERE client_id = clients.id) AS totals
  FROM clients WHERE uid = ANY($1::text[])`

type Lists = Omit<OpenHere, "money">

type OpenRow = { readonly [Kind in keyof Lists]: Lists[Kind] | null } & {
  readonly uid: string
  readonly balances: ReadonlyArray<{ readonly currency: string; readonly fromVenue: string }> | null
  readonly totals: { readonly perpFlow: string; readonly fillsPnl: string } | null
}

const moneyOf = ({ balances, totals }: Pick<OpenRow, "balances" | "totals">): OwnMoney => ({
  balances: (balances ?? []).map(({ currency, fromVenue }) => ({ currency, fromVenue: BigInt(fromVenue) })),
  totals: totals === null ? undefined : { perpFlow: BigInt(totals.perpFlow), fillsPnl: BigInt(totals.fillsPnl) }
})

/** The open objects of several accounts, by uid; an account without a client is absent. */
export const openHere = (
  sql: PgClient.PgClient,
  uids: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, OpenHere>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<OpenRow>(openText, [texts(uids)]),
    (rows) =>
      new Map(
        rows.map(({ uid, contracts, swaps, requests, positions, orders, trades, ...money }) => [
          uid,
          {
            contracts: contracts ?? [],
            swaps: swaps ?? [],
            requests: requests ?? [],
            positions: positions ?? [],
            orders: orders ?? [],
            trades: trades ?? [],
            money: moneyOf(money)
          }
        ])
      )
  )

/** A range of venue events that was skipped without being read: above `after`, up to another number. */
export interface MissingEvents {
  readonly after: number
  readonly to: number
}

const lostText = `SELECT (bytes::json->>'after')::bigint AS after, (bytes::json->>'to')::bigint AS "to"
  FROM venue_quarantine WHERE reason = $1 AND dropped_at IS NULL ORDER BY id DESC LIMIT $2`

/** The newest ranges of missing events that staff have not dropped. `reason`: the reason under which they are quarantined. */
export const readMissingEvents = (
  sql: PgClient.PgClient,
  reason: string,
  limit: number
): Effect.Effect<ReadonlyArray<MissingEvents>, SqlError.SqlError> =>
  Effect.map(sql.unsafe<{ readonly after: bigint; readonly to: bigint }>(lostText, [reason, BigInt(limit)]), (rows) =>
    rows.map(({ after, to }) => ({ after: Number(after), to: Number(to) }))
  )
