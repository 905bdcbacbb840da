/** `brokerage webhook …`: what was posted to partners' endpoints, and trying again (operator surface, Back office). */
import type { Command } from "commander"
import { deliveryStatuses } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { beforeOption, given, limitOption, tokenOption } from "../options.ts"
import { fields, page, table, time } from "../views/View.ts"
import { partnerArgument, partnerMeaning } from "./partner.ts"

interface LogOptions {
  readonly status?: (typeof deliveryStatuses)[number]
  readonly limit?: number
  readonly before?: number
}

export const addWebhookCommands = (program: Command, cli: Cli): void => {
  const webhook = program.command("webhook").description("webhook deliveries of partners")
  webhook
    .command("deliveries")
    .description("a partner's delivery log, newest first")
    .argument(partnerArgument, partnerMeaning)
    .addOption(tokenOption("--status <status>", "only in this status", deliveryStatuses))
    .addOption(limitOption(200))
    .addOption(beforeOption)
    .action((p: string, { status, limit, before }: LogOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.webhook.deliveries({ params: { partner: p }, query: given({ status, limit, before }) }),
        (data) =>
          page(
            table(
              data.deliveries,
              {
                id: (row) => row.deliveryId,
                event: (row) => row.event,
                client: (row) => row.clientUid,
                status: (row) => row.status,
                attempts: (row) => row.attempts,
                http: (row) => row.lastStatus,
                queued: (row) => time(row.ts),
                sent: (row) => time(row.sentAt),
                next: (row) => time(row.nextAt),
                error: (row) => row.error
              },
              "no deliveries"
            ),
            data
          )
      )
    )
  webhook
    .command("redeliver")
    .description("try a failed delivery again: ten more attempts under the same id")
    .argument("<DELIVERYID>", "delivery id")
    .action((deliveryId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.webhook.redeliver({ params: { deliveryId } }), fields)
    )
}
