/**
 * The board of staking offers, read again and again (A2-56). An offer that can't be true is set aside and left out, a board
 * that can't be is no answer (A2-115).
 */
import { Effect, type Scope, Semaphore } from "effect"
import type { VenueOffer } from "../../../machines/venue/VenueMarket.ts"
import type { VenueBoard, VenueShape } from "../../ports/Venue.ts"
import type { MarketMirror } from "./MarketMirror.ts"
import { kindOf, type QuarantineRate } from "./QuarantineRate.ts"
import { boardFault, offerFault } from "./readFaults.ts"

const unread = "an offer can't be read"

/** The board of staking offers as it was last read. */
export interface OfferBoard {
  readonly offers: ReadonlyArray<VenueOffer>
  /** Business time at the venue. */
  readonly at: number
  /** Wall time at which it was read here. */
  readonly readAt: number
}

export interface OfferPollParts {
  readonly venue: Pick<VenueShape, "offers">
  readonly mirror: Pick<MarketMirror, "listing">
  readonly rate: QuarantineRate
  /** Wall time. */
  readonly now: () => number
  /** Business time beyond which no board can be. */
  readonly latest: () => number
}

/** The offers are read so often, and count as stale when they were last read so long ago (A2-56), wall ms. */
const offersEvery = 2_000
export const staleMillis = 10_000
/** A take is judged on a board that was read at most so long ago (STS-1), wall ms. */
const takenWithin = 3_000
/** Before the listing has come, whose grids judge them. */
const listingPause = 250
/** A read that takes longer is given up, wall ms. */
const readLimit = 2_000

export interface OfferReads {
  /** As it was read last; null: it never was. */
  readonly last: () => OfferBoard | null
  /** Read again where it is older than a take may be judged on; the last one where the venue does not answer. */
  readonly recent: Effect.Effect<OfferBoard | null>
}

/** Reads the offers until the scope ends. Whoever wants a newer board than there is shares one reading with the others. */
export const pollOffers = (parts: OfferPollParts): Effect.Effect<OfferReads, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { venue, mirror, now } = parts
    let last: OfferBoard | null = null
    const read = Effect.gen(function* () {
      const board = yield* Effect.timeout(venue.offers, readLimit)
      const offers = yield* believed(parts, board)
      if (offers !== null) last = { offers, at: board.at, readAt: now() }
    }).pipe(Effect.catchCause((cause) => Effect.logDebug("the staking offers can not be read", cause)))
    yield* Effect.suspend(() =>
      mirror.listing === null ? Effect.sleep(listingPause) : Effect.andThen(read, Effect.sleep(offersEvery))
    ).pipe(Effect.forever, Effect.forkScoped)
    const one = Semaphore.makeUnsafe(1)
    const isRecent = (): boolean => last !== null && now() - last.readAt <= takenWithin
    const again = Effect.suspend(() => (isRecent() ? Effect.void : read))
    return {
      last: () => last,
      recent: Effect.suspend(() =>
        isRecent() || mirror.listing === null ? Effect.succeed(last) : Effect.map(one.withPermit(again), () => last)
      )
    }
  })

/** What of a board can be true; null: nothing of it. Offers of a market that is not listed (yet) are left out. */
const believed = (
  { mirror, rate, latest }: OfferPollParts,
  board: VenueBoard
): Effect.Effect<ReadonlyArray<VenueOffer> | null> =>
  Effect.gen(function* () {
    const whole = boardFault(board, latest())
    if (whole !== null) {
      yield* rate.add(kindOf("offers", "", whole), JSON.stringify(board), whole)
      return null
    }
    for (const bytes of board.unreadable ?? []) yield* rate.add(kindOf("offers", "", unread), bytes, unread)
    const markets = new Map((mirror.listing?.stakingMarkets ?? []).map((market) => [market.symbol, market]))
    const offers = new Map<number, VenueOffer>()
    for (const offer of board.offers) {
      const market = markets.get(offer.symbol)
      if (market === undefined) continue
      const fault = offers.has(offer.id) ? "the offer is on the board twice" : offerFault(offer, market, latest())
      if (fault === null) offers.set(offer.id, offer)
      else yield* rate.add(kindOf("offers", offer.symbol, fault), JSON.stringify(offer), fault)
    }
    return [...offers.values()]
  })
