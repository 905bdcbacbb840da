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
export interface RfqOnMarket {
  readonly rfq: RequestedRfq
  readonly market: VenueMarket
}

/** Checks the fields, the market, and the fields that depend on the market. */
export const readRfq = (body: unknown, now: number, markets: ContractMarkets): Verdict<RfqOnMarket> => {
  const { requested, refusal } = checkFields(body, now, markets)
  return requested === null ? refuse(refusal) : accept(requested)
}

type RfqRequest =
  | { readonly requested: RfqOnMarket; readonly at: number; readonly refusal: null }
  | { readonly requested: null; readonly at: number; readonly refusal: Refusal }

/** Runs the checks that need no client. `at`: the index of the step that refuses, or the number of steps. */
const checkFields = (body: unknown, now: number, markets: ContractMarkets): RfqRequest => {
  const decoded = decodeRfq(body, { now })
  if (!decoded.ok) return { requested: null, at: 0, refusal: invalidBody(decoded) }
  const market = markets.find(decoded.body.symbol)
  if (!market.ok) return { requested: null, at: 1, refusal: market.refusal }
  const placed = rfqOnMarket(decoded.body, { market: market.value, terms: markets.terms, now })
  if (!placed.ok) return { requested: null, at: 2, refusal: invalidBody(placed) }
  return { requested: { rfq: placed.rfq, market: market.value }, at: steps.length, refusal: null }
}

/** Explains every gate of a request, in order. Calls `factsOf` only if the fields are valid. */
export const explainRequest = (
  body: unknown,
  now: number,
  markets: ContractMarkets,
  factsOf: (requested: RfqOnMarket) => RfqFacts
): Explanation => {
  const { requested, at, refusal } = checkFields(body, now, markets)
  const early = steps.map((gate, step): Gate<null> => ({
    gate,
    refusal: () => (step === at ? refusal : null),
    compared: () => null
  }))
  const rest =
    requested === null ? rfqGates.map(({ gate }) => notReached(gate)) : walkGates(rfqGates, factsOf(requested))
  const gates = [...walkGates(early, null), ...rest]
  const failed = gates.find(({ result }) => result === "failed")?.refusal ?? null
  return { write: "rfq", outcome: failed === null ? "ACCEPTED" : "REFUSED", refusal: failed, gates }
}
