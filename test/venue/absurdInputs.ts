/**
 * Inputs that every schema of the venue's surface accepts and no caller means: absurd values and unknown names, in any
 * order.
 */
import * as fc from "fast-check"
import type { NounCallName } from "../../src/machines/venue/venueNouns.ts"
import { executionReasons, everyFault, faultRoutes, heldPrices } from "../../src/venue/testerTokens.ts"
import type { VenueCommand } from "../../src/venue/VenueCommand.ts"
import type { VenueCall, VenueInput } from "../../simulator/venue/core/VenueInput.ts"
import { startAt } from "./venueInputs.ts"

const most = Number.MAX_SAFE_INTEGER
const decimal = fc.oneof(
  fc.constantFrom("0", "1", "0.1", "60000", "999999999999999", "0.000000000001", "900719925474099.1", "3000"),
  fc.tuple(fc.nat(), fc.nat(999_999)).map(([whole, part]) => `${whole}.${part}`)
)
const signed = fc.tuple(fc.constantFrom("", "-"), decimal).map(([sign, text]) => `${sign}${text}`)
const whole = fc.oneof(fc.constantFrom(-most, -1, 0, 1, 2, 10_001, most), fc.integer(), fc.maxSafeInteger())
const id = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(most))
const millis = fc.oneof(
  fc.constantFrom(0, 4_102_444_800_000),
  fc.integer({ min: -100_000, max: 100_000_000 }).map((after) => startAt + after)
)
const ref = fc.constantFrom(
  "a",
  "b",
  "c",
  "d",
  "e",
  "house-maker",
  "__proto__",
  "constructor",
  "toString",
  "x".repeat(64)
)
const account = fc.constantFrom("CL-1", "CL-2", "house-maker", "__proto__", "constructor", "nobody")
const symbol = fc.constantFrom(
  "BTC-USDC-PERP",
  "BTC-USDC",
  "BTC-USDC-KO",
  "XRP-USDC-PERP",
  "USDC-SWAP",
  "ETH-SWAP",
  "NO-USDC",
  "0"
)
const side = fc.constantFrom("BUY" as const, "SELL" as const)
const orNull = <A>(of: fc.Arbitrary<A>): fc.Arbitrary<A | null> => fc.option(of, { nil: null })
const is = <Text extends string>(text: Text) => fc.constant(text)
const base = { ref, account }

type Absurd = Exclude<VenueCall["name"], Exclude<NounCallName, "takeOffer">>
const requests: { readonly [Name in Absurd]: fc.Arbitrary<Extract<VenueCall, { name: Name }>["request"]> } = {
  openAccount: fc.record(base),
  placeOrder: fc.record({
    ...base,
    symbol,
    side,
    price: orNull(decimal),
    qty: decimal,
    tif: fc.constantFrom("GTC", "IOC", "FOK", "POST_ONLY"),
    reduceOnly: fc.boolean(),
    trigger: orNull(
      fc.record({
        source: fc.constantFrom("LAST", "MARK", "INDEX"),
        price: decimal,
        direction: fc.constantFrom("AT_OR_ABOVE", "AT_OR_BELOW")
      })
    ),
    group: orNull(fc.oneof(fc.string(), is("__proto__")))
  }),
  cancelOrder: fc.record({ ...base, target: ref }),
  amendOrder: fc.record({ ...base, target: ref, qty: decimal }),
  requestQuotes: fc.record({
    ...base,
    symbol,
    side,
    qty: decimal,
    barrier: decimal,
    takeProfit: orNull(decimal),
    expiryAt: millis,
    strict: fc.boolean(),
    premiumBps: whole,
    windowEndsAt: millis
  }),
  requestClose: fc.record({ ...base, contractId: id, windowEndsAt: millis }),
  cancelRequest: fc.record({ ...base, target: ref }),
  acceptQuote: fc.record({ ...base, target: ref, quoteId: id }),
  tearUp: fc.record({ ...base, contractId: id }),
  takeOffer: fc.record({ ...base, offerId: id, qty: decimal })
}

