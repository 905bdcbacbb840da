/** Orders of all clients, working and ended, and their cancellation (operator surface, order; doc 2, Order). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OrderWire } from "../../../machines/order/OrderWire.ts"
import { token } from "../../../machines/shared/Fields.ts"
import { Id } from "../../../machines/shared/Ids.ts"
import { pageEnd } from "../../../machines/shared/Page.ts"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Reason, Reference } from "./OperatorFieldSchemas.ts"

/** The row as partners read it, with the client, the venue's id, and the leverage at placement. */
export const OrderView = Schema.Struct({
  ...OrderWire.fields,
  clientId: Id,
  clientUid: Schema.String,
  venueOrderId: Schema.NullOr(Schema.Int),
  leverage: Schema.NullOr(Schema.Int)
})

export class OrderGroup extends HttpApiGroup.make("order").add(
  HttpApiEndpoint.get("list", "/clients/:client/orders", {
    params: { client: Reference },
    query: {
      open: Schema.optionalKey(token("The open mark", ["true", "false"])),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(Schema.Struct({ orders: Schema.Array(OrderView), ...pageEnd }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/orders/:orderId", {
    params: { orderId: Reference },
    success: Answer(OrderView)
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("cancel", "/orders/:orderId/cancel", {
    params: { orderId: Reference },
    payload: Schema.Struct({ reason: Reason }),
    success: Answer(OrderView)
  }).pipe(openTo(admin))
) {}
