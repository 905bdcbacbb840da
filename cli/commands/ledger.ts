/** `brokerage ledger …`: corrections and the verification of the books (operator surface, Back office). */
import type { Command } from "commander"
import { postingTypes } from "../../src/machines/postingRules.ts"
import { currencyCodes } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { type CliFailure, cliFailure, exitStatus } from "../CliIo.ts"
import { beforeOption, clientArgument, given, limitOption, required, requiredToken, tokenOption } from "../options.ts"
import { aboutClient } from "../questions.ts"
import { fields, inlineText, page, stack, table, text, time } from "../views/View.ts"
import { awaitsApproval } from "./approval.ts"
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
    .addArgument(clientArgument())
    .addOption(requiredToken("--currency <code>", "currency", currencyCodes))
    .addOption(required("--amount <decimal>", "signed amount, such as 12.50 or -12.50"))
    .addOption(required("--reason <text>", "why; kept with the posting and in the audit"))
    .option(
      "--reference <text>",
      "your own name for this correction, 1 to 64 characters; recommended: a repeat with it books nothing"
    )
    .action((c: string, { currency, amount, reason, reference }: AdjustOptions, command: Command) =>
      cli.call(
        command,
        (api) =>
          api.ledger.adjust({ params: { client: c }, payload: { currency, amount, reason, ...given({ reference }) } }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        {
          confirm: aboutClient(
            c,
            (it) => `Post ${amount} ${currency} to ${it}? Postings are never undone, only corrected.`
          )
        }
      )
    )
  addPostingList(ledger, cli)
  ledger
    .command("verify")
    .description("recompute every balance and invariant from the postings; fails with the first broken one")
    .action((_: object, command: Command) =>
      cli.call(
        command,
        (api) => api.ledger.verify(),
        ({ ok, checks }) =>
          stack(
            text(ok ? "The books hold." : "The books do not hold."),
            text(""),
            table(
              checks,
              {
                check: (row) => row.name,
                result: (row) => (row.ok ? "holds" : "BROKEN"),
                figure: (row) => inlineText(row.figure),
                detail: (row) => row.detail
              },
              "no checks"
            )
          ),
        {
          failed: firstBreak,
          progress: async (api) => {
            const { data } = await api.ledger.verifying()
            return data === null ? null : `ledger verify: ${data.done} of ${data.of} checks, now: ${data.check}`
          }
        }
      )
    )
  addLedgerExportCommand(ledger, cli)
}

interface PostingOptions {
  readonly currency?: (typeof currencyCodes)[number]
  readonly type?: (typeof postingTypes)[number]
  readonly limit?: number
  readonly before?: number
}

const addPostingList = (ledger: Command, cli: Cli): void => {
  ledger
    .command("list")
    .description("a client's postings, newest first")
    .addArgument(clientArgument())
    .addOption(tokenOption("--currency <code>", "only in this currency", currencyCodes))
    .addOption(tokenOption("--type <type>", "only of this type", postingTypes))
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .action((c: string, options: PostingOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.ledger.list({ params: { client: c }, query: given(options) }),
        (data) =>
          page(
            table(
              data.postings,
              {
                id: (row) => row.postingId,
                time: (row) => time(row.ts),
                type: (row) => row.type,
                amount: (row) => `${row.amount} ${row.currency}`,
                kind: (row) => row.kind,
                by: (row) => row.actor,
                reason: (row) => row.reason
              },
              "no postings"
            ),
            data
          )
      )
    )
}

interface Proof {
  readonly checks: ReadonlyArray<{ readonly name: string; readonly ok: boolean; readonly detail: string | null }>
}

/** The failure (exit status 1) that names the first failed check; null when all checks hold. */
const firstBreak = ({ checks }: Proof): CliFailure | null => {
  const broken = checks.find((check) => !check.ok)
  if (broken === undefined) return null
  return cliFailure(exitStatus.refused, 4092, `First break: ${broken.name}: ${broken.detail ?? "no detail"}.`)
}
