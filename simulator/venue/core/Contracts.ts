/**
 * Knock-out contracts at the simulated venue. Each is watched along the straight line between marks and ends exactly at its
 * level, however far the mark jumped. Figures are the venue's own, in micro-USDC (F15, F16, F17).
 */
import type { Side } from "./Book.ts"
import { type Direction, Levels, type Waiting } from "./Levels.ts"
import { type Market, valueOf } from "./Market.ts"

export type ContractState = "OPEN" | "KNOCKED_OUT" | "TAKE_PROFIT" | "EXPIRED" | "EARLY_CLOSE" | "TORN_UP" | "CLOSED"

export interface Contract {
  readonly id: number
  /** Ref of the accept that opened the contract. */
  readonly ref: string
  readonly tradeId: number
  readonly accountId: number
  /** The dealer who wrote the contract. Only this dealer gets the requests to close it. */
  readonly dealer: string
  readonly symbol: string
  readonly side: Side
  /** Lots. All prices of the contract are in ticks. */
  readonly quantity: number
  readonly entry: number
  readonly barrier: number
  readonly takeProfit: number | null
  readonly expiryAt: number
  /** True for a contract that pays its take profit or nothing: it loses the whole premium when it expires before a level. */
  readonly strict: boolean
  readonly premiumBps: number
  readonly openedAt: number
  state: ContractState
  settlePrice: number | null
  endedAt: number | null
  /** The registrations of an open contract; null once it has ended. */
  waits: Waits | null
}

/** A contract as a snapshot stores it, without its registrations. */
export type StoredContract = Omit<Contract, "waits">

/** Registrations of an open contract: at its levels, and for its expiry. */
interface Waits {
  readonly barrier: Waiting<Contract>
  readonly takeProfit: Waiting<Contract> | null
  readonly expiry: Waiting<Contract>
}

/** ceil(quantity x distance to the barrier x premiumBps / 10,000): the client's largest loss. */
export const premiumOf = (
  market: Market,
  { quantity, entry, barrier, premiumBps }: Pick<Contract, "quantity" | "entry" | "barrier" | "premiumBps">
): bigint => {
  const full = valueOf(market, Math.abs(entry - barrier), quantity) * BigInt(premiumBps)
  return (full + 9_999n) / 10_000n
}

/** The payment of an ended contract to its client, negative for a loss. */
export const resultOf = (market: Market, contract: StoredContract): bigint => {
  const { state, side, quantity, entry, takeProfit, settlePrice, strict } = contract
  const premium = premiumOf(market, contract)
  if (state === "KNOCKED_OUT" || (state === "EXPIRED" && strict)) return -premium
  const moved = (settlePrice ?? entry) - entry
  const raw = valueOf(market, side === "BUY" ? moved : -moved, quantity)
  const most = takeProfit === null ? null : valueOf(market, Math.abs(takeProfit - entry), quantity)
  const capped = most !== null && raw > most ? most : raw
  return capped < -premium ? -premium : capped
}

/** The direction in which a mark reaches the barrier. */
const lossOf = (side: Side): Direction => (side === "BUY" ? "AT_OR_BELOW" : "AT_OR_ABOVE")
const opposite: Readonly<Record<Direction, Direction>> = { AT_OR_BELOW: "AT_OR_ABOVE", AT_OR_ABOVE: "AT_OR_BELOW" }

/** A mark and the time from which it holds. */
export interface MarkPoint {
  readonly price: number
  readonly at: number
}

/** The open contracts of one market. */
export class Contracts {
  private readonly levels = new Levels<Contract>()
  /** The contracts by their expiry. A level here is a time in Unix ms, and the clock touches it as a mark touches a price. */
  private readonly expiries = new Levels<Contract>()

  add(contract: Contract): void {
    const { side, barrier, takeProfit, expiryAt } = contract
    const loss = lossOf(side)
    contract.waits = {
      barrier: this.levels.add(loss, barrier, contract),
      takeProfit: takeProfit === null ? null : this.levels.add(opposite[loss], takeProfit, contract),
      expiry: this.expiries.add("AT_OR_ABOVE", expiryAt, contract)
    }
  }

  get size(): number {
    return this.expiries.size
  }

  /** All open contracts of the market, in order of opening. */
  all(): ReadonlyArray<Contract> {
    return this.expiries
      .all()
      .map(({ item }) => item)
      .toSorted((one, other) => one.id - other.id)
  }

  /** Ends a contract other than by its levels: closed early, torn up, delisted. */
  end(contract: Contract, state: ContractState, settlePrice: number, at: number): void {
    const { waits } = contract
    if (waits === null) return
    contract.waits = null
    this.levels.remove(waits.barrier)
    if (waits.takeProfit !== null) this.levels.remove(waits.takeProfit)
    this.expiries.remove(waits.expiry)
    contract.state = state
    contract.settlePrice = settlePrice
    contract.endedAt = at
  }

  /**
   * Moves the mark along the straight line between two points; returns the contracts that end on it, in order of time. At the
   * same instant a touch precedes an expiry. An expiry settles at the last mark at or before it.
   */
  move(from: MarkPoint, to: MarkPoint): ReadonlyArray<Contract> {
    const ended: Array<Contract> = []
    for (;;) {
      const touched = this.levels.touched(to.price)
      if (touched === null) break
      const contract = touched.item
      const ends = touched.direction === lossOf(contract.side) ? "KNOCKED_OUT" : "TAKE_PROFIT"
      const at = timeAt(from, to, touched.level)
      if (at > contract.expiryAt) this.expire(contract, from, to)
      else this.end(contract, ends, touched.level, at)
      ended.push(contract)
    }
    for (;;) {
      const expired = this.expiries.touched(to.at)
      if (expired === null) break
      this.expire(expired.item, from, to)
      ended.push(expired.item)
    }
    return ended.toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0) || one.id - other.id)
  }

  private expire(contract: Contract, from: MarkPoint, to: MarkPoint): void {
    this.end(contract, "EXPIRED", contract.expiryAt >= to.at ? to.price : from.price, contract.expiryAt)
  }
}

/**
 * The time at which the line reaches a level, in whole milliseconds, rounded up so that it is never early. Multiplies before it
 * divides, so that a level on a whole millisecond is exact.
 */
const timeAt = (from: MarkPoint, to: MarkPoint, level: number): number => {
  const moved = to.price - from.price
  if (moved === 0) return from.at
  const after = Math.ceil(((level - from.price) * (to.at - from.at)) / moved)
  return from.at + Math.min(to.at - from.at, Math.max(0, after))
}
