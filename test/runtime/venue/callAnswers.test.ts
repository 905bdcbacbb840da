/**
 * A caller who waits for the outcome of a venue call is answered in the turn that applies it: one commit has both, and
 * a fault of the answer never prevents the outcome (A1-51, A1-53).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { VenueGateway } from "../../../src/runtime/services/venue/VenueGateway.ts"
import { accept } from "../../../src/machines/shared/Refusal.ts"
import type { Caller } from "../../../src/runtime/services/partners/Caller.ts"
import { answerRow } from "../../../src/runtime/services/shared/KeyedRequest.ts"
import { CallWorld } from "./CallWorld.ts"

const key = { principal: "partner:1", key: "key-1", fingerprint: "f" } as const
const form = { statuses: [200], enveloped: true }
/** The caller of a request whose first commit is stored. */
const caller = {} as unknown as Caller

const slow = () => ({ toCaller: 50 })

/** Waits for the probe's outcome with this answer. Returns the body that the caller received, once it has one. */
const asking = (world: CallWorld, answer: (turn: Turn) => unknown) => {
  const process = world.launch()
  process.probe(1, 1)
  world.run(1)
  const received = process.run(
    Effect.flatMap(VenueGateway, (gateway) =>
      gateway
        .request(caller, { clientId: 1, key, form })
        .outcome(world.inFlight[0] ?? "P-1", (turn) => accept(answer(turn)))
    )
  )
  world.run(20_000)
  return received.exit === null || Exit.isFailure(received.exit) ? "nothing" : (received.exit.value?.row?.body ?? null)
}

const stored = (world: CallWorld) => world.store.rows("answers").map(({ key }) => key)

describe("answers in the turn that applies the end of a call", () => {
  it("the caller gets the answer that the commit stores", () => {
    const world = new CallWorld(slow)
    assert.strictEqual(
      asking(world, ({ now }) => now > 0),
      '{"code":0,"data":true}'
    )
    assert.deepStrictEqual([stored(world), world.inFlight], [["key-1"], []])
  })

  it("an answer that can't be made does not prevent the end of the call, which is applied without it", () => {
    const world = new CallWorld(slow)
    const told = asking(world, () => {
      throw new Error("barred")
    })
    assert.deepStrictEqual([told, stored(world), world.inFlight], [null, [], []])
  })

  it("an answer that can't be written, because its key has one, delays the end only briefly", () => {
    const world = new CallWorld(slow)
    const first = world.launch()
    first.run(Effect.asVoid(Effect.sync(() => world.store.apply(answered()))))
    const told = asking(world, () => "again")
    assert.deepStrictEqual([told, stored(world), world.inFlight], [null, ["key-1"], []])
  })

  it("a caller whose call is never answered gets its answer after 5 s", () => {
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
  rows: { answers: [answerRow(key, { status: 200, body: "{}" }, 1)] },
  clearedTimers: [],
  endedCalls: []
})
