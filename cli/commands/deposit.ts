/** `brokerage deposit …`: finance decides what partners say they passed on (operator surface, Back office). */
import type { Command } from "commander"
import { depositStatuses } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { beforeOption, given, limitOption, required, tokenOption } from "../options.ts"
import { fields, stack, table, text, time } from "../views/View.ts"

interface ListOptions {
  readonly status?: (typeof depositStatuses)[number]
  readonly partner?: string
  readonly limit?: number
  readonly before?: number
}

export const addDepositCommands = (program: Command, cli: Cli): void => {
  const deposit = program.command("deposit").description("deposit notices of partners under BROKER custody")
  deposit
    .command("list")
    .description("notices, newest first")
    .addOption(tokenOption("--status <status>", "only these", depositStatuses))
    .option("--partner <P>", "only of this partner: id or code")
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .action(({ status, partner, limit, before }: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.deposit.list({ query: given({ status, partner, limit, before }) }),
        (data) =>
          stack(
            table(
              data.deposits,
              {
                id: (row) => row.noticeId,
                partner: (row) => row.partnerId,
                client: (row) => row.clientUid,
                reference: (row) => row.partnerRef,
                amount: (row) => `${row.amount} ${row.currency}`,
                method: (row) => row.method,
                evidence: (row) => row.evidenceRef,
                status: (row) => row.status,
                created: (row) => time(row.createdAt)
              },
              "no deposit notices"
            ),
            ...(data.hasMore ? [text(`More with --before ${data.nextBefore}.`)] : [])
          )
      )
    )
  deposit
    .command("confirm")
    .description("the money has arrived: credit the client")
    .argument("<ID>", "notice id")
    .option("--note <text>", "kept with the notice, and shown to the partner")
    .action((noticeId: string, { note }: { readonly note?: string }, command: Command) =>
      cli.call(command, (api) => api.deposit.confirm({ params: { noticeId }, payload: given({ note }) }), fields, {
        confirm: `Confirm deposit notice ${noticeId}? The client is credited at once; postings are never undone, only corrected.`
      })
    )
  deposit
    .command("reject")
    .description("the money has not arrived: close the notice without a posting")
    .argument("<ID>", "notice id")
    .addOption(required("--reason <text>", "why; kept with the notice, and shown to the partner"))
    .action((noticeId: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(command, (api) => api.deposit.reject({ params: { noticeId }, payload: { reason } }), fields)
    )
}
