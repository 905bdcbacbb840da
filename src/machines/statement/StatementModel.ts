/**
 * The content of a statement, as data: a head, and sections with rows. Money and quantities are decimal texts, times Unix ms.
 * The model has no statement id, no time of its making and no personal data, so the same facts always give the same text.
 * Sections are described without their rows, which are read one page at a time (STS-17, STS-20, STS-22, STS-19).
 */
import type { Json, JsonObject } from "../shared/Json.ts"

/** The last objects that a statement includes: those of the client's turns up to the end of the period. */
export interface Cut {
  readonly postingId: number
  readonly fillId: number
  readonly contractId: number
  readonly swapId: number
}

export interface ModelHead {
  readonly schema: string
  readonly kind: string
  readonly firm: { readonly name: string; readonly legalEntity: string }
  /** Code of the partner. */
  readonly partner: string
  readonly clientUid: string
  /** The custody model at the end of the period. */
  readonly custodyModel: string
  readonly currency: string
  readonly periodFrom: number
  readonly periodTo: number
  readonly timeZone: string
  readonly cut: Cut
  /**
   * The ledger's seal over the last included posting, which ties the statement to the ledger's hash chain. Null without a
   * posting.
   */
  readonly ledgerSeal: { readonly number: number; readonly hash: string } | null
  readonly notes: ReadonlyArray<string>
}

/** A section of the model without its rows: a name, and facts such as the totals of the rows. */
export type SectionFacts = JsonObject & { readonly name: string }

/** A row of a section: flat except for `refs`. */
export type ModelRow = { readonly [column: string]: Json }

/** A model with every section empty: the part that is known before the rows are read. */
export interface Skeleton extends ModelHead {
  readonly sections: ReadonlyArray<SectionFacts & { readonly rows: ReadonlyArray<never> }>
}

/**
 * The text that stands for a section's rows in the canonical text of a skeleton. No string value can contain it, because
 * quotes in values are escaped.
 */
export const emptyRows = '"rows":[]'
