/** `brokerage order|position …`: orders and positions of clients (operator surface, Back office). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { beforeOption, clientArgument, given, idArgument, limitOption, required } from "../options.ts"
import { plainId } from "../views/decisions.ts"
import { fields, page, table, time } from "../views/View.ts"

interface ListOptions {
  readonly open?: true
  readonly limit?: number
  readonly before?: number
}

export const addOrderCommands = (program: Command, cli: Cli): void => {
  const order = program.command("order").description("orders of clients on perpetuals and spot markets")
  addOrderReads(order, cli)
  order
    .command("cancel")
    .description(
      "cancel an order at the venue, or end the attempts to place a refused leg; its client reads that an operator did it"
    )
    .addArgument(idArgument("<ID>", "order id, as in O-7 or 7", "O-"))
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((orderId: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(command, (api) => api.order.cancel({ params: { orderId }, payload: { reason } }), fields, {
        about: `order:${plainId(orderId)}`,
        confirm: `Cancel order ${orderId}?`
      })
    )
  addPositionCommands(program.command("position").description("positions of clients in perpetuals"), cli)
}

const addOrderReads = (order: Command, cli: Cli): void => {
  order
    .command("list")
    .description("a client's orders, newest first")
    .addArgument(clientArgument())
    .option("--open", "only open ones")
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .action((client: string, { open, limit, before }: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) =>
          api.order.list({
            params: { client },
            query: given({ open: open === true ? ("true" as const) : undefined, limit, before })
          }),
        (data) =>
          page(
            table(
              data.orders,
              {
                id: (row) => row.orderId,
                market: (row) => row.symbol,
                side: (row) => row.side,
                type: (row) => row.type,
                qty: (row) => row.qty,
                filled: (row) => row.filledQty,
                price: (row) => row.price ?? row.trigger?.price ?? null,
                state: (row) => row.state,
                origin: (row) => row.origin,
                reason: (row) => row.reject ?? row.note,
                created: (row) => time(row.createdAt)
              },
              "no orders"
            ),
            data
          )
      )
    )
  order
    .command("show")
    .description("one order")
    .addArgument(idArgument("<ID>", "order id, as in O-7 or 7", "O-"))
    .action((orderId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.order.show({ params: { orderId } }), fields, {
        decided: (data) => `order:${plainId(data.orderId)}`
      })
    )
}

const addPositionCommands = (position: Command, cli: Cli): void => {
  position
    .command("list")
    .description("a client's positions that are not flat; margin show has their worth")
    .addArgument(clientArgument())
    .action((client: string, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.position.list({ params: { client } }),
        (data) =>
          table(
            data.positions,
            {
              market: (row) => row.symbol,
              qty: (row) => row.netQty,
              "average entry": (row) => row.avgEntryPrice,
              cost: (row) => row.netCost,
              realized: (row) => row.realizedPnl,
              changed: (row) => time(row.updatedAt)
            },
            "no positions"
          )
      )
    )
}
