/**
 * The waiting items of one client are decided in one turn and one commit (decision 14): events of its account, outcomes
 * of its calls. A bad item affects no other. In virtual time, over a memory store and a memory venue; the client's
 * token counts the commits.
 */
import { assert, describe, it } from "@effect/vitest"
import type { ActorHost, Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { maxBatchLength } from "../../../src/runtime/services/venue/batches.ts"
import { CallWorld } from "./CallWorld.ts"
import { account, aside, mark, orderOf, saying, sequence, withVoidProbe } from "./eventWorld.ts"

const commitsOf = (world: CallWorld): number => world.store.image("client:7").token ?? 0

/** A host whose turns fail when `breaks` returns true for the decided items. `isAside`: a message was quarantined. */
const breaking =
  (breaks: (turn: Turn, isAside: boolean) => boolean) =>
  (host: ActorHost["Service"]): ActorHost["Service"] => ({
    ...host,
    dispatch: (command) =>
      host.dispatch({
        ...command,
        decide: (turn) => {
          let isAside = false
          const value = command.decide({
            ...turn,
            nextId: (kind) => {
              isAside ||= kind === "venueQuarantine"
              return turn.nextId(kind)
            }
          })
          if (breaks(turn, isAside)) throw new Error("broken handler")
          return value
        }
      })
  })

describe("events of an account", () => {
  it("waiting events are applied in few commits, in their order", () => {
    const { world, id, ref, process } = withVoidProbe()
    const before = commitsOf(world)
    const count = 3 * maxBatchLength
    for (let n = 0; n < count; n++) world.venue.publish(account, saying(orderOf(ref)))
    world.run(2_000)
    assert.deepStrictEqual(
      [world.probes.get(id), sequence(world), mark(world), process.events.held],
      ["EXECUTED", count, count, 0]
    )
    // The first one may have been decided before the others arrived.
    assert.isAtMost(commitsOf(world) - before, 5)
    assert.deepStrictEqual(world.errors, [])
  })

  it("A2-96: events in a wrong order need no fetch; repeated ones are dropped", () => {
    const { world, ref } = withVoidProbe((venue) => ({
      ...venue,
      accountEvents: () => {
        throw new Error("nothing is missing")
      }
    }))
    const { venue } = world
    venue.deaf = true
    const said = Array.from({ length: 10 }, () => venue.publish(account, saying(orderOf(ref))))
    venue.deaf = false
    for (const event of [...said.toReversed(), ...said]) venue.send(event)
    world.run(2_000)
    assert.deepStrictEqual([sequence(world), mark(world), aside(world), world.errors], [10, 10, [], []])
  })

  it("A2-115: an event that can't be applied is set aside alone, the others of its batch are applied", () => {
    const { world, ref, process } = withVoidProbe()
    process.lane.kill()
    world.bendHost = breaking(({ state, draft }, isAside) => {
      const after = draft.peek("venueAccounts", "7")?.sequence ?? 0
      return (state.one("venueAccounts")?.sequence ?? 0) < 5 && after >= 5 && !isAside
    })
    for (let n = 0; n < 10; n++) world.venue.publish(account, saying(orderOf(ref)))
    world.launch()
    world.run(5_000)
    assert.deepStrictEqual([sequence(world), mark(world), aside(world)], [10, 10, ["it could not be applied"]])
    assert.deepStrictEqual(JSON.parse(world.store.rows("venueQuarantine")[0]?.bytes ?? "").fact.sequence, 5)
    assert.deepStrictEqual(world.errors, [
      "an event of the venue could not be applied: it is quarantined,Error: broken handler",
      "a message of the venue is quarantined; venue quarantine list shows it"
    ])
  })
})

describe("ends of a client's lost calls", () => {
  const withLostCalls = () => {
    const world = new CallWorld((name) => (name === "placeOrder" ? { lost: "before" } : {}))
    return world
  }

  it("the answers to one query are applied in few commits", () => {
    const world = withLostCalls()
    world.launch().probe(7, 200)
    world.run(1)
    const before = commitsOf(world)
    world.run(20_000)
    assert.deepStrictEqual([world.inFlight, new Set(world.probes.values())], [[], new Set(["VOID"])])
    assert.isAtMost(commitsOf(world) - before, 8)
  })

  it("D6: a call whose end can't be written stays in flight, the others end", () => {
    const world = withLostCalls()
    world.bendHost = breaking(({ draft }) => draft.ends("P-3"))
    world.launch().probe(7, 20)
    world.run(20_000)
    assert.deepStrictEqual(world.inFlight, ["P-3"])
    assert.include(world.errors, "the outcome of a call could not be written: the service queries the call again")
    assert.deepStrictEqual([...world.probes.values()].filter((state) => state === "VOID").length, 19)
  })
})
