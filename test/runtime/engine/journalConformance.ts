/**
 * The promises of a journal (architecture section 4, Journal), as one suite that every implementation passes:
 * journalMemory.test.ts and journalPg.test.ts run it.
 */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Commit, CommitBuilder, type SubjectKey } from "../../../src/runtime/engine/journal/Commit.ts"
import {
  catalogue,
  type CommitRows,
  keyOf,
  type TableName,
  tableNames,
  type Tables
} from "../../../src/runtime/tables/Catalogue.ts"
import type { SubjectImage } from "../../../src/runtime/engine/journal/Journal.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import type { PartnerRow } from "../../../src/runtime/tables/partner.ts"
import type { DeliveryRow } from "../../../src/runtime/tables/webhook.ts"
import { expectLog } from "../../support/expectLog.ts"
import { balance, clientCommit, commitOf, noon, sampleRows, submit, submitAll, tags, transaction } from "./fixtures.ts"
import type { JournalBench } from "./JournalBench.ts"
import { idTests } from "./journalIds.ts"
import { orderTests, ownerTests } from "./journalOrder.ts"

let bench: JournalBench
const load = (subject: SubjectKey): Promise<SubjectImage> =>
  Effect.runPromise(bench.journal.load([subject])).then((images) => images.get(subject) as SubjectImage)
const submitHere = (commit: Commit) => submit(bench.journal, commit)

export const journalConformance = (name: string, open: () => Promise<JournalBench>): void => {
  describe(`${name}: the promises of a journal`, () => {
    beforeEach(async () => {
      bench = await open()
    })
    afterEach(() => bench.close())
    describe("rows", rowTests)
    describe("guards", guardTests)
    describe("refused data", refusalTests)
    describe(
      "order",
      orderTests(() => bench)
    )
    describe(
      "owners",
      ownerTests(() => bench)
    )
    describe(
      "ids",
      idTests(() => bench)
    )
  })
}

