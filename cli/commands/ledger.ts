/** `brokerage ledger …`: corrections and the proof of the books (operator surface, Back office). */
import type { Command } from "commander"
import { currencyCodes } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { type CliFailure, cliFailure, exitStatus } from "../CliIo.ts"
import { given, required, requiredToken } from "../options.ts"
import { fields, inWords, stack, table, text } from "../views/View.ts"
import { awaitsApproval } from "./approval.ts"
import { clientArgument, clientMeaning } from "./client.ts"
import { addLedgerExportCommand } from "./ledgerExport.ts"

interface AdjustOptions {
  readonly currency: (typeof currencyCodes)[number]
  readonly amount: string
  readonly reason: string
  readonly reference?: string
}

export const addLedgerCommands = (program: Command, cli: Cli): void => {
  const ledger = program.command("ledger").description("the ledger")
  ledger
    .command("adjust")
    .description("post a manual correction to a client's cash")
    .argument(clientArgument, clientMeaning)
    .addOption(requiredToken("--currency <code>", "currency", currencyCodes))
    .addOption(required("--amount <decimal>", "signed amount, such as 12.50 or -12.50"))
    .addOption(required("--reason <text>", "why; kept with the posting and in the audit"))
    .option(
      "--reference <text>",
      "your own name for this correction, 1 to 64 characters; recommended: the same one is never booked twice, so the command is safe to repeat"
    )
    .action((c: string, { currency, amount, reason, reference }: AdjustOptions, command: Command) =>
      cli.call(
        command,
        (api) =>
          api.ledger.adjust({ params: { client: c }, payload: { currency, amount, reason, ...given({ reference }) } }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        { confirm: `Post ${amount} ${currency} to client ${c}? Postings are never undone, only corrected.` }
      )
    )
  ledger
    .command("verify")
    .description("recompute every balance and invariant from the postings; fails with the first break")
    .action((_: object, command: Command) =>
      cli.call(
        command,
        (api) => api.ledger.verify(),
        ({ ok, checks }) =>
          stack(
            table(
              checks,
              {
                check: (row) => row.name,
                result: (row) => (row.ok ? "holds" : "BROKEN"),
                figure: (row) => inWords(row.figure),
                detail: (row) => row.detail
              },
              "no checks"
            ),
            text(ok ? "The books hold." : "The books do not hold.")
          ),
        { failed: firstBreak }
      )
    )
  addLedgerExportCommand(ledger, cli)
}

interface Proof {
  readonly checks: ReadonlyArray<{ readonly name: string; readonly ok: boolean; readonly detail: string | null }>
}

/** Exit status 1 with the first check that does not hold. */
const firstBreak = ({ checks }: Proof): CliFailure | null => {
  const broken = checks.find((check) => !check.ok)
  if (broken === undefined) return null
  return cliFailure(exitStatus.refused, 4092, `First break: ${broken.name}: ${broken.detail ?? "no detail"}.`)
}
