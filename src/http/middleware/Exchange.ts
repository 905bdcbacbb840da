/** One request on its way through the gates: its parts, and the results of the gates (A1-02, A1-06). */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Principal } from "../../runtime/services/partners/Principal.ts"
import type { RateVerdict } from "./RateWindows.ts"
import type { RouteMatch } from "./routes.ts"

export class Exchange<P extends Principal = Principal> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** The method, with GET in place of HEAD. */
  readonly method: string
  readonly path: string
  /** The text after the question mark, or empty. */
  readonly search: string
  /** Wall time, Unix ms. */
  readonly now: number
  principal: P | null = null
  /** The time of the key's last use before this request, Unix ms; null if there was none. */
  lastUsedAt: number | null = null
  rate: RateVerdict | null = null
  match: RouteMatch | null = null
  idempotencyKey: string | null = null
  /** True when the connection ends with this answer. */
  last = false

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    target: { readonly url: string; readonly requestId: string; readonly now: number }
  ) {
    this.request = request
    this.response = response
    this.requestId = target.requestId
    this.now = target.now
    this.method = request.method === "HEAD" ? "GET" : (request.method ?? "")
    const question = target.url.indexOf("?")
    this.path = question === -1 ? target.url : target.url.slice(0, question)
    this.search = question === -1 ? "" : target.url.slice(question + 1)
  }
}
