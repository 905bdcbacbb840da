/** Checks a new order: first the fields and the market, which need no client, then the client's gates (A2-91, A3-14). */
import { decodeOrder } from "../../../../machines/order/OrderBody.ts"
import { type OrderFacts, orderGates } from "../../../../machines/order/orderGates.ts"
import { orderOnMarket } from "../../../../machines/order/orderOnMarket.ts"
import { type Gate, notReached, walkGates } from "../../../../machines/shared/Gates.ts"
import { type Refusal } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import type { Explanation } from "../../shared/Explanation.ts"
import type { OrderOnMarket } from "./orderFacts.ts"
import type { OrderMarkets } from "./orderMarkets.ts"

const steps = ["fields", "market"] as const

export type OrderRequest =
  | { readonly requested: OrderOnMarket; readonly at: number; readonly refusal: null }
  | { readonly requested: null; readonly at: number; readonly refusal: Refusal }

/** Checks an order's fields and its market. `at`: the index of the step that refuses; the number of steps if none does. */
export const readOrder = (
  body: unknown,
  markets: OrderMarkets,
  decode: typeof decodeOrder = decodeOrder
): OrderRequest => {
  const decoded = decode(body)
  if (!decoded.ok) return { requested: null, at: 0, refusal: invalidBody(decoded) }
  const market = markets.find(decoded.body.symbol)
  if (!market.ok) return { requested: null, at: 1, refusal: market.refusal }
  const placed = orderOnMarket(decoded.body, market.value)
  if (!placed.ok) return { requested: null, at: 0, refusal: invalidBody(placed) }
  const { order, grid } = placed
  return { requested: { order, market: market.value, grid }, at: steps.length, refusal: null }
}

/**
 * Explains every gate of an order, in the order in which they run. `factsOf` is called only if fields and market are valid.
 */
export const explainOrder = (
  { requested, at, refusal }: OrderRequest,
  factsOf: (requested: OrderOnMarket) => OrderFacts
): Explanation => {
  const early = steps.map((gate, step): Gate<null> => ({
    gate,
    refusal: () => (step === at ? refusal : null),
    compared: () => null
  }))
  const rest =
    requested === null ? orderGates.map(({ gate }) => notReached(gate)) : walkGates(orderGates, factsOf(requested))
  const gates = [...walkGates(early, null), ...rest]
  const failed = gates.find(({ result }) => result === "failed")?.refusal ?? null
  return { write: "order", outcome: failed === null ? "ACCEPTED" : "REFUSED", refusal: failed, gates }
}
