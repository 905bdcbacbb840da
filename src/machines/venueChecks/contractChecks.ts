/**
 * Compares a knock-out contract with the service's own records: at its opening with the request and the accepted quote, later
 * with its frozen terms. Also checks the contract's end (F17, D4).
 */
import type { ContractContext } from "../contract/Contract.ts"
import { outsideBand, type PriceBand, shortOfLevel } from "../market/PriceBand.ts"
import { acceptRef } from "../rfq/Rfq.ts"
import type { VenueContract } from "../venue/venueObjects.ts"
import { type Checks, differs, exactly, isSame, misfitBy, sameFigure, settlementMisfit } from "./check.ts"
import { anyTime, timeMisfit, type VenueTime } from "../venue/timeChecks.ts"

export interface RequestedContract {
  /** The ref of the accept that opened, or would open, the contract. */
  readonly ref: string
  /**
   * The service's record of that accept. SENT includes an accept that the venue had not received, because it may still be
   * executed. A REFUSED accept must not be executed. NONE: the service has sent no such accept.
   */
  readonly accept: "SENT" | "REFUSED" | "NONE"
  /** The time when the accept was sent; null when the contract is open in the service already, or the time is unknown. */
  readonly sentAt: number | null
  readonly account: string
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly barrier: string
  readonly takeProfit: string | null
  readonly expiryTs: number
  readonly strict: boolean
  readonly premiumBps: number
  /** The entry price: of the accepted quote at the opening, of the contract later; null when unknown. */
  readonly entry: string | null
  /** The ids and the time that the venue has already reported; null before its first report. */
  readonly known: { readonly id: number; readonly tradeId: number; readonly openedAt: number } | null
  /**
   * The accepted closing quote, with its price and the time of its accept where known. Null when no closing quote was
   * accepted.
   */
  readonly close: { readonly price: string | null; readonly sentAt: number | null } | null
  /**
   * A tear-up that the venue may execute; `sentAt` is null for one that the venue had not received. Null when no tear-up was
   * requested, or it was refused.
   */
  readonly tearUp: { readonly sentAt: number | null } | null
  /** The band of the market's marks around a moment, widened by `bps` basis points; null when the marks are unknown. */
  readonly bandAt: (at: number, bps?: number) => PriceBand | null
  /** Whether the market is listed and not delisted; null when unknown. */
  readonly isListed: boolean | null
  readonly venueTime: VenueTime
}

/** The frozen terms of a contract, and the ids that the venue has reported. */
export const frozenTerms = (context: ContractContext) => {
  const { rfqId, quoteId, venueContractId: id, tradeId, openedAt } = context
  // A contract with id zero was resolved by staff, and the venue has not reported its ids yet, so nothing is known to
  // compare with.
  const known = id === 0 ? null : { id, tradeId, openedAt }
  return { ...context, ref: acceptRef(rfqId, quoteId), accept: "SENT", sentAt: null, known } as const
}

/** Makes the check that a member of a report equals the one in the venue's earlier report. */
const asBefore =
  (called: string, reportOf: (report: VenueContract) => number, of: "id" | "tradeId" | "openedAt") =>
  (report: VenueContract, { known }: RequestedContract): string | null =>
    known === null || known[of] === reportOf(report) ? null : differs(called, reportOf(report), known[of])

const sameOpening = asBefore("opening time", ({ openedAt }) => openedAt, "openedAt")

const endMisfit = (report: VenueContract, expected: RequestedContract): string | null => {
  const { state, endedAt } = report
  switch (state) {
    case "OPEN":
      return null
    case "EARLY_CLOSE":
      return expected.close === null ? "it is closed early, but no accept of a closing quote stands" : null
    case "TORN_UP":
      return expected.tearUp === null ? "it is torn up, but no tear-up stands" : null
    case "TAKE_PROFIT":
      return expected.takeProfit === null ? "it has taken profit, but it has no take profit" : null
    case "EXPIRED":
      return endedAt !== null && endedAt < expected.expiryTs ? "it has expired before its expiry" : null
    case "CLOSED":
      return settlementMisfit(expected.isListed)
    case "KNOCKED_OUT":
      return null
  }
}

/** The only price at which this end may settle; null if any price within the band of that time may. */
const exactPrice = ({ state }: VenueContract, { barrier, takeProfit, close }: RequestedContract): string | null => {
  if (state === "KNOCKED_OUT") return barrier
  if (state === "TAKE_PROFIT") return takeProfit
  return state === "EARLY_CLOSE" ? (close?.price ?? null) : null
}

/** True if the contract ended because the mark touched one of its frozen levels. */
const isTouched = ({ state }: VenueContract): boolean => state === "KNOCKED_OUT" || state === "TAKE_PROFIT"

