/**
 * Selects the headers that cross the edge, with pure functions over raw header lists. The edge frames both messages itself.
 * So it copies no header that defines the end of a message, and no header by which a caller could impersonate the edge (RFC
 * 9110, 7.6.1; RFC 9112, 6; A1-08: X-Forwarded-For).
 */
import type { IncomingMessage } from "node:http"
import { keyAccepted } from "../middleware/UnreadBodies.ts"

/** Names and values alternate, as in Node's `rawHeaders`. */
export type RawHeaders = ReadonlyArray<string>

/** Headers that concern one connection and not the message. */
const hopByHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
]

/** Headers that the edge sets itself: framing, expectations, and the caller's address. */
const notOfCallers = new Set([
  ...hopByHop,
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "x-request-id"
])

/** Headers that end at the edge: those that concern one connection, and those that only the edge uses. */
const notOfRouters = new Set([...hopByHop, keyAccepted])

/** The names of headers that a Connection header limits to its connection. */
const nominated = (connection: string | undefined): ReadonlySet<string> =>
  new Set(connection === undefined ? [] : connection.split(",").map((name) => name.trim().toLowerCase()))

const copied = (raw: RawHeaders, connection: string | undefined, dropped: ReadonlySet<string>): Array<string> => {
  const own = nominated(connection)
  const kept: Array<string> = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase()
    // Headers of the message are copied even if a Connection header names them.
    if (dropped.has(name) || (own.has(name) && !ofTheMessage.has(name))) continue
    kept.push(raw[i] as string, raw[i + 1] as string)
  }
  return kept
}

const ofTheMessage = new Set(["authorization", "x-partner-key", "idempotency-key", "content-type"])

/** The values that the edge sets on a forwarded request. */
export interface Origin {
  /** `host:port` of the router. */
  readonly host: string
  /** The caller's IP address. */
  readonly source: string
  readonly requestId: string
}

/** Whether a request has a body, by its framing headers. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/** Methods whose requests need no Content-Length for an empty body. */
const bodiless = new Set(["GET", "HEAD"])

/** The header list of the request to a router. */
export const requestHeaders = (request: IncomingMessage, origin: Origin): Array<string> => {
  const { headers, rawHeaders } = request
  const list = copied(rawHeaders, headers.connection, notOfCallers)
  list.push("host", origin.host, "x-forwarded-for", origin.source, "x-request-id", origin.requestId)
  const length = headers["content-length"] ?? (bodiless.has(request.method ?? "") ? undefined : "0")
  if (headers["transfer-encoding"] !== undefined) list.push("transfer-encoding", "chunked")
  else if (length !== undefined) list.push("content-length", String(Number(length)))
  if (expectsContinue(request)) list.push("expect", "100-continue")
  return list
}

/** Whether the caller waits for 100 Continue before it sends a body. HTTP/1.0 has no interim answers. */
export const expectsContinue = (request: IncomingMessage): boolean =>
  request.headers.expect !== undefined && request.httpVersion !== "1.0" && hasBody(request)

/**
 * The header list of the answer to the caller. The length is that of the router's answer, because the body is passed on
 * unchanged.
 */
export const answerHeaders = (answer: IncomingMessage, ending: boolean): Array<string> => {
  const list = copied(answer.rawHeaders, answer.headers.connection, notOfRouters)
  if (ending) list.push("connection", "close")
  return list
}
