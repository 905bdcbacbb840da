/**
 * What services log in tests. An error that a test provokes is expected by it: it is kept from the output, and the test
 * fails when it does not come. Any other error is printed, so that the output of a run that passes is empty of them.
 */
import { Layer, Logger, References } from "effect"
import { assert, onTestFinished } from "vitest"

interface Expectation {
  readonly text: RegExp
  seen: number
}
const expectations = new Set<Expectation>()

const catching = Logger.make<unknown, void>((entry) => {
  const line = Logger.formatSimple.log(entry)
  const expected = [...expectations].find(({ text }) => text.test(line))
  if (expected === undefined) Logger.defaultLogger.log(entry)
  else expected.seen++
})

/** Errors alone, to the expectations of the test that runs. */
export const layerTestLogs = Layer.mergeAll(
  Logger.layer([catching]),
  Layer.succeed(References.MinimumLogLevel, "Error")
)

/** Expects at least one error like this until the end of the test that calls it. */
export const expectLog = (text: RegExp): void => {
  const expectation: Expectation = { text, seen: 0 }
  expectations.add(expectation)
  onTestFinished(() => {
    expectations.delete(expectation)
    assert.isAbove(expectation.seen, 0, `nothing like ${String(text)} was logged`)
  })
}
