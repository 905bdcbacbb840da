/** POST .../rfq/preview: the figures of a request at the mark, and whether it would be accepted (doc 2, RFQ; A2-28, A2-112). */
import { Schema } from "effect"
import { requiredMargin } from "../contract/priceRules.ts"
import type { MarketTerms } from "../market/marketTerms.ts"
import { decimalText, formatAmount } from "../shared/Money.ts"
import { accept, type Refusal, refuse, type Verdict } from "../shared/Refusal.ts"
import { type RfqFacts, rfqGates } from "./rfqGates.ts"
import type { RequestedRfq } from "./rfqOnMarket.ts"

const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places." })
const atMark = Schema.NullOr(usdc).annotate({ description: "Null while the market has no mark." })

export const RfqPreview = Schema.Struct({
  accepted: Schema.Boolean.annotate({ description: "Whether the request would be taken now." }),
  reason: Schema.NullOr(Schema.String).annotate({ description: "The sentence that would refuse it." }),
  mark: Schema.NullOr(Schema.String).annotate({ description: "Decimal string on the market's price grid." }),
  maxLoss: atMark,
  premium: atMark,
  estimatedCommission: atMark,
  requiredFreeMargin: atMark.annotate({ description: "Premium and commission." }),
  freeMarginBefore: usdc,
  freeMarginAfter: atMark,
  impliedLeverage: Schema.NullOr(Schema.String).annotate({ description: "Notional by premium, two places." }),
  potentialProfit: Schema.NullOr(usdc).annotate({ description: "Null without a take profit." }),
  maxLeverage: Schema.Int,
  expiryTs: Schema.Int.annotate({ description: "Unix ms." }),
  expiryDefaulted: Schema.Boolean.annotate({ description: "No expiry was sent: the contract is open-end." }),
  strictTakeProfit: Schema.Boolean,
  premiumBps: Schema.Int,
  knockOutRebateBps: Schema.Int,
  strictTakeProfitPremiumBps: Schema.Int,
  strictTakeProfitOffered: Schema.Boolean,
  currency: Schema.Literal("USDC")
}).annotate({ identifier: "RfqPreview" })
export type RfqPreview = typeof RfqPreview.Type

export interface PreviewedRfq {
  readonly rfq: RequestedRfq
  readonly terms: MarketTerms
  readonly facts: RfqFacts
}

/**
 * The figures, with the verdict of create's own gates. A refusal by market or money becomes the preview's reason; any other
 * refusal of create refuses the preview too.
 */
export const previewOf = ({ rfq, terms, facts }: PreviewedRfq): Verdict<RfqPreview> => {
  let reason: string | null = null
  for (const gate of rfqGates) {
    const refusal = gate.refusal(facts)
    if (refusal === null) continue
    const sentence = gate.previewed ? sentenceOf(refusal) : null
    if (sentence === null) return refuse(refusal)
    reason = sentence
    break
  }
  const { marked, risk } = facts
  const figures = marked?.figures ?? null
  const required = figures === null ? null : requiredMargin(figures)
  return accept({
    accepted: reason === null,
    reason,
    mark: marked === null ? null : decimalText(marked.price, marked.markPlaces),
    maxLoss: text(figures?.premium),
    premium: text(figures?.premium),
    estimatedCommission: text(figures?.commission),
    requiredFreeMargin: text(required),
    freeMarginBefore: formatAmount(risk.freeMargin, "USDC"),
    freeMarginAfter: text(required === null ? null : risk.freeMargin - required),
    impliedLeverage: figures?.leverage ?? null,
    potentialProfit: text(figures?.potentialProfit),
    maxLeverage: terms.barrierMaxLeverage,
    expiryTs: rfq.expiryTs,
    expiryDefaulted: rfq.expiryDefaulted,
    strictTakeProfit: rfq.strict,
    premiumBps: rfq.premiumBps,
    knockOutRebateBps: terms.knockOutRebateBps,
    strictTakeProfitPremiumBps: terms.strictTakeProfitPremiumBps,
    strictTakeProfitOffered: terms.strictTakeProfitOffered,
    currency: "USDC"
  })
}

const text = (micro: bigint | null | undefined): string | null => (micro == null ? null : formatAmount(micro, "USDC"))

const sentenceOf = (refusal: Refusal): string | null => ("sentence" in refusal ? refusal.sentence : null)
