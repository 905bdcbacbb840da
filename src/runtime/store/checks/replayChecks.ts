/**
 * Replays of `ledger verify`, which read rows in order because no SQL sum can express the check: each position at average cost
 * from its trades (F11), the lots of each asset from its receipts and disposals (F21; A2-104), past equities (STS-28). The rows
 * come through a cursor on the snapshot of the SQL checks, so that neither side needs memory for all of them.
 */
import { type LedgerEntryType, postingRules } from "../../../machines/postingRules.ts"
import type { PerpPosition } from "../../../machines/margin/perpetual.ts"
import { applyFill, flatPosition } from "../../../machines/order/positionRules.ts"
import { type SpotLot, takeLots } from "../../../machines/order/spotLots.ts"
import { type Currency, currencyCodes, currencyFacts } from "../../../machines/shared/Currency.ts"
import { maxMinor, MoneyDecimal } from "../../../machines/shared/Money.ts"
import { equityReplay } from "./equityReplay.ts"
import type { Replay, ReplayCheck } from "./Replay.ts"

/** A trade of a perpetual, with its current position; null if there is none. */
export interface ReplayedFill {
  readonly client_id: bigint
  readonly symbol: string
  readonly order_id: bigint
  readonly trade_id: bigint
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly price: string
  readonly closed_qty: string | null
  readonly realized_pnl: bigint
  readonly net_qty: string | null
  readonly avg_entry: string | null
  readonly net_cost: string | null
  readonly position_pnl: bigint | null
}

const isEqual = (one: string | null, other: string | null): boolean => new MoneyDecimal(one ?? 0).eq(other ?? 0)

class PositionReplay implements Replay<ReplayedFill> {
  private position: PerpPosition = flatPosition("")
  private last: ReplayedFill | null = null

  take(row: ReplayedFill): string | null {
    const isNext = row.client_id !== this.last?.client_id || row.symbol !== this.last.symbol
    const found = isNext ? this.end() : null
    if (isNext) this.position = flatPosition(row.symbol)
    this.last = row
    const { position, realized, closedQty } = applyFill(this.position, row)
    this.position = position
    const asBooked = realized === row.realized_pnl && isEqual(closedQty, row.closed_qty)
    const trade = `trade ${row.trade_id} of order ${row.order_id}`
    return found ?? (asBooked ? null : `${trade} has realized ${row.realized_pnl}, the replay gives ${realized}`)
  }

  end(): string | null {
    const { last, position } = this
    if (last === null) return null
    const same =
      isEqual(position.netQty, last.net_qty) &&
      isEqual(position.avgEntry, last.avg_entry) &&
      isEqual(position.netCost, last.net_cost) &&
      position.realizedPnl === (last.position_pnl ?? 0n)
    if (same) return null
    const { netQty, avgEntry, netCost, realizedPnl } = position
    return `position ${last.symbol} of client ${last.client_id} is ${last.net_qty} at ${last.avg_entry}, cost ${last.net_cost}, result ${last.position_pnl}; the replay gives ${netQty} at ${avgEntry}, cost ${netCost}, result ${realizedPnl}`
  }
}

/** The receipts and disposals of an asset, followed by its current lots, oldest first. */
export interface ReplayedLot {
  readonly client_id: bigint
  readonly asset: Currency
  /** True for a row of `spot_lots`, false for a posting. */
  readonly is_lot: boolean
  readonly id: bigint
  /** Signed minor units; for a lot the remaining quantity. */
  readonly qty: bigint
  /** Micro-USDC; for a sale its proceeds. Null: the posting has no value. */
  readonly cost: bigint | null
  readonly commission: bigint
  /** The realised result of a trade. */
  readonly realized: bigint | null
}

class LotReplay implements Replay<ReplayedLot> {
  private lots: Array<SpotLot> = []
  /** The number of expected lots that were found. */
  private seen = 0
  /** True after a receipt without a value: costs are not checked then. */
  private isUnvalued = false
  private last: ReplayedLot | null = null

  take(row: ReplayedLot): string | null {
    const isNext = row.client_id !== this.last?.client_id || row.asset !== this.last.asset
    const found = isNext ? this.end() : null
    if (isNext) {
      this.lots = []
      this.seen = 0
      this.isUnvalued = false
    }
    this.last = row
    if (found !== null) return found
    if (row.is_lot) return this.compare(row)
    return row.qty < 0n ? this.leave(row) : this.come(row)
  }

  private come({ id, asset, qty, cost, commission }: ReplayedLot): null {
    if (cost === null) this.isUnvalued = true
    if (qty > 0n) this.lots.push({ id: Number(id), asset, qty, cost: cost ?? 0n, commission, acquiredAt: 0 })
    return null
  }

  private leave({ id, asset, qty, cost: proceeds, realized }: ReplayedLot): string | null {
    const { cost, left } = takeLots(this.lots, -qty)
    this.lots = [...left]
    if (realized === null || this.isUnvalued || realized === (proceeds ?? 0n) - cost) return null
    return `posting ${id} has sold ${asset} with the result ${realized}, but the cost was ${cost} and the proceeds ${proceeds}`
  }

