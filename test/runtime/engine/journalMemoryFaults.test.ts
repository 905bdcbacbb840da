/**
 * The faults of JournalMemory, in virtual time: a lost batch is resolved as in JournalPg, nothing is lost or doubled
 * under any faults, and equal seeds give equal runs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import type { Journal, Outcome } from "../../../src/runtime/engine/journal/Journal.ts"
import {
  type BatchFault,
  type JournalMemoryOptions,
  makeJournalMemory
} from "../../../src/runtime/engine/journal/JournalMemory.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import { chainBreak } from "./chain.ts"
import { auditRow, clientCommit, eventRow } from "./fixtures.ts"

type JournalShape = Journal["Service"]

/** Tasks by due time, run on demand; tasks of equal time in the order of scheduling. */
const makeTimeline = () => {
  const tasks: Array<{ readonly at: number; readonly order: number; readonly task: () => void }> = []
  let now = 0
  let order = 0
  return {
    now: () => now,
    schedule: (task: () => void, delayMillis: number) =>
      void tasks.push({ at: now + delayMillis, order: order++, task }),
    /** Runs the due tasks up to `until`, in order. */
    run: (until = Number.POSITIVE_INFINITY) => {
      for (let steps = 0; ; steps++) {
        assert.isBelow(steps, 100_000)
        const next = tasks.sort((a, b) => a.at - b.at || a.order - b.order)[0]
        if (next === undefined || next.at > until) break
        tasks.shift()
        now = next.at
        next.task()
      }
      now = Math.max(now, Math.min(until, Number.MAX_SAFE_INTEGER))
    }
  }
}

const open = (options: Omit<JournalMemoryOptions, "store" | "schedule">, store = new MemoryStore()) => {
  const timeline = makeTimeline()
  const journal = makeJournalMemory({ ...options, store, schedule: timeline.schedule })
  return { store, timeline, journal }
}

/** Faults in the order of the batches; none after the last. */
const script = (...faults: ReadonlyArray<BatchFault | null>) => {
  const left = [...faults]
  return () => left.shift() ?? null
}

interface Told {
  outcome: Outcome | null
  /** The second outcome after an unknown one: the commit is stored. */
  late: boolean
}

const put = (journal: JournalShape, id: number, token: number | null): Told => {
  const told: Told = { outcome: null, late: false }
  const rows = { events: [eventRow(1, id)], audit: [auditRow(journal.nextId("audit"), "act")] }
  journal.submit(clientCommit(id, token, { rows }), (outcome) => {
    if (isSecondWord(told.outcome, outcome)) told.late = true
    else {
      assert.isNull(told.outcome, "told twice")
      told.outcome = outcome
    }
  })
  return told
}

/** Only an unknown outcome may be followed by another one, and only by Committed. */
const isSecondWord = (first: Outcome | null, outcome: Outcome): boolean =>
  first?._tag === "Unavailable" && first.unknown && outcome._tag === "Committed"

const tagOf = (told: { readonly outcome: Outcome | null }) => told.outcome?._tag

const tokenOf = (store: MemoryStore, id: number) => store.image(`client:${id}`).token ?? 0

