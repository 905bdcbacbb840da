/** The rules of a request for quotes at the mark: the minimum notional, then the rules for any price (A2-110). */
import { type Priced, pricedAt, priceRules } from "../contract/priceRules.ts"
import type { Mark } from "../market/Facts.ts"
import type { MarketTerms } from "../market/marketTerms.ts"
import type { Rule } from "../shared/Gates.ts"
import { compared, exactText, product, type Scaled, scaled } from "../shared/Exact.ts"
import { formatAmount } from "../shared/Money.ts"
import type { VenueMarket } from "../venue/VenueMarket.ts"
import type { RequestedRfq } from "./rfqOnMarket.ts"

/** A request for quotes with the figures at the mark that the rules compare. */
export interface Marked extends Priced {
  readonly markPlaces: number
  /** The market's minimum notional, USDC. */
  readonly minNotional: Scaled
}

export const atMark = (
  rfq: RequestedRfq,
  of: { readonly mark: Mark; readonly market: VenueMarket; readonly terms: MarketTerms; readonly freeMargin: bigint }
): Marked => ({
  ...pricedAt(
    { ...rfq, price: of.mark.price, barrier: rfq.barrierLevel },
    { maxLeverage: of.terms.barrierMaxLeverage, freeMargin: of.freeMargin }
  ),
  markPlaces: of.mark.places,
  minNotional: scaled(of.market.minNotional)
})

const minimumNotional: Rule<Marked> = {
  gate: "minimumNotional",
  reason: "BELOW_MINIMUM",
  sentence: ({ qty, price, minNotional }) =>
    compared(product(scaled(price), scaled(qty)), minNotional) >= 0n
      ? null
      : `The quantity is worth less than the market's minimum of ${exactText(minNotional)} USDC.`,
  compared: ({ figures, minNotional }) => ({
    figure: formatAmount(figures.notional, "USDC"),
    limit: exactText(minNotional)
  })
}

/** The minimum notional first, then the rules for any price. */
export const economicRules: ReadonlyArray<Rule<Marked>> = [minimumNotional, ...priceRules]
