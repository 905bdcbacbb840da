/**
 * The requests of clients that trade contracts and swaps: the papers for level MICA_MIFID, previews, requests for
 * quotes to open and close contracts, accepts of good and bad quotes, cancels.
 */
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { requestRef } from "../../src/machines/rfq/Rfq.ts"
import type { ContractRow } from "../../src/runtime/tables/contract.ts"
import type { RfqRow } from "../../src/runtime/tables/rfq.ts"
import type { PartnerCall } from "./Doorway.ts"
import { knockOut, ticksInOne } from "./VenueDesk.ts"
import type { PartnerAccount, World } from "./World.ts"

type Asked = Pick<PartnerCall, "method" | "path" | "body">

/** A call of a trading client. `keyed`: its route takes an Idempotency-Key. */
export interface Trade extends Asked {
  readonly keyed: boolean
}

const hourMillis = 3_600_000
/** A client with less cash deposits money first, micro-USDC. */
const least = 100_000_000n

export class TraderDesk {
  /** The calls that raise a client to level MICA_MIFID, in any order. */
  readonly papers: ReadonlyArray<(clientId: number) => Trade> = [
    (clientId) => ({ method: "PUT", path: `${pathOf(clientId)}/mifid`, body: sampleMifid(), keyed: true }),
    (clientId) => {
      const answers = Object.fromEntries(Object.entries(answersFor(questionnaire1, "PASS")))
      return { method: "POST", path: `${pathOf(clientId)}/appropriateness`, body: { version: 1, answers }, keyed: true }
    }
  ]
  private readonly world: World
  private readonly random: SeededRandom

  constructor(world: World) {
    this.world = world
    this.random = world.fork()
  }

  /** The next request of a client. "money in": it deposits; "money": it deposits or withdraws. */
  next(partner: PartnerAccount, clientId: number): Trade | "money in" | "money" {
    const { random, world } = this
    const on = pathOf(clientId)
    const { cash, review } = world.auditor.commits
    if (review.levels.get(clientId) !== "MICA_MIFID" && random.chance(0.95)) return random.pick(this.papers)(clientId)
    const held = cash.get(clientId)?.at(-1)?.cash ?? 0n
    if (held < least && random.chance(0.9)) return "money in"
    const draw = random.next()
    if (draw < 0.3) return this.close(on, clientId) ?? this.accept(on, clientId) ?? this.request(on)
    if (draw < 0.58) return this.accept(on, clientId) ?? this.request(on)
    if (draw < 0.66) return this.cancel(on, clientId) ?? this.request(on)
    if (draw < 0.7)
      return { ...this.request(on), path: `${on}/rfq/${random.pick(["preview", "explain"])}`, keyed: false }
    if (draw < 0.76) return "money"
    if (draw < 0.84) return takeOf(world, random, clientId) ?? this.request(on)
    return this.request(on)
  }

  /** A request to open: near or far, long or short, sometimes one that is refused. */
  private request(on: string): Trade {
    const { random, world } = this
    const { price } = world.venue.desk
    const up = random.chance(0.5) ? 1 : -1
    const off = (bps: number): string => (Math.round(price + (price * up * bps) / 10_000) / ticksInOne).toFixed(1)
    const near = random.chance(0.3)
    const takeProfit = random.chance(0.6) ? off(random.between(15, near ? 60 : 200)) : undefined
    const expiryTs = random.chance(0.5) ? world.timeline.now + random.between(2_000, hourMillis) : undefined
    const strict = takeProfit !== undefined && expiryTs !== undefined && random.chance(0.3)
    const body = {
      symbol: knockOut,
      side: up === 1 ? "BUY" : "SELL",
      qty: (random.between(20, random.chance(0.05) ? 90_000 : 900) / 10_000).toFixed(4),
      ...(random.chance(0.2) ? { premium: String(random.between(1, 80)) } : {}),
      barrier: {
        level: off(-random.between(near ? 8 : 50, near ? 60 : 200)),
        ...(takeProfit === undefined ? {} : { takeProfit }),
        ...(expiryTs === undefined ? {} : { expiryTs }),
        ...(strict ? { strictTakeProfit: true } : {})
      },
      expiresInMs: random.pick([2_000, 20_000, 60_000, 60_000]),
      autoAccept: random.chance(0.7)
    }
    return { method: "POST", path: `${on}/rfq`, body, keyed: true }
  }

  /** An accept of a quote for an open request; both may have ended meanwhile. Null without a quote. */
  private accept(on: string, clientId: number): Trade | null {
    const { random, world } = this
    const refs = new Set(this.open(clientId).map(({ id }) => requestRef(id)))
    const quotes = [...world.venue.desk.quotes.values()].filter(({ rfqRef }) => refs.has(rfqRef))
    const { now } = world.timeline
    const standing = quotes.filter(({ quote }) => quote.validUntil > now)
    const among = standing.length > 0 && random.chance(0.85) ? standing : quotes
    if (among.length === 0) return null
    const { rfqRef, quote } = random.pick(among)
    return { method: "POST", path: `${on}/rfq/${rfqRef.slice(2)}/accept`, body: { quoteId: quote.id }, keyed: true }
  }

  private cancel(on: string, clientId: number): Trade | null {
    const open = this.open(clientId)
    if (open.length === 0) return null
    return { method: "POST", path: `${on}/rfq/${this.random.pick(open).id}/cancel`, body: null, keyed: false }
  }

  /** A request to close a contract, sometimes one that has ended. */
  private close(on: string, clientId: number): Trade | null {
    const { random, world } = this
    const own = [...world.contracts.contracts.values()].filter((row) => row.clientId === clientId)
    const open = own.filter(isOpen)
    const among = open.length > 0 && random.chance(0.95) ? open : own
    if (among.length === 0) return null
    const body = { autoAccept: random.chance(0.8), expiresInMs: random.pick([2_000, 20_000, 60_000]) }
    return { method: "POST", path: `${on}/barriers/${random.pick(among).id}/close`, body, keyed: true }
  }

  private open(clientId: number): ReadonlyArray<RfqRow> {
    return [...this.world.contracts.rfqs.values()].filter((row) => row.clientId === clientId && isOpen(row))
  }
}

/** A take of an offer: mostly of a recent one, sometimes of one that is gone, or of more than it offers. */
export const takeOf = (world: World, random: SeededRandom, clientId: number): Trade | null => {
  const { offers } = world.venue.desk
  if (offers.length === 0) return null
  const offerId = random.chance(0.1)
    ? 1_000_000
    : (offers[random.between(Math.max(0, offers.length - 3), offers.length - 1)] as number)
  const qty = (random.between(10, random.chance(0.1) ? 100_000 : 4_000) / 100).toFixed(2)
  return { method: "POST", path: `${pathOf(clientId)}/staking/${offerId}/accept`, body: { qty }, keyed: true }
}

const pathOf = (clientId: number): string => `/partner/v1/clients/${clientId}`
const isOpen = ({ state }: RfqRow | ContractRow): boolean => state === "OPEN"
