/**
 * Replays the figures of positions trade by trade (F11). An opening trade moves the average price; a closing trade
 * realizes against the average and takes its share of the cost. Each ledger entry of a trade is committed with that
 * trade. At the end the venue's side of the ledger equals the sum of the venue's own trades.
 */
import { venueAccount } from "../../src/machines/postingRules.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { FillRow } from "../../src/runtime/tables/order.ts"
import type { Findings } from "./Findings.ts"
import { signed, units } from "./OrderAudit.ts"
import type { VenueLane } from "./VenueLane.ts"

/** A position after its trades: lots, and its cost and average price in 10^-18 USDC. */
interface Played {
  readonly lots: bigint
  readonly cost: bigint
  readonly average: bigint
}
type Traded = Pick<FillRow, "side" | "qty" | "price">

const flat: Played = { lots: 0n, cost: 0n, average: 0n }
const lotsInOne = 10_000n
/** Units of 10^-18 in a hundredth (the decimal place of a price) and in a millionth (that of money). */
const inHundredth = 10n ** 16n
const inMicro = 10n ** 12n

export class PositionAudit {
  private readonly findings: Findings
  private readonly venue: VenueLane
  /** The number of trades that realized a result. */
  private closings = 0
  private readonly played = new Map<string, Played & { readonly realized: bigint }>()

  constructor(findings: Findings, venue: VenueLane) {
    this.findings = findings
    this.venue = venue
  }

  take({ rows }: Commit): void {
    for (const fill of rows.fills ?? []) if (fill.family === "PERP") this.takeFill(fill)
    for (const { id, clientId, symbol, state, netQty, netCost, realizedPnl } of rows.positions ?? []) {
      if (state === "SPOT") continue
      const should = this.played.get(`${clientId} ${symbol}`) ?? { ...flat, realized: 0n }
      this.findings.expect(
        should.lots === units(netQty, 4) && should.cost === units(netCost, 18) && should.realized === realizedPnl,
        "orders",
        () =>
          `position ${id} is ${netQty} for ${netCost} with ${realizedPnl} realized; its trades make ${should.lots} lots for ${should.cost} with ${should.realized}`
      )
    }
    this.checkStrays(rows)
  }

  private takeFill(fill: FillRow): void {
    const name = `${fill.clientId} ${fill.symbol}`
    const before = this.played.get(name) ?? { ...flat, realized: 0n }
    const { position, realized } = play(before, fill)
    this.played.set(name, { ...position, realized: before.realized + realized })
    if (fill.closedQty !== null) this.closings++
    this.findings.expect(
      fill.realizedPnl === realized,
      "orders",
      () => `trade ${fill.tradeId} of order ${fill.orderId} realizes ${fill.realizedPnl}, not ${realized}`
    )
  }

  /** Checks that the ledger has no entry for a trade that the same commit does not book. */
  private checkStrays({ ledgerTransactions = [], fills = [] }: Commit["rows"]): void {
    const booked = new Set(fills.map(({ orderId, tradeId }) => `${orderId}:${tradeId}`))
    for (const { type, key, refs } of ledgerTransactions) {
      if (type !== "PNL" && type !== "SPOT_SETTLE" && type !== "COMMISSION") continue
      if (type === "COMMISSION" && "contractId" in refs) continue
      const of = key.slice(key.indexOf(":") + 1)
      this.findings.expect(booked.has(of), "orders", () => `${key} is posted, and no such trade is booked with it`)
    }
  }

  /**
   * Checks at the end of a run: payments with the venue equal the sum of the venue's own trades, in whatever order the
   * service booked them. Open positions keep their cost, and each closing trade rounds down.
   */
  checkEnd(store: MemoryStore): void {
    const ofTrades = new Set(
      store
        .rows("ledgerTransactions")
        .flatMap(({ txId, type }) => (type === "PNL" || type === "SPOT_SETTLE" ? [txId] : []))
    )
    const kept = new Map<string, bigint>()
    for (const { txId, account, currency, amount } of store.rows("postings"))
      if (account === venueAccount && ofTrades.has(txId)) add(kept, currency, -amount)
    for (const { cost } of this.played.values()) add(kept, "USDC", -floor(cost, inMicro))
    const due = this.paidByVenue()
    for (const currency of new Set([...kept.keys(), ...due.keys()])) {
      const [is, should] = [kept.get(currency) ?? 0n, due.get(currency) ?? 0n]
      const rounded = currency === "USDC" ? BigInt(this.closings + this.played.size) : 0n
      this.findings.expect(
        should - is <= rounded && is - should <= rounded,
        "orders",
        () => `the venue has paid ${is} ${currency} here, and its own trades come to ${should}`
      )
    }
  }

  private paidByVenue(): ReadonlyMap<string, bigint> {
    const due = new Map<string, bigint>()
    for (const { symbol, side, qty, price } of this.venue.trading.fills.values()) {
      const [base = "", quote = "USDC", family] = symbol.split("-")
      const sign = side === "BUY" ? 1n : -1n
      if (family === undefined) add(due, base, sign * units(qty, 8))
      add(due, quote, -sign * units(qty, 4) * units(price, 2))
    }
    return due
  }
}

const add = (sums: Map<string, bigint>, name: string, amount: bigint): void =>
  void sums.set(name, (sums.get(name) ?? 0n) + amount)

/** A position after a trade, and the result of the trade, micro-USDC, rounded down. */
const play = (before: Played, fill: Traded): { readonly position: Played; readonly realized: bigint } => {
  const moved = signed(fill)
  const price = units(fill.price, 2) * inHundredth
  const lots = before.lots + moved
  const opened = (): Played => ({ lots, cost: (lots * price) / lotsInOne, average: price })
  if (before.lots === 0n) return { position: opened(), realized: 0n }
  if (before.lots > 0n === moved > 0n) {
    const cost = before.cost + (moved * price) / lotsInOne
    return { position: { lots, cost, average: nearest(cost * lotsInOne, lots) }, realized: 0n }
  }
  const turns = before.lots > 0n !== lots > 0n && lots !== 0n
  const closed = turns || lots === 0n ? before.lots : -moved
  const realized = floor(closed * (price - before.average), lotsInOne * inMicro)
  if (lots === 0n) return { position: flat, realized }
  if (turns) return { position: opened(), realized }
  return { position: { ...before, lots, cost: nearest(lots * before.cost, before.lots) }, realized }
}

const floor = (numerator: bigint, denominator: bigint): bigint => {
  const whole = numerator / denominator
  return numerator % denominator < 0n ? whole - 1n : whole
}

/** The nearest whole number; a half goes to the even one. */
const nearest = (above: bigint, below: bigint): bigint => {
  const [numerator, denominator] = below < 0n ? [-above, -below] : [above, below]
  const whole = floor(numerator, denominator)
  const twice = 2n * (numerator - whole * denominator)
  const isUp = twice > denominator || (twice === denominator && whole % 2n !== 0n)
  return isUp ? whole + 1n : whole
}
