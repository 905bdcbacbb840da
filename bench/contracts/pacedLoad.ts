/**
 * The load generator of the contracts part, in a process of its own. It sends requests at a steady pace, whether or not
 * earlier ones are answered. A latency counts from the due time of the request, so that it shows a second in which the
 * service answered nothing.
 */
import { randomUUID } from "node:crypto"
import { answerParent } from "../child.ts"
import { Connection } from "../load/Connection.ts"
import { percentile } from "../load/protocol.ts"
import { runSlice } from "../load/runSlice.ts"
import type { FundQuestion, PacedLatency, PacedLoadQuestion, PacedQuestion, PacedResult } from "./protocol.ts"

/**
 * The number of connections: far more than are in flight while the service keeps up, so that a due request finds a free
 * one.
 */
const pool = 32
const fundConnections = 64

type Kind = "reads" | "reports"

const reportText = (
  { port, partnerKey }: Pick<PacedQuestion, "port" | "partnerKey">,
  clientId: number,
  ref: string,
  amount: string
) => {
  const body = `{"partnerRef":"${ref}","direction":"DEPOSIT","amount":"${amount}"}`
  return `POST /partner/v1/clients/${clientId}/collateral HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${partnerKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nIdempotency-Key: ${randomUUID()}\r\n\r\n${body}`
}

class Paced {
  private readonly asked: PacedQuestion
  private readonly free: Array<Connection> = []
  private readonly due: Array<{ readonly kind: Kind; readonly at: number }> = []
  private readonly latencies: Record<Kind, Array<number>> = { reads: [], reports: [] }
  private readonly timers: Array<NodeJS.Timeout> = []
  private readonly open: Array<Connection> = []
  private inFlight = 0
  private count = 0
  private errors = 0
  private firstError: string | null = null
  private drained: (() => void) | null = null

  constructor(asked: PacedQuestion) {
    this.asked = asked
  }

  async begin(): Promise<void> {
    const { port, ca, readsPerSecond, reportsPerSecond } = this.asked
    while (this.open.length < pool) this.open.push(await Connection.open(port, ca))
    this.free.push(...this.open)
    this.pace("reads", readsPerSecond)
    this.pace("reports", reportsPerSecond)
  }

  async end(): Promise<PacedResult> {
    for (const timer of this.timers) clearInterval(timer)
    if (this.inFlight + this.due.length > 0) await new Promise<void>((resolve) => (this.drained = resolve))
    for (const connection of this.open) connection.close()
    const { errors, firstError, latencies } = this
    return { reads: latencyOf(latencies.reads), reports: latencyOf(latencies.reports), errors, firstError }
  }

  private pace(kind: Kind, perSecond: number): void {
    const began = performance.now()
    let sent = 0
    const every = 1_000 / perSecond
    this.timers.push(
      setInterval(
        () => {
          for (; began + sent * every <= performance.now(); sent++) this.due.push({ kind, at: began + sent * every })
          this.send()
        },
        Math.min(every, 5)
      )
    )
  }

  private send(): void {
    for (let connection = this.free.pop(); connection !== undefined; connection = this.free.pop()) {
      const next = this.due.shift()
      if (next === undefined) return void this.free.push(connection)
      this.give(connection, next)
    }
  }

  private give(connection: Connection, { kind, at }: { readonly kind: Kind; readonly at: number }): void {
    const { port, partnerKey, clientIds, tag } = this.asked
    const clientId = clientIds[this.count % clientIds.length] as number
    const ref = `${tag}-${this.count++}`
    this.inFlight++
    const done = (): void => {
      this.inFlight--
      if (this.inFlight + this.due.length === 0) this.drained?.()
    }
    connection.handlers = {
      onAnswer: (answer) => {
        if (answer.success) this.latencies[kind].push(performance.now() - at)
        else this.fail(answer.text())
        this.free.push(connection)
        this.send()
        done()
      },
      onBroken: (reason) => {
        this.fail(reason)
        done()
      }
    }
    connection.send(
      kind === "reports"
        ? reportText(this.asked, clientId, ref, "1.250000")
        : `GET /partner/v1/clients/${clientId} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${partnerKey}\r\n\r\n`
    )
  }

  private fail(what: string): void {
    this.errors++
    this.firstError ??= what.slice(0, 500)
  }
}

const latencyOf = (latencies: ReadonlyArray<number>): PacedLatency => {
  const ascending = Float64Array.from(latencies).sort()
  return {
    sent: ascending.length,
    p50Millis: percentile(ascending, 0.5),
    p99Millis: percentile(ascending, 0.99),
    maxMillis: ascending.at(-1) ?? 0
  }
}

const fund = async (asked: FundQuestion): Promise<PacedResult> => {
  const { clientIds, amount, tag } = asked
  let next = 0
  const window = { ...asked, connections: fundConnections, millis: 600_000 }
  const text = () => {
    const clientId = clientIds[next++]
    return clientId === undefined ? null : reportText(asked, clientId, `${tag}-${next}`, amount)
  }
  const { errors, firstError, acknowledged, ...found } = await runSlice(window, text, () => {}, true)
  return { reads: latencyOf([]), reports: { ...found, sent: acknowledged }, errors, firstError }
}

let paced: Paced | null = null
const nothing: PacedResult = { reads: latencyOf([]), reports: latencyOf([]), errors: 0, firstError: null }

answerParent(async (question: PacedLoadQuestion): Promise<PacedResult> => {
  if (question.kind === "fund") return fund(question)
  if (question.kind === "end") return (await paced?.end()) ?? nothing
  paced = new Paced(question)
  await paced.begin()
  return nothing
})
