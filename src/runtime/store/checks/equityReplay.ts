/**
 * Checks of `ledger verify` on the stored equities of each midnight: cash from postings, positions from fills at average cost,
 * contracts from their openings and ends, at the stored mark prices, in one replay. An account that held anything at a midnight
 * of a finished job has an equity, unless the job failed for it and will retry (STS-28).
 */
import type { ContractContext } from "../../../machines/contract/Contract.ts"
import { isFlat, type PerpPosition } from "../../../machines/margin/perpetual.ts"
import { applyFill, flatPosition } from "../../../machines/order/positionRules.ts"
import { equityOf, type MarksThen } from "../../../machines/statement/equityThen.ts"
import type { HeldThen } from "../../tables/statementJob.ts"
import type { Replay, ReplayCheck } from "./Replay.ts"

/** The bookings of clients that have an equity, and the equities themselves, in the order of their times. */
export interface ReplayedEquity {
  readonly client_id: bigint
  /** Unix ms. For an equity: its midnight; bookings at that time or later do not count. */
  readonly at: bigint
  readonly what: "EQUITY" | "CASH" | "HELD" | "FILL" | "CONTRACT" | "END"
  /** The id of a contract. */
  readonly id: bigint
  /** Micro-USDC: the equity, null if none is stored, or a change of cash; for other holdings, their own minor units. */
  readonly amount: bigint | null
  /** For other holdings: the currency, and whether the holding is reserved. */
  readonly symbol: string | null
  readonly side: "BUY" | "SELL" | null
  readonly qty: string | null
  readonly price: string | null
  /** JSON: the mark prices of the midnight, or the contract. */
  readonly facts: string | null
  /** For an equity: the stored number of holdings without a mark price. */
  readonly unvalued: bigint | null
  /** For an equity: the stored holdings, JSON. */
  readonly held: string | null
}

class EquityReplay implements Replay<ReplayedEquity> {
  private clientId = 0n
  private cash = 0n
  /** Holdings other than cash in USDC, by currency and kind; never zero. */
  private readonly held = new Map<string, bigint>()
  private readonly positions = new Map<string, PerpPosition>()
  private readonly contracts = new Map<bigint, ContractContext>()

  take(row: ReplayedEquity): string | null {
    if (row.client_id !== this.clientId) this.begin(row.client_id)
    if (row.what === "EQUITY") return this.compare(row)
    if (row.what === "CASH") this.cash += row.amount ?? 0n
    if (row.what === "HELD") this.hold(row)
    if (row.what === "FILL") this.trade(row)
    if (row.what === "CONTRACT") this.contracts.set(row.id, JSON.parse(row.facts ?? "") as ContractContext)
    if (row.what === "END") this.contracts.delete(row.id)
    return null
  }

  end(): null {
    return null
  }

  private begin(clientId: bigint): void {
    this.clientId = clientId
    this.cash = 0n
    this.held.clear()
    this.positions.clear()
    this.contracts.clear()
  }

  private hold({ symbol, amount }: ReplayedEquity): void {
    const name = symbol ?? ""
    const sum = (this.held.get(name) ?? 0n) + (amount ?? 0n)
    if (sum === 0n) this.held.delete(name)
    else this.held.set(name, sum)
  }

  /** True if the account holds anything at this midnight, so that its equity must be stored (STS-28). */
  private get holds(): boolean {
    const { cash, held, positions, contracts } = this
    return cash !== 0n || held.size + positions.size + contracts.size > 0
  }

  private isHeld(kept: HeldThen): boolean {
    const held = new Map(this.held)
    if (this.cash !== 0n) held.set("USDC cash", this.cash)
    const names = Object.keys(kept)
    return names.length === held.size && names.every((name) => held.get(name)?.toString() === kept[name])
  }

  private trade({ symbol, side, qty, price }: ReplayedEquity): void {
    if (symbol === null || side === null || qty === null || price === null) throw new Error("a fill without its terms")
    const { position } = applyFill(this.positions.get(symbol) ?? flatPosition(symbol), { side, qty, price })
    if (isFlat(position)) this.positions.delete(symbol)
    else this.positions.set(symbol, position)
  }

