/** The command tree, with one file per noun. A command line loads only the file of its noun (decision 0038). */
import { Command, CommanderError } from "commander"
import { readFileSync } from "node:fs"
import type { Cli } from "./Cli.ts"
import { addCompletionCommand } from "./commands/completion.ts"
import { defaultDataDir } from "./connection.ts"
import { addDryRunOptions } from "./dryRun.ts"
import { helpText } from "./helpText.ts"

/** `whole` builds the tree of all commands. */
type Add = (program: Command, cli: Cli, whole: () => Promise<Command>) => unknown

/** The nouns that each file adds, in the order of the help. */
const files: ReadonlyArray<readonly [nouns: string, load: () => Promise<Add>]> = [
  ["serve", async () => (await import("./commands/serve.ts")).addServeCommand],
  ["queue", async () => (await import("./commands/queue.ts")).addQueueCommand],
  ["watch", async () => (await import("./commands/watch.ts")).addWatchCommand],
  ["partner key", async () => (await import("./commands/partner.ts")).addPartnerCommands],
  ["client", async () => (await import("./commands/client.ts")).addClientCommands],
  ["kyc case", async () => (await import("./commands/compliance.ts")).addComplianceCommands],
  ["screening", async () => (await import("./commands/screening.ts")).addScreeningCommands],
  ["document", async () => (await import("./commands/document.ts")).addDocumentCommands],
  ["encryption", async () => (await import("./commands/encryption.ts")).addEncryptionCommands],
  ["appropriateness", async () => (await import("./commands/appropriateness.ts")).addAppropriatenessCommands],
  ["deposit", async () => (await import("./commands/deposit.ts")).addDepositCommands],
  ["withdrawal", async () => (await import("./commands/withdrawal.ts")).addWithdrawalCommands],
  ["break", async () => (await import("./commands/break.ts")).addBreakCommands],
  ["rfq contract order position margin closeout", async () => (await import("./commands/trade.ts")).addTradeCommands],
  ["swap", async () => (await import("./commands/swap.ts")).addSwapCommands],
  ["statement", async () => (await import("./commands/statement.ts")).addStatementCommands],
  ["explain", async () => (await import("./commands/explain.ts")).addExplainCommands],
  ["ledger", async () => (await import("./commands/ledger.ts")).addLedgerCommands],
  ["collateral", async () => (await import("./commands/collateral.ts")).addCollateralCommands],
  ["settlement", async () => (await import("./commands/settlement.ts")).addSettlementCommands],
  ["interfirm", async () => (await import("./commands/interfirm.ts")).addInterfirmCommands],
  ["delivery webhook", async () => (await import("./commands/webhook.ts")).addWebhookCommands],
  ["operator", async () => (await import("./commands/operator.ts")).addOperatorCommands],
  ["approval", async () => (await import("./commands/approval.ts")).addApprovalCommands],
  ["audit", async () => (await import("./commands/audit.ts")).addAuditCommands],
  ["market", async () => (await import("./commands/market.ts")).addMarketCommands],
  ["machine", async () => (await import("./commands/machine.ts")).addMachineCommands],
  ["tour", async () => (await import("./commands/tour.ts")).addTourCommand],
  ["atlas", async () => (await import("./commands/atlas.ts")).addAtlasCommand],
  ["venue", async () => (await import("./commands/venue.ts")).addVenueCommands],
  ["metrics", async () => (await import("./commands/metrics.ts")).addMetricsCommand],
  ["sim", async () => (await import("./commands/simTools.ts")).addSimToolCommands]
]

/**
 * Builds the command tree. Options of the root apply to every command, at any position. With the arguments of a command line
 * the tree has only the files of its noun, or without a known noun no file: the commands of the root's help then do nothing.
 * Without arguments, and for completion and `help NOUN`, it has all files.
 */
export const buildProgram = async (cli: Cli, args: ReadonlyArray<string> | null = null): Promise<Command> => {
  const noun = args === null ? null : nounOf(args)
  const ofNoun = files.filter(([nouns]) => noun !== null && nouns.split(" ").includes(noun))
  const isWhole = noun === null || noun === "help" || noun === "completion"
  if (!isWhole && ofNoun.length === 0) return listing()
  const adds = await Promise.all((isWhole ? files : ofNoun).map(([, load]) => load()))
  const program = rootCommand()
  for (const add of adds) add(program, cli, () => buildProgram(cli))
  addDryRunOptions(program)
  if (isWhole) addCompletionCommand(program, cli)
  return program
}

/** The root with the commands of its help alone. `npm run generate` writes their names and descriptions from the whole tree. */
const listing = (): Command => {
  const program = rootCommand()
  const text = readFileSync(new URL("nouns.json", import.meta.url), "utf8")
  const nouns = JSON.parse(text) as ReadonlyArray<readonly [term: string, description: string]>
  for (const [term, description] of nouns) program.command(term).description(description)
  return program
}

/** The first argument that is neither an option nor its value; empty without any. */
const nounOf = (args: ReadonlyArray<string>): string => {
  const root = rootCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
  try {
    return root.parseOptions([...args]).operands[0] ?? ""
  } catch (error) {
    // The parser of the whole command line reports the wrong usage.
    if (error instanceof CommanderError) return ""
    throw error
  }
}

const rootCommand = (): Command =>
  new Command("brokerage")
    .description("Runs and operates the partner brokerage.")
    .option("--json", "print one JSON document")
    .option("--yes", "skip the confirmation")
    .option("--data-dir <dir>", `data directory of the service (default ${defaultDataDir})`)
    .option("--url <url>", "address of the service (or BROKERAGE_URL)")
    .option("--operator-key <key>", "operator key (or BROKERAGE_OPERATOR_KEY)")
    .option("--operator-key-file <file>", "file that holds the operator key (or BROKERAGE_OPERATOR_KEY_FILE)")
    .option("--ca <file>", "certificate authority to trust, PEM (or BROKERAGE_CA)")
    .option("--profile <name>", "url, ca and key file of a profile in your configuration folder (or BROKERAGE_PROFILE)")
    .option("--wide", "on a terminal: every column, and nothing cut")
    .option("--utc", "on a terminal: times in UTC instead of your own zone")
    .configureHelp(helpText)
