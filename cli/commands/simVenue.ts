/** `brokerage sim venue …`: test commands for the simulated venue (operator surface, Developers and QA; C1). */
import { Argument, type Command, Option } from "commander"
import {
  dealerMoods,
  executionReasons,
  type FaultKind,
  everyFault,
  type FaultRoute,
  faultRoutes,
  heldPrices
} from "../../src/venue/testerTokens.ts"
import type { VenueCommandAnswer } from "../../src/venue/VenueCommand.ts"
import type { Cli } from "../Cli.ts"
import type { OperatorClient, Success } from "../OperatorClient.ts"
import {
  clientArgument,
  durationOption,
  given,
  required,
  requiredToken,
  tokenArgument,
  tokenOption,
  whole
} from "../options.ts"
import { readKnobsFile, readPathFile } from "../venueFiles.ts"
import { probesAtOnce } from "../../src/machines/venueChecks/VenueProbe.ts"
import { stack, table, text } from "../views/View.ts"
import { commandView, venueView } from "../views/venueView.ts"
import { plural } from "../../src/machines/shared/Text.ts"

const symbolArgument = ["<SYMBOL>", "such as BTC-USDC-PERP, for which BTC-PERP is short"] as const

/** Removes a leading plus, because the wire allows only a minus or no sign. */
const signed = (text: string): string => text.replace(/^\+/, "")

type VenueCall = (api: OperatorClient) => Promise<Success<typeof VenueCommandAnswer.Type>>

/** Adds `venue` with its commands under `sim`, and returns it. */
export const addSimVenueCommands = (sim: Command, cli: Cli): Command => {
  const venue = sim.command("venue").description("the simulated venue; sandbox only")
  const send = (command: Command, call: VenueCall, confirm?: string): Promise<void> =>
    cli.call(command, call, commandView, confirm === undefined ? {} : { confirm })
  venue
    .command("show")
    .description("prices (held ones marked), paths, dealers, faults with their remaining time, and the last event")
    .action((_: object, command: Command) => cli.call(command, (api) => api.venue.show(), venueView))
  venue
    .command("restart")
    .description("restart the simulator; returns when it is ready")
    .action((_: object, command: Command) => send(command, (api) => api.venue.restart({ payload: {} })))
  venue
    .command("set")
    .description("change the settings of the simulator: seed, processes, books, dealers, writers")
    .argument("<FILE>", "YAML")
    .action((file: string, _: object, command: Command) =>
      cli.attempt(command, async () => {
        const knobs = await readKnobsFile(file)
        await send(command, (api) => api.venue.set({ payload: { knobs } }))
      })
    )
  venue
    .command("clear")
    .description("end faults, paths, held prices and halts; restore book, funding and dealers")
    .action((_: object, command: Command) => send(command, (api) => api.venue.clear({ payload: {} })))
  addPriceCommands(venue, cli, send)
  addMarketCommands(venue, send)
  addFaultCommands(venue, send)
  addStakingCommands(venue, send)
  addProbeCommand(venue, cli)
  return venue
}

type Send = (command: Command, call: VenueCall, confirm?: string) => Promise<void>

interface PriceOptions {
  readonly only?: (typeof heldPrices)[number]
}

interface BookOptions {
  readonly size: string
  readonly levels?: number
  readonly spread?: number
}

const addPriceCommands = (venue: Command, cli: Cli, send: Send): void => {
  venue
    .command("price")
    .description("move index, mark and last of SYMBOL and its base's markets to PRICE, and hold them there")
    .argument(...symbolArgument)
    .argument("<PRICE>", "such as 60000.5")
    .addOption(tokenOption("--only <price>", "only this price", heldPrices))
    .action((symbol: string, price: string, { only }: PriceOptions, command: Command) =>
      send(command, (api) => api.venue.price({ payload: { symbol, price, ...given({ only }) } }))
    )
  venue
    .command("path")
    .description("play a price path")
    .argument(...symbolArgument)
    .argument("<FILE>", "CSV: offsetMs,price")
    .action((symbol: string, file: string, _: object, command: Command) =>
      cli.attempt(command, async () => {
        const path = readPathFile(file)
        await send(command, (api) => api.venue.path({ payload: { symbol, path } }))
      })
    )
  venue
    .command("book")
    .description("the simulator's own orders in the book of SYMBOL")
    .argument(...symbolArgument)
    .addOption(required("--size <decimal>", "quantity on each level; 0 empties it"))
    .addOption(new Option("--levels <n>", "levels on each side").argParser(whole(1, 1_000)))
    .addOption(new Option("--spread <ticks>", "between best bid and best ask").argParser(whole(1, 1_000_000)))
    .action((symbol: string, { size, levels, spread }: BookOptions, command: Command) =>
      send(command, (api) => api.venue.book({ payload: { symbol, size, ...given({ levels, spread }) } }))
    )
  venue
    .command("funding")
    .description("the funding rate of SYMBOL")
    .argument(...symbolArgument)
    .argument("<RATE>", "such as -0.0001")
    .action((symbol: string, rate: string, _: object, command: Command) =>
      send(command, (api) => api.venue.funding({ payload: { symbol, rate: signed(rate) } }))
    )
}

interface ExecuteOptions {
  readonly price?: string
  readonly reason: (typeof executionReasons)[number]
}

