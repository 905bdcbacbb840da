/**
 * Which open contracts a mark is near to (A2-31), found without looking at them all: for each market the next level below and
 * above, and the next two that are to be armed again. A tick that crosses none looks at four levels, however many there are,
 * and costs no turn. What it finds is judged again in the client's turn.
 */
import type { Level } from "../../../machines/barrier/BarrierContract.ts"
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import type { OpenLevels } from "../../store/reads/barrierReads.ts"
import { type Entries, LevelHeap } from "./LevelHeap.ts"

/** Within 10 basis points of the mark a level is near; beyond 20 it is armed again (A2-31). */
const nearShare = 1_000
const awayShare = 500

/** A level that a mark has come near to. */
export interface NearLevel {
  readonly contractId: number
  readonly clientId: number
  readonly level: Level
}

export class LevelIndex {
  private readonly markets = new Map<string, MarketLevels>()
  private readonly symbols = new Map<number, MarketLevels>()

  get size(): number {
    return this.symbols.size
  }

  /** A contract that is watched already stays as it is. */
  add(contract: OpenLevels): void {
    if (this.symbols.has(contract.contractId)) return
    const market = this.markets.get(contract.symbol) ?? new MarketLevels()
    this.markets.set(contract.symbol, market)
    market.add(contract)
    this.symbols.set(contract.contractId, market)
  }

  remove(contractId: number): void {
    this.symbols.get(contractId)?.remove(contractId)
    this.symbols.delete(contractId)
  }

  /**
   * A mark of a market: `near` hears each armed level that it is near to, once; not one that it has reached, where the
   * contract ends. Answers how many levels were looked at; after `most` of them the rest waits for another tick.
   */
  tick(symbol: string, mark: MoneyDecimal, near: (level: NearLevel) => void, most = Infinity): number {
    return this.markets.get(symbol)?.tick(mark, near, most) ?? 0
  }
}

const startSize = 16

/** The levels of one market: entry 2n is the barrier of the contract in slot n, entry 2n + 1 its take profit. */
class MarketLevels {
  private readonly slots = new Map<number, number>()
  private readonly free: Array<number> = []
  private used = 0
  private contracts: Float64Array = new Float64Array(startSize)
  private clients: Float64Array = new Float64Array(startSize)
  private readonly entries: Entries = {
    levels: new Float64Array(2 * startSize),
    places: new Int32Array(2 * startSize)
  }
  /** The heap of each entry, by its place in `heaps`; 0: of none. */
  private heapOf = new Uint8Array(2 * startSize)
  /** Decimal places of the units. */
  private decimals = 0
  /** Armed levels below the mark, and above it; those that wait until the mark has gone away from them. */
  private readonly below = new LevelHeap(this.entries, "highest")
  private readonly above = new LevelHeap(this.entries, "lowest")
  private readonly saidBelow = new LevelHeap(this.entries, "lowest")
  private readonly saidAbove = new LevelHeap(this.entries, "highest")
  private readonly heaps = [null, this.below, this.above, this.saidBelow, this.saidAbove] as const

  add({ contractId, clientId, side, barrier, takeProfit, said }: OpenLevels): void {
    const slot = this.free.pop() ?? this.used++
    if (slot === this.contracts.length) this.grow()
    this.slots.set(contractId, slot)
    this.contracts[slot] = contractId
    this.clients[slot] = clientId
    const isLong = side === "BUY"
    this.enter(2 * slot, barrier, isLong, said.includes("BARRIER"))
    if (takeProfit !== null) this.enter(2 * slot + 1, takeProfit, !isLong, said.includes("TAKE_PROFIT"))
  }

  remove(contractId: number): void {
    const slot = this.slots.get(contractId)
    if (slot === undefined) return
    this.leave(2 * slot)
    this.leave(2 * slot + 1)
    this.slots.delete(contractId)
    this.free.push(slot)
  }

  tick(mark: MoneyDecimal, near: (level: NearLevel) => void, most: number): number {
    const units = this.unitsOf(mark)
    let looked = 0
    /** Goes through the levels of a heap, the first one first, until `act` leaves one where it is. */
    const go = (heap: LevelHeap, isBelow: boolean, act: (entry: number, away: number) => boolean): void => {
      for (let entry = heap.first; entry !== -1 && looked < most; entry = heap.first) {
        looked++
        const level = this.levelOf(entry)
        if (!act(entry, isBelow ? units - level : level - units)) return
      }
    }
    const arrive = (entry: number, away: number): boolean => {
      if (away * nearShare > units) return false
      this.move(entry, (this.heapOf[entry] as number) + 2)
      if (away > 0) near(this.named(entry))
      return true
    }
    const depart = (entry: number, away: number): boolean => {
      if (away * awayShare <= units) return false
      this.move(entry, (this.heapOf[entry] as number) - 2)
      return true
    }
    go(this.below, true, arrive)
    go(this.above, false, arrive)
    go(this.saidBelow, true, depart)
    go(this.saidAbove, false, depart)
    return looked
  }

  private named(entry: number): NearLevel {
    const slot = entry >> 1
    return {
      contractId: this.contracts[slot] as number,
      clientId: this.clients[slot] as number,
      level: entry % 2 === 0 ? "BARRIER" : "TAKE_PROFIT"
    }
  }

  private enter(entry: number, level: string, isBelow: boolean, said: boolean): void {
    this.entries.levels[entry] = this.unitsOfText(level)
    this.move(entry, (isBelow ? 1 : 2) + (said ? 2 : 0))
  }

  private move(entry: number, to: number): void {
    this.leave(entry)
    this.heaps[to]?.add(entry)
    this.heapOf[entry] = to
  }

  private leave(entry: number): void {
    this.heaps[this.heapOf[entry] as number]?.remove(entry)
    this.heapOf[entry] = 0
  }

  private levelOf(entry: number): number {
    return this.entries.levels[entry] as number
  }

  private unitsOf(price: MoneyDecimal): number {
    this.keep(price.decimalPlaces())
    return exact(price.times(new MoneyDecimal(10).pow(this.decimals)).toNumber())
  }

  /** As `unitsOf`, without a decimal made for each: a hundred thousand levels come at a start. Its last place counts, zero or not. */
  private unitsOfText(price: string): number {
    const point = price.indexOf(".")
    const places = point === -1 ? 0 : price.length - point - 1
    this.keep(places)
    const digits = point === -1 ? price : price.slice(0, point) + price.slice(point + 1)
    return exact(exact(Number(digits)) * 10 ** (this.decimals - places))
  }

  /** A price with more places than any before it makes the units smaller. */
  private keep(places: number): void {
    if (places <= this.decimals) return
    const times = 10 ** (places - this.decimals)
    for (let entry = 0; entry < 2 * this.used; entry++) this.entries.levels[entry] = exact(this.levelOf(entry) * times)
    this.decimals = places
  }

  private grow(): void {
    this.contracts = grown(this.contracts)
    this.clients = grown(this.clients)
    this.entries.levels = grown(this.entries.levels)
    const places = new Int32Array(2 * this.entries.places.length)
    places.set(this.entries.places)
    this.entries.places = places
    const heapOf = new Uint8Array(places.length)
    heapOf.set(this.heapOf)
    this.heapOf = heapOf
  }
}

const grown = (figures: Float64Array): Float64Array => {
  const more = new Float64Array(2 * figures.length)
  more.set(figures)
  return more
}

/** Prices on a market's grid are exact in units of its places (Grid). */
const exact = (units: number): number => {
  if (!Number.isSafeInteger(units)) throw new RangeError(`a price of ${units} units is not exact`)
  return units
}
