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

/** Errors alone, to the expectations of the test that runs; those nobody expects to `others`. */
const layerCatching = (others: Logger.Logger<unknown, void> | null) => {
  const catching = Logger.make<unknown, void>((entry) => {
    const line = Logger.formatSimple.log(entry)
    const expected = [...expectations].find(({ text }) => text.test(line))
    if (expected === undefined) others?.log(entry)
    else expected.seen++
  })
  return Layer.mergeAll(Logger.layer([catching]), Layer.succeed(References.MinimumLogLevel, "Error"))
}

/** Errors that no test expects are printed. */
export const layerTestLogs = layerCatching(Logger.defaultLogger)

/** For what is broken on purpose in every way: only the errors that a test expects count, the others go nowhere. */
export const layerProvokedLogs = layerCatching(null)

/** Expects at least one error like this until the end of the test that calls it. */
export const expectLog = (text: RegExp): void => {
  const expectation: Expectation = { text, seen: 0 }
  expectations.add(expectation)
  onTestFinished(() => {
    expectations.delete(expectation)
    assert.isAbove(expectation.seen, 0, `nothing like ${String(text)} was logged`)
  })
}
