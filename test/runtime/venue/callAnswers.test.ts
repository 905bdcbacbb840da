/**
 * A caller who waits for the end of a venue call is answered in the turn that takes it: one commit has both, and what stands
 * against the answer never stands against the end (A1-51, A1-53).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { CallAnswers } from "../../../src/runtime/services/venue/CallAnswers.ts"
import { sampleRows } from "../engine/fixtures.ts"
import { CallWorld } from "./CallWorld.ts"

const row = { ...sampleRows(1).answers, principal: "partner:1", key: "key-1" }

const slow = () => ({ toCaller: 50 })

/** Waits for the probe's end with this answer; what the caller got, once it got it. */
const asking = (world: CallWorld, answer: (turn: Turn) => unknown) => {
  const process = world.launch()
  process.probe(1, 1)
  world.run(1)
  const told = process.run(
    Effect.flatMap(CallAnswers, (answers) =>
      answers.within(1, world.inFlight[0] ?? "P-1", (turn) => ({ value: answer(turn), row }))
    )
  )
  world.run(20_000)
  return told.exit === null || Exit.isFailure(told.exit) ? "nothing" : (told.exit.value?.value ?? null)
}

const stored = (world: CallWorld) => world.store.rows("answers").map(({ key }) => key)

describe("answers in the turn that takes a call's end", () => {
  it("the caller gets what the commit has", () => {
    const world = new CallWorld(slow)
    assert.strictEqual(
      asking(world, ({ now }) => now > 0),
      true
    )
    assert.deepStrictEqual([stored(world), world.inFlight], [["key-1"], []])
  })

  it("an answer that can't be made leaves the end to be taken without it", () => {
    const world = new CallWorld(slow)
    const told = asking(world, () => {
      throw new Error("barred")
    })
    assert.deepStrictEqual([told, stored(world), world.inFlight], [null, [], []])
  })

  it("an answer that can't be written, for its key has one, keeps the end back for a moment only", () => {
    const world = new CallWorld(slow)
    const first = world.launch()
    first.run(Effect.asVoid(Effect.sync(() => world.store.apply(answered()))))
    const told = asking(world, () => "again")
    assert.deepStrictEqual([told, stored(world), world.inFlight], [null, ["key-1"], []])
  })

  it("whoever waits for what is never answered goes on after 5 s", () => {
    const world = new CallWorld(() => ({ lost: "before" }))
    assert.isNull(asking(world, () => "never"))
    assert.strictEqual(world.inFlight.length, 1)
  })
})

const answered = () => ({
  fence: null,
  partner: null,
  claims: [],
  releases: [],
  rows: { answers: [row] },
  clearedTimers: [],
  endedCalls: []
})
