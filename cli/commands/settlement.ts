/** `brokerage settlement list`: settlement items between the firms (operator surface, Back office). */
import type { Command } from "commander"
import { settlementStatuses } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { momentOption } from "../moment.ts"
import { given, tokenOption } from "../options.ts"
import { page, table, time } from "../views/View.ts"
import { type ListOptions, listOf, pageOf } from "./tradeLists.ts"

interface ItemOptions extends ListOptions {
  readonly status?: (typeof settlementStatuses)[number]
  readonly since?: number
}

export const addSettlementCommands = (program: Command, cli: Cli): void => {
  listOf(program.command("settlement").description("settlement items of clients"))
    .addOption(tokenOption("--status <status>", "only in this status", settlementStatuses))
    .addOption(momentOption("--since <time>", "only items that occurred then or later"))
    .action((_: string | undefined, { status, since, ...whose }: ItemOptions, command: Command) =>
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
