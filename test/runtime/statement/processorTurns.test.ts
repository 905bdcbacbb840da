/**
 * Threads of the service use at most one processor fewer than there are (STS-22, STS-31: no request waits for a
 * statement).
 */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { setImmediate } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { ProcessorTurns } from "../../../src/runtime/adapters/statements/ProcessorTurns.ts"

/** Takes a turn for its thread, reports it, and ends the turn on request. */
const program = new URL("../../support/turnsThread.ts", import.meta.url)
const workers: Array<Worker> = []
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.terminate()
})
/** Far longer than a test, so that no thread continues without a turn on a slow machine. */
const patience = 3_600_000
const begin = (turns: ProcessorTurns): Worker => {
  const worker = new Worker(program, { workerData: { turns: turns.shared, patience } })
  workers.push(worker)
  return worker
}
const taken = (worker: Worker): Promise<unknown> => once(worker, "message")
/** Waits until a thread waits for a turn: a thread that is woken without a free turn continues to wait. */
const waiting = async ({ shared }: ProcessorTurns): Promise<void> => {
  while (Atomics.notify(new Int32Array(shared), 0) === 0) await setImmediate()
}
/** Free and taken turns, by owner. */
const owners = ({ shared }: ProcessorTurns): ReadonlyArray<number> => [...new Int32Array(shared)].slice(1)

describe("turns at the processors", () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [16, 15]
  ])("%s processors: %s turns", (processors, turns) => {
    assert.strictEqual(owners(ProcessorTurns.make(processors)).length, turns)
  })

  it("a thread waits until another one ends its turn, and has the turn then", async () => {
    const turns = ProcessorTurns.make(2)
    const first = begin(turns)
    await taken(first)
    assert.deepStrictEqual(owners(turns), [first.threadId])
    const second = begin(turns)
    const behind = taken(second)
    await waiting(turns)
    assert.deepStrictEqual(owners(turns), [first.threadId])
    // A thread of our own: there is no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    first.postMessage("leave")
    await behind
    assert.deepStrictEqual(owners(turns), [second.threadId])
  })

  it("the turn of a lost thread is free again", async () => {
    const turns = ProcessorTurns.make(2)
    const lost = begin(turns)
    await taken(lost)
    const { threadId } = lost
    await lost.terminate()
    turns.leave(threadId)
    assert.deepStrictEqual(owners(turns), [0])
    const next = begin(turns)
    await taken(next)
    assert.deepStrictEqual(owners(turns), [next.threadId])
  })

  it("a thread that has waited too long continues without a turn, and ends no other turn", () => {
    const turns = new ProcessorTurns(ProcessorTurns.make(2).shared, 1)
    turns.take(1)
    turns.take(2)
    turns.leave(2)
    assert.deepStrictEqual(owners(turns), [1])
  })
})
