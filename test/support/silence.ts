/**
 * The set-up of every test file. A test with unexpected output (`expectLog`) fails with that output, and a file that
 * leaves a resource or a change behind fails with a sentence that names it.
 */
import { afterAll, afterEach, assert } from "vitest"
import { settledLeftovers, standing } from "./leftovers.ts"
import { takePrinted } from "./printed.ts"

const before = standing()
const assertSilence = (): void => {
  const text = takePrinted()
  if (text !== "") assert.fail(`printed, and nothing expects it (expectLog):\n${text}`)
}
// Hooks run in reverse order, so these run after all hooks of the file.
afterAll(async () => {
  const left = await settledLeftovers(before)
  if (left.length > 0) assert.fail(`This file leaves something behind: ${left.join("; ")}.`)
})
afterEach(assertSilence)
afterAll(assertSilence)
