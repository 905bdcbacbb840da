/**
 * Comparisons with a venue that does not answer queries of accounts' events: its snapshots are compared anyway, within
 * a limited time (A2-103). In virtual time, over a memory store and a memory venue.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { type VenueShape, VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import { VenueComparison } from "../../../src/runtime/services/reconciliation/VenueComparison.ts"
import { waitsMost } from "../../../src/runtime/services/reconciliation/publishedEvents.ts"
import { QuoteBoard } from "../../../src/runtime/services/trading/rfq/QuoteBoard.ts"
import { MisfitReads } from "../../../src/runtime/services/venue/MisfitReads.ts"
import { OutOfSync } from "../../../src/runtime/services/venue/OutOfSync.ts"
import { CallWorld, type CallProcess } from "./CallWorld.ts"
import { account } from "./eventWorld.ts"

/** The pause before the comparison of a waiting account is repeated, ms. */
const minute = 60_000

const layer = VenueComparison.layer.pipe(
  Layer.provide(
    Layer.mergeAll(Directory.layer, QuoteBoard.layer, MisfitReads.layer.pipe(Layer.provideMerge(OutOfSync.layer)))
  )
)
/** The comparison of a process; its state ends with the process. */
const comparing = (world: CallWorld, process: CallProcess): VenueComparison["Service"] => {
  const made: { comparison?: VenueComparison["Service"] } = {}
  process.run(
    VenueComparison.pipe(
      Effect.flatMap((comparison) =>
        Effect.andThen(
          Effect.sync(() => (made.comparison = comparison)),
          Effect.never
        )
      ),
      Effect.provide(layer)
    )
  )
  world.run(1)
  if (made.comparison === undefined) throw new Error("the comparison has not started")
  return made.comparison
}

/** Accounts with a position and an event at the venue that no stream and no query gives. */
const withheld = (clients: ReadonlyArray<number>, answer: Effect.Effect<never, VenueUnanswered>) => {
  let isWithheld = false
  const queries = { count: 0 }
  const bend = (venue: VenueShape): VenueShape => ({
    ...venue,
    account: (of) =>
      Effect.map(venue.account(of), (found) =>
        found === null || !isWithheld
          ? found
          : {
              ...found,
              sequence: found.sequence + 1,
              orders: [],
              positions: [{ symbol: "BTC-USDC-PERP", netQty: "1" }]
            }
      ),
    accountEvents: (of, after) =>
      Effect.suspend(() => {
        if (!isWithheld) return venue.accountEvents(of, after)
        queries.count++
        return answer
      })
  })
  const world = new CallWorld(() => ({}), bend)
  const process = world.launch()
  for (const id of clients) process.probe(id, 1)
  world.run(5_000)
  isWithheld = true
  return { world, process, queries, comparison: comparing(world, process) }
}

/** The sentences of the alarms for differences. */
const alarms = (world: CallWorld): ReadonlyArray<string | undefined> =>
  world.errors.filter((line) => line.startsWith("service and venue differ")).map((line) => line.split("(queue),")[1])

const refused = Effect.fail(new VenueUnanswered({ reason: "away" }))

describe("A2-103: a venue that withholds the events of an account", () => {
  it.each([
    ["refuses the query", refused],
    ["answers no query in time", Effect.delay(refused, "8 seconds")]
  ] as const)("and %s: the account is compared after ten waits", (_, answer) => {
    const { world, process, comparison } = withheld([7], answer)
    const read = process.run(comparison.compare(account))
    // The daily slice compares the account once in addition to the retries.
    world.run((waitsMost - 2) * minute)
    const waits = `The venue has published events of ${account} that could not be applied yet: the account was not compared.`
    assert.deepStrictEqual([read.exit, alarms(world)], [Exit.succeed([waits]), []])
    world.run(4 * minute)
    assert.deepStrictEqual(alarms(world), ["The position in BTC-USDC-PERP is 0 here and 1 at the venue."])
  })

  it("hold no other account: reads stop after 8 unanswered ones, and each account is compared in its turn", () => {
    const clients = Array.from({ length: 60 }, (_, n) => n + 1)
    const { world, process, queries, comparison } = withheld(clients, Effect.delay(refused, "8 seconds"))
    const read = process.run(comparison.compareAll())
    // Without a stop: 60 accounts, 8 at a time, 10 s each.
    world.run(25_000)
    assert.deepStrictEqual(
      Exit.map(read.exit ?? Exit.die("pending"), ({ accounts }) => accounts),
      Exit.succeed(60)
    )
    assert.isAtMost(queries.count, 30)
    world.run((waitsMost + 2) * minute)
    assert.lengthOf(alarms(world), 60)
  })
})
