/** Payments between the firms: record and list for finance (operator surface, interfirm; A3-25). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InterfirmRecord } from "../../../machines/settlement/SettlementFigures.ts"
import { text } from "../../../machines/shared/Fields.ts"
import { moneyLengths } from "../../../machines/shared/Limits.ts"
import { pageEnd } from "../../../machines/shared/Page.ts"
import { everyone, finance, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { ApprovalPending, Cursor, Limit, rangeOf, Reference } from "./OperatorFieldSchemas.ts"
import { indexed } from "../Parameters.ts"

/** A field for any time, Unix ms. */
const moment = (label: string) => rangeOf(label, 0, Number.MAX_SAFE_INTEGER)

/** The amount is signed USDC: positive when the service paid the partner. */
export const InterfirmBody = Schema.Struct({
  amount: text("The amount", 40),
  periodFrom: moment("The start of the period"),
  periodTo: moment("The end of the period"),
  txRef: text("The transaction reference", moneyLengths.txRef),
  note: Schema.optionalKey(text("The note", moneyLengths.settlementNote))
})

export class InterfirmGroup extends HttpApiGroup.make("interfirm").add(
  HttpApiEndpoint.post("record", "/partners/:partner/interfirm", {
    params: { partner: Reference },
    payload: InterfirmBody,
    success: Answer(Schema.Union([ApprovalPending, InterfirmRecord]))
  }).pipe(openTo(finance, { fourEyes: "usual" })),
  HttpApiEndpoint.get("list", "/interfirm", {
    query: { partner: indexed(Schema.optionalKey(Reference)), limit: Limit(500), before: Cursor("The cursor") },
    success: Answer(Schema.Struct({ settlements: Schema.Array(InterfirmRecord), ...pageEnd }))
  }).pipe(openTo(everyone))
) {}
