/**
 * `brokerage rfq|contract|order|position|margin|closeout …`: requests, open products and margin of clients (operator surface,
 * Back office).
 */
import type { Command } from "commander"
import { contractStates, rfqStates } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { clientArgument, given, idArgument, limitOption, tokenOption } from "../options.ts"
import { fields, page, stack, table, text, time } from "../views/View.ts"
import { nearAccounts } from "../views/nearAccounts.ts"
import { addCloseOutCommands } from "./closeout.ts"
import { addOrderCommands } from "./order.ts"
import { type ListOptions, listOf, pageOf } from "./tradeLists.ts"

const stateOption = (states: ReadonlyArray<string>) => tokenOption("--state <state>", "only in this state", states)

export const addTradeCommands = (program: Command, cli: Cli): void => {
  addRfqCommands(program.command("rfq").description("requests for quotes of clients"), cli)
  addContractCommands(program.command("contract").description("knock-out contracts of clients"), cli)
  addOrderCommands(program, cli)
  addMarginCommands(program.command("margin").description("equity and margin of clients"), cli)
  addCloseOutCommands(program.command("closeout").description("close-outs, running and ended"), cli)
}

const addRfqCommands = (rfq: Command, cli: Cli): void => {
  listOf(rfq)
    .addOption(stateOption(rfqStates))
    .action(
      (
        _: string | undefined,
        { state, ...whose }: ListOptions & { readonly state?: (typeof rfqStates)[number] },
        command: Command
      ) =>
        cli.call(
          command,
          (api) => api.rfq.list({ query: given({ state, ...pageOf(whose) }) }),
          (data) =>
            page(
              table(
                data.rfqs,
                {
                  id: (row) => row.rfqId,
                  client: (row) => row.clientUid,
                  market: (row) => row.symbol,
                  side: (row) => row.side,
                  qty: (row) => row.qty,
                  barrier: (row) => row.barrierLevel,
                  closes: (row) => row.closeContractId,
                  state: (row) => (row.accepting ? `${row.state}, accepting` : row.state),
                  quotes: (row) => row.quotes.length,
                  contract: (row) => row.contractId,
                  created: (row) => time(row.createdAt)
                },
                "no requests"
              ),
              data
            )
        )
    )
  rfq
    .command("show")
    .description("one request with its quotes")
    .addArgument(idArgument("<ID>", "request id"))
    .action((rfqId: string, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.rfq.show({ params: { rfqId } }),
        ({ quotes, ...request }) =>
          stack(
            fields(request),
            text(""),
            table(
              quotes,
              {
                quote: (row) => row.quoteId,
                price: (row) => row.price,
                qty: (row) => row.qty,
                "valid until": (row) => time(row.validUntil),
                state: (row) => row.state,
                acceptable: (row) => (row.acceptable ? "yes" : row.notAcceptableReason)
              },
              "no quotes"
            )
          )
      )
    )
}

const addContractCommands = (contract: Command, cli: Cli): void => {
  listOf(contract)
    .addOption(stateOption(contractStates))
    .action(
      (
        _: string | undefined,
        { state, ...whose }: ListOptions & { readonly state?: (typeof contractStates)[number] },
        command: Command
      ) =>
        cli.call(
          command,
          (api) => api.contract.list({ query: given({ state, ...pageOf(whose) }) }),
          (data) =>
            page(
              table(
                data.contracts,
                {
                  id: (row) => row.contractId,
                  client: (row) => row.clientUid,
                  market: (row) => row.symbol,
                  side: (row) => row.side,
                  qty: (row) => row.qty,
                  entry: (row) => row.entry,
                  barrier: (row) => row.barrierLevel,
                  premium: (row) => row.premium,
                  state: (row) => row.state,
                  pnl: (row) => row.pnl ?? row.unrealizedPnl,
                  opened: (row) => time(row.openedAt),
                  closed: (row) => time(row.closedAt)
                },
                "no contracts"
              ),
              data
            )
        )
    )
  contract
    .command("show")
    .description("one contract, with live figures while it is open")
    .addArgument(idArgument("<ID>", "contract id"))
    .action((contractId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.contract.show({ params: { contractId } }), fields)
    )
}

const addMarginCommands = (margin: Command, cli: Cli): void => {
  margin
    .command("show")
    .description("equity, margin and risk state on live marks")
    .addArgument(clientArgument())
    .action((client: string, _: object, command: Command) =>
      cli.call(command, (api) => api.margin.show({ params: { client } }), fields)
    )
  margin
    .command("watch")
    .description("the accounts of a market by their distance to a close-out, nearest first; on a terminal it refreshes")
    .argument("<SYMBOL>", "perpetual market")
    .addOption(limitOption(100))
    .action((symbol: string, { limit }: { readonly limit?: number }, command: Command) =>
      cli.watch(command, (api) => api.margin.watch({ params: { symbol }, query: given({ limit }) }), nearAccounts)
    )
}
