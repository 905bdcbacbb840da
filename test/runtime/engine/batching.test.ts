/** takeBatch and stampBatch as properties: the commits of a batch, their order, and their numbers. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { claimNames, type Commit, maxCommitRows, rowsOf } from "../../../src/runtime/engine/journal/Commit.ts"
import { batchLimit, batchRowLimit, internalBatchRows, type Lane } from "../../../src/runtime/engine/journal/Journal.ts"
import { internalRows } from "../../../src/runtime/engine/mailbox/InternalLane.ts"
import { sealGenesis, sealRows } from "../../../src/runtime/engine/sealing/seal.ts"
import { type Counters, stampBatch } from "../../../src/runtime/engine/journal/stamp.ts"
import { takeBatch, type Waiting } from "../../../src/runtime/engine/journal/takeBatch.ts"
import { auditRow, commitOf, eventRow, sampleRows } from "./fixtures.ts"

const few = (max: number) => fc.integer({ min: 1, max })
const maybe = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: null, freq: 3 })

/** Commits that collide often: few subjects, facts, timers and partners. */
const commits: fc.Arbitrary<Commit> = fc
  .record({
    subject: maybe(few(40)),
    claim: maybe(few(30)),
    release: maybe(few(30)),
    answer: maybe(few(30)),
    timer: maybe(few(30)),
    cleared: maybe(few(30)),
    partner: maybe(few(3)),
    changed: fc.option(few(3), { nil: null, freq: 1 }),
    events: fc.array(few(3), { maxLength: 3 }),
    audits: fc.array(few(1_000), { maxLength: 2 })
  })
  .map((made) =>
    commitOf({
      fence: made.subject === null ? null : { subject: `client:${made.subject}`, expected: 1 },
      ...(made.partner === null ? {} : { partner: { partnerId: made.partner, epoch: 0 } }),
      claims: made.claim === null ? [] : [{ name: `email:${made.claim}`, owner: 1 }],
      releases: made.release === null ? [] : [`email:${made.release}`],
      clearedTimers: made.cleared === null ? [] : [{ subject: `client:${made.cleared}`, name: "t" }],
      rows: {
        ...(made.answer === null ? {} : { answers: [sampleRows(made.answer).answers] }),
        ...(made.timer === null ? {} : { timers: [{ subject: `client:${made.timer}`, name: "t", dueAt: 1 }] }),
        ...(made.changed === null ? {} : { partners: [sampleRows(made.changed).partners] }),
        events: made.events.map((partner) => eventRow(partner, null)),
        audit: made.audits.map((id) => auditRow(id, "act"))
      }
    })
  )

const waitingFor = (list: ReadonlyArray<Commit>): Array<Waiting> =>
  list.map((commit) => ({ commit, done: () => undefined, defects: assert.fail }))

/** The facts of a commit that no other commit of its batch may touch. */
const exclusive = (commit: Commit): ReadonlyArray<string> => [
  ...new Set([
    ...(commit.fence === null ? [] : [`subject ${commit.fence.subject}`]),
    ...claimNames(commit),
    ...commit.releases,
    ...[...(commit.rows.timers ?? []), ...commit.clearedTimers].map((timer) => `timer ${timer.subject} ${timer.name}`)
  ])
]

/** Whether `next` may join a batch of `before`, by a slow definition. */
const mayJoin = (before: ReadonlyArray<Commit>, next: Commit): boolean =>
  before.every(
    (earlier) =>
      exclusive(earlier).every((fact) => !exclusive(next).includes(fact)) &&
      !(earlier.rows.partners ?? []).some((partner) => partner.id === next.partner?.partnerId)
  )

const cut = (list: ReadonlyArray<Commit>): ReadonlyArray<ReadonlyArray<Waiting>> => {
  const queue = waitingFor(list)
  const batches: Array<ReadonlyArray<Waiting>> = []
  while (queue.length > 0) batches.push(takeBatch(queue))
  return batches
}

