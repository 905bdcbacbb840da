/** A test that prints fails: every way of printing reaches the set-up of the tests (test/support/printed.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expectLog } from "./support/expectLog.ts"
import { takePrinted } from "./support/printed.ts"
import { layerProvokedLogs, layerTestLogs } from "./support/testLogs.ts"

const ways: ReadonlyArray<readonly [way: string, print: (text: string) => unknown]> = [
  ["console.error", (text) => console.error(new Error(text))],
  ["stdout", (text) => process.stdout.write(`${text}\n`)],
  ["bytes on stderr", (text) => process.stderr.write(Buffer.from(text))],
  ["a log outside any service", (text) => Effect.runSync(Effect.logWarning(text))],
  ["an error in a service's log", (text) => Effect.runSync(Effect.provide(Effect.logError(text), layerTestLogs))]
]

describe("tests that pass print nothing", () => {
  it.each(ways)("%s: unexpected, it fails the test; expected, it does not", (_, print) => {
    print("something broke")
    assert.include(takePrinted(), "something broke")
    assert.strictEqual(takePrinted(), "")
    expectLog(/something broke/)
    print("something broke")
    assert.strictEqual(takePrinted(), "")
  })

  it("what is broken on purpose in every way logs in silence, and can be expected", () => {
    const logged = Effect.provide(Effect.logError("something broke"), layerProvokedLogs)
    Effect.runSync(logged)
    assert.strictEqual(takePrinted(), "")
    expectLog(/something broke/)
    Effect.runSync(logged)
  })
})
