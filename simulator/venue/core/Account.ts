/**
 * An account at the simulated venue, one a client, netting: a quantity a market and the money that went for it, exact. The
 * sum over all accounts is zero in both, whatever trades, so the books prove themselves.
 */
import type { Side } from "./Book.ts"
import type { Contract } from "./Contracts.ts"
import type { Order } from "./Order.ts"

export interface Position {
  /** Signed lots. */
  lots: number
  /** Micro-USDC received less paid, without fees: what the quantity has cost is minus this. */
  flow: bigint
}

export class Account {
  readonly id: number
  /** The client's uid. */
  readonly name: string
  readonly positions = new Map<string, Position>()
  /** Its orders that rest or wait, in the order in which they came. */
  readonly orders = new Set<Order>()
  /** Its open contracts, in the order in which they were opened. */
  readonly contracts = new Set<Contract>()
  /** Number of its last event: they come without a gap. */
  sequence = 0

  constructor(id: number, name: string) {
    this.id = id
    this.name = name
  }

  lotsOf(symbol: string): number {
    return this.positions.get(symbol)?.lots ?? 0
  }

  /** Lots that an order of a side can take off the position: what reduce-only leaves it. */
  reducible(symbol: string, side: Side): number {
    const lots = this.lotsOf(symbol)
    return side === "SELL" ? Math.max(0, lots) : Math.max(0, -lots)
  }

  /** Books a trade of `lots` on a side, worth `value` micro-USDC. */
  book(symbol: string, side: Side, lots: number, value: bigint): void {
    const position = this.positions.get(symbol) ?? { lots: 0, flow: 0n }
    this.positions.set(symbol, position)
    position.lots += side === "BUY" ? lots : -lots
    position.flow += side === "BUY" ? -value : value
  }
}
