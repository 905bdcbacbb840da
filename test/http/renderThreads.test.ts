/**
 * Files of statements over real sockets and real threads (STS-31): a thread that runs out of memory, is killed, does
 * not answer or has a defect; readers that stall, disconnect, or are many; a server that stops. No reader gets a
 * truncated file that looks complete, and the thread is free for the next file.
 */
import { afterEach, assert, describe, it, type TestContext } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { once } from "node:events"
import { pathId } from "../../src/http/api/Parameters.ts"
import { RouteRules } from "../../src/http/api/RouteRules.ts"
import { feature, handlersOf } from "../../src/http/handlers/feature.ts"
import { done } from "../../src/http/handlers/handler.ts"
import { layerRenderThreads, type RenderThreadsOptions } from "../../src/runtime/adapters/statements/RenderThreads.ts"
import { StatementRenderer } from "../../src/runtime/ports/StatementRenderer.ts"
import { sampleStatement } from "../support/sampleStatements.ts"
import { openRaw, type RawConnection, statusLine } from "./callRaw.ts"
import type { Answer } from "./callServer.ts"
import { keys } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const rules = { idempotent: false, reliance: false, bodyCap: 0, time: "long" } as const

class FilesApi extends HttpApiGroup.make("planted").add(
  HttpApiEndpoint.get("file", "/planted/:statementId/file", {
    params: { statementId: pathId("Which job.") },
    success: HttpApiSchema.StreamUint8Array({ contentType: "application/pdf" })
  }).annotate(RouteRules, rules)
) {}

/** A complete file of another partner. */
const otherPartner = "other"
/** The jobs of the thread. A file is requested by its index here. */
const jobs = [
  ...["memory", "killed", "spinning", "silent", "thrown", "failing"].flatMap((what) => [`${what} now`, `${what} late`]),
  "whole",
  "endless",
  otherPartner
]
const jobOf = (what: string): string => `/partner/v1/planted/${jobs.indexOf(what) + 1}/file`
const end = "\r\n0\r\n\r\n"
const { head } = sampleStatement("ACCOUNT", 0)

const planted = (renderer: StatementRenderer["Service"]) =>
  feature({
    api: FilesApi,
    layer: Layer.empty,
    handlers: Effect.succeed(
      handlersOf(FilesApi, {
        file: ({ params, caller }) => {
          const what = jobs[params.statementId - 1] ?? "whole"
          const own = caller.partner.row.id
          const [sha256, partnerId] = what === otherPartner ? ["whole", own + 1] : [what, own]
          return Effect.succeed(done(renderer.render({ ...head, sha256, partnerId, pieces: () => Effect.succeed([]) })))
        }
      })
    )
  })

const limits = { stallMillis: 300, headersMillis: 2_000, requestMillis: 5_000, keepAliveMillis: 300, checkMillis: 20 }
const program = new URL("../support/faultyThread.ts", import.meta.url)
const ends: Array<() => Promise<void>> = []
/** Ends what a test has started. Of concurrent tests, each ends its own. */
const endAll = async (started: Array<() => Promise<void>>): Promise<void> => {
  for (const end of started.splice(0).toReversed()) await end()
}
afterEach(() => endAll(ends))
const start = async (
  options: Partial<RenderThreadsOptions>,
  server: { readonly readers?: Partial<typeof limits>; readonly closeMillis?: number } = {},
  started = ends
): Promise<Running> => {
  const { readers, ...others } = server
  const threads = ManagedRuntime.make(layerRenderThreads({ program, memoryMegabytes: 24, ...options }))
  started.push(() => threads.dispose())
  const on = await startStubServer({
    ...others,
    limits: { ...limits, ...readers },
    planted: [planted(await threads.runPromise(StatementRenderer))]
  })
  started.push(() => on.close())
  return on
}
const codeOf = ({ json }: Answer): unknown => (json as { readonly code?: unknown }).code
const ask = async (on: Running, job: string): Promise<RawConnection> => {
  const connection = await openRaw(on)
  connection.socket.write(`GET ${jobOf(job)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.trade}\r\n\r\n`)
  return connection
}
const isFree = async (on: Running): Promise<void> => {
  const answer = await on.call("GET", jobOf("whole"))
  assert.deepStrictEqual([answer.status, answer.text], [200, "a".repeat(10)])
}

const before = "before its first byte: 503, and the next file is made by another thread"
const isAway = async (on: Running, what: string): Promise<void> => {
  const answer = await on.call("GET", jobOf(`${what} now`))
  assert.deepStrictEqual([answer.status, codeOf(answer), answer.headers["retry-after"]], [503, 5030, "1"])
  await isFree(on)
}
const inTheMiddle = "in the middle: the connection breaks off, without the end of a whole file"
const breaksOff = async (on: Running, what: string): Promise<void> => {
  const received = await (await ask(on, `${what} late`)).closed()
  assert.strictEqual(statusLine(received), "HTTP/1.1 200 OK")
  assert.include(received, "aaaaaaaaaa")
  assert.notInclude(received, end)
  await isFree(on)
}

