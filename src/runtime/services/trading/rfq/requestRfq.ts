/**
 * Checks a new request: first the fields and the market, which need no client (steps 1 to 3), then the client's gates
 * (4 to 8; A2-110, A3-14).
 */
import { type Gate, notReached, walkGates } from "../../../../machines/shared/Gates.ts"
import { accept, type Refusal, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { decodeRfq } from "../../../../machines/rfq/RfqBody.ts"
import { type RfqFacts, rfqGates } from "../../../../machines/rfq/rfqGates.ts"
import { type RequestedRfq, rfqOnMarket } from "../../../../machines/rfq/rfqOnMarket.ts"
import type { VenueMarket } from "../../../../machines/venue/VenueMarket.ts"
import type { Explanation } from "../../shared/Explanation.ts"
import type { ContractMarkets } from "./contractMarkets.ts"

const steps = ["fields", "market", "marketFields"] as const

/** A request whose fields are valid on its market. */
export interface Asked {
  readonly rfq: RequestedRfq
  readonly market: VenueMarket
}

/** Checks the fields, the market, and the fields that depend on the market. */
export const askedOf = (body: unknown, now: number, markets: ContractMarkets): Verdict<Asked> => {
  const { asked, refusal } = asking(body, now, markets)
  return asked === null ? refuse(refusal) : accept(asked)
}

type Asking =
  | { readonly asked: Asked; readonly at: number; readonly refusal: null }
  | { readonly asked: null; readonly at: number; readonly refusal: Refusal }

/** Runs the checks that need no client. `at`: the index of the step that refuses, or the number of steps. */
const asking = (body: unknown, now: number, markets: ContractMarkets): Asking => {
  const decoded = decodeRfq(body, { now })
  if (!decoded.ok) return { asked: null, at: 0, refusal: invalidBody(decoded) }
  const market = markets.find(decoded.body.symbol)
  if (!market.ok) return { asked: null, at: 1, refusal: market.refusal }
  const placed = rfqOnMarket(decoded.body, { market: market.value, terms: markets.terms, now })
  if (!placed.ok) return { asked: null, at: 2, refusal: invalidBody(placed) }
  return { asked: { rfq: placed.rfq, market: market.value }, at: steps.length, refusal: null }
}

/** Explains every gate of a request, in order. Calls `factsOf` only if the fields are valid. */
export const explainRequest = (
  body: unknown,
  now: number,
  markets: ContractMarkets,
  factsOf: (asked: Asked) => RfqFacts
): Explanation => {
  const { asked, at, refusal } = asking(body, now, markets)
  const early = steps.map((gate, step): Gate<null> => ({
    gate,
    refusal: () => (step === at ? refusal : null),
    compared: () => null
  }))
  const rest = asked === null ? rfqGates.map(({ gate }) => notReached(gate)) : walkGates(rfqGates, factsOf(asked))
  const gates = [...walkGates(early, null), ...rest]
  const failed = gates.find(({ result }) => result === "failed")?.refusal ?? null
  return { write: "rfq", outcome: failed === null ? "ACCEPTED" : "REFUSED", refusal: failed, gates }
}
