/**
 * The bulk settlement report: up to 500 reports in one request, each applied separately. This file has the parts that need no
 * stored item: the request's entries, the rows of the answer, and the answer with its counters.
 * runtime/services/money/settlement/settlementDecisions.ts applies an entry to its item (doc 3, Settlement reporting rules 2;
 * A3-21).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { bulkSettlementMax } from "../shared/Limits.ts"
import type { Refusal } from "../shared/Refusal.ts"
import { notAnObject } from "../shared/RequestBody.ts"
import { SettlementReportBody } from "./SettlementReportBody.ts"
import { type ReportStatus, reportStatuses } from "./SettlementItem.ts"

const ItemId = Schema.Int.annotate({ description: "The item's id." })

const Entry = Schema.Struct({ itemId: ItemId, ...SettlementReportBody.fields })

/**
 * Any value passes here, because entries are checked one by one: an invalid entry is refused in its own row, and the others
 * continue.
 */
const AnyEntry = Schema.Unknown.annotate({ description: "Anything else: refused, in its own row of the answer." })

/** The body in the published contract. */
export const BulkReportBody = Schema.Struct({
  items: Schema.Array(Schema.Union([Entry, AnyEntry]))
    .check(Schema.isBetweenLength(1, bulkSettlementMax))
    .annotate({ description: "Reports, applied in this order." })
})

/** Codes of refused entries. */
export const bulkCodes = { invalid: 4000, unknown: 4004, conflict: 4092 } as const

export const BulkRow = Schema.Union([
  Schema.Struct({
    itemId: ItemId,
    ok: Schema.Literal(true),
    changed: Schema.Boolean.annotate({ description: "False for a repeat of the status that the item had." }),
    status: Schema.Literals(reportStatuses)
  }),
  Schema.Struct({
    itemId: Schema.NullOr(ItemId).annotate({ description: "Null when the entry names no item." }),
    ok: Schema.Literal(false),
    code: Schema.Literals([bulkCodes.invalid, bulkCodes.unknown, bulkCodes.conflict]),
    msg: Schema.String.annotate({ description: "Why the entry was refused." })
  })
])
export type BulkRow = typeof BulkRow.Type

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const BulkAnswer = Schema.Struct({
  results: Schema.Array(BulkRow).annotate({ description: "One row an entry, in the order of the request." }),
  settled: Count.annotate({ description: "Entries that made an item SETTLED." }),
  failed: Count.annotate({ description: "Entries that made an item FAILED." }),
  unchanged: Count.annotate({ description: "Entries that repeated the status of their item." }),
  refused: Count.annotate({ description: "Entries with ok false." })
})
export type BulkAnswer = typeof BulkAnswer.Type

/** An entry that names an item; its report is checked together with the stored item. */
export interface BulkEntry {
  /** The index of the entry in the request, from 0. */
  readonly place: number
  readonly itemId: number
  /** The entry without its item id: the same members as the body of a single report. */
  readonly report: Fields.JsonRecord
}

/** The index of an entry in the request, and the entry's row of the answer. */
export type PlacedRow = readonly [place: number, row: BulkRow]

export interface BulkReportBody {
  readonly count: number
  readonly entries: ReadonlyArray<BulkEntry>
  /** Rows of the entries that name no item. */
  readonly refused: ReadonlyArray<PlacedRow>
}

export type DecodedBulkReport =
  | { readonly ok: true; readonly body: BulkReportBody }
  | { readonly ok: false; readonly refusal: Refusal }

const invalid = (sentence: string, errors: Readonly<Record<string, string>> | null = null): DecodedBulkReport => ({
  ok: false,
  refusal: { _tag: "Invalid", reason: errors === null ? "INVALID_BODY" : "INVALID_FIELDS", sentence, errors }
})

/** The entries of a body. Refuses the whole request when it has no list, or not 1 to 500 entries. */
export const decodeBulkReport = (body: unknown): DecodedBulkReport => {
  if (!Fields.isRecord(body)) return invalid(notAnObject)
  const { items } = body
  if (!Array.isArray(items) || items.length < 1 || items.length > bulkSettlementMax) {
    const sentence = `The items must be a list of 1 to ${bulkSettlementMax} reports.`
    return invalid(sentence, { items: sentence })
  }
  const entries: Array<BulkEntry> = []
  const refused: Array<PlacedRow> = []
  for (const [place, item] of items.entries()) {
    if (!Fields.isRecord(item)) {
      refused.push([place, refusedRow(null, "invalid", "The entry must be a JSON object.")])
      continue
    }
    const { itemId, ...report } = item
    if (typeof itemId === "number" && Number.isSafeInteger(itemId)) entries.push({ place, itemId, report })
    else refused.push([place, refusedRow(null, "invalid", "The itemId must be a whole number.")])
  }
  return { ok: true, body: { count: items.length, entries, refused } }
}

export const refusedRow = (itemId: number | null, why: keyof typeof bulkCodes, msg: string): BulkRow => ({
  itemId,
  ok: false,
  code: bulkCodes[why],
  msg
})

/** The answer's row for a refused entry. A refusal that a settlement report can't cause is a defect. */
export const rowOfRefusal = (itemId: number, refusal: Refusal): BulkRow => {
  switch (refusal._tag) {
    case "Invalid":
      return refusedRow(itemId, "invalid", refusal.sentence)
    case "Unknown":
      return refusedRow(itemId, "unknown", refusal.sentence)
    case "Conflict":
      return refusedRow(itemId, "conflict", refusal.sentence)
    default:
      throw new Error(`a settlement report can not be refused as ${refusal._tag}`)
  }
}

export const acceptedRow = (itemId: number, changed: boolean, status: ReportStatus): BulkRow => ({
  itemId,
  ok: true,
  changed,
  status
})

/** The answer, with all rows in the order of the request. Throws when an entry does not have exactly one row. */
export const bulkAnswer = (count: number, placed: ReadonlyArray<PlacedRow>): BulkAnswer => {
  const results = placed.toSorted(([one], [other]) => one - other).map(([, row]) => row)
  if (results.length !== count || new Set(placed.map(([place]) => place)).size !== count) {
    throw new Error(`a bulk report of ${count} entries came to ${placed.length} rows`)
  }
  const counted = (test: (row: BulkRow) => boolean): number => results.filter(test).length
  return {
    results,
    settled: counted((row) => row.ok && row.changed && row.status === "SETTLED"),
    failed: counted((row) => row.ok && row.changed && row.status === "FAILED"),
    unchanged: counted((row) => row.ok && !row.changed),
    refused: counted((row) => !row.ok)
  }
}
