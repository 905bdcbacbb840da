/** `brokerage collateral|settlement list`: what partners under PARTNER custody have reported (operator surface, Back office). */
import type { Command } from "commander"
import { collateralStatuses, settlementStatuses } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { given, tokenOption, whole } from "../options.ts"
import { page, table, time } from "../views/View.ts"
import { type ListOptions, listOf, pageOf } from "./tradeLists.ts"

interface ReportOptions extends ListOptions {
  readonly status?: (typeof collateralStatuses)[number]
}

interface ItemOptions extends ListOptions {
  readonly status?: (typeof settlementStatuses)[number]
  readonly since?: number
}

export const addMoneyListCommands = (program: Command, cli: Cli): void => {
  addCollateralCommands(program.command("collateral").description("collateral reports of partners"), cli)
  addSettlementCommands(program.command("settlement").description("settlement items of clients"), cli)
}

const addCollateralCommands = (collateral: Command, cli: Cli): void => {
  listOf(collateral)
    .addOption(tokenOption("--status <status>", "only these", collateralStatuses))
    .action(({ status, ...whose }: ReportOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.collateral.list({ query: given({ status, ...pageOf(whose) }) }),
        (data) =>
          page(
            table(
              data.reports,
              {
                id: (row) => row.reportId,
                client: (row) => row.clientUid,
                direction: (row) => row.direction,
                amount: (row) => `${row.amount} ${row.currency}`,
                status: (row) => row.status,
                reference: (row) => row.partnerRef,
                reported: (row) => time(row.createdAt),
                refusal: (row) => row.refusal
              },
              "no reports"
            ),
            data
          )
      )
    )
}

const addSettlementCommands = (settlement: Command, cli: Cli): void => {
  listOf(settlement)
    .addOption(tokenOption("--status <status>", "only these", settlementStatuses))
    .option("--since <ms>", "only what occurred then or later, Unix ms", whole(0, Number.MAX_SAFE_INTEGER))
    .action(({ status, since, ...whose }: ItemOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.settlement.list({ query: given({ status, since, ...pageOf(whose) }) }),
        (data) =>
          page(
            table(
              data.items,
              {
                id: (row) => row.itemId,
                client: (row) => row.clientUid,
                type: (row) => row.type,
                amount: (row) => `${row.amount} ${row.currency}`,
                status: (row) => row.status,
                occurred: (row) => time(row.occurredAt),
                reported: (row) => time(row.reportedAt),
                reference: (row) => row.partnerTxRef
              },
              "no settlement items"
            ),
            data
          )
      )
    )
}
