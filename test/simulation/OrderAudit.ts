/**
 * Checks orders, fills and positions at each commit and at the end (D6, D7; F6, F11, F12, F20, F21). Each trade of the
 * venue is booked once with its money, positions are the sums of fills, holds end with their orders, and at the end
 * service and venue agree.
 */
import { workingStates } from "../../src/machines/order/Order.ts"
import type { AccountFact } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueFill, VenueOrder } from "../../src/machines/venue/venueObjects.ts"
import { ownerOfRef } from "../../src/machines/venue/venueRefs.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { AttachmentRow, FillRow, OrderRow, PositionRow } from "../../src/runtime/tables/order.ts"
import type { Coverage } from "./Coverage.ts"
import type { Findings } from "./Findings.ts"
import type { VenueLane } from "./VenueLane.ts"

export interface OrderAuditParts {
  readonly findings: Findings
  readonly venue: VenueLane
  readonly stepped: Coverage["stepped"]
}

export class OrderAudit {
  /** Committed rows by id. */
  readonly orders = new Map<number, OrderRow>()
  readonly positions = new Map<number, PositionRow>()
  private readonly parts: OrderAuditParts
  /** By order and trade. */
  private readonly fills = new Map<string, FillRow>()
  /** The sum of the fills of each client in each market, lots. */
  private readonly nets = new Map<string, bigint>()
  private readonly attachments = new Map<number, AttachmentRow>()
  /** Clients that ever had an order. */
  private readonly traders = new Set<number>()
  private readonly accounts = new Map<number, string>()

  constructor(parts: OrderAuditParts) {
    this.parts = parts
  }

  /** True if the account's value depends on a mark, or its margin on an order. */
  isExposed(clientId: number): boolean {
    return this.traders.has(clientId)
  }

  /** The largest gain of a client's positions at one of these prices, micro-USDC; 0 for a loss (F4). */
  gained(clientId: number, prices: ReadonlyArray<number>): bigint {
    const open = [...this.positions.values()].filter((row) => row.clientId === clientId && row.state === "OPEN")
    let most = 0n
    for (const price of prices) {
      const tenths = BigInt(Math.round(price * 10))
      const sum = open.reduce((all, row) => all + units(row.netQty, 4) * tenths * 10n - units(row.netCost, 6), 0n)
      if (sum > most) most = sum
    }
    return most
  }

  take({ rows }: Commit): void {
    for (const { id, uid } of rows.clients ?? []) this.accounts.set(id, uid)
    for (const row of rows.fills ?? []) {
      this.takeFill(row, rows)
      const name = `${row.clientId} ${row.symbol}`
      this.nets.set(name, (this.nets.get(name) ?? 0n) + signed(row))
    }
    this.checkPositions(rows)
    for (const row of rows.orders ?? []) this.takeOrder(row)
    for (const row of rows.orders ?? []) this.checkLeg(row)
    for (const row of rows.attachments ?? []) this.takeAttachment(row)
  }

  private takeFill(row: FillRow, rows: Commit["rows"]): void {
    const { findings, venue } = this.parts
    const { orderId, tradeId } = row
    const name = `${orderId}:${tradeId}`
    const say = (what: string) => (): string => `trade ${tradeId} of order ${orderId}: ${what}`
    findings.expect(!this.fills.has(name), "orders", say("it is booked a second time"))
    this.fills.set(name, row)
    const there = venue.trading.fills.get(`O-${orderId} ${tradeId}`)
    const same =
      there !== undefined &&
      there.side === row.side &&
      units(there.qty, 4) === units(row.qty, 4) &&
      units(there.price, 2) === units(row.price, 2)
    findings.expect(same, "orders", say(`${row.side} ${row.qty} at ${row.price}, there ${JSON.stringify(there)}`))
    this.checkMoney(row, rows)
  }

  /** Checks that a protecting leg is never larger than the filled quantity of its order. */
  private checkLeg({ id, parentOrderId, context }: OrderRow): void {
    if (parentOrderId === null) return
    const most = units(this.orders.get(parentOrderId)?.context.filledQty ?? "0", 4)
    const asked = [context.qty, context.amending?.qty ?? "0"].map((qty) => units(qty, 4))
    this.parts.findings.expect(
      asked.every((qty) => qty <= most),
      "orders",
      () => `order ${id} protects ${context.qty} of order ${parentOrderId}, which has filled ${most}`
    )
  }

  private takeAttachment(row: AttachmentRow): void {
    const before = this.attachments.get(row.id)
    this.attachments.set(row.id, row)
    if (before !== undefined && before.state !== row.state) this.parts.stepped("attachment", before.state, row.state)
  }

