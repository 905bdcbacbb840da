/** Set-up of every test file: a test that prints what it does not expect (`expectLog`) fails, with the text it printed. */
import { afterAll, afterEach, assert } from "vitest"
import { takePrinted } from "./printed.ts"

const assertSilence = (): void => {
  const text = takePrinted()
  if (text !== "") assert.fail(`printed, and nothing expects it (expectLog):\n${text}`)
}
// Registered before the hooks of any file, so they run after them.
afterEach(assertSilence)
afterAll(assertSilence)
