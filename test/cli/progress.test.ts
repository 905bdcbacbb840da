/**
 * The progress display of a command (operator surface): frames on a terminal, single lines elsewhere, nothing with
 * --json.
 */
import { assert, describe, it } from "@effect/vitest"
import { amountLine, Progress } from "../../cli/progress.ts"
import { sendList } from "../../cli/sendList.ts"
import type { OperatorClient } from "../../cli/OperatorClient.ts"

/** A stopped clock, and a record of the displayed texts with their times. */
const stage = (terminal: boolean) => {
  const shown: Array<string | null> = []
  const clock = { at: 0 }
  const io = {
    progress: terminal ? (line: string | null) => void shown.push(line) : null,
    stderr: (text: string) => void shown.push(text)
  }
  return { shown, clock, io, now: () => clock.at }
}

describe("operator surface, progress", () => {
  it.each([
    [{ done: 0, total: 48_000, unit: "entries", millis: 0 }, "0 of 48,000 entries (0%)"],
    [
      { done: 12_000, total: 48_000, unit: "entries", millis: 4_000 },
      "12,000 of 48,000 entries (25%), 3,000 a second, 12 s left"
    ],
    [
      { done: 48_000, total: 48_000, unit: "entries", millis: 4_000 },
      "48,000 of 48,000 entries (100%), 12,000 a second"
    ],
    [{ done: 30, total: 40, unit: "values", millis: 2_000, before: 20 }, "30 of 40 values (75%), 5 a second, 2 s left"],
    [
      { done: 1_234_567, total: null, unit: "transactions", millis: 1_000 },
      "1,234,567 transactions, 1,234,567 a second"
    ],
    [{ done: 0, total: 0, unit: "values", millis: 10 }, "0 of 0 values"],
    [{ done: 5, total: 3, unit: "checks", millis: 60_000 }, "5 of 3 checks (100%)"]
  ])("%j is %s", (amount, line) => assert.strictEqual(amountLine(amount), line))

  it("a terminal's line is redrawn at most five times a second, and removed at the end", () => {
    const { shown, clock, io, now } = stage(true)
    const progress = new Progress(io, false, now)
    for (const at of [0, 50, 199, 200, 450]) {
      clock.at = at
      progress.report(`at ${at}`)
    }
    progress.end()
    progress.end()
    assert.deepStrictEqual(shown, ["at 0", "at 200", "at 450", null])
  })

  it("without a terminal there is a line every ten seconds, none at the start, and nothing to remove", () => {
    const { shown, clock, io, now } = stage(false)
    const progress = new Progress(io, false, now)
    for (const at of [0, 9_999, 10_000, 12_000, 20_000]) {
      clock.at = at
      progress.report(`at ${at}`)
    }
    progress.end()
    assert.deepStrictEqual(shown, ["at 10000\n", "at 20000\n"])
  })

  it("with --json there is no progress, on a terminal or elsewhere", () => {
    for (const terminal of [true, false]) {
      const { shown, clock, io, now } = stage(terminal)
      const progress = new Progress(io, true, now)
      clock.at = 60_000
      progress.report("on the way")
      progress.end()
      assert.deepStrictEqual(shown, [])
    }
  })

  it("an import reports the number of its entries after each piece, earlier runs included", async () => {
    const state = { importId: 1, status: "OPEN", received: 2 }
    const answer = () => Promise.resolve({ code: 0, data: { ...state } })
    const api = {
      screening: {
        import: answer,
        entries: ({ payload }: { readonly payload: { readonly entries: ReadonlyArray<unknown> } }) => {
          state.received += payload.entries.length
          return answer()
        },
        finish: () => {
          state.status = "DONE"
          return answer()
        }
      }
    }
    const entries = ["a", "b", "c", "d", "e"]
    const file = {
      source: "EU",
      version: "1",
      count: 5,
      hash: "h",
      pieces: async function* () {
        for (const each of entries) yield [each]
      }
    }
    const told: Array<number> = []
    const sent = sendList(
      api as unknown as OperatorClient,
      file as never,
      false,
      (received) => void told.push(received)
    )
    await sent
    assert.deepStrictEqual(told, [3, 4, 5])
  })
})
