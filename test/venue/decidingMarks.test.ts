/**
 * The venue publishes each mark that decides an event before the event, even if the mark lasts only a moment. The
 * service's own checks judge every event by the published marks alone. No event has a time before the earlier events of
 * its account (A2-115).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { outsideBand } from "../../src/machines/market/PriceBand.ts"
import { defaultMarketTerms } from "../../src/machines/market/marketTerms.ts"
import type { OrderContext } from "../../src/machines/order/Order.ts"
import { perpInput } from "../../src/machines/order/orderSamples.ts"
import type { AccountFact, VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueListing } from "../../src/machines/venue/VenueMarket.ts"
import type { VenueContract, VenueOrder } from "../../src/machines/venue/venueObjects.ts"
import { contractMisfit } from "../../src/machines/venueChecks/contractChecks.ts"
import { orderMisfit } from "../../src/machines/venueChecks/orderChecks.ts"
import { anyTime, clockSlackMillis, timeMisfit, type VenueTime } from "../../src/machines/venue/timeChecks.ts"
import { MarketMirror } from "../../src/runtime/services/market/MarketMirror.ts"
import { isDeep } from "../support/every.ts"
import { opened } from "./openedVenue.ts"

const [perp, knockOut] = ["BTC-USDC-PERP", "BTC-USDC-KO"] as const
const eight = Date.parse("2026-03-01T08:00:00Z")

/** Reads the published messages in their order, and judges each event by the marks received before it. */
const judge = (listing: VenueListing, published: ReturnType<typeof opened>["published"]) => {
  const mirror = new MarketMirror(defaultMarketTerms)
  mirror.list(listing)
  const { recent } = mirror.factsAt(listing.at)
  const opening = new Map<string, VenueContract>()
  const fired = new Set<number>()
  const judged: Array<string> = []
  const misfits: Array<string> = []
  /** The latest event time of each account. A later event with an earlier time is a misfit. */
  const takenTo = new Map<string, number>()
  let venueTime: VenueTime = anyTime
  const verdict = (kind: string, misfit: string | null): void => {
    judged.push(kind)
    if (misfit !== null) misfits.push(`${kind}: ${misfit}`)
  }
  const bandOf = (symbol: string) => (at: number, bps?: number) => {
    const band = recent.bandAt(symbol, at, bps)
    if (band?.isWhole !== true) misfits.push(`the marks at ${at} are not known`)
    return band
  }
  const take = ({ at, fact }: VenueEvent): void => {
    if (!("account" in fact)) return
    const last = takenTo.get(fact.account) ?? 0
    takenTo.set(fact.account, at)
    venueTime = { ...anyTime, takenTo: last + clockSlackMillis }
    for (const time of [at, ...timesOf(fact)]) {
      const misfit = timeMisfit({ called: `a time of ${fact.type}`, at: time, sentAt: null }, venueTime)
      if (misfit !== null) misfits.push(misfit)
    }
    if (fact.type === "order" && fact.order.triggeredAt !== null && !fired.has(fact.order.id)) {
      fired.add(fact.order.id)
      verdict("trigger", orderMisfit(fact.order, { order: sentAs(fact.order), bandAt: bandOf(perp), venueTime }))
    }
    if (fact.type === "fill" && fact.fill.reason !== null)
      verdict("own trade", outsideBand(fact.fill.price, bandOf(perp)(at)))
    if (fact.type === "funding") verdict("stamp", outsideBand(fact.funding.mark ?? "0", bandOf(perp)(at)))
    if (fact.type !== "contract") return
    const { contract } = fact
    if (contract.state === "OPEN") opening.set(contract.ref, contract)
    else verdict(contract.state, contractMisfit(contract, termsOf(opening.get(contract.ref) ?? contract)))
  }
  const termsOf = (contract: VenueContract) => ({
    ...contract,
    accept: "SENT" as const,
    sentAt: null,
    expiryTs: contract.expiryAt,
    known: contract,
    close: null,
    tearUp: { sentAt: null },
    bandAt: bandOf(knockOut),
    isListed: false,
    venueTime
  })
  for (const one of published) {
    if (!("channel" in one)) take(one)
    else if (one.channel === "ticker") assert.isNull(mirror.take(one, Infinity).absurd)
  }
  return { judged, misfits }
}

