/** The writers of staking swaps: they fill the board and pay at maturity, or late, or not (C1, Staking writers; STS-36). */
import { type Board, boards, offerMillis, rateSpread } from "./defaultStaking.ts"
import type { SeededRandom } from "../../partner/SeededRandom.ts"
import type { Agenda } from "./Agenda.ts"
import { type Offer, owedOf, type Staking, type StakingMarket, type Swap } from "./Staking.ts"
import type { WritersInForce } from "./VenueKnobs.ts"

/** The parts of a venue that its writers use. */
export interface WriterParts {
  readonly staking: Staking
  readonly streams: { readonly writers: SeededRandom; readonly boards: SeededRandom }
  readonly settings: {
    readonly writers: WritersInForce
    writersDefault: { readonly until: number | null; readonly times: number | null } | null
  }
  readonly clock: { readonly now: number }
  readonly agenda: Agenda
  stakingMarket(symbol: string): StakingMarket
}

/** Puts an offer on every empty place of the board; places of a delisted market stay empty. */
export const fillBoards = (parts: WriterParts): void => {
  const standing = new Set([...parts.staking.offers.values()].map(placeOf))
  for (const board of boards) {
    if (!parts.stakingMarket(board.symbol).delisted && !standing.has(placeOf(board))) offerOn(parts, board)
  }
}

/** Puts an offer on the board and schedules its expiry. */
export const putOffer = (parts: WriterParts, offer: Pick<Offer, "symbol" | "rateBps" | "tenorDays" | "qty">): Offer => {
  const createdAt = parts.clock.now
  const { minQty } = parts.stakingMarket(offer.symbol)
  const put = parts.staking.offer({ ...offer, minQty, createdAt, expiryAt: createdAt + offerMillis })
  parts.agenda.add(put.expiryAt, { type: "offer", offerId: put.id })
  return put
}

/** Removes an offer that has expired, or whose remainder is too small to take. */
export const removeOffer = (parts: WriterParts, offerId: number): void => {
  if (parts.staking.remove(offerId) !== null) fillBoards(parts)
}

/** A swap matures: its writer pays in full, unless chance or a tester decides otherwise. */
export const mature = (parts: WriterParts, swap: Swap): void => {
  const { staking, streams, settings, clock, agenda } = parts
  if (swap.end !== null) return
  const { writers } = settings
  // Drawn also for a writer whose default a tester has ordered, so that later random choices stay the same.
  const drawn = streams.writers.next()
  if (takeDefault(parts) || drawn < writers.default) return staking.fallShort(swap)
  const late = (): void => agenda.add(clock.now + writers.lateMillis, { type: "payment", swapId: swap.id })
  if (drawn < writers.default + writers.late) return late()
  if (drawn >= writers.default + writers.late + writers.short) return staking.pay(swap, owedOf(swap), clock.now)
  const part = (owedOf(swap) * BigInt(Math.round(writers.shortShare * 10_000))) / 10_000n
  if (part > 0n) staking.pay(swap, part, clock.now)
  if (swap.end !== null) return
  staking.fallShort(swap)
  late()
}

/** Whether a default ordered by a tester applies to this maturity. A default with a number of uses loses one. */
const takeDefault = ({ settings, clock }: WriterParts): boolean => {
  const fault = settings.writersDefault
  if (fault === null) return false
  const over = (fault.until !== null && fault.until <= clock.now) || fault.times === 0
  settings.writersDefault = over ? null : { ...fault, times: fault.times === null ? null : fault.times - 1 }
  return !over
}

const offerOn = (parts: WriterParts, { symbol, tenorDays, rateBps, qty }: Board): void => {
  putOffer(parts, { symbol, tenorDays, qty, rateBps: rateBps + parts.streams.boards.between(0, rateSpread) })
}

const placeOf = ({ symbol, tenorDays }: Pick<Board, "symbol" | "tenorDays">): string => `${symbol} ${tenorDays}`
