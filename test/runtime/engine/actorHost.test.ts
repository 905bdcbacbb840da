/**
 * Mailboxes and turns (architecture section 4, Mailbox): order, output gate, unknown outcomes, and limits of ActorHost.
 */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { type Command, FactNeeded, mailboxLimit, type Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { ForeignSubject } from "../../../src/runtime/engine/mailbox/ForeignSubject.ts"
import type { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import type { SubjectKey } from "../../../src/runtime/engine/journal/Commit.ts"
import { IdsExhausted } from "../../../src/runtime/engine/journal/IdBlocks.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { Recall } from "../../../src/runtime/services/account/Recall.ts"
import { maxBatchLength } from "../../../src/runtime/services/venue/batches.ts"
import { expectLog } from "../../support/expectLog.ts"
import { balance, clientCommit, commitOf, sampleRows } from "./fixtures.ts"
import { failureOf, type HostBench, increment, look, openHost, until } from "./hostBench.ts"

let bench: HostBench
beforeEach(async () => {
  bench = await openHost()
})
afterEach(() => bench.close())

const run = <A>(command: Command<A>): Promise<A> => Effect.runPromise(bench.host.dispatch(command))
const subjectsWritten = () => bench.submitted.map((commit) => commit.fence?.subject)

describe("4004: a subject that does not belong to the reader", () => {
  /** A partner's read of a client. It shows nothing of another partner's client. */
  const shown = (state: SubjectState): number => {
    if (state.token !== null) throw new ForeignSubject()
    return state.all("balances").length
  }

  it.each(["read", "readNow"] as const)(
    "%s: costs as many reads as a subject that does not exist, in memory or not",
    async (read) => {
      const loads = async (subject: SubjectKey): Promise<number> => {
        const before = bench.loads.length
        assert.strictEqual(await Effect.runPromise(bench.host[read](subject, shown)), 0)
        return bench.loads.length - before
      }
      await run(increment(1))
      bench.store.apply(clientCommit(2, null))
      for (let times = 0; times < 3; times++) {
        for (const subject of ["client:1", "client:2", "client:3"]) assert.strictEqual(await loads(subject), 1, subject)
      }
      const before = bench.loads.length
      assert.strictEqual(await run(increment(1)), 2n)
      assert.strictEqual(bench.loads.length, before)
    }
  )
})

describe("turns", () => {
  it("one turn at a time per subject, in the order of dispatch, each on the committed state", async () => {
    bench.hold = () => true
    const answers = Promise.all(Array.from({ length: 20 }, () => run(increment(1))))
    await until(() => bench.held() === 1)
    assert.strictEqual(bench.submitted.length, 1)
    assert.strictEqual(bench.host.stats().waiting, 20)
    bench.release()
    assert.deepStrictEqual(
      await answers,
      Array.from({ length: 20 }, (_, index) => BigInt(index + 1))
    )
    assert.strictEqual(bench.store.image("client:1").token, 20)
  })

  it("a caller that has its answer is not counted as waiting at its very next action", async () => {
    const waiting = Effect.map(bench.host.dispatch(increment(1)), () => bench.host.stats().waiting)
    assert.strictEqual(await Effect.runPromise(waiting), 0)
  })

  it("subjects are independent: a subject that waits for its commit delays no other", async () => {
    bench.hold = (commit) => commit.fence?.subject === "client:1"
    const slow = run(increment(1))
    assert.strictEqual(await run(increment(2)), 1n)
    assert.strictEqual(await run(increment(2)), 2n)
    bench.release()
    assert.strictEqual(await slow, 1n)
  })

  it("output gate: answer, live views and reads change only after the commit, views before the answer", async () => {
    await run(increment(1))
    const seen: Array<string> = []
    bench.host.onCommitted("balances", (row) => seen.push(`view ${row.cash}`))
    bench.hold = () => true
    const answer = run(increment(1)).then((cash) => seen.push(`answer ${cash}`))
    await until(() => bench.held() === 1)
    assert.deepStrictEqual(seen, [])
    const cash = bench.host.read("client:1", (state) => state.one("balances")?.cash)
    assert.strictEqual(await Effect.runPromise(cash), 1n)
    bench.release()
    await answer
    assert.deepStrictEqual(seen, ["view 2", "answer 2"])
    assert.strictEqual(await Effect.runPromise(cash), 2n)
  })

  it("a caller that disconnects between decision and commit changes nothing: the commit is made and adopted", async () => {
    bench.hold = () => true
    const fiber = Effect.runFork(bench.host.dispatch(increment(1)))
    await until(() => bench.held() === 1)
    await Effect.runPromise(Fiber.interrupt(fiber))
    bench.release()
    assert.strictEqual(await run(increment(1)), 2n)
    assert.strictEqual(bench.store.image("client:1").token, 2)
  })

  it("a command that writes nothing answers without a commit", async () => {
    assert.strictEqual(await run(look(1)), 0n)
    assert.strictEqual(bench.submitted.length, 0)
  })

  it("FactNeeded goes to the caller and writes nothing", async () => {
    const failure = await failureOf(
      bench.host.dispatch({
        ...increment(1),
        decide: ({ draft }) => {
          draft.put("balances", balance(1, 9n))
          throw new FactNeeded({ fact: "person" })
        }
      })
    )
    assert.deepStrictEqual(failure, new FactNeeded({ fact: "person" }))
    assert.strictEqual(bench.submitted.length, 0)
    assert.strictEqual(await run(increment(1)), 1n)
  })

  it("a decision that throws is a defect of that caller alone", async () => {
    bench.hold = () => true
    const first = run(increment(1))
    await until(() => bench.held() === 1)
    const broken = Effect.runPromiseExit(
      bench.host.dispatch({
        ...increment(1),
        decide: () => {
          throw new Error("broken rule")
        }
      })
    )
    const third = run(increment(1))
    bench.release()
    const exit = await broken
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    assert.deepStrictEqual([await first, await third], [1n, 2n])
  })

  it("a live view that throws harms neither the answer nor other views nor later commands", async () => {
    expectLog(/a listener of committed balances failed.*broken view/)
    const seen: Array<bigint> = []
    bench.host.onCommitted("balances", () => {
      throw new Error("broken view")
    })
    bench.host.onCommitted("balances", (row) => seen.push(row.cash))
    assert.deepStrictEqual(await Promise.all([run(increment(1)), run(increment(1))]), [1n, 2n])
    assert.deepStrictEqual(seen, [1n, 2n])
  })

  it("listeners and policies run in the order of their places, whichever was registered first", async () => {
    const seen: Array<string> = []
    const { host } = bench
    for (const [name, place] of [
      ["c", 2],
      ["a", 0],
      ["b", 1],
      ["c, later", 2],
      ["a, later", 0]
    ] as const) {
      host.onDecided(() => seen.push(`policy ${name}`), place)
      host.onCommitted("balances", () => seen.push(`row ${name}`), place)
      host.onCallEnded((ref) => seen.push(`${ref} ${name}`), place)
    }
    const command = increment(1)
    const ends = (turn: Turn) => {
      turn.draft.endCall("P-1")
      return command.decide(turn)
    }
    await run({ ...command, decide: ends })
    const names = ["a", "a, later", "b", "c", "c, later"]
    assert.deepStrictEqual(
      seen,
      ["policy", "row", "P-1"].flatMap((source) => names.map((name) => `${source} ${name}`))
    )
  })

  it("a turn that finds no reserved id keeps its place and is decided again", async () => {
    let tries = 0
    bench.nextId = () => {
      if (++tries < 3) throw new IdsExhausted()
      return 7
    }
    const command: Command<number> = {
      subject: "client:1",
      by: increment(1).by,
      decide: ({ draft, nextId }) => {
        draft.put("balances", balance(1, 1n))
        return nextId("case")
      }
    }
    assert.deepStrictEqual(await Promise.all([run(command), run(increment(1))]), [7, 2n])
  })
})

describe("commits of unknown outcome", () => {
  it("a turn that needs many rows that have left memory reads each of them and is decided", async () => {
    const order = (id: number) => ({ id, clientId: 1 })
    const reads = { among: (_: string, ids: ReadonlyArray<number>) => Effect.succeed(ids.map(order)) }
    const recall = new Recall(reads as unknown as RowReads["Service"])
    const command = increment(1)
    const decide: typeof command.decide = (turn) => {
      for (let id = 1; id <= maxBatchLength; id++) assert.strictEqual(recall.row(turn, "orders", id)?.id, id)
      return command.decide(turn)
    }
    assert.strictEqual(await run({ ...command, decide }), 1n)
    assert.strictEqual(bench.submitted.length, 1)
  })

  it("F14: a turn that needs all fills of a market since a time reads them page by page, of this market alone", async () => {
    const row = (id: number) => ({ id, clientId: 1, symbol: id % 2 === 0 ? "A" : "B", ts: id })
    const stored = Array.from({ length: 60_000 }, (_, at) => row(60_000 - at))
    const reads: Pick<RowReads["Service"], "page"> = {
      page: (_, conditions, { limit, before }) => {
        const asked = new Map(conditions.map(({ column, value }) => [column, value]))
        const found = stored.filter(
          ({ id, symbol, ts }) =>
            symbol === asked.get("symbol") && ts >= Number(asked.get("ts")) && id < (before ?? Number.POSITIVE_INFINITY)
        )
        return Effect.succeed(found.slice(0, limit) as never)
      }
    }
    const recall = new Recall(reads as RowReads["Service"])
    bench.store.apply(clientCommit(1, null, { rows: { clients: [sampleRows(1).clients] } }))
    const command = increment(1)
    let ids: ReadonlyArray<number> = []
    const decide: typeof command.decide = (turn) => {
      ids = recall.since(turn, "fills", { symbol: "A" }, { ts: 3 }, ({ id }) => id)
      return command.decide(turn)
    }
    await run({ ...command, decide })
    assert.deepStrictEqual(
      ids,
      Array.from({ length: 29_999 }, (_, at) => 60_000 - 2 * at)
    )
  })

  it("a turn that needs fills without end reads up to a limit, page by page, and fails", async () => {
    const limits: Array<number> = []
    let next = Number.MAX_SAFE_INTEGER
    const reads: Pick<RowReads["Service"], "page"> = {
      page: (_, __, { limit }) => {
        limits.push(limit)
        return Effect.succeed(Array.from({ length: limit }, () => ({ id: next-- })) as never)
      }
    }
    const recall = new Recall(reads as RowReads["Service"])
    bench.store.apply(clientCommit(1, null, { rows: { clients: [sampleRows(1).clients] } }))
    const command = increment(1)
    const decide: typeof command.decide = (turn) => {
      recall.since(turn, "fills", { symbol: "A" }, { ts: 3 }, () => null)
      return command.decide(turn)
    }
    const exit = await Effect.runPromise(Effect.exit(bench.host.dispatch({ ...command, decide })))
    assert.include(String(exit), "a turn needs more than 100000 rows of fills")
    assert.lengthOf(limits, 101)
    assert.deepStrictEqual(new Set(limits), new Set([1_000]))
  })

  it("a changed partner makes the turn decide again under the new stamp", async () => {
    const partner = sampleRows(1).partners
    assert.strictEqual(
      bench.store.apply(commitOf({ rows: { partners: [{ ...partner, epoch: 1 }] } }))._tag,
      "Committed"
    )
    const epochs = [0, 1]
    let decided = 0
    const command = increment(1, {
      partner: () => ({ partnerId: 1, epoch: epochs[decided++] ?? 1 })
    })
    assert.strictEqual(await run(command), 1n)
    assert.strictEqual(decided, 2)
  })

  it("a partner that changes again and again ends in Unavailable, with nothing written", async () => {
    const failure = await failureOf(bench.host.dispatch(increment(1, { partner: () => ({ partnerId: 1, epoch: 5 }) })))
    assert.deepInclude(failure, { _tag: "Unavailable", unknown: false })
    assert.strictEqual(bench.store.image("client:1").token, null)
    assert.isAtMost(bench.submitted.length, 10)
  })

  it("Fenced: memory is read again and the turn decided again on it", async () => {
    await run(increment(1))
    bench.store.apply(clientCommit(1, 1, { rows: { balances: [balance(1, 50n)] } }))
    assert.strictEqual(await run(increment(1)), 51n)
    assert.deepStrictEqual(bench.loads.filter((subjects) => subjects.includes("client:1")).length, 2)
  })

  it("an unknown outcome drops memory: the next command reads what was really written", async () => {
    await run(increment(1))
    let doubtful = true
    bench.bend = (_, outcome) => {
      const doubt = doubtful
      doubtful = false
      return doubt ? { _tag: "Unavailable", unknown: true } : outcome
    }
    const seen: Array<bigint> = []
    bench.host.onCommitted("balances", (row) => seen.push(row.cash))
    assert.deepInclude(await failureOf(bench.host.dispatch(increment(1))), { _tag: "Unavailable", unknown: true })
    assert.strictEqual(await run(increment(1)), 3n)
    assert.deepStrictEqual(seen, [3n])
  })

  it("A1-51: the answer is stored in its commit; a lost key writes nothing and is reported", async () => {
    const answer = sampleRows(1).answers
    const received: Array<string> = []
    const storing = (key: string, text: string) => ({
      row: (cash: bigint) => ({ ...answer, key, body: `${text} ${cash}` }),
      committed: ({ body }: { readonly body: string }) => void received.push(body)
    })
    const command = increment(1, { store: storing(answer.key, "cash") })
    assert.strictEqual(await run(command), 1n)
    const failure = await failureOf(bench.host.dispatch(command))
    assert.deepInclude(failure, { _tag: "ClaimLost" })
    assert.strictEqual(await run(look(1)), 1n)
    // A request that changes nothing stores its answer without a change of the subject's token.
    assert.strictEqual(await run({ ...look(1), store: storing("k2", "saw") }), 1n)
    assert.deepStrictEqual(
      bench.store.rows("answers").map((row) => row.body),
      ["cash 1", "saw 1"]
    )
    assert.deepStrictEqual(received, ["cash 1", "saw 1"])
    assert.strictEqual(bench.store.image("client:1").token, 1)
  })

  it("refused data is CommitRejected for its caller and leaves the subject as it was", async () => {
    const failure = await failureOf(
      bench.host.dispatch({
        ...increment(1),
        decide: ({ draft }) => {
          draft.put("balances", { ...balance(1, 1n), reserved: -1n })
          return 0n
        }
      })
    )
    assert.strictEqual(failure._tag, "CommitRejected")
    assert.strictEqual(await run(increment(1)), 1n)
  })
})

describe("limits", () => {
  it("a full mailbox refuses one more command; a mailbox of another subject is not affected", async () => {
    bench.hold = (commit) => commit.fence?.subject === "client:1"
    const first = run(increment(1))
    await until(() => bench.held() === 1)
    const waiting = Array.from({ length: mailboxLimit }, () => run(increment(1)))
    assert.deepInclude(await failureOf(bench.host.dispatch(increment(1))), { _tag: "Unavailable", unknown: false })
    assert.strictEqual(await run(increment(2)), 1n)
    bench.release()
    await first
    assert.strictEqual((await Promise.all(waiting)).at(-1), BigInt(mailboxLimit + 1))
  })

  it("a full mailbox whose journal is lost answers every caller", async () => {
    bench.hold = () => true
    const first = run(increment(1))
    await until(() => bench.held() === 1)
    const waiting = Promise.allSettled(Array.from({ length: mailboxLimit }, () => run(increment(1))))
    bench.accepting = () => false
    bench.release()
    assert.strictEqual(await first, 1n)
    assert.isTrue((await waiting).every((result) => result.status === "rejected"))
    assert.deepInclude(await failureOf(bench.host.dispatch(increment(1))), { _tag: "Unavailable", unknown: false })
    bench.accepting = () => true
    assert.strictEqual(await run(increment(1)), 2n)
  })

  it("subjects that are not in memory are read together, not one by one", async () => {
    await Promise.all(Array.from({ length: 300 }, (_, id) => run(increment(id + 1))))
    assert.strictEqual(bench.loads.flat().length, 300)
    assert.isAtMost(bench.loads.length, 4)
  })

  it("a subject that a caller waits for is read before very many subjects of internal commands, and delays them once", async () => {
    const ours = Array.from({ length: 2_000 }, (_, at) => run(increment(at + 1, { lane: "internal" })))
    await until(() => bench.loads.length === 1)
    const callers = [5_000, 1_999, 5_001].map((id) => run(increment(id)))
    await Promise.all([...ours, ...callers])
    const [first, second, third] = bench.loads
    assert.lengthOf(first ?? [], 64)
    assert.deepStrictEqual(second, ["client:5000", "client:1999", "client:5001"])
    assert.lengthOf(third ?? [], 64)
    assert.strictEqual(new Set(bench.loads.flat()).size, 2_002)
    assert.lengthOf(bench.loads.flat(), 2_002)
  })

  it("a failed read refuses commands and readers, and the next command reads again", async () => {
    bench.loadFails = () => true
    const read = bench.host.read("client:1", (state) => state.token)
    const [command, reader] = await Promise.all([
      failureOf(bench.host.dispatch(increment(1))),
      Effect.runPromise(Effect.flip(read))
    ])
    assert.deepInclude(command, { _tag: "Unavailable", unknown: false })
    assert.deepInclude(reader, { _tag: "Unavailable", unknown: false })
    bench.loadFails = () => false
    assert.strictEqual(await run(increment(1)), 1n)
    assert.strictEqual(await Effect.runPromise(read), 1)
  })

  it("subjects that do not exist are not stored in memory", async () => {
    for (let id = 1; id <= 20; id++) await run(look(id))
    assert.strictEqual(bench.host.stats().resident, 0)
  })

  it("rows of no subject are written and shown to the views", async () => {
    const seen: Array<string> = []
    bench.host.onCommitted("answers", (row) => seen.push(row.key))
    await Effect.runPromise(bench.host.record({ answers: [sampleRows(4).answers] }))
    assert.deepStrictEqual(seen, ["key-4"])
    assert.deepInclude(await failureOf(bench.host.record({ answers: [sampleRows(4).answers] })), { _tag: "ClaimLost" })
  })

  it("drain waits for the last answer", async () => {
    bench.hold = () => true
    let answered = false
    const answer = run(increment(1)).then(() => (answered = true))
    await until(() => bench.held() === 1)
    const drained = Effect.runPromise(bench.host.drain)
    assert.strictEqual(bench.host.stats().waiting, 1)
    bench.release()
    await drained
    await answer
    assert.isTrue(answered)
    assert.strictEqual(bench.host.stats().waiting, 0)
  })
})

describe("memory", () => {
  const reopen = async (residentLimit: number) => {
    await bench.close()
    bench = await openHost(residentLimit)
  }
  const loadsOf = (subject: string) => bench.loads.filter((subjects) => subjects.includes(subject)).length

  it("idle subjects beyond the limit are dropped, the longest unused first", async () => {
    await reopen(2)
    for (const id of [1, 2, 1, 3]) await run(increment(id))
    assert.strictEqual(bench.host.stats().resident, 2)
    await run(increment(1))
    await run(increment(2))
    assert.deepStrictEqual([loadsOf("client:1"), loadsOf("client:2"), loadsOf("client:3")], [1, 2, 1])
    assert.deepStrictEqual(new Set(subjectsWritten()), new Set(["client:1", "client:2", "client:3"]))
  })

  it("a subject in the middle of a turn is never dropped", async () => {
    await reopen(1)
    bench.hold = (commit) => commit.fence?.subject === "client:1"
    const busy = run(increment(1))
    await until(() => bench.held() === 1)
    for (const id of [2, 3, 4]) await run(increment(id))
    const next = run(increment(1))
    bench.release()
    assert.deepStrictEqual([await busy, await next], [1n, 2n])
    assert.strictEqual(loadsOf("client:1"), 1)
  })

  it("a subject that is loaded while all others are busy still has one mailbox", async () => {
    await reopen(1)
    bench.hold = (commit) => commit.fence?.subject === "client:1"
    const busy = run(increment(1))
    await until(() => bench.held() === 1)
    const answers = await Promise.all([run(increment(2)), run(increment(2)), run(increment(2))])
    assert.deepStrictEqual(answers, [1n, 2n, 3n])
    assert.deepStrictEqual(subjectsWritten().slice(1), ["client:2", "client:2", "client:2"])
    assert.strictEqual(loadsOf("client:2"), 1)
    bench.release()
    await busy
  })
})