const rowTests = () => {
  it("commit and load round trip of every table, filled and with its nullable columns empty", async () => {
    const filled = sampleRows(10)
    const empty = emptied(sampleRows(11))
    // Postings come in balanced pairs, which replace those of the samples.
    const rowsOf = (rows: { readonly [T in TableName]: Tables[T] }, id: number) => ({
      ...Object.fromEntries(tableNames.map((table) => [table, [rows[table]]])),
      ...transaction(id, 9_007_199_254_740_993n)
    })
    for (const [id, rows] of [
      [10, filled],
      [11, empty]
    ] as const) {
      for (const fence of [`client:${id}`, `partner:${id}`, ...(id === 10 ? ["system"] : [])]) {
        const only = fence.startsWith("client") ? rowsOf(rows, id) : {}
        assert.deepStrictEqual(
          (await submitHere(commitOf({ fence: { subject: fence, expected: null }, rows: only })))._tag,
          "Committed"
        )
      }
    }
    for (const table of tableNames) {
      const stored = await bench.rows(table)
      const given = table === "events" ? { seq: 0 } : {}
      const key = catalogue[table].key[0] as keyof (typeof stored)[number]
      const found = stored.map((row) => ({ ...row, ...given }))
      for (const [id, rows] of [
        [10, filled],
        [11, empty]
      ] as const) {
        const expected =
          table === "ledgerTransactions" || table === "postings"
            ? transaction(id, 9_007_199_254_740_993n)[table]
            : [rows[table]]
        for (const row of expected) {
          assert.deepInclude(found as ReadonlyArray<unknown>, row, `${table} ${String(key)}`)
        }
      }
    }
    const image = await load("client:10")
    assert.strictEqual(image.token, 1)
    const held = tableNames.filter((table) => catalogue[table].residence?.subject === "client")
    assert.sameMembers(
      image.rows.map(({ table }) => table),
      held
    )
    for (const { table, row } of image.rows) assert.deepStrictEqual<unknown>(row, filled[table])
    const partner = await load("partner:10")
    assert.sameMembers(
      partner.rows.map(({ table }) => table),
      ["partners", "reliances", "webhookEndpoints"]
    )
    assert.sameMembers(
      (await load("system")).rows.map(({ table }) => table),
      ["operatorKeys", "questionnaires", "approvals", "tradingHalts", "statementJobs"].flatMap((table) => [
        table,
        table
      ])
    )
  })

  it("D15: the commit that closes a partner ends what waits of its deliveries, and no other one does", async () => {
    const { partners: firm, webhookDeliveries: sample } = sampleRows(1)
    const context = {
      attempts: 1,
      lastStatus: 500,
      error: "The endpoint answered 500.",
      sentAt: null,
      nextAt: noon,
      tries: []
    }
    const delivery = (id: number, parts: Partial<DeliveryRow>): DeliveryRow => ({ ...sample, id, context, ...parts })
    const given = [
      delivery(1, { state: "PENDING" }),
      delivery(2, { state: "RETRYING", claimToken: null, claimedAt: null }),
      delivery(3, { state: "SENT" }),
      delivery(4, { state: "PENDING", partnerId: 2 })
    ]
    const partner = (state: PartnerRow["state"], changedAt: number): CommitRows => ({
      partners: [{ ...firm, state, context: { ...firm.context, changedAt } }]
    })
    const stored = async () => (await bench.rows("webhookDeliveries")).toSorted((one, other) => one.id - other.id)
    await submitHere(commitOf({ rows: { ...partner("ACTIVE", noon), webhookDeliveries: given } }))
    await submitHere(commitOf({ rows: partner("SUSPENDED", noon + 1) }))
    assert.deepStrictEqual(await stored(), given)
    await submitHere(commitOf({ rows: partner("CLOSED", noon + 2) }))
    const ended: Partial<DeliveryRow> = {
      state: "FAILED",
      context: { ...context, error: "The partner is closed.", nextAt: null },
      nextAt: noon + 2,
      claimToken: null,
      claimedAt: null
    }
    const after = given.map((row) => (row.id <= 2 ? { ...row, ...ended } : row))
    assert.deepStrictEqual(await stored(), after)
    await submitHere(commitOf({ rows: { webhookDeliveries: given.slice(0, 1) } }))
    await submitHere(commitOf({ rows: partner("CLOSED", noon + 3) }))
    assert.deepStrictEqual((await stored())[0], given[0])
  })

  it("rows that differ in one column of their key alone are two rows, stored, loaded and held", async () => {
    // The journal numbers events itself, so no caller can choose that column.
    const tables = tableNames.filter((table) => table !== "events" && catalogue[table].key.length > 1)
    const cases = tables.flatMap((table) => catalogue[table].key.map((column) => [table, column] as const))
    assert.isAbove(cases.length, 20)
    // One journal for all cases, because each further database costs more than all of them.
    for (const [index, [table, column]] of cases.entries()) {
      const id = 10 * (index + 1)
      const label = `${table} ${column}`
      const one: object = sampleRows(id)[table]
      const value = (one as Record<string, unknown>)[column]
      const other = { ...one, [column]: typeof value === "number" ? value + 1 : `${String(value)}x` }
      const subject = `client:${id}` as const
      const commit = commitOf({ fence: { subject, expected: null }, rows: { [table]: [one, other] } })
      assert.strictEqual((await submitHere(commit))._tag, "Committed", label)
      const stored = (await bench.rows(table)) as ReadonlyArray<unknown>
      for (const row of [one, other]) assert.deepInclude(stored, row, label)
      const state = new SubjectState(subject, { token: null, rows: [] })
      state.adopt(commit)
      for (const row of [one, other]) {
        if (catalogue[table].residence !== null)
          assert.deepStrictEqual<unknown>(state.get(table, keyOf(table, row)), row, label)
      }
      const draft = new CommitBuilder()
      for (const row of [one, other, one]) draft.put(table, row as never)
      assert.deepStrictEqual<unknown>(draft.build(null, null).rows[table], [one, other], label)
    }
  })

  it("a subject that does not exist has no token and no rows; unknown ones don't disturb known ones", async () => {
    await submitHere(clientCommit(1, null))
    const images = await Effect.runPromise(bench.journal.load(["client:2", "client:1", "partner:9"]))
    assert.deepStrictEqual(images.get("client:2"), { token: null, rows: [] })
    assert.deepStrictEqual(images.get("partner:9"), { token: null, rows: [] })
    assert.deepStrictEqual(images.get("client:1"), { token: 1, rows: [{ table: "balances", row: balance(1, 0n) }] })
  })

  it("a later commit replaces rows; rows outside the residence's condition are not loaded", async () => {
    const open = sampleRows(1).cases
    await submitHere(clientCommit(1, null, { rows: { cases: [open] } }))
    assert.strictEqual((await load("client:1")).rows.length, 2)
    await submitHere(clientCommit(1, 1, { rows: { cases: [{ ...open, state: "CLEARED" }] } }))
    assert.deepStrictEqual(await load("client:1"), { token: 2, rows: [{ table: "balances", row: balance(1, 1n) }] })
    assert.deepStrictEqual(await bench.rows("cases"), [{ ...open, state: "CLEARED" }])
  })

  it("memory is not shared: changing what was submitted or loaded changes nothing stored", async () => {
    const row = { ...sampleRows(1).cases, details: { list: [1] } }
    await submitHere(clientCommit(1, null, { rows: { cases: [row] } }))
    row.details.list.push(2)
    const loaded = (await load("client:1")).rows.find(({ table }) => table === "cases")?.row as typeof row
    // Loaded rows may be shared, and are then frozen.
    if (!Object.isFrozen(loaded.details.list)) loaded.details.list.push(3)
    assert.deepStrictEqual((await bench.rows("cases"))[0]?.details, { list: [1] })
  })

  it("timers are set, replaced and cleared; cleared and set again in one commit is set", async () => {
    const timer = { subject: "client:1", name: "expiry", dueAt: noon }
    await submitHere(clientCommit(1, null, { rows: { timers: [timer] } }))
    await submitHere(clientCommit(1, 1, { rows: { timers: [{ ...timer, dueAt: noon + 1 }] } }))
    assert.deepStrictEqual(await bench.rows("timers"), [{ ...timer, dueAt: noon + 1 }])
    const cleared = [{ subject: "client:1", name: "expiry" }]
    await submitHere(clientCommit(1, 2, { clearedTimers: cleared, rows: { timers: [{ ...timer, dueAt: noon + 2 }] } }))
    assert.deepStrictEqual(await bench.rows("timers"), [{ ...timer, dueAt: noon + 2 }])
    await submitHere(clientCommit(1, 3, { clearedTimers: cleared }))
    assert.deepStrictEqual(await bench.rows("timers"), [])
  })

  it("a venue call is held by its client until the commit that ends it; another call stays", async () => {
    const call = (ref: string) => ({ ...sampleRows(1).venueCalls, ref })
    const held = async () =>
      (await load("client:1")).rows.flatMap(({ table, row }) => (table === "venueCalls" ? row : []))
    await submitHere(clientCommit(1, null, { rows: { venueCalls: [call("P-1"), call("P-2")] } }))
    assert.sameDeepMembers(await held(), [call("P-1"), call("P-2")])
    const ending = clientCommit(1, 1, { endedCalls: ["P-1"] })
    const state = new SubjectState("client:1", await load("client:1"))
    state.adopt(ending)
    assert.deepStrictEqual(state.all("venueCalls"), [call("P-2")])
    await submitHere(ending)
    assert.deepStrictEqual([await held(), await bench.rows("venueCalls")], [[call("P-2")], [call("P-2")]])
    // The ref is free again: it belongs to one object, whose commits are sequential.
    await submitHere(clientCommit(1, 2, { rows: { venueCalls: [call("P-1")] } }))
    assert.strictEqual((await held()).length, 2)
  })

  it("architecture 4: a firing clears what fired; set again meanwhile, the timer stays", async () => {
    const timer = { subject: "client:1", name: "expiry", dueAt: noon }
    const fired = (dueAt: number) => [{ ...timer, dueAt }]
    await submitHere(clientCommit(1, null, { rows: { timers: [timer, { ...timer, name: "other" }] } }))
    await submitHere(clientCommit(1, 1, { rows: { timers: [{ ...timer, dueAt: noon + 1 }] } }))
    await submitHere(clientCommit(1, 2, { clearedTimers: fired(noon) }))
    const left = async () => (await bench.rows("timers")).map(({ name, dueAt }) => `${name} ${dueAt - noon}`).sort()
    assert.deepStrictEqual(await left(), ["expiry 1", "other 0"])
    await submitHere(clientCommit(1, 3, { clearedTimers: fired(noon + 1) }))
    assert.deepStrictEqual(await left(), ["other 0"])
  })
}

