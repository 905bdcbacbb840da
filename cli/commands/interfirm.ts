/** `brokerage interfirm …`: payments between the partner and the service (operator surface, Back office). */
import { type Command, InvalidArgumentError, Option } from "commander"
import type { Cli } from "../Cli.ts"
import { given, required } from "../options.ts"
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

const millis = (text: string): number => {
  if (/^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError("It must be a whole number of Unix milliseconds.")
}

const moment = (flags: string, meaning: string): Option =>
  new Option(flags, meaning).argParser(millis).makeOptionMandatory()

export const addInterfirmCommands = (program: Command, cli: Cli): void => {
  program
    .command("interfirm")
    .description("payments between a partner and the service")
    .command("record")
    .description("record a payment that settles what the firms owe each other; safe to repeat with the same reference")
    .argument(partnerArgument, partnerMeaning)
    .addOption(required("--amount <decimal>", "signed USDC: positive, paid to the partner; negative, paid by it"))
    .addOption(moment("--from <ms>", "start of the period that it settles, Unix ms"))
    .addOption(moment("--to <ms>", "end of that period, inclusive, Unix ms"))
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
