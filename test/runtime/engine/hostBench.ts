/** A host over a memory journal that the test can hold, change and observe. */
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { type Facts, noFacts } from "../../../src/machines/market/Facts.ts"
import { ActorHost, type Command, type DispatchError } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import type { Commit, SubjectKey } from "../../../src/runtime/engine/journal/Commit.ts"
import { Journal, JournalUnavailable, type Outcome } from "../../../src/runtime/engine/journal/Journal.ts"
import { makeJournalMemory } from "../../../src/runtime/engine/journal/JournalMemory.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { keyOf } from "../../../src/runtime/tables/Catalogue.ts"
import { layerTestLogs } from "../../support/testLogs.ts"
import { balance } from "./fixtures.ts"

export const by = { role: "PARTNER", keyLabel: "main", requestId: "req-1", actor: "partner:X" }

export interface HostBench {
  readonly host: ActorHost["Service"]
  readonly store: MemoryStore
  /** Commits that the journal received, in order. */
  readonly submitted: ReadonlyArray<Commit>
  /** Subjects of each load. */
  readonly loads: ReadonlyArray<ReadonlyArray<SubjectKey>>
  /** True for commits whose answer is delayed until `release`. */
  hold: (commit: Commit) => boolean
  /** Replaces the outcome that the host gets. */
  bend: (commit: Commit, outcome: Outcome) => Outcome
  accepting: () => boolean
  loadFails: () => boolean
  nextId: (() => number) | null
  /** The market facts that each decision gets. */
  market: () => Facts
  readonly held: () => number
  readonly release: () => void
  readonly close: () => Promise<void>
}

/** `residentLimit`: idle subjects kept in memory. */
export const openHost = async (residentLimit = 1_000): Promise<HostBench> => {
  const store = new MemoryStore()
  const inner = makeJournalMemory({ store })
  const submitted: Array<Commit> = []
  const loads: Array<ReadonlyArray<SubjectKey>> = []
  const kept: Array<() => void> = []
  const journal: Journal["Service"] = {
    ...inner,
    accepting: (lane) => bench.accepting() && inner.accepting(lane),
    certain: () => bench.accepting() && inner.certain(),
    nextId: (kind) => bench.nextId?.() ?? inner.nextId(kind),
    load: (subjects) => {
      loads.push(subjects)
      return bench.loadFails() ? Effect.fail(new JournalUnavailable({ reason: "test" })) : inner.load(subjects)
    },
    submit: (commit, done, lane) => {
      submitted.push(commit)
      if (!bench.accepting()) return done({ _tag: "Unavailable", unknown: false })
      const heard = (outcome: Outcome): void => {
        const told = bench.bend(commit, outcome)
        if (bench.hold(commit)) kept.push(() => done(told))
        else done(told)
      }
      inner.submit(commit, heard, lane)
    }
  }
  const scope = await Effect.runPromise(Scope.make())
  const layer = ActorHost.layer({ residentLimit, facts: () => bench.market() }).pipe(
    Layer.provide(Layer.succeed(Journal, journal)),
    Layer.provide(BusinessClock.layer(0)),
    Layer.provide(layerTestLogs)
  )
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const bench: HostBench = {
    host: Context.get(context, ActorHost),
    store,
    submitted,
    loads,
    hold: () => false,
    bend: (_, outcome) => outcome,
    accepting: () => true,
    loadFails: () => false,
    nextId: null,
    market: () => noFacts,
    held: () => kept.length,
    release: () => {
      bench.hold = () => false
      for (const go of kept.splice(0)) go()
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
  return bench
}

/** Adds one to the client's cash. Returns the new value. */
export const increment = (id: number, parts: Partial<Command<bigint>> = {}): Command<bigint> => ({
  subject: `client:${id}`,
  by,
  decide: ({ state, draft }) => {
    const cash = (state.get("balances", keyOf("balances", balance(id, 0n)))?.cash ?? 0n) + 1n
    draft.put("balances", balance(id, cash))
    return cash
  },
  ...parts
})

/** Reads without a write. */
export const look = (id: number): Command<bigint> => ({
  subject: `client:${id}`,
  by,
  decide: ({ state }) => state.one("balances")?.cash ?? 0n
})

/** Polls a fact, one turn of the event loop at a time; gives up after many. */
export const until = async (fact: () => boolean): Promise<void> => {
  for (let turn = 0; turn < 10_000; turn++) {
    if (fact()) return
    await new Promise(setImmediate)
  }
  throw new Error("the awaited fact did not come")
}

export const failureOf = <A>(effect: Effect.Effect<A, DispatchError>): Promise<DispatchError> =>
  Effect.runPromise(Effect.flip(effect))
