/**
 * A thread that builds models, with a fault that the client's uid names. test/runtime/statement/modelBuilds.test.ts
 * starts it.
 */
import { parentPort } from "node:worker_threads"
import type { FromModelThread, ToModelThread } from "../../src/runtime/services/statements/build/modelProtocol.ts"

const port = parentPort
if (port === null) throw new Error("this is a thread of a test")

// Only the parent receives messages of a thread, so there is no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const post = (message: FromModelThread): void => port.postMessage(message)
const began = (job: number): void => post({ type: "written", job })

const faults: Readonly<Record<string, (job: number) => void>> = {
  killed: () => process.exit(0),
  // The variable keeps the objects alive; otherwise they would be collected at once.
  memory: () => {
    const kept: Array<unknown> = []
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, at) => ({ at })))
  },
  spinning: () => {
    for (;;);
  },
  thrown: () => {
    throw new Error("a row of no section")
  },
  failing: (job) => post({ type: "failed", job, reason: "a row of no section" }),
  away: (job) => post({ type: "away", job })
}

port.on("message", (message: ToModelThread) => {
  if (message.type !== "build") return
  const { job, model } = message
  const { clientUid, clientId, partnerId } = model.building.client
  began(job)
  if (clientUid !== "whole") return faults[clientUid]?.(job)
  const { modelId: id } = model
  const whole = { id, partnerId, clientId, sha256: "ab", size: 1, pieces: 1, counts: [] }
  post({ type: "built", job, built: { ok: true, model: { modelId: id, sha256: "ab", rows: 0 } }, whole })
})
