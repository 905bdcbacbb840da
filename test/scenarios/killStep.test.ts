/**
 * Scenario steps that kill a process, with stubs for the processes: the checks of a step, and the restart of the
 * service after any result of the step.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ofRoute } from "../../simulator/scenarios/runner/Answer.ts"
import { killStep } from "../../simulator/scenarios/runner/killStep.ts"
import type { KillStep } from "../../simulator/scenarios/runner/Scenario.ts"
import { broken, Session } from "../../simulator/scenarios/runner/Session.ts"
import type { OwnProcesses, World } from "../../simulator/scenarios/runner/World.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"

const never = new Promise<void>(() => undefined)
const deposit = { kind: "partner", line: 7, partner: "deposit anna 1.00" } as const
const step = (more: Partial<KillStep>): KillStep => ({ kind: "kill", line: 6, kill: "service", during: [], ...more })

const answer = (status: number) =>
  ofRoute({ status, body: Buffer.from('{"code":0,"data":{}}'), replayed: false, retryAfter: null })
const answered = Effect.succeed(answer(201))
const lost = Effect.fail(broken("The connection broke."))

/** Plays a step. Returns its sentence, or null, and the actions on the processes, in order. */
const play = (
  kill: KillStep,
  own: Partial<OwnProcesses>,
  sent: typeof answered | typeof lost,
  at: Pick<World, "url" | "ca"> = { url: "https://127.0.0.1:1", ca: null }
) =>
  Effect.gen(function* () {
    const done: Array<string> = []
    const note = (what: string) => void done.push(what)
    const world: World = {
      ...at,
      operatorKey: "pbo_key",
      command: (args) => Promise.resolve({ exit: 0, document: note(args.join(" ")), refusal: null }),
      own: {
        restart: () => Promise.resolve(note("restart")),
        dieAt: (point, subject) =>
          Promise.resolve(note(`die at ${point}${subject === undefined ? "" : ` of ${subject}`}`)),
        ended: () => Promise.resolve(),
        killDatabase: () => false,
        ...own
      },
      tls: Effect.die("no receiver needs one")
    }
    const sentence = yield* killStep(new Session(world, "T1", 1), kill, {
      send: () => sent,
      answered: () => Effect.asVoid(sent),
      clientIdOf: () => Effect.succeed(7)
    }).pipe(Effect.match({ onSuccess: () => null, onFailure: ({ sentence: found }) => found }), Effect.scoped)
    return { sentence, done }
  })

describe("a kill of the service at a point", () => {
  it.effect("holds when the answer is lost with the service", () =>
    Effect.gen(function* () {
      const kill = step({ at: ["before-commit"], during: [deposit] })
      const { sentence, done } = yield* play(kill, {}, lost)
      assert.isNull(sentence)
      assert.deepStrictEqual(done, ["sim verify", "die at before-commit", "restart"])
    })
  )

  it.effect("of one client it dies at a commit of that one's mailbox", () =>
    Effect.gen(function* () {
      const kill = step({ at: ["after-commit"], client: "anna", during: [deposit] })
      const { done } = yield* play(kill, {}, lost)
      assert.deepStrictEqual(done, ["sim verify", "die at after-commit of client:7", "restart"])
    })
  )

  it.effect("an answer before the point proves nothing: the step fails, the service is started again", () =>
    Effect.gen(function* () {
      const { sentence, done } = yield* play(step({ at: ["before-commit"], during: [deposit] }), {}, answered)
      assert.strictEqual(sentence, "The service answered 201 before it reached before-commit.")
      assert.strictEqual(done.at(-1), "restart")
    })
  )

  it.effect("after the commit an answer may have left", () =>
    Effect.gen(function* () {
      const { sentence } = yield* play(step({ at: ["after-commit"], during: [deposit] }), {}, answered)
      assert.isNull(sentence)
    })
  )

  it.effect("a point that is never passed fails the step, and arms no later one: the service is started again", () =>
    Effect.gen(function* () {
      const kill = step({ at: ["after-claim"], during: [deposit] })
      const asked = Promise.withResolvers<void>()
      const ended = () => {
        asked.resolve()
        return never
      }
      const playing = yield* Effect.forkChild(play(kill, { ended }, lost))
      yield* Effect.promise(() => asked.promise)
      yield* TestClock.adjust("15 seconds")
      const { sentence, done } = yield* Fiber.join(playing)
      assert.strictEqual(sentence, "The service did not reach after-claim.")
      assert.strictEqual(done.at(-1), "restart")
    })
  )

  it.effect("without a point it dies at once", () =>
    Effect.gen(function* () {
      const { sentence, done } = yield* play(step({}), {}, lost)
      assert.isNull(sentence)
      assert.deepStrictEqual(done, ["restart"])
    })
  )
})

/** A service whose /healthz answers 503 this number of times after its database was killed, then 200. */
const serviceAway = (times: number) =>
  Effect.gen(function* () {
    const dataDirectory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "brokerage-kill-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true }))
    )
    const { certificate, key, ca } = yield* LocalAuthority.ensure({ dataDirectory })
    const state = { left: 0, asked: 0 }
    const server = createServer({ cert: certificate, key }, (_, response) => {
      state.asked++
      response.writeHead(state.left-- > 0 ? 503 : 200).end("{}")
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => server.close().closeAllConnections())
    )
    const { port } = server.address() as AddressInfo
    const killDatabase = (): boolean => {
      state.left = times
      return true
    }
    return { state, killDatabase, at: { url: `https://127.0.0.1:${port}`, ca } }
  })

describe("a kill of the database", () => {
  it.live("ends once the service has missed it and is well again", () =>
    Effect.gen(function* () {
      const { state, at, killDatabase } = yield* serviceAway(2)
      const { sentence } = yield* play(step({ kill: "database" }), { killDatabase }, answered, at)
      assert.isNull(sentence)
      assert.isAtLeast(state.asked, 3, "two that say it is away, one that says it is back")
    })
  )

  it.live(
    "a kill without an effect fails the step, also without steps meanwhile",
    () =>
      Effect.gen(function* () {
        const { at, killDatabase } = yield* serviceAway(0)
        const { sentence } = yield* play(step({ kill: "database" }), { killDatabase }, answered, at)
        assert.strictEqual(sentence, "The service reports healthy without its database.")
      }),
    30_000
  )

  it.effect("a service that does not run is reported", () =>
    Effect.gen(function* () {
      const { sentence } = yield* play(step({ kill: "database" }), {}, answered)
      assert.strictEqual(sentence, "The database of the service is not running.")
    })
  )
})
