/**
 * Answers other than JSON, over a planted feature and real sockets: bytes, and streams whose readers are slow,
 * disconnect, or are interrupted by the close of the server (architecture 5 and 8).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { once } from "node:events"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { pathId } from "../../src/http/api/Parameters.ts"
import { RouteRules } from "../../src/http/api/RouteRules.ts"
import { feature, handlersOf } from "../../src/http/handlers/feature.ts"
import { done } from "../../src/http/handlers/handler.ts"
import { answerStreamed } from "../../src/http/middleware/streams.ts"
import { readerTimes, readTimes } from "../../src/machines/shared/Limits.ts"
import { Unavailable } from "../../src/runtime/engine/mailbox/DispatchError.ts"
import { openRaw, type RawConnection, statusLine } from "./callRaw.ts"
import { keys } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const plain = { idempotent: false, reliance: false, bodyCap: 0 } as const
const prefix = "/partner/v1/planted"
const end = "\r\n0\r\n\r\n"

class PlantedApi extends HttpApiGroup.make("planted").add(
  HttpApiEndpoint.get("pdf", "/planted/:statementId/pdf", {
    params: { statementId: pathId("The statement's id.") },
    success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/pdf" }))
  }),
  HttpApiEndpoint.get("csv", "/planted/csv", {
    success: HttpApiSchema.StreamUint8Array({ contentType: "text/csv" })
  }).annotate(RouteRules, { ...plain, time: "long" }),
  HttpApiEndpoint.get("events", "/planted/events", {
    success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" })
  }).annotate(RouteRules, { ...plain, time: "stream" })
) {}

const codeOf = ({ json }: { readonly json: unknown }): unknown => (json as { readonly code?: unknown }).code
const text = (value: string): Uint8Array => Buffer.from(value)
const started = { count: 0 }
let source: Stream.Stream<Uint8Array, Error> = Stream.empty
/** Completes when the source is abandoned. */
let ended = Deferred.makeUnsafe<void>()

const watched = Stream.suspend(() => {
  started.count++
  return Stream.ensuring(
    source,
    Effect.sync(() => Deferred.doneUnsafe(ended, Effect.void))
  )
})

const planted = feature({
  api: PlantedApi,
  layer: Layer.empty,
  handlers: Effect.succeed(
    handlersOf(PlantedApi, {
      pdf: ({ params }) => Effect.succeed(done(text(`%PDF statement ${params.statementId}`))),
      csv: () => Effect.succeed(done(watched)),
      events: () => Effect.succeed(done(watched))
    })
  )
})

const limits = { stallMillis: 300, headersMillis: 2_000, requestMillis: 5_000, keepAliveMillis: 300, checkMillis: 20 }
const start = () => startStubServer({ limits, planted: [planted] })

let server: Running
beforeAll(async () => {
  server = await start()
})
afterAll(() => server.close())
beforeEach(() => {
  started.count = 0
  ended = Deferred.makeUnsafe<void>()
})
const isEnded = () => Effect.runPromise(Deferred.await(ended))

const ask = async (path: string, method = "GET", on = server): Promise<RawConnection> => {
  const connection = await openRaw(on)
  connection.socket.write(
    `${method} ${prefix}${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.trade}\r\n\r\n`
  )
  return connection
}

/** Endless pieces of a quarter of a megabyte, with their number. */
const endless = () => {
  const made = { count: 0 }
  source = Stream.forever(
    Stream.fromEffect(
      Effect.sync(() => {
        made.count++
        return new Uint8Array(256 * 1024)
      })
    )
  )
  return made
}

describe("bytes", () => {
  it("are sent as they are, with the contract's media type and their length", async () => {
    const answer = await server.call("GET", `${prefix}/41/pdf`)
    assert.deepStrictEqual([answer.status, answer.text], [200, "%PDF statement 41"])
    assert.deepInclude(answer.headers, { "content-type": "application/pdf", "content-length": "17" })
    assert.strictEqual(answer.headers["cache-control"], "no-store")
    assert.isDefined(answer.headers["ratelimit-limit"])
  })

  it("HEAD has the headers alone; a refusal is the envelope", async () => {
    const head = await server.call("HEAD", `${prefix}/41/pdf`)
    assert.deepStrictEqual([head.status, head.text, head.headers["content-length"]], [200, "", "17"])
    const refused = await server.call("GET", `${prefix}/41/pdf`, { key: "pbk_nobody" })
    assert.deepStrictEqual([refused.status, refused.headers["content-type"]], [401, "application/json"])
  })

  it("A1-01: a parameter of the path is read by its name; a value that is no id names nothing", async () => {
    for (const [segment, id] of [
      ["7", 7],
      ["07", 0],
      ["%37", 0],
      ["9007199254740992", 0]
    ]) {
      assert.strictEqual((await server.call("GET", `${prefix}/${segment}/pdf`)).text, `%PDF statement ${id}`)
    }
  })
})

