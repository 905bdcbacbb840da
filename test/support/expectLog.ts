/**
 * What a test provokes to be logged or printed, it expects: that is kept from the output, and the test fails when it does
 * not come. Anything else that is printed fails the test that runs (silence.ts).
 */
import { assert, onTestFinished } from "vitest"

interface Expectation {
  readonly text: RegExp
  readonly isSure: boolean
  seen: number
}
const expectations = new Set<Expectation>()

/**
 * Expects at least one line like this, logged or printed, until the end of the test that calls it; one that runs beside others
 * says by its context's `onTestFinished` which it is.
 */
export const expectLog = (text: RegExp, finished = onTestFinished): void =>
  expect({ text, isSure: true, seen: 0 }, finished)

/** As `expectLog`, of what may be said, or not, by how quick the machine is. */
export const mayLog = (text: RegExp): void => expect({ text, isSure: false, seen: 0 }, onTestFinished)

const expect = (expectation: Expectation, finished: typeof onTestFinished): void => {
  const { text, isSure } = expectation
  expectations.add(expectation)
  finished(() => {
    expectations.delete(expectation)
    if (isSure) assert.isAbove(expectation.seen, 0, `nothing like ${String(text)} was logged`)
  })
}

/** Whether the test that runs expects this text; it has come then. */
export const isExpected = (text: string): boolean => {
  const expected = [...expectations].find((expectation) => expectation.text.test(text))
  if (expected !== undefined) expected.seen++
  return expected !== undefined
}
