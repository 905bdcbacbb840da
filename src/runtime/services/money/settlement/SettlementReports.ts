/**
 * Reconciliation between a partner and the service: the settlement report and summary of a time window, and the
 * payments recorded between the firms.
 *
 * Growth: a report reads daily totals, at most 3 rows per day for items (one per state) and one per day for each
 * currency and posting type that moved. It reads single rows only for partial days at the window's two ends. A partner
 * with a million items in a year reads about 1,100 rows of totals for the whole year, and the items of at most two
 * days more. Records of payments are read by partner; a partner has some per week. Each reply is one statement, so all
 * its figures are of one moment (A3-22..A3-25, A3-41, A3-42).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { dayWindow, everythingUntil } from "../../../../machines/settlement/dayWindow.ts"
import {
  type InterfirmPage,
  interfirmOf,
  type ItemSums,
  noItems,
  recordDefinitions,
  reportDefinitions,
  type SettlementReportFigures,
  type SettlementSummary,
  stateFigures,
  summaryDefinitions,
  type SumsByState
} from "../../../../machines/settlement/SettlementFigures.ts"
import { type SettlementStatus, settlementStatuses } from "../../../../machines/settlement/SettlementItem.ts"
import { type Currency, currencyCodes } from "../../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import { Directory } from "../../partners/Directory.ts"
import { wireInterfirm } from "./interfirmWire.ts"
import type { PageQuery } from "../../../store/paging.ts"
import { rowPage } from "../../account/listReads.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import {
  type FigureRow,
  reportStatement,
  settlementFigures,
  summaryStatement
} from "../../../store/reads/settlementReads.ts"
import { whenAway } from "../../../store/whenAway.ts"

/** A window of time in Unix ms, both ends inclusive; `now`: time of the request. */
export interface WindowQuery {
  readonly from: number
  readonly to: number
  readonly now: number
}

export class SettlementReports extends Context.Service<
  SettlementReports,
  {
    report(partnerId: number, window: WindowQuery): Effect.Effect<SettlementReportFigures, Unavailable>
    summary(partnerId: number, window: WindowQuery): Effect.Effect<SettlementSummary, Unavailable>
    /** Payments recorded between the firms, newest first. */
    interfirm(partnerId: number, query: PageQuery): Effect.Effect<InterfirmPage, Unavailable>
  }
>()("brokerage/runtime/services/money/settlement/SettlementReports") {
  static readonly layer = Layer.effect(
    SettlementReports,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const directory = yield* Directory
      const stored = yield* RowReads

      const figures = (text: string, values: ReadonlyArray<number>) =>
        withinTime(
          Effect.catch(settlementFigures(sql, text, values), whenAway),
          () => new Unavailable({ unknown: false })
        )

      const head = (partnerId: number, { from, to, now }: WindowQuery) => {
        const row = directory.partner(partnerId)?.row
        const custodyModel = row?.custodyModel ?? "BROKER"
        const collateralAsset = custodyModel === "PARTNER" ? (row?.collateralAsset ?? "") : ""
        return { from, to, asOf: now, custodyModel, collateralAsset }
      }

      return SettlementReports.of({
        report: (partnerId, window) =>
          Effect.map(figures(reportStatement, [...windowValues(partnerId, window), ...untilEnd(window)]), (rows) => {
            const start = head(partnerId, window)
            return {
              ...start,
              currencies: reportCurrencies(rows),
              interfirm: start.custodyModel === "PARTNER" ? interfirmOf(itemsOf(rows), sumOf(rows, "recorded")) : null,
              definitions: reportDefinitions
            }
          }),
        summary: (partnerId, window) =>
          Effect.map(figures(summaryStatement, windowValues(partnerId, window)), (rows) => {
            const items = itemsOf(rows)
            return {
              ...head(partnerId, window),
              currencies: [
                {
                  currency: "USDC",
                  pending: stateFigures(items.PENDING),
                  settled: stateFigures(items.SETTLED),
                  failed: stateFigures(items.FAILED),
                  collateralHeld: formatAmount(sumOf(rows, "held"), "USDC"),
                  clientCash: formatAmount(sumOf(rows, "cash"), "USDC"),
                  interfirm: interfirmOf(items, sumOf(rows, "recorded"))
                }
              ],
              definitions: summaryDefinitions
            }
          }),
        interfirm: (partnerId, query) =>
          Effect.map(
            rowPage(stored, "interfirmRecords", [{ column: "partner_id", value: partnerId }], query, (row) => row.id),
            ({ shown, end }) => ({ settlements: shown.map(wireInterfirm), ...end, definitions: recordDefinitions })
          )
      })
    })
  )
}

/** Parameters $1 to $9 of the statements. */
const windowValues = (partnerId: number, { from, to, now }: WindowQuery): ReadonlyArray<number> => {
  const { days, edges } = dayWindow(from, to, now)
  return [partnerId, from, to, days.from, days.to, ...edges.flatMap((edge) => [edge.from, edge.to])]
}

/** Parameters $10 to $12 of the report's statement. */
const untilEnd = ({ to, now }: WindowQuery): ReadonlyArray<number> => {
  const { lastDay, part } = everythingUntil(to, now)
  return [lastDay, part.from, part.to]
}

/** Sums of a figure by the group of its rows; micro-USDC or minor units of the currency. */
const byName = (rows: ReadonlyArray<FigureRow>, figure: string): ReadonlyMap<string, FigureRow> =>
  new Map(rows.flatMap((row) => (row.figure === figure ? [[row.name, row] as const] : [])))

const sumOf = (rows: ReadonlyArray<FigureRow>, figure: string, name = "USDC"): bigint => {
  const row = byName(rows, figure).get(name)
  return row === undefined ? 0n : BigInt(row.plus) - BigInt(row.minus)
}

const itemsOf = (rows: ReadonlyArray<FigureRow>): SumsByState => {
  const found = byName(rows, "items")
  const sums = (state: SettlementStatus): ItemSums => {
    const row = found.get(state)
    if (row === undefined) return noItems
    return { count: Number(row.n), credits: BigInt(row.plus), debits: BigInt(row.minus) }
  }
  return Object.fromEntries(settlementStatuses.map((state) => [state, sums(state)])) as SumsByState
}

const moved = ["deposits", "withdrawals", "commissions", "pnl", "closing"] as const

/** USDC always; another currency if one of its figures is not zero. */
const reportCurrencies = (rows: ReadonlyArray<FigureRow>): SettlementReportFigures["currencies"] =>
  currencyCodes.flatMap((currency: Currency) => {
    const [deposits, withdrawals, commissions, pnl, closing] = moved.map((figure) => sumOf(rows, figure, currency))
    if (currency !== "USDC" && [deposits, withdrawals, commissions, pnl, closing].every((sum) => sum === 0n)) return []
    const money = (minor = 0n) => formatAmount(minor, currency)
    return [
      {
        currency,
        depositsConfirmed: money(deposits),
        withdrawalsPaid: money(withdrawals),
        // A charge is a negative posting.
        commissions: money(-(commissions ?? 0n)),
        realizedPnl: money(pnl),
        closingClientCash: money(closing)
      }
    ]
  })
