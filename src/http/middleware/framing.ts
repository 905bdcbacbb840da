/**
 * Checks the framing of a request before any gate, so that every proxy in front reads the request in the same way. Node would
 * accept the requests refused here, or answer them without a body (RFC 9112, 2.3, 3.2 and 6.1; A1-02: the envelope on every
 * refusal).
 */
import type { IncomingMessage } from "node:http"
import { invalid, type WireRefusal } from "../../machines/shared/wireRefusal.ts"

const version = invalid("INVALID_HTTP", "The request must be HTTP/1.1 or HTTP/1.0.")
const target = invalid("INVALID_HTTP", "The request target must be a path.")
const host = invalid("INVALID_HTTP", "The request must have exactly one Host header.")
const coding = invalid("INVALID_HTTP", "The Transfer-Encoding must be chunked, alone, over HTTP/1.1.")
const expectation = invalid("INVALID_HTTP", "The Expect header must be 100-continue.")

/**
 * The refusal of ambiguous framing, or null. The connection must end with this answer, because the start of the next request
 * is unknown.
 */
export const framingRefusal = (request: IncomingMessage): WireRefusal | null => {
  const { headers, httpVersion, rawHeaders, url = "" } = request
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return version
  // Only the origin form is accepted: the other forms are for proxies, and `*` matches no route.
  if ((url.charCodeAt(0) !== 47 && url !== "*") || url.includes("#")) return target
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ""
    if (name.length === 4 && name.toLowerCase() === "host") hosts++
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) return host
  const transfer = headers["transfer-encoding"]
  if (transfer !== undefined && (transfer.toLowerCase() !== "chunked" || httpVersion === "1.0")) return coding
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") return expectation
  return null
}
