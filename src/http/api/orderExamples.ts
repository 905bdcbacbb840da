/** Refusals of orders and previews that have members of their own, as the reference shows them; held against what the service says by test/http/refusalExamples.test.ts. */
const placed = { orderId: 12_044, clOrdId: "O-12044" }

const figures = {
  reservation: "3015.000000",
  orderValue: "30000.000000",
  marginRequired: "3000.000000",
  leverage: 10,
  freeMarginBefore: "10000.000000",
  freeMarginAfter: "6985.000000",
  marginLevelAfter: "332.83",
  estLiquidationPrice: "42977.5",
  equityBefore: "10000.000000",
  initialMarginBefore: "0.000000",
  initialMarginAfter: "3000.000000",
  estimatedCommission: "15.000000",
  slippageAllowance: "0.000000",
  estimatedCosts: "15.000000"
}

const short = "The order's margin and costs exceed the client's free margin."
const refused = (sentence: string) => ({ code: 4_000, msg: sentence, error: sentence })

export const orderExamples = {
  refusedPreview: {
    ...refused(short),
    accepted: false,
    reason: short,
    ...figures,
    freeMarginBefore: "2000.000000",
    freeMarginAfter: "-1015.000000",
    equityBefore: "2000.000000",
    marginLevelAfter: "66.16",
    estLiquidationPrice: "58977.5"
  },
  rejected: { ...refused("The venue has refused the order: price outside the band."), ...placed, state: "REJECTED" },
  notWritten: { ...refused(short), orderId: null, clOrdId: null, state: null }
} as const
