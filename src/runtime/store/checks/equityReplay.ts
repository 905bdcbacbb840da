/**
 * What `ledger verify` proves of the equities that are kept of each midnight (STS-28): cash out of postings, positions out of fills at
 * average cost, contracts out of their openings and ends, at the marks that were kept, in one walk through all of them.
 */
import type { BarrierContractContext } from "../../../machines/barrier/BarrierContract.ts"
import { isFlat, type PerpPosition } from "../../../machines/margin/perpetual.ts"
import { applyFill, flatPosition } from "../../../machines/order/positionRules.ts"
import { equityOf, type MarksThen } from "../../../machines/statement/equityThen.ts"
import type { Replay, ReplayCheck } from "./replayChecks.ts"

/** What was booked of a client that has an equity, and the equities themselves, in the order of their times. */
export interface ReplayedEquity {
  readonly client_id: bigint
  /** Unix ms; of an equity its midnight, before which everything counts. */
  readonly at: bigint
  readonly what: "EQUITY" | "CASH" | "FILL" | "CONTRACT" | "END"
  /** Of a contract its own. */
  readonly id: bigint
  /** Micro-USDC: the equity, or what came or went. */
  readonly amount: bigint | null
  readonly symbol: string | null
  readonly side: "BUY" | "SELL" | null
  readonly qty: string | null
  readonly price: string | null
  /** JSON: the marks of the midnight, or the contract. */
  readonly facts: string | null
}

class EquityReplay implements Replay<ReplayedEquity> {
  private clientId = 0n
  private cash = 0n
  private readonly positions = new Map<string, PerpPosition>()
  private readonly contracts = new Map<bigint, BarrierContractContext>()

  take(row: ReplayedEquity): string | null {
    if (row.client_id !== this.clientId) this.begin(row.client_id)
    if (row.what === "EQUITY") return this.compare(row)
    if (row.what === "CASH") this.cash += row.amount ?? 0n
    if (row.what === "FILL") this.trade(row)
    if (row.what === "CONTRACT") this.contracts.set(row.id, JSON.parse(row.facts ?? "") as BarrierContractContext)
    if (row.what === "END") this.contracts.delete(row.id)
    return null
  }

  end(): null {
    return null
  }

  private begin(clientId: bigint): void {
    this.clientId = clientId
    this.cash = 0n
    this.positions.clear()
    this.contracts.clear()
  }

  private trade({ symbol, side, qty, price }: ReplayedEquity): void {
    if (symbol === null || side === null || qty === null || price === null) throw new Error("a fill without its terms")
    const { position } = applyFill(this.positions.get(symbol) ?? flatPosition(symbol), { side, qty, price })
    if (isFlat(position)) this.positions.delete(symbol)
    else this.positions.set(symbol, position)
  }

  private compare({ client_id, at, amount, facts }: ReplayedEquity): string | null {
    const { cash, positions, contracts } = this
    const isCash = positions.size + contracts.size === 0
    const marks: MarksThen = isCash || facts === null ? new Map() : new Map(Object.entries(JSON.parse(facts) as object))
    const equity = equityOf({ cash, positions: positions.values(), contracts: contracts.values() }, marks)
    if (equity === amount) return null
    const day = new Date(Number(at)).toISOString().slice(0, 10)
    return `the equity of client ${client_id} at the beginning of ${day} is kept as ${amount}, what was booked before makes it ${equity}`
  }
}

const none = "NULL::text, NULL::text, NULL::text, NULL::text"
const kept = "client_id IN (SELECT client_id FROM kept)"

/** Of one time, what was booked comes in the order of ids, and a contract before its end; a midnight before all of it. */
const equityRows = `WITH kept AS MATERIALIZED (SELECT DISTINCT client_id FROM daily_equities),
  marks AS MATERIALIZED (SELECT day, json_object_agg(symbol, price)::text AS marks FROM daily_marks GROUP BY day)
  SELECT client_id, day AS at, 0 AS rank, 'EQUITY' AS what, 0::bigint AS id, equity AS amount, NULL::text AS symbol, NULL::text AS side,
         NULL::text AS qty, NULL::text AS price, m.marks AS facts
    FROM daily_equities LEFT JOIN marks m USING (day)
   UNION ALL
  SELECT p.client_id, t.ts, 1, 'CASH', p.posting_id, p.amount, ${none}, NULL::text
    FROM postings p JOIN ledger_transactions t USING (tx_id) WHERE p.currency = 'USDC' AND p.kind = 'cash' AND p.${kept}
   UNION ALL
  SELECT client_id, booked_at, 1, 'FILL', id, NULL::bigint, symbol, side, qty, price, NULL::text
    FROM fills WHERE family = 'PERP' AND ${kept}
   UNION ALL
  SELECT c.client_id, t.ts, 1, 'CONTRACT', c.id, NULL::bigint, ${none}, c.context::text
    FROM barrier_contracts c JOIN ledger_transactions t ON t.key = 'commission:contract:' || c.id WHERE c.${kept}
   UNION ALL
  SELECT client_id, ts, 2, 'END', split_part(key, ':', 2)::bigint, NULL::bigint, ${none}, NULL::text
    FROM ledger_transactions WHERE type = 'BARRIER_SETTLE' AND key LIKE 'settle:%' AND ${kept}
   ORDER BY client_id, at, rank, id`

export const equityReplay: ReplayCheck<ReplayedEquity> = {
  name: "every equity of a midnight is what was booked before it makes at the marks that were kept",
  figure: "SELECT count(*) AS n FROM daily_equities",
  rows: equityRows,
  begin: () => new EquityReplay()
}
