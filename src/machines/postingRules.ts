/**
 * Every ledger transaction type, in one table: the two legs of its transaction, and its part in settlement, in the
 * comparison with the venue and in statements. The client's cash or reserve gains the amount that a house account loses.
 * House accounts are never rows: they are sums over postings (doc 3, custody models; doc 3, Settlement item; A2-62, A2-103,
 * F10).
 */
import type { VenueMoneyKind } from "./venue/venueObjects.ts"

export interface PostingRule {
  /** The client's balance that this posting changes. */
  readonly clientKind: "cash" | "reserved"
  /** The balance that a gain changes, if it is not `clientKind`: a returned payment becomes cash. */
  readonly gainKind?: "cash"
  /** The house account that has the other leg; null if the client's own reserve has it. */
  readonly house: ((partnerId: number) => string) | null
  /**
   * True: an economic result that a PARTNER-custody partner settles with its client, by a settlement item of this type.
   * False: the partner moved the collateral itself, or money only changed between cash and reserve.
   */
  readonly item: boolean
  /**
   * The kind of money at the venue with which the reconciliation compares this posting; null if the venue does not have it.
   */
  readonly venue: VenueMoneyKind | null
  /** The only custody model under which the transaction is valid; null: both. */
  readonly custody: "BROKER" | "PARTNER" | null
  /** How the TRANSACTIONS statement shows the transaction as an execution; null: its type is no execution. */
  readonly execution: Execution | null
}

/**
 * "object": the row comes from the object of the posting, which the statement reads (executionRows.ts). Otherwise the row has
 * these texts, the posting's amount, and the refs of `ExecutionRefs`.
 */
export type Execution = "object" | { readonly orderType: string; readonly side: string; readonly nature: string }

/** The refs of a posting whose statement row needs no object. `object`: KIND:ID. `venueTs`: the venue's time, Unix ms. */
export type ExecutionRefs = {
  readonly object: string
  readonly instrument: string
  readonly tradeId: number | null
  readonly venueTs: number
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

/** Money that moves between a client's cash and its reserve. */
const own = { clientKind: "cash", house: null, item: false, venue: null, custody: null, execution: null } as const
/** A result or a cost that becomes a settlement item between the firms. */
const result = { ...own, item: true } as const
/** A result or a cost at the venue: each type also has its kind of money there, and whether it is an execution. */
const traded = { clientKind: "cash", house: () => venueAccount, item: true, custody: null } as const

const rules = {
  PARTNER_COLLATERAL_IN: { ...own, house: partnerCustodyAccount, custody: "PARTNER" },
  PARTNER_COLLATERAL_OUT: { ...own, house: partnerCustodyAccount, custody: "PARTNER" },
  DEPOSIT: { ...own, house: () => transitAccount, custody: "BROKER" },
  WITHDRAWAL_RESERVE: { ...own, custody: "BROKER" },
  WITHDRAWAL: { ...own, clientKind: "reserved", gainKind: "cash", house: () => transitAccount, custody: "BROKER" },
  WITHDRAWAL_RELEASE: { ...own, custody: "BROKER" },
  COMMISSION: { ...result, house: () => commissionAccount },
  BARRIER_SETTLE: { ...traded, venue: "contracts", execution: "object" },
  NBP_WRITEOFF: { ...result, house: () => nbpLossAccount },
  PNL: { ...traded, venue: "trades", execution: null },
  FUNDING: { ...traded, venue: "funding", execution: null },
  SPOT_RESERVE: own,
  SPOT_RELEASE: own,
  SPOT_SETTLE: { ...traded, venue: "trades", execution: null },
  SWAP_RESERVE: own,
  SWAP_RELEASE: own,
  SWAP_PRINCIPAL: { ...traded, clientKind: "reserved", venue: "swaps", execution: "object" },
  SWAP_SETTLE: { ...traded, venue: "swaps", execution: "object" },
  SWAP_FEE_ADJUST: { ...traded, venue: "swaps", execution: null },
  MANUAL: { ...result, house: () => manualAccount }
} as const satisfies Readonly<Record<string, PostingRule>>
type Rules = typeof rules

/** Ledger transaction types. */
export type LedgerEntryType = keyof Rules
export const postingRules: { readonly [T in LedgerEntryType]: PostingRule } = rules
export const postingTypes = Object.keys(postingRules) as [LedgerEntryType, ...Array<LedgerEntryType>]

/** The types that make settlement items; an item has the type of its posting. */
export type SettlementType = { [T in LedgerEntryType]: Rules[T]["item"] extends true ? T : never }[LedgerEntryType]
export const isSettled = (type: LedgerEntryType): type is SettlementType => postingRules[type].item
export const settlementTypes = postingTypes.filter(isSettled) as [SettlementType, ...Array<SettlementType>]

/** The execution that statements show for a stored transaction type. Null: the type is no execution, or is unknown. */
export const executionOf = (type: string): Execution | null =>
  Object.hasOwn(rules, type) ? postingRules[type as LedgerEntryType].execution : null

/** The types whose transactions the TRANSACTIONS statement shows as executions. */
export const executionTypes = postingTypes.filter((type) => postingRules[type].execution !== null)