const addMarketCommands = (venue: Command, send: Send): void => {
  venue
    .command("execute")
    .description("let the venue trade on the client's account")
    .addArgument(clientArgument())
    .argument(...symbolArgument)
    .argument("<QTY>", "with its sign: -2 sells two")
    .option("--price <decimal>", "price (default: the mark)")
    .addOption(requiredToken("--reason <reason>", "why", executionReasons))
    .action((client: string, symbol: string, qty: string, { price, reason }: ExecuteOptions, command: Command) =>
      send(command, (api) =>
        api.venue.execute({ payload: { client, symbol, qty: signed(qty), reason, ...given({ price }) } })
      )
    )
  for (const [verb, does] of [
    ["halt", "halt SYMBOL at the venue, which then accepts no orders"],
    ["resume", "end the venue's halt of SYMBOL"]
  ] as const) {
    venue
      .command(verb)
      .description(does)
      .argument(...symbolArgument)
      .action((symbol: string, _: object, command: Command) => {
        const payload = { symbol }
        return send(command, (api) => (verb === "halt" ? api.venue.halt({ payload }) : api.venue.resume({ payload })))
      })
  }
  venue
    .command("delist")
    .description("permanently end the market SYMBOL at its final price")
    .argument(...symbolArgument)
    .action((symbol: string, _: object, command: Command) =>
      send(command, (api) => api.venue.delist({ payload: { symbol } }), `Delist ${symbol}? It can't be listed again.`)
    )
}

interface FaultOptions {
  readonly route?: FaultRoute
  readonly symbol?: string
  readonly for?: number
  readonly times?: number
  readonly delay?: number
}

const addFaultCommands = (venue: Command, send: Send): void => {
  venue
    .command("fault")
    .description("start a fault of the venue; clear, --for or --times ends it")
    .addArgument(tokenArgument("<KIND>", "the fault", everyFault))
    .addOption(tokenOption("--route <route>", "only on this route", faultRoutes))
    .option("--symbol <symbol>", "only for this market")
    .addOption(new Option("--for <duration>", "for this long: 500ms, 90s, 15m, 8h or 2d").argParser(durationOption))
    .addOption(new Option("--times <n>", "this many times").argParser(whole(1, 1_000_000)))
    .addOption(
      new Option("--delay <duration>", "lag of visibility-lag, slow and reorder-events (default 2s)").argParser(
        durationOption
      )
    )
    .action((kind: FaultKind, options: FaultOptions, command: Command) => {
      const { route, symbol, for: forMillis, times, delay: delayMillis } = options
      return send(command, (api) =>
        api.venue.fault({ payload: { kind, ...given({ route, symbol, forMillis, times, delayMillis }) } })
      )
    })
  venue
    .command("dealers")
    .description("start or stop the quotes of dealers")
    .addArgument(new Argument("<MOOD>", "silent or normal").choices(dealerMoods))
    .action((mood: (typeof dealerMoods)[number], _: object, command: Command) =>
      send(command, (api) => api.venue.dealers({ payload: { mood } }))
    )
}

interface OfferOptions {
  readonly rateBps: number
  readonly tenorDays: number
  readonly qty: string
}

const addProbeCommand = (venue: Command, cli: Cli): void => {
  venue
    .command("probe")
    .description("send orders of a client that can neither fill nor rest, and show how each ended")
    .addArgument(clientArgument())
    .addOption(new Option("--calls <n>", "how many (default 1)").argParser(whole(1, probesAtOnce)))
    .action((client: string, { calls }: { readonly calls?: number }, command: Command) =>
      cli.call(
        command,
        (api) => api.venue.probe({ payload: { client, ...given({ calls }) } }),
        (data) =>
          stack(
            text(`${plural(data.probes.length, "order")} of ${data.symbol} at ${data.price}`),
            table(
              data.probes,
              {
                probe: (row) => row.probeId,
                state: (row) => row.state,
                "venue's order": (row) => row.venueOrderId,
                reason: (row) => row.reason
              },
              "no probes"
            )
          )
      )
    )
}

const addStakingCommands = (venue: Command, send: Send): void => {
  const contractId = new Argument("<CONTRACTID>", "the venue's contract id").argParser(
    whole(1, Number.MAX_SAFE_INTEGER)
  )
  venue
    .command("offer")
    .description("put an offer on the staking board")
    .argument("<SYMBOL>", "a staking market")
    .addOption(required("--rate-bps <n>", "yearly rate, basis points").argParser(whole(0, 1_000_000)))
    .addOption(required("--tenor-days <n>", "term, days").argParser(whole(1, 36_500)))
    .addOption(required("--qty <decimal>", "quantity"))
    .action((symbol: string, { rateBps, tenorDays, qty }: OfferOptions, command: Command) =>
      send(command, (api) => api.venue.offer({ payload: { symbol, rateBps, tenorDays, qty } }))
    )
  venue
    .command("pay")
    .description("the writer pays its debt, in full or in part")
    .addArgument(contractId)
    .option("--amount <decimal>", "only this amount")
    .action((id: number, { amount }: { readonly amount?: string }, command: Command) =>
      send(command, (api) => api.venue.pay({ payload: { contractId: id, ...given({ amount }) } }))
    )
  venue
    .command("correct-fee")
    .description("the venue corrects its fee")
    .addArgument(contractId)
    .argument("<D>", "the correct fee")
    .action((id: number, fee: string, _: object, command: Command) =>
      send(command, (api) => api.venue["correct-fee"]({ payload: { contractId: id, fee } }))
    )
}