describe("streams", () => {
  it("arrive whole and in order, in chunks", async () => {
    source = Stream.fromIterable(["a,b\n", "1,2\n", "3,4\n"].map(text))
    const answer = await server.call("GET", `${prefix}/csv`)
    assert.deepStrictEqual([answer.status, answer.text], [200, "a,b\n1,2\n3,4\n"])
    assert.deepInclude(answer.headers, { "content-type": "text/csv", "transfer-encoding": "chunked" })
  })

  it("HEAD starts nothing and has no body", async () => {
    for (const path of ["csv", "events"]) {
      const head = await server.call("HEAD", `${prefix}/${path}`)
      assert.deepStrictEqual([head.status, head.text], [200, ""])
    }
    assert.strictEqual(started.count, 0)
  })

  it("a reader that reads nothing holds the source up, and is cut after the stall time", async () => {
    for (const path of ["/csv", "/events"]) {
      ended = Deferred.makeUnsafe<void>()
      const made = endless()
      const connection = await ask(path)
      connection.socket.pause()
      await isEnded()
      assert.isBelow(made.count, 200, "made no faster than it was read")
      connection.socket.destroy()
    }
  })

  it("a reader that leaves ends the work", async () => {
    source = Stream.concat(Stream.succeed(text("data: 1\n\n")), Stream.never)
    const connection = await ask("/events")
    await connection.until("data: 1")
    connection.socket.destroy()
    await isEnded()
  })

  it("a stream with nothing to send does not count as a slow reader", async () => {
    const next = Deferred.makeUnsafe<void>()
    source = Stream.concat(
      Stream.succeed(text("data: 1\n\n")),
      Stream.fromEffect(Effect.as(Deferred.await(next), text("data: 2\n\n")))
    )
    const connection = await ask("/events")
    await connection.until("data: 1")
    for (const _ of [1, 2]) {
      const half = await openRaw(server)
      half.socket.write(
        `POST /partner/v1/clients HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.trade}\r\nContent-Length: 9\r\n\r\n{`
      )
      assert.strictEqual(statusLine(await half.closed()), "HTTP/1.1 408 Request Timeout")
    }
    Deferred.doneUnsafe(next, Effect.void)
    await connection.until(end)
    assert.include(connection.received, "data: 2")
    connection.socket.destroy()
  })

  it("a source that fails breaks the answer off: it does not look finished", async () => {
    source = Stream.concat(Stream.succeed(text("a,b\n")), Stream.fail(new Error("the database is away")))
    const received = await (await ask("/csv")).closed()
    assert.include(received, "a,b")
    assert.notInclude(received, end)
  })

  it("a stream that can't begin is refused as any request: it can't be mistaken for an answer that broke off", async () => {
    source = Stream.fail(new Unavailable({ unknown: false })) as never
    const away = await server.call("GET", `${prefix}/csv`)
    assert.deepStrictEqual([away.status, codeOf(away), away.headers["retry-after"]], [503, 5030, "1"])
    source = Stream.die(new Error("no such page"))
    const defect = await server.call("GET", `${prefix}/csv`)
    assert.deepStrictEqual([defect.status, codeOf(defect)], [500, 5000])
    source = Stream.empty
    const empty = await server.call("GET", `${prefix}/csv`)
    assert.deepStrictEqual([empty.status, empty.text, empty.headers["content-type"]], [200, "", "text/csv"])
  })

  /** An answer without a real reader. `takes`: whether the reader accepts data. */
  const sending = (pieces: Stream.Stream<Uint8Array>, takes: boolean) =>
    Effect.gen(function* () {
      const request = new IncomingMessage(new Socket())
      const response = new ServerResponse(request)
      response.write = () => takes
      const running = yield* Effect.forkChild(
        Effect.exit(
          answerStreamed({ request, response }, { status: 200, contentType: "text/csv", pieces }, () => ({}), {
            rules: { ...plain, time: "long" },
            closing: undefined
          })
        ),
        { startImmediately: true }
      )
      return { response, running }
    })
  const onePiece = Stream.succeed(text("a,b\n"))

  it.effect.each([
    [
      "a piece that does not come in the time of a long answer",
      Stream.concat(onePiece, Stream.never),
      true,
      readTimes.long
    ],
    ["a reader who does not take a piece in time", Stream.forever(onePiece), false, readerTimes.piece],
    [
      "a reader who takes too long for the whole",
      Stream.forever(Stream.fromEffect(Effect.as(Effect.sleep(1_000), text("a")))),
      true,
      readerTimes.whole
    ]
  ] as const)("%s breaks it off", ([, pieces, takes, millis]) =>
    Effect.gen(function* () {
      const { response, running } = yield* sending(pieces, takes)
      yield* TestClock.adjust(millis - 1)
      assert.isFalse(response.destroyed)
      yield* TestClock.adjust(1)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(running)))
      assert.deepStrictEqual([response.destroyed, response.writableEnded], [true, false])
    })
  )

  it("architecture 8: the close of the server ends a stream in order, and a long answer is finished first", async () => {
    const closing = await start()
    source = Stream.concat(Stream.succeed(text("data: 1\n\n")), Stream.never)
    const events = await ask("/events", "GET", closing)
    await events.until("data: 1")
    const rest = Deferred.makeUnsafe<void>()
    source = Stream.concat(
      Stream.succeed(text("a,b\n")),
      Stream.fromEffect(Effect.as(Deferred.await(rest), text("1,2\n")))
    )
    const csv = await ask("/csv", "GET", closing)
    await csv.until("a,b")
    const stopped = closing.stop()
    await events.until(end)
    Deferred.doneUnsafe(rest, Effect.void)
    await csv.until(end)
    assert.include(csv.received, "1,2")
    for (const { socket } of [events, csv]) if (!socket.closed) await once(socket, "close")
    await stopped
    await closing.close()
  })
})
