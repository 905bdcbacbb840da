/**
 * What a test provokes to be logged or printed, it expects: that is kept from the output, and the test fails when it does
 * not come. Anything else that is printed fails the test that runs (silence.ts).
 */
import { assert, onTestFinished } from "vitest"

interface Expectation {
  readonly text: RegExp
  seen: number
}
const expectations = new Set<Expectation>()

/** Expects at least one line like this, logged or printed, until the end of the test that calls it. */
export const expectLog = (text: RegExp): void => {
  const expectation: Expectation = { text, seen: 0 }
  expectations.add(expectation)
  onTestFinished(() => {
    expectations.delete(expectation)
    assert.isAbove(expectation.seen, 0, `nothing like ${String(text)} was logged`)
  })
}

/** Whether the test that runs expects this text; it has come then. */
export const isExpected = (text: string): boolean => {
  const expected = [...expectations].find((expectation) => expectation.text.test(text))
  if (expected !== undefined) expected.seen++
  return expected !== undefined
}
