/** Compares a staking swap with its take, then with its frozen terms (F22). */
import { isLess, scaled } from "../shared/Exact.ts"
import type { SwapContext } from "../swap/Swap.ts"
import { dayMillis } from "../swap/swapFigures.ts"
import type { VenueSwap } from "../venue/venueObjects.ts"
import { type Checks, exactly, misfitBy, sameFigure } from "./check.ts"

export interface AskedSwap {
  readonly swap: SwapContext
  /** Whether the market is listed and not delisted; null: unknown. */
  readonly isListed: boolean | null
}

/** Whether the venue has reported the swap's ids. False before its first report, and when staff resolved the take. */
const known = ({ contractId }: SwapContext): boolean => contractId !== null && contractId !== 0

const asBefore =
  (called: string, saidOf: (said: VenueSwap) => number, of: "contractId" | "tradeId" | "openedTs") =>
  (said: VenueSwap, { swap }: AskedSwap): string | null =>
    !known(swap) || swap[of] === saidOf(said) ? null : `${called} ${saidOf(said)}, it was ${swap[of]}`

/** A fee above the listed rate is booked, with a break for the excess (D8). A fee beyond the notional never fits. */
const feeMisfit = (fee: string, { swap: { notional } }: AskedSwap): string | null =>
  isLess(scaled(notional), scaled(fee)) ? `fee ${fee} beyond the notional ${notional}` : null

export const swapChecks: Checks<VenueSwap, AskedSwap> = {
  id: asBefore("venue id", ({ id }) => id, "contractId"),
  ref: { because: "The message is brought to the swap that the ref names (venueRefs.ts, ownerOfRef)." },
  account: exactly("account", "account", ({ swap }) => swap.account),
  symbol: exactly("market", "symbol", ({ swap }) => swap.symbol),
  offerId: exactly("offer", "offerId", ({ swap }) => swap.offerId),
  tradeId: asBefore("trade", ({ tradeId }) => tradeId, "tradeId"),
  notional: sameFigure("notional", "notional", ({ swap }) => swap.notional),
  rateBps: exactly("rate", "rateBps", ({ swap }) => swap.rateBps),
  tenorDays: exactly("tenor", "tenorDays", ({ swap }) => swap.tenorDays),
  reward: sameFigure("reward", "reward", ({ swap }) => swap.reward),
  fee: ({ fee }, asked) => feeMisfit(fee, asked),
  openedAt: asBefore("opened at", ({ openedAt }) => openedAt, "openedTs"),
  maturityAt: ({ openedAt, maturityAt }, { swap }) => {
    const asked = openedAt + swap.tenorDays * dayMillis
    return maturityAt === asked ? null : `maturity ${maturityAt}, by its tenor ${asked}`
  },
  corrections: ({ corrections }, asked) => {
    for (const { fee } of corrections) {
      const misfit = feeMisfit(fee, asked)
      if (misfit !== null) return misfit
    }
    return null
  },
  payments: { because: "Each is booked once by its id; what it brings beyond the outstanding is a break (D8)." },
  short: { because: "It counts at or after maturity alone (swapMachine.ts, mature)." },
  end: ({ end }, { isListed }) =>
    end === "FINAL_SETTLEMENT" && isListed === true ? "settled with its market, which is listed" : null
}

/** Why a swap does not fit its take; null: it fits. */
export const swapMisfit = misfitBy(swapChecks)
