/** `brokerage explain …`: evaluates a write for a client gate by gate, without writing (operator surface; A2-110, A3-02). */
import { type Command, Option } from "commander"
import type { Explanation } from "../../src/http/api/explanation.ts"
import {
  orderSides,
  orderTypes,
  timesInForce,
  triggerDirections,
  triggerSources
} from "../../src/machines/order/orderTokens.ts"
import type { Cli } from "../Cli.ts"
import { momentOption } from "../moment.ts"
import { clientArgument, given, required, requiredToken, tokenOption, whole } from "../options.ts"
import { stack, table, text, type View } from "../views/View.ts"

interface Options {
  readonly amount: string
  readonly currency?: string
  readonly partnerRef?: string
}

interface CollateralOptions extends Options {
  readonly direction?: string
  readonly sourceAsset?: string
  readonly txRef?: string
  readonly occurredAt?: number
}

interface DepositOptions extends Options {
  readonly method?: string
  readonly evidenceRef?: string
}

interface WithdrawalOptions extends Options {
  readonly destination?: string
}

/** The line that names the blocks which the client still lacks; empty for a refusal that names no block. */
const missingOf = (data: Explanation["data"]): ReadonlyArray<View> => {
  const missing = data?.missingBlocks
  return Array.isArray(missing) ? [text(`Missing: ${missing.join(", ")}.`)] : []
}

const wireExplanation = ({ write, outcome, code, sentence, data, gates }: Explanation): View =>
  stack(
    text(
      outcome === "REFUSED"
        ? `The ${write} would be refused (${code}): ${sentence}`
        : `The ${write} would be ${outcome}.`
    ),
    ...missingOf(data),
    text(""),
    table(
      gates,
      {
        gate: (row) => row.gate,
        result: (row) => row.status,
        figure: (row) => row.compared?.figure,
        limit: (row) => row.compared?.limit,
        sentence: (row) => row.sentence
      },
      "no gates"
    )
  )

export const addExplainCommands = (program: Command, cli: Cli): void => {
  const explain = program
    .command("explain")
    .description("the gates of a partner's write, and the reason of a refusal; writes nothing")
  const question = (name: string, description: string): Command =>
    explain
      .command(name)
      .description(description)
      .addArgument(clientArgument())
      .addOption(required("--amount <decimal>", "amount, such as 12.50"))
      .option("--currency <code>", "currency (default USDC)")
      .option("--partner-ref <text>", "the partner's reference (default a fresh one)")
  question("collateral", "a collateral report under PARTNER custody")
    .addOption(tokenOption("--direction <direction>", "the direction (default WITHDRAWAL)", ["DEPOSIT", "WITHDRAWAL"]))
    .option("--source-asset <asset>", "the asset of the collateral (default the partner's)")
    .option("--tx-ref <text>", "the partner's transaction")
    .addOption(momentOption("--occurred-at <time>", "when it happened (default now)"))
    .action((client: string, options: CollateralOptions, command: Command) => {
      const { amount, currency, partnerRef, direction, sourceAsset, txRef, occurredAt } = options
      const query = given({ amount, currency, partnerRef, direction, sourceAsset, txRef, occurredAt })
      return cli.call(command, (api) => api.explain.collateral({ params: { client }, query }), wireExplanation)
    })
  question("deposit", "a deposit notice under BROKER custody")
    .option("--method <method>", "FIAT or CRYPTO (default FIAT)")
    .option("--evidence-ref <text>", "the partner's evidence")
    .action(
      (client: string, { amount, currency, partnerRef, method, evidenceRef }: DepositOptions, command: Command) => {
        const query = given({ amount, currency, partnerRef, method, evidenceRef })
        return cli.call(command, (api) => api.explain.deposit({ params: { client }, query }), wireExplanation)
      }
    )
  question("withdrawal", "a withdrawal request under BROKER custody")
    .option("--destination <json>", "the destination, as the partner's JSON object")
    .action((client: string, { amount, currency, partnerRef, destination }: WithdrawalOptions, command: Command) => {
      const query = given({ amount, currency, partnerRef, destination })
      return cli.call(command, (api) => api.explain.withdrawal({ params: { client }, query }), wireExplanation)
    })
  addExplainRfqCommand(explain, cli)
  addExplainOrderCommand(explain, cli)
}

