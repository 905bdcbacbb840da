/** Orders of a client as it reads them (doc 2, Order): all of them, and those that have not ended. */
import { Effect } from "effect"
import { OrderReads } from "../../runtime/services/order/OrderReads.ts"
import type { OrdersApi } from "../api/OrdersApi.ts"
import { type Handlers, orUnknown } from "./handler.ts"

/** The reads of the group. */
export const orderReads = Effect.map(OrderReads, (reads): Pick<Handlers<typeof OrdersApi>, "list" | "open"> => ({
  list: ({ caller, params, query }) => Effect.map(reads.list(caller.partner.row.id, params.clientId, query), orUnknown),
  open: ({ caller, params }) => Effect.map(reads.open(caller.partner.row.id, params.clientId), orUnknown)
}))
