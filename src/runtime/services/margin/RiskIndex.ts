/**
 * Index of the accounts that a mark affects. For each position it holds the range of marks within which no action can follow for
 * the account. An ordered index per market holds the ends of these ranges, so a mark visits only the ends that it has passed. An
 * account with a passed end gets new ranges from the columns here, without its mailbox. It becomes due only if it may have
 * crossed a threshold. No IO (A2-89, F3, F7, F9).
 */
import { type Leg, shareOut, type TierLine } from "../../../machines/margin/riskLines.ts"
import type { RiskState } from "../../../machines/margin/accountRisk.ts"
import type { ExposedAccount, ExposedPosition } from "../../store/reads/exposureReads.ts"
import { enterInto, LevelHeap, nowhere } from "./LevelHeap.ts"
import { MarketEnds } from "./MarketEnds.ts"
import { noSlot, WatchedColumns } from "./WatchedColumns.ts"

/** An account with its open positions: the input of its ranges. */
export type WatchedAccount = ExposedAccount
export type WatchedPosition = ExposedPosition

/** An account that needs a judgement. `level`: the ratio of its equity to its margin. */
export interface DueAccount {
  readonly clientId: number
  readonly level: number
}

/** The highest leverage of a market for a categorization, by the present listing and terms. */
export type CapOf = (symbol: string, categorization: ExposedAccount["categorization"]) => number

/** The last known mark of a market. */
export interface LastMark {
  /** NaN: the market has never had a mark. */
  readonly price: number
  /** True: the mark is fresh. */
  readonly live: boolean
}

export interface RiskIndexParts {
  readonly tiers: ReadonlyArray<TierLine>
  readonly capOf: CapOf
  readonly markOf: (symbol: string) => LastMark
}

const states: ReadonlyArray<RiskState> = ["NORMAL", "MARGIN_CALL", "CLOSE_OUT"]

export class RiskIndex {
  private readonly parts: RiskIndexParts
  private readonly columns = new WatchedColumns()
  private readonly markets: Array<MarketEnds> = []
  private readonly bySymbol = new Map<string, MarketEnds>()
  private readonly slots = new Map<number, number>()
  /** Slots without ends in the market indexes: the account is due, or its judgement is in progress. */
  private readonly unarmed = new Set<number>()
  /** Slots of due accounts, lowest level first. */
  private readonly due = new LevelHeap(this.columns.urgency, "lowest")
  /** Scratch space: the legs of the account that `share` processes. */
  private readonly legs: Array<MutableLeg> = []
  /** True shortly after the start, while the first mark of a market may still arrive. */
  awaitsMarks = false
  /** Counters: ranges computed for an account, and accounts found due. */
  readonly counts = { shares: 0, due: 0 }

  constructor(parts: RiskIndexParts) {
    this.parts = parts
  }

  get size(): number {
    return this.slots.size
  }

  get positions(): number {
    return this.columns.positions
  }

  /** The number of due accounts that are not taken yet. */
  get waiting(): number {
    return this.due.size
  }

  /** The number of accounts with a position in a market. */
  holders(symbol: string): number {
    return this.bySymbol.get(symbol)?.holders ?? 0
  }

  has(clientId: number): boolean {
    return this.slots.has(clientId)
  }

  /** Replaces an account. Without positions: removes it. */
  put(account: WatchedAccount): void {
    const { clientId, positions } = account
    if (positions.length === 0) return this.remove(clientId)
    const { columns } = this
    const slot = this.slots.get(clientId) ?? columns.newAccount()
    this.slots.set(clientId, slot)
    this.dropPositions(slot)
    columns.clients[slot] = clientId
    columns.cash[slot] = Number(account.cash) / 1e6
    columns.premiums[slot] = Number(account.premiums) / 1e6
    columns.flags[slot] = states.indexOf(account.recorded) + (account.categorization === "RETAIL" ? 0 : professional)
    for (const position of positions) this.addPosition(slot, position)
    this.share(slot)
  }

  remove(clientId: number): void {
    const slot = this.slots.get(clientId)
    if (slot === undefined) return
    this.dropPositions(slot)
    enterInto(this.due, this.columns.urgency, { entry: slot, level: null })
    this.unarmed.delete(slot)
    this.columns.freeAccount(slot)
    this.slots.delete(clientId)
  }

  /**
   * Applies a mark of a market. Returns the number of positions visited. After `most` of them it stops; a repeated call with the
   * same mark continues.
   */
  mark(symbol: string, { price, live }: LastMark, most = Infinity): number {
    const market = this.bySymbol.get(symbol)
    if (market === undefined) return 0
    market.mark = price
    market.live = live
    let visited = 0
    for (let at = market.concerned(); at !== noSlot; at = market.concerned()) {
      if (++visited >= most) break
      this.share(this.columns.owner[at] as number)
    }
    return visited
  }

  /**
   * Takes up to `count` due accounts, lowest level first. No mark makes them due again before their next `put`.
   */
  takeDue(count: number): ReadonlyArray<DueAccount> {
    const { urgency, clients } = this.columns
    const taken: Array<DueAccount> = []
    while (taken.length < count && this.due.size > 0) {
      const slot = this.due.first
      taken.push({ clientId: clients[slot] as number, level: urgency.levels[slot] as number })
      enterInto(this.due, urgency, { entry: slot, level: null })
    }
    return taken
  }

  /** Takes one account. Returns whether it was due. No mark makes it due again before its next `put`. */
  takeOne(clientId: number): boolean {
    const slot = this.slots.get(clientId)
    if (slot === undefined || this.columns.urgency.places[slot] === nowhere) return false
    enterInto(this.due, this.columns.urgency, { entry: slot, level: null })
    return true
  }

