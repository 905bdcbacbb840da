/**
 * Receivers of the webhook benchmark, in a process of its own: a healthy receiver that answers 200 at once, and a
 * hanging one that reads and never answers. Duplicates count once, as every receiver must count them (doc 3, Webhook
 * registration).
 */
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { answerParent } from "../child.ts"
import type { ReceiverAnswer, ReceiverQuestion } from "./protocol.ts"

const seen = new Set<string>()
const at: Array<number> = []
const latencies: Array<number> = []

const arrived = (text: string): void => {
  const now = Date.now()
  const { id, ts } = JSON.parse(text) as { readonly id: number | string; readonly ts: number }
  if (seen.has(String(id))) return
  seen.add(String(id))
  at.push(now)
  latencies.push(Math.max(0, now - ts))
}

const listen = (cert: string, key: string, mode: "healthy" | "hanging"): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => void chunks.push(chunk))
      request.on("end", () => {
        if (mode === "hanging") return
        arrived(Buffer.concat(chunks).toString("utf8"))
        response.writeHead(200, { "content-length": 0 }).end()
      })
    })
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
  })

answerParent(async (question: ReceiverQuestion): Promise<ReceiverAnswer> => {
  if (question.kind === "listen") return { port: await listen(question.cert, question.key, question.mode) }
  const answer = {
    count: at.length,
    at: [...at].sort((a, b) => a - b),
    latencies: [...latencies].sort((a, b) => a - b)
  }
  if (question.kind === "reset") {
    seen.clear()
    at.length = 0
    latencies.length = 0
  }
  return answer
})