  /**
   * Checks that each kind of money due has one posting, in the commit that books the trade, under the trade's own keys.
   */
  private checkMoney(row: FillRow, { ledgerTransactions = [], postings = [] }: Commit["rows"]): void {
    const of = `${row.orderId}:${row.tradeId}`
    const isBuy = row.side === "BUY"
    const sum = (key: string, currency: string): bigint =>
      postings
        .filter(
          (leg) =>
            leg.clientId !== null &&
            leg.currency === currency &&
            ledgerTransactions.some((each) => each.key === key && each.txId === leg.txId)
        )
        .reduce((total, { amount }) => total + amount, 0n)
    const base = row.symbol.slice(0, row.symbol.indexOf("-"))
    const paid = sum(`spot:${of}`, row.currency)
    const is = [sum(`pnl:${of}`, row.currency), sum(`commission:${of}`, row.currency), sum(`spot:${of}`, base)]
    const moved = row.family === "SPOT" ? units(row.qty, 8) * (isBuy ? 1n : -1n) : 0n
    const should = [row.family === "SPOT" ? 0n : row.realizedPnl, -row.commission, moved]
    this.parts.findings.expect(
      is.join() === should.join() && (row.family === "SPOT" ? paid === 0n || paid > 0n !== isBuy : paid === 0n),
      "orders",
      () => `trade ${of} moves ${is.join(", ")} and ${paid}, not ${should.join(", ")}`
    )
  }

  /** Checks that a position is the sum of its fills and changes with them alone. */
  private checkPositions({ positions = [], fills = [] }: Commit["rows"]): void {
    const { findings } = this.parts
    for (const row of positions) {
      this.positions.set(row.id, row)
      const net = this.nets.get(`${row.clientId} ${row.symbol}`) ?? 0n
      findings.expect(
        net === units(row.netQty, 4),
        "orders",
        () => `position ${row.id} is ${row.netQty}, its fills are ${net}`
      )
    }
    for (const { orderId, clientId, symbol } of fills) {
      const shown = positions.some((row) => row.clientId === clientId && row.symbol === symbol)
      findings.expect(shown, "orders", () => `order ${orderId} is filled, and its position does not move`)
    }
  }

  private takeOrder(row: OrderRow): void {
    const { findings, stepped } = this.parts
    const { id, context } = row
    const before = this.orders.get(id)
    this.orders.set(id, row)
    this.traders.add(row.clientId)
    if (before !== undefined && before.state !== row.state) stepped("order", before.state, row.state)
    const say = (what: string) => (): string => `order ${id} is ${row.state}: ${what}`
    const filled = this.filledOf(id)
    const qty = units(context.qty, 4)
    findings.expect(
      filled === units(context.filledQty, 4) && filled <= qty && (row.state === "FILLED") === (filled === qty),
      "orders",
      say(`filled ${context.filledQty} of ${context.qty}, its trades are ${filled}`)
    )
    if (before !== undefined && works(before) && !works(row)) this.checkEnded(row)
    if (context.family === "SPOT") this.checkTotals(row)
    this.checkReserve(row)
  }

  /** Without an answer an order stays open: an ended order has ended at the venue, or can never arrive there. */
  private checkEnded({ id, state }: OrderRow): void {
    const [outcome] = this.parts.venue.core.lookup([`O-${id}`])
    const there = this.parts.venue.trading.orders.get(`O-${id}`)?.state ?? "nowhere"
    const ended = outcome?.outcome === "REFUSED" || outcome?.outcome === "VOID" || isOver(there)
    this.parts.findings.expect(
      ended,
      "orders",
      () => `order ${id} is ${state}, and at the venue it is ${outcome?.outcome} and ${there}`
    )
  }

  /**
   * Checks that an order costs as much as one trade of its whole quantity: rounding is cumulative over its trades
   * (F20).
   */
  private checkTotals({ id, context }: OrderRow): void {
    const own = [...this.fills.values()].filter(({ orderId }) => orderId === id)
    const value = own.reduce((sum, { qty, price }) => sum + units(qty, 4) * units(price, 1) * 10n, 0n)
    const charged = own.reduce((sum, { commission }) => sum + commission, 0n)
    const due = (value * BigInt(context.commissionBps) + 9_999n) / 10_000n
    const isBuy = context.side === "BUY"
    const paid = isBuy ? units(context.consumed, 6) : units(context.consumed, 8)
    const taken = isBuy ? value + due : units(context.filledQty, 8)
    this.parts.findings.expect(
      charged === due && paid === taken,
      "orders",
      () => `order ${id} has paid ${paid} with ${charged} of commission, not ${taken} with ${due}`
    )
  }

  /** Checks that a reserve is consumed or released, and that an ended order leaves none (F20). */
  private checkReserve(row: OrderRow): void {
    const { reserved, consumed, released } = row.context
    if (reserved === null) return
    const places = reserved.currency === "USDC" ? 6 : 8
    const left = units(reserved.amount, places) - units(consumed, places) - units(released, places)
    this.parts.findings.expect(
      works(row) ? left >= 0n : left === 0n,
      "orders",
      () => `order ${row.id} is ${row.state} and holds ${left} of ${reserved.amount} ${reserved.currency}`
    )
  }

