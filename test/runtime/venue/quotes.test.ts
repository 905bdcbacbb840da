/**
 * Quotes are facts of the venue: their receipt takes no turn and no commit, none is lost with a process, and they keep
 * their places among the events of their account (A2-22, A2-96). In virtual time, over a memory store and a memory
 * venue.
 */
import { assert, describe, it } from "@effect/vitest"
import type { AccountFact, VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import type { CallWorld } from "./CallWorld.ts"
import { account, aside, mark, orderOf, saying, sequence, withVoidProbe } from "./eventWorld.ts"

type Stamp = { readonly account: string; readonly sequence: number }

const quoting =
  (ref: string, id: number) =>
  (stamp: Stamp): AccountFact => ({
    type: "quote",
    ...stamp,
    rfqRef: ref,
    quote: { id, dealer: "D1", price: "60000", qty: "0.1", at: 1, validUntil: 2, state: "LIVE" }
  })

const heard = (world: CallWorld): ReadonlyArray<number> => world.quotes.map(({ quote }) => quote.id)

describe("quotes of the venue", () => {
  it("A2-22: a quote arrives once, with its request, and writes no row of its client", () => {
    const { world, id, ref } = withVoidProbe()
    const before = world.store.rows("audit").length
    const said = world.venue.publish(account, quoting(ref, 31))
    world.venue.send(said)
    world.run(1_000)
    assert.deepStrictEqual(
      world.quotes.map((quoted) => [quoted.id, quoted.quote.id, quoted.at]),
      [[id, 31, said.at]]
    )
    assert.deepStrictEqual([sequence(world), mark(world), aside(world)], [undefined, 1, []])
    assert.strictEqual(world.store.rows("audit").length, before)
  })

  it("A2-96: the next event of the account is stored with its own sequence, and the quotes before it are known then", () => {
    const { world, id, ref } = withVoidProbe()
    const { venue } = world
    const first = venue.publish(account, quoting(ref, 31))
    venue.publish(account, quoting(ref, 32))
    venue.publish(account, saying(orderOf(ref)))
    venue.publish(account, quoting(ref, 33))
    venue.send(first)
    world.run(1_000)
    assert.deepStrictEqual([heard(world), sequence(world), mark(world)], [[31, 32, 33], 3, 4])
    assert.strictEqual(world.probes.get(id), "EXECUTED")
    assert.deepStrictEqual([aside(world), world.errors], [[], []])
  })

  it("A2-96: a quote after a missing event waits for it", () => {
    const { world, ref } = withVoidProbe()
    const { venue } = world
    venue.deaf = true
    venue.publish(account, quoting(ref, 31))
    venue.deaf = false
    venue.publish(account, quoting(ref, 32))
    world.run(5_000)
    assert.deepStrictEqual([heard(world), mark(world), aside(world)], [[31, 32], 2, []])
  })

  it("a process that dies loses none: the next one receives them again with the next event", () => {
    const { world, process, id, ref } = withVoidProbe()
    const { venue } = world
    venue.publish(account, quoting(ref, 31))
    venue.publish(account, quoting(ref, 32))
    world.run(1_000)
    assert.deepStrictEqual([heard(world), mark(world)], [[31, 32], 2])
    process.lane.kill()
    world.launch()
    venue.publish(account, saying(orderOf(ref)))
    world.run(5_000)
    assert.deepStrictEqual([heard(world), sequence(world), mark(world)], [[31, 32, 31, 32], 3, 3])
    assert.deepStrictEqual([world.probes.get(id), aside(world)], ["EXECUTED", []])
  })

  const hostile: ReadonlyArray<readonly [string, (ref: string) => Partial<VenueEvent>, string]> = [
    ["tomorrow's", () => ({ at: 1_795_100_000_000 }), "it lies more than 5 s ahead of the venue's clock"],
    [
      "for no request of ours",
      () => ({ fact: quoting("X-1", 9)({ account, sequence: 1 }) }),
      "it names no object of ours"
    ]
  ]
  it.each(hostile)("A2-115: one %s is set aside, and the next event is applied", (_title, change, reason) => {
    const { world, ref } = withVoidProbe()
    const { venue } = world
    venue.deaf = true
    const event = { ...venue.publish(account, quoting(ref, 31)), ...change(ref) }
    venue.events[0] = event
    venue.deaf = false
    venue.send(event)
    venue.publish(account, quoting(ref, 32))
    world.run(5_000)
    assert.deepStrictEqual([aside(world), heard(world), mark(world)], [[reason], [32], 2])
  })
})
