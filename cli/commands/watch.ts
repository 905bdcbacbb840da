/**
 * `brokerage watch`: a live screen of waiting items and service figures, with keys to decide deposits, withdrawals and cases.
 * Without an interactive terminal it prints one snapshot (operator surface).
 */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { findConnection } from "../connection.ts"

/** The size for which a snapshot without a terminal is drawn. */
const plainSize = { columns: 80, rows: 200 }

export const addWatchCommand = (program: Command, cli: Cli): void => {
  program
    .command("watch")
    .description(
      "a live screen: waiting decisions, books, deliveries, margin and close-outs, rates, recent actions; decides deposits, withdrawals, cases and approvals. Piped, on a dumb terminal and with --json one snapshot"
    )
    .action((_: object, command: Command) =>
      cli.attempt(command, async (globals) => {
        const connection = findConnection(globals, cli.io)
        const { keepServices } = await import("../OperatorClient.ts")
        const { readWatched, watchLive } = await import("../watch/watchApp.ts")
        const services = keepServices()
        const times = globals.utc === true ? "utc" : "short"
        try {
          if (globals.json !== true && canBeDrawnOn(cli)) {
            const { stdin, stdout } = process
            const stopped = cli.io.stopped()
            await watchLive({ connection, call: services.call, stdin, stdout, styled: cli.styled, times, stopped })
            return
          }
          const look = await services.call(connection, readWatched)
          if (globals.json === true) {
            const { figures, ...rest } = look
            cli.io.stdout(`${JSON.stringify({ ...rest, figures: Object.fromEntries(figures.values) })}\n`)
            return
          }
          const { beginWatch, looked } = await import("../watch/WatchModel.ts")
          const { watchLines } = await import("../watch/watchLines.ts")
          const lines = watchLines(
            looked(beginWatch(connection.url, cli.io.terminal ? times : "utc"), look),
            plainSize,
            Date.now()
          )
          // The screen's last line lists the keys of the live view, which a snapshot does not have.
          cli.io.stdout(
            `${lines
              .slice(0, -1)
              .map(({ text }) => text.trimEnd())
              .join("\n")}\n`
          )
        } finally {
          services.close()
        }
      })
    )
}

const canBeDrawnOn = (cli: Cli): boolean => cli.io.terminal && cli.io.env.TERM !== "dumb"
