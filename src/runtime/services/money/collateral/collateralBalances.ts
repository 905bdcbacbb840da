/**
 * The client's USDC figures right after a report was booked. The first reply and every replay show them, so they are
 * stored with the report. Reports of version 1 stored none: their figures are recomputed from the postings up to the
 * report's own. Postings never change, and accounts of that version held only cash (A3-01, A3-16).
 */
import { Effect } from "effect"
import type { CollateralBalances, CollateralContext } from "../../../../machines/collateral/CollateralReport.ts"
import type { JsonObject } from "../../../../machines/shared/Json.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import type { CollateralReportRow } from "../../../tables/collateral.ts"

/** The client's USDC figures in replies, micro-USDC. */
export interface Line {
  readonly cash: bigint
  readonly reserved: bigint
  /** May be negative. */
  readonly freeMargin: bigint
}

/** The figures as text; free is the lesser of cash and free margin (F23). */
export const balancesOf = ({ cash, reserved, freeMargin }: Line): CollateralBalances => {
  const free = cash < freeMargin ? cash : freeMargin
  const usdc = (minor: bigint) => formatAmount(minor, "USDC")
  return {
    cash: usdc(cash),
    reserved: usdc(reserved),
    free: usdc(free),
    freeMargin: usdc(freeMargin)
  }
}

/** The figures that a booked report stores; null: a report of version 1, which stores none. */
export const keptBalances = ({ context }: CollateralReportRow): CollateralBalances | null => {
  const { cashAfter, reservedAfter, freeAfter, freeMarginAfter } = context
  if (cashAfter === null || reservedAfter === null || freeAfter === null || freeMarginAfter === null) return null
  return { cash: cashAfter, reserved: reservedAfter, free: freeAfter, freeMargin: freeMarginAfter }
}

/** The report with its figures, recomputed if it stores none. */
export const withBalances = (
  stored: RowReads["Service"],
  row: CollateralReportRow
): Effect.Effect<CollateralReportRow, Unavailable> => {
  if (row.state !== "BOOKED" || keptBalances(row) !== null) return Effect.succeed(row)
  return Effect.map(lineUpTo(stored, row), ({ cash, reserved }) => {
    const line = balancesOf({ cash, reserved, freeMargin: cash })
    const kept = {
      cashAfter: line.cash,
      reservedAfter: line.reserved,
      freeAfter: line.free,
      freeMarginAfter: line.freeMargin
    } satisfies Partial<CollateralContext>
    return { ...row, context: { ...row.context, ...kept } satisfies JsonObject }
  })
}

/** Postings per page. */
const pageSize = 1_000

/** Cash and reserve right after the report: the sums of the client's postings up to the report's own. */
const lineUpTo = (
  stored: RowReads["Service"],
  { clientId, context }: CollateralReportRow
): Effect.Effect<{ readonly cash: bigint; readonly reserved: bigint }, Unavailable> =>
  Effect.gen(function* () {
    const { ledgerTxId } = context
    const conditions = [
      { column: "client_id", value: clientId },
      { column: "currency", value: "USDC" }
    ]
    const sums = { cash: 0n, reserved: 0n }
    let before: number | undefined
    for (;;) {
      const query = { limit: pageSize, ...(before === undefined ? {} : { before }) }
      const postings = yield* stored.page("postings", conditions, query)
      for (const { txId, kind, amount } of postings) if (txId <= (ledgerTxId ?? 0)) sums[kind] += amount
      const last = postings.at(-1)
      if (last === undefined || postings.length < pageSize) return sums
      before = last.postingId
    }
  })
