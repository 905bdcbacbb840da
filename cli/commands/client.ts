/** `brokerage client …`: clients and their restrictions (operator surface, Back office; A3-10). */
import type { Command } from "commander"
import { type LifecycleState, lifecycleStates } from "../../src/machines/client/Client.ts"
import { settableRestrictions } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { beforeOption, given, limitOption, required, tokenArgument, tokenOption } from "../options.ts"
import { fields, stack, table, text, time, type View } from "../views/View.ts"

export const clientArgument = "<C>"
export const clientMeaning = "client id or uid"

type Restriction = (typeof settableRestrictions)[number]

interface ListOptions {
  readonly partner?: string
  readonly state?: LifecycleState
  readonly limit?: number
  readonly before?: number
}

interface Shown {
  readonly blocks: ReadonlyArray<{ readonly code: string; readonly status: string; readonly reason: string | null }>
  readonly balances: ReadonlyArray<{ readonly currency: string; readonly cash: string; readonly reserved: string }>
}

/** A client with its balances and blocks as tables of their own. */
export const clientView = <A extends Shown>({ blocks, balances, ...client }: A): View =>
  stack(
    fields(client),
    text(""),
    table(
      balances,
      { currency: (row) => row.currency, cash: (row) => row.cash, reserved: (row) => row.reserved },
      "no balances"
    ),
    text(""),
    table(blocks, { block: (row) => row.code, status: (row) => row.status, reason: (row) => row.reason }, "no blocks")
  )

export const addClientCommands = (program: Command, cli: Cli): void => {
  const client = program.command("client").description("clients")
  client
    .command("list")
    .description("clients, newest first")
    .option("--partner <P>", "only this partner's (id or code)")
    .addOption(tokenOption("--state <state>", "only in this lifecycle state", lifecycleStates))
    .addOption(limitOption(200))
    .addOption(beforeOption)
    .action(({ partner, state, limit, before }: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.client.list({ query: given({ partner, state, limit, before }) }),
        ({ clients, hasMore, nextBefore }) =>
          stack(
            table(
              clients,
              {
                id: (row) => row.clientId,
                uid: (row) => row.clientUid,
                partner: (row) => row.partnerId,
                name: (row) => row.displayName,
                state: (row) => row.lifecycleState,
                level: (row) => row.verificationLevel,
                "cash usdc": (row) => row.cashUsdc,
                created: (row) => time(row.createdAt)
              },
              "no clients"
            ),
            ...(hasMore ? [text(`More with --before ${nextBefore}.`)] : [])
          )
      )
    )
  client
    .command("show")
    .description("one client with its balances, blocks, restrictions and open cases")
    .argument(clientArgument, clientMeaning)
    .action((c: string, _: object, command: Command) =>
      cli.call(command, (api) => api.client.show({ params: { client: c } }), clientView)
    )
  client
    .command("restrict")
    .description("set a restriction")
    .argument(clientArgument, clientMeaning)
    .addArgument(tokenArgument("<restriction>", "what to refuse", settableRestrictions))
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((c: string, restriction: Restriction, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(
        command,
        (api) => api.client.restrict({ params: { client: c }, payload: { restriction, reason } }),
        clientView,
        { confirm: `Set ${restriction} on client ${c}?` }
      )
    )
  client
    .command("lift")
    .description("lift a restriction")
    .argument(clientArgument, clientMeaning)
    .addArgument(tokenArgument("<restriction>", "what to allow again", settableRestrictions))
    .option("--reason <text>", "why; kept in the audit")
    .action((c: string, restriction: Restriction, { reason }: { readonly reason?: string }, command: Command) =>
      cli.call(
        command,
        (api) => api.client.lift({ params: { client: c }, payload: given({ restriction, reason }) }),
        clientView
      )
    )
}
