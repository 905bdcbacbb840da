/** `brokerage client …`: clients, their restrictions and their status (operator surface, Back office; A2-102, A3-10). */
import type { Command } from "commander"
import { type LifecycleState, lifecycleStates } from "../../src/machines/client/Client.ts"
import { categorizations, currencyCodes, settableRestrictions } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import {
  beforeOption,
  clientArgument,
  given,
  limitOption,
  partnerOption,
  required,
  requiredToken,
  tokenArgument,
  tokenOption
} from "../options.ts"
import { aboutClient } from "../questions.ts"
import { fields, page, partnerNamed, stack, table, text, time, type View } from "../views/View.ts"
import { awaitsApproval } from "./approval.ts"

type Restriction = (typeof settableRestrictions)[number]

interface ListOptions {
  readonly partner?: string
  readonly state?: LifecycleState
  readonly q?: string
  readonly limit?: number
  readonly before?: number
}

interface Shown {
  readonly blocks: ReadonlyArray<{ readonly code: string; readonly status: string; readonly reason: string | null }>
  readonly balances: ReadonlyArray<{ readonly currency: string; readonly cash: string; readonly reserved: string }>
}

/** A client, with balances and blocks as separate tables. */
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

interface Standing {
  readonly equity: string
  readonly initialMargin: string
  readonly freeMargin: string
  readonly marginLevel: string | null
  readonly riskState: string
  readonly marksFresh: boolean
}

interface Change {
  readonly before: Standing
  readonly after: Standing
  readonly leverage: ReadonlyArray<{
    readonly symbol: string
    readonly leverageBefore: number
    readonly leverageAfter: number
    readonly marginBefore: string
    readonly marginAfter: string
  }>
  readonly follows: "NOTHING" | "MARGIN_CALL" | "CLOSE_OUT"
}

const follows = {
  NOTHING: "Nothing follows for the account.",
  MARGIN_CALL: "A margin call follows.",
  CLOSE_OUT: "A close-out follows."
} as const

/** Shows the effects that a categorization has on the client's account. */
const changeView = (change: Change): View =>
  stack(
    table(
      [
        { name: "before", ...change.before },
        { name: "after", ...change.after }
      ],
      {
        account: (row) => row.name,
        equity: (row) => row.equity,
        margin: (row) => row.initialMargin,
        free: (row) => row.freeMargin,
        level: (row) => row.marginLevel,
        state: (row) => (row.marksFresh ? row.riskState : `${row.riskState}, on stale marks`)
      },
      ""
    ),
    text(""),
    table(
      change.leverage,
      {
        market: (row) => row.symbol,
        leverage: (row) => `${row.leverageBefore} -> ${row.leverageAfter}`,
        margin: (row) => `${row.marginBefore} -> ${row.marginAfter}`
      },
      "no perpetuals"
    ),
    text(follows[change.follows])
  )

/** Shows a client, and the effects of its categorization on the account. */
const categorizedView = <A extends Shown & { readonly change: Change }>({ change, ...client }: A): View =>
  stack(clientView(client), text(""), changeView(change))

/** The effects that `--force` would have, shown with a refusal that the account's figures cause; null for any other refusal. */
const refusedView = (data: unknown): View | null => {
  const { change } = (data ?? {}) as { readonly change?: Change }
  return change === undefined ? null : changeView(change)
}