const call: fc.Arbitrary<VenueCall> = fc.oneof(
  ...Object.entries(requests).map(([name, request]) =>
    // The cast is safe: name and request come from one entry.
    (request as fc.Arbitrary<VenueCall["request"]>).map((asked) => ({ name, request: asked }) as VenueCall)
  )
)

const knobs = fc
  .tuple(
    fc.constantFrom("takers", "tickMillis", "basisHalfLifeMillis", "seed", "processes", "books", "dealers", "writers"),
    fc.oneof(
      fc.json({ maxDepth: 3 }),
      whole.map(String),
      fc.constantFrom("{__proto__: {levels: 1}}", "{BTC: {volatility: 1e308}}")
    )
  )
  .map(([key, value]) => `${key}: ${value}\n`)

const command: fc.Arbitrary<VenueCommand> = fc.oneof(
  fc.record({ type: is("price"), symbol, price: decimal, only: orNull(fc.constantFrom(...heldPrices)) }),
  fc.record({
    type: is("path"),
    symbol,
    points: fc.array(fc.record({ offsetMs: whole, price: decimal }), { maxLength: 4 })
  }),
  fc.record({ type: is("book"), symbol, size: decimal, levels: orNull(whole), spread: orNull(whole) }),
  fc.record({ type: is("funding"), symbol, rate: signed }),
  fc.record({
    type: is("execute"),
    account,
    symbol,
    qty: signed,
    price: orNull(decimal),
    reason: fc.constantFrom(...executionReasons)
  }),
  fc.record({ type: fc.constantFrom("halt" as const, "resume" as const, "delist" as const), symbol }),
  fc.record({ type: is("offer"), symbol, rateBps: whole, tenorDays: whole, qty: decimal }),
  fc.record({ type: is("pay"), contractId: id, amount: orNull(decimal) }),
  fc.record({ type: is("correctFee"), contractId: id, fee: decimal }),
  fc.record({
    type: is("fault"),
    kind: fc.constantFrom(...everyFault),
    route: fc.constantFrom(...faultRoutes),
    symbol: orNull(symbol),
    forMillis: orNull(whole),
    times: orNull(whole),
    delayMillis: orNull(whole)
  }),
  fc.record({ type: is("clear") }),
  fc.record({ type: is("set"), knobs: fc.oneof(knobs, fc.string(), fc.json()) })
)

/** Time advances by days at most, so that a run stays short. */
const time: fc.Arbitrary<VenueInput> = fc
  .integer({ min: -1_000, max: 100_000_000 })
  .map((after) => ({ type: "time", to: startAt + after }))

const names: ReadonlyArray<VenueInput> = ["CL-1", "CL-2"].map((name) => ({
  type: "call",
  name: "openAccount",
  request: { ref: `open-${name}`, account: name }
}))

/** Two accounts, then any inputs. */
export const absurdInputs = (maxLength: number): fc.Arbitrary<ReadonlyArray<VenueInput>> =>
  fc
    .array(
      fc.oneof<Array<fc.Arbitrary<VenueInput>>>(
        call.map((asked): VenueInput => ({ type: "call", ...asked })),
        call.map((asked): VenueInput => ({ type: "decline", reason: "so it is", ...asked })),
        fc.array(ref, { maxLength: 4 }).map((refs): VenueInput => ({ type: "void", refs })),
        fc.record({ type: is("quote"), rfqRef: ref, dealer: ref, price: decimal, qty: decimal, validUntil: millis }),
        fc.record({ type: is("withdraw"), rfqRef: ref, quoteId: id }),
        command.map((said): VenueInput => ({ type: "command", command: said })),
        time
      ),
      { maxLength, size: "max" }
    )
    .map((inputs) => [...names, ...inputs])
