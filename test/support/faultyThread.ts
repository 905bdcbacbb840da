/** A rendering thread with a fault that the hash of the model names. test/http/renderThreads.test.ts starts it. */
import { parentPort } from "node:worker_threads"
import type { FromThread, ToThread } from "../../src/runtime/adapters/statements/protocol.ts"

const port = parentPort
if (port === null) throw new Error("this is a thread of a test")

// Only the parent receives messages of a thread, so there is no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const post = (message: FromThread): void => port.postMessage(message)
const chunk = (size: number): void => post({ type: "chunk", bytes: new Uint8Array(size).fill(97) })

const faults: Readonly<Record<string, () => void>> = {
  killed: () => process.exit(0),
  // The variable keeps the objects alive; otherwise they would be collected at once.
  memory: () => {
    const kept: Array<unknown> = []
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, at) => ({ at })))
  },
  spinning: () => {
    for (;;);
  },
  silent: () => {},
  thrown: () => {
    throw new Error("a cell of no column")
  },
  failing: () => post({ type: "failed", reason: "a cell of no column" })
}

let job = ""
port.on("message", (message: ToThread) => {
  if (message.type === "job") {
    const [what = "", when] = message.head.sha256.split(" ")
    job = what
    if (what === "whole") {
      chunk(10)
      return post({ type: "done" })
    }
    if (what === "endless" || when === "late") return chunk(what === "endless" ? 256 * 1024 : 10)
    return faults[what]?.()
  }
  if (message.type !== "taken") return
  if (job === "endless") chunk(256 * 1024)
  else faults[job]?.()
})