/** The times of an account's event that no earlier event of its object has. */
const timesOf = (fact: AccountFact): ReadonlyArray<number> => {
  if (fact.type === "fill") return [fact.fill.at]
  if (fact.type === "contract") return [fact.contract.endedAt ?? fact.contract.openedAt]
  return fact.type === "funding" ? [fact.funding.settledAt] : []
}

/** The order of a stop as the service sent it. */
const sentAs = ({ ref, account, side, qty, tif, trigger }: VenueOrder): OrderContext =>
  ({
    ...perpInput,
    orderId: Number(ref?.slice(2)),
    account,
    side,
    qty,
    venueTif: tif,
    venuePrice: null,
    boundBps: 500,
    reduceOnly: false,
    trigger: trigger === null ? null : { ...trigger, limitPrice: null },
    venueOrderId: null,
    filledQty: "0",
    lastTradeId: 0,
    triggeredAt: null,
    reject: null,
    amending: null,
    amends: 0
  }) as unknown as OrderContext

const level = fc.integer({ min: 40_000, max: 80_000 }).map(String)
const path = fc.array(fc.record({ pause: fc.integer({ min: 1, max: 900 }), price: level }), {
  minLength: 2,
  maxLength: 12
})
const pauses = fc.array(fc.integer({ min: 1, max: 2_500 }), { minLength: 3, maxLength: 8 })
const contracts = fc.array(
  fc.record({
    barrier: fc.integer({ min: 40_000, max: 59_000 }),
    takeProfit: fc.integer({ min: 60_500, max: 80_000 }),
    lasts: fc.integer({ min: 1, max: 9_000 })
  }),
  { maxLength: 4 }
)

describe("A2-115: the marks that decide events of the venue", () => {
  it("every trigger, end, stamp and own trade of random paths fits the marks published before it", () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(
        fc.record({ path, pauses, contracts, stops: fc.array(level, { maxLength: 8 }) }),
        ({ path, pauses, contracts, stops }) => {
          const world = opened({}, eight - 5_000)
          const { venue, command, place, deal, call, tick } = world
          const listing = venue.listing()
          tick()
          place({ ref: "O-1", qty: "1" })
          stops
            .filter((price) => price !== "60000")
            .forEach((price, n) =>
              place({
                ref: `O-${n + 2}`,
                side: n % 2 === 0 ? "SELL" : "BUY",
                boundBps: 500,
                trigger: { source: "MARK", price, direction: Number(price) > 60_000 ? "AT_OR_ABOVE" : "AT_OR_BELOW" }
              })
            )
          contracts.forEach(({ barrier, takeProfit, lasts }, n) =>
            deal({
              ref: `R-${n}`,
              barrier: String(barrier),
              takeProfit: String(takeProfit),
              expiryAt: venue.now + lasts
            })
          )
          let offsetMs = 0
          command({
            type: "path",
            symbol: perp,
            points: path.map(({ pause, price }) => ({ offsetMs: (offsetMs += pause), price }))
          })
          for (const pause of pauses) tick(pause)
          const [contract] = venue.account("CL-1")?.contracts ?? []
          if (contract !== undefined) call("tearUp", { contractId: contract.id })
          const qty = "-0.001"
          command({ type: "execute", account: "CL-1", symbol: perp, qty, price: null, reason: "deleverage" })
          command({ type: "delist", symbol: knockOut })
          const { judged, misfits } = judge(listing, world.published)
          judged.forEach((kind) => seen.add(kind))
          assert.deepStrictEqual(misfits, [])
        }
      ),
      { numRuns: isDeep ? 1_000 : 20, seed: 5 }
    )
    assert.sameMembers(
      [...seen],
      ["trigger", "own trade", "stamp", "KNOCKED_OUT", "TAKE_PROFIT", "EXPIRED", "TORN_UP", "CLOSED"]
    )
  })
})
