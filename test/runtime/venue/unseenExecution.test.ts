/**
 * An accept that the venue reports as executed without the contract has no outcome yet: it is queried every 2 s, and an
 * alarm follows after a minute (D4, A2-26, A2-116).
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import { VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import { InDoubtCalls } from "../../../src/runtime/services/venue/InDoubtCalls.ts"
import { definite } from "../../../src/runtime/services/venue/outcomes.ts"
import { sampleRows } from "../engine/fixtures.ts"
import { contract } from "../rfq/rfqTurns.ts"

const outcome = (ref: string, shows: VenueOutcome["contract"]): VenueOutcome => ({
  ref,
  outcome: "EXECUTED",
  reason: null,
  at: 1,
  order: null,
  rfq: null,
  contract: shows,
  swap: null
})
const ended = { state: "EARLY_CLOSE", settlePrice: "60000.0", endedAt: 9 } as const

describe("D4: an execution without its object", () => {
  it.each([
    ["the contract that it opened", outcome(contract.ref, contract), true],
    ["no contract", outcome(contract.ref, null), false],
    ["the contract that it closed, ended", outcome("A-2-8", { ...contract, ...ended }), true],
    ["the contract that it closed, open", outcome("A-2-8", contract), false],
    ["a call that makes no contract", outcome("R-1", null), true]
  ] as const)("with %s it is an end of the call: %#", (_, said, isEnd) => {
    assert.strictEqual(definite(said) !== null, isEnd)
  })

  it.effect("stays in flight with an alarm of its own after a minute, until the object is shown", () =>
    Effect.gen(function* () {
      let shows: VenueOutcome["contract"] = null
      let questions = 0
      const alarms: Array<boolean> = []
      const concluded: Array<string> = []
      let answers = false
      const lost = new InDoubtCalls({
        venue: {
          voidRefs: (refs) =>
            Effect.suspend(() => {
              if (!answers) return Effect.fail(new VenueUnanswered({ reason: "lost" }))
              questions++
              return Effect.succeed(refs.map((ref) => outcome(ref, shows)))
            })
        },
        wall: yield* Clock.Clock,
        scope: yield* Effect.scope,
        conclude: (_, outcomes) => Effect.sync(() => outcomes.map(({ ref }) => (concluded.push(ref), ref))),
        alarm: (_, unseen) => Effect.sync(() => (alarms.push(unseen), "raised" as const))
      })
      yield* Effect.forkScoped(lost.run)
      const row = { ...sampleRows(1).venueCalls, ref: contract.ref, call: "acceptQuote" } as const
      lost.add(row, yield* Clock.currentTimeMillis, true)
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(lost.queriesOn(row.ref)?.found, "NO_ANSWER")
      answers = true
      yield* TestClock.adjust("70 seconds")
      assert.strictEqual(lost.queriesOn(row.ref)?.found, "EXECUTED_UNSEEN")
      assert.deepStrictEqual([lost.size, concluded, alarms, lost.alarms], [1, [], [true], 1])
      assert.isAtLeast(questions, 30)
      shows = contract
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual([lost.size, concluded, alarms], [0, [contract.ref], [true]])
    })
  )
})
