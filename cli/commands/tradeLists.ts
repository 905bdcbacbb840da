/** Lists of what all clients have in trading: of one of them, or of one partner, a page at a time. */
import type { Command } from "commander"
import { beforeOption, given, limitOption } from "../options.ts"

export interface ListOptions {
  readonly client?: string
  readonly partner?: string
  readonly limit?: number
  readonly before?: number
}

export const listOf = (parent: Command): Command =>
  parent
    .command("list")
    .description("newest first")
    .option("--client <C>", "only of this client: id, uid, reference or e-mail address")
    .option("--partner <P>", "only of this partner: id or code")
    .addOption(limitOption(500))
    .addOption(beforeOption)

export const pageOf = ({ client, partner, limit, before }: ListOptions): ListOptions =>
  given({ client, partner, limit, before })