const guardTests = () => {
  it("a stale or wrong token is Fenced alone; the others of the batch commit", async () => {
    await submitAll(
      bench.journal,
      [1, 2, 3].map((id) => clientCommit(id, null))
    )
    await submitHere(clientCommit(2, 1))
    const outcomes = await submitAll(bench.journal, [
      clientCommit(1, 1),
      clientCommit(2, 1),
      clientCommit(3, 1),
      clientCommit(4, 7)
    ])
    assert.deepStrictEqual(tags(outcomes), ["Committed", "Fenced", "Committed", "Fenced"])
    assert.strictEqual((await load("client:2")).token, 2)
    assert.strictEqual((await load("client:4")).token, null)
    assert.deepStrictEqual((await bench.rows("balances")).length, 3)
  })

  it("a subject is created once: the second creation is Fenced, in the same batch and in a later one", async () => {
    const twice = await submitAll(bench.journal, [clientCommit(1, null), clientCommit(1, null)])
    assert.deepStrictEqual(tags(twice), ["Committed", "Fenced"])
    assert.strictEqual((await submitHere(clientCommit(1, null)))._tag, "Fenced")
    assert.strictEqual((await load("client:1")).token, 1)
  })

  it("A1-51: a request is begun under a key that has no answer, and under one that has alone refused", async () => {
    const answer = sampleRows(1).answers
    const { principal, key } = answer
    const begins = (id: number, of = key) => clientCommit(id, null, { freshKeys: [{ principal, key: of }] })
    assert.strictEqual((await submitHere(begins(1)))._tag, "Committed")
    // Also within the batch of its answer, because a statement does not see its own writes.
    const outcomes = await submitAll(bench.journal, [
      commitOf({ rows: { answers: [answer] } }),
      begins(2),
      begins(3, "another"),
      clientCommit(4, null)
    ])
    assert.deepStrictEqual(tags(outcomes), ["Committed", "ClaimLost", "Committed", "Committed"])
    assert.deepStrictEqual(outcomes[1], {
      _tag: "ClaimLost",
      claims: [{ name: "answer:partner:1:key-1", owner: 0 }]
    })
    assert.deepStrictEqual(
      (await bench.rows("balances")).map(({ clientId }) => clientId).toSorted((a, b) => a - b),
      [1, 3, 4]
    )
  })

  it("A1-51: a lost claim names its owner and writes nothing; the others commit; one batch never holds it twice", async () => {
    const claim = (id: number) => clientCommit(id, null, { claims: [{ name: "email:a@b", owner: id }] })
    const outcomes = await submitAll(bench.journal, [claim(1), clientCommit(9, null), claim(2), clientCommit(8, null)])
    assert.deepStrictEqual(tags(outcomes), ["Committed", "Committed", "ClaimLost", "Committed"])
    assert.deepStrictEqual(outcomes[2], { _tag: "ClaimLost", claims: [{ name: "email:a@b", owner: 1 }] })
    assert.deepStrictEqual(await submitHere(claim(3)), {
      _tag: "ClaimLost",
      claims: [{ name: "email:a@b", owner: 1 }]
    })
    assert.strictEqual((await load("client:2")).token, null)
    assert.strictEqual(await bench.ownerOf("email:a@b"), 1)
  })

  it("a released fact is free for the next commit, in the same moment and later", async () => {
    const claims = [{ name: "email:a@b", owner: 1 }]
    await submitHere(clientCommit(1, null, { claims }))
    const outcomes = await submitAll(bench.journal, [
      clientCommit(1, 1, { releases: ["email:a@b"] }),
      clientCommit(2, null, { claims: [{ name: "email:a@b", owner: 2 }] }),
      commitOf({ releases: ["email:a@b"] })
    ])
    assert.deepStrictEqual(tags(outcomes), ["Committed", "Committed", "Committed"])
    assert.strictEqual(await bench.ownerOf("email:a@b"), undefined)
  })

  it("A1-51: a stored answer is a claim on its key: the first bytes stay", async () => {
    const answer = sampleRows(1).answers
    const first = clientCommit(1, null, { rows: { answers: [answer] } })
    const second = clientCommit(2, null, { rows: { answers: [{ ...answer, body: "other" }] } })
    const [one, two] = await submitAll(bench.journal, [first, second])
    assert.strictEqual(one?._tag, "Committed")
    assert.deepStrictEqual(two, { _tag: "ClaimLost", claims: [{ name: "answer:partner:1:key-1", owner: 0 }] })
    assert.strictEqual((await load("client:2")).token, null)
    const other = { ...answer, principal: "partner:2" }
    assert.strictEqual((await submitHere(commitOf({ rows: { answers: [other] } })))._tag, "Committed")
    assert.sameDeepMembers([...(await bench.rows("answers"))], [answer, other])
  })

  it("a commit decided under another partner epoch is PartnerMoved alone, beside commits under the new one", async () => {
    const partner = sampleRows(1).partners
    await submitHere(commitOf({ fence: { subject: "partner:1", expected: null }, rows: { partners: [partner] } }))
    const under = (id: number, epoch: number) => clientCommit(id, null, { partner: { partnerId: 1, epoch } })
    const moved = commitOf({
      fence: { subject: "partner:1", expected: 1 },
      rows: { partners: [{ ...partner, epoch: 1 }] }
    })
    const outcomes = await submitAll(bench.journal, [under(1, 0), moved, under(2, 0), under(3, 1)])
    assert.deepStrictEqual(tags(outcomes), ["Committed", "Committed", "PartnerMoved", "Committed"])
    // Both epochs in one batch: the newer one must not hide the stale one.
    const mixed = await submitAll(bench.journal, [under(4, 0), under(5, 1)])
    assert.deepStrictEqual(tags(mixed), ["PartnerMoved", "Committed"])
    const unknown = clientCommit(6, null, { partner: { partnerId: 77, epoch: 0 } })
    assert.strictEqual((await submitHere(unknown))._tag, "PartnerMoved")
    assert.strictEqual((await load("client:4")).token, null)
  })
}

