/**
 * An account at the simulated venue, one for each client. Positions are netted: in each market an account has one quantity and
 * the money paid for it, both exact. Both sums over all accounts are zero after any trade, so the books verify themselves.
 */
import type { Side } from "./Book.ts"
import type { Contract } from "./Contracts.ts"
import type { Order } from "./Order.ts"

export interface Position {
  /** Lots; positive for a long position, negative for a short one. */
  lots: number
  /** Micro-USDC received less paid, without fees: the negative cost of the quantity. */
  flow: bigint
}

export class Account {
  readonly id: number
  /** The account's name at the venue, which is the client's uid. */
  readonly name: string
  readonly positions = new Map<string, Position>()
  /** The account's live orders, resting or waiting, in order of arrival. */
  readonly orders = new Set<Order>()
  /** The account's open contracts, in order of opening. */
  readonly contracts = new Set<Contract>()
  /** Number of the account's last event, without gaps. */
  sequence = 0

  constructor(id: number, name: string) {
    this.id = id
    this.name = name
  }

  lotsOf(symbol: string): number {
    return this.positions.get(symbol)?.lots ?? 0
  }

  /** Lots by which an order on a side can reduce the position: the limit of reduce-only. */
  reducible(symbol: string, side: Side): number {
    const lots = this.lotsOf(symbol)
    return side === "SELL" ? Math.max(0, lots) : Math.max(0, -lots)
  }

  /** Books a trade of `lots` on a side with a value of `value` micro-USDC. */
  book(symbol: string, side: Side, lots: number, value: bigint): void {
    const position = this.positions.get(symbol) ?? { lots: 0, flow: 0n }
    this.positions.set(symbol, position)
    position.lots += side === "BUY" ? lots : -lots
    position.flow += side === "BUY" ? -value : value
  }
}
