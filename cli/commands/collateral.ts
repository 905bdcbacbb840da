/** `brokerage collateral list`: collateral reports of partners under PARTNER custody (operator surface, Back office). */
import type { Command } from "commander"
import { collateralStatuses } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { given, tokenOption } from "../options.ts"
import { page, table, time } from "../views/View.ts"
import { type ListOptions, listOf, pageOf } from "./tradeLists.ts"

interface ReportOptions extends ListOptions {
  readonly status?: (typeof collateralStatuses)[number]
}

export const addCollateralCommands = (program: Command, cli: Cli): void => {
  listOf(program.command("collateral").description("collateral reports of partners"))
    .addOption(tokenOption("--status <status>", "only in this status", collateralStatuses))
    .action((_: string | undefined, { status, ...whose }: ReportOptions, command: Command) =>
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
