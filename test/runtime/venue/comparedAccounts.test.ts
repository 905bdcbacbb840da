/**
 * Comparisons with a venue that does not answer queries of accounts' events: its snapshots are compared anyway, within
 * a limited time (A2-103). In virtual time, over a memory store and a memory venue.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { contractInput } from "../../../src/machines/contract/contractSamples.ts"
import { swapInput } from "../../../src/machines/swap/swapSamples.ts"
import { firstRow } from "../../../src/runtime/effects/machineRow.ts"
import { ActorHost, type Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { endMisfit } from "../../../src/runtime/services/venue/misfits.ts"
import { reportMisfit } from "../../support/standingMisfit.ts"
import { unreadableAnswer, type VenueShape, VenueUnanswered } from "../../../src/runtime/ports/Venue.ts"
import { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import {
  deferralEnds,
  DeferredAccounts,
  deferredMost
} from "../../../src/runtime/services/reconciliation/DeferredAccounts.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { VenueComparison } from "../../../src/runtime/services/reconciliation/VenueComparison.ts"
import { waitsMost } from "../../../src/runtime/services/reconciliation/publishedEvents.ts"
import { QuoteBoard } from "../../../src/runtime/services/trading/rfq/QuoteBoard.ts"
import { MisfitReads } from "../../../src/runtime/services/venue/MisfitReads.ts"
import { OutOfSync } from "../../../src/runtime/services/venue/OutOfSync.ts"
import { sampleRows } from "../engine/fixtures.ts"
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
  world.errors
    .filter((line) => line.startsWith("service and venue differ"))
    .map((line) => line.split("(brokerage queue lists it),")[1])

type Lookup = (refs: ReadonlyArray<string>, venue: VenueShape) => ReturnType<VenueShape["lookup"]>
const ofClient = { partnerId: 1, clientId: 7 }

/** Client 7 has a position that the venue lacks, and the rows that `more` writes in its turn. */
const withPosition = (more: (turn: Turn) => void, bend: (venue: VenueShape) => Partial<VenueShape> = () => ({})) => {
  let isBent = false
  const world = new CallWorld(
    () => ({}),
    (venue) => {
      const { lookup = venue.lookup, voidRefs = venue.voidRefs, write = venue.write } = bend(venue)
      return {
        ...venue,
        lookup: (refs) => (isBent ? lookup : venue.lookup)(refs),
        voidRefs: (refs) => (isBent ? voidRefs : venue.voidRefs)(refs),
        write: (name, request) => (isBent ? write : venue.write)(name, request)
      }
    }
  )
  const process = world.launch()
  process.probe(7, 1)
  world.run(5_000)
  const { positions } = sampleRows(7)
  const position = { ...positions, ...ofClient, symbol: "BTC-USDC-PERP", state: "OPEN" as const }
  const inTurn = (decide: (turn: Turn) => void) => {
    const by = { role: "ADMIN", keyLabel: "test", requestId: "test", actor: "ADMIN" }
    process.run(ActorHost.use((host) => host.dispatch({ subject: "client:7", by, decide })))
    world.run(1_000)
  }
  isBent = true
  inTurn((turn) => {
    turn.draft.put("positions", { ...position, netQty: "1" })
    more(turn)
  })
  const comparison = comparing(world, process)
  return { world, process, inTurn, read: process.run(comparison.compare(account)) }
}

/** Two swaps that the venue lacks. */
const lent = ({ draft }: Turn): void => {
  const { swaps } = sampleRows(7)
  for (const id of [1, 2]) {
    const columns = { ...swaps, ...ofClient, id, contractId: 50 + id }
    draft.put("swaps", { ...firstRow("swaps", { ...swapInput, swapId: id }, columns).row, state: "OPEN" })
  }
}
const position = "The position in BTC-USDC-PERP is 1 here and 0 at the venue."
const unanswered = Effect.fail(new VenueUnanswered({ reason: "status 500" }))

