/**
 * The guarantees of every implementation of the venue's port: HttpVenue against the simulated venue's own process and
 * socket, and InProcessVenue over the same core without them; both directly and under a service's own name.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Redacted, Scope, Stream } from "effect"
import { InProcessVenue } from "../../../simulator/venue/InProcessVenue.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import type { VenueMoney } from "../../../src/machines/venue/venueObjects.ts"
import { lookupLimit, type VenueRequest } from "../../../src/machines/venue/venueCalls.ts"
import { HttpVenue } from "../../../src/runtime/adapters/venue/HttpVenue.ts"
import { venueUnder } from "../../../src/runtime/adapters/venue/ownNames.ts"
import { Venue, type VenueShape } from "../../../src/runtime/ports/Venue.ts"
import { runVenue } from "../../venue/runningVenue.ts"

interface Bench {
  readonly venue: VenueShape
  /** Makes the venue send a heartbeat. */
  readonly beat: () => void
  readonly close: () => Promise<void>
}

const overHttp = async (): Promise<Bench> => {
  const running = await runVenue()
  const scope = await Effect.runPromise(Scope.make())
  const layer = HttpVenue.layer({ url: running.url, key: Redacted.make(running.client.key), ca: null })
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  return {
    venue: Context.get(context, Venue),
    beat: () => {},
    close: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await running.end()
    }
  }
}

const inProcess = (): Promise<Bench> => {
  const venue = new InProcessVenue({ venue: { seed: 7, startAt: 1_795_000_000_000, tickMillis: 250, knobs: {} } })
  venue.advance(1_795_000_010_000)
  return Promise.resolve({ venue: venue.port(), beat: () => venue.beat(), close: () => Promise.resolve() })
}

const order = (ref: string, change: Partial<VenueRequest<"placeOrder">> = {}): VenueRequest<"placeOrder"> => ({
  ref,
  account: "ACM-00000001",
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  price: "58500",
  qty: "0.01",
  tif: "GTC",
  reduceOnly: false,
  trigger: null,
  group: null,
  ...change
})

let refs = 0
const newRef = (): string => `P-${++refs}`