export const addClientCommands = (program: Command, cli: Cli): void => {
  const client = program.command("client").description("clients")
  client
    .command("list")
    .description("clients, newest first")
    .addOption(partnerOption())
    .addOption(tokenOption("--state <state>", "only in this state", lifecycleStates))
    .option("--q <text>", "only with this text in e-mail address, name or reference, in any case")
    .addOption(limitOption(200))
    .addOption(beforeOption)
    .action(({ partner, state, q, limit, before }: ListOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.client.list({ query: given({ partner, state, q, limit, before }) }),
        (data) =>
          page(
            table(
              data.clients,
              {
                id: (row) => row.clientId,
                uid: (row) => row.clientUid,
                partner: (row) => partnerNamed(row.partnerId),
                reference: (row) => row.partnerClientRef,
                name: (row) => row.displayName,
                state: (row) => row.lifecycleState,
                level: (row) => row.verificationLevel,
                "cash usdc": (row) => row.cashUsdc,
                created: (row) => time(row.createdAt)
              },
              "no clients"
            ),
            data
          )
      )
    )
  client
    .command("show")
    .description("one client with its balances, blocks, restrictions and open cases")
    .addArgument(clientArgument())
    .action((c: string, _: object, command: Command) =>
      cli.call(command, (api) => api.client.show({ params: { client: c } }), clientView)
    )
  client
    .command("restrict")
    .description("set a restriction")
    .addArgument(clientArgument())
    .addArgument(tokenArgument("<restriction>", "the restriction to set", settableRestrictions))
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((c: string, restriction: Restriction, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(
        command,
        (api) => api.client.restrict({ params: { client: c }, payload: { restriction, reason } }),
        clientView,
        { confirm: aboutClient(c, (it) => `Set ${restriction} on ${it}?`) }
      )
    )
  client
    .command("lift")
    .description("lift a restriction")
    .addArgument(clientArgument())
    .addArgument(tokenArgument("<restriction>", "the restriction to lift", settableRestrictions))
    .option("--reason <text>", "why; kept in the audit")
    .action((c: string, restriction: Restriction, { reason }: { readonly reason?: string }, command: Command) =>
      cli.call(
        command,
        (api) => api.client.lift({ params: { client: c }, payload: given({ restriction, reason }) }),
        clientView,
        { confirm: aboutClient(c, (it) => `Lift ${restriction} from ${it}?`) }
      )
    )
  addStandingCommands(client, cli)
  addPayoutCommand(client, cli)
}

interface Reasoned {
  readonly reason: string
}

interface Categorizing extends Reasoned {
  readonly force?: boolean
}

/** Adds the commands on a client's status that are not restrictions. */
const addStandingCommands = (client: Command, cli: Cli): void => {
  client
    .command("categorize")
    .description(
      "set the categorization; choices of leverage above its cap become the cap; --dry-run shows the effects"
    )
    .addArgument(clientArgument())
    .addArgument(tokenArgument("<categorization>", "the new categorization", categorizations))
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .option("--force", "to RETAIL even if that causes a margin call or a close-out")
    .action((c: string, categorization: (typeof categorizations)[number], options: Categorizing, command: Command) => {
      const { reason, force } = options
      return cli.call(
        command,
        (api) =>
          api.client.categorize({ params: { client: c }, payload: { categorization, reason, ...given({ force }) } }),
        categorizedView,
        { refused: refusedView }
      )
    })
  client
    .command("close")
    .description("close the account for good; needs an account without money or open items")
    .addArgument(clientArgument())
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((c: string, { reason }: Reasoned, command: Command) =>
      cli.call(command, (api) => api.client.close({ params: { client: c }, payload: { reason } }), clientView, {
        confirm: aboutClient(c, (it) => `Close ${it} for good?`)
      })
    )
  client
    .command("reopen")
    .description("bring a refused person back under review")
    .addArgument(clientArgument())
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((c: string, { reason }: Reasoned, command: Command) =>
      cli.call(command, (api) => api.client.reopen({ params: { client: c }, payload: { reason } }), clientView, {
        confirm: aboutClient(c, (it) => `Bring the refused person of ${it} back under review?`)
      })
    )
  client
    .command("downgrade")
    .description("take level MICA_MIFID back to MICA; a new test can raise it again")
    .addArgument(clientArgument())
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((c: string, { reason }: Reasoned, command: Command) =>
      cli.call(command, (api) => api.client.downgrade({ params: { client: c }, payload: { reason } }), clientView, {
        confirm: aboutClient(c, (it) => `Take level MICA_MIFID from ${it}?`)
      })
    )
}

interface PayoutOptions extends Reasoned {
  readonly currency: (typeof currencyCodes)[number]
  readonly amount: string
  readonly reference?: string
}

const addPayoutCommand = (client: Command, cli: Cli): void => {
  client
    .command("payout")
    .description(
      "pay out a client that can't request it: at level NONE, or currencies other than USDC under PARTNER custody"
    )
    .addArgument(clientArgument())
    .addOption(requiredToken("--currency <code>", "currency", currencyCodes))
    .addOption(required("--amount <decimal>", "the amount, such as 12.50"))
    .addOption(required("--reason <text>", "why; kept with the posting and in the audit"))
    .option(
      "--reference <text>",
      "your own name for this payout, such as a case number; always give one: a repeat with it pays nothing"
    )
    .action((c: string, { reference, ...payout }: PayoutOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.client.payout({ params: { client: c }, payload: { ...payout, ...given({ reference }) } }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        {
          confirm: aboutClient(
            c,
            (it) => `Pay ${payout.amount} ${payout.currency} out to ${it}? Postings are never undone.`
          )
        }
      )
    )
}
