/** `brokerage webhook …`: deliveries to partners' endpoints, and retries (operator surface, Back office). */
import type { Command } from "commander"
import { deliveryStatuses } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { beforeOption, given, idArgument, limitOption, partnerArgument, tokenOption } from "../options.ts"
import { fields, page, stack, table, text, time, type View } from "../views/View.ts"

interface LogOptions {
  readonly status?: (typeof deliveryStatuses)[number]
  readonly limit?: number
  readonly before?: number
}

/** The endpoint's last response as text, or the reason why there is none. */
const answerOf = ({ lastStatus, error, attempts }: Answered): string => {
  if (attempts === 0) return "not sent yet"
  const status = lastStatus === null ? "no answer" : `HTTP ${lastStatus}`
  return error === null ? status : `${status}: ${error}`
}

interface Try {
  readonly at: number
  readonly status: number | null
  readonly error: string | null
}

/** One line per attempt: the status, and the beginning of a response other than 2xx. */
const triesView = (tries: ReadonlyArray<Try>): ReadonlyArray<View> =>
  tries.length === 0
    ? []
    : [
        text(""),
        table(
          tries,
          {
            attempt: (row) => time(row.at),
            http: (row) => row.status ?? "none",
            answer: (row) => row.error ?? "taken"
          },
          "no attempts"
        )
      ]

interface Answered {
  readonly lastStatus: number | null
  readonly error: string | null
  readonly attempts: number
}

const addDeliveryCommands = (delivery: Command, cli: Cli): void => {
  delivery
    .command("show")
    .description("one delivery: its body, and the endpoint's answer to each attempt")
    .addArgument(idArgument("<DELIVERYID>", "delivery id"))
    .action((deliveryId: string, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.delivery.show({ params: { deliveryId } }),
        ({ payload, tries, lastStatus, error, ...rest }) =>
          stack(
            fields({ ...rest, answer: answerOf({ lastStatus, error, attempts: rest.attempts }) }),
            text(""),
            text("payload"),
            ...JSON.stringify(payload, null, 2).split("\n").map(text),
            ...triesView(tries)
          )
      )
    )
}

export const addWebhookCommands = (program: Command, cli: Cli): void => {
  addDeliveryCommands(program.command("delivery").description("webhook deliveries one by one"), cli)
  const webhook = program.command("webhook").description("webhook endpoints and deliveries of partners")
  webhook
    .command("show")
    .description("a partner's endpoint, and its waiting deliveries")
    .addArgument(partnerArgument())
    .action((p: string, _: object, command: Command) =>
      cli.call(command, (api) => api.webhook.show({ params: { partner: p } }), fields)
    )
  webhook
    .command("deliveries")
    .description("a partner's delivery log, newest first")
    .addArgument(partnerArgument())
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
    .description("retry a failed delivery: ten more attempts under the same id")
    .addArgument(idArgument("<DELIVERYID>", "delivery id"))
    .action((deliveryId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.webhook.redeliver({ params: { deliveryId } }), fields)
    )
}
