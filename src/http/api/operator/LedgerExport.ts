/**
 * Exports the ledger in pages for another book-keeping program. Amounts have the full scale of their currency and the client's
 * sign, and the export contains no personal data (operator surface, ledger export; A2-62).
 */
import { Schema } from "effect"
import { currencyCodes } from "../../../machines/shared/Currency.ts"
import { token } from "../../../machines/shared/Fields.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Millis, Reference } from "./OperatorFieldSchemas.ts"

const account = {
  account: Schema.String,
  clientId: Schema.NullOr(Schema.Int),
  kind: Schema.Literals(["cash", "reserved"]),
  currency: Schema.Literals(currencyCodes)
}

/** An account with its balance right before `from` (zero without `from`) and at the end. */
export const LedgerExportAccount = Schema.Struct({ ...account, opening: Schema.String, closing: Schema.String })
export type LedgerExportAccount = typeof LedgerExportAccount.Type

export const LedgerExportTransaction = Schema.Struct({
  txId: Schema.Int,
  type: Schema.String,
  key: Schema.String,
  ts: Millis,
  postings: Schema.Array(Schema.Struct({ postingId: Schema.Int, ...account, amount: Schema.String }))
})
export type LedgerExportTransaction = typeof LedgerExportTransaction.Type

/** Each later page repeats the first page's `upTo`, so that all pages cover the same postings. */
export const ledgerExportQuery = {
  part: token("The part", ["accounts", "transactions"]),
  partner: Schema.optionalKey(Reference),
  from: Cursor("The time from"),
  to: Cursor("The time to"),
  upTo: Cursor("The newest posting"),
  after: Cursor("The cursor")
}

export const LedgerExportPage = Answer(
  Schema.Struct({
    asOf: Millis,
    upTo: Schema.Int,
    accounts: Schema.Array(LedgerExportAccount),
    transactions: Schema.Array(LedgerExportTransaction),
    nextAfter: Schema.NullOr(Schema.Int)
  })
)
