/**
 * The effect of a partner's report on one settlement item, inside the mailbox of the item's client. A report of one
 * item and each entry of a bulk report use it (D12; A3-20).
 */
import type { JsonObject } from "../../../../machines/shared/Json.ts"
import { itemOf, type SettlementEvent, type SettlementItem } from "../../../../machines/settlement/SettlementItem.ts"
import type { SettlementReportBody } from "../../../../machines/settlement/SettlementReportBody.ts"
import { accept, conflict, refuse, type Refusal, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { ClaimLost, DispatchError, Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { SettlementItemRow } from "../../../tables/settlement.ts"
import { instanceOf, ownClient } from "../../account/clientState.ts"
import type { PartnerView } from "../../partners/Directory.ts"
import { advance } from "../../../effects/advance.ts"

export const noItem: Refusal = unknown("Settlement item")

/** The most changes of an item. A report of an item can therefore lose to at most this many concurrent reports. */
export const changesOfItem = 2

export const wireItem = (row: SettlementItemRow): SettlementItem => itemOf(row.context, row.state)

/** The claim on an item's n-th change: of two commits with the same change, the database refuses one. */
const changeClaim = (itemId: number, change: number): string => `item:${itemId}:${change}`

/** True if a commit lost only to other reports of its items. Their rows must then be read again. */
export const isLostToReports = (error: DispatchError): error is ClaimLost =>
  error._tag === "ClaimLost" && error.claims.every(({ name }) => /^item:\d+:\d+$/.test(name))

const eventOf = ({ status, partnerTxRef, settledAt, note }: SettlementReportBody, now: number): SettlementEvent =>
  status === "SETTLED"
    ? { type: "REPORT_SETTLED", at: now, partnerTxRef, settledAt: settledAt ?? now, note }
    : { type: "REPORT_FAILED", at: now, partnerTxRef, settledAt, note }

export interface AppliedReport {
  /** The item's row after the report. */
  readonly row: SettlementItemRow
  /** False if the item already had the reported status, so that nothing was written. */
  readonly changed: boolean
}

/** Applies a report to an item: to its row as read, or as an earlier entry of the same turn left it. */
export const applyReport = (
  turn: Turn,
  row: SettlementItemRow,
  report: SettlementReportBody,
  partner: PartnerView
): Verdict<AppliedReport> => {
  const client = ownClient(turn.state, row.partnerId)
  if (client === null) return refuse(noItem)
  if (row.state === report.status) return accept({ row, changed: false })
  const next = advance(turn, "settlementItems", row, eventOf(report, turn.now), { of: instanceOf(client, partner) })
  if (next === null) {
    return refuse(
      conflict("SETTLED_ALREADY", "This item is settled already, so it can't be reported as failed.", {
        item: wireItem(row) as JsonObject
      })
    )
  }
  turn.draft.claim(changeClaim(row.id, next.context.reports), row.id)
  return accept({ row: next, changed: true })
}
