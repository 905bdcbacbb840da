/**
 * Random inputs of a venue: calls of a few clients, quotes, commands and time, chosen so that orders and quotes often
 * match.
 */
import * as fc from "fast-check"
import type { Venue } from "../../simulator/venue/core/Venue.ts"
import type { VenueInput, VenueOptions } from "../../simulator/venue/core/VenueInput.ts"
import type { VenueCommand } from "../../src/venue/VenueCommand.ts"

export const startAt = Date.parse("2026-03-01T07:59:00Z")

export const venueOptions = (parts: Partial<VenueOptions> = {}): VenueOptions => ({
  seed: 1,
  startAt,
  tickMillis: 10_000,
  knobs: {},
  ...parts
})

/** An input that depends on the venue's present objects. Its number `n` makes its ref. */
export type Draft = (n: number, venue: Venue) => VenueInput

const clients = ["CL-1", "CL-2", "CL-3"]
/** The usual value in 14 of 15 cases, so that most inputs are accepted. */
const mostly = <A>(usual: fc.Arbitrary<A>, rare: fc.Arbitrary<A>): fc.Arbitrary<A> =>
  fc.oneof({ weight: 14, arbitrary: usual }, { weight: 1, arbitrary: rare })

const account = mostly(fc.constantFrom(...clients), fc.constant("CL-nobody"))
const side = fc.constantFrom("BUY" as const, "SELL" as const)
const orderMarket = mostly(
  fc.constantFrom("BTC-USDC-PERP", "BTC-USDC-PERP", "BTC-USDC"),
  fc.constantFrom("ETH-USDC-PERP", "BTC-USDC-KO", "NO-USDC-PERP")
)
/** Prices around 60,000, some of them off the grid. */
const price = mostly(
  fc.integer({ min: 59_900, max: 60_100 }).map(String),
  fc.constantFrom("60000.05", "0", "3000", "57000", "63000")
)
const quantity = mostly(fc.constantFrom("0.001", "0.01", "0.5", "2", "25"), fc.constantFrom("0.00001", "900"))
const pick = fc.nat(1_000)
const call = (name: string, request: object): VenueInput => ({ type: "call", name, request }) as VenueInput

/** One of the values; undefined without any. */
const oneOf = <A>(some: ReadonlyArray<A>, picked: number): A | undefined => some[picked % Math.max(1, some.length)]

const order: fc.Arbitrary<Draft> = fc
  .record({
    account,
    symbol: orderMarket,
    side,
    price: fc.option(price, { nil: null }),
    qty: quantity,
    tif: fc.constantFrom("GTC" as const, "GTC" as const, "IOC" as const, "FOK" as const, "POST_ONLY" as const),
    reduceOnly: fc.constantFrom(false, false, true),
    trigger: fc.option(
      fc.record({
        source: fc.constantFrom("LAST" as const, "MARK" as const, "INDEX" as const),
        price,
        direction: fc.constantFrom("AT_OR_ABOVE" as const, "AT_OR_BELOW" as const)
      }),
      { freq: 2, nil: null }
    ),
    group: fc.option(fc.constantFrom("a", "b"), { freq: 3, nil: null })
  })
  .map((request) => (n) => call("placeOrder", { ...request, ref: `O-${n}` }))

const change: fc.Arbitrary<Draft> = fc
  .record({ name: account, picked: pick, qty: fc.option(quantity, { nil: null }) })
  .map(({ name, picked, qty }) => (n, venue) => {
    const target = oneOf(venue.account(name)?.orders ?? [], picked)?.ref ?? "O-0"
    return qty === null
      ? call("cancelOrder", { ref: `C-${n}`, account: name, target })
      : call("amendOrder", { ref: `M-${n}`, account: name, target, qty })
  })

