/** `brokerage queue`: all items that wait for staff, oldest first (operator surface). */
import type { Command } from "commander"
import { type WaitingKind, waitingKinds } from "../../src/machines/operator/Waiting.ts"
import type { Cli } from "../Cli.ts"
import { given, limitOption, tokenOption } from "../options.ts"
import { queueView } from "../views/queueView.ts"

interface QueueOptions {
  readonly kind?: WaitingKind
  readonly limit?: number
}

export const addQueueCommand = (program: Command, cli: Cli): void => {
  program
    .command("queue")
    .description(
      "decisions that wait for staff: approvals, cases, deposits, withdrawals, breaks, calls in doubt, refused legs, quarantined events, failed deliveries; the oldest first"
    )
    .addOption(tokenOption("--kind <kind>", "only this kind", waitingKinds))
    .addOption(limitOption(500))
    .action(({ kind, limit }: QueueOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.queue.show({ query: given({ kind, limit }) }),
        (data) => queueView(data, kind)
      )
    )
}
