/** `brokerage swap …`: staking swaps of clients, and the write-off of claims (operator surface, Back office). */
import type { Command } from "commander"
import { swapStates } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { beforeOption, clientOption, given, idArgument, limitOption, required, tokenOption } from "../options.ts"
import { plainId } from "../views/decisions.ts"
import { fields, page, table, time } from "../views/View.ts"
import { awaitsApproval } from "./approval.ts"

interface ListOptions {
  readonly client?: string
  readonly state?: (typeof swapStates)[number]
  readonly limit?: number
  readonly before?: number
}

const idMeaning = "swap id, as in S-7 or 7"

export const addSwapCommands = (program: Command, cli: Cli): void => {
  const swap = program.command("swap").description("staking swaps of clients")
  addSwapReads(swap, cli)
  swap
    .command("writeoff")
    .description("write off a claim, in part or in full, which closes it; later money first reverses the write-off")
    .addArgument(idArgument("<ID>", idMeaning, "S-"))
    .addOption(required("--amount <decimal>", "how much of the claim, in the asset"))
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action(
      (swapId: string, { amount, reason }: { readonly amount: string; readonly reason: string }, command: Command) =>
        cli.call(
          command,
          (api) => api.swap.writeoff({ params: { swapId }, payload: { amount, reason } }),
          (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
          { about: `swap:${plainId(swapId)}`, confirm: `Write ${amount} of swap ${swapId} off?` }
        )
    )
}

const addSwapReads = (swap: Command, cli: Cli): void => {
  swap
    .command("list")
    .description("newest first")
    .addOption(clientOption())
    .addOption(tokenOption("--state <state>", "only in this state", swapStates))
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .action(({ client, state, limit, before }: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.swap.list({ query: given({ client, state, limit, before }) }),
        (data) =>
          page(
            table(
              data.swaps,
              {
                id: (row) => row.swapId,
                client: (row) => row.clientUid,
                market: (row) => row.symbol,
                notional: (row) => row.notional,
                rate: (row) => row.ratePct,
                reward: (row) => row.reward,
                state: (row) => row.state,
                paid: (row) => row.paid,
                claim: (row) => row.claim,
                matures: (row) => (row.maturityTs === null ? null : time(row.maturityTs)),
                contract: (row) => row.contractId
              },
              "no swaps"
            ),
            data
          )
      )
    )
  swap
    .command("show")
    .description("one swap with the writer's payments")
    .addArgument(idArgument("<ID>", idMeaning, "S-"))
    .action((swapId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.swap.show({ params: { swapId } }), fields, {
        decided: (data) => `swap:${plainId(data.swapId)}`
      })
    )
}
