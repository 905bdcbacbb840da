/** The guarantees of a journal about order and ownership: a part of journalConformance.ts. */
import { assert, beforeEach, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { type Journal, journalQueueLimit, type Outcome } from "../../../src/runtime/engine/journal/Journal.ts"
import { storedChainBreak } from "./chain.ts"
import {
  auditRow,
  clientCommit,
  commitOf,
  eventRow,
  sampleRows,
  submit,
  submitAll,
  tags,
  transaction
} from "./fixtures.ts"
import type { JournalBench } from "./JournalBench.ts"

/** Order of outcomes and ids, event numbers, audit chain. */
export const orderTests = (current: () => JournalBench) => () => {
  let bench: JournalBench
  beforeEach(() => {
    bench = current()
  })

  it("outcomes come in the order of submission, ids rise in it, however commits are spread over batches", async () => {
    const told: Array<number> = []
    const ids: Array<number> = []
    await Promise.all(
      Array.from({ length: 700 }, async (_, index) => {
        if (index % 97 === 0) await Promise.resolve()
        const id = bench.journal.nextId("notification")
        ids.push(id)
        const commit = commitOf({ rows: { notifications: [{ ...sampleRows(1).notifications, id }] } })
        return new Promise<void>((resolve) =>
          bench.journal.submit(commit, () => {
            told.push(id)
            resolve()
          })
        )
      })
    )
    assert.deepStrictEqual(told, ids)
    assert.deepStrictEqual(
      ids,
      [...ids].sort((a, b) => a - b)
    )
    assert.strictEqual(new Set(ids).size, 700)
    assert.strictEqual((await bench.rows("notifications")).length, 700)
    assert.isAtMost(Math.max(...bench.journal.batchSizes()), 256)
  })

  it("event numbers are gap-free per partner, under interleaving and after failures", async () => {
    const commits: Array<Commit> = []
    for (let id = 1; id <= 120; id++) {
      const partner = (id % 3) + 1
      const rows = { events: [eventRow(partner, id), eventRow(partner, id)] }
      // Every seventh commit is fenced, every eleventh unbalanced. Neither may leave a gap.
      if (id % 7 === 0) commits.push(clientCommit(id, 5, { rows }))
      else if (id % 11 === 0) commits.push(clientCommit(id, null, { rows: { ...rows, ...transaction(id, 5n, 1n) } }))
      else commits.push(clientCommit(id, null, { rows }))
    }
    const outcomes = await submitAll(bench.journal, commits)
    const committed = commits.filter((_, index) => outcomes[index]?._tag === "Committed")
    assert.isBelow(committed.length, 120)
    const events = await bench.rows("events")
    for (const partner of [1, 2, 3]) {
      const own = events.filter((event) => event.partnerId === partner).sort((a, b) => a.seq - b.seq)
      assert.deepStrictEqual(
        own.map((event) => event.seq),
        own.map((_, index) => index + 1)
      )
      const expected = committed.flatMap((commit) => (commit.rows.events ?? []).filter((e) => e.partnerId === partner))
      assert.deepStrictEqual(
        own.map((event) => event.clientId),
        expected.map((event) => event.clientId)
      )
    }
  })

  it("the chain is whole in id order, after refused commits and under a second owner too", async () => {
    const audited = (id: number, token: number | null, journal: Journal["Service"]) =>
      clientCommit(id, token, {
        rows: { audit: [auditRow(journal.nextId("audit"), "a"), auditRow(journal.nextId("audit"), "b")] }
      })
    await submitAll(
      bench.journal,
      [1, 2, 3].map((id) => audited(id, id === 2 ? 4 : null, bench.journal))
    )
    const second = await bench.another()
    await submitAll(
      second,
      [4, 5].map((id) => audited(id, null, second))
    )
    const rows = [...(await bench.rows("audit"))].sort((a, b) => a.id - b.id)
    assert.strictEqual(rows.length, 8)
    assert.isNull(await storedChainBreak((table) => bench.rows(table)))
  })

  it("rows written in another order than their ids were taken are sealed in the order of the ids", async () => {
    const { journal } = bench
    const ids = [journal.nextId("audit"), journal.nextId("audit"), journal.nextId("audit")] as const
    const rows = { audit: [auditRow(ids[2], "c"), auditRow(ids[0], "a"), auditRow(ids[1], "b")] }
    assert.deepStrictEqual(await submitAll(journal, [clientCommit(1, null, { rows })]), [{ _tag: "Committed" }])
    assert.isNull(await storedChainBreak((table) => bench.rows(table)))
  })

  it("nextId never repeats, not in another process either", async () => {
    const second = await bench.another()
    const ids = Array.from({ length: 200 }, () => [bench.journal.nextId("client"), second.nextId("client")]).flat()
    assert.strictEqual(new Set(ids).size, 400)
    assert.isTrue(ids.every((id) => Number.isSafeInteger(id) && id >= 1))
  })
}

/** Queue limit, drain, and a take-over by another process. */
export const ownerTests = (current: () => JournalBench) => () => {
  let bench: JournalBench
  beforeEach(() => {
    bench = current()
  })
  const submitHere = (commit: Commit) => submit(bench.journal, commit)

  it("a full queue refuses more with Unavailable and takes what it accepted", async () => {
    const outcomes = Array.from({ length: journalQueueLimit + 500 }, () => submitHere(commitOf({})))
    assert.isFalse(bench.journal.accepting())
    const all = await Promise.all(outcomes)
    const refused = all.filter((outcome) => outcome._tag === "Unavailable")
    assert.strictEqual(refused.length, 500)
    assert.deepStrictEqual(refused[0], { _tag: "Unavailable", unknown: false })
    assert.deepStrictEqual(new Set(tags(all.slice(0, journalQueueLimit))), new Set(["Committed"]))
    assert.isTrue(bench.journal.accepting())
  })

  it("decision 14: a full queue lets internal commits in, behind what waits", async () => {
    const order: Array<string> = []
    const waiting = Array.from({ length: journalQueueLimit }, (_, n) =>
      submitHere(commitOf({})).then((outcome) => order.push(`${n} ${outcome._tag}`))
    )
    assert.deepStrictEqual([bench.journal.accepting(), bench.journal.accepting("internal")], [false, true])
    const outcome = await new Promise<Outcome>((resolve) =>
      bench.journal.submit(clientCommit(1, null), resolve, "internal")
    )
    assert.strictEqual(outcome._tag, "Committed")
    assert.strictEqual(order.at(-1), `${journalQueueLimit - 1} Committed`)
    await Promise.all(waiting)
  })

  it("drain waits for every submitted commit", async () => {
    let told = 0
    for (let id = 1; id <= 300; id++) bench.journal.submit(clientCommit(id, null), () => told++)
    await Effect.runPromise(bench.journal.drain)
    assert.strictEqual(told, 300)
    await Effect.runPromise(bench.journal.drain)
  })

  it("a second writer takes over: the first learns it once and writes nothing more", async () => {
    let stops = 0
    bench.journal.onUsurped(() => stops++)
    await submitHere(clientCommit(1, null))
    const owns = (journal: JournalBench["journal"]) => Effect.runPromise(journal.owns)
    assert.isTrue(await owns(bench.journal))
    assert.isTrue(Number.isFinite(bench.journal.ownedAt()))
    const second = await bench.another()
    assert.deepStrictEqual([await owns(bench.journal), await owns(second)], [false, true])
    assert.strictEqual((await submit(second, clientCommit(2, null)))._tag, "Committed")
    const late = await submitAll(bench.journal, [clientCommit(1, 1), clientCommit(3, null)])
    assert.deepStrictEqual(late, [
      { _tag: "Unavailable", unknown: false },
      { _tag: "Unavailable", unknown: false }
    ])
    assert.strictEqual(bench.journal.ownedAt(), -Infinity)
    assert.strictEqual(stops, 1)
    assert.isFalse(bench.journal.accepting())
    assert.strictEqual((await submitHere(clientCommit(4, null)))._tag, "Unavailable")
    const refusedLoad = await Effect.runPromise(Effect.flip(bench.journal.load(["client:1"])))
    assert.strictEqual(refusedLoad._tag, "JournalUnavailable")
    assert.strictEqual((await submit(second, clientCommit(1, 1)))._tag, "Committed")
    assert.strictEqual((await bench.rows("balances")).length, 2)
    assert.strictEqual(stops, 1)
  })
}
