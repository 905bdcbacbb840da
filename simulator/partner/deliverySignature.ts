/**
 * What a careful partner checks before it believes a delivery: the signature over the raw body in constant time and the
 * age of the timestamp (doc 3, Webhook registration and delivery: verification by the receiver; A3-29).
 */
import { createHmac, timingSafeEqual } from "node:crypto"

/** A timestamp further than this from the receiver's clock is refused, seconds (doc 3 Limits, Signature freshness). */
export const freshSeconds = 300

/** `v1=` and the hex HMAC-SHA256 of `timestamp.body`; the key is the whole secret, `whs_` included (A3-29). */
export const signatureOf = (secret: string, timestamp: string, body: Uint8Array): string =>
  `v1=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`

/** True when one of the secrets made this signature. Takes equally long wherever the two differ. */
export const isSignedBy = (
  secrets: ReadonlyArray<string>,
  timestamp: string,
  body: Uint8Array,
  signature: string
): boolean => {
  const given = Buffer.from(signature)
  return secrets.some((secret) => {
    const expected = Buffer.from(signatureOf(secret, timestamp, body))
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/** `timestamp`: the header, Unix seconds; `now`: the receiver's clock, Unix ms. 300 s off is fresh, 301 s is not (SC-WHK-10). */
export const isFresh = (timestamp: string, now: number): boolean =>
  /^(0|[1-9][0-9]{0,11})$/.test(timestamp) && Math.abs(Math.floor(now / 1_000) - Number(timestamp)) <= freshSeconds
