/**
 * Expected output of tests. A test declares the lines that it causes with `expectLog`: they are removed from the
 * output, and the test fails if none appears. Any other output fails the running test (silence.ts).
 */
import { assert, onTestFinished } from "vitest"

interface Expectation {
  readonly text: RegExp
  readonly isSure: boolean
  seen: number
}
const expectations = new Set<Expectation>()

/**
 * Expects at least one matching line, logged or printed, before the end of the calling test. A test that runs
 * concurrently with others must pass the `onTestFinished` of its own context.
 */
export const expectLog = (text: RegExp, finished = onTestFinished): void =>
  expect({ text, isSure: true, seen: 0 }, finished)

/** As `expectLog`, for lines that appear or not depending on the speed of the machine. */
export const mayLog = (text: RegExp): void => expect({ text, isSure: false, seen: 0 }, onTestFinished)

const expect = (expectation: Expectation, finished: typeof onTestFinished): void => {
  const { text, isSure } = expectation
  expectations.add(expectation)
  finished(() => {
    expectations.delete(expectation)
    if (isSure) assert.isAbove(expectation.seen, 0, `nothing like ${String(text)} was logged`)
  })
}

/** True if the running test expects this text. Counts the text as seen. */
export const isExpected = (text: string): boolean => {
  const expected = [...expectations].find((expectation) => expectation.text.test(text))
  if (expected !== undefined) expected.seen++
  return expected !== undefined
}
