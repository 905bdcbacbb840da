/**
 * `brokerage sim venue serve`: runs the simulated venue alone, in the foreground, for a service with --venue-url (operator
 * surface, Developers and QA).
 */
import { type Command, Option } from "commander"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Base } from "../../simulator/venue/core/defaultMarkets.ts"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus, type Globals } from "../CliIo.ts"
import { defaultDataDir } from "../connection.ts"
import { whole } from "../options.ts"

interface VenueServeFlags {
  readonly port?: number
  readonly seed?: number
  readonly markets?: string
}

/** Adds `sim venue serve`, which runs until a signal ends it. Creates the command `sim venue` if no other file has done so. */
export const addSimVenueServeCommand = (sim: Command, cli: Cli): void => {
  const venue = sim.commands.find((command) => command.name() === "venue") ?? sim.command("venue")
  venue
    .description("the simulated venue")
    .command("serve")
    .description("run the simulated venue alone, in the foreground")
    .addOption(new Option("--port <n>", "port on 127.0.0.1 (default: any free one)").argParser(whole(0, 65_535)))
    .addOption(
      new Option("--seed <n>", "the seed of its random choices, for new books (default: 1)").argParser(
        whole(0, 4_294_967_295)
      )
    )
    .option("--markets <file>", "YAML with the markets of new books (default: the usual ones)")
    .addHelpText(
      "after",
      "\nIts books are in the directory venue of the data directory. Give the printed address and key file to a service:\n" +
        "  brokerage serve --venue-url URL --venue-key-file FILE"
    )
    .action((flags: VenueServeFlags, command: Command) => cli.attempt(command, (globals) => serve(cli, flags, globals)))
}

const serve = async (cli: Cli, flags: VenueServeFlags, globals: Globals): Promise<void> => {
  const stopped = cli.io.stopped()
  const { restartOrdered, startVenue } = await import("../../simulator/venue/server/VenueProcess.ts")
  const markets = flags.markets === undefined ? null : await marketsOf(flags.markets)
  const start = (port: number) =>
    startVenue({
      directory: join(globals.dataDir ?? defaultDataDir, "venue"),
      port,
      seed: flags.seed ?? null,
      markets,
      idleMillis: null,
      print: (line) => cli.io.stderr(`${line}\n`)
    }).catch((error: unknown) => {
      throw cliFailure(exitStatus.refused, 5030, error instanceof Error ? error.message : String(error))
    })
  let venue = await start(flags.port ?? 0)
  const { url, keyFile } = venue
  cli.io.stdout(
    globals.json === true
      ? `${JSON.stringify({ ready: true, url, keyFile, pid: process.pid })}\n`
      : `The simulated venue is listening on ${url}\n  key file      ${keyFile}\n`
  )
  for (;;) {
    const why = await Promise.race([stopped, venue.wantsToEnd])
    if (why !== undefined) cli.io.stderr(`${why}\n`)
    await venue.stop()
    if (why !== restartOrdered) return
    // The venue restarts on the same port, because its services connect to it.
    venue = await start(Number(new URL(url).port))
  }
}

const marketsOf = async (file: string): Promise<ReadonlyArray<Base>> => {
  const { readMarkets } = await import("../../simulator/venue/knobsFile.ts")
  const markets = readMarkets(textOf(file), file)
  if (typeof markets === "string") throw cliFailure(exitStatus.usage, 4000, markets)
  return markets
}

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    throw cliFailure(exitStatus.usage, 4000, `The file ${file} can not be read.`)
  }
}