describe("faults", () => {
  it("a commit that needs a row that another holder has locked is refused; the others of its batch are written", () => {
    let held = true
    const { store, timeline, journal } = open({
      faults: { held: ({ fence }) => held && fence?.subject === "client:2" }
    })
    const told = [1, 2, 3].map((id) => put(journal, id, null))
    timeline.run()
    assert.deepStrictEqual(
      told.map(({ outcome }) => outcome),
      [{ _tag: "Committed" }, { _tag: "Unavailable", unknown: false }, { _tag: "Committed" }]
    )
    held = false
    const again = put(journal, 2, null)
    timeline.run()
    assert.deepStrictEqual(again.outcome, { _tag: "Committed" })
    assert.strictEqual(store.image("client:2").token, 1)
  })

  it("latency: the outcome arrives after the latency", () => {
    const { timeline, journal } = open({ faults: { batch: script({ latencyMillis: 40 }) } })
    const told = put(journal, 1, null)
    timeline.run(39)
    assert.isNull(told.outcome)
    timeline.run(40)
    assert.deepStrictEqual(told.outcome, { _tag: "Committed" })
  })

  for (const lost of ["before-commit", "after-commit"] as const) {
    it(`lost ${lost}, back soon: Committed, written once, and so are the commits queued behind it`, () => {
      const { timeline, journal, store } = open({ faults: { batch: script({ lost, awayMillis: 100 }) } })
      const first = put(journal, 1, null)
      const second = put(journal, 1, 1)
      timeline.run(99)
      assert.isFalse(journal.accepting())
      assert.isNull(first.outcome)
      timeline.run()
      assert.deepStrictEqual([tagOf(first), tagOf(second)], ["Committed", "Committed"])
      assert.strictEqual(tokenOf(store, 1), 2)
      assert.deepStrictEqual(
        store.rows("events").map((event) => event.seq),
        [1, 2]
      )
    })

    it(`lost ${lost}, away longer than the service waits: unknown for the batch, known for the queue, then the true outcome`, () => {
      const { timeline, journal, store } = open({
        faults: { batch: script({ lost, awayMillis: 500 }) },
        patienceMillis: 200
      })
      const first = put(journal, 1, null)
      const second = put(journal, 1, 1)
      timeline.run(199)
      assert.isNull(first.outcome)
      timeline.run(200)
      assert.deepStrictEqual(first.outcome, { _tag: "Unavailable", unknown: true })
      assert.deepStrictEqual(second.outcome, { _tag: "Unavailable", unknown: false })
      assert.deepStrictEqual(put(journal, 2, null).outcome, { _tag: "Unavailable", unknown: false })
      timeline.run(500)
      assert.isTrue(journal.accepting())
      assert.strictEqual(tokenOf(store, 1), lost === "after-commit" ? 1 : 0)
    })
  }

  it("a batch lost after commit that contains a refused commit: that commit gets its refusal, the others are in doubt", () => {
    const { timeline, journal } = open({
      faults: { batch: script(null, { lost: "after-commit", awayMillis: 500 }) },
      patienceMillis: 100
    })
    put(journal, 1, null)
    timeline.run()
    const stale = put(journal, 1, 7)
    const good = put(journal, 2, null)
    timeline.run()
    assert.deepStrictEqual(stale.outcome, { _tag: "Fenced" })
    assert.deepStrictEqual(good.outcome, { _tag: "Unavailable", unknown: true })
  })

  it("away: loads and commits are refused until the store is back, and it comes back by itself", async () => {
    let away = false
    const { timeline, journal, store } = open({ faults: { away: () => away }, patienceMillis: 100 })
    away = true
    const told = put(journal, 1, null)
    timeline.run(1_000)
    assert.deepStrictEqual(told.outcome, { _tag: "Unavailable", unknown: true })
    const load = Effect.runPromise(Effect.flip(journal.load(["client:1"])))
    timeline.run(1_010)
    assert.strictEqual((await load)._tag, "JournalUnavailable")
    away = false
    timeline.run(2_000)
    assert.isTrue(journal.accepting())
    assert.strictEqual(tokenOf(store, 1), 0)
  })

  it("another process takes over while the outcome is unknown: callers are answered that it is unknown", () => {
    const { timeline, journal, store } = open({
      owner: "first",
      faults: { batch: script({ lost: "after-commit", awayMillis: 100 }) }
    })
    let stops = 0
    journal.onUsurped(() => stops++)
    const told = put(journal, 1, null)
    timeline.run(50)
    makeJournalMemory({ store, owner: "second", schedule: timeline.schedule })
    timeline.run()
    assert.deepStrictEqual(told.outcome, { _tag: "Unavailable", unknown: true })
    assert.strictEqual(tokenOf(store, 1), 1)
    assert.strictEqual(stops, 1)
    assert.isFalse(journal.accepting())
  })

  it("an idle journal notices that it was replaced", () => {
    const { timeline, journal, store } = open({ owner: "first" })
    let stops = 0
    journal.onUsurped(() => stops++)
    makeJournalMemory({ store, owner: "second", schedule: timeline.schedule })
    timeline.run()
    assert.strictEqual(stops, 1)
    assert.isFalse(journal.accepting())
  })
})

const faults: fc.Arbitrary<BatchFault | null> = fc.option(
  fc.record(
    {
      latencyMillis: fc.nat(30),
      lost: fc.constantFrom("before-commit" as const, "after-commit" as const),
      awayMillis: fc.nat(400)
    },
    { requiredKeys: [] }
  ),
  { nil: null }
)

/** Clients that write continuously under scripted faults. Returns their outcomes and the stored rows. */
const simulate = (scripted: ReadonlyArray<BatchFault | null>, clients: number, rounds: number) => {
  const { timeline, journal, store } = open({ faults: { batch: script(...scripted) }, patienceMillis: 100 })
  const told: Array<string> = []
  for (let round = 0; round < rounds; round++) {
    for (let id = 1; id <= clients; id++) {
      const before = tokenOf(store, id)
      const rows = { events: [eventRow((id % 2) + 1, id)], audit: [auditRow(journal.nextId("audit"), "act")] }
      let first: Outcome | null = null
      journal.submit(clientCommit(id, before === 0 ? null : before, { rows }), (outcome) => {
        if (isSecondWord(first, outcome)) return assert.strictEqual(tokenOf(store, id), before + 1)
        first = outcome
        told.push(`${timeline.now()} ${id} ${outcome._tag}`)
        const after = tokenOf(store, id)
        if (outcome._tag === "Committed") assert.strictEqual(after, before + 1)
        else if (outcome._tag === "Unavailable" && !outcome.unknown) assert.strictEqual(after, before)
        else assert.strictEqual(outcome._tag, "Unavailable")
      })
    }
    timeline.run()
    assert.isTrue(journal.accepting())
  }
  assert.strictEqual(told.length, clients * rounds)
  return { told, store }
}

describe("under any faults", () => {
  it("every caller gets one true answer; events have no gap and the chain is complete; runs repeat exactly", () => {
    fc.assert(
      fc.property(fc.array(faults, { maxLength: 25 }), fc.integer({ min: 1, max: 6 }), (scripted, clients) => {
        const { told, store } = simulate(scripted, clients, 8)
        for (const partner of [1, 2]) {
          const seqs = store.rows("events").flatMap((event) => (event.partnerId === partner ? [event.seq] : []))
          assert.deepStrictEqual(
            seqs,
            seqs.map((_, index) => index + 1)
          )
        }
        assert.isNull(chainBreak((table) => store.rows(table)))
        assert.deepStrictEqual(simulate(scripted, clients, 8).told, told)
      })
    )
  })
})
