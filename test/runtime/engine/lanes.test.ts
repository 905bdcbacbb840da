/**
 * Two lanes of commands (decision 14): internal ones are never refused for lack of room, wait before their decision,
 * and delay a caller by at most one short flush. Over a memory journal that the test controls; no assertion depends on
 * time.
 */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { rowsOf } from "../../../src/runtime/engine/journal/Commit.ts"
import { journalQueueLimit, type Lane } from "../../../src/runtime/engine/journal/Journal.ts"
import { type Command, mailboxLimit, type Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { internalRows } from "../../../src/runtime/engine/mailbox/InternalLane.ts"
import { auditRow, clientCommit } from "./fixtures.ts"
import { by, failureOf, type HostBench, increment, openHost, until } from "./hostBench.ts"

let bench: HostBench
beforeEach(async () => {
  bench = await openHost(100_000)
})
afterEach(() => bench.close())

const run = <A>(command: Command<A>): Promise<A> => Effect.runPromise(bench.host.dispatch(command))
const internal = { lane: "internal" } as const

const writeRows = ({ draft, nextId }: Turn, rows: number): void => {
  for (let n = 0; n < rows; n++) draft.put("audit", auditRow(nextId("audit"), "act"))
}

/** Writes this number of rows for an existing client; `decided` is called at the decision. */
const rowsFor = (id: number, rows: number, lane: Lane, decided: () => void = () => undefined): Command<void> => ({
  subject: `client:${id}`,
  by,
  lane,
  decide: (turn) => {
    decided()
    writeRows(turn, rows)
  }
})

const makeClients = (count: number): void => {
  for (let id = 1; id <= count; id++) bench.store.apply(clientCommit(id, null))
}

/** Rows of commits that the journal has received and not yet stored, by whether the subject's id is `internal`. */
const watchRows = (isInternal: (subject: string) => boolean) => {
  let settled = 0
  bench.bend = (commit, outcome) => {
    if (isInternal(commit.fence?.subject ?? "")) settled += rowsOf(commit)
    return outcome
  }
  return () => {
    let sent = 0
    for (const commit of bench.submitted) if (isInternal(commit.fence?.subject ?? "")) sent += rowsOf(commit)
    return sent - settled
  }
}

describe("internal commands are never refused for lack of space", () => {
  it("a full mailbox accepts them, behind its waiting commands", async () => {
    bench.hold = () => true
    const first = run(increment(1))
    await until(() => bench.held() === 1)
    const waiting = Array.from({ length: mailboxLimit }, () => run(increment(1)))
    const venue = run(increment(1, internal))
    assert.deepInclude(await failureOf(bench.host.dispatch(increment(1))), { _tag: "Unavailable", unknown: false })
    bench.release()
    await Promise.all([first, ...waiting])
    assert.strictEqual(await venue, BigInt(mailboxLimit + 2))
  })

  it("a full journal accepts them", async () => {
    await run(increment(1))
    const records = Array.from({ length: journalQueueLimit }, () => Effect.runPromise(bench.host.record({})))
    const caller = failureOf(bench.host.dispatch(increment(1)))
    const venue = run(increment(1, internal))
    assert.deepInclude(await caller, { _tag: "Unavailable", unknown: false })
    assert.strictEqual(await venue, 2n)
    await Promise.all(records)
  })

  it("a lost database refuses them too, with nothing written: their sources send them again", async () => {
    bench.accepting = () => false
    assert.deepInclude(await failureOf(bench.host.dispatch(increment(1, internal))), {
      _tag: "Unavailable",
      unknown: false
    })
  })

  it("waiting internal commands are answered when the journal is lost", async () => {
    makeClients(40)
    bench.hold = () => true
    const all = Promise.allSettled(Array.from({ length: 40 }, (_, n) => run(rowsFor(n + 1, 1_000, "internal"))))
    await until(() => bench.held() === 3)
    bench.accepting = () => false
    bench.release()
    const tags = (await all).map(({ status }) => status)
    assert.deepStrictEqual([tags.filter((tag) => tag === "fulfilled").length, tags.length], [3, 40])
  })
})

describe("callers beside them", () => {
  it("a caller has at most one batch's rows before it, behind 100,000 internal commands", async () => {
    makeClients(1_001)
    const outstanding = watchRows((subject) => subject !== "client:1001")
    const internals = Array.from({ length: 1_000 }, (_, n) => run(rowsFor(n + 1, 100, "internal")))
    const before: Array<number> = []
    for (let n = 0; n < 50; n++) await run(rowsFor(1_001, 1, "callers", () => before.push(outstanding())))
    assert.strictEqual(before.length, 50)
    assert.isTrue(before.some((rows) => rows > 0))
    assert.isAtMost(Math.max(...before), internalRows + 100)
    await Promise.all(internals)
    assert.strictEqual(bench.store.rows("audit").length, 100_050)
  })

  it("a caller's turn comes between internal commands that are dispatched at once, such as those of one mark", async () => {
    makeClients(21)
    const ids = Array.from({ length: 21 }, (_, n) => n + 1)
    await Promise.all(ids.map((id) => run(rowsFor(id, 1, "callers"))))
    const decided: Array<string> = []
    const cancels = ids.slice(0, 20).map((id) => rowsFor(id, 100, "internal", () => decided.push("internal")))
    const internals = Effect.runPromise(
      Effect.forEach(cancels, (command) => bench.host.dispatch(command), { concurrency: 24, discard: true })
    )
    await until(() => decided.length > 0)
    await run(rowsFor(21, 1, "callers", () => decided.push("caller")))
    await internals
    assert.lengthOf(decided, 21)
    assert.isAtMost(decided.indexOf("caller"), 8)
  })

  it("a caller of the same client overtakes an internal command that waits for its decision", async () => {
    makeClients(2)
    bench.hold = (commit) => commit.fence?.subject === "client:2"
    const full = run(rowsFor(2, internalRows, "internal"))
    await until(() => bench.held() === 1)
    const decided: Array<string> = []
    const waits = run(rowsFor(1, 1, "internal", () => decided.push("internal")))
    await run(rowsFor(1, 1, "callers", () => decided.push("caller")))
    assert.deepStrictEqual(decided, ["caller"])
    bench.release()
    await Promise.all([full, waits])
    assert.deepStrictEqual(decided, ["caller", "internal"])
  })

  it("decisions follow the order of arrival: a subject with many internal commands delays no other", async () => {
    makeClients(30)
    bench.hold = () => true
    const decided: Array<number> = []
    const command = (id: number) => run(rowsFor(id, internalRows, "internal", () => decided.push(id)))
    const many = Array.from({ length: 10 }, () => command(1))
    const others = Array.from({ length: 29 }, (_, n) => command(n + 2))
    await until(() => bench.held() === 1)
    bench.release()
    await Promise.all([...many, ...others])
    assert.deepStrictEqual(
      decided.slice(0, 30),
      Array.from({ length: 30 }, (_, n) => n + 1)
    )
  })
})

describe("both lanes have one queue", () => {
  it("random mixes: every command is decided once, ids are in the order of commits, the lane keeps its limit of rows", async () => {
    const commands = fc.array(
      fc.record({
        id: fc.integer({ min: 1, max: 12 }),
        lane: fc.constantFrom<Lane>("callers", "internal"),
        rows: fc.integer({ min: 1, max: 900 })
      }),
      { maxLength: 60 }
    )
    await fc.assert(
      fc.asyncProperty(commands, async (mix) => {
        await bench.close()
        bench = await openHost()
        makeClients(24)
        // Clients of the two lanes differ, so that the subject shows the lane of a commit.
        const isInternal = (subject: string) => Number(subject.slice("client:".length)) > 12
        const outstanding = watchRows(isInternal)
        const before: Array<number> = []
        const all = mix.map(({ id, lane, rows }) =>
          run(
            rowsFor(lane === "internal" ? id + 12 : id, rows, lane, () =>
              lane === "internal" ? before.push(outstanding()) : undefined
            )
          )
        )
        await Promise.all(all)
        assert.strictEqual(bench.submitted.length, mix.length)
        const ids = bench.submitted.flatMap(({ rows }) => (rows.audit ?? []).map(({ id }) => id))
        assert.deepStrictEqual(
          ids,
          ids.toSorted((one, other) => one - other)
        )
        assert.strictEqual(bench.store.rows("audit").length, ids.length)
        assert.isTrue(before.every((rows) => rows < internalRows))
      }),
      { numRuns: 25 }
    )
  })
})