  /** True if the rows contain a fact of the venue; null for a fact of another kind. */
  isApplied(fact: AccountFact): boolean | null {
    if (fact.type !== "order" && fact.type !== "fill") return null
    const id = idOf(fact.order.ref)
    if (id === null) return null
    const row = this.orders.get(id)
    if (row === undefined) return false
    if (fact.type === "fill") return this.fills.has(`${id}:${fact.fill.tradeId}`)
    return !works(row) || row.context.venueOrderId === fact.order.id
  }

  /** The facts of the venue that the rows lack, as sentences. */
  differences(): ReadonlyArray<string> {
    const { trading } = this.parts.venue
    const found: Array<string> = []
    for (const [ref, order] of trading.orders) {
      const row = this.orders.get(idOf(ref) ?? 0)
      if (!isAlike(row, order)) found.push(`${ref} is ${order.state} there and ${row?.state ?? "nowhere"} here`)
    }
    for (const [name, fill] of trading.fills) {
      if (!this.fills.has(`${idOf(fill.ref) ?? 0}:${fill.tradeId}`)) found.push(`trade ${name} is not booked`)
    }
    for (const row of this.orders.values()) {
      if (works(row) && !trading.orders.has(`O-${row.id}`)) found.push(`order ${row.id} works here alone`)
    }
    const net = new Map<string, bigint>()
    for (const fill of trading.fills.values()) {
      const name = `${fill.account} ${fill.symbol}`
      net.set(name, (net.get(name) ?? 0n) + signed(fill))
    }
    for (const row of this.positions.values()) {
      const there = net.get(`${this.accounts.get(row.clientId)} ${row.symbol}`) ?? 0n
      if (there !== units(row.netQty, 4)) found.push(`position ${row.id} is ${row.netQty} here and ${there} there`)
    }
    return found
  }

  /** Checks at the end of a run, when no work is left. */
  checkEnd(): void {
    const { findings } = this.parts
    const found = this.differences()
    findings.expect(found.length === 0, "orders", () => found.join("; "))
    for (const row of this.orders.values()) if (works(row) && row.context.reduceOnly) this.checkProtecting(row)
    this.checkReducing()
  }

  /**
   * Checks that a fill of a reduce-only order reduces its position and never reverses it. It uses the order of trades
   * at the venue: after lost events the service books them in another order.
   */
  private checkReducing(): void {
    const nets = new Map<string, bigint>()
    for (const fill of [...this.fills.values()].toSorted((one, other) => one.tradeId - other.tradeId)) {
      const name = `${fill.clientId} ${fill.symbol}`
      const before = nets.get(name) ?? 0n
      const after = before + signed(fill)
      nets.set(name, after)
      const reduces = before > 0n ? after >= 0n && after < before : after <= 0n && after > before
      this.parts.findings.expect(
        this.orders.get(fill.orderId)?.context.reduceOnly !== true || reduces,
        "orders",
        () =>
          `order ${fill.orderId} is reduce-only, and trade ${fill.tradeId} takes the position from ${before} to ${after}`
      )
    }
  }

  /** Checks that a reduce-only order has a position to reduce, and that a leg is no larger than the position. */
  private checkProtecting({ id, clientId, symbol, parentOrderId, context }: OrderRow): void {
    const net = this.nets.get(`${clientId} ${symbol}`) ?? 0n
    const held = context.side === "SELL" ? net : -net
    const left = units(context.qty, 4) - units(context.filledQty, 4)
    this.parts.findings.expect(
      held > 0n && (parentOrderId === null || left <= held),
      "orders",
      () => `order ${id} may reduce by ${left} in the end, and ${held} is held on its side`
    )
  }

  private filledOf(orderId: number): bigint {
    let sum = 0n
    for (const fill of this.fills.values()) if (fill.orderId === orderId) sum += units(fill.qty, 4)
    return sum
  }
}

/** The order id of a ref; null for a ref of another noun. */
const idOf = (ref: string | null): number | null => {
  const owner = ref === null ? null : ownerOfRef(ref)
  return owner?.owner === "order" ? owner.id : null
}

/** Whether an order may still be filled. */
export const works = ({ state }: Pick<OrderRow, "state">): boolean =>
  (workingStates as ReadonlyArray<string>).includes(state)

const isOver = (state: string): boolean => state === "FILLED" || state === "CANCELLED" || state === "REJECTED"

const isAlike = (row: OrderRow | undefined, { state, filledQty }: VenueOrder): boolean => {
  if (row === undefined || units(row.context.filledQty, 4) !== units(filledQty, 4)) return false
  if (state === "WAITING") return row.state === "PENDING_TRIGGER"
  if (state === "WORKING") return row.state === "ACKED" || row.state === "PARTIAL"
  return row.state === state
}

/** A decimal with its sign as whole units of the given decimal places. */
export const units = (text: string, places: number): bigint => {
  const [before = "0", after = ""] = text.replace("-", "").split(".")
  const whole = BigInt(before) * 10n ** BigInt(places) + BigInt(after.padEnd(places, "0").slice(0, places) || "0")
  return text.startsWith("-") ? -whole : whole
}

export const signed = ({ side, qty }: Pick<VenueFill, "side" | "qty">): bigint =>
  units(qty, 4) * (side === "BUY" ? 1n : -1n)
