/**
 * `brokerage closeout …`: close-out episodes, their orders, and the reasons why they wait (operator surface, Back office; F9).
 */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { given, idArgument, required } from "../options.ts"
import { type Cell, fields, Moment, page, stack, table, text, time, type View, richText } from "../views/View.ts"
import { awaitsApproval } from "./approval.ts"
import { type ListOptions, listOf, pageOf } from "./tradeLists.ts"

export const addCloseOutCommands = (closeout: Command, cli: Cli): void => {
  listOf(closeout)
    .option("--open", "only open ones")
    .action((_: string | undefined, { open, ...whose }: ListOptions & { readonly open?: true }, command: Command) =>
      cli.call(
        command,
        (api) =>
          api.closeout.list({
            query: given({ open: open === true ? ("true" as const) : undefined, ...pageOf(whose) })
          }),
        (data) => page(table(data.closeouts, episodeLine, "no close-outs"), data)
      )
    )
  closeout
    .command("show")
    .description("one episode: its orders, the reason of its wait, and the account's figures")
    .addArgument(idArgument("<ID>", "episode id, as in CO-7 or 7", "CO-"))
    .action((closeOutId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.closeout.show({ params: { closeOutId } }), closeOutView)
    )
  closeout
    .command("widen")
    .description(
      "let its orders trade further from the mark than the account's equity pays, within the venue's band; raises an alarm"
    )
    .addArgument(idArgument("<ID>", "episode id, as in CO-7 or 7", "CO-"))
    .addOption(required("--to <percent>", "the largest distance from the mark, such as 7.5"))
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((closeOutId: string, { to, reason }: { readonly to: string; readonly reason: string }, command: Command) =>
      cli.call(
        command,
        (api) => api.closeout.widen({ params: { closeOutId }, payload: { to, reason } }),
        (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : fields(data)),
        {
          about: `closeOut:${closeOutId.replace(/^CO-/i, "")}`,
          confirm: `Let ${closeOutId} trade up to ${to} % from the mark?`
        }
      )
    )
}

interface Episode {
  readonly closeOutId: number
  readonly clientId: number
  readonly clientUid: string
  readonly state: string
  readonly startedAt: number
  readonly endedAt: number | null
  readonly closeOutEquity: string
  readonly marginBase: string
  readonly orders: number
  readonly contracts: number
  readonly widenedTo: string | null
  readonly writtenOff: string
  readonly repaid: string
}

/** The columns of the list, for a terminal of 80 columns. */
const episodeLine: Readonly<Record<string, (row: Episode) => Cell>> = {
  id: (row) => row.closeOutId,
  client: (row) => row.clientUid,
  state: (row) => row.state,
  sent: (row) => row.orders,
  torn: (row) => row.contracts,
  "written off": (row) => row.writtenOff,
  started: (row) => new Moment(row.startedAt, "brief"),
  took: (row) => (row.endedAt === null ? "" : `${((row.endedAt - row.startedAt) / 1_000).toFixed(1)}s`)
}

const clock = (millis: number): Moment => new Moment(millis, "clock")

interface Detail extends Episode {
  readonly step: string | null
  readonly account: {
    readonly closeOutEquity: string
    readonly marginBase: string
    readonly marginLevel: string | null
    readonly riskState: string
    readonly marksFresh: boolean
  } | null
  readonly waits: ReadonlyArray<{ readonly why: string; readonly until: number | null }>
  readonly behind: ReadonlyArray<{
    readonly what: string
    readonly id: number
    readonly state: string
    readonly amount: string
  }>
  readonly behindAmount: string
  readonly closingOrders: ReadonlyArray<{
    readonly orderId: number
    readonly symbol: string
    readonly side: string
    readonly qty: string
    readonly filledQty: string
    readonly price: string | null
    readonly state: string
    readonly reason: string | null
    readonly createdAt: number
  }>
  readonly tornContracts: ReadonlyArray<{
    readonly contractId: number
    readonly symbol: string
    readonly state: string
    readonly settlePrice: string | null
    readonly pnl: string | null
    readonly tearUps: number
  }>
}

/** An episode as a report from top to bottom, for 80 columns. */
const closeOutView = (episode: Detail): View =>
  stack(
    fields({
      episode: `CO-${episode.closeOutId}`,
      client: `${episode.clientUid} (${episode.clientId})`,
      state: episode.step === null ? episode.state : `${episode.state}, ${episode.step}`,
      started: time(episode.startedAt),
      ended: episode.endedAt === null ? "running" : time(episode.endedAt),
      "held at the start": `${episode.closeOutEquity} of ${episode.marginBase} USDC of margin`,
      ...(episode.account === null ? {} : { now: standing(episode.account) }),
      ...(episode.widenedTo === null ? {} : { "widened to": `${episode.widenedTo} % from the mark` }),
      "written off": `${episode.writtenOff} USDC, ${episode.repaid} of it repaid`,
      "behind the write-off": `${episode.behindAmount} USDC outside the cash`
    }),
    ...(episode.endedAt === null ? [text(""), ...waiting(episode.waits)] : []),
    ...(episode.behind.length === 0 ? [] : [text(""), table(episode.behind, behindLine, "nothing")]),
    text(""),
    table(episode.closingOrders, orderLine, "no orders were sent"),
    ...refusals(episode.closingOrders),
    ...(episode.tornContracts.length === 0 ? [] : [text(""), table(episode.tornContracts, contractLine, "none")])
  )

const standing = ({ closeOutEquity, marginBase, marginLevel, riskState, marksFresh }: NonNullable<Detail["account"]>) =>
  [
    `${closeOutEquity} of ${marginBase} USDC`,
    marginLevel === null ? null : `${marginLevel} %`,
    riskState,
    marksFresh ? null : "on stale marks"
  ]
    .filter((part) => part !== null)
    .join(", ")

const waiting = (waits: Detail["waits"]): ReadonlyArray<View> =>
  waits.length === 0
    ? [text("Its next step is due within a second.")]
    : waits.map(({ why, until }) =>
        text(richText`Waits: ${why}${until === null ? "" : richText`, until ${clock(until)}`}.`)
      )

const behindLine: Readonly<Record<string, (row: Detail["behind"][number]) => Cell>> = {
  behind: (row) => row.what,
  id: (row) => row.id,
  state: (row) => row.state,
  "may return": (row) => row.amount
}

const orderLine: Readonly<Record<string, (row: Detail["closingOrders"][number]) => Cell>> = {
  order: (row) => row.orderId,
  time: (row) => clock(row.createdAt),
  market: (row) => row.symbol,
  side: (row) => row.side,
  qty: (row) => row.qty,
  filled: (row) => row.filledQty,
  price: (row) => row.price,
  state: (row) => row.state
}

/** The reasons with which the venue refused the episode's orders, each reason once. */
const refusals = (orders: Detail["closingOrders"]): ReadonlyArray<View> =>
  [...new Set(orders.flatMap(({ reason }) => (reason === null ? [] : [reason])))].map((reason) =>
    text(`The venue has refused: ${reason}.`)
  )

const contractLine: Readonly<Record<string, (row: Detail["tornContracts"][number]) => Cell>> = {
  contract: (row) => row.contractId,
  market: (row) => row.symbol,
  state: (row) => row.state,
  at: (row) => row.settlePrice,
  result: (row) => row.pnl,
  "tear-ups": (row) => row.tearUps
}
