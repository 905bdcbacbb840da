/**
 * The signature of a delivery: HMAC-SHA256 over the timestamp and the raw body. The key is the whole secret string,
 * prefix included (A3-29).
 */
import { createHmac } from "node:crypto"
import type { OutgoingWebhook } from "../../ports/WebhookSender.ts"

/** The value of the header X-Brokerage-Signature: `v1=` and lower-case hex. `timestamp`: Unix seconds as in the header. */
export const signatureOf = (secret: string, timestamp: number, body: string): string =>
  `v1=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`

/** The headers of one attempt. Every retry has a new timestamp. `now`: wall clock, Unix ms. */
export const signedHeaders = (webhook: OutgoingWebhook, now: number): Readonly<Record<string, string>> => {
  const timestamp = Math.floor(now / 1_000)
  return {
    "Content-Type": "application/json",
    "X-Brokerage-Event": webhook.event,
    "X-Brokerage-Delivery": String(webhook.deliveryId),
    "X-Brokerage-Timestamp": String(timestamp),
    "X-Brokerage-Signature": signatureOf(webhook.secret, timestamp, webhook.body)
  }
}
