/** The present staking markets and offers for takes: the offer board, halts and the venue connection (A2-56, STS-1). */
import { Effect } from "effect"
import { isCurrency } from "../../../../machines/shared/Currency.ts"
import { accept, type Refusal, refuse, unknown, venueAway, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { VenueOffer, VenueStakingMarket } from "../../../../machines/venue/VenueMarket.ts"
import type { RequestedTake } from "../../../../machines/swap/takeGates.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { MarketFeed } from "../../market/MarketFeed.ts"
import { MarketHalts } from "../../market/MarketHalts.ts"
import { unreached } from "../../market/MarketReads.ts"
import type { JudgedBoard } from "../../market/OfferPoll.ts"
import { type MarketServices, tradedMarkets } from "../tradedMarkets.ts"

/** An offer of the board with its market. `isRecent`: the board is recent enough for the check of a take. */
export type Offered = Omit<RequestedTake, "qty"> & { readonly isRecent: boolean }

export interface SwapMarkets {
  /** The service's share of rewards, basis points. */
  readonly commissionRewardBps: number
  readonly connected: () => boolean
  /** The message of our own halt of a staking market; null: no halt. A halt by the venue is part of the market. */
  readonly haltOf: (symbol: string) => string | null
  /**
   * Finds an offer on the board. A board older than 3 s is read again. Refused if the offer is gone, or no board was
   * ever read.
   */
  readonly find: (offerId: number | null) => Effect.Effect<Verdict<Offered>>
}

const noOffer = unknown("Offer")

export const swapMarkets: Effect.Effect<SwapMarkets, never, MarketServices | BusinessClock> = Effect.gen(function* () {
  const feed = yield* MarketFeed
  const halts = yield* MarketHalts
  const clock = yield* BusinessClock
  const { connected, terms } = yield* tradedMarkets

  const onBoard = (board: JudgedBoard | null, offerId: number): Verdict<Offered> => {
    const refusal: Refusal | null = board === null ? (unreached(feed) ?? venueAway) : null
    if (board === null || refusal !== null) return refuse(refusal ?? venueAway)
    const now = Math.max(board.at, clock.now())
    const offer = board.offers.find(({ id, expiryAt }) => id === offerId && expiryAt > now)
    const market = offer === undefined ? undefined : marketOf(offer)
    if (offer === undefined || market === undefined || !isCurrency(market.asset)) return refuse(noOffer)
    return accept({ offer, market, asset: market.asset, isRecent: board.isRecent })
  }
  const marketOf = ({ symbol }: VenueOffer): VenueStakingMarket | undefined =>
    feed.mirror.listing?.stakingMarkets.find((market) => market.symbol === symbol)

  return {
    commissionRewardBps: terms.commissionRewardBps,
    connected,
    haltOf: (symbol) =>
      halts.active().find(({ scope }) => scope === "ALL" || scope === "STAKING" || scope === symbol)?.message ?? null,
    find: (offerId) => {
      const refusal = unreached(feed)
      if (refusal !== null) return Effect.succeed(refuse(refusal))
      if (offerId === null) return Effect.succeed(refuse(noOffer))
      return Effect.map(feed.recentOffers, (board) => onBoard(board, offerId))
    }
  }
})
