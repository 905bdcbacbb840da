/**
 * Time and testers' commands at the venue (C4): ticks and jumps, funding stamps, boards and writers, held prices and
 * paths, halts, delisting.
 */
import { assert, describe, it } from "@effect/vitest"
import { opened } from "./openedVenue.ts"
import { startAt } from "./venueInputs.ts"

const day = 86_400_000
const hour = 3_600_000
const tickerOf = ({ venue }: ReturnType<typeof opened>, symbol = "BTC-USDC-PERP") => {
  const ticker = venue.snapshot("ticker", symbol)
  if (ticker?.channel !== "ticker") throw new Error(`no ticker of ${symbol}`)
  return ticker
}

describe("time at the venue", () => {
  it("SC-FUN-01: three stamps in one jump are published once each, in the account's sequence, with their own times", () => {
    const world = opened()
    world.command({ type: "funding", symbol: "BTC-USDC-PERP", rate: "0.0002" })
    world.place({ ref: "O-1", qty: "0.5", tif: "IOC" })
    world.tick(day)
    const funding = world.news().flatMap((news) => (news.type === "funding" ? [news] : []))
    assert.deepStrictEqual(
      funding.map(({ at, funding: { settledAt, mark, rate, netQty, amount } }) => ({
        at,
        settledAt,
        mark,
        rate,
        netQty,
        amount
      })),
      ["2026-03-01T08:00:00Z", "2026-03-01T16:00:00Z", "2026-03-02T00:00:00Z"].map((text) => ({
        at: Date.parse(text),
        settledAt: Date.parse(text),
        mark: "60000",
        rate: "0.0002",
        netQty: "0.5",
        amount: "-6"
      }))
    )
    assert.strictEqual(world.balance("CL-1", "USDC"), "-18")
  })

  it("SC-FUN-05: a stamp without a mark is published in its place, and paid at its own mark and rate after the fault", () => {
    const world = opened()
    const [route, symbol, forMillis, times, delayMillis] = ["all", null, null, null, null] as const
    const fault = { type: "fault", kind: "unpriced-funding", route, symbol, times, delayMillis } as const
    world.command({ type: "funding", symbol: "BTC-USDC-PERP", rate: "0.0002" })
    world.place({ ref: "O-1", qty: "0.5", tif: "IOC" })
    world.command({ ...fault, forMillis })
    world.tick(8 * hour)
    const said = () => world.news().flatMap((news) => (news.type === "funding" ? [news.funding] : []))
    const stamp = { symbol: "BTC-USDC-PERP", settledAt: Date.parse("2026-03-01T08:00:00Z"), netQty: "0.5" }
    assert.deepStrictEqual(said(), [{ ...stamp, mark: null, rate: null, amount: null }])
    assert.isUndefined(world.balance("CL-1", "USDC"))
    world.command({ type: "price", symbol: "BTC-USDC-PERP", price: "70000", only: null })
    world.command({ type: "clear" })
    assert.deepStrictEqual(said().slice(1), [{ ...stamp, mark: "60000", rate: "0.0002", amount: "-6" }])
    assert.strictEqual(world.balance("CL-1", "USDC"), "-6")
    world.command({ ...fault, forMillis: hour })
    world.tick(10 * hour)
    assert.deepStrictEqual(
      said()
        .slice(2)
        .map(({ settledAt, mark }) => [settledAt - stamp.settledAt, mark === null]),
      [
        [8 * hour, true],
        [8 * hour, false],
        [16 * hour, false]
      ]
    )
  })

  it("FUND-011: a position opened after a stamp pays from the next one; one closed at the stamp pays", () => {
    const world = opened()
    world.tick(2 * 60_000)
    world.place({ ref: "O-1", qty: "0.5", tif: "IOC" })
    world.tick(8 * hour)
    assert.deepStrictEqual(
      world.news().flatMap((news) => (news.type === "funding" ? [news.funding.settledAt] : [])),
      [Date.parse("2026-03-01T16:00:00Z")]
    )
  })

  it("the cost of a jump of ninety days depends on its events alone", () => {
    const world = opened()
    world.place({ ref: "O-1", price: "58000", qty: "0.5" })
    world.deal({ barrier: "50000" })
    world.command({ type: "clear" })
    const messages = world.messages.length
    const began = performance.now()
    world.tick(90 * day)
    assert.isBelow(performance.now() - began, 10_000)
    // Each market publishes its data once at the end, and its mark at each event.
    assert.isAtMost(world.messages.length - messages, 75 + world.news().length)
    assert.strictEqual(world.venue.now, startAt + 90 * day)
    assert.strictEqual(world.venue.lookup(["A-R-0"])[0]?.contract?.state === "OPEN", false)
  })

  it("time never goes back, and a part of a tick plays everything that becomes due in it", () => {
    const world = opened()
    world.tick(1_500)
    const { seq } = tickerOf(world)
    world.request({ ref: "R-1", windowEndsAt: startAt + 1_700 })
    world.tick(300)
    assert.strictEqual(world.venue.lookup(["R-1"])[0]?.rfq?.state, "EXPIRED")
    assert.strictEqual(tickerOf(world).seq, seq)
    world.venue.apply({ type: "time", to: startAt })
    assert.strictEqual(world.venue.now, startAt + 1_800)
    assert.strictEqual(world.refusal({ type: "advance", to: startAt }), "Time never goes back.")
  })

  it("C4: in a jump a client's order trades with the ladder that passes it, and a trigger fires at the market", () => {
    const world = opened()
    world.place({ ref: "O-1", side: "SELL", price: "60400", qty: "0.2" })
    const trigger = { source: "MARK", price: "60300", direction: "AT_OR_ABOVE" } as const
    world.place({ ref: "O-2", side: "BUY", qty: "0.3", trigger })
    const points = [
      { offsetMs: 0, price: "60000" },
      { offsetMs: hour, price: "60500" },
      { offsetMs: 2 * hour, price: "60000" }
    ]
    world.command({ type: "path", symbol: "BTC-USDC-PERP", points })
    world.tick(3 * hour)
    const [rested, fired] = world.venue.lookup(["O-1", "O-2"])
    assert.strictEqual(rested?.order?.state, "FILLED")
    assert.strictEqual(fired?.order?.state, "FILLED")
    const fills = world.news().flatMap((news) => (news.type === "fill" ? [news.fill] : []))
    assert.deepStrictEqual(
      fills.map(({ ref, price }) => [ref, Math.abs(Number(price) - 60_300) < 10 || price === "60400"]),
      [
        ["O-2", true],
        ["O-1", true]
      ]
    )
  })
})

