/**
 * Whom a mark concerns (F7, F9): of every account with positions, between which marks nothing can follow for it. The ends lie in
 * an ordered index per market, so that a mark looks at those it has passed and at no others; an account whose end is passed is shared
 * out anew from what is kept of it here, without its mailbox, and only one that may have crossed a line is named. Without IO.
 */
import { type Leg, shareOut, type TierLine } from "../../../machines/margin/riskLines.ts"
import type { RiskState } from "../../../machines/margin/accountRisk.ts"
import type { ExposedAccount, ExposedPosition } from "../../store/reads/exposureReads.ts"
import { enterInto, LevelHeap, nowhere } from "./LevelHeap.ts"
import { MarketEnds } from "./MarketEnds.ts"
import { noSlot, WatchedColumns } from "./WatchedColumns.ts"

/** An account, and of each of its open positions what its lines are worked out from. */
export type WatchedAccount = ExposedAccount
export type WatchedPosition = ExposedPosition

/** An account for which something may follow, and what it holds of each USDC of its margin. */
export interface DueAccount {
  readonly clientId: number
  readonly level: number
}

/** The highest leverage of a market for a categorization, as listing and terms have it now. */
export type CapOf = (symbol: string, categorization: ExposedAccount["categorization"]) => number

/** The last mark known of a market. */
export interface LastMark {
  /** NaN: there never was one. */
  readonly price: number
  /** It is fresh (F3). */
  readonly live: boolean
}

export interface RiskIndexParts {
  readonly tiers: ReadonlyArray<TierLine>
  readonly capOf: CapOf
  /** The last mark known of a market. */
  readonly markOf: (symbol: string) => LastMark
}

const states: ReadonlyArray<RiskState> = ["NORMAL", "MARGIN_CALL", "CLOSE_OUT"]

export class RiskIndex {
  private readonly parts: RiskIndexParts
  private readonly columns = new WatchedColumns()
  private readonly markets: Array<MarketEnds> = []
  private readonly bySymbol = new Map<string, MarketEnds>()
  private readonly slots = new Map<number, number>()
  /** Accounts that no mark names: they are due, or looked at just now. */
  private readonly unarmed = new Set<number>()
  /** Accounts for which something may follow, the worst first. */
  private readonly due = new LevelHeap(this.columns.urgency, "lowest")
  /** The legs of the account that is looked at. */
  private readonly legs: Array<MutableLeg> = []
  /** A service has just begun: of a market without a mark one is on its way. */
  awaitsMarks = false
  /** How often an account was shared out, and how often something was said to follow for one. */
  readonly counts = { shares: 0, due: 0 }

  constructor(parts: RiskIndexParts) {
    this.parts = parts
  }

  /** Accounts. */
  get size(): number {
    return this.slots.size
  }

  get positions(): number {
    return this.columns.positions
  }

  /** Accounts for which something may follow and that are not taken. */
  get waiting(): number {
    return this.due.size
  }

  /** Accounts with a position in a market. */
  holders(symbol: string): number {
    return this.bySymbol.get(symbol)?.holders ?? 0
  }

  has(clientId: number): boolean {
    return this.slots.has(clientId)
  }

  /** Puts an account in place of what was kept of it; one without positions is dropped. */
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
   * A mark of a market. Answers how many positions it looked at; after `most` of them the rest waits until the same mark is said again.
   */
  mark(symbol: string, { price, live }: LastMark, most = Infinity): number {
    const market = this.bySymbol.get(symbol)
    if (market === undefined) return 0
    market.mark = price
    market.live = live
    let looked = 0
    for (let at = market.concerned(); at !== noSlot; at = market.concerned()) {
      if (++looked >= most) break
      this.share(this.columns.owner[at] as number)
    }
    return looked
  }

  /**
   * Takes up to `count` accounts for which something may follow, those first that hold least of their margin (F9). No mark names
   * them again until they are put.
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

  /** Whether it was due; no mark names it again until it is put. */
  takeOne(clientId: number): boolean {
    const slot = this.slots.get(clientId)
    if (slot === undefined || this.columns.urgency.places[slot] === nowhere) return false
    enterInto(this.due, this.columns.urgency, { entry: slot, level: null })
    return true
  }

  /** Marks that are stale by now tell no loss until the next one comes (F3, A2-89). */
  ageMarks(isFresh: (symbol: string) => boolean): void {
    for (const market of this.markets) market.live &&= isFresh(market.symbol)
  }

  /** Looks at every account again, from `slot` on; where to go on after `most` of them, null at the end. */
  again(slot: number, most = Infinity): number | null {
    const end = Math.min(this.columns.accounts, slot + most)
    for (let at = slot; at < end; at++) if (this.columns.isUsed(at)) this.share(at)
    return end === this.columns.accounts ? null : end
  }

  /** A day has begun: nothing was told of any loss yet (A2-89). What follows is found by `again`. */
  nothingTold(): void {
    this.columns.told.fill(0)
  }

  /** Whether a market's highest leverages are others than they were when its accounts were shared out. */
  relisted(): boolean {
    return this.markets.map((market) => this.readCaps(market)).includes(true)
  }

  /**
   * Those that are next in a market, some `count` of them at each way to be so, of each only once, in no order: whose shares end next
   * to its mark, who is due, and who is looked at just now. Of the latter two some have no position in it.
   */
  nearest(symbol: string, count: number): ReadonlyArray<number> {
    const { owner, clients } = this.columns
    const ends = this.bySymbol.get(symbol)?.nearest(count) ?? []
    const slots = [...ends.map((end) => owner[end >> 1] as number), ...this.due.least(count)]
    const looked = [...this.unarmed].slice(0, count)
    return [...new Set([...slots, ...looked])].map((slot) => clients[slot] as number)
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
        told: columns.told[at] as number,
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

  /** Enters the ends of the legs that were worked out; those of an account that is due are left out until it was looked at. */
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

  private addPosition(slot: number, { symbol, netQty, avgEntry, chosen, told }: WatchedPosition): void {
    const { columns } = this
    const at = columns.newPosition(slot)
    const market = this.marketOf(symbol)
    market.holders++
    columns.market[at] = market.number
    columns.qty[at] = Number(netQty)
    columns.entry[at] = Number(avgEntry)
    columns.chosen[at] = chosen ?? 0
    columns.told[at] = told
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

/** Bits of an account's flags: the number of its recorded state, and its categorization. */
const recorded = 3
const professional = 4
