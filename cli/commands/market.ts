/** `brokerage market …`: listed markets, and the service's own trading halts (operator surface, Back office; A2-11). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { given, required } from "../options.ts"
import { momentOption } from "../moment.ts"
import { fields, stack, table, text, time, type View } from "../views/View.ts"

interface HaltOptions {
  readonly message: string
  readonly until?: number
}

const scope = [
  "<SCOPE>",
  "ALL, a family (PERP, SPOT, BARRIER, STAKING) or a symbol; BTC-PERP is short for BTC-USDC-PERP"
] as const

export const addMarketCommands = (program: Command, cli: Cli): void => {
  const market = program.command("market").description("markets and trading halts")
  market
    .command("list")
    .description("every listed market, and our running halts")
    .action((_: object, command: Command) => cli.call(command, (api) => api.market.list(), marketsView))
  market
    .command("halt")
    .description("refuse all requests that open risk in SCOPE; a running halt gets this message and end")
    .argument(...scope)
    .addOption(required("--message <text>", "why; partners read it"))
    .addOption(
      momentOption("--until <time>", "the time of its end; without it market resume ends it", { direction: "ahead" })
    )
    .action((name: string, { message, until }: HaltOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.market.halt({ payload: { scope: name, message, ...given({ until }) } }),
        ({ until: end, ...halt }) => fields({ ...halt, until: end === null ? "resumed" : time(end) }),
        { confirm: `Halt trading in ${name}? Requests that open risk are refused there.` }
      )
    )
  market
    .command("resume")
    .description("end the halt of SCOPE")
    .argument(...scope)
    .action((name: string, _: object, command: Command) =>
      cli.call(command, (api) => api.market.resume({ payload: { scope: name } }), fields, {
        confirm: `Resume trading in ${name}? Requests that open risk are accepted there again.`
      })
    )
}

interface Halt {
  readonly scope: string
  readonly since: number
  readonly until: number | null
  readonly message: string
}

interface Market {
  readonly symbol: string
  readonly family: string
  readonly last: string | null
  readonly mark: string | null
  readonly index: string | null
  readonly fresh: boolean
  readonly halted: boolean
  readonly haltedByUs: boolean
  readonly delisted: boolean
}

const marketsView = ({
  markets,
  halts
}: {
  readonly markets: ReadonlyArray<Market>
  readonly halts: ReadonlyArray<Halt>
}): View =>
  stack(
    table(
      markets,
      {
        symbol: (row) => row.symbol,
        family: (row) => row.family,
        last: (row) => row.last,
        mark: (row) => row.mark,
        index: (row) => row.index,
        fresh: (row) => (row.fresh ? "yes" : "no"),
        "halted by": (row) => [row.haltedByUs ? "us" : "", row.halted ? "venue" : ""].filter(Boolean).join(", "),
        delisted: (row) => (row.delisted ? "yes" : "")
      },
      "no markets: no venue has sent a list"
    ),
    text(""),
    table(
      halts,
      {
        "halt of": (row) => row.scope,
        since: (row) => time(row.since),
        until: (row) => (row.until === null ? "resumed" : time(row.until)),
        message: (row) => row.message
      },
      "no halt of ours"
    )
  )
