/**
 * The venue's market and dealers in a simulation: a price that moves, sometimes across the level of a contract, and
 * dealers that send good and bad quotes. It records the venue's requests, quotes and contracts, with which the auditor
 * compares the service.
 */
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import type { InProcessVenue } from "../../simulator/venue/InProcessVenue.ts"
import type { AccountFact } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueSwap } from "../../src/machines/venue/swapAtVenue.ts"
import type { VenueContract, VenueQuote, VenueRfq } from "../../src/machines/venue/venueObjects.ts"
import type { Lane } from "./Timeline.ts"

export const knockOut = "BTC-USDC-KO"
/** The market whose price moves. The others have the same base, and a delisted market takes no price. */
const priced = "BTC-USDC-PERP"
/** Ticks of the market in one USDC. */
export const ticksInOne = 10
const opening = 60_000 * ticksInOne
/** The price stays so near to its middle that no order of a probe trades. */
const nearness = 0.02
/** The limits of the middle price. */
const range = [0.3 * opening, 2.5 * opening] as const
/**
 * The range of prices while the venue lies. After a restart the service judges a passed time by present marks, within five bands
 * of 10 %. A true price beyond them is left to staff (decision 31), and no run has staff for it.
 */
const rangeOfLiar = [0.85 * opening, 1.2 * opening] as const
/** The age up to which a price may serve as a mark, ms; and the market's own move between two such prices, USDC. */
const lateMillis = 60_000
const drift = 30
const dealers = ["alpha", "beta", "gamma"]

export interface SaidQuote {
  readonly rfqRef: string
  /** The quote as first published. */
  readonly quote: VenueQuote
}

export interface VenueDeskParts {
  readonly core: InProcessVenue
  readonly outside: Lane
  readonly random: SeededRandom
  readonly lies: boolean
}

export class VenueDesk {
  /** The last report of each contract, by id. */
  readonly contracts = new Map<number, VenueContract>()
  /** The last report of each request, by ref. */
  readonly requests = new Map<string, VenueRfq>()
  readonly quotes = new Map<number, SaidQuote>()
  /** The last report of each swap, by ref. */
  readonly swaps = new Map<string, VenueSwap>()
  /** Ids of the published offers, the newest last. */
  readonly offers: Array<number> = []
  /** Ticks. */
  price = opening
  private middle = opening
  /** Recent prices with their start times, oldest first. */
  private readonly recent: Array<{ readonly at: number; readonly price: number }> = [{ at: 0, price: opening }]
  /** Called with each contract at its execution, before any process receives it. */
  onExecuted: (contract: VenueContract) => void = () => {}
  private readonly parts: VenueDeskParts

  constructor(parts: VenueDeskParts) {
    this.parts = parts
    this.move()
    this.write()
  }

  /** Records every fact of an account when the venue publishes it, before the faults of its transport. */
  hear(fact: AccountFact): void {
    if (fact.type === "contract") {
      if (!this.contracts.has(fact.contract.id)) this.onExecuted(fact.contract)
      this.contracts.set(fact.contract.id, fact.contract)
    }
    if (fact.type === "swap") this.swaps.set(fact.swap.ref, fact.swap)
    if (fact.type === "quote" && !this.quotes.has(fact.quote.id)) this.quotes.set(fact.quote.id, fact)
    if (fact.type !== "rfq") return
    const isNew = !this.requests.has(fact.rfq.ref)
    this.requests.set(fact.rfq.ref, fact.rfq)
    if (isNew && fact.rfq.state === "OPEN") for (const dealer of dealers) this.quoteSoon(fact.rfq, dealer)
  }

  /** Delists the market of knock-out contracts, which settles every contract. */
  delist(): void {
    this.parts.core.apply({ type: "command", command: { type: "delist", symbol: knockOut } })
  }

  /** The lowest and the highest price that a process with old marks may use as the present one, USDC. */
  get lately(): readonly [low: number, high: number] {
    return this.since(lateMillis)
  }

  /** The lowest and the highest price that was in force during the last `millis` ms, widened by `drift`, USDC. */
  since(millis: number): readonly [low: number, high: number] {
    const { now } = this.parts.outside.timeline
    while (this.recent.length > 1 && (this.recent[1]?.at ?? now) < now - lateMillis) this.recent.shift()
    const first = this.recent.findLastIndex(({ at }) => at <= now - millis)
    const prices = this.recent.slice(Math.max(0, first)).map(({ price }) => price / ticksInOne)
    return [Math.min(...prices) - drift, Math.max(...prices) + drift]
  }

