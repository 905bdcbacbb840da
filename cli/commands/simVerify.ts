/**
 * `brokerage sim verify`: checks that the service and the venue have the same state, with no call or event in flight between
 * them (operator surface).
 */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus } from "../CliIo.ts"
import { notCompared } from "../views/notCompared.ts"
import { stack, table, text } from "../views/View.ts"
import { plural } from "../../src/machines/shared/Text.ts"

export const addSimVerifyCommand = (sim: Command, cli: Cli): void => {
  sim
    .command("verify")
    .description(
      "wait up to 10 s for calls in flight, then compare the service with the venue; fails with the first difference"
    )
    .action((_: object, command: Command) =>
      cli.call(
        command,
        (api) => api.sim.verify(),
        ({ ok, venue, accounts, compared, differences, eventsLost, withoutMoney }) =>
          stack(
            table(
              differences,
              {
                account: (row) => row.account,
                what: (row) => `${row.kind} ${row.name}`,
                service: (row) => row.service ?? "none",
                venue: (row) => row.venue ?? "none"
              },
              "no differences"
            ),
            ...eventsLost.map(({ after, to }) =>
              text(
                `The venue did not provide the events ${after + 1} to ${to}: the service continued after them and read every account again.`
              )
            ),
            ...notCompared(withoutMoney),
            text(venue ? agreed(accounts, compared) : "No venue is attached."),
            text(ok ? "Service and venue agree." : "Service and venue do not agree.")
          ),
        {
          failed: ({ first }) =>
            first === null ? null : cliFailure(exitStatus.refused, 4092, `First difference: ${first}.`)
        }
      )
    )
}

const agreed = (accounts: number, compared: Readonly<Record<string, number>>): string =>
  `${plural(accounts, "account")} with ${Object.entries(compared)
    .map(([kind, count]) => (kind === "money" ? `${plural(count, "amount")} of money` : plural(count, kind)))
    .join(", ")} at the venue`
