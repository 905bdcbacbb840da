/**
 * The body of POST .../settlement/items/{itemId}/report: the partner has settled an item with its client, or could not do so
 * yet (doc 3, Endpoints and Settlement reporting rules; A3-20).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { moneyLengths } from "../shared/Limits.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { cleanText } from "../shared/Text.ts"
import { type ReportStatus, reportStatuses } from "./SettlementItem.ts"

const labels = {
  status: "The status",
  partnerTxRef: "The partner's transaction reference",
  settledAt: "The time of settlement",
  note: "The note"
} as const

export const SettlementReportBody = Fields.objectOf(
  {
    status: Fields.token(labels.status, reportStatuses),
    partnerTxRef: Fields.optionalText(labels.partnerTxRef, moneyLengths.partnerTxRef),
    settledAt: Schema.optionalKey(Fields.unixMillis(labels.settledAt)),
    note: Fields.optionalText(labels.note, moneyLengths.settlementNote)
  },
  "The request body"
)

export interface SettlementReportBody {
  readonly status: ReportStatus
  /** Never null for SETTLED. */
  readonly partnerTxRef: string | null
  /** Unix ms as sent, not in the future; null when not sent. */
  readonly settledAt: number | null
  readonly note: string | null
}

export type DecodedSettlementReport = { readonly ok: true; readonly body: SettlementReportBody } | BodyFaults

/**
 * Checks a report. On refusal, `sentence` belongs to the first failing field in the documented order (status, partnerTxRef,
 * settledAt, note), and `errors` names all failing fields (400 code 4000). `now` in Unix ms.
 */
export const decodeSettlementReport = (body: unknown, facts: { readonly now: number }): DecodedSettlementReport =>
  judgeBody(body, labels, (raw, add) => {
    const decoded = decodeBody(raw, add)
    checkAcrossFields(raw, facts, add)
    if (decoded === undefined) return undefined
    const { status, partnerTxRef, settledAt, note } = decoded
    return {
      ok: true,
      body: {
        status,
        partnerTxRef: textOrNull(partnerTxRef),
        settledAt: settledAt ?? null,
        note: textOrNull(note)
      }
    }
  })

const decodeBody = Fields.decoderOf(SettlementReportBody)

const checkAcrossFields = (raw: Fields.JsonRecord, { now }: { readonly now: number }, add: Fields.AddError): void => {
  const { settledAt } = raw
  if (raw["status"] === "SETTLED" && (raw["partnerTxRef"] === undefined || Fields.textAt(raw, "partnerTxRef") === "")) {
    add("partnerTxRef", `${labels.partnerTxRef} is required when an item is SETTLED.`)
  }
  if (typeof settledAt === "number" && settledAt > now) {
    add("settledAt", `${labels.settledAt} must not be in the future.`)
  }
}

/** The cleaned text; null when empty, which counts as not sent. */
const textOrNull = (value: string | undefined): string | null => (value === undefined ? null : cleanText(value) || null)
