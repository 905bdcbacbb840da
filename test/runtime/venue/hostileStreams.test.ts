/**
 * The venue's two streams over HTTP, against a server that is hostile or broken: an unreadable line is passed on as its
 * bytes and delays nothing, another version is never read, and a silent or cut connection ends (A2-115, F3).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import type { RequestListener, ServerResponse } from "node:http"
import { HttpVenue } from "../../../src/runtime/adapters/venue/HttpVenue.ts"
import { eventLine, lineLimit, venueLines } from "../../../src/runtime/adapters/venue/venueLines.ts"
import { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import { VenueAccount } from "../../../src/machines/venue/venueObjects.ts"
import { Venue, type VenueShape, VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import { market, stakingMarket } from "../../support/ScriptedVenue.ts"
import { connectionTo, listening, stopListening } from "../../support/hostileServer.ts"

/** The lines of a stream that were read before its end, and the reason of the end. */
interface Heard {
  readonly lines: ReadonlyArray<object>
  readonly over: string
}

const heardOf = <A extends object, E extends { readonly _tag: string }>(
  stream: Stream.Stream<A, E>
): Promise<Heard> => {
  const lines: Array<object> = []
  return Effect.runPromise(
    Stream.runForEach(stream, (line) => Effect.sync(() => void lines.push(line))).pipe(
      Effect.match({
        onSuccess: () => ({ lines, over: "ended" }),
        onFailure: (error) => ({ lines, over: "reason" in error ? String(error.reason) : error._tag })
      })
    )
  )
}

/** Reads a stream of a server that writes these pieces one by one, and then ends as `last` states. */
const heard = async (
  pieces: ReadonlyArray<string | Buffer>,
  read: (venue: VenueShape) => Stream.Stream<object, { readonly _tag: string }> = (venue) => venue.events(0),
  last: (response: ServerResponse) => void = (response) => response.end()
): Promise<Heard> => {
  const url = await listening((_, response) => void writeAll(response, pieces).then(() => last(response)))
  return Effect.runPromise(
    Effect.flatMap(Venue, (venue) => Effect.promise(() => heardOf(read(venue)))).pipe(
      Effect.provide(HttpVenue.layer(connectionTo(url)))
    )
  )
}

const writeAll = async (response: ServerResponse, pieces: ReadonlyArray<string | Buffer>): Promise<void> => {
  response.writeHead(200, { "content-type": "application/x-ndjson" })
  response.flushHeaders()
  for (const piece of pieces) await new Promise<void>((done) => response.write(piece, () => done()))
}

const heartbeat = { heartbeat: true, version: 1, number: 3, at: 1_795_000_000_000 }
const listingEvent = (number: number) => ({
  number,
  at: 1_795_000_000_000,
  fact: { type: "listing", version: 2, symbol: "BTC-USDC-PERP" }
})
const line = (value: unknown): string => `${JSON.stringify(value)}\n`
const begin = line(heartbeat)