describe("takeBatch", () => {
  it("first in, first out: consecutive batches are the queue, each with at least one commit", () => {
    fc.assert(
      fc.property(fc.array(commits, { maxLength: 60 }), (list) => {
        const batches = cut(list)
        assert.deepStrictEqual(
          batches.flat().map((waiting) => waiting.commit),
          list
        )
        assert.isTrue(batches.every((batch) => batch.length >= 1))
      })
    )
  })

  it("a batch ends exactly where the next commit has to see an earlier commit of the batch", () => {
    fc.assert(
      fc.property(fc.array(commits, { minLength: 1, maxLength: 60 }), (list) => {
        const batches = cut(list).map((batch) => batch.map((waiting) => waiting.commit))
        for (const [index, batch] of batches.entries()) {
          for (let at = 1; at < batch.length; at++)
            assert.isTrue(mayJoin(batch.slice(0, at), batch[at] as Commit), "a commit that had to wait")
          const next = batches[index + 1]?.[0]
          if (next !== undefined) assert.isFalse(mayJoin(batch, next), "a commit that could have joined")
        }
      })
    )
  })

  it("a batch holds at most the limit", () => {
    const sizes = cut(Array.from({ length: batchLimit * 2 + 1 }, () => commitOf({}))).map((batch) => batch.length)
    assert.deepStrictEqual(sizes, [batchLimit, batchLimit, 1])
  })

  it("a batch holds half of the internal commits that the lane admits: the other half is decided meanwhile", () => {
    assert.strictEqual(2 * internalBatchRows, internalRows)
    const rows = Array.from({ length: 100 }, (_, id) => auditRow(id, "act"))
    const of = (lane: Lane) => waitingFor([commitOf({ rows: { audit: rows } })]).map((each) => ({ ...each, lane }))
    const queue = Array.from({ length: 12 }, () => of("internal")).flat()
    queue.splice(1, 0, ...of("callers"))
    const sizes: Array<number> = []
    while (queue.length > 0) sizes.push(takeBatch(queue).length)
    assert.deepStrictEqual(sizes, [11, 2])
  })

  it("a batch has a limit of rows; a commit with more rows is a batch of its own", () => {
    const sized = fc.integer({ min: 1, max: maxCommitRows }).map((rows) =>
      commitOf({
        claims: [{ name: `email:${rows}`, owner: 1 }],
        rows: { audit: Array.from({ length: rows - 1 }, (_, id) => auditRow(id, "act")) }
      })
    )
    fc.assert(
      fc.property(fc.array(sized, { minLength: 1, maxLength: 8 }), (list) => {
        const batches = cut(list).map((batch) => batch.map(({ commit }) => rowsOf(commit)))
        const sum = (rows: ReadonlyArray<number>) => rows.reduce((all, each) => all + each, 0)
        for (const [at, batch] of batches.entries()) {
          assert.isTrue(batch.length === 1 || sum(batch) <= batchRowLimit, "a batch that is too large")
          const next = batches[at + 1]?.[0]
          const meets = cut(list)[at]?.some(({ commit }) => commit.claims[0]?.name === `email:${next}`)
          if (next !== undefined && meets !== true)
            assert.isAbove(sum(batch) + next, batchRowLimit, "a commit that could have joined")
        }
      }),
      { numRuns: 30 }
    )
  })
})

describe("stampBatch", () => {
  const start: Counters = { seqs: new Map([[1, 41]]), seal: sealGenesis }

  it("numbers have no gap per partner and the chain is complete, however commits are divided into batches", () => {
    fc.assert(
      fc.property(fc.array(commits, { maxLength: 40 }), fc.array(few(10)), (list, lengths) => {
        const whole = stampBatch(list, start)
        let counters = start
        const events: Array<unknown> = []
        let seals = 0
        let rest = list
        while (rest.length > 0) {
          const length = lengths.shift() ?? rest.length
          const part = stampBatch(rest.slice(0, length), counters)
          counters = part.counters
          events.push(...part.events)
          seals += part.seal === null ? 0 : 1
          rest = rest.slice(length)
        }
        assert.deepStrictEqual<unknown>(events, whole.events)
        assert.strictEqual(counters.seal.number, seals)
        assert.strictEqual(counters.seal.auditTo, whole.counters.seal.auditTo)
        for (const partner of [1, 2, 3]) {
          const first = start.seqs.get(partner) ?? 0
          const own = whole.events.filter((event) => event.partnerId === partner).map((event) => event.seq)
          assert.deepStrictEqual(
            own,
            own.map((_, index) => first + index + 1)
          )
          assert.strictEqual(whole.counters.seqs.get(partner) ?? 0, first + own.length)
        }
      })
    )
  })

  it("a lost batch leaves the counters as they were", () => {
    fc.assert(
      fc.property(fc.array(commits, { maxLength: 10 }), (list) => {
        const before = [...start.seqs]
        assert.deepStrictEqual(stampBatch(list, start), stampBatch(list, start))
        assert.deepStrictEqual([...start.seqs], before)
      })
    )
  })

  it("a seal covers every column of every row, their order, their table and the previous seal", () => {
    const { audit, decisions, ledgerTransactions, postings, interfirmRecords, custodyChanges } = sampleRows(1)
    const rows = {
      audit: [audit, { ...audit, id: 2 }],
      decisions: [decisions],
      ledgerTransactions: [ledgerTransactions],
      postings: [postings, { ...postings, postingId: 2 }],
      interfirmRecords: [{ ...interfirmRecords, note: "first" }],
      custodyChanges: [custodyChanges]
    }
    const { hash } = sealRows(sealGenesis, rows)
    const differs = (changed: object, what: string) =>
      assert.notStrictEqual(sealRows(sealGenesis, { ...rows, ...changed }).hash, hash, what)
    for (const [table, list] of Object.entries(rows)) {
      const [first, ...rest] = list as ReadonlyArray<object> as ReadonlyArray<Readonly<Record<string, unknown>>>
      for (const [column, value] of Object.entries(first ?? {})) {
        const other =
          typeof value === "string"
            ? `${value}x`
            : typeof value === "bigint"
              ? value + 1n
              : typeof value === "number"
                ? value + 1
                : { other: 1 }
        differs({ [table]: [{ ...first, [column]: other }, ...rest] }, `${table}.${column}`)
      }
      differs({ [table]: [] }, `${table} gone`)
    }
    differs({ audit: rows.audit.toReversed() }, "order")
    assert.notStrictEqual(sealRows({ ...sealGenesis, hash: "f".repeat(64) }, rows).hash, hash)
    assert.deepStrictEqual(sealRows(sealGenesis, {}), sealGenesis)
    // Seals from before a table joined the chain still hold: a table without rows adds nothing.
    const { interfirmRecords: _, custodyChanges: __, ...older } = rows
    const { hash: old } = sealRows(sealGenesis, older)
    assert.strictEqual(old, "f588b8d6b8ef9842d2653e76348e07b3017a620d895a185af750a01e69b01371")
    assert.strictEqual(sealRows(sealGenesis, { ...older, interfirmRecords: [], custodyChanges: [] }).hash, old)
  })
})
