/**
 * Names of services at a shared venue: outgoing messages carry the name, incoming ones lose it, and other services'
 * messages appear as numbers only.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema, type SchemaAST, Stream } from "effect"
import { InProcessVenue } from "../../../simulator/venue/InProcessVenue.ts"
import { ChannelMessage, KlinePage } from "../../../src/machines/venue/marketData.ts"
import { Ref } from "../../../src/machines/venue/values.ts"
import { VenueOutcome, venueRequests } from "../../../src/machines/venue/venueCalls.ts"
import { refOfFact, VenueEvent, VenueHeartbeat } from "../../../src/machines/venue/VenueEvent.ts"
import { VenueListing, VenueOffer } from "../../../src/machines/venue/VenueMarket.ts"
import { OrderFills, VenueAccount } from "../../../src/machines/venue/venueObjects.ts"
import { ownerOfRef, refLetters } from "../../../src/machines/venue/venueRefs.ts"
import { layerOwnControls, nameFields, venueUnder } from "../../../src/runtime/adapters/venue/ownNames.ts"
import type { UnreadableLine, VenueShape } from "../../../src/runtime/ports/Venue.ts"
import { VenueControl } from "../../../src/runtime/ports/VenueControl.ts"
import { layerVenueControlMemory } from "../../../src/runtime/ports/VenueControlMemory.ts"
import { openAccount } from "../../../src/runtime/services/venue/openAccount.ts"
import { noChange, VenueCommand, VenueCommandAnswer, VenueView } from "../../../src/venue/VenueCommand.ts"
import { drawVenueName } from "../../../src/serviceVenue.ts"
import { quietVenue } from "../../support/quietVenue.ts"

const account = "ACM-00000001"
const order = {
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  price: "58500",
  qty: "0.01",
  tif: "GTC",
  reduceOnly: false,
  trigger: null,
  group: null
} as const

/** Whether a value of this schema may be one of our names, alone or in a list. */
const isName = (ast: SchemaAST.AST): boolean =>
  ast === Ref.ast ||
  (ast._tag === "Union" && ast.types.some(isName)) ||
  (ast._tag === "Arrays" && ast.rest.some(isName))

/** Every field of a schema, and whether it holds a name. */
const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<readonly [field: string, named: boolean]> => {
  switch (ast._tag) {
    case "Objects":
      return ast.propertySignatures.flatMap(({ name, type }) => [
        [String(name), isName(type)] as const,
        ...fieldsOf(type)
      ])
    case "Union":
      return ast.types.flatMap(fieldsOf)
    case "Arrays":
      return [...ast.elements, ...ast.rest].flatMap(fieldsOf)
    default:
      return []
  }
}

const spoken: ReadonlyArray<Schema.Top> = [
  ...Object.values(venueRequests),
  VenueOutcome,
  VenueEvent,
  VenueHeartbeat,
  VenueAccount,
  OrderFills,
  VenueListing,
  VenueOffer,
  ChannelMessage,
  KlinePage,
  VenueCommand,
  VenueCommandAnswer,
  VenueView
]

describe("fields that hold a name of this service", () => {
  it("are those with that type in the schemas, and no other field has their name", () => {
    const fields = spoken.flatMap(({ ast }) => fieldsOf(ast))
    const named = new Set(fields.filter(([, is]) => is).map(([field]) => field))
    assert.deepStrictEqual([...named].toSorted(), [...nameFields].toSorted())
    assert.deepStrictEqual(
      fields.filter(([field, is]) => nameFields.has(field) && !is),
      []
    )
  })
})

describe("the longest names", () => {
  const fits = Schema.is(Ref)
  const highest = Number.MAX_SAFE_INTEGER
  const longestAccount = `ABCDEFGH-${highest}`

  it("fit the venue's limit", async () => {
    const sent: Array<string> = []
    await Effect.runPromise(
      openAccount(
        ({ ref }) => {
          sent.push(ref)
          return Effect.succeed({ outcome: "REFUSED" } as VenueOutcome)
        },
        longestAccount,
        () => Date.UTC(2100, 0, 1)
      )
    )
    const letters = Object.keys(refLetters).toSorted((a, b) => b.length - a.length)[0]
    for (const ref of [longestAccount, ...sent, `${letters}-${highest}-${"9".repeat(16)}`]) {
      assert.isTrue(fits(`${drawVenueName()}:${ref}`), ref)
    }
    assert.lengthOf(sent, 2)
  })

  it("a drawn name is six characters that no bare ref begins with", () => {
    for (let n = 0; n < 1_000; n++) assert.match(drawVenueName(), /^[A-Z2-9]{6}$/)
  })
})

const shared = () => {
  const venue = new InProcessVenue({ venue: { seed: 7, startAt: 1_795_000_000_000, tickMillis: 250, knobs: {} } })
  venue.advance(1_795_000_010_000)
  const [one, other] = ["AAAAAA", "BBBBBB"].map((name) => venueUnder(name, venue.port())) as [VenueShape, VenueShape]
  return { venue, one, other, alone: venueUnder("", venue.port()) }
}
const place = (venue: VenueShape, ref: string) =>
  Effect.andThen(
    venue.write("openAccount", { ref: `U-${account}`, account }),
    venue.write("placeOrder", { ...order, ref, account })
  )