const request: fc.Arbitrary<Draft> = fc
  .record({ name: account, side, away: fc.integer({ min: 20, max: 400 }), takes: fc.boolean(), minutes: fc.nat(600) })
  .map(({ name, side: way, away, takes, minutes }) => (n, { now }) => {
    const sign = way === "BUY" ? 1 : -1
    return call("requestQuotes", {
      ref: `R-${n}`,
      account: name,
      symbol: "BTC-USDC-KO",
      side: way,
      qty: "0.1",
      barrier: String(60_000 - sign * away),
      takeProfit: takes ? String(60_000 + sign * away) : null,
      expiryAt: now + minutes * 60_000,
      strict: takes,
      premiumBps: 9_500,
      windowEndsAt: now + 600_000
    })
  })

/** The open requests of the last inputs. */
const openOnes = (n: number, venue: Venue) =>
  venue
    .lookup(Array.from({ length: Math.min(n, 30) }, (_, back) => `R-${n - 1 - back}`))
    .flatMap(({ rfq }) => (rfq?.state === "OPEN" ? [rfq] : []))

const quote: fc.Arbitrary<Draft> = fc
  .record({ picked: pick, dealer: fc.constantFrom("alpha", "beta"), price, seconds: fc.integer({ min: 1, max: 90 }) })
  .map(({ picked, dealer, price: offered, seconds }) => (n, venue) => ({
    type: "quote",
    rfqRef: oneOf(openOnes(n, venue), picked)?.ref ?? "R-none",
    dealer,
    price: offered,
    qty: "0.1",
    validUntil: venue.now + seconds * 1_000
  }))

const answer: fc.Arbitrary<Draft> = fc
  .record({ picked: pick, what: fc.constantFrom("accept", "accept", "accept", "decline", "withdraw", "cancel") })
  .map(({ picked, what }) => (n, venue) => {
    const rfq = oneOf(
      openOnes(n, venue).filter(({ quotes }) => quotes.some(({ state }) => state === "LIVE")),
      picked
    )
    const [name, target] = [rfq?.account ?? "CL-1", rfq?.ref ?? "R-none"]
    const quoteId = rfq?.quotes.find(({ state }) => state === "LIVE")?.id ?? 999
    if (what === "withdraw") return { type: "withdraw", rfqRef: target, quoteId }
    if (what === "cancel") return call("cancelRequest", { ref: `C-${n}`, account: name, target })
    const accepting = {
      name: "acceptQuote" as const,
      request: { ref: `A-${n}`, account: name, target, quoteId }
    }
    return what === "decline"
      ? { type: "decline", reason: "declined by the dealer", ...accepting }
      : { type: "call", ...accepting }
  })

const contract: fc.Arbitrary<Draft> = fc
  .record({ name: account, picked: pick, closes: fc.boolean() })
  .map(({ name, picked, closes }) => (n, venue) => {
    const contractId = oneOf(venue.account(name)?.contracts ?? [], picked)?.id ?? 99
    return closes
      ? call("requestClose", { ref: `R-${n}`, account: name, contractId, windowEndsAt: venue.now + 60_000 })
      : call("tearUp", { ref: `T-${n}`, account: name, contractId })
  })

const take: fc.Arbitrary<Draft> = fc
  .record({ account, picked: pick, qty: fc.constantFrom("0.5", "10", "200", "0.00005") })
  .map(
    ({ picked, ...taken }) =>
      (n, venue) =>
        call("takeOffer", { ...taken, ref: `S-${n}`, offerId: oneOf(venue.offers(), picked)?.id ?? 99 })
  )

const refs: fc.Arbitrary<Draft> = fc
  .nat(3)
  .map((ahead) => (n) => ({ type: "void", refs: [`O-${n + ahead + 1}`, `O-${Math.max(0, n - 1)}`] }))

