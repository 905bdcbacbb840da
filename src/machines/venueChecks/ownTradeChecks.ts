/**
 * Checks a trade that the venue itself started in an account, such as a deleveraging, and its order. The trade may only
 * reduce the position (A2-97).
 */
import { outsideBand, type PriceBand } from "../market/PriceBand.ts"
import { absolute, isLess, scaled } from "../shared/Exact.ts"
import type { VenueFill, VenueOrder } from "../venue/venueObjects.ts"
import { type Checks, differs, exactly, misfitBy } from "./check.ts"
import { timeMisfit, type VenueTime } from "../venue/timeChecks.ts"

export interface ExpectedOwnTrade {
  readonly account: string
  /** The account's signed position in the market before this trade, by the venue's order of trades. */
  readonly netQty: string
  /** The band of the marks around the trade's time; null when the marks are unknown. */
  readonly band: PriceBand | null
  readonly venueTime: VenueTime
}

export const ownTradeChecks: Checks<VenueFill, ExpectedOwnTrade> = {
  // The time is checked first, because the position before the trade is found by its time. The drift of clocks adds nothing
  // to the tolerance, because an earlier time of the venue's choice would select another position and other marks.
  at: ({ at }, { venueTime }) =>
    timeMisfit({ called: "the trade time", at, sentAt: null }, { ...venueTime, pastLead: 0, lag: 0 }),
  tradeId: { because: "It finds a trade that is already booked (orderEvents.ts, adopted)." },
  orderId: { because: "The order is the venue's own: it is booked under this id." },
  ref: ({ ref }) => (ref === null ? null : differs("ref of the trade", ref, null)),
  account: exactly("account", "account", ({ account }) => account),
  symbol: { because: "It is a perpetual that the account holds, or the quantity does not fit." },
  side: ({ side }, { netQty }) => {
    const held = scaled(netQty).units
    return held !== 0n && held > 0n === (side === "SELL")
      ? null
      : `the venue's own ${side} does not reduce a position of ${netQty}`
  },
  price: ({ price }, { band }) => outsideBand(price, band),
  qty: ({ qty }, { netQty }) => {
    if (scaled(qty).units <= 0n) return "the quantity is zero"
    return isLess(absolute(scaled(netQty)), scaled(qty))
      ? `the venue's own trade of ${qty} is larger than the position of ${netQty}`
      : null
  },
  liquidity: { because: "A trade that the venue starts itself costs the client no commission." },
  reason: { because: "It names the right that the venue has used; all of these rights only reduce." }
}

/** The reason that the venue can't have started this trade itself, or null. */
export const ownTradeMisfit = misfitBy(ownTradeChecks)

/** The order must be the one of the trade, because an order of the venue itself is booked only with its trade. */
export const ownOrderChecks: Checks<VenueOrder, VenueFill> = {
  id: exactly("order", "id", ({ orderId }) => orderId),
  ref: ({ ref }) => (ref === null ? null : differs("ref of the order", ref, null)),
  account: exactly("account of the order", "account", ({ account }) => account),
  symbol: exactly("market of the order", "symbol", ({ symbol }) => symbol),
  side: exactly("side of the order", "side", ({ side }) => side),
  price: { because: "The trade's own price is checked, and the order never works at the service." },
  qty: ({ qty }, fill) =>
    isLess(scaled(qty), scaled(fill.qty)) ? `quantity ${fill.qty} is traded of an order of ${qty}` : null,
  filledQty: ({ filledQty }, fill) =>
    isLess(scaled(filledQty), scaled(fill.qty)) ? `quantity ${fill.qty} is traded, but ${filledQty} is filled` : null,
  tif: { because: "The order never works at the service." },
  reduceOnly: { because: "The trade only reduces the position, or it does not fit." },
  trigger: ({ trigger }) => (trigger === null ? null : "the venue's own order has a trigger"),
  group: ({ group }) => (group === null ? null : differs("group", group, null)),
  state: { because: "The order never works at the service; each of its trades is checked by itself." },
  reason: { because: "Text for readers: no decision depends on it." },
  triggeredAt: ({ triggeredAt }) => (triggeredAt === null ? null : "it has fired, but it has no trigger")
}

/** The reason that an order can't be the venue's own order of this trade, or null. */
export const ownOrderMisfit = misfitBy(ownOrderChecks)
