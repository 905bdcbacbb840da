/**
 * graphile-worker doing the same work: one job per event, signed and posted over TLS with kept connections, at most
 * once at a time per job, retried by the worker. Tuned for throughput by its documentation: a local queue and batched
 * completion. It is a process of its own, like the service.
 */
import { createHmac, randomUUID } from "node:crypto"
import { Agent, request } from "node:https"
import { setTimeout as pause } from "node:timers/promises"
import { Logger, makeWorkerUtils, type Runner, run, type WorkerUtils } from "graphile-worker"
import { answerParent } from "../child.ts"
import type { PeerAnswer, PeerQuestion } from "./protocol.ts"

interface Job {
  readonly url: string
  readonly body: string
}

const secret = `whs_${randomUUID()}`
const timeoutMillis = 10_000
let prepared: Extract<PeerQuestion, { kind: "prepare" }> | null = null
let utils: WorkerUtils | null = null
let runner: Runner | null = null
let agent = new Agent()

/** A body about as long as a settlement or collateral event. */
const bodyOf = (): string => {
  const id = randomUUID()
  const data = {
    reportId: 1,
    partnerRef: id,
    direction: "DEPOSIT",
    currency: "USDC",
    amount: "1.250000",
    note: "x".repeat(240)
  }
  return JSON.stringify({ id, event: "collateral.booked", partnerId: 1, clientId: 1, ts: Date.now(), data })
}

const post = ({ url, body }: Job): Promise<void> =>
  new Promise((resolve, reject) => {
    const timestamp = String(Math.floor(Date.now() / 1_000))
    const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")
    const sent = request(
      url,
      {
        method: "POST",
        agent,
        signal: AbortSignal.timeout(timeoutMillis),
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          "x-brokerage-event": "collateral.booked",
          "x-brokerage-timestamp": timestamp,
          "x-brokerage-signature": `v1=${signature}`
        }
      },
      (answer) => {
        answer.resume()
        const status = answer.statusCode ?? 0
        if (status >= 200 && status < 300) resolve()
        else reject(new Error(`answered ${status}`))
      }
    )
    sent.once("error", reject)
    sent.end(body)
  })

const jobs = (url: string, count: number) =>
  Array.from({ length: count }, () => ({ identifier: "post", payload: { url, body: bodyOf() } }))

/** Discards the worker's log, because it logs every job. */
const quiet = (): void => {}

answerParent(async (question: PeerQuestion): Promise<PeerAnswer> => {
  switch (question.kind) {
    case "prepare": {
      prepared = question
      agent = new Agent({ keepAlive: true, ca: question.ca })
      utils = await makeWorkerUtils({ connectionString: question.databaseUrl })
      await utils.migrate()
      return 0
    }
    case "queue":
      for (let left = question.count; left > 0; left -= 1_000)
        await utils?.addJobs(jobs(question.url, Math.min(left, 1_000)) as never)
      return 0
    case "trickle": {
      const until = performance.now() + question.millis
      let queued = 0
      for (; performance.now() < until; queued++) {
        await utils?.addJobs(jobs(question.url, 1) as never)
        await pause(1_000 / question.perSecond)
      }
      return queued
    }
    case "run": {
      const { databaseUrl } = prepared as NonNullable<typeof prepared>
      runner = await run({
        connectionString: databaseUrl,
        logger: new Logger(() => quiet),
        noHandleSignals: true,
        taskList: { post: (payload) => post(payload as Job) },
        preset: {
          worker: {
            concurrentJobs: question.concurrency,
            maxPoolSize: 10,
            localQueue: { size: 100 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0
          }
        }
      })
      return 0
    }
    case "rest":
      await runner?.stop()
      runner = null
      return 0
    case "stop":
      await runner?.stop()
      await utils?.release()
      agent.destroy()
      return 0
  }
})
