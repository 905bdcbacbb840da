/**
 * The request texts of a slice. Everything but reference and key is built once per client; all systems under test get
 * exactly the same requests (doc 3, Collateral report; doc 1, GET /clients/{id}).
 */
import { randomUUID } from "node:crypto"
import type { Slice } from "./protocol.ts"

/**
 * USDC of each report: so little that millions of reports stay below the source-of-wealth threshold (15,000 per
 * client).
 */
const amount = "1.250000"
const referenceDigits = 9

/** Returns the next request's text; every report has a fresh reference and a fresh key. Null: the list is used up. */
export const makeRequests = (slice: Slice): (() => string | null) => {
  const common = `Host: 127.0.0.1:${slice.port}\r\nAuthorization: Bearer ${slice.partnerKey}\r\n`
  const get = (id: number) => `GET /partner/v1/clients/${id} HTTP/1.1\r\n${common}\r\n`
  const { clientIds } = slice
  if (slice.kind === "readOnce") {
    let next = 0
    return () => (next < clientIds.length ? get(clientIds[next++] as number) : null)
  }
  const choose = makeChooser(clientIds.length)
  if (slice.kind === "read") {
    const texts = clientIds.map(get)
    return () => texts[choose()] as string
  }
  let count = 0
  const body = () => {
    const reference = `${slice.tag}-${String(count++).padStart(referenceDigits, "0")}`
    return `{"partnerRef":"${reference}","direction":"DEPOSIT","amount":"${amount}","txRef":"bank-${reference}"}`
  }
  const length = body().length
  const heads = clientIds.map(
    (id) =>
      `POST /partner/v1/clients/${id}/collateral HTTP/1.1\r\n${common}Content-Type: application/json\r\nContent-Length: ${length}\r\nIdempotency-Key: `
  )
  return () => `${heads[choose()] as string}${randomUUID()}\r\n\r\n${body()}`
}

/** Evenly spread indexes below `size`, the same in every slice (a small linear congruential generator). */
const makeChooser = (size: number): (() => number) => {
  let state = 12_345
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * size)
  }
}
