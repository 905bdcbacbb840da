// What the webhook routes do: one service call each (doc 3, Webhook). A webhook that was never registered is a refusal of
// the service's, told like any other.
import { Effect } from "effect"
import { pageLimits } from "../../machines/shared/Limits.ts"
import type { Webhooks } from "../../runtime/services/webhook/Webhooks.ts"
import { QueryReader } from "../middleware/queries.ts"
import { invalidQuery, toWire } from "../toWire.ts"
import { data, type Read, refused } from "./reads.ts"
import { enveloped, type Write, write } from "./writes.ts"

const deliveriesQuery = (search: string) => {
  const reader = new QueryReader(search)
  return reader.finish({ limit: reader.limit(pageLimits.deliveries), ...reader.before() })
}

/** The reads by operation id. */
export const webhookReads = (webhooks: Webhooks["Service"]): Readonly<Record<string, Read>> => ({
  "webhook.get": ({ partnerId }) =>
    Effect.map(webhooks.get(partnerId), (verdict) =>
      verdict.ok ? data(verdict.value) : refused(toWire(verdict.refusal))
    ),
  "webhook.deliveries": ({ exchange, partnerId }) => {
    const parsed = deliveriesQuery(exchange.search)
    return parsed.ok
      ? Effect.map(webhooks.deliveries(partnerId, parsed.query), data)
      : Effect.succeed(refused(invalidQuery(parsed.errors)))
  }
})

const done = (value: unknown) => enveloped(200, value)

/** The writes by operation id. */
export const webhookWrites = (webhooks: Webhooks["Service"]): Readonly<Record<string, Write>> => ({
  "webhook.register": write(done, ({ caller, body }) => webhooks.register(caller, body)),
  "webhook.remove": write(done, ({ caller }) => webhooks.remove(caller)),
  "webhook.test": write(
    done,
    ({ caller }, store) => webhooks.test(caller, store),
    ({ caller }) =>
      Effect.map(webhooks.get(caller.partner.row.id), (found) => (found.ok ? null : toWire(found.refusal)))
  )
})
