/**
 * The two legs of every ledger transaction type: the client's cash or reserve gains the amount that a house account loses.
 * House accounts are never rows: they are sums over postings. Each rule also gives the settlement item: whether a
 * PARTNER-custody partner settles the posting with its client (doc 3, custody models; doc 3, Settlement item; A2-62, A2-103,
 * F10).
 */
import type { LedgerEntryType } from "../Effects.ts"
import type { VenueMoneyKind } from "../venue/venueObjects.ts"
import type { SettlementType } from "../settlement/SettlementItem.ts"

export interface PostingRule {
  /** The balance that the client's leg changes. */
  readonly clientKind: "cash" | "reserved"
  /** The balance that a gain changes, when it differs from `clientKind`: returned money becomes cash. */
  readonly gainKind?: "cash"
  /** The house account of the other leg; null: the other leg is the client's own reserve. */
  readonly house: ((partnerId: number) => string) | null
  /**
   * The type of the settlement item that this posting makes under PARTNER custody. Null when it makes none: the partner moved
   * the collateral itself, or money only changed between cash and reserve.
   */
  readonly item: SettlementType | null
  /** The kind of money in the venue's books that the reconciliation compares this posting with; null: none. */
  readonly venue: VenueMoneyKind | null
}

export const partnerCustodyAccount = (partnerId: number): string => `partner_custody:${partnerId}`
/**
 * The house account of deposits and withdrawals under BROKER custody: money between the firms on its way to or from a
 * client.
 */
export const transitAccount = "transit"
/** Corrections by the operator's finance, kept apart from every other house account. */
export const manualAccount = "manual"
/** The house account for the venue's side of trading results and costs. */
export const venueAccount = "venue"
/** The house account of the commission that the service charges. */
export const commissionAccount = "commission"
/** The house account of debts that negative balance protection has written off. */
export const nbpLossAccount = "nbp_loss"
export const clientAccount = (clientId: number): string => `client:${clientId}`

export const postingRules: { readonly [T in LedgerEntryType]: PostingRule } = {
  PARTNER_COLLATERAL_IN: { clientKind: "cash", house: partnerCustodyAccount, item: null, venue: null },
  PARTNER_COLLATERAL_OUT: { clientKind: "cash", house: partnerCustodyAccount, item: null, venue: null },
  DEPOSIT: { clientKind: "cash", house: () => transitAccount, item: null, venue: null },
  WITHDRAWAL_RESERVE: { clientKind: "cash", house: null, item: null, venue: null },
  WITHDRAWAL: { clientKind: "reserved", gainKind: "cash", house: () => transitAccount, item: null, venue: null },
  WITHDRAWAL_RELEASE: { clientKind: "cash", house: null, item: null, venue: null },
  COMMISSION: { clientKind: "cash", house: () => commissionAccount, item: "COMMISSION", venue: null },
  BARRIER_SETTLE: { clientKind: "cash", house: () => venueAccount, item: "BARRIER_SETTLE", venue: "contracts" },
  NBP_WRITEOFF: { clientKind: "cash", house: () => nbpLossAccount, item: "NBP_WRITEOFF", venue: null },
  PNL: { clientKind: "cash", house: () => venueAccount, item: "PNL", venue: "trades" },
  FUNDING: { clientKind: "cash", house: () => venueAccount, item: "FUNDING", venue: "funding" },
  SPOT_RESERVE: { clientKind: "cash", house: null, item: null, venue: null },
  SPOT_RELEASE: { clientKind: "cash", house: null, item: null, venue: null },
  SPOT_SETTLE: { clientKind: "cash", house: () => venueAccount, item: "SPOT_SETTLE", venue: "trades" },
  SWAP_RESERVE: { clientKind: "cash", house: null, item: null, venue: null },
  SWAP_RELEASE: { clientKind: "cash", house: null, item: null, venue: null },
  SWAP_PRINCIPAL: { clientKind: "reserved", house: () => venueAccount, item: "SWAP_PRINCIPAL", venue: "swaps" },
  SWAP_SETTLE: { clientKind: "cash", house: () => venueAccount, item: "SWAP_SETTLE", venue: "swaps" },
  SWAP_FEE_ADJUST: { clientKind: "cash", house: () => venueAccount, item: "SWAP_FEE_ADJUST", venue: "swaps" },
  MANUAL: { clientKind: "cash", house: () => manualAccount, item: "MANUAL", venue: null }
}

export const postingTypes = Object.keys(postingRules) as [LedgerEntryType, ...Array<LedgerEntryType>]
