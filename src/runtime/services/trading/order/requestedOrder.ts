/** Checks a new order: first the fields and the market, which need no client, then the client's gates (A2-91, A3-14). */
import { decodeOrder } from "../../../../machines/order/OrderBody.ts"
import { type OrderFacts, orderGates } from "../../../../machines/order/orderGates.ts"
import { orderOnMarket } from "../../../../machines/order/orderOnMarket.ts"
import { type Gate, notReached, walkGates } from "../../../../machines/shared/Gates.ts"
import { type Refusal } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import type { Explanation } from "../../shared/Explanation.ts"
import type { Asked } from "./orderFacts.ts"
import type { OrderMarkets } from "./orderMarkets.ts"

const steps = ["fields", "market"] as const

export type Asking =
  | { readonly asked: Asked; readonly at: number; readonly refusal: null }
  | { readonly asked: null; readonly at: number; readonly refusal: Refusal }

/** Checks the fields and the market. `at`: the index of the step that refuses, or the number of steps. */
export const asking = (body: unknown, markets: OrderMarkets, decode: typeof decodeOrder = decodeOrder): Asking => {
  const decoded = decode(body)
  if (!decoded.ok) return { asked: null, at: 0, refusal: invalidBody(decoded) }
  const market = markets.find(decoded.body.symbol)
  if (!market.ok) return { asked: null, at: 1, refusal: market.refusal }
  const placed = orderOnMarket(decoded.body, market.value)
  if (!placed.ok) return { asked: null, at: 0, refusal: invalidBody(placed) }
  const { order, grid } = placed
  return { asked: { order, market: market.value, grid }, at: steps.length, refusal: null }
}

/** Explains every gate of an order, in order. Calls `factsOf` only if the fields are valid. */
export const explainOrder = ({ asked, at, refusal }: Asking, factsOf: (asked: Asked) => OrderFacts): Explanation => {
  const early = steps.map((gate, step): Gate<null> => ({
    gate,
    refusal: () => (step === at ? refusal : null),
    compared: () => null
  }))
  const rest = asked === null ? orderGates.map(({ gate }) => notReached(gate)) : walkGates(orderGates, factsOf(asked))
  const gates = [...walkGates(early, null), ...rest]
  const failed = gates.find(({ result }) => result === "failed")?.refusal ?? null
  return { write: "order", outcome: failed === null ? "ACCEPTED" : "REFUSED", refusal: failed, gates }
}
