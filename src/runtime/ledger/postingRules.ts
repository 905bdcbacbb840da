/**
 * The two legs of every ledger transaction type: what the client's cash or reserve gains, a house account loses
 * (document 3, custody models; A2-62). House accounts are never rows: they are sums over postings. Also whether a
 * posting is an economic result that a PARTNER-custody partner settles with its client (document 3, Settlement item).
 */
import type { LedgerEntryType } from "../../machines/Effects.ts"
import type { SettlementType } from "../../machines/settlement/SettlementItem.ts"

export interface PostingRule {
  readonly clientKind: "cash" | "reserved"
  /** The house account on the other side. */
  readonly house: (partnerId: number) => string
  /**
   * The type of the settlement item that this posting makes under PARTNER custody. Null: none, because the partner moved
   * the collateral itself, or because money only changed between cash and reserve.
   */
  readonly item: SettlementType | null
}

export const partnerCustodyAccount = (partnerId: number): string => `partner_custody:${partnerId}`
/** Corrections by the operator's finance, apart from every account with a meaning of its own. */
export const manualAccount = "manual"
export const clientAccount = (clientId: number): string => `client:${clientId}`

export const postingRules: { readonly [T in LedgerEntryType]: PostingRule } = {
  PARTNER_COLLATERAL_IN: { clientKind: "cash", house: partnerCustodyAccount, item: null },
  PARTNER_COLLATERAL_OUT: { clientKind: "cash", house: partnerCustodyAccount, item: null },
  MANUAL: { clientKind: "cash", house: () => manualAccount, item: "MANUAL" }
}