/**
 * An error sentence when the mark did not touch the frozen level. The venue publishes the mark of each touch before the
 * event, so known marks decide this exactly. The contract settles at its level, however far the mark has passed the level.
 */
const touchMisfit = (
  level: string,
  endedAt: number,
  report: VenueContract,
  expected: RequestedContract
): string | null => {
  const direction = (expected.side === "BUY") === (report.state === "KNOCKED_OUT") ? "AT_OR_BELOW" : "AT_OR_ABOVE"
  return shortOfLevel(level, direction, expected.bandAt(endedAt, 0))
}

const settleMisfit = (report: VenueContract, expected: RequestedContract): string | null => {
  const { state, settlePrice, endedAt } = report
  if (state === "OPEN") {
    return settlePrice === null && endedAt === null ? null : "it is open, but it has the price or the time of an end"
  }
  if (settlePrice === null || endedAt === null) return "it has ended without price or time"
  const exact = exactPrice(report, expected)
  if (exact !== null && !isSame(settlePrice, exact)) return differs(`price of ${state}`, settlePrice, exact)
  // A closing quote has the dealer's own price, so it is not compared with the marks.
  if (exact !== null) return isTouched(report) ? touchMisfit(exact, endedAt, report, expected) : null
  // An expiry settles at the mark of the expiry time, however late it is processed.
  return outsideBand(settlePrice, expected.bandAt(state === "EXPIRED" ? expected.expiryTs : endedAt))
}

/** The time at which the service requested the end; null for an end without a request, and if the time is unknown. */
const endSentAt = ({ state }: VenueContract, { close, tearUp }: RequestedContract): number | null => {
  if (state === "EARLY_CLOSE") return close?.sentAt ?? null
  return state === "TORN_UP" ? (tearUp?.sentAt ?? null) : null
}

export const contractChecks: Checks<VenueContract, RequestedContract> = {
  id: asBefore("venue id", ({ id }) => id, "id"),
  ref: ({ ref }, { ref: ours, accept }) => {
    if (ref !== ours) return differs("ref", ref, ours)
    if (accept === "SENT") return null
    return accept === "REFUSED"
      ? `accept ${ref} is executed, but the venue has refused it`
      : `accept ${ref} was not sent`
  },
  account: exactly("account", "account", ({ account }) => account),
  symbol: exactly("market", "symbol", ({ symbol }) => symbol),
  side: exactly("side", "side", ({ side }) => side),
  qty: sameFigure("quantity", "qty", ({ qty }) => qty),
  entry: ({ entry, openedAt }, expected) => {
    if (expected.entry === null) return outsideBand(entry, expected.bandAt(openedAt))
    return isSame(entry, expected.entry) ? null : differs("entry", entry, expected.entry)
  },
  barrier: sameFigure("barrier", "barrier", ({ barrier }) => barrier),
  takeProfit: sameFigure("take profit", "takeProfit", ({ takeProfit }) => takeProfit),
  expiryAt: exactly("expiry", "expiryAt", ({ expiryTs }) => expiryTs),
  strict: exactly("strict flag", "strict", ({ strict }) => strict),
  premiumBps: exactly("premium share", "premiumBps", ({ premiumBps }) => premiumBps),
  tradeId: asBefore("trade", ({ tradeId }) => tradeId, "tradeId"),
  openedAt: (report, expected) =>
    sameOpening(report, expected) ??
    timeMisfit(
      { called: "the opening time", at: report.openedAt, sentAt: expected.sentAt, mayBeOld: true },
      expected.venueTime
    ),
  state: endMisfit,
  settlePrice: settleMisfit,
  endedAt: (report, expected) => {
    const { openedAt, expiryAt, endedAt, state } = report
    if (endedAt === null) return null
    if (endedAt < openedAt) return "it has ended before its opening"
    if (isTouched(report) && endedAt > expiryAt) return "a level was touched after its expiry"
    // The time of an expiry is a frozen term, however late the venue processes it.
    const end = { called: "the end", at: endedAt, sentAt: endSentAt(report, expected), mayBeOld: state === "EXPIRED" }
    return timeMisfit(end, expected.venueTime)
  }
}

/** The reason that a contract report does not fit the service's records, or null. */
export const contractMisfit = misfitBy(contractChecks)

/** The reason that a contract, open on both sides, differs from its frozen terms, or null. */
export const openContractMisfit = (report: VenueContract, context: ContractContext): string | null =>
  contractMisfit(report, { ...frozenTerms(context), ...nothingKnown })

const nothingKnown = {
  close: null,
  tearUp: null,
  bandAt: () => null,
  isListed: null,
  venueTime: anyTime
} as const
