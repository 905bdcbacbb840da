/** Compares a staking swap with its take, then with its frozen terms (F22, D8). */
import { isLess, scaled } from "../shared/Exact.ts"
import { type SwapContext, swapRef } from "../swap/Swap.ts"
import { dayMillis } from "../swap/swapFigures.ts"
import { notReceived } from "../venue/venueCalls.ts"
import type { VenueFeeCorrection, VenuePayment, VenueSwap } from "../venue/swapAtVenue.ts"
import {
  type Checks,
  differs,
  exactly,
  isSame,
  misfitBy,
  row,
  type Rows,
  sameFigure,
  settlementMisfit
} from "./check.ts"
import { timeMisfit, type VenueTime } from "../venue/timeChecks.ts"

export interface ExpectedSwap {
  readonly swap: SwapContext
  /** Whether the market is listed and not delisted; null when unknown. */
  readonly isListed: boolean | null
  readonly venueTime: VenueTime
}

/** Whether the venue has reported the swap's ids. False before the first report, and when staff resolved the take. */
const known = ({ contractId }: SwapContext): boolean => contractId !== null && contractId !== 0

const asBefore =
  (called: string, reportOf: (report: VenueSwap) => number, of: "contractId" | "tradeId" | "openedTs") =>
  (report: VenueSwap, { swap }: ExpectedSwap): string | null =>
    !known(swap) || swap[of] === reportOf(report) ? null : differs(called, reportOf(report), swap[of])

const sameOpening = asBefore("opening time", ({ openedAt }) => openedAt, "openedTs")

/**
 * Refuses a fee larger than the notional. A corrected fee above the listed rate is booked all the same, with a break for the
 * excess.
 */
const feeMisfit = (fee: string, { swap: { notional } }: ExpectedSwap): string | null =>
  isLess(scaled(notional), scaled(fee)) ? `the fee ${fee} is larger than the notional ${notional}` : null

/** An error sentence when a payment or a correction precedes the opening. */
const partTimeMisfit = (
  called: string,
  parts: ReadonlyArray<{ readonly at: number }>,
  { openedAt: sentAt }: VenueSwap,
  { venueTime }: ExpectedSwap
): string | null => {
  for (const { at } of parts) {
    // A report repeats all payments and corrections, and earlier reports may be lost.
    const misfit = timeMisfit({ called, at, sentAt, mayBeOld: true }, venueTime)
    if (misfit !== null) return misfit
  }
  return null
}

export const swapChecks: Checks<VenueSwap, ExpectedSwap> = {
  id: asBefore("venue id", ({ id }) => id, "contractId"),
  ref: exactly("ref", "ref", ({ swap }) => swapRef(swap.swapId)),
  account: exactly("account", "account", ({ swap }) => swap.account),
  symbol: exactly("market", "symbol", ({ swap }) => swap.symbol),
  offerId: exactly("offer", "offerId", ({ swap }) => swap.offerId),
  tradeId: ({ tradeId }, { swap }) => {
    // A take that the venue had not received may still be executed.
    const isRefused = swap.contractId === null && swap.rejectReason !== null && swap.rejectReason !== notReceived
    if (isRefused) return "it is executed, but the venue has refused it"
    return known(swap) && swap.tradeId !== tradeId ? differs("trade", tradeId, swap.tradeId) : null
  },
  notional: sameFigure("notional", "notional", ({ swap }) => swap.notional),
  rateBps: exactly("rate", "rateBps", ({ swap }) => swap.rateBps),
  tenorDays: exactly("tenor", "tenorDays", ({ swap }) => swap.tenorDays),
  reward: sameFigure("reward", "reward", ({ swap }) => swap.reward),
  // Before any correction, the fee is the one of the take, at the listed rate.
  fee: ({ fee, corrections }, expected) =>
    expected.swap.contractId === null && corrections.length === 0 && !isSame(fee, expected.swap.estimatedFee)
      ? differs("fee", fee, expected.swap.estimatedFee)
      : feeMisfit(fee, expected),
  openedAt: (report, expected) =>
    sameOpening(report, expected) ??
    timeMisfit(
      {
        called: "the opening time",
        at: report.openedAt,
        sentAt: expected.swap.createdAt,
        mayBeOld: true
      },
      expected.venueTime
    ),
  maturityAt: ({ openedAt, maturityAt }, { swap }) => {
    const expected = openedAt + swap.tenorDays * dayMillis
    return maturityAt === expected ? null : differs("maturity", maturityAt, expected)
  },
  corrections: (report, expected) => {
    for (const { fee } of report.corrections) {
      const misfit = feeMisfit(fee, expected)
      if (misfit !== null) return misfit
    }
    return partTimeMisfit("the correction time", report.corrections, report, expected)
  },
  // Each payment is booked once by its id; an amount beyond the outstanding one opens a break.
  payments: (report, expected) => partTimeMisfit("the payment time", report.payments, report, expected),
  short: { because: "It counts only at or after maturity (swapMachine.ts, mature)." },
  end: ({ end }, { isListed }) => (end === "FINAL_SETTLEMENT" ? settlementMisfit(isListed) : null)
}

/** The reason that a swap does not fit its take, or null. */
export const swapMisfit = misfitBy(swapChecks)

const payment: Rows<typeof VenuePayment.Type> = {
  id: row("Each payment id is booked once (swapEvents.ts, paymentsIn)."),
  amount: row(
    "It belongs to the client; an excess over the outstanding amount is a break, and so is another amount later."
  ),
  at: row("It lies between the opening and the present time; the row of the swap checks it.")
}

const correction: Rows<typeof VenueFeeCorrection.Type> = {
  id: row("Each correction id is booked once (swapEvents.ts, feesIn)."),
  fee: row("Beyond the notional it does not fit (swapChecks.ts); above the listed rate the excess is a break."),
  at: row("It lies between the opening and the present time; the row of the swap checks it.")
}

export const swapTables = { VenueSwap: swapChecks, VenuePayment: payment, VenueFeeCorrection: correction } as const
