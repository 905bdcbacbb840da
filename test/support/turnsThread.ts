/** A thread that takes a turn at the processors, says so, and leaves it when it is told to. */
import { parentPort, threadId, workerData } from "node:worker_threads"
import { ProcessorTurns } from "../../src/runtime/adapters/statements/ProcessorTurns.ts"

const data = workerData as { readonly turns: SharedArrayBuffer; readonly patience: number }
const turns = new ProcessorTurns(data.turns, data.patience)
turns.take(threadId)
// A thread of our own: there is no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage("taken")
parentPort?.once("message", () => turns.leave(threadId))
