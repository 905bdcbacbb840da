/** Offers of USDC on the staking board, which an operator command adds. */
import { Agent } from "node:https"
import { operator, until } from "../operator.ts"
import type { RunningService } from "../service.ts"
import type { BenchPartner } from "../setup.ts"
import { textOf } from "../textOf.ts"

export interface OfferTerms {
  readonly rateBps: number
  readonly tenorDays: number
  readonly qty: string
}

interface Board {
  readonly offers: ReadonlyArray<{ readonly offerId: number }>
}

/** Adds an offer. Returns its id once partners find it on the board. */
export const putOffer = async (service: RunningService, partner: BenchPartner, terms: OfferTerms): Promise<number> => {
  const answer = await operator(service, "POST", "/sim/venue/offer", { symbol: "USDC-SWAP", ...terms })
  const { id } = (JSON.parse(answer) as { readonly data: { readonly id: number } }).data
  const isOnBoard = async (): Promise<boolean> => {
    const agent = new Agent({ ca: service.ca })
    const asked = { method: "GET", path: "/partner/v1/staking/offers", key: partner.partnerKey } as const
    const text = await textOf(service, agent, asked).finally(() => agent.destroy())
    return (JSON.parse(text) as { readonly data: Board }).data.offers.some(({ offerId }) => offerId === id)
  }
  await until("the offer is on the board", isOnBoard)
  return id
}
