/** The writers of staking swaps: they fill the board and pay at maturity, or late, or not (C1, Staking writers; STS-36). */
import { type Board, boards, offerMillis, rateSpread } from "./defaultStaking.ts"
import { type Offer, owedOf, type Swap } from "./Staking.ts"
import type { VenueParts } from "./VenueParts.ts"

/** Puts an offer on every empty place of the board; places of a delisted market stay empty. */
export const fillBoards = (parts: VenueParts): void => {
  const standing = new Set([...parts.staking.offers.values()].map(placeOf))
  for (const board of boards) {
    if (!parts.stakingMarket(board.symbol).delisted && !standing.has(placeOf(board))) offerOn(parts, board)
  }
}

/** Puts an offer on the board and schedules its expiry. */
export const putOffer = (parts: VenueParts, offer: Pick<Offer, "symbol" | "rateBps" | "tenorDays" | "qty">): Offer => {
  const createdAt = parts.clock.now
  const { minQty } = parts.stakingMarket(offer.symbol)
  const put = parts.staking.offer({ ...offer, minQty, createdAt, expiryAt: createdAt + offerMillis })
  parts.agenda.add(put.expiryAt, { type: "offer", offerId: put.id })
  return put
}

/** Removes an offer that has expired, or whose remainder is too small to take. */
export const removeOffer = (parts: VenueParts, offerId: number): void => {
  if (parts.staking.remove(offerId) !== null) fillBoards(parts)
}

/** A swap matures: its writer pays in full, unless chance or a tester decides otherwise. */
export const mature = (parts: VenueParts, swap: Swap): void => {
  const { staking, streams, settings, clock, agenda } = parts
  if (swap.end !== null) return
  const { writers } = settings
  // The random number is always drawn, so that a tester's default does not shift later random choices.
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

/** Whether the tester's fault is in force; uses it once. */
const takeDefault = ({ settings, clock }: VenueParts): boolean => {
  const fault = settings.writersDefault
  if (fault === null) return false
  const over = (fault.until !== null && fault.until <= clock.now) || fault.times === 0
  settings.writersDefault = over ? null : { ...fault, times: fault.times === null ? null : fault.times - 1 }
  return !over
}

const offerOn = (parts: VenueParts, { symbol, tenorDays, rateBps, qty }: Board): void => {
  putOffer(parts, { symbol, tenorDays, qty, rateBps: rateBps + parts.streams.boards.between(0, rateSpread) })
}

const placeOf = ({ symbol, tenorDays }: Pick<Board, "symbol" | "tenorDays">): string => `${symbol} ${tenorDays}`
