/** A rendering thread with faults: what it does stands where the hash of the model is. Started by test/http/renderThreads.test.ts. */
import { parentPort } from "node:worker_threads"
import type { FromThread, ToThread } from "../../src/runtime/adapters/statements/protocol.ts"

const port = parentPort
if (port === null) throw new Error("this is a thread of a test")

// A thread speaks to its parent alone: there is no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const post = (message: FromThread): void => port.postMessage(message)
const chunk = (size: number): void => post({ type: "chunk", bytes: new Uint8Array(size).fill(97) })

const faults: Readonly<Record<string, () => void>> = {
  killed: () => process.exit(0),
  // Kept by the name: without one it would be thrown away as it is made.
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
