/** `brokerage venue …`: what the venue said and nobody could apply (operator surface, Back office; A2-115). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { beforeOption, given, limitOption } from "../options.ts"
import { fields, table, time } from "../views/View.ts"

interface ListOptions {
  readonly limit?: number
  readonly before?: number
}

export const addVenueCommands = (program: Command, cli: Cli): void => {
  const venue = program.command("venue").description("the venue, as the back office meets it")
  const quarantine = venue.command("quarantine").description("what the venue said and nobody could apply")
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