  private after(millis: number, task: () => void): void {
    const { core, outside } = this.parts
    outside.after(millis, () => {
      core.advance(outside.timeline.now)
      task()
    })
  }

  private quoteSoon({ ref, qty, side, barrier, closes }: VenueRfq, dealer: string): void {
    const { core, outside, random } = this.parts
    if (random.chance(0.2)) return
    this.after(random.between(5, 1_500), () => {
      const off = random.chance(0.06)
      const sign = side === "BUY" ? 1 : -1
      const beyond = Math.round(Number(barrier) * ticksInOne) - sign * random.between(0, 50)
      const near = this.price + Math.round((this.price * random.between(-8, 8)) / 10_000)
      const price = ((off && closes === null ? beyond : near) / ticksInOne).toFixed(1)
      const offered = random.chance(0.06) ? "0.0001" : qty
      const validUntil = outside.timeline.now + random.pick([300, 3_000, 15_000])
      const { id } = core.apply({ type: "quote", rfqRef: ref, dealer, price, qty: offered, validUntil })
      if (id === null) return
      if (random.chance(0.15)) {
        this.after(random.between(20, 2_000), () => void core.apply({ type: "withdraw", rfqRef: ref, quoteId: id }))
      }
      const rfq = this.requests.get(ref)
      if (rfq?.state === "OPEN" && random.chance(0.7)) this.quoteSoon(rfq, dealer)
    })
  }

  /** Writers publish offers, pay a part or all before maturity, and correct the fee. */
  private write(): void {
    const { core, random } = this.parts
    this.after(random.between(400, 4_000), () => {
      const draw = random.next()
      if (random.chance(0.05)) this.defaultNext(1)
      const open = [...this.swaps.values()].filter(({ end }) => end === null)
      if (this.offers.length === 0 || draw < 0.3) {
        const qty = String(random.pick([50, 500, 5_000]))
        const given = { symbol: "USDC-SWAP", rateBps: random.between(1, 2_000), tenorDays: random.pick([1, 7]), qty }
        const { id } = core.apply({ type: "command", command: { type: "offer", ...given } })
        if (id !== null) this.offers.push(id)
      } else if (open.length > 0) {
        const { id: contractId, notional } = random.pick(open)
        const amount = random.chance(0.3) ? null : (Number(notional) / random.pick([2, 3, 10])).toFixed(6)
        const fee = (random.between(0, 100) / 1_000_000).toFixed(6)
        const pays = random.chance(0.8)
        core.apply({
          type: "command",
          command: pays ? { type: "pay", contractId, amount } : { type: "correctFee", contractId, fee }
        })
      }
      this.write()
    })
  }

  /** Lets the writers of the next `times` maturing swaps pay nothing. */
  defaultNext(times: number): void {
    const any = { symbol: null, forMillis: null, delayMillis: null } as const
    const command = { type: "fault", kind: "writer-default", route: "all", times, ...any } as const
    this.parts.core.apply({ type: "command", command })
  }

  /** Moves the price repeatedly: a little, by a jump, or to the level of an open contract and across it. */
  private move(): void {
    const { random } = this.parts
    this.after(random.between(300, 2_500), () => {
      const levels = [...this.contracts.values()].flatMap(({ state, barrier, takeProfit }) =>
        state === "OPEN" ? [barrier, ...(takeProfit === null ? [] : [takeProfit])] : []
      )
      const over = random.between(-20, 20)
      const next =
        levels.length > 0 && random.chance(0.07)
          ? Number(random.pick(levels)) * ticksInOne + over
          : this.price + this.price * (random.between(-100, 100) / (random.chance(0.05) ? 8_000 : 100_000))
      const { middle } = this
      this.put(Math.min(middle * (1 + nearness), Math.max(middle * (1 - nearness), next)))
      this.move()
    })
  }

  /** Moves the price in one step to this share of itself; it then stays near the new price. */
  gap(share: number): void {
    const { core, outside } = this.parts
    core.advance(outside.timeline.now)
    const [least, most] = this.parts.lies ? rangeOfLiar : range
    this.middle = Math.min(most, Math.max(least, this.price * share))
    this.put(this.middle)
  }

  private put(next: number): void {
    this.price = Math.round(next)
    this.recent.push({ at: this.parts.outside.timeline.now, price: this.price })
    const price = (this.price / ticksInOne).toFixed(1)
    this.parts.core.apply({ type: "command", command: { type: "price", symbol: priced, price, only: null } })
  }
}
