/**
 * Finds the open contracts with a level near to the mark. Each market has four heaps: armed levels below and above the mark, and
 * notified levels below and above it. A tick that crosses no threshold visits four levels, regardless of their number, and takes
 * no turn. The client's turn checks each find again (A2-31).
 */
import type { Level } from "../../../machines/contract/Contract.ts"
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import type { OpenLevels } from "../../store/reads/levelReads.ts"
import { type Entries, LevelHeap } from "./LevelHeap.ts"

/** A level within 10 basis points of the mark is near (1/1,000). Beyond 20 basis points (1/500) it is armed again. */
const nearShare = 1_000
const awayShare = 500

/** A level that is near to the mark. */
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

  /** Adds the levels of an open contract; no-op if the index has the contract. */
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
   * Applies a mark of a market. Calls `near` once for each armed level that the mark comes near to. A level that the
   * mark has already reached gets no call, because the contract ends there. Returns the number of levels visited. After
   * `most` levels it stops, and a later tick continues.
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
  /** The heap of each entry, as an index into `heaps`. 0: the entry is in no heap. */
  private heapOf = new Uint8Array(2 * startSize)
  /** The decimal places of the units in which levels are stored. */
  private decimals = 0
  /** `below`, `above`: armed levels. `notifiedBelow`, `notifiedAbove`: levels that wait for the mark to move away. */
  private readonly below = new LevelHeap(this.entries, "highest")
  private readonly above = new LevelHeap(this.entries, "lowest")
  private readonly notifiedBelow = new LevelHeap(this.entries, "lowest")
  private readonly notifiedAbove = new LevelHeap(this.entries, "highest")
  private readonly heaps = [null, this.below, this.above, this.notifiedBelow, this.notifiedAbove] as const

  add({ contractId, clientId, side, barrier, takeProfit, notified }: OpenLevels): void {
    const slot = this.free.pop() ?? this.used++
    if (slot === this.contracts.length) this.grow()
    this.slots.set(contractId, slot)
    this.contracts[slot] = contractId
    this.clients[slot] = clientId
    const isLong = side === "BUY"
    this.enter(2 * slot, barrier, isLong, notified.includes("BARRIER"))
    if (takeProfit !== null) this.enter(2 * slot + 1, takeProfit, !isLong, notified.includes("TAKE_PROFIT"))
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
    let visited = 0
    /** Visits the levels of a heap in order, until `act` returns false because it has left a level in place. */
    const go = (heap: LevelHeap, isBelow: boolean, act: (entry: number, away: number) => boolean): void => {
      for (let entry = heap.first; entry !== -1 && visited < most; entry = heap.first) {
        visited++
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
    go(this.notifiedBelow, true, depart)
    go(this.notifiedAbove, false, depart)
    return visited
  }

  private named(entry: number): NearLevel {
    const slot = entry >> 1
    return {
      contractId: this.contracts[slot] as number,
      clientId: this.clients[slot] as number,
      level: entry % 2 === 0 ? "BARRIER" : "TAKE_PROFIT"
    }
  }

  private enter(entry: number, level: string, isBelow: boolean, notified: boolean): void {
    this.entries.levels[entry] = this.unitsOfText(level)
    this.move(entry, (isBelow ? 1 : 2) + (notified ? 2 : 0))
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

  /**
   * Like `unitsOf`, but without a decimal object: the start indexes up to 100,000 levels. Trailing zeros count as
   * decimal places.
   */
  private unitsOfText(price: string): number {
    const point = price.indexOf(".")
    const places = point === -1 ? 0 : price.length - point - 1
    this.keep(places)
    const digits = point === -1 ? price : price.slice(0, point) + price.slice(point + 1)
    return exact(exact(Number(digits)) * 10 ** (this.decimals - places))
  }

  /** Rescales all levels if a price has more decimal places than any before it. */
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

/** Prices on a market's grid are exact in these units. */
const exact = (units: number): number => {
  if (!Number.isSafeInteger(units)) throw new RangeError(`a price of ${units} units is not exact`)
  return units
}
