/**
 * A request of a simulated trader, decided once: every retry sends exactly this. A refused order is a valid answer (doc 1,
 * Idempotency; doc 2, Orders).
 */
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import type { PartnerCall } from "./PartnerClient.ts"
import { clientsPath, planCollateral, planOnboarding } from "./PartnerRequest.ts"
import type { SeededRandom } from "./SeededRandom.ts"

export const tradedPerp = "BTC-USDC-PERP"
export const tradedSpot = "BTC-USDC"
/** The single deposit of a trader, micro-USDC: under the source-of-wealth limit of 15,000 USDC. */
export const traderMoney = 10_000_000_000n

export interface PlaceOptions {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly type: "LIMIT" | "MARKET"
  readonly qty: string
  readonly price: string | null
}

export type TradeRequest =
  | { readonly kind: "setup"; readonly call: PartnerCall }
  | { readonly kind: "order"; readonly call: PartnerCall; readonly sent: PlaceOptions }
  | { readonly kind: "cancel"; readonly call: PartnerCall; readonly orderId: number }

const setup = (call: PartnerCall): TradeRequest => ({ kind: "setup", call })

/** The onboarding of the trader with this number; `now`: Unix ms. */
export const onboardingRequest = (tag: string, number: number, now: number): TradeRequest => {
  const { path, body, idempotencyKey } = planOnboarding(tag, number, number, now)
  return setup({ method: "POST", path, body, idempotencyKey })
}

/** Prepares a client for trading in every product: its level, then its money. */
export const admissionRequest = (
  tag: string,
  number: number,
  clientId: number,
  amount = traderMoney
): ReadonlyArray<TradeRequest> => {
  const own = `${clientsPath}/${clientId}`
  const test = JSON.stringify({ version: 1, answers: answersFor(questionnaire1, "PASS") })
  const mifid = JSON.stringify(sampleMifid())
  const money = { client: number, clientId, direction: "DEPOSIT", amount } as const
  const { path, body, idempotencyKey } = planCollateral(`${tag}-money`, number, money)
  return [
    setup({ method: "POST", path: `${own}/appropriateness`, body: test, idempotencyKey: `${tag}-test-${number}` }),
    setup({ method: "PUT", path: `${own}/mifid`, body: mifid, idempotencyKey: `${tag}-mifid-${number}` }),
    setup({ method: "POST", path, body, idempotencyKey })
  ]
}

const spotShare = 0.3
const limitShare = 0.6
/** Largest distance of a limit price from the market, as a share of the market's price. */
const reach = 0.02
const qty = "0.001"

/**
 * A random order near the market price `price`, USDC; its limit is rounded to whole USDC. Some orders trade at once, some
 * rest near the market, and some fill as the market moves.
 */
export const placeRequest = (
  random: SeededRandom,
  { clientId, price, key }: { readonly clientId: number; readonly price: number; readonly key: string }
): TradeRequest => {
  const isLimit = random.chance(limitShare)
  const sent: PlaceOptions = {
    symbol: random.chance(spotShare) ? tradedSpot : tradedPerp,
    side: random.chance(0.5) ? "BUY" : "SELL",
    type: isLimit ? "LIMIT" : "MARKET",
    qty,
    price: isLimit ? String(Math.round(price * (1 + reach * (2 * random.next() - 1)))) : null
  }
  const { price: limit, ...rest } = sent
  const body = JSON.stringify(limit === null ? rest : sent)
  return {
    kind: "order",
    sent,
    call: { method: "POST", path: `${clientsPath}/${clientId}/orders`, body, idempotencyKey: key }
  }
}

export const cancelOrderRequest = (clientId: number, orderId: number): TradeRequest => ({
  kind: "cancel",
  orderId,
  call: { method: "DELETE", path: `${clientsPath}/${clientId}/orders/${orderId}` }
})
