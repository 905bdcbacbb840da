/** The body of a delivery as a receiver decodes it. Unknown events and data pass (doc 3, Webhook: delivery body). */
import { Exit, Schema } from "effect"
import { Id } from "../../src/machines/shared/Ids.ts"

export const DeliveryPayload = Schema.Struct({
  id: Id,
  event: Schema.String.check(Schema.isPattern(/^[a-z_.]{1,64}$/)),
  partnerId: Id,
  clientId: Schema.NullOr(Id),
  clientUid: Schema.NullOr(Schema.String),
  partnerClientRef: Schema.NullOr(Schema.String),
  ts: Schema.Int,
  data: Schema.Record(Schema.String, Schema.Unknown)
})
export type DeliveryPayload = typeof DeliveryPayload.Type

const decode = Schema.decodeUnknownExit(Schema.fromJsonString(DeliveryPayload))

/** The body of a delivery; null if the bytes are no delivery. */
export const parsePayload = (bytes: Buffer): DeliveryPayload | null => {
  const exit = decode(bytes.toString("utf8"))
  return Exit.isSuccess(exit) ? exit.value : null
}
