/** `brokerage ledger export`: writes the books for another program, page by page (A2-62, A2-74). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus } from "../CliIo.ts"
import { type Connection, findConnection } from "../connection.ts"
import { beancountFormat } from "../ledgerFormats/beancount.ts"
import { csvFormat } from "../ledgerFormats/csv.ts"
import { hledgerFormat } from "../ledgerFormats/hledger.ts"
import type {
  FormatOptions,
  LedgerExportAccount,
  LedgerExportTransaction,
  LedgerFormat
} from "../ledgerFormats/LedgerFormat.ts"
import { given, partnerOption, requiredToken } from "../options.ts"
import { momentOption } from "../moment.ts"
import { amountLine } from "../progress.ts"
import { intoFile, refuseExisting } from "../outputFile.ts"
import { fields } from "../views/View.ts"

const formats = {
  hledger: hledgerFormat,
  beancount: beancountFormat,
  csv: csvFormat
} as const satisfies Readonly<Record<string, (options: FormatOptions) => LedgerFormat>>

interface ExportOptions {
  readonly format: keyof typeof formats
  readonly partner?: string
  readonly from?: number
  readonly to?: number
  readonly output?: string
}

/**
 * The latest time of an export, the end of 30 December 2099: Beancount supports no later century, and closing balances are dated
 * one day later.
 */
const latestMoment = 4_102_358_399_999

export const addLedgerExportCommand = (ledger: Command, cli: Cli): void => {
  ledger
    .command("export")
    .description("every posting for another book-keeping program, with the balance each account must have")
    .addOption(requiredToken("--format <format>", "the format of the other program", Object.keys(formats)))
    .addOption(partnerOption())
    .addOption(
      momentOption("--from <time>", "from this time on (accounts begin with their balances)", { latest: latestMoment })
    )
    .addOption(momentOption("--to <time>", "before this time", { latest: latestMoment }))
    .option("--output <file>", "write to a file, readable by you alone; --yes overwrites it")
    .action((options: ExportOptions, command: Command) => runExport(cli, options, command))
}

const runExport = (cli: Cli, options: ExportOptions, command: Command): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const connection = findConnection(globals, cli.io)
    const { output } = options
    const progress = cli.progressOf(globals)
    const began = Date.now()
    const report = (done: number): void =>
      progress.report(
        `ledger export: ${amountLine({ done, total: null, unit: "transactions", millis: Date.now() - began })}`
      )
    if (output === undefined) {
      if (globals.json === true) throw cliFailure(exitStatus.usage, 4000, "With --json the export needs --output FILE.")
      // An export to a terminal needs no progress line, because its text shows the progress.
      await writeExport(connection, options, cli.io.stdout, cli.io.terminal ? () => undefined : report)
      progress.end()
      return
    }
    refuseExisting(output, globals)
    const written = await intoFile(output, (write) => writeExport(connection, options, write, report))
    progress.end()
    return cli.show(globals, { output, format: options.format, ...written }, fields)
  })

/** Writes the whole export with at most one page in memory. */
const writeExport = async (
  connection: Connection,
  { format, partner, from, to }: ExportOptions,
  write: (text: string) => void,
  report: (transactions: number) => void
) => {
  const { callService } = await import("../OperatorClient.ts")
  const scope = given({ partner, from, to })
  const figures = { accounts: 0, transactions: 0 }
  let upTo: number | undefined
  let last = 0

  /** Reads all pages of one part in order. */
  const read = async (part: "accounts" | "transactions", take: (page: Page) => void): Promise<void> => {
    for (let after: number | null = 0; after !== null;) {
      const query: Query = { part, ...scope, after, ...(upTo === undefined ? {} : { upTo }) }
      const { data: page }: { readonly data: Page } = await callService(connection, (api) =>
        api.ledger.export({ query })
      )
      if (upTo === undefined) last = to === undefined ? page.asOf : Math.min(page.asOf, Math.max(to - 1, 0))
      upTo = page.upTo
      take(page)
      after = page.nextAfter
    }
  }

  const text = formats[format]({ from: from ?? null })
  // The head is written with the first page, so that a refused export writes nothing.
  let head = text.head()
  await read("accounts", ({ accounts }) => {
    figures.accounts += accounts.length
    write(head + accounts.map(text.opened).join(""))
    head = ""
  })
  write(text.allOpened())
  await read("transactions", ({ transactions }) => {
    figures.transactions += transactions.length
    report(figures.transactions)
    for (const { ts } of transactions) last = Math.max(last, ts)
    write(transactions.map(text.transaction).join(""))
  })
  // An export that starts in the future has no postings, so its end balances equal the opening ones.
  const end = Math.max(last, from ?? 0)
  await read("accounts", ({ accounts }) => write(accounts.map((row) => text.closed(row, end)).join("")))
  return { ...figures, upTo: upTo ?? 0 }
}

interface Query {
  readonly part: "accounts" | "transactions"
  readonly partner?: string
  readonly from?: number
  readonly to?: number
  readonly upTo?: number
  readonly after: number
}

interface Page {
  readonly asOf: number
  readonly upTo: number
  readonly nextAfter: number | null
  readonly accounts: ReadonlyArray<LedgerExportAccount>
  readonly transactions: ReadonlyArray<LedgerExportTransaction>
}