interface OrderOptions {
  readonly symbol: string
  readonly side: string
  readonly type: string
  readonly qty: string
  readonly price?: string
  readonly tif?: string
  readonly reduceOnly?: true
  readonly triggerSource?: string
  readonly triggerPrice?: string
  readonly triggerDirection?: string
  readonly limitPrice?: string
  readonly takeProfit?: string
  readonly stopLoss?: string
  readonly ocoGroup?: string
  readonly leverage?: number
}

const addExplainOrderCommand = (explain: Command, cli: Cli): void => {
  explain
    .command("order")
    .description("an order on a perpetual or a spot market")
    .addArgument(clientArgument())
    .addOption(required("--symbol <symbol>", "market, such as BTC-USDC-PERP"))
    .addOption(requiredToken("--side <side>", "which way", orderSides))
    .addOption(requiredToken("--type <type>", "the kind of order", orderTypes))
    .addOption(required("--qty <decimal>", "how much"))
    .option("--price <decimal>", "the limit of a LIMIT order")
    .addOption(tokenOption("--tif <tif>", "time in force (default GTC)", timesInForce))
    .option("--reduce-only", "only reduce the position")
    .addOption(tokenOption("--trigger-source <source>", "the price that triggers a conditional order", triggerSources))
    .option("--trigger-price <decimal>", "the trigger price")
    .addOption(
      tokenOption(
        "--trigger-direction <direction>",
        "the direction in which the price must cross it",
        triggerDirections
      )
    )
    .option("--limit-price <decimal>", "the limit after the trigger, for types that end in LIMIT")
    .option("--take-profit <decimal>", "level of an attached take profit")
    .option("--stop-loss <decimal>", "level of an attached stop loss")
    .option("--oco-group <name>", "its group: the first fill of a member cancels the others")
    .addOption(
      new Option("--leverage <times>", "the leverage that you expect to be in force").argParser(whole(1, 1_000))
    )
    .action((client: string, { reduceOnly, ...options }: OrderOptions, command: Command) => {
      const query = given({ ...options, reduceOnly: reduceOnly === true ? ("true" as const) : undefined })
      return cli.call(command, (api) => api.explain.order({ params: { client }, query }), wireExplanation)
    })
}

interface RfqOptions {
  readonly symbol: string
  readonly side: string
  readonly qty: string
  readonly premium?: string
  readonly barrier: string
  readonly takeProfit?: string
  readonly expiryTs?: number
  readonly strict?: true
}

const addExplainRfqCommand = (explain: Command, cli: Cli): void => {
  explain
    .command("rfq")
    .description("a request for quotes on a knock-out contract")
    .addArgument(clientArgument())
    .addOption(required("--symbol <symbol>", "market, such as BTC-USDC-KO"))
    .addOption(requiredToken("--side <side>", "which way", ["BUY", "SELL"]))
    .addOption(required("--barrier <decimal>", "the knock-out level"))
    .addOption(required("--qty <decimal>", "how much"))
    .option("--premium <decimal>", "the budget for the premium, USDC")
    .option("--take-profit <decimal>", "the take profit level")
    .addOption(
      momentOption("--expiry-ts <time>", "the expiry (default that of the partner's route)", { direction: "ahead" })
    )
    .option("--strict", "a strict take profit")
    .action((client: string, options: RfqOptions, command: Command) => {
      const { symbol, side, qty, premium, barrier: level, takeProfit, expiryTs, strict } = options
      const strictTakeProfit = strict === true ? ("true" as const) : undefined
      const query = given({ symbol, side, qty, premium, level, takeProfit, expiryTs, strictTakeProfit })
      return cli.call(command, (api) => api.explain.rfq({ params: { client }, query }), wireExplanation)
    })
}
