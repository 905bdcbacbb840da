/** `brokerage explain …`: what a money write for a client would be answered now, gate by gate (operator surface; A3-02). */
import type { Command } from "commander"
import type { Explanation } from "../../src/http/api/explanation.ts"
import type { Cli } from "../Cli.ts"
import { given, required, tokenOption } from "../options.ts"
import { stack, table, text, type View } from "../views/View.ts"
import { clientArgument, clientMeaning } from "./client.ts"

interface Options {
  readonly amount: string
  readonly currency?: string
  readonly partnerRef?: string
  readonly direction?: string
}

const explanationView = ({ write, outcome, code, sentence, gates }: Explanation): View =>
  stack(
    text(
      outcome === "REFUSED"
        ? `The ${write} would be refused (${code}): ${sentence}`
        : `The ${write} would be ${outcome}.`
    ),
    text(""),
    table(
      gates,
      {
        gate: (row) => row.gate,
        result: (row) => row.status,
        figure: (row) => row.compared?.figure,
        limit: (row) => row.compared?.limit,
        says: (row) => row.sentence
      },
      "no gates"
    )
  )

export const addExplainCommands = (program: Command, cli: Cli): void => {
  const explain = program.command("explain").description("why a partner's money write would be refused; writes nothing")
  const question = (name: string, description: string): Command =>
    explain
      .command(name)
      .description(description)
      .argument(clientArgument, clientMeaning)
      .addOption(required("--amount <decimal>", "amount, such as 12.50"))
      .option("--currency <code>", "currency (default USDC)")
      .option("--partner-ref <text>", "the partner's reference (default a fresh one)")
  question("collateral", "a collateral report under PARTNER custody")
    .addOption(tokenOption("--direction <direction>", "which way (default WITHDRAWAL)", ["DEPOSIT", "WITHDRAWAL"]))
    .action((client: string, { amount, currency, partnerRef, direction }: Options, command: Command) =>
      cli.call(
        command,
        (api) =>
          api.explain.collateral({ params: { client }, query: given({ amount, currency, partnerRef, direction }) }),
        explanationView
      )
    )
  question("deposit", "a deposit notice under BROKER custody").action(
    (client: string, { amount, currency, partnerRef }: Options, command: Command) =>
      cli.call(
        command,
        (api) => api.explain.deposit({ params: { client }, query: given({ amount, currency, partnerRef }) }),
        explanationView
      )
  )
  question("withdrawal", "a withdrawal request under BROKER custody").action(
    (client: string, { amount, currency, partnerRef }: Options, command: Command) =>
      cli.call(
        command,
        (api) => api.explain.withdrawal({ params: { client }, query: given({ amount, currency, partnerRef }) }),
        explanationView
      )
  )
}