const eventsOf = (venue: VenueShape, take: number) => Stream.runCollect(Stream.take(venue.events(0), take))

describe("two services with the same accounts and refs at one venue", () => {
  it("each executes its own calls, sees its own objects, and of the other's events the number", async () => {
    const { one, other, alone } = shared()
    await Effect.runPromise(
      Effect.gen(function* () {
        const first = yield* place(one, "P-1")
        const second = yield* place(other, "P-1")
        const third = yield* place(alone, "P-1")
        assert.deepStrictEqual(
          [first, second, third].map(({ outcome, ref }) => [outcome, ref]),
          [0, 1, 2].map(() => ["EXECUTED", "P-1"])
        )
        assert.lengthOf(new Set([first, second, third].map((each) => each.order?.id)), 3)
        for (const [venue, mine] of [
          [one, first],
          [other, second],
          [alone, third]
        ] as const) {
          const { events, ...outcome } = mine
          assert.deepStrictEqual([(yield* venue.lookup(["P-1"]))[0], events], [outcome, { first: 1, last: 1 }])
          assert.deepStrictEqual(
            (yield* venue.account(account))?.orders.map(({ id, ref, account: of }) => [id, ref, of]),
            [[mine.order?.id ?? 0, "P-1", account]]
          )
          const own = yield* venue.accountEvents(account, 0)
          const lines = (yield* eventsOf(venue, 4)).slice(1)
          assert.deepStrictEqual(
            lines.filter((line) => "fact" in line),
            own
          )
          assert.deepStrictEqual(
            lines.map((line) => ("number" in line ? line.number : null)),
            [1, 2, 3]
          )
          for (const line of lines) if (!("fact" in line)) assert.sameMembers(Object.keys(line), ["foreign", "number"])
          assert.lengthOf(own, 1)
        }
        assert.deepStrictEqual((yield* one.voidRefs(["P-2"]))[0]?.outcome, "VOID")
        assert.deepStrictEqual((yield* other.lookup(["P-2"]))[0]?.outcome, "UNKNOWN")
      })
    )
  })

  it("a ref of another name on an account of ours names nothing of ours", async () => {
    const { venue, one } = shared()
    await Effect.runPromise(
      Effect.gen(function* () {
        yield* place(one, "P-1")
        yield* venue.port().write("placeOrder", { ...order, ref: "P-7", account: `AAAAAA:${account}` })
        const [, late] = yield* one.accountEvents(account, 0)
        const ref = late !== undefined && "fact" in late ? refOfFact(late.fact) : null
        assert.deepStrictEqual([ref, ownerOfRef(ref ?? "")], ["other:P-7", null])
      })
    )
  })

  it("unreadable lines: ours have the bare account, others the number, else they stay as they arrived", async () => {
    const { venue } = shared()
    const line = (of: string | null): UnreadableLine => ({ unreadable: "x", reason: "no JSON", number: 5, account: of })
    const lines = [line(`AAAAAA:${account}`), line(`BBBBBB:${account}`), line(account), line(null)]
    const heard = (name: string) =>
      Effect.runPromise(
        Stream.runCollect(venueUnder(name, { ...venue.port(), events: () => Stream.fromIterable(lines) }).events(0))
      )
    const foreign = { foreign: true, number: 5 } as const
    assert.deepStrictEqual(await heard("AAAAAA"), [line(account), foreign, foreign, line(null)])
    assert.deepStrictEqual(await heard(""), [foreign, foreign, line(account), line(null)])
  })

  it("A2-97: a tester's execution belongs to the service's own account, and its answers name its own objects", async () => {
    const script = quietVenue()
    const trade = { symbol: "BTC-USDC-PERP", qty: "1", price: null, reason: "liquidation" } as const
    const execute = { type: "execute", account, ...trade } as const
    const of = (...prefixes: ReadonlyArray<string>) => ({
      count: prefixes.length,
      first: prefixes.map((prefix) => ({
        id: 1,
        ref: `${prefix}O-1`,
        account: `${prefix}${account}`,
        symbol: trade.symbol,
        state: "FILLED" as const
      }))
    })
    await Effect.runPromise(
      Effect.gen(function* () {
        const control = Context.get(
          yield* Layer.build(layerOwnControls("AAAAAA", layerVenueControlMemory(script))),
          VenueControl
        )
        yield* control.command(execute)
        script.command = () => ({ number: 1, at: 2, id: null, ...noChange, filled: of("AAAAAA:", "BBBBBB:") })
        assert.deepStrictEqual((yield* control.command({ type: "clear" })).filled, of("", "other:BBBBBB:"))
        assert.deepStrictEqual(script.sent, [{ ...execute, account: `AAAAAA:${account}` }, { type: "clear" }])
      }).pipe(Effect.scoped)
    )
  })
})