  /** Updates the freshness of marks. A stale mark causes no loss notice until the next mark arrives. */
  ageMarks(isFresh: (symbol: string) => boolean): void {
    for (const market of this.markets) market.live &&= isFresh(market.symbol)
  }

  /** Computes the ranges of up to `most` slots again, from `slot` on. Returns the next slot; null: the sweep is complete. */
  again(slot: number, most = Infinity): number | null {
    const end = Math.min(this.columns.accounts, slot + most)
    for (let at = slot; at < end; at++) if (this.columns.isUsed(at)) this.share(at)
    return end === this.columns.accounts ? null : end
  }

  /** Clears the loss steps that were notified, at the start of a day. `again` then finds the consequences. */
  clearNotified(): void {
    this.columns.notified.fill(0)
  }

  /** Reads the leverage caps of all markets again. Returns whether any cap has changed. */
  relisted(): boolean {
    return this.markets.map((market) => this.readCaps(market)).includes(true)
  }

  /**
   * Candidates for the accounts nearest to a close-out in a market: distinct, unordered, about `count` from each of
   * three sources. The sources are range ends next to the mark, due accounts, and accounts in judgement. Accounts of
   * the last two sources may have no position in the market.
   */
  nearest(symbol: string, count: number): ReadonlyArray<number> {
    const { owner, clients } = this.columns
    const ends = this.bySymbol.get(symbol)?.nearest(count) ?? []
    const slots = [...ends.map((end) => owner[end >> 1] as number), ...this.due.least(count)]
    const unarmed = [...this.unarmed].slice(0, count)
    return [...new Set([...slots, ...unarmed])].map((slot) => clients[slot] as number)
  }

  private share(slot: number): void {
    const { columns, legs } = this
    const flags = columns.flags[slot] as number
    const isRetail = (flags & professional) === 0
    legs.length = 0
    for (let at = columns.head[slot] as number; at !== noSlot; at = columns.next[at] as number) {
      const market = this.markets[columns.market[at] as number] as MarketEnds
      const cap = isRetail ? market.retailCap : market.professionalCap
      const chosen = columns.chosen[at] as number
      legs.push({
        qty: columns.qty[at] as number,
        entry: columns.entry[at] as number,
        mark: market.mark,
        live: market.live,
        leverage: chosen === 0 ? cap : Math.min(chosen, cap),
        notified: columns.notified[at] as number,
        low: 0,
        high: 0
      })
    }
    this.counts.shares++
    const level = shareOut(
      {
        cash: columns.cash[slot] as number,
        premiums: columns.premiums[slot] as number,
        recorded: states[flags & recorded] as RiskState,
        legs,
        awaitsMarks: this.awaitsMarks
      },
      this.parts.tiers
    )
    this.enter(slot, level === null)
    if (level === null) this.unarmed.delete(slot)
    else {
      this.unarmed.add(slot)
      this.counts.due++
    }
    enterInto(this.due, columns.urgency, { entry: slot, level })
  }

  /** Enters the computed ends of an account's legs. A due account has no ends until it is judged. */
  private enter(slot: number, armed: boolean): void {
    const { columns, legs } = this
    let leg = 0
    for (let at = columns.head[slot] as number; at !== noSlot; at = columns.next[at] as number) {
      const { low, high, live } = legs[leg++] as Leg
      const market = this.markets[columns.market[at] as number] as MarketEnds
      if (armed && !live) market.untold.add(at)
      else market.untold.delete(at)
      market.enter(2 * at, armed ? low : null)
      market.enter(2 * at + 1, armed && high < Infinity ? high : null)
    }
  }

  private addPosition(slot: number, { symbol, netQty, avgEntry, chosen, notified }: WatchedPosition): void {
    const { columns } = this
    const at = columns.newPosition(slot)
    const market = this.marketOf(symbol)
    market.holders++
    columns.market[at] = market.number
    columns.qty[at] = Number(netQty)
    columns.entry[at] = Number(avgEntry)
    columns.chosen[at] = chosen ?? 0
    columns.notified[at] = notified
  }

  private dropPositions(slot: number): void {
    const { columns } = this
    for (let at = columns.head[slot] as number; at !== noSlot; at = columns.next[at] as number) {
      const market = this.markets[columns.market[at] as number] as MarketEnds
      market.enter(2 * at, null)
      market.enter(2 * at + 1, null)
      market.untold.delete(at)
      market.holders--
    }
    columns.freePositions(slot)
  }

  private marketOf(symbol: string): MarketEnds {
    const found = this.bySymbol.get(symbol)
    if (found !== undefined) return found
    const market = new MarketEnds(symbol, this.markets.length, this.columns.ends)
    const { price, live } = this.parts.markOf(symbol)
    market.mark = price
    market.live = live
    this.readCaps(market)
    this.markets.push(market)
    this.bySymbol.set(symbol, market)
    return market
  }

  private readCaps(market: MarketEnds): boolean {
    const { symbol, retailCap, professionalCap } = market
    market.retailCap = this.parts.capOf(symbol, "RETAIL")
    market.professionalCap = this.parts.capOf(symbol, "PROFESSIONAL")
    return market.retailCap !== retailCap || market.professionalCap !== professionalCap
  }
}

type MutableLeg = { -readonly [K in keyof Leg]: Leg[K] }

/** Bit masks of an account's flags: its recorded state, and its categorization. */
const recorded = 3
const professional = 4
