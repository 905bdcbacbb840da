/** Checks a trade that the venue started itself in an account: it may only reduce the position (A2-97). */
import { outsideBand, type PriceBand } from "../market/PriceBand.ts"
import { absolute, isLess, scaled } from "../shared/Exact.ts"
import type { VenueFill } from "../venue/venueObjects.ts"
import { type Checks, exactly, misfitBy } from "./check.ts"

export interface AskedOwnTrade {
  readonly account: string
  /** The account's signed position in the market. */
  readonly netQty: string
  /** The band of the marks around the trade's time; null: the marks are unknown. */
  readonly band: PriceBand | null
}

export const ownTradeChecks: Checks<VenueFill, AskedOwnTrade> = {
  tradeId: { because: "A trade that is booked already is found by it (orderHears.ts, adopted)." },
  orderId: { because: "The order is the venue's own: it is taken over under this id." },
  ref: { because: "It has none: the trade is the venue's own." },
  account: exactly("account", "account", ({ account }) => account),
  symbol: { because: "It is a perpetual that the account holds, or the quantity does not fit." },
  side: ({ side }, { netQty }) => {
    const held = scaled(netQty).units
    return held !== 0n && held > 0n === (side === "SELL")
      ? null
      : `a ${side} of the venue's own while ${netQty} is held`
  },
  price: ({ price }, { band }) => outsideBand(price, band),
  qty: ({ qty }, { netQty }) =>
    isLess(absolute(scaled(netQty)), scaled(qty))
      ? `a trade of the venue's own of ${qty} while ${netQty} is held`
      : null,
  liquidity: { because: "A trade of the venue's own costs the client no commission (A2-97)." },
  reason: { because: "It names which of its rights the venue has used; all of them only reduce." },
  at: { because: "It lies no later than the message that brings it (EventJudge.ts, OrderResync.ts)." }
}

/** Why the venue can't have started this trade itself; null: it can. */
export const ownTradeMisfit = misfitBy(ownTradeChecks)