const commands: ReadonlyArray<fc.Arbitrary<VenueCommand>> = [
  fc.record({
    type: fc.constant("price" as const),
    symbol: fc.constantFrom("BTC-USDC-PERP", "BTC-USDC-KO", "ETH-USDC-PERP"),
    price,
    only: fc.constantFrom(null, "last" as const, "mark" as const, "index" as const)
  }),
  fc.record({
    type: fc.constant("path" as const),
    symbol: fc.constant("BTC-USDC"),
    points: fc
      .array(fc.record({ offsetMs: fc.nat(5_000), price }), { minLength: 1, maxLength: 4 })
      .map((points) => points.toSorted((one, other) => one.offsetMs - other.offsetMs))
  }),
  fc.record({
    type: fc.constant("book" as const),
    symbol: fc.constant("BTC-USDC-PERP"),
    size: fc.constantFrom("0", "0.2", "3"),
    levels: fc.option(fc.nat(5), { nil: null }),
    spread: fc.option(fc.integer({ min: 1, max: 40 }), { nil: null })
  }),
  fc.record({
    type: fc.constant("execute" as const),
    account,
    symbol: fc.constantFrom("BTC-USDC-PERP", "BTC-USDC"),
    qty: fc.constantFrom("0.3", "-0.3", "-5"),
    price: fc.option(price, { nil: null }),
    reason: fc.constantFrom("deleverage" as const, "liquidation" as const)
  }),
  fc.record({
    type: fc.constantFrom("halt" as const, "resume" as const, "delist" as const),
    symbol: fc.constantFrom("BTC-USDC-PERP", "BTC-USDC-KO", "ETH-USDC-PERP", "BTC-SWAP", "ETH-SWAP")
  }),
  fc.constantFrom<VenueCommand>(
    { type: "funding", symbol: "BTC-USDC-PERP", rate: "-0.001" },
    { type: "offer", symbol: "ETH-SWAP", rateBps: 500, tenorDays: 2, qty: "30" },
    { type: "pay", contractId: 1, amount: null },
    { type: "pay", contractId: 2, amount: "0.25" },
    { type: "correctFee", contractId: 1, fee: "0.001" },
    {
      type: "fault",
      kind: "writer-default",
      route: "all",
      symbol: null,
      forMillis: null,
      times: 1,
      delayMillis: null
    },
    {
      type: "fault",
      kind: "unpriced-funding",
      route: "all",
      symbol: null,
      forMillis: null,
      times: null,
      delayMillis: null
    },
    { type: "clear" },
    { type: "set", knobs: "takers: 0.9\nwriters: {default: 0.2, late: 0.3, short: 0.3}\n" },
    { type: "set", knobs: "seed: 9\nbooks: {BTC-USDC-PERP: {levels: 3}}\n" },
    {
      type: "set",
      knobs: "orders: {BTC-USDC-PERP: {reject: 0.2, slices: 3}}\nbooks: {BTC-USDC-PERP: {refill: 0.3}}\n"
    }
  )
]
const command: fc.Arbitrary<Draft> = fc.oneof(...commands).map((said) => () => ({ type: "command", command: said }))

/** A moment, a tick, some ticks, an hour with a stamp, rarely a day. */
const time: fc.Arbitrary<Draft> = fc
  .oneof(
    { weight: 15, arbitrary: fc.constantFrom(1, 300, 10_000, 77_777, 130_000) },
    { weight: 3, arbitrary: fc.constant(3_600_000) },
    { weight: 1, arbitrary: fc.constant(86_400_000) }
  )
  .map((millis) => (_, { now }) => ({ type: "time", to: now + millis }))

/** A sequence of inputs. */
export const drafts = (maxLength: number): fc.Arbitrary<ReadonlyArray<Draft>> =>
  fc.array(
    fc.oneof(
      { weight: 8, arbitrary: order },
      { weight: 3, arbitrary: change },
      { weight: 3, arbitrary: request },
      { weight: 4, arbitrary: quote },
      { weight: 4, arbitrary: answer },
      { weight: 2, arbitrary: contract },
      { weight: 2, arbitrary: take },
      { weight: 1, arbitrary: refs },
      { weight: 2, arbitrary: command },
      { weight: 5, arbitrary: time }
    ),
    { maxLength, size: "max" }
  )

/** The opening of every client's account. */
export const accountInputs: ReadonlyArray<VenueInput> = clients.map((name) =>
  call("openAccount", { ref: `open-${name}`, account: name })
)