describe("A2-103: a venue that does not answer a lookup", () => {
  const unknown = "The venue does not know swap 2, which is OPEN here."
  const one = `The venue has not answered lookups of ${account}; not compared: swap:1.`
  const both = `The venue has not answered lookups of ${account}; not compared: swap:2, swap:1.`
  const isFirst = (ref: string): boolean => ref.startsWith("S-1")

  it.each([
    ["an object whose lookup fails", (refs, venue) => (refs.some(isFirst) ? unanswered : venue.lookup(refs)), true],
    [
      "an object that can't be read",
      (refs, venue) =>
        Effect.map(venue.lookup(refs), (found) =>
          found.map((each) => (isFirst(each.ref) ? { ...each, reason: unreadableAnswer } : each))
        ),
      true
    ],
    ["all objects of a venue that answers none in time", () => Effect.delay(unanswered, "5 seconds"), false]
  ] as ReadonlyArray<[string, Lookup, boolean]>)("leaves out %s, and compares the rest", (_, lookup, knowsOther) => {
    const { world, read } = withPosition(lent, (venue) => ({ lookup: (refs) => lookup(refs, venue) }))
    world.run(90_000)
    const expected = knowsOther ? [unknown, position, one] : [position, both]
    assert.deepStrictEqual(read.exit, Exit.succeed(expected))
    assert.deepStrictEqual(alarms(world), expected.slice(0, -1))
  })

  it("is queried again each minute, an alarm after ten times, and the object is compared as soon as it answers", () => {
    let isAnswered = false
    const { world } = withPosition(lent, (venue) => ({
      lookup: (refs) => (!isAnswered && refs.some(isFirst) ? unanswered : venue.lookup(refs))
    }))
    world.run((waitsMost + 5) * minute)
    assert.lengthOf(tenfold(world), 1)
    isAnswered = true
    world.run(minute + 10_000)
    assert.deepStrictEqual(alarms(world), [unknown, position, "The venue does not know swap 1, which is OPEN here."])
  })
})

describe("A2-103: a difference that a call in flight or an object which is read again may explain", () => {
  const call = { ref: "P-9", ...ofClient, call: "placeOrder", request: {}, at: 1 } as const
  const cases = [
    ["a call in flight", ({ draft }: Turn) => draft.put("venueCalls", call)],
    ["an object that is read again", (turn: Turn) => reportMisfit(turn, "P-1", 0)]
  ] as const
  const later = `A call in flight, or a report that is read again, may explain differences of ${account}: it is compared again in a minute.`

  it.each(cases)("%s defers it for two minutes, although the venue answers nothing", (_, open) => {
    const { world, read } = withPosition(
      (turn) => {
        open(turn)
        lent(turn)
        const { barrierContracts } = sampleRows(7)
        const columns = { ...barrierContracts, ...ofClient, id: 3 }
        turn.draft.put("barrierContracts", {
          ...firstRow("barrierContracts", { ...contractInput, contractId: 3 }, columns).row,
          state: "OPEN"
        })
      },
      () => ({ write: () => unanswered, voidRefs: () => unanswered })
    )
    world.run(100_000)
    assert.include(JSON.stringify(read.exit), later)
    assert.deepStrictEqual([alarms(world), world.store.rows("reconBreaks")], [[], []])
    world.run(120_000)
    assert.sameMembers(
      [...alarms(world)],
      [
        "The venue does not know contract 3, which is open here.",
        "The venue does not know swap 1, which is OPEN here.",
        "The venue does not know swap 2, which is OPEN here.",
        position
      ]
    )
  })

  /** Whether comparisons at these times are deferred, with a call in flight at each. */
  const deferredAt = (times: ReadonlyArray<number>): ReadonlyArray<boolean> => {
    const deferral = new DeferredAccounts()
    const state = new SubjectState("client:7", { token: 1, rows: [{ table: "venueCalls", row: call }] })
    return times.map((now) => deferral.defers({ now, state, draft: new CommitBuilder() } as Partial<Turn> as Turn, 7))
  }

  it("a later comparison begins another deferral, so that an old one does not let a difference count at once", () => {
    const times = [0, deferredMost - 1, deferredMost, 2 * deferredMost, 2 * deferredMost + deferralEnds]
    assert.deepStrictEqual(deferredAt(times), [true, true, false, false, true])
  })

  it("comparisons that come late count, however far apart they are", () => {
    const day = 86_400_000
    assert.deepStrictEqual(deferredAt([0, day, day + deferralEnds, 3 * day]), [true, false, true, false])
  })

  it("no break opens if the difference is gone by then", () => {
    const { world, inTurn } = withPosition((turn) => reportMisfit(turn, "P-1", 0))
    world.run(50_000)
    inTurn((turn) => {
      const [held] = turn.state.all("positions")
      if (held !== undefined) turn.draft.put("positions", { ...held, netQty: "0", state: "FLAT" })
      endMisfit(turn, "P-1")
    })
    world.run(600_000)
    assert.deepStrictEqual([alarms(world), world.store.rows("reconBreaks")], [[], []])
  })
})

