/** The body of POST .../statements: the kind of statement, and its period (doc 2, Statements; A2-65, STS-15). */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { type BodyFaults, judgeBody } from "../shared/RequestBody.ts"
import { isStatementKind, type StatementKind, statementKinds } from "./statementTokens.ts"

const labels = {
  kind: "The kind",
  from: "The start of the period",
  to: "The end of the period",
  taxYear: "The tax year",
  quarter: "The quarter"
} as const

const farthest = 8_640_000_000_000_000
const moment = (label: string, description: string) =>
  Schema.optionalKey(Fields.wholeNumber(label, 0, farthest).annotate({ description }))

const quarterShape = /^([0-9]{4})-Q([1-4])$/
const earliestYear = 2000
const latestYear = 9998

export const StatementBody = Fields.objectOf(
  {
    kind: Fields.token(labels.kind, statementKinds),
    from: moment(labels.from, "Unix ms, inclusive, of ACCOUNT, COSTS and TRANSACTIONS; sent together with to."),
    to: moment(labels.to, "Unix ms, exclusive; one after now is now. Without both: the last calendar month, UTC."),
    taxYear: Schema.optionalKey(
      Fields.wholeNumber(labels.taxYear, earliestYear, latestYear).annotate({
        description:
          "Of TAX: the year that it begins in; the last one that has ended when not sent. Where the tax residency changed, two may begin in it: the later one that has ended."
      })
    ),
    quarter: Schema.optionalKey(
      Fields.shaped(labels.quarter, quarterShape, "The quarter must be written as 2026-Q1.").annotate({
        description: "Of CLIENT_ASSETS, such as 2026-Q1; the last one that has ended when not sent."
      })
    )
  },
  "The request body"
)

/** A request whose fields are valid by themselves; its period is checked later, with the clock and the client. */
export type StatementRequest =
  | {
      readonly kind: "ACCOUNT" | "COSTS" | "TRANSACTIONS"
      /** The period, Unix ms; null for the last calendar month. */
      readonly range: { readonly from: number; readonly to: number } | null
    }
  | { readonly kind: "TAX"; readonly taxYear: number | null }
  | { readonly kind: "CLIENT_ASSETS"; readonly quarter: { readonly year: number; readonly number: number } | null }

export type DecodedStatement = { readonly ok: true; readonly request: StatementRequest } | BodyFaults

/** The fields that each kind allows besides `kind`. */
const takes: { readonly [K in StatementKind]: ReadonlyArray<string> } = {
  ACCOUNT: ["from", "to"],
  COSTS: ["from", "to"],
  TRANSACTIONS: ["from", "to"],
  TAX: ["taxYear"],
  CLIENT_ASSETS: ["quarter"]
}

/** Checks the body of a request for a statement; refuses with 400 code 4000, as all bodies do. */
export const decodeStatement = (body: unknown): DecodedStatement =>
  judgeBody(body, labels, (raw, add) => {
    const { kind } = raw
    if (typeof kind === "string" && isStatementKind(kind)) refuseForeign(raw, kind, add)
    const decoded = decodeBody(raw, add)
    return decoded === undefined ? undefined : { ok: true, request: requestOf(decoded, add) }
  })

const decodeBody = Fields.decoderOf(StatementBody)

const refuseForeign = (raw: Fields.JsonRecord, kind: StatementKind, add: Fields.AddError): void => {
  for (const field of ["from", "to", "taxYear", "quarter"] as const) {
    if (raw[field] !== undefined && !takes[kind].includes(field))
      add(field, `${labels[field]} does not belong to a statement of kind ${kind}.`)
  }
}

const requestOf = (body: typeof StatementBody.Type, add: Fields.AddError): StatementRequest => {
  const { kind, from, to, taxYear, quarter } = body
  if (kind === "TAX") return { kind, taxYear: taxYear ?? null }
  if (kind === "CLIENT_ASSETS") {
    const [, year, number] = quarterShape.exec((quarter ?? "").trim()) ?? []
    if (year === undefined) return { kind, quarter: null }
    // Years outside the range are refused, because JavaScript maps years below 100 to the last century.
    if (Number(year) < earliestYear || Number(year) > latestYear)
      add("quarter", `${labels.quarter} must be of a year from ${earliestYear} to ${latestYear}.`)
    return { kind, quarter: { year: Number(year), number: Number(number) } }
  }
  if (from === undefined && to === undefined) return { kind, range: null }
  if (from === undefined) add("from", "The start of the period is required when its end is sent.")
  if (to === undefined) add("to", "The end of the period is required when its start is sent.")
  return { kind, range: { from: from ?? 0, to: to ?? 0 } }
}
