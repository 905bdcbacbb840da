/**
 * Polls the board of staking offers (A2-56). An impossible offer is quarantined and omitted; an impossible board counts
 * as no answer (A2-115).
 */
import { Effect, type Scope, Semaphore } from "effect"
import type { VenueOffer } from "../../../machines/venue/VenueMarket.ts"
import type { VenueBoard, VenueShape } from "../../ports/Venue.ts"
import type { MarketMirror } from "./MarketMirror.ts"
import { kindOf, type QuarantineRate } from "./QuarantineRate.ts"
import { boardFault, offerFault } from "./readFaults.ts"

const unread = "an offer can't be read"

/** A board of staking offers as it was read. */
export interface OfferBoard {
  readonly offers: ReadonlyArray<VenueOffer>
  /** Business time of the board at the venue, Unix ms. */
  readonly at: number
  /** Wall time at which the service read the board, Unix ms. */
  readonly readAt: number
}

/** A board, and whether it is recent enough to decide on a take (STS-1). */
export interface JudgedBoard extends OfferBoard {
  readonly isRecent: boolean
}

export interface OfferPollParts {
  readonly venue: Pick<VenueShape, "offers">
  readonly mirror: Pick<MarketMirror, "listing">
  readonly rate: QuarantineRate
  /** The process's wall time, Unix ms. */
  readonly now: () => number
  /** The latest business time that a board may plausibly have, Unix ms. */
  readonly latest: () => number
}

/** The interval of polls, and the age from which the offers count as stale (A2-56), wall ms. */
const offersEvery = 2_000
export const staleMillis = 10_000
/** The highest age of a board for the check of a take (STS-1), wall ms. */
const takenWithin = 3_000
/** The pause while the venue's listing is not known yet, wall ms. Offers can't be checked without its grids. */
const listingPause = 250
/** Timeout of a read of the board, wall ms. */
const readLimit = 2_000

export interface OfferReads {
  /** The board that was read last; null before the first. */
  readonly last: () => OfferBoard | null
  /**
   * A board that is recent enough for the check of a take: it is read again if necessary. If that read fails, the last
   * board, or null if there never was one.
   */
  readonly recent: Effect.Effect<JudgedBoard | null>
}

/** Polls the offers until the scope ends. Callers that need a newer board share one read. */
export const pollOffers = (parts: OfferPollParts): Effect.Effect<OfferReads, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { venue, mirror, now } = parts
    let last: OfferBoard | null = null
    /** Wall time at which the last read ended, successful or not. */
    let ended = 0
    const read = Effect.gen(function* () {
      const board = yield* Effect.timeout(venue.offers, readLimit)
      const offers = yield* believed(parts, board)
      if (offers !== null) last = { offers, at: board.at, readAt: now() }
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.logDebug("the staking offers can not be read: the next poll reads them again", cause)
      ),
      Effect.ensuring(Effect.sync(() => void (ended = now())))
    )
    // Reads run one at a time, so that a slow read never replaces a newer board by an older one.
    const one = Semaphore.makeUnsafe(1)
    yield* Effect.suspend(() =>
      mirror.listing === null
        ? Effect.sleep(listingPause)
        : Effect.andThen(one.withPermit(read), Effect.sleep(offersEvery))
    ).pipe(Effect.forever, Effect.forkScoped)
    const isRecent = (board: OfferBoard): boolean => now() - board.readAt <= takenWithin
    const isEnough = (): boolean => mirror.listing === null || (last !== null && isRecent(last))
    const judged = (): JudgedBoard | null => (last === null ? null : { ...last, isRecent: isRecent(last) })
    return {
      last: () => last,
      recent: Effect.suspend(() => {
        const requestedAt = now()
        // A read that ended while this caller waited is recent enough, even if it failed: the caller does not read once
        // more.
        const again = Effect.suspend(() => (isEnough() || ended >= requestedAt ? Effect.void : read))
        return isEnough() ? Effect.succeed(judged()) : Effect.map(one.withPermit(again), judged)
      })
    }
  })

/**
 * The possible part of a board; null: the board as a whole is impossible. Offers of markets that are not listed are
 * omitted.
 */
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
