/** `brokerage deposit …`: finance confirms or rejects deposit notices of partners (operator surface, Back office). */
import type { Command } from "commander"
import { depositStatuses } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { given, idArgument, required } from "../options.ts"
import { aboutDeposit } from "../questions.ts"
import {
  filedColumns,
  filedView,
  moneyListCommand,
  type MoneyListOptions,
  standingColumns
} from "../views/filedMoney.ts"
import { fields, page, table } from "../views/View.ts"

type ListOptions = MoneyListOptions<(typeof depositStatuses)[number]>

export const addDepositCommands = (program: Command, cli: Cli): void => {
  const deposit = program.command("deposit").description("deposit notices of partners under BROKER custody")
  moneyListCommand(deposit, depositStatuses)
    .description("notices, newest first")
    .action(({ status, partner, limit, before }: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.deposit.list({ query: given({ status, partner, limit, before }) }),
        (data) =>
          page(
            table(
              data.deposits,
              {
                id: (row) => row.noticeId,
                ...filedColumns,
                method: (row) => row.method,
                evidence: (row) => row.evidenceRef,
                ...standingColumns
              },
              "no deposit notices"
            ),
            data
          )
      )
    )
  deposit
    .command("show")
    .description("one notice: its fields, its bookings, and each decision with its time")
    .addArgument(idArgument("<ID>", "notice id"))
    .action((noticeId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.deposit.show({ params: { noticeId } }), filedView, {
        decided: (data) => `depositNotice:${data.noticeId}`
      })
    )
  deposit
    .command("confirm")
    .description("confirm a notice whose money has arrived: credits the client")
    .addArgument(idArgument("<ID>", "notice id"))
    .option("--note <text>", "kept with the notice, and shown to the partner")
    .action((noticeId: string, { note }: { readonly note?: string }, command: Command) =>
      cli.call(command, (api) => api.deposit.confirm({ params: { noticeId }, payload: given({ note }) }), fields, {
        about: `depositNotice:${noticeId}`,
        confirm: aboutDeposit(
          noticeId,
          (it) => `Confirm ${it}? The client is credited at once; postings are never undone, only corrected.`
        )
      })
    )
  deposit
    .command("reject")
    .description("reject a notice whose money has not arrived: no posting")
    .addArgument(idArgument("<ID>", "notice id"))
    .addOption(required("--reason <text>", "why; kept with the notice, and shown to the partner"))
    .action((noticeId: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(command, (api) => api.deposit.reject({ params: { noticeId }, payload: { reason } }), fields, {
        about: `depositNotice:${noticeId}`,
        confirm: aboutDeposit(
          noticeId,
          (it) => `Reject ${it}? The client is not credited, and the partner gets an event. That is final.`
        )
      })
    )
}
