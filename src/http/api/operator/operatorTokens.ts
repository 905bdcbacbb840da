/** Tokens of operator requests, free of any import: the command line offers them as choices without loading a schema. */
export const operatorRoles = ["ADMIN", "FINANCE", "COMPLIANCE", "SUPPORT"] as const
export type OperatorRole = (typeof operatorRoles)[number]
export const licenceTypes = ["MICA_CASP", "MIFID_IF", "EMI", "CREDIT_INSTITUTION", "OTHER"] as const
export const custodyModels = ["BROKER", "PARTNER"] as const
export const keyScopes = ["READ", "TRADE"] as const
export const watchLists = ["SANCTIONS", "PEP"] as const
/** What an operator may set; CLOSE_OUT belongs to the engine (A3-10). */
export const settableRestrictions = ["NO_WITHDRAWALS", "FROZEN", "NO_NEW_RISK"] as const
export const categorizations = ["RETAIL", "PROFESSIONAL"] as const
/** The statuses of a webhook delivery again: their file carries a schema too. */
export const deliveryStatuses = ["PENDING", "RETRYING", "SENT", "FAILED"] as const
/** The statuses of a deposit notice again: their file carries a schema too. */
export const depositStatuses = ["PENDING", "CONFIRMED", "REJECTED"] as const
/** The statuses of a withdrawal request and of a reconciliation break again: their files carry schemas too. */
export const withdrawalStatuses = ["REQUESTED", "APPROVED", "PAID", "REJECTED", "CANCELLED"] as const
export const breakStatuses = ["OPEN", "CLOSED"] as const
/** The statuses of collateral reports and settlement items again: for the same reason. */
export const collateralStatuses = ["BOOKED", "REFUSED"] as const
export const settlementStatuses = ["PENDING", "SETTLED", "FAILED"] as const
/** The states of requests for quotes and of knock-out contracts again, and how `venue resolve` ends one: for the same reason. */
export const rfqStates = ["OPEN", "ACCEPTED", "CANCELLED", "EXPIRED", "REJECTED"] as const
export const contractStates = [
  "OPEN",
  "KNOCKED_OUT",
  "TAKE_PROFIT",
  "EXPIRED",
  "EARLY_CLOSE",
  "TORN_UP",
  "CLOSED"
] as const
/** The states of staking swaps again: for the same reason. */
export const swapStates = [
  "ACCEPTING",
  "OPEN",
  "REJECTED",
  "MATURED",
  "DEFAULTED",
  "CURED",
  "FINAL_SETTLEMENT"
] as const
export const resolutions = ["executed", "void", "closed"] as const
/** The outcomes of the appropriateness test again: their file carries a schema too. */
export const assessmentOutcomes = ["PASS", "WARN", "FAIL"] as const
/** The client currencies again, because their table carries a schema; test/operator holds both lists equal. */
export const currencyCodes = ["USDC", "BTC", "ETH", "SOL", "BNB", "XRP", "EUR", "USD1"] as const
/** Decimal places of each currency (F2). */
export const currencyPlaces = { USDC: 6, BTC: 8, ETH: 8, SOL: 9, BNB: 8, XRP: 6, EUR: 2, USD1: 6 } as const
