/**
 * The checks of a genuine delivery: the signature over the raw body in constant time, and the age of the timestamp (doc 3,
 * Webhook registration and delivery: verification by the receiver, Limits: Signature freshness; A3-29; SC-WHK-10).
 */
import { createHmac, timingSafeEqual } from "node:crypto"

/** Largest difference between timestamp and receiver's clock, seconds. */
export const freshSeconds = 300

/** `v1=` and the hex HMAC-SHA256 of `timestamp.body`; the key is the whole secret, `whs_` included. */
export const signatureOf = (secret: string, timestamp: string, body: Uint8Array): string =>
  `v1=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`

/** Whether one of the secrets made this signature. The duration does not depend on the position of a difference. */
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

/**
 * `timestamp`: the header, Unix seconds; `now`: the receiver's clock, Unix ms. A difference of 300 s is fresh, 301 s is not.
 */
export const isFresh = (timestamp: string, now: number): boolean =>
  /^(0|[1-9][0-9]{0,11})$/.test(timestamp) && Math.abs(Math.floor(now / 1_000) - Number(timestamp)) <= freshSeconds
