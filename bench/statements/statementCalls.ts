/** Requests and downloads of statements over HTTP, on a connection of their own. */
import { Agent, request } from "node:https"
import { setTimeout as pause } from "node:timers/promises"

export interface StatementSide {
  readonly port: number
  readonly ca: string
  readonly partnerKey: string
}

interface Answer {
  readonly status: number
  readonly bytes: number
  readonly text: string
}

const call = ({ port, ca, partnerKey }: StatementSide, method: "GET" | "POST", path: string, body?: object) =>
  new Promise<Answer>((resolve, reject) => {
    const agent = new Agent({ ca })
    const type = body === undefined ? {} : { "content-type": "application/json" }
    const headers = { authorization: `Bearer ${partnerKey}`, ...type }
    const fail = (error: Error) => {
      agent.destroy()
      reject(error)
    }
    const sent = request(`https://127.0.0.1:${port}/partner/v1${path}`, { method, agent, headers }, (answer) => {
      let bytes = 0
      const pieces: Array<Buffer> = []
      answer.on("data", (piece: Buffer) => {
        bytes += piece.length
        // Only the length of a file is needed.
        if (method === "POST" || answer.statusCode !== 200) pieces.push(piece)
      })
      answer.once("error", fail)
      answer.once("end", () => {
        agent.destroy()
        resolve({ status: answer.statusCode ?? 0, bytes, text: Buffer.concat(pieces).toString() })
      })
    })
    sent.once("error", fail)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

export interface MadeStatement {
  readonly statementId: number
  readonly rows: number
}

export interface AskedStatement {
  readonly clientId: number
  readonly from: number
  readonly to: number
}

/**
 * The build continues after its caller's timeout, and a repeated request finds it. The pause before a repeated request,
 * ms.
 */
const retryMillis = 50
const patienceMillis = 600_000

export const makeAccount = async (
  side: StatementSide,
  { clientId, from, to }: AskedStatement
): Promise<MadeStatement> => {
  const until = performance.now() + patienceMillis
  for (;;) {
    const answer = await call(side, "POST", `/clients/${clientId}/statements`, { kind: "ACCOUNT", from, to })
    if (answer.status === 200) return JSON.parse(answer.text) as MadeStatement
    if (answer.status !== 503 || performance.now() > until)
      throw new Error(`statement: ${answer.status} ${answer.text}`)
    await pause(retryMillis)
  }
}

/** Downloads a file and returns its bytes. */
export const saveFile = async (
  side: StatementSide,
  clientId: number,
  { statementId }: MadeStatement,
  form: "csv" | "pdf"
): Promise<number> => {
  const answer = await call(side, "GET", `/clients/${clientId}/statements/${statementId}/${form}`)
  if (answer.status !== 200 || answer.bytes === 0) throw new Error(`${form}: ${answer.status} ${answer.text}`)
  return answer.bytes
}