const portConformance = (name: string, open: () => Promise<Bench>): void => {
  describe(`${name}: the promises of the port`, () => {
    let bench: Bench
    let venue: VenueShape
    const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)
    const priceBelow = async (): Promise<string> => {
      const ticker = await run(venue.snapshot({ channel: "ticker", symbol: "BTC-USDC-PERP" }))
      const mark = ticker.channel === "ticker" ? Number(ticker.mark) : Number.NaN
      return String(Math.round(mark * 0.98))
    }
    const opened = async (account: string): Promise<string> => {
      await run(venue.write("openAccount", { ref: `U-${account}`, account }))
      return account
    }
    beforeAll(async () => {
      bench = await open()
      venue = bench.venue
      await opened("ACM-00000001")
    })
    afterAll(() => bench.close())

    it("lists its markets, shows its time and sends a snapshot of each channel", async () => {
      const listing = await run(venue.listing)
      assert.include(
        listing.markets.map(({ symbol }) => symbol),
        "BTC-USDC-PERP"
      )
      assert.isAtLeast(await run(venue.clock), listing.at)
      for (const channel of ["ticker", "book", "trades"] as const) {
        const snapshot = await run(venue.snapshot({ channel, symbol: "BTC-USDC-PERP" }))
        assert.deepInclude(snapshot, { channel, kind: "snapshot", symbol: "BTC-USDC-PERP" })
      }
      const page = await run(venue.klines({ symbol: "BTC-USDC-PERP", interval: "1m", from: null, to: null, limit: 5 }))
      assert.isAtMost(page.klines.length, 5)
      assert.isArray((await run(venue.offers)).offers)
    })

    it("for unknown objects it gives no answer, for an unknown account null", async () => {
      const failed = await run(Effect.flip(venue.snapshot({ channel: "book", symbol: "NONE-USDC-PERP" })))
      assert.deepStrictEqual([failed._tag, /VenueNotFound/.test(failed.reason)], ["VenueUnanswered", true])
      assert.isNull(await run(venue.account("ACM-99999999")))
    })

    it("A2-26: a ref is executed once, and its look-up gives the same answer as its call", async () => {
      const ref = newRef()
      const price = await priceBelow()
      const first = await run(venue.write("placeOrder", order(ref, { price })))
      assert.deepStrictEqual([first.ref, first.outcome, first.order?.state], [ref, "EXECUTED", "WORKING"])
      const again = await run(venue.write("placeOrder", order(ref, { price })))
      assert.deepStrictEqual([again.outcome, again.order?.id], ["EXECUTED", first.order?.id])
      const [found] = await run(venue.lookup([ref]))
      assert.deepStrictEqual([found?.outcome, found?.order?.id], ["EXECUTED", first.order?.id])
      const account = await run(venue.account("ACM-00000001"))
      assert.strictEqual(account?.orders.filter((each) => each.ref === ref).length, 1)
    })

    it("an order that can neither fill nor rest is executed, and ends", async () => {
      const outcome = await run(venue.write("placeOrder", order(newRef(), { price: await priceBelow(), tif: "IOC" })))
      assert.deepStrictEqual(
        [outcome.outcome, outcome.order?.state, outcome.order?.filledQty],
        ["EXECUTED", "CANCELLED", "0"]
      )
    })

    it("a refusal has a text, and is repeated", async () => {
      const ref = newRef()
      const refused = await run(venue.write("placeOrder", order(ref, { symbol: "NONE-USDC-PERP" })))
      assert.deepStrictEqual([refused.outcome, refused.order], ["REFUSED", null])
      assert.isNotEmpty(refused.reason)
      const [found] = await run(venue.voidRefs([ref]))
      assert.strictEqual(found?.outcome, "REFUSED")
    })

    it("A2-26: a void ref is never executed; an executed one is answered as executed", async () => {
      const [executed, never] = [newRef(), newRef()]
      await run(venue.write("placeOrder", order(executed, { price: await priceBelow() })))
      const unknown = await run(venue.lookup([never, executed]))
      assert.deepStrictEqual(
        unknown.map(({ ref, outcome }) => [ref, outcome]),
        [
          [never, "UNKNOWN"],
          [executed, "EXECUTED"]
        ]
      )
      const voided = await run(venue.voidRefs([executed, never]))
      assert.deepStrictEqual(
        voided.map(({ outcome }) => outcome),
        ["EXECUTED", "VOID"]
      )
      const late = await run(venue.write("placeOrder", order(never)))
      assert.deepStrictEqual([late.outcome, late.order], ["VOID", null])
      const account = await run(venue.account("ACM-00000001"))
      assert.isFalse(account?.orders.some(({ ref }) => ref === never))
    })

    it(`answers ${lookupLimit} refs at once, in their order`, async () => {
      const asked = Array.from({ length: lookupLimit }, (_, at) => `P-9${at + 10_000}`)
      const answers = await run(venue.lookup(asked))
      assert.deepStrictEqual(
        answers.map(({ ref }) => ref),
        asked
      )
    })

    it("A2-96: events are numbered one by one from any number; an account's by a sequence of its own", async () => {
      const account = await opened("ACM-00000002")
      const price = await priceBelow()
      for (let n = 0; n < 3; n++) await run(venue.write("placeOrder", order(newRef(), { account, price, tif: "IOC" })))
      const own = await run(venue.accountEvents(account, 0))
      const sequences = own.map((one) => ("fact" in one && "sequence" in one.fact ? one.fact.sequence : 0))
      assert.isAtLeast(own.length, 3)
      assert.deepStrictEqual(
        sequences,
        own.map((_, at) => at + 1)
      )
      assert.strictEqual((await run(venue.account(account)))?.sequence, own.length)
      assert.deepStrictEqual(await run(venue.accountEvents(account, 1)), own.slice(1))
      const last = own.at(-1)?.number as number
      const lines = await run(venue.events(last - 2).pipe(Stream.take(3), Stream.runCollect))
      const [first, ...events] = lines
      assert.isTrue(first !== undefined && "heartbeat" in first && first.number >= last)
      assert.deepStrictEqual(
        events.map((line) => ("number" in line ? line.number : null)),
        [last - 1, last]
      )
    })

    it("A2-96: fills of an order are those of its account's events, oldest first; an unknown order has none", async () => {
      const account = await opened("ACM-00000003")
      const [filled, resting, never] = [newRef(), newRef(), newRef()]
      const taken = await run(
        venue.write("placeOrder", order(filled, { account, price: null, qty: "0.5", tif: "IOC" }))
      )
      await run(venue.write("placeOrder", order(resting, { account, price: await priceBelow() })))
      const said = (await run(venue.accountEvents(account, 0))).flatMap((one) =>
        "fact" in one && one.fact.type === "fill" ? [one.fact.fill] : []
      )
      const fills = await run(venue.orderFills(filled))
      assert.isNotEmpty(said)
      assert.deepStrictEqual(fills, said)
      assert.strictEqual(
        said.reduce((sum, { qty }) => sum + Math.round(Number(qty) * 10_000), 0),
        Math.round(Number(taken.order?.filledQty) * 10_000)
      )
      assert.deepStrictEqual([await run(venue.orderFills(resting)), await run(venue.orderFills(never))], [[], null])
    })

    it("A2-103: an account's money is the sum of its trades' payments, by asset and to the last unit", async () => {
      const account = await opened("ACM-00000004")
      assert.deepStrictEqual((await run(venue.account(account)))?.money, [])
      for (const symbol of ["BTC-USDC-PERP", "BTC-USDC"])
        await run(venue.write("placeOrder", order(newRef(), { account, symbol, price: null, qty: "0.5", tif: "IOC" })))
      const fills = (await run(venue.accountEvents(account, 0))).flatMap((one) =>
        "fact" in one && one.fact.type === "fill" ? [one.fact.fill] : []
      )
      const sum = (of: ReadonlyArray<MoneyDecimal>): string =>
        of.reduce((total, each) => total.plus(each), new MoneyDecimal(0)).toFixed()
      const paid = sum(fills.map(({ qty, price }) => new MoneyDecimal(qty).mul(price).negated()))
      const held = sum(fills.filter(({ symbol }) => symbol === "BTC-USDC").map(({ qty }) => new MoneyDecimal(qty)))
      assert.sameDeepMembers((await run(venue.account(account)))?.money as Array<VenueMoney>, [
        { kind: "trades", asset: "USDC", amount: paid },
        { kind: "trades", asset: "BTC", amount: held }
      ])
    })

    it("a request for events that do not exist is answered as such", async () => {
      const failed = await run(Effect.flip(Stream.runCollect(venue.events(1_000_000_000))))
      assert.strictEqual(failed._tag, "VenueEventsGone")
    })

    it("market data begins with a snapshot of each subscription, and has heartbeats", async () => {
      const lines = await run(
        venue
          .marketData([
            { channel: "ticker", symbol: "BTC-USDC-PERP" },
            { channel: "book", symbol: "ETH-USDC-PERP" }
          ])
          .pipe(Stream.take(3), Stream.runCollect)
      )
      const seen = lines.map((line) =>
        "heartbeat" in line
          ? "heartbeat"
          : "unreadable" in line
            ? line.reason
            : `${line.channel} ${line.symbol} ${line.kind}`
      )
      assert.sameMembers(seen, ["heartbeat", "ticker BTC-USDC-PERP snapshot", "book ETH-USDC-PERP snapshot"])
    })

    it("a new event reaches every listener", async () => {
      const ref = newRef()
      const price = await priceBelow()
      const heard = run(
        venue.events(0).pipe(
          Stream.filter((line) => "fact" in line && line.fact.type === "order" && line.fact.order.ref === ref),
          Stream.take(1),
          Stream.runCollect
        )
      )
      await run(venue.write("placeOrder", order(ref, { price, tif: "IOC" })))
      bench.beat()
      assert.strictEqual((await heard).length, 1)
    })
  })
}

/** The port of a service that shares the venue with other services: its refs carry the name of its database. */
const underName = (open: () => Promise<Bench>) => async (): Promise<Bench> => {
  const bench = await open()
  return { ...bench, venue: venueUnder("NAME22", bench.venue) }
}

portConformance("HttpVenue", overHttp)
portConformance("InProcessVenue", inProcess)
portConformance("HttpVenue under a name", underName(overHttp))
portConformance("InProcessVenue under a name", underName(inProcess))
