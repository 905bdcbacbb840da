/**
 * Operator commands of the ledger: a manual correction, the verification of all figures, the export (operator surface; A2-62,
 * A3-43).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { LedgerPage, PostingWire } from "../../../machines/account/AccountWire.ts"
import { postingTypes } from "../../../machines/postingRules.ts"
import { currencyCodes } from "../../../machines/shared/Currency.ts"
import { text, token } from "../../../machines/shared/Fields.ts"
import { LedgerExportPage, ledgerExportQuery } from "./LedgerExport.ts"
import { everyone, finance, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { ApprovalPending, Cursor, Limit, Millis, Reason, Reference } from "./OperatorFieldSchemas.ts"

export const Adjustment = Schema.Struct({
  ledgerTxId: Schema.Int,
  clientId: Schema.Int,
  clientUid: Schema.String,
  currency: Schema.Literals(currencyCodes),
  amount: Schema.String,
  reason: Schema.String,
  reference: Schema.NullOr(Schema.String),
  balance: Schema.Struct({ cash: Schema.String, reserved: Schema.String, total: Schema.String }),
  ts: Millis
})

/**
 * The amount is a decimal string with an optional sign, in the currency's scale. The reference is the operator's name for the
 * correction. A client's ledger accepts each reference once, so a retry is not booked twice.
 */
export const AdjustmentBody = Schema.Struct({
  currency: token("The currency", currencyCodes),
  amount: text("The amount", 40),
  reason: Reason,
  reference: Schema.optionalKey(text("The reference", 64))
})

/** A posting as one leg of its transaction: in a client's account, or in a house account, which has no client. */
export const LegView = Schema.Struct({
  ...PostingWire.fields,
  account: Schema.String,
  clientId: Schema.NullOr(Schema.Int)
})

export const LedgerProof = Schema.Struct({
  ok: Schema.Boolean,
  checks: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      ok: Schema.Boolean,
      figure: Schema.Json,
      detail: Schema.NullOr(Schema.String)
    })
  )
})

export class LedgerGroup extends HttpApiGroup.make("ledger").add(
  HttpApiEndpoint.post("adjust", "/clients/:client/ledger/adjust", {
    params: { client: Reference },
    payload: AdjustmentBody,
    success: Answer(Schema.Union([ApprovalPending, Adjustment]))
  }).pipe(openTo(finance, { fourEyes: "usual" })),
  HttpApiEndpoint.get("list", "/clients/:client/postings", {
    params: { client: Reference },
    query: {
      currency: Schema.optionalKey(token("The currency", currencyCodes)),
      type: Schema.optionalKey(token("The type", postingTypes)),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(LedgerPage)
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("verify", "/ledger/verify", { success: Answer(LedgerProof) }).pipe(
    openTo(everyone, { lasts: true })
  ),
  /** Progress of the running verification, started by any caller; null when none runs. */
  HttpApiEndpoint.get("verifying", "/ledger/verifying", {
    success: Answer(Schema.NullOr(Schema.Struct({ done: Schema.Int, of: Schema.Int, check: Schema.String })))
  }).pipe(openTo(everyone, { partOf: "ledger verify" })),
  HttpApiEndpoint.get("export", "/ledger/export", { query: ledgerExportQuery, success: LedgerExportPage }).pipe(
    openTo(finance, { lasts: true })
  )
) {}
