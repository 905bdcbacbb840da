/** `brokerage break …`: reconciliation breaks, which pause outgoing money (operator surface, Back office; A3-11). */
import type { Command } from "commander"
import { breakStatuses, currencyCodes } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import {
  beforeOption,
  given,
  idArgument,
  limitOption,
  required,
  requiredToken,
  scopeName,
  tokenOption
} from "../options.ts"
import { awaitsApproval } from "./approval.ts"
import { fields, partnerNamed, table, time } from "../views/View.ts"

interface OpenOptions {
  readonly scope: string
  readonly currency: (typeof currencyCodes)[number]
  readonly amount: string
  readonly reason: string
  /** False when --no-pause is given. */
  readonly pause: boolean
}

interface ListOptions {
  readonly status?: (typeof breakStatuses)[number]
  readonly limit?: number
  readonly before?: number
}

export const addBreakCommands = (program: Command, cli: Cli): void => {
  const breaks = program.command("break").description("reconciliation breaks that pause money out")
  breaks
    .command("list")
    .description("breaks, newest first")
    .addOption(tokenOption("--status <status>", "only in this status", breakStatuses))
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .action(({ status, limit, before }: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.break.list({ query: given({ status, limit, before }) }),
        (data) =>
          table(
            data.breaks,
            {
              id: (row) => row.breakId,
              scope: (row) => row.scope,
              partner: (row) => partnerNamed(row.partnerId),
              client: (row) => row.clientId,
              difference: (row) => `${row.amount} ${row.currency}`,
              "pauses money out": (row) => (row.pausesMoneyOut ? "yes" : "no"),
              status: (row) => row.status,
              opened: (row) => time(row.openedAt),
              reason: (row) => row.reason
            },
            "no breaks"
          )
      )
    )
  breaks
    .command("show")
    .description("one break, with the keys that opened and closed it")
    .addArgument(idArgument("<ID>", "break id"))
    .action((breakId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.break.show({ params: { breakId } }), fields, {
        decided: (data) => `reconBreak:${data.breakId}`
      })
    )
  breaks
    .command("open")
    .description("record a difference; approvals in its scope are refused until it is closed")
    .addOption(
      required(
        "--scope <ALL|P|C>",
        "ALL, a partner by id or code, or a client by id, uid, reference or e-mail address"
      ).argParser(scopeName)
    )
    .addOption(requiredToken("--currency <code>", "currency", currencyCodes))
    .addOption(required("--amount <decimal>", "the difference with its sign, such as -12.50"))
    .addOption(required("--reason <text>", "why; kept with the break and in the audit"))
    .option("--no-pause", "record it without a pause of money out")
    .action(({ pause, ...payload }: OpenOptions, command: Command) =>
      cli.call(command, (api) => api.break.open({ payload: { ...payload, pausesMoneyOut: pause } }), fields, {
        confirm: `Open a break over ${payload.scope}?${pause ? " No withdrawal in its scope can be approved." : ""}`
      })
    )
  breaks
    .command("close")
    .description("close it once the difference is explained: money out continues")
    .addArgument(idArgument("<ID>", "break id"))
    .addOption(required("--reason <text>", "the explanation; kept with the break and in the audit"))
    .action((breakId: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(
        command,
        (api) => api.break.close({ params: { breakId }, payload: { reason } }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        {
          about: `reconBreak:${breakId}`,
          confirm: `Close break ${breakId}? Withdrawals in its scope can then be approved.`
        }
      )
    )
}