  private compare({ client_id, asset, id, qty, cost, commission }: ReplayedLot): string | null {
    const lot = this.lots[this.seen++]
    const same = lot?.qty === qty && lot.commission === commission && (this.isUnvalued || lot.cost === cost)
    const should = lot === undefined ? "none" : `${lot.qty} with cost ${lot.cost} and commission ${lot.commission}`
    return same
      ? null
      : `lot ${id} of client ${client_id} is ${qty} ${asset} with cost ${cost} and commission ${commission}, the replay gives ${should}`
  }

  end(): string | null {
    const missing = this.lots[this.seen]
    if (this.last === null || missing === undefined) return null
    return `client ${this.last.client_id} lacks a lot of ${missing.qty} ${missing.asset}`
  }
}

/** Transaction types as an SQL list of texts. */
const listed = (types: ReadonlyArray<string>): string => types.map((type) => `'${type}'`).join(", ")
const entries = Object.keys(postingRules) as ReadonlyArray<LedgerEntryType>
/** Types that move money in or out; reserved money stays in its lot. */
const moving = listed(entries.filter((entry) => postingRules[entry].house !== null && entry !== "SPOT_SETTLE"))
/** The minor units of each currency, as rows of a VALUES list. */
const units = `(VALUES ${currencyCodes.map((code) => `('${code}', 1e${currencyFacts[code].scale}::numeric)`).join(", ")})`
/** The quantity change of a posting, without a swap's principal, which leaves and returns: its fee, then its reward (F21). */
const change = `CASE t.type WHEN 'SWAP_PRINCIPAL' THEN -(t.refs ->> 'fee')::numeric * u.unit
                            WHEN 'SWAP_SETTLE' THEN p.amount - (t.refs ->> 'principal')::numeric * u.unit ELSE p.amount END`
/**
 * Micro-USDC, rounded down. SWAP_SETTLE: the part above the principal at the mark price of that time; otherwise the posting's
 * valueUsdc.
 */
const worth = `CASE WHEN t.type = 'SWAP_SETTLE'
                 THEN floor((${change}) / u.unit * (t.refs ->> 'mark')::numeric * 1000000) ELSE (t.refs ->> 'valueUsdc')::numeric * 1000000 END`
/** The cost of a receipt: zero if it had no known value, null if an older posting has no value (STS-9). */
const cost = `CASE WHEN t.refs -> 'valueUsdc' IS NOT NULL OR t.type IN ('PARTNER_COLLATERAL_IN', 'DEPOSIT')
                   THEN least(coalesce(${worth}, 0), ${maxMinor})::bigint END`
const base = "split_part(t.refs ->> 'Instrument', '-', 1)"

/** Postings older than the first recorded lot are left out. A trade's consideration is the other leg of its transaction. */
const lotRows = `WITH begun AS (SELECT coalesce(min(acquired_at), 9223372036854775807) AS ts FROM spot_lots),
  trades AS MATERIALIZED (
    SELECT p.client_id, p.currency AS asset, p.posting_id AS id, p.amount AS qty, abs(q.amount) AS cost, t.key
      FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id AND p.client_id IS NOT NULL AND p.currency = ${base}
      LEFT JOIN postings q ON q.tx_id = t.tx_id AND q.client_id IS NOT NULL AND q.currency <> ${base}
     WHERE t.type = 'SPOT_SETTLE'),
  moves AS MATERIALIZED (
    SELECT p.client_id, p.currency AS asset, p.posting_id AS id, (${change})::bigint AS qty, ${cost} AS cost
      FROM ledger_transactions t JOIN postings p USING (tx_id) JOIN ${units} AS u (code, unit) ON u.code = p.currency
     WHERE p.client_id IS NOT NULL AND p.currency <> 'USDC' AND t.type IN (${moving}) AND t.ts >= (SELECT ts FROM begun))
  SELECT client_id, asset, false AS is_lot, 0::bigint AS at, r.id, r.qty, r.cost, coalesce(f.commission, 0) AS commission, f.realized_pnl AS realized
    FROM trades r LEFT JOIN (SELECT 'spot:' || order_id || ':' || trade_id AS key, commission, realized_pnl FROM fills WHERE family = 'SPOT') f USING (key)
   UNION ALL
  SELECT client_id, asset, false, 0, id, qty, cost, 0, NULL FROM moves
   UNION ALL
  SELECT client_id, asset, true, acquired_at, id, qty, cost, commission, NULL FROM spot_lots WHERE qty > 0
   ORDER BY client_id, asset, is_lot, at, id`

const positionReplay: ReplayCheck<ReplayedFill> = {
  name: "every position has the cost, average price and result of replaying its fills in order",
  figure: "SELECT count(*) AS n FROM fills WHERE family = 'PERP'",
  rows: `SELECT f.client_id, f.symbol, f.order_id, f.trade_id, f.side, f.qty, f.price, f.closed_qty, f.realized_pnl,
                p.net_qty, p.avg_entry, p.net_cost, p.realized_pnl AS position_pnl
           FROM fills f LEFT JOIN positions p USING (client_id, symbol) WHERE f.family = 'PERP'
          ORDER BY f.client_id, f.symbol, f.id`,
  begin: () => new PositionReplay()
}

const lotReplay: ReplayCheck<ReplayedLot> = {
  name: "every lot and sale result equals a first-in-first-out replay of receipts and disposals",
  figure: "SELECT count(*) AS n FROM spot_lots",
  rows: lotRows,
  begin: () => new LotReplay()
}

/** All replays, in the order in which `ledger verify` shows them after the SQL checks. */
export const replayChecks = [positionReplay, lotReplay, equityReplay] as const