describe("streams of a hostile venue", () => {
  it("A2-115: of a line over 1 MiB only the beginning is handed on, and the next line is read", async () => {
    const long = `{"number":1,"account":"ACM-00000007","fact":"${"x".repeat(lineLimit)}"}\n`
    const { lines, over } = await heard([begin, long, line(listingEvent(2))])
    const [, aside, event] = lines
    assert.deepStrictEqual(aside, {
      unreadable: long.slice(0, 4_096),
      reason: "longer than 1 MiB",
      number: 1,
      account: "ACM-00000007"
    })
    assert.deepStrictEqual([event, lines.length, over], [listingEvent(2), 3, "ended"])
  })

  it("a line of exactly 1 MiB is read, one that is a byte longer is not", async () => {
    const padded = (length: number): string => {
      const text = JSON.stringify(listingEvent(1))
      return `${text}${" ".repeat(length - text.length)}\n`
    }
    const { lines } = await heard([begin, padded(lineLimit), padded(lineLimit + 1)])
    assert.deepStrictEqual(lines[1], listingEvent(1))
    assert.deepInclude(lines[2], { reason: "longer than 1 MiB", number: 1, account: null })
  })

  it("a line that never ends takes no more memory than the limit, and ends with its connection", async () => {
    const chunk = Buffer.alloc(256 * 1024, 120)
    const { lines, over } = await heard([begin, ...Array.from({ length: 40 }, () => chunk)])
    assert.deepStrictEqual([lines.length, over], [1, "ended"])
  })

  it.each([
    ["broken JSON", '{"number":1,"at":', "no JSON", 1, null],
    [
      "broken JSON that shows whose it is",
      '{"number":1,"fact":{"account":"ACM-00000007",',
      "no JSON",
      1,
      "ACM-00000007"
    ],
    ["nothing", "", "no JSON", null, null],
    ["a page", "<html>", "no JSON", null, null],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00]), "no JSON", null, null],
    ["null", "null", "not what the stream should hold", null, null],
    ["a list", "[1]", "not what the stream should hold", null, null],
    ["a number that is none", '{"number":-4}', "not what the stream should hold", null, null],
    ["a number beyond every number", '{"number":99999999999999999}', "not what the stream should hold", null, null],
    ["an account that is no name", '{"number":7,"account":"a b"}', "not what the stream should hold", 7, null],
    [
      "no event, but with number and account",
      '{"number":8,"fact":{"type":"flood","account":"ACM-00000007","sequence":1}}',
      "not what the stream should hold",
      8,
      "ACM-00000007"
    ],
    ["a heartbeat that is none", '{"heartbeat":true,"version":1}', "not what the stream should hold", null, null],
    [
      "a price of 10^30",
      line({ number: 9, at: 1, fact: { ...listingEvent(9).fact, version: "1e30" } }).trim(),
      "not what the stream should hold",
      9,
      null
    ]
  ] as const)("A2-115: %s is set aside, and the next line is read", async (_, text, reason, number, account) => {
    const bytes = Buffer.concat([
      Buffer.from(begin),
      Buffer.from(text),
      Buffer.from("\n"),
      Buffer.from(line(listingEvent(2)))
    ])
    const { lines, over } = await heard([bytes])
    assert.deepStrictEqual(lines[1], { unreadable: String(text), reason, number, account })
    assert.deepStrictEqual([lines[0], lines[2], lines.length, over], [heartbeat, listingEvent(2), 3, "ended"])
  })

  it("market data is read as strictly, and its unreadable lines stop nothing", async () => {
    const { lines, over } = await heard([begin, "{\n", line(listingEvent(1)), begin], (venue) =>
      venue.marketData([{ channel: "ticker", symbol: "BTC-USDC-PERP" }])
    )
    const seen = lines.map((each) => ("reason" in each ? each.reason : "heartbeat"))
    assert.deepStrictEqual(seen, ["heartbeat", "no JSON", "not what the stream should hold", "heartbeat"])
    assert.strictEqual(over, "ended")
  })

  const otherVersion = "the venue streams another version than 1, which this service reads"
  it.each([
    ["a newer version", [line({ ...heartbeat, version: 2 }), line(listingEvent(1))], otherVersion, 0],
    ["a newer version in another form", [line({ heartbeat: { version: 2 } }), line(listingEvent(1))], otherVersion, 0],
    ["a version that is a word", [line({ ...heartbeat, version: "1" })], otherVersion, 0],
    [
      "another version in mid-stream",
      [begin, line(listingEvent(1)), line({ ...heartbeat, version: 0 }), line(listingEvent(2))],
      otherVersion,
      2
    ],
    [
      "events before any version",
      [line(listingEvent(1)), begin],
      "the venue's stream does not begin with its version",
      0
    ],
    ["garbage before any version", ["<html>\n", begin], "the venue's stream does not begin with its version", 0]
  ])("%s is refused in a sentence, and never read", async (_, pieces, sentence, read) => {
    for (const stream of [
      (venue: VenueShape) => venue.events(0),
      (venue: VenueShape) => venue.marketData([{ channel: "ticker", symbol: "BTC-USDC-PERP" }])
    ]) {
      const { lines, over } = await heard(pieces, stream)
      assert.strictEqual(over, sentence)
      // Lines of the same socket read may be left out: the next connection delivers them.
      assert.isAtMost(lines.length, read)
    }
  })

  it("a connection lost in the middle of a line: complete lines are read, the rest never", async () => {
    const half = line(listingEvent(2)).slice(0, 20)
    for (const [last, over] of [
      [(response: ServerResponse) => void response.destroy(), "the stream broke"],
      [(response: ServerResponse) => void response.end(), "ended"]
    ] as const) {
      const got = await heard([begin, line(listingEvent(1)), half], (venue) => venue.events(0), last)
      assert.deepStrictEqual(got, { lines: [heartbeat, listingEvent(1)], over })
    }
  })

  it("a line in many pieces, also divided within a character, is one line", async () => {
    const event = { ...listingEvent(1), note: "ä€" }
    const bytes = Buffer.from(line(event))
    const { lines } = await heard([begin, ...Array.from(bytes, (byte) => Buffer.from([byte]))])
    assert.deepStrictEqual(lines[1], listingEvent(1))
  })
})

