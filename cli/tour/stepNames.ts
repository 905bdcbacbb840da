/** The steps of the tour in their order, apart from their content: the command line loads the names for its help. */
export const tourStepNames = [
  "money",
  "market",
  "orders",
  "contract",
  "staking",
  "statement",
  "closeout",
  "scenarios"
] as const
export type TourStepName = (typeof tourStepNames)[number]
