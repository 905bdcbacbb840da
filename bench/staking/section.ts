/** The staking part of the report. */
import { rowsTable, table, whole } from "../markdown.ts"
import { stakingGoals } from "./goals.ts"
import type { StakingFindings } from "./stakingRounds.ts"

export const stakingSection = (findings: StakingFindings): string =>
  [
    table(
      ["goal", "found", ""],
      stakingGoals(findings).map(({ sentence, figure, reached }) => [sentence, figure, reached ? "reached" : "MISSED"])
    ),
    ...findings.reads.reads.flatMap(({ kind, behind, rows }) => [
      `### ${kind === "balances" ? "Balances" : "Overview"} of eight currencies and fifty swaps, ${whole(behind)} trades behind them, 64 connections`,
      rowsTable(rows)
    ]),
    "Balances and trades were put into the database by statements, the swaps were taken of one offer; both sides answered the same to the last figure; then the marks moved while they were read. The reference adds up the trades for each overview."
  ].join("\n\n")
