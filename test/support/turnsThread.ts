/** A thread that takes a processor turn, reports it, and ends the turn at the next message. */
import { parentPort, threadId, workerData } from "node:worker_threads"
import { ProcessorTurns } from "../../src/runtime/adapters/statements/ProcessorTurns.ts"

const data = workerData as { readonly turns: SharedArrayBuffer; readonly patience: number }
const turns = new ProcessorTurns(data.turns, data.patience)
turns.take(threadId)
// Only the parent receives messages of a thread, so there is no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage("taken")
parentPort?.once("message", () => turns.leave(threadId))
