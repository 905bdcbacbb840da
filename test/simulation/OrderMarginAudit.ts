/**
 * Checks the margin and the reserves of orders from the committed rows (F6, F13, F20). An order that opens risk has
 * margin for every outcome, so that no two orders use the same margin. The client's reserve is the sum of what its
 * working spot orders and its withdrawals hold.
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { OrderRow } from "../../src/runtime/tables/order.ts"
import type { ContractAudit } from "./ContractAudit.ts"
import type { Findings } from "./Findings.ts"
import { type OrderAudit, units, works } from "./OrderAudit.ts"

export interface OrderMarginParts {
  readonly findings: Findings
  readonly orders: OrderAudit
  readonly contracts: ContractAudit
  /** The amount that takes of a client hold, micro-USDC. */
  readonly taken: (clientId: number) => bigint
  /** A client's committed cash, micro-USDC. */
  readonly cash: (clientId: number) => bigint
  /** The lowest and the highest price that a present turn may use, USDC. */
  readonly prices: () => readonly [low: number, high: number]
}

/**
 * Decimal places of prices and quantities as whole numbers: tenths and ten-thousandths. A product has
 * hundred-thousandths.
 */
const [pricePlaces, qtyPlaces] = [1, 4]
/** Micro-USDC in one unit of such a product. */
const microInProduct = 10n

export class OrderMarginAudit {
  private readonly parts: OrderMarginParts
  private readonly known = new Set<number>()
  /** The amounts that withdrawal requests hold, micro-USDC, by request. */
  private readonly withdrawals = new Map<number, { readonly clientId: number; readonly amount: bigint }>()

  constructor(parts: OrderMarginParts) {
    this.parts = parts
  }

  /** Records a commit. Its orders, positions and cash must be recorded before. */
  take({ rows }: Commit): void {
    for (const { id, clientId, state, amount } of rows.withdrawalRequests ?? []) {
      if (state === "REQUESTED") this.withdrawals.set(id, { clientId, amount })
      else this.withdrawals.delete(id)
    }
    for (const row of rows.orders ?? []) {
      if (this.known.has(row.id)) continue
      this.known.add(row.id)
      if (row.context.origin === "CLIENT") this.checkMargin(row)
    }
    for (const { clientId, currency, reserved } of rows.balances ?? []) this.checkReserved(clientId, currency, reserved)
  }

  /**
   * Checks that the account has margin for the largest exposure to which its orders may lead, the new one included (F6,
   * F13).
   */
  private checkMargin(row: OrderRow): void {
    const { findings, cash, contracts, orders } = this.parts
    const { clientId, symbol } = row
    const { family, reduceOnly, leverage, side } = row.context
    if (reduceOnly || (family === "SPOT" && side === "SELL")) return
    const own = [...orders.orders.values()].filter(
      (each) => each.clientId === clientId && each.context.family === "PERP" && works(each) && !each.context.reduceOnly
    )
    const held = [...orders.positions.values()].find((each) => each.clientId === clientId && each.state === "OPEN")
    if (family === "PERP" && onlyReduces(row, own, held?.netQty ?? "0")) return
    const [low, high] = this.parts.prices()
    const net = units(held?.netQty ?? "0", qtyPlaces)
    const best = tenths(net > 0n ? high : low)
    // Uses the best price that the service may have used.
    const gained = net * best * microInProduct - (held === undefined ? 0n : units(held.netCost, 6))
    const needed = family === "PERP" ? worst(net, own, tenths(low)) / BigInt(leverage ?? 1) : 0n
    const free = cash(clientId) + gained - contracts.tied(clientId)
    findings.expect(
      needed <= free,
      "margin",
      () => `order ${row.id} of ${symbol} leaves client ${clientId} with ${free} for at least ${needed} of margin`
    )
  }

  private checkReserved(clientId: number, currency: string, reserved: bigint): void {
    let held = 0n
    for (const { clientId: owner, context, state } of this.parts.orders.orders.values()) {
      if (owner !== clientId || context.reserved?.currency !== currency || !works({ state })) continue
      const places = currency === "USDC" ? 6 : 8
      held += units(context.reserved.amount, places) - units(context.consumed, places) - units(context.released, places)
    }
    if (currency === "USDC")
      for (const each of this.withdrawals.values()) if (each.clientId === clientId) held += each.amount
    if (currency === "USDC") held += this.parts.taken(clientId)
    this.parts.findings.expect(
      reserved === held,
      "orders",
      () => `client ${clientId} has ${reserved} ${currency} reserved, and orders, takes and withdrawals hold ${held}`
    )
  }
}

const tenths = (price: number): bigint => BigInt(Math.round(price * 10 ** pricePlaces))

/** The open quantity of an order, lots. */
const leftOf = ({ context: { qty, filledQty } }: OrderRow): bigint =>
  units(qty, qtyPlaces) - units(filledQty, qtyPlaces)

/** True if the position has room for the whole order beside the other orders on its side. */
const onlyReduces = (row: OrderRow, own: ReadonlyArray<OrderRow>, netQty: string): boolean => {
  const { side } = row.context
  const room = units(netQty, qtyPlaces) * (side === "SELL" ? 1n : -1n)
  const asked = own.filter(({ context }) => context.side === side).reduce((sum, each) => sum + leftOf(each), 0n)
  return asked <= room
}

/** The largest exposure at a price, micro-USDC: the orders of each side are added to the position. */
const worst = (net: bigint, own: ReadonlyArray<OrderRow>, price: bigint): bigint => {
  const sides = { BUY: net * price, SELL: -net * price }
  for (const row of own) {
    const { side, trigger, price: limit } = row.context
    const at = limit ?? trigger?.limitPrice ?? trigger?.price ?? null
    sides[side] += leftOf(row) * (at === null ? price : units(at, pricePlaces))
  }
  return (sides.BUY > sides.SELL ? sides.BUY : sides.SELL) * microInProduct
}
