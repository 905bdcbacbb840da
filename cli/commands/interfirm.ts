/** `brokerage interfirm …`: payments between the partner and the service (operator surface, Back office). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { beforeOption, given, limitOption, partnerArgument, partnerOption, required } from "../options.ts"
import { fields, page, table, time } from "../views/View.ts"
import { momentOption } from "../moment.ts"
import { awaitsApproval } from "./approval.ts"

interface RecordOptions {
  readonly amount: string
  readonly from: number
  readonly to: number
  readonly txRef: string
  readonly note?: string
}

export const addInterfirmCommands = (program: Command, cli: Cli): void => {
  const interfirm = program.command("interfirm").description("payments between a partner and the service")
  addInterfirmList(interfirm, cli)
  interfirm
    .command("record")
    .description("record a payment that settles debts between the firms; safe to repeat with the same reference")
    .addArgument(partnerArgument())
    .addOption(required("--amount <decimal>", "signed USDC: positive, paid to the partner; negative, paid by it"))
    .addOption(momentOption("--from <time>", "start of the period that it settles").makeOptionMandatory())
    .addOption(
      momentOption("--to <time>", "end of that period, inclusive (a date: the whole day)", {
        isLastMoment: true
      }).makeOptionMandatory()
    )
    .addOption(required("--tx-ref <text>", "the payment's reference, 1 to 128 characters; recorded once a partner"))
    .option("--note <text>", "shown to the partner, at most 500 characters")
    .action((p: string, { amount, from, to, txRef, note }: RecordOptions, command: Command) =>
      cli.call(
        command,
        (api) =>
          api.interfirm.record({
            params: { partner: p },
            payload: { amount, periodFrom: from, periodTo: to, txRef, ...given({ note }) }
          }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        { confirm: `Record ${amount} USDC for partner ${p}? Records are never undone, only corrected by another.` }
      )
    )
}

interface ListOptions {
  readonly partner?: string
  readonly limit?: number
  readonly before?: number
}

const addInterfirmList = (interfirm: Command, cli: Cli): void => {
  interfirm
    .command("list")
    .description("recorded payments, newest first")
    .addOption(partnerOption())
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .action((options: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.interfirm.list({ query: given(options) }),
        (data) =>
          page(
            table(
              data.settlements,
              {
                id: (row) => row.settlementId,
                partner: (row) => row.partnerId,
                amount: (row) => `${row.amount} ${row.currency}`,
                from: (row) => time(row.periodFrom),
                to: (row) => time(row.periodTo),
                reference: (row) => row.txRef,
                recorded: (row) => time(row.recordedAt),
                by: (row) => row.recordedBy,
                note: (row) => row.note
              },
              "no payments"
            ),
            data
          )
      )
    )
}
