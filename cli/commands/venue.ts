/**
 * `brokerage venue …`: venue messages that could not be applied, and calls that the venue never answers (operator surface, Back
 * office; A2-115, A2-116).
 */
import { Argument, type Command } from "commander"
import type { Cli } from "../Cli.ts"
import { notCompared } from "../views/notCompared.ts"
import {
  beforeOption,
  clientArgument,
  given,
  idArgument,
  limitOption,
  required,
  requiredToken,
  resolvableName,
  whole
} from "../options.ts"
import { resolutions } from "../../src/http/api/operator/operatorTokens.ts"
import { awaitsApproval } from "./approval.ts"
import { fields, stack, table, text, time } from "../views/View.ts"
import { plural } from "../../src/machines/shared/Text.ts"

interface ListOptions {
  readonly limit?: number
  readonly before?: number
}

export const addVenueCommands = (program: Command, cli: Cli): void => {
  const venue = program.command("venue").description("the venue's misfits, comparisons and resolutions")
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
            "no quarantined messages"
          )
      )
    )
  quarantine
    .command("drop")
    .description("close a quarantined message; it stays on file")
    .addArgument(idArgument("<ID>", "id in the list"))
    .action((quarantineId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.quarantine.drop({ params: { quarantineId } }), fields, {
        confirm: `Drop ${quarantineId}? It is not applied, and stays on file.`
      })
    )
}

const addReconcileCommand = (venue: Command, cli: Cli): void => {
  venue
    .command("reconcile")
    .description("compare a client's account with the venue's now, or all accounts; differences open breaks")
    .addArgument(
      clientArgument(
        "[C]",
        "client id, uid, reference or e-mail address; without it, all accounts that the venue has reported on"
      )
    )
    .action((client: string | undefined, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.venue.reconcile({ payload: given({ client }) }),
        ({ accounts, differences, more, withoutMoney }) =>
          stack(
            text(`${plural(accounts, "account")} compared${more ? "; the others are compared within a day" : ""}`),
            ...notCompared(withoutMoney),
            table(
              differences.map((difference) => ({ difference })),
              { differs: (row) => row.difference },
              "no new differences"
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
      "end, on the venue's evidence, a request, an order or a take without an answer, a contract that the venue does not know, or one of these or a swap whose misfit stands"
    )
    .addArgument(new Argument("<OBJECT>", "rfq:ID, order:ID, swap:ID, or contract:ID").argParser(resolvableName))
    .addOption(
      requiredToken(
        "--as <outcome>",
        "the outcome: a request, an order, a take or a swap executed or void, a contract closed or void",
        resolutions
      )
    )
    .addOption(required("--reason <text>", "the venue's evidence"))
    .option(
      "--trade-id <id>",
      "the venue's trade, or its payment of a swap, when executed",
      whole(1, Number.MAX_SAFE_INTEGER)
    )
    .option("--price <decimal>", "the price, when executed or closed")
    .option("--qty <decimal>", "the quantity, when executed")
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
