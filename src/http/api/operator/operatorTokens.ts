/**
 * Tokens of operator requests, in a file without imports: the command line offers them as choices without loading a schema.
 * test/operator compares the lists that repeat a schema's tokens (A3-10; F2).
 */
export const operatorRoles = ["ADMIN", "FINANCE", "COMPLIANCE", "SUPPORT"] as const
export type OperatorRole = (typeof operatorRoles)[number]
export const licenceTypes = ["MICA_CASP", "MIFID_IF", "EMI", "CREDIT_INSTITUTION", "OTHER"] as const
export const custodyModels = ["BROKER", "PARTNER"] as const
export const keyScopes = ["READ", "TRADE"] as const
export const watchLists = ["SANCTIONS", "PEP"] as const
/** Restrictions that an operator may set; CLOSE_OUT is left to the service's own close-out. */
export const settableRestrictions = ["NO_WITHDRAWALS", "FROZEN", "NO_NEW_RISK"] as const
export const categorizations = ["RETAIL", "PROFESSIONAL"] as const
export const deliveryStatuses = ["PENDING", "RETRYING", "SENT", "FAILED"] as const
export const depositStatuses = ["PENDING", "CONFIRMED", "REJECTED"] as const
export const withdrawalStatuses = ["REQUESTED", "APPROVED", "PAID", "REJECTED", "CANCELLED"] as const
export const breakStatuses = ["OPEN", "CLOSED"] as const
export const collateralStatuses = ["BOOKED", "REFUSED"] as const
export const settlementStatuses = ["PENDING", "SETTLED", "FAILED"] as const
/** States of requests for quotes and of knock-out contracts, and the outcomes of `venue resolve` for a contract. */
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
export const swapStates = [
  "ACCEPTING",
  "OPEN",
  "REJECTED",
  "MATURED",
  "DEFAULTED",
  "CURED",
  "FINAL_SETTLEMENT"
] as const
/** Form of a partner's code. Commands accept the code or the id, so a code has at least one letter. */
export const codeShape = /^(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/
export const resolutions = ["executed", "void", "closed"] as const
/** Outcomes of the appropriateness test. A WARN counts only once the client has acknowledged it. */
export const assessmentOutcomes = ["PASS", "WARN", "FAIL"] as const
/** The currencies that a client's account may hold. */
export const currencyCodes = ["USDC", "BTC", "ETH", "SOL", "BNB", "XRP", "EUR", "USD1"] as const
/** Decimal places of each currency. */
export const currencyPlaces = { USDC: 6, BTC: 8, ETH: 8, SOL: 9, BNB: 8, XRP: 6, EUR: 2, USD1: 6 } as const
