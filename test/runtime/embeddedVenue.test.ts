/** The simulated venue of a sandbox as the service runs it: started, adopted, watched, stopped (C1, Restart). */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { askVenue } from "../../src/runtime/adapters/askVenue.ts"
import { EmbeddedVenue } from "../../src/runtime/adapters/EmbeddedVenue.ts"
import { isRunning } from "../../src/runtime/adapters/postmasterPid.ts"
import { expectLog } from "../support/expectLog.ts"
import { restingOrder } from "../venue/runningVenue.ts"
import { startChild } from "../venue/venueChild.ts"

const folders: Array<string> = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "brokerage-embedded-venue-"))
  folders.push(made)
  return made
}
const until = (holds: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (!(yield* holds)) yield* Effect.sleep("20 millis")
  })

describe("the embedded venue", () => {
  it.live("is started, restarted on its port with its books when it dies, and ends with the scope", () =>
    Effect.gen(function* () {
      expectLog(/the simulated venue (ended; starting it again|runs again)/)
      const directory = folder()
      const last = yield* Effect.scoped(
        Effect.gen(function* () {
          const venue = yield* EmbeddedVenue.start({ dataDirectory: directory })
          const first = yield* venue.pid
          const ask = (path: string, body?: unknown) =>
            askVenue(venue.connection, path, { timeoutMillis: 5_000, ...(body === undefined ? {} : { body }) })
          assert.match(Redacted.value(venue.connection.key), /^vk_/)
          yield* ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
          yield* ask("/venue/v1/orders", restingOrder("o1"))
          process.kill(first, "SIGKILL")
          yield* until(Effect.isSuccess(ask("/venue/v1/clock")))
          const second = yield* venue.pid
          assert.notStrictEqual(second, first)
          const { orders } = (yield* ask("/venue/v1/accounts/CL1")) as { readonly orders: ReadonlyArray<unknown> }
          assert.lengthOf(orders, 1)
          return second
        })
      )
      assert.isFalse(isRunning(last))
    })
  )

  it.live("adopts one that survived its service, and stops it", () =>
    Effect.gen(function* () {
      expectLog(/adopted the running simulated venue/)
      const directory = folder()
      const survivor = yield* Effect.promise(() => startChild(directory))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const venue = yield* EmbeddedVenue.start({ dataDirectory: directory })
          assert.strictEqual(yield* venue.pid, survivor.child.pid)
          assert.deepStrictEqual(
            [venue.connection.url, Redacted.value(venue.connection.key)],
            [survivor.client.url, survivor.client.key]
          )
          yield* venue.stop
        })
      )
      assert.strictEqual(yield* Effect.promise(() => survivor.ended), 0)
    })
  )

  it.live("says why it does not start", () =>
    Effect.gen(function* () {
      const directory = folder()
      writeFileSync(join(directory, "venue.key"), "", { mode: 0o600 })
      const error = yield* Effect.flip(Effect.scoped(EmbeddedVenue.start({ dataDirectory: directory })))
      assert.match(error.message, /^The simulated venue does not start: .*venue\.key is empty/)
    })
  )
})
