/** Paged lists of all clients' trading objects, with filters by client or partner. */
import type { Command } from "commander"
import { cliFailure, exitStatus } from "../CliIo.ts"
import { beforeOption, clientArgument, clientOption, given, limitOption, partnerOption } from "../options.ts"

export interface ListOptions {
  readonly client?: string
  readonly partner?: string
  readonly limit?: number
  readonly before?: number
}

export const listOf = (parent: Command): Command =>
  parent
    .command("list")
    .description("newest first; of one client with <C> or --client")
    .addArgument(clientArgument("[C]"))
    .addOption(clientOption())
    .addOption(partnerOption())
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .hook("preAction", (_, command) => takeArgument(command))

export const pageOf = ({ client, partner, limit, before }: ListOptions): ListOptions =>
  given({ client, partner, limit, before })

/** Takes the client from the option or from the argument, and passes on one value. */
const takeArgument = (command: Command): void => {
  const [named] = command.args
  if (named === undefined) return
  if ((command.getOptionValue("client") ?? named) !== named) throw twoClients
  command.setOptionValue("client", named)
}

const twoClients = cliFailure(
  exitStatus.usage,
  4000,
  "Two clients are named, as an argument and by --client: give one."
)
