/**
 * `brokerage venue …`: venue messages that could not be applied, and calls that the venue never answers (operator surface, Back
 * office; A2-115, A2-116).
 */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { notCompared } from "../views/notCompared.ts"
import { beforeOption, given, limitOption, required, requiredToken, whole } from "../options.ts"
import { resolutions } from "../../src/http/api/operator/operatorTokens.ts"
import { awaitsApproval } from "./approval.ts"
import { fields, stack, table, text, time } from "../views/View.ts"

interface ListOptions {
  readonly limit?: number
  readonly before?: number
}

export const addVenueCommands = (program: Command, cli: Cli): void => {
  const venue = program.command("venue").description("the venue, as the back office meets it")
  addResolveCommand(venue, cli)
  addReconcileCommand(venue, cli)
  const quarantine = venue.command("quarantine").description("messages of the venue that could not be applied")
  quarantine
    .command("list")
    .description("newest first, with the reason and the bytes")
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .action(({ limit, before }: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.quarantine.list({ query: given({ limit, before }) }),
        (data) =>
          table(
            data.events,
            {
              id: (row) => row.quarantineId,
              at: (row) => time(row.at),
              event: (row) => row.number,
              account: (row) => row.account,
              reason: (row) => row.reason,
              dropped: (row) => (row.droppedAt === null ? "no" : time(row.droppedAt)),
              bytes: (row) => row.bytes.slice(0, 120)
            },
            "nothing is set aside"
          )
      )
    )
  quarantine
    .command("drop")
    .description("nothing more is to be done with it; it stays on file")
    .argument("<ID>", "id in the list")
    .action((quarantineId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.quarantine.drop({ params: { quarantineId } }), fields, {
        confirm: `Drop ${quarantineId}? It is not applied, and stays on file.`
      })
    )
}

const addReconcileCommand = (venue: Command, cli: Cli): void => {
  venue
    .command("reconcile")
    .description("compare a client's account with the venue's now, or all accounts; what differs opens breaks")
    .argument("[C]", "client id, uid, reference or e-mail address; all that the venue has spoken of without it")
    .action((client: string | undefined, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.venue.reconcile({ payload: given({ client }) }),
        ({ accounts, differences, more, withoutMoney }) =>
          stack(
            text(`${accounts} accounts compared${more ? "; the others are compared within a day" : ""}`),
            ...notCompared(withoutMoney),
            table(
              differences.map((difference) => ({ difference })),
              { differs: (row) => row.difference },
              "nothing new differs"
            )
          )
      )
    )
}

interface ResolveOptions {
  readonly as: (typeof resolutions)[number]
  readonly reason: string
  readonly tradeId?: number
  readonly price?: string
  readonly qty?: string
  readonly outsideBand?: boolean
}

const addResolveCommand = (venue: Command, cli: Cli): void => {
  venue
    .command("resolve")
    .description(
      "with the venue's evidence: end a request, an order or a take that the venue never answers, a contract that it does not know, or any of these and a swap whose misfit stands"
    )
    .argument("<OBJECT>", "rfq:ID, order:ID, swap:ID, or contract:ID")
    .addOption(
      requiredToken(
        "--as <outcome>",
        "how it ended: a request, an order, a take or a swap executed or void, a contract closed or void",
        resolutions
      )
    )
    .addOption(required("--reason <text>", "the venue's evidence"))
    .option(
      "--trade-id <id>",
      "the venue's trade, or its payment of a swap, when executed",
      whole(1, Number.MAX_SAFE_INTEGER)
    )
    .option("--price <decimal>", "at what price, when executed or closed")
    .option("--qty <decimal>", "how much, when executed")
    .option(
      "--outside-band",
      "accept a price outside the band of the present marks, beyond the order's bound, or without marks to check it"
    )
    .action((object: string, { as, reason, tradeId, price, qty, outsideBand }: ResolveOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.venue.resolve({ payload: { object, as, reason, ...given({ tradeId, price, qty, outsideBand }) } }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        { confirm: `Resolve ${object} as ${as}? It is final, whatever the venue reports later.` }
      )
    )
}
