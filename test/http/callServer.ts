/** A plain HTTPS client for the HTTP tests: one call with its complete answer, without retries. */
import type { IncomingHttpHeaders } from "node:http"
import { type Agent, request as httpsRequest } from "node:https"
import { keys } from "./canned.ts"

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body; undefined when it is empty. */
  readonly json: unknown
}

export interface CallOptions {
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body?: unknown
  /** The raw body, sent instead of `body`. */
  readonly raw?: string | Uint8Array
  /** Called when the first bytes of the answer's body arrive. */
  readonly begun?: () => void
}

/** Sends one request, with the TRADE key by default. */
export const callServer = (
  agent: Agent,
  port: number,
  method: string,
  path: string,
  options: CallOptions
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const key = options.key === undefined ? keys.trade : options.key
    const headers: Record<string, string | ReadonlyArray<string>> = { ...options.headers }
    if (key !== null) headers["authorization"] ??= `Bearer ${key}`
    if (payload !== undefined) headers["content-length"] ??= String(Buffer.byteLength(payload))
    const request = httpsRequest(
      { agent, host: "127.0.0.1", port, method, path, headers: headers as Record<string, string> },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.once("data", () => options.begun?.())
        response.on("error", reject)
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8")
          const isJson = String(response.headers["content-type"]).startsWith("application/json") && text !== ""
          const json: unknown = isJson ? JSON.parse(text) : undefined
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
        })
      }
    )
    request.on("error", reject)
    request.end(payload)
  })
