/**
 * Compares a knock-out contract with our own records: with the request and its accepted quote while it opens, with its frozen
 * terms later. Also checks how it may end (F17).
 */
import { outsideBand, type PriceBand } from "../market/PriceBand.ts"
import type { VenueContract } from "../venue/venueObjects.ts"
import { type Checks, exactly, isSame, misfitBy, sameFigure } from "./check.ts"

export interface AskedContract {
  readonly account: string
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly barrier: string
  readonly takeProfit: string | null
  readonly expiryTs: number
  readonly strict: boolean
  readonly premiumBps: number
  /** Entry price of the accepted quote, later of the contract; null: neither is known. */
  readonly entry: string | null
  /** We sent the accept that the venue names. */
  readonly isAccepted: boolean
  /** Ids and time that the venue has already reported; null: no report yet. */
  readonly known: { readonly id: number; readonly tradeId: number; readonly openedAt: number } | null
  /** The accepted closing quote, with its price if known; null: no closing quote was accepted. */
  readonly close: { readonly price: string | null } | null
  readonly isTornUp: boolean
  /** The band of the market's marks around a moment; null: the marks are unknown. */
  readonly bandAt: (at: number) => PriceBand | null
  /** Whether the market is listed and not delisted; null: unknown. */
  readonly isListed: boolean | null
}

/** A check that a member equals the venue's earlier report. */
const asBefore =
  (called: string, saidOf: (said: VenueContract) => number, of: "id" | "tradeId" | "openedAt") =>
  (said: VenueContract, { known }: AskedContract): string | null =>
    known === null || known[of] === saidOf(said) ? null : `${called} ${saidOf(said)}, it was ${known[of]}`

const endMisfit = (said: VenueContract, asked: AskedContract): string | null => {
  const { state, endedAt } = said
  switch (state) {
    case "OPEN":
      return null
    case "EARLY_CLOSE":
      return asked.close === null ? "closed early without a close request" : null
    case "TORN_UP":
      return asked.isTornUp ? null : "torn up without a request"
    case "TAKE_PROFIT":
      return asked.takeProfit === null ? "ended at a take profit that it does not have" : null
    case "EXPIRED":
      return endedAt !== null && endedAt < asked.expiryTs ? "expired before its expiry" : null
    case "CLOSED":
      return asked.isListed === true ? "settled with its market, which is listed" : null
    case "KNOCKED_OUT":
      return null
  }
}

/** The exact settlement price of an end; null: any price within the band of that time fits. */
const exactPrice = ({ state }: VenueContract, { barrier, takeProfit, close }: AskedContract): string | null => {
  if (state === "KNOCKED_OUT") return barrier
  if (state === "TAKE_PROFIT") return takeProfit
  return state === "EARLY_CLOSE" ? (close?.price ?? null) : null
}

const settleMisfit = (said: VenueContract, asked: AskedContract): string | null => {
  const { state, settlePrice, endedAt } = said
  if (state === "OPEN") return settlePrice === null ? null : "a price of its end while it is open"
  if (settlePrice === null || endedAt === null) return "an end without price or time"
  const exact = exactPrice(said, asked)
  if (exact !== null && !isSame(settlePrice, exact)) return `${state} at ${settlePrice}, which is ${exact}`
  // A quote carries the dealer's own price, so the band does not apply to it.
  return state === "EARLY_CLOSE" && exact !== null ? null : outsideBand(settlePrice, asked.bandAt(endedAt))
}

export const contractChecks: Checks<VenueContract, AskedContract> = {
  id: asBefore("venue id", ({ id }) => id, "id"),
  ref: ({ ref }, { isAccepted }) => (isAccepted ? null : `accept ${ref} was not sent`),
  account: exactly("account", "account", ({ account }) => account),
  symbol: exactly("market", "symbol", ({ symbol }) => symbol),
  side: exactly("side", "side", ({ side }) => side),
  qty: sameFigure("quantity", "qty", ({ qty }) => qty),
  entry: ({ entry, openedAt }, asked) => {
    if (asked.entry === null) return outsideBand(entry, asked.bandAt(openedAt))
    return isSame(entry, asked.entry) ? null : `entry ${entry}, accepted at ${asked.entry}`
  },
  barrier: sameFigure("barrier", "barrier", ({ barrier }) => barrier),
  takeProfit: sameFigure("take profit", "takeProfit", ({ takeProfit }) => takeProfit),
  expiryAt: exactly("expiry", "expiryAt", ({ expiryTs }) => expiryTs),
  strict: exactly("strict", "strict", ({ strict }) => strict),
  premiumBps: exactly("premium share", "premiumBps", ({ premiumBps }) => premiumBps),
  tradeId: asBefore("trade", ({ tradeId }) => tradeId, "tradeId"),
  openedAt: asBefore("opened at", ({ openedAt }) => openedAt, "openedAt"),
  state: endMisfit,
  settlePrice: settleMisfit,
  endedAt: ({ state, openedAt, expiryAt, endedAt }) => {
    if (endedAt === null) return null
    if (endedAt < openedAt) return "it ended before it was opened"
    const isTouched = state === "KNOCKED_OUT" || state === "TAKE_PROFIT"
    return isTouched && endedAt > expiryAt ? "a level was touched after its expiry" : null
  }
}

/** Why a contract does not fit our records; null: it fits. */
export const contractMisfit = misfitBy(contractChecks)