const refusalTests = () => {
  const balanced = (id: number, off = 0n) => clientCommit(id, null, { rows: transaction(id, 5n, off) })

  it("A2-62: of 64 transactions the unbalanced one is Rejected, the other 63 are written", async () => {
    const outcomes = await submitAll(
      bench.journal,
      Array.from({ length: 64 }, (_, index) => balanced(index + 1, index === 37 ? 1n : 0n))
    )
    assert.strictEqual(outcomes.filter((outcome) => outcome._tag === "Committed").length, 63)
    assert.strictEqual(outcomes[37]?._tag, "Rejected")
    assert.strictEqual((await bench.rows("postings")).length, 126)
    assert.strictEqual((await load("client:38")).token, null)
    assert.strictEqual((await load("client:39")).token, 1)
  })

  it("A2-62: a transaction balances in every currency by itself", async () => {
    const rows = transaction(1, 5n)
    const [first, second] = rows.postings
    const mixed = [first, { ...second, currency: "EURC" }] as typeof rows.postings
    assert.strictEqual((await submitHere(commitOf({ rows: { ...rows, postings: mixed } })))._tag, "Rejected")
    assert.deepStrictEqual(await bench.rows("postings"), [])
  })

  const bad: ReadonlyArray<readonly [string, Commit]> = [
    ["NUL in text", commitOf({ rows: { notifications: [{ ...sampleRows(5).notifications, ref: "a\u0000b" }] } })],
    ["NUL in JSON", commitOf({ rows: { cases: [{ ...sampleRows(5).cases, details: { a: "a\u0000b" } }] } })],
    ["a lone surrogate in JSON", commitOf({ rows: { cases: [{ ...sampleRows(5).cases, details: { a: "\ud800" } }] } })],
    ["money outside 64 bits", commitOf({ rows: { balances: [balance(5, 2n ** 63n)] } })],
    ["an id that is no integer", commitOf({ rows: { timers: [{ subject: "s", name: "n", dueAt: 1.5 }] } })],
    ["an id that is not a number", commitOf({ rows: { timers: [{ subject: "s", name: "n", dueAt: Number.NaN }] } })],
    [
      "text that is no text",
      commitOf({ rows: { notifications: [{ ...sampleRows(5).notifications, ref: 5 as unknown as string }] } })
    ],
    [
      "a boolean that is none",
      commitOf({
        rows: { reportingRecords: [{ ...sampleRows(5).reportingRecords, complete: "yes" as unknown as true }] }
      })
    ],
    ["a missing value", commitOf({ rows: { timers: [{ subject: "s", name: null as unknown as string, dueAt: 1 }] } })],
    ["a negative reserve", commitOf({ rows: { balances: [{ ...balance(5, 1n), reserved: -1n }] } })],
    [
      "a word outside a check",
      commitOf({ rows: { postings: [{ ...sampleRows(5).postings, kind: "gold" as "cash" }] } })
    ],
    ["a fact claimed twice in one commit", commitOf({ claims: [1, 2].map((owner) => ({ name: "twice", owner })) })],
    ["a row of an insert-only table again", commitOf({ rows: { decisions: [sampleRows(1).decisions] } })],
    ["a taken unique key", commitOf({ rows: { clients: [{ ...sampleRows(5).clients, uid: "CL-1" }] } })]
  ]
  for (const [what, commit] of bad) {
    it(`${what} is Rejected alone, the neighbours commit`, async () => {
      await submitHere(commitOf({ rows: { decisions: [sampleRows(1).decisions], clients: [sampleRows(1).clients] } }))
      const neighbours = [1, 2, 3, 4].map((id) => clientCommit(id, null))
      const outcomes = await submitAll(bench.journal, [...neighbours.slice(0, 2), commit, ...neighbours.slice(2)])
      assert.deepStrictEqual(tags(outcomes), ["Committed", "Committed", "Rejected", "Committed", "Committed"])
      assert.strictEqual((await bench.rows("balances")).length, 4)
      assert.strictEqual((await submitHere(clientCommit(9, null)))._tag, "Committed")
    })
  }

  it("a callback that throws is logged and harms no other commit", async () => {
    expectLog(/the callback that answers a commit failed.*a listener failed/)
    bench.journal.submit(clientCommit(1, null), () => {
      throw new Error("a listener failed")
    })
    assert.deepStrictEqual(tags(await submitAll(bench.journal, [clientCommit(2, null), clientCommit(3, null)])), [
      "Committed",
      "Committed"
    ])
    assert.strictEqual((await load("client:1")).token, 1)
  })
}

/** The rows with all nullable columns empty. */
const emptied = (rows: { readonly [T in TableName]: Tables[T] }): { readonly [T in TableName]: Tables[T] } =>
  Object.fromEntries(
    tableNames.map((table) => [
      table,
      {
        ...rows[table],
        ...Object.fromEntries(
          catalogue[table].columns.flatMap(({ name, nullable }) => (nullable ? [[name, null]] : []))
        )
      }
    ])
  ) as unknown as { readonly [T in TableName]: Tables[T] }
