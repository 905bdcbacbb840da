/** The command tree, with one file per noun. Building it imports only commander and tokens, so it is fast (operator surface). */
import { Command } from "commander"
import { addAppropriatenessCommands, addSimAnswersCommand } from "./commands/appropriateness.ts"
import { addApprovalCommands } from "./commands/approval.ts"
import { addAtlasCommand } from "./commands/atlas.ts"
import { addAuditCommands } from "./commands/audit.ts"
import { addBreakCommands } from "./commands/break.ts"
import { addClientCommands } from "./commands/client.ts"
import { addCollateralCommands } from "./commands/collateral.ts"
import { addComplianceCommands } from "./commands/compliance.ts"
import { addCompletionCommand } from "./commands/completion.ts"
import { addDepositCommands } from "./commands/deposit.ts"
import { addDocumentCommands } from "./commands/document.ts"
import { addEncryptionCommands } from "./commands/encryption.ts"
import { addExplainCommands } from "./commands/explain.ts"
import { addInterfirmCommands } from "./commands/interfirm.ts"
import { addLedgerCommands } from "./commands/ledger.ts"
import { addMachineCommands } from "./commands/machine.ts"
import { addMarketCommands } from "./commands/market.ts"
import { addMetricsCommand } from "./commands/metrics.ts"
import { addOperatorCommands } from "./commands/operator.ts"
import { addPartnerCommands } from "./commands/partner.ts"
import { addQueueCommand } from "./commands/queue.ts"
import { addScreeningCommands } from "./commands/screening.ts"
import { addServeCommand } from "./commands/serve.ts"
import { addSettlementCommands } from "./commands/settlement.ts"
import { addSimCommands } from "./commands/sim.ts"
import { addSimNamesCommand } from "./commands/simNames.ts"
import { addSimResetCommand } from "./commands/simReset.ts"
import { addSimPartnerCommands } from "./commands/simPartner.ts"
import { addSimVenueCommands } from "./commands/simVenue.ts"
import { addSimVenueServeCommand } from "./commands/simVenueServe.ts"
import { addSimRunCommands } from "./commands/simRun.ts"
import { addSimVerifyCommand } from "./commands/simVerify.ts"
import { addStatementCommands } from "./commands/statement.ts"
import { addSwapCommands } from "./commands/swap.ts"
import { addTradeCommands } from "./commands/trade.ts"
import { addVenueCommands } from "./commands/venue.ts"
import { addWatchCommand } from "./commands/watch.ts"
import { addWebhookCommands } from "./commands/webhook.ts"
import { addWithdrawalCommands } from "./commands/withdrawal.ts"
import type { Cli } from "./Cli.ts"
import { defaultDataDir } from "./connection.ts"
import { addDryRunOptions } from "./dryRun.ts"
import { helpText } from "./helpText.ts"

/** Builds the command tree. Options of the root apply to every command, at any position. */
export const buildProgram = (cli: Cli): Command => {
  const program = new Command("brokerage")
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
  addServeCommand(program, cli)
  addQueueCommand(program, cli)
  addWatchCommand(program, cli)
  addPartnerCommands(program, cli)
  addClientCommands(program, cli)
  addComplianceCommands(program, cli)
  addScreeningCommands(program, cli)
  addDocumentCommands(program, cli)
  addEncryptionCommands(program, cli)
  addAppropriatenessCommands(program, cli)
  addDepositCommands(program, cli)
  addWithdrawalCommands(program, cli)
  addBreakCommands(program, cli)
  addTradeCommands(program, cli)
  addSwapCommands(program, cli)
  addStatementCommands(program, cli)
  addExplainCommands(program, cli)
  addLedgerCommands(program, cli)
  addCollateralCommands(program, cli)
  addSettlementCommands(program, cli)
  addInterfirmCommands(program, cli)
  addWebhookCommands(program, cli)
  addOperatorCommands(program, cli)
  addApprovalCommands(program, cli)
  addAuditCommands(program, cli)
  addMarketCommands(program, cli)
  addMachineCommands(program, cli)
  addAtlasCommand(program, cli)
  addVenueCommands(program, cli)
  addMetricsCommand(program, cli)
  const sim = addSimCommands(program, cli)
  addSimResetCommand(sim, cli)
  addSimAnswersCommand(sim, cli)
  addSimNamesCommand(sim, cli)
  addSimPartnerCommands(sim, cli)
  addSimVenueCommands(sim, cli)
  addSimVenueServeCommand(sim, cli)
  addSimRunCommands(sim, cli, () => buildProgram(cli))
  addSimVerifyCommand(sim, cli)
  addDryRunOptions(program)
  addCompletionCommand(program, cli)
  return program
}