  private compare({ client_id, at, amount, facts, unvalued: kept, held }: ReplayedEquity): string | null {
    if (amount === null && !this.holds) return null
    const { cash, positions, contracts } = this
    const isCash = positions.size + contracts.size === 0
    const marks: MarksThen = isCash || facts === null ? new Map() : new Map(Object.entries(JSON.parse(facts) as object))
    const { equity, unvalued } = equityOf({ cash, positions: positions.values(), contracts: contracts.values() }, marks)
    // An equity from before migration 0046 has neither the number without a mark price nor the holdings.
    const isHeld = held === null || this.isHeld(JSON.parse(held) as HeldThen)
    if (equity === amount && isHeld && (kept === null || Number(kept) === unvalued)) return null
    const day = new Date(Number(at)).toISOString().slice(0, 10)
    if (amount === null)
      return `no equity of client ${client_id} is stored for the beginning of ${day}, the replay gives ${equity}`
    if (!isHeld)
      return `the holdings of client ${client_id} at the beginning of ${day} are stored as ${held}, earlier bookings give others`
    if (equity === amount)
      return `the equity of client ${client_id} at the beginning of ${day} is stored with ${kept} unvalued positions and contracts, the replay gives ${unvalued}`
    return `the equity of client ${client_id} at the beginning of ${day} is stored as ${amount}, the replay gives ${equity}`
  }
}

const none = "NULL::text, NULL::text, NULL::text, NULL::text"
const kept = "client_id IN (SELECT client_id FROM kept)"

/**
 * Bookings of the same time come in the order of their ids, a contract before its end, and a midnight before all of them.
 * Midnights of finished jobs have a row for each account of that time, stored or not.
 */
const equityRows = `WITH due AS MATERIALIZED (
    SELECT b.client_id, d.day FROM statement_jobs j
      CROSS JOIN LATERAL generate_series(j.period_from, j.period_to, 86400000) AS d(day)
      CROSS JOIN (SELECT DISTINCT client_id FROM balances) b
     WHERE j.name = 'EQUITIES' AND j.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM statement_job_failures f
         WHERE f.job_id = j.id AND f.client_id = b.client_id AND f.state = 'OPEN')),
  equities AS MATERIALIZED (SELECT client_id, day, equity, unvalued, held::text AS held FROM due FULL JOIN daily_equities USING (client_id, day)),
  kept AS MATERIALIZED (SELECT DISTINCT client_id FROM equities),
  marks AS MATERIALIZED (SELECT day, json_object_agg(symbol, price)::text AS marks FROM daily_marks GROUP BY day)
  SELECT client_id, day AS at, 0 AS rank, 'EQUITY' AS what, 0::bigint AS id, equity AS amount, NULL::text AS symbol, NULL::text AS side,
         NULL::text AS qty, NULL::text AS price, m.marks AS facts, unvalued, held
    FROM equities LEFT JOIN marks m USING (day)
   UNION ALL
  SELECT p.client_id, t.ts, 1, CASE WHEN p.currency = 'USDC' AND p.kind = 'cash' THEN 'CASH' ELSE 'HELD' END, p.posting_id, p.amount,
         p.currency || ' ' || p.kind, NULL::text, NULL::text, NULL::text, NULL::text, NULL::bigint, NULL::text
    FROM postings p JOIN ledger_transactions t USING (tx_id) WHERE p.${kept}
   UNION ALL
  SELECT client_id, booked_at, 1, 'FILL', id, NULL::bigint, symbol, side, qty, price, NULL::text, NULL::bigint, NULL::text
    FROM fills WHERE family = 'PERP' AND ${kept}
   UNION ALL
  SELECT c.client_id, t.ts, 1, 'CONTRACT', c.id, NULL::bigint, ${none}, c.context::text, NULL::bigint, NULL::text
    FROM barrier_contracts c JOIN ledger_transactions t ON t.key = 'commission:contract:' || c.id WHERE c.${kept}
   UNION ALL
  SELECT client_id, ts, 2, 'END', split_part(key, ':', 2)::bigint, NULL::bigint, ${none}, NULL::text, NULL::bigint, NULL::text
    FROM ledger_transactions WHERE type = 'BARRIER_SETTLE' AND key LIKE 'settle:%' AND ${kept}
   ORDER BY client_id, at, rank, id`

export const equityReplay: ReplayCheck<ReplayedEquity> = {
  name: "every midnight equity exists and equals the replay of earlier bookings at the stored marks",
  figure: "SELECT count(*) AS n FROM daily_equities",
  rows: equityRows,
  begin: () => new EquityReplay()
}
