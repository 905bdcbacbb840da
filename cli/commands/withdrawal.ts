/** `brokerage withdrawal …`: finance approves and pays withdrawal requests (operator surface, Back office). */
import type { Command } from "commander"
import { withdrawalStatuses } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { given, idArgument, required } from "../options.ts"
import { aboutWithdrawal } from "../questions.ts"
import {
  filedColumns,
  filedView,
  moneyListCommand,
  type MoneyListOptions,
  standingColumns
} from "../views/filedMoney.ts"
import { asSent, fields, page, table } from "../views/View.ts"
import { awaitsApproval } from "./approval.ts"

type ListOptions = MoneyListOptions<(typeof withdrawalStatuses)[number]>

export const addWithdrawalCommands = (program: Command, cli: Cli): void => {
  const withdrawal = program.command("withdrawal").description("withdrawal requests of partners under BROKER custody")
  addListCommand(withdrawal, cli)
  withdrawal
    .command("show")
    .description("one request: its fields, its bookings, and each decision with its time")
    .addArgument(idArgument("<ID>", "request id"))
    .action((requestId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.withdrawal.show({ params: { requestId } }), filedView, {
        decided: (data) => `withdrawalRequest:${data.requestId}`
      })
    )
  withdrawal
    .command("approve")
    .description("approve a request: the reserve leaves the client's account")
    .addArgument(idArgument("<ID>", "request id"))
    .action((requestId: string, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.withdrawal.approve({ params: { requestId } }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        {
          about: `withdrawalRequest:${requestId}`,
          confirm: aboutWithdrawal(requestId, (it) => `Approve ${it}? The money leaves the client's account at once.`)
        }
      )
    )
  withdrawal
    .command("pay")
    .description("record that the bank or the chain has paid")
    .addArgument(idArgument("<ID>", "request id"))
    .action((requestId: string, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.withdrawal.pay({ params: { requestId } }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        {
          about: `withdrawalRequest:${requestId}`,
          confirm: aboutWithdrawal(requestId, (it) => `Mark ${it}, as paid? That is final.`)
        }
      )
    )
  withdrawal
    .command("reject")
    .description("reject a request that is not approved: the reserve becomes the client's cash again")
    .addArgument(idArgument("<ID>", "request id"))
    .addOption(required("--reason <text>", "why; kept with the request, and shown to the partner"))
    .action((requestId: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(command, (api) => api.withdrawal.reject({ params: { requestId }, payload: { reason } }), fields, {
        about: `withdrawalRequest:${requestId}`,
        confirm: aboutWithdrawal(requestId, (it) => `Reject ${it}?`)
      })
    )
  withdrawal
    .command("fail")
    .description("return an approved amount that the bank refused for good: it becomes the client's cash again")
    .addArgument(idArgument("<ID>", "request id"))
    .addOption(required("--reason <text>", "why; kept with the request, and shown to the partner"))
    .action((requestId: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(
        command,
        (api) => api.withdrawal.fail({ params: { requestId }, payload: { reason } }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        {
          about: `withdrawalRequest:${requestId}`,
          confirm: aboutWithdrawal(
            requestId,
            (it) => `Give the money of ${it}, back to the client? The bank must have refused it for good.`
          )
        }
      )
    )
}

const addListCommand = (withdrawal: Command, cli: Cli): void => {
  moneyListCommand(withdrawal, withdrawalStatuses)
    .description("requests, newest first")
    .action(({ status, partner, limit, before }: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.withdrawal.list({ query: given({ status, partner, limit, before }) }),
        (data) =>
          page(
            table(
              data.withdrawals,
              {
                id: (row) => row.requestId,
                ...filedColumns,
                destination: (row) => (row.destination === null ? null : asSent(row.destination)),
                ...standingColumns
              },
              "no withdrawal requests"
            ),
            data
          )
      )
    )
}