/** Concurrent, because almost all of their time is the wait for the thread. */
describe.concurrent("a thread that does not answer", () => {
  const startFor = (onTestFinished: TestContext["onTestFinished"]): Promise<Running> => {
    const started: typeof ends = []
    onTestFinished(() => endAll(started))
    // Longer than the start of a thread takes on a busy machine.
    return start({ threads: 1, silentMillis: 4_000 }, {}, started)
  }

  it.for(["spinning", "silent"])(`%s ${before}`, async (what, { onTestFinished }) =>
    isAway(await startFor(onTestFinished), what)
  )

  it.for(["spinning", "silent"])(`%s ${inTheMiddle}`, async (what, { onTestFinished }) =>
    breaksOff(await startFor(onTestFinished), what)
  )
})

describe("a thread with a fault", () => {
  const lost = ["memory", "killed", "thrown"]
  const startOne = () => start({ threads: 1, silentMillis: 30_000 })

  it.each(lost)(`%s ${before}`, async (what) => isAway(await startOne(), what))

  it.each(lost)(`%s ${inTheMiddle}`, async (what) => breaksOff(await startOne(), what))

  it("a defect of the renderer: 500 with its id before the first byte, broken off behind it", async () => {
    const on = await start({ threads: 1 })
    const answer = await on.call("GET", jobOf("failing now"))
    assert.deepStrictEqual([answer.status, codeOf(answer)], [500, 5000])
    const received = await (await ask(on, "failing late")).closed()
    assert.notInclude(received, end)
    await isFree(on)
  })
})

describe("readers", () => {
  it("a reader that disconnects ends the work: the next one gets the thread", async () => {
    const on = await start({ threads: 1 })
    const leaving = await ask(on, "endless")
    await leaving.until("aaaa")
    leaving.socket.destroy()
    await isFree(on)
  })

  it("a reader that stalls during the file is cut, and a waiting one gets the thread", async () => {
    const on = await start({ threads: 1 })
    const stalled = await ask(on, "endless")
    await stalled.until("aaaa")
    stalled.socket.pause()
    await isFree(on)
    stalled.socket.destroy()
  })

  it("many at once: a limited number is served, all others are asked to come back", async () => {
    const on = await start({ threads: 2, waiting: 2 })
    const running = [await ask(on, "endless"), await ask(on, "endless")]
    for (const each of running) await each.until("aaaa")
    const waiting = [await ask(on, "whole"), await ask(on, "whole")]
    // Answers of one caller arrive in order: the waiting requests are in the server by the time a later one is
    // answered.
    const refused = await Promise.all(Array.from({ length: 8 }, () => on.call("GET", jobOf("whole"))))
    assert.isAbove(refused.filter(({ status }) => status === 503).length, 5)
    for (const answer of refused.filter(({ status }) => status === 503))
      assert.deepStrictEqual([codeOf(answer), answer.headers["retry-after"]], [5030, "1"])
    for (const { socket } of running) socket.destroy()
    for (const each of waiting) {
      await each.until("\r\n\r\n")
      assert.include(["HTTP/1.1 200 OK", "HTTP/1.1 503 Service Unavailable"], statusLine(each.received))
    }
    await isFree(on)
  })

  it("one partner has a part of the room, not all of it", async () => {
    const on = await start({ threads: 2, ofPartner: 1 })
    const running = await ask(on, "endless")
    await running.until("aaaa")
    assert.strictEqual((await on.call("GET", jobOf("whole"))).status, 503)
    running.socket.destroy()
  })

  it("two slow ones of one partner: another partner waits for a while, then one of them is cut for it", async () => {
    const on = await start(
      { threads: 2, shareMillis: 200 },
      { readers: { stallMillis: 60_000, requestMillis: 60_000 } }
    )
    const slow = [await ask(on, "endless"), await ask(on, "endless")]
    for (const each of slow) {
      await each.until("aaaa")
      each.socket.pause()
    }
    const other = await on.call("GET", jobOf(otherPartner))
    assert.deepStrictEqual([other.status, other.text], [200, "a".repeat(10)])
    const [first, second] = slow as [RawConnection, RawConnection]
    second.socket.resume()
    assert.notInclude(await second.closed(), end)
    // No reader waits any more, so the other slow reader keeps its thread.
    assert.isFalse(first.socket.destroyed)
    first.socket.destroy()
  })

  it("a reader that waits too long for a thread is asked to come back", async () => {
    const on = await start({ threads: 1, waitMillis: 100 })
    const running = await ask(on, "endless")
    await running.until("aaaa")
    running.socket.on("data", () => {})
    const answer = await on.call("GET", jobOf("whole"))
    assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [503, "1"])
    running.socket.destroy()
  })
})

describe("a server that stops", () => {
  it("ends unfinished files at its timeout, and its threads", async () => {
    const on = await start({ threads: 1 }, { closeMillis: 500 })
    const reader = await ask(on, "endless")
    await reader.until("aaaa")
    const closed = once(reader.socket, "close")
    await on.stop()
    await closed
    assert.notInclude(reader.received, end)
  })
})
