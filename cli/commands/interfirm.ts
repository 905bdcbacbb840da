/** `brokerage interfirm …`: payments between the partner and the service (operator surface, Back office). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { given, required } from "../options.ts"
import { momentOption } from "../moment.ts"
import { fields } from "../views/View.ts"
import { awaitsApproval } from "./approval.ts"
import { partnerArgument, partnerMeaning } from "./partner.ts"

interface RecordOptions {
  readonly amount: string
  readonly from: number
  readonly to: number
  readonly txRef: string
  readonly note?: string
}

export const addInterfirmCommands = (program: Command, cli: Cli): void => {
  program
    .command("interfirm")
    .description("payments between a partner and the service")
    .command("record")
    .description("record a payment that settles what the firms owe each other; safe to repeat with the same reference")
    .argument(partnerArgument, partnerMeaning)
    .addOption(required("--amount <decimal>", "signed USDC: positive, paid to the partner; negative, paid by it"))
    .addOption(momentOption("--from <time>", "start of the period that it settles").makeOptionMandatory())
    .addOption(momentOption("--to <time>", "end of that period, inclusive").makeOptionMandatory())
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
        { confirm: `Record ${amount} USDC for partner ${p}? Records are never undone, only put right by another.` }
      )
    )
}