describe("staking at the venue", () => {
  it("STS-36: four boards with an offer of 1, 7 and 30 days; used and expired offers are replaced", () => {
    const world = opened()
    const places = () => world.venue.offers().map(({ symbol, tenorDays }) => `${symbol} ${tenorDays}`)
    const all = ["BTC", "ETH", "SOL", "USDC"].flatMap((asset) => [1, 7, 30].map((days) => `${asset}-SWAP ${days}`))
    assert.sameMembers(places(), all)
    const [offer] = world.venue.offers()
    const taken = world.call("takeOffer", { ref: "S-1", offerId: offer?.id, qty: offer?.remainingQty })
    assert.deepInclude(taken.swap, { notional: "10", end: null })
    assert.sameMembers(places(), all)
    assert.notInclude(
      world.venue.offers().map(({ id }) => id),
      offer?.id
    )
    const before = world.venue.offers().map(({ id }) => id)
    world.tick(day + 1_000)
    assert.sameMembers(places(), all)
    assert.isEmpty(world.venue.offers().filter(({ id }) => before.includes(id)))
  })

  const takes = (world: ReturnType<typeof opened>) => {
    const offer = world.venue.offers().find(({ symbol, tenorDays }) => symbol === "ETH-SWAP" && tenorDays === 1)
    const { swap = null } = world.call("takeOffer", { ref: "S-1", offerId: offer?.id, qty: "10" })
    if (swap === null) throw new Error("not taken")
    return { id: swap.id, reward: Number(swap.reward), swap: () => world.venue.lookup(["S-1"])[0]?.swap }
  }

  it("C3: a swap is paid at its maturity, with the fee taken once", () => {
    const world = opened()
    const { swap, reward } = takes(world)
    assert.strictEqual(swap()?.fee, "0.005")
    world.tick(day)
    assert.deepInclude(swap(), { end: "PAID", short: false })
    assert.strictEqual(swap()?.payments[0]?.at, startAt + day)
    assert.approximately(Number(world.balance("CL-1", "ETH")), reward - 0.005, 1e-9)
  })

  it("SC-STK-02, SC-STK-03: a writer set to default pays nothing; its payments in parts cure the swap", () => {
    const world = opened()
    const { swap, id } = takes(world)
    const [route, symbol, forMillis, delayMillis] = ["all", null, null, null] as const
    world.command({ type: "fault", kind: "writer-default", route, symbol, forMillis, times: 1, delayMillis })
    world.tick(day)
    assert.deepInclude(swap(), { end: null, short: true })
    world.command({ type: "pay", contractId: id, amount: "4" })
    assert.deepInclude(swap(), { end: null })
    world.command({ type: "pay", contractId: id, amount: null })
    assert.deepInclude(swap(), { end: "PAID" })
    assert.lengthOf(swap()?.payments ?? [], 2)
  })

  it("writers pay late or in parts according to the knobs", () => {
    const late = opened({ writers: { late: 1, lateMillis: 7_200_000 } })
    const one = takes(late)
    late.tick(day)
    assert.deepInclude(one.swap(), { end: null, short: false })
    late.tick(2 * hour)
    assert.deepInclude(one.swap(), { end: "PAID" })
    const short = opened({ writers: { short: 1, shortShare: 0.25 } })
    const other = takes(short)
    short.tick(day)
    assert.deepInclude(other.swap(), { end: null, short: true })
    assert.approximately(Number(other.swap()?.payments[0]?.amount), 2.5, 0.01)
    short.tick(hour)
    assert.deepInclude(other.swap(), { end: "PAID" })
  })

  it("SC-STK-07, SC-STK-08: a corrected fee, and a market that is delisted", () => {
    const world = opened()
    const { swap, id, reward } = takes(world)
    world.command({ type: "correctFee", contractId: id, fee: "0.002" })
    assert.strictEqual(swap()?.fee, "0.002")
    world.command({ type: "delist", symbol: "ETH-SWAP" })
    assert.deepInclude(swap(), { end: "FINAL_SETTLEMENT" })
    assert.approximately(Number(world.balance("CL-1", "ETH")), reward - 0.002, 1e-9)
    assert.isEmpty(world.venue.offers().filter(({ symbol }) => symbol === "ETH-SWAP"))
    world.tick(2 * day)
    assert.isEmpty(world.venue.offers().filter(({ symbol }) => symbol === "ETH-SWAP"))
    const { stakingMarkets } = world.venue.listing()
    assert.isTrue(stakingMarkets.find(({ symbol }) => symbol === "ETH-SWAP")?.delisted)
  })
})