/** Clients with a position at the venue that the service lacks; `account` answers the reads of snapshots. */
const unknownPositions = (clients: ReadonlyArray<number>) => {
  const always: (of: string) => Effect.Effect<void, VenueUnanswered> = () => Effect.void
  const reads = { count: 0, answer: always }
  const world = new CallWorld(
    () => ({}),
    (venue) => ({
      ...venue,
      account: (of) =>
        Effect.suspend(() => {
          reads.count++
          return Effect.andThen(
            reads.answer(of),
            Effect.map(venue.account(of), (found) =>
              found === null ? found : { ...found, orders: [], positions: [{ symbol: "BTC-USDC-PERP", netQty: "1" }] }
            )
          )
        })
    })
  )
  const process = world.launch()
  for (const id of clients) process.probe(id, 1)
  world.run(5_000)
  const comparison = comparing(world, process)
  reads.count = 0
  return {
    world,
    reads,
    all: () => process.run(comparison.compareAll()),
    one: () => process.run(comparison.compare(account))
  }
}
const tenTimes = "an account could not be compared in full ten times in a row"
const tenfold = (world: CallWorld) => world.errors.filter((line) => line.startsWith(tenTimes))

describe("A2-103: a venue that does not answer the read of an account's snapshot", () => {
  const late = Effect.delay(unanswered, "8 seconds")

  it("names the account, compares the others, and compares the account as soon as it answers", () => {
    const { world, reads, all } = unknownPositions([6, 7, 8])
    reads.answer = (of) => (of === account ? unanswered : Effect.void)
    const read = all()
    world.run(15_000)
    assert.deepStrictEqual(
      Exit.map(read.exit ?? Exit.die("pending"), ({ accounts, differences }) => [accounts, differences.at(-1)]),
      Exit.succeed([2, `The venue has not answered reads of accounts; not compared: ${account}.`])
    )
    assert.lengthOf(alarms(world), 2)
    reads.answer = () => Effect.void
    world.run(minute + 10_000)
    assert.lengthOf(alarms(world), 3)
  })

  it("ten times in a row is an alarm, once, and the account is still compared each minute", () => {
    const { world, reads, one } = unknownPositions([7])
    reads.answer = () => unanswered
    const read = one()
    world.run((waitsMost + 5) * minute)
    assert.strictEqual(read.exit?._tag, "Failure")
    assert.lengthOf(tenfold(world), 1)
    reads.answer = () => Effect.void
    world.run(minute + 10_000)
    assert.lengthOf(alarms(world), 1)
  })

  it("is not queried for every account: after 8 unanswered reads in a row the other accounts wait a minute", () => {
    const clients = Array.from({ length: 60 }, (_, n) => n + 1)
    const { world, reads, all } = unknownPositions(clients)
    reads.answer = () => late
    const read = all()
    world.run(20_000)
    assert.strictEqual(read.exit?._tag, "Failure")
    assert.isAtMost(reads.count, 16)
    reads.answer = () => Effect.void
    world.run(3 * minute)
    assert.lengthOf(alarms(world), 60)
  })
})

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