describe("pages of a hostile venue", () => {
  const account = "ACM-00000007"
  const reading = async <A>(answer: unknown, read: (venue: VenueShape) => Effect.Effect<A, VenueUnanswered>) => {
    const body = JSON.stringify(answer)
    const url = await listening((_, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(body)
    )
    return Effect.runPromise(Effect.provide(Effect.flatMap(Venue, read), HttpVenue.layer(connectionTo(url))))
  }

  it("A2-115: an unreadable event of an account is handed on at its place, and the others are read", async () => {
    const flood = { number: 8, at: 1, fact: { type: "flood", account, sequence: 1 } }
    const events = await reading({ events: [flood, listingEvent(9)] }, (venue) => venue.accountEvents(account, 0))
    const reason = "not what the page should hold"
    assert.deepStrictEqual<ReadonlyArray<unknown>>(events, [
      { unreadable: JSON.stringify(flood), reason, number: 8, account },
      listingEvent(9)
    ])
  })

  it("A2-115: an unreadable market or offer hides no other, and is handed on as it is", async () => {
    const listing = {
      version: 1,
      at: 5,
      markets: [market("BTC-USDC-PERP")],
      stakingMarkets: [stakingMarket("BTC-SWAP")]
    }
    const odd = { ...listing.markets[0], family: "TULIPS" }
    const found = await reading({ ...listing, markets: [odd, ...listing.markets] }, (venue) => venue.listing)
    assert.deepStrictEqual(found, { ...listing, unreadable: [JSON.stringify(odd)] })
    const board = await reading({ offers: [{ id: -1 }], at: 5 }, (venue) => venue.offers)
    assert.deepStrictEqual(board, { offers: [], at: 5, unreadable: ['{"id":-1}'] })
  })

  it("A2-115: an unreadable outcome leaves its own ref unknown, and no other", async () => {
    const objects = { order: null, rfq: null, contract: null, swap: null }
    const done = { ref: "P-2", outcome: "VOID", reason: null, at: 1, ...objects }
    const outcomes = [{ ...done, ref: "P-1", order: { price: "1e30" } }, done]
    const found = await reading({ outcomes }, (venue) => venue.voidRefs(["P-1", "P-2"]))
    assert.deepStrictEqual(
      found.map(({ ref, outcome }) => [ref, outcome]),
      [
        ["P-1", "UNKNOWN"],
        ["P-2", "VOID"]
      ]
    )
  })

  describe("an answer that lacks a member", () => {
    /** Each member of the answer is left out once, except optional ones. */
    const without = (whole: object, mayLack: ReadonlyArray<string>): ReadonlyArray<object> => {
      const members = Object.entries(whole)
      return members
        .filter(([name]) => !mayLack.includes(name))
        .map(([left]) => Object.fromEntries(members.filter(([name]) => name !== left)))
    }

    it("A2-115: an account gets no answer, and never one without such objects", async () => {
      const lists = { positions: [], orders: [], contracts: [], swaps: [] }
      const whole = { account, sequence: 3, ...lists, money: null }
      assert.sameMembers(Object.keys(whole), Object.keys(VenueAccount.fields))
      const read = (answer: object) => reading(answer, (venue) => Effect.result(venue.account(account)))
      assert.deepStrictEqual<unknown>(await read(whole), Result.succeed(whole))
      for (const answer of without(whole, ["money"])) {
        const unanswered = Result.fail(new VenueUnanswered({ reason: "an answer that can't be read" }))
        assert.deepStrictEqual<unknown>(await read(answer), unanswered, JSON.stringify(answer))
      }
    })

    it("A2-115: an outcome leaves its ref unknown", async () => {
      const objects = { order: null, rfq: null, contract: null, swap: null }
      const whole = { ref: "P-1", outcome: "VOID", reason: null, at: 1, ...objects }
      const mayLack = ["events", "fills"]
      assert.sameMembers([...Object.keys(whole), ...mayLack], Object.keys(VenueOutcome.fields))
      const read = async (answer: object): Promise<ReadonlyArray<string>> => {
        const found = await reading({ outcomes: [answer] }, (venue) => venue.lookup(["P-1"]))
        return found.map(({ outcome }) => outcome)
      }
      assert.deepStrictEqual(await read(whole), ["VOID"])
      for (const answer of without(whole, mayLack))
        assert.deepStrictEqual(await read(answer), ["UNKNOWN"], JSON.stringify(answer))
    })
  })

  it.each([
    ["of another order", { ref: "O-2" }, "the answer is of another ref"],
    ["of no order of ours", { ref: null }, "the answer is of another ref"],
    ["at a price beyond all bounds", { price: "1e30" }, "an answer that can't be read"]
  ])(
    "A2-96: a fill %s leaves all fills of the order unanswered: an incomplete list never counts as complete",
    async (_, odd, reason) => {
      const of = { tradeId: 5, orderId: 3, ref: "O-1", account, symbol: "BTC-USDC-PERP", side: "BUY" }
      const right = { ...of, price: "60000", qty: "0.1", liquidity: "TAKER", reason: null, at: 1 }
      const read = (fills: ReadonlyArray<object>) =>
        reading({ fills }, (venue) => Effect.result(venue.orderFills("O-1")))
      assert.deepStrictEqual<unknown>(await read([right]), Result.succeed([right]))
      assert.deepStrictEqual<unknown>(
        await read([right, { ...right, ...odd }]),
        Result.fail(new VenueUnanswered({ reason }))
      )
    }
  )
})

describe("streams that a venue refuses", () => {
  const answering = async (status: number, stream: (venue: VenueShape) => Stream.Stream<object, { _tag: string }>) => {
    const url = await listening((_, response) => response.writeHead(status).end(begin))
    return Effect.runPromise(
      Effect.flatMap(Venue, (venue) => Effect.promise(() => heardOf(stream(venue)))).pipe(
        Effect.provide(HttpVenue.layer(connectionTo(url)))
      )
    )
  }
  const ticker = (venue: VenueShape) => venue.marketData([{ channel: "ticker", symbol: "BTC-USDC-PERP" }])

  it("410: events so far back are no longer stored; for market data it is no answer", async () => {
    assert.deepStrictEqual(await answering(410, (venue) => venue.events(7)), { lines: [], over: "VenueEventsGone" })
    assert.deepStrictEqual(await answering(410, ticker), { lines: [], over: "status 410" })
  })

  it.each([204, 301, 401, 429, 500, 503])(
    "status %i gives its number as the reason, and no line is read",
    async (status) => {
      assert.deepStrictEqual(await answering(status, (venue) => venue.events(0)), {
        lines: [],
        over: `status ${status}`
      })
    }
  )

  it("no venue listens", async () => {
    const url = await listening((_, response) => response.end())
    await stopListening()
    const { over } = await heardOf(venueLines(connectionTo(url), "/events", eventLine, 0))
    assert.strictEqual(over, "the stream broke")
  })
})

describe("streams that become silent", () => {
  /** Ms; the service waits 5 s. */
  const patience = 150
  const reading = async (listener: RequestListener): Promise<Heard> =>
    heardOf(venueLines(connectionTo(await listening(listener)), "/events", eventLine, 0, patience))

  it("no answer at all", async () => {
    assert.deepStrictEqual(await reading(() => {}), { lines: [], over: "no answer within 150 ms" })
  })

  it("silence after an event", async () => {
    const heardLines = await reading((_, response) => void writeAll(response, [begin, line(listingEvent(1))]))
    assert.deepStrictEqual(heardLines, { lines: [heartbeat, listingEvent(1)], over: "silent for 150 ms" })
  })

  it("bytes without the end of a line are silence, too", async () => {
    const timers: Array<NodeJS.Timeout> = []
    const heardLines = await reading((_, response) => {
      void writeAll(response, [begin])
      timers.push(setInterval(() => void response.write("x"), 20))
    })
    for (const timer of timers) clearInterval(timer)
    assert.deepStrictEqual(heardLines, { lines: [heartbeat], over: "silent for 150 ms" })
  })

  it("a slow reader does not count as silence of the venue", async () => {
    const url = await listening((_, response) => {
      void writeAll(response, [begin]).then(() => {
        const beat = setInterval(() => {
          if (response.destroyed) clearInterval(beat)
          else response.write(begin)
        }, 20)
      })
    })
    let taken = 0
    // The first line must arrive within the limit, also on a busy machine.
    const limit = 4 * patience
    const slowly = venueLines(connectionTo(url), "/events", eventLine, 0, limit).pipe(
      Stream.take(3),
      Stream.mapEffect(() =>
        Effect.delay(
          Effect.sync(() => ++taken),
          limit + patience
        )
      )
    )
    assert.strictEqual((await heardOf(Stream.map(slowly, (count) => ({ count })))).over, "ended")
    assert.strictEqual(taken, 3)
  })
})
