/**
 * The load generator of openings, in a process of its own. Each worker requests quotes, polls the request until it has
 * a quote, and accepts the quote; or it sends previews one after the other. All systems get the same requests.
 */
import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { answerParent } from "../child.ts"
import { Connection } from "../load/Connection.ts"
import { percentile } from "../load/protocol.ts"
import type { OpeningQuestion, OpeningResult } from "./openingProtocol.ts"

interface Answer {
  readonly data: {
    readonly rfqId: number
    readonly state: string
    readonly quotes: ReadonlyArray<{ readonly quoteId: number; readonly state: string }>
  }
}

const asked = '{"symbol":"BTC-USDC-KO","side":"BUY","qty":"0.01","barrier":{"level":"58000.0"},"autoAccept":false}'
const longestWait = 5_000
/** The pause between two polls of a request without a quote, ms. */
const pollMillis = 5

class Worker {
  private readonly question: OpeningQuestion
  private readonly connection: Connection

  constructor(question: OpeningQuestion, connection: Connection) {
    this.question = question
    this.connection = connection
  }

  /**
   * Opens a contract by three requests: the request for quotes, the poll, and the accept. The contract is open when the
   * accept is answered.
   */
  async open(clientId: number): Promise<void> {
    const on = `/partner/v1/clients/${clientId}/rfq`
    const began = performance.now()
    let { data } = await this.send<Answer>("POST", on, asked)
    const { rfqId } = data
    for (let quote = data.quotes.find(({ state }) => state === "LIVE"); ;) {
      if (quote !== undefined) {
        const answer = await this.send<Answer>("POST", `${on}/${rfqId}/accept`, `{"quoteId":${quote.quoteId}}`)
        if (answer.data.rfqId !== rfqId) throw new Error(`an accept of ${rfqId} was answered for another request`)
        return
      }
      if (performance.now() - began > longestWait) throw new Error(`request ${rfqId} has no quote after 5 s`)
      await pause(pollMillis)
      ;({ data } = await this.send<Answer>("GET", `${on}/${rfqId}`, null))
      quote = data.quotes.find(({ state }) => state === "LIVE")
    }
  }

  async preview(clientId: number): Promise<void> {
    await this.send("POST", `/partner/v1/clients/${clientId}/rfq/preview`, asked)
  }

  private async send<A>(method: "GET" | "POST", path: string, body: string | null): Promise<A> {
    const { port, partnerKey } = this.question
    const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${partnerKey}\r\n`
    const rest =
      body === null
        ? "\r\n"
        : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nIdempotency-Key: ${randomUUID()}\r\n\r\n${body}`
    const { status, text } = await answerTo(this.connection, head + rest)
    if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4)) as A
  }
}

const answerTo = (
  connection: Connection,
  request: string
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    connection.handlers = {
      onAnswer: ({ status, text }) => resolve({ status, text: text() }),
      onBroken: (reason) => reject(new Error(reason))
    }
    connection.send(request)
  })

const run = async (question: OpeningQuestion): Promise<OpeningResult> => {
  const { port, ca, connections, millis, clientIds, kind } = question
  const latencies: Array<number> = []
  let done = 0
  let next = 0
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port, ca)))
  const began = performance.now()
  const deadline = began + millis
  try {
    await Promise.all(
      open.map(async (connection) => {
        const worker = new Worker(question, connection)
        for (let at = performance.now(); at < deadline; at = performance.now()) {
          await worker[kind](clientIds[next++ % clientIds.length] as number)
          done++
          const ended = performance.now()
          if (ended <= deadline) latencies.push(ended - at)
        }
      })
    )
  } finally {
    for (const connection of open) connection.close()
  }
  const ascending = latencies.toSorted((one, other) => one - other)
  const rate = (latencies.length / millis) * 1_000
  return { rate, done, p50Millis: percentile(ascending, 0.5), p99Millis: percentile(ascending, 0.99) }
}

answerParent(run)
