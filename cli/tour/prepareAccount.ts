/**
 * Brings the demo client's account into the state in which a step of the tour begins, whatever an earlier or broken-off step
 * left: price, restrictions, open orders, positions, cash.
 */
import { setTimeout as pause } from "node:timers/promises"
import { formatAmount } from "../../src/machines/shared/Money.ts"
import type { TourAction, TourNeeds } from "./tourSteps.ts"
import { memberOf } from "./tourText.ts"
import type { TourDemo } from "./TourDemo.ts"

/** Performs an action and prints it; rejects when it fails. Returns the answer's JSON. */
export type Perform = (action: TourAction, method?: "DELETE") => Promise<unknown>

/** Time that the service gets to receive the venue's status and price, and to end a close-out, ms. */
const recoveryMillis = 30_000
const pollMillis = 100

export const prepareAccount = async (
  demo: TourDemo,
  { price, market, cash, exact, flat }: TourNeeds,
  perform: Perform
): Promise<void> => {
  const client = `/clients/${demo.clientId}`
  if (price !== undefined) {
    const [symbol, at] = price
    await perform({
      purpose: `First: hold the price of ${symbol} at ${at}.`,
      command: `sim venue price ${symbol} ${at}`
    })
  }
  if (market !== undefined)
    await waitUntil(async () => {
      const markets = await marketsOf(demo, ["market", "list"])
      const isAt = ([symbol, at]: readonly [string, string]) =>
        markets.some((row) => row.symbol === symbol && Number(row.mark) === Number(at))
      return (price === undefined || isAt(price)) && (await mayTrade(demo, market, markets))
    })
  await liftRestrictions(demo, ["FROZEN", "NO_WITHDRAWALS"], perform)
  if (cash !== undefined) await bringCash(demo, client, cash, perform)
  await waitUntil(async () => {
    const shown = await accountOf(demo)
    return !shown.restrictions.includes("CLOSE_OUT") && shown.riskState !== "CLOSE_OUT"
  })
  await liftRestrictions(demo, ["NO_NEW_RISK"], perform)
  if (flat === true) await flatten(demo, client, perform)
  // Closing a position can cost money.
  if (cash !== undefined && flat === true) await bringCash(demo, client, cash, perform)
  if (exact === true && cash !== undefined) await takeExcess(demo, client, cash, perform)
}

/** Micro-USDC of whole USDC. */
const micro = (usdc: number): bigint => BigInt(usdc) * 1_000_000n

/** An amount of an answer in micro-USDC; it has a sign and always six decimals. */
const amountIn = async (demo: TourDemo, path: string, member: string): Promise<bigint> =>
  BigInt((memberOf((await demo.request("GET", path)).json, member)[0] ?? "0").replace(".", ""))

const cashOf = (demo: TourDemo, client: string): Promise<bigint> => amountIn(demo, client, "data.cashUsdc")

const report = (demo: TourDemo, client: string, direction: string, amount: bigint) => ({
  path: `${client}/collateral`,
  body: JSON.stringify({ partnerRef: demo.newReference(), direction, amount: formatAmount(amount, "USDC") }),
  shows: ["data.status", "data.balances.cash"],
  expects: { "data.status": "BOOKED" }
})

/** Reports a deposit when free margin or cash are below `cash`, because a position with a loss binds money too. */
const bringCash = async (demo: TourDemo, client: string, cash: number, perform: Perform): Promise<void> => {
  const free = await amountIn(demo, `${client}/margin`, "freeMargin")
  const held = await cashOf(demo, client)
  const lack = micro(cash) - (free < held ? free : held)
  if (lack > 0n)
    await perform({ purpose: `First: the step needs ${cash} USDC.`, ...report(demo, client, "DEPOSIT", lack) })
}

const takeExcess = async (demo: TourDemo, client: string, cash: number, perform: Perform): Promise<void> => {
  const excess = (await cashOf(demo, client)) - micro(cash)
  if (excess > 0n)
    await perform({ purpose: `First: more than ${cash} USDC leaves.`, ...report(demo, client, "WITHDRAWAL", excess) })
}

/** Waits for the condition, at most `recoveryMillis`: after that the step fails with the reason that the service gives. */
const waitUntil = async (holds: () => Promise<boolean>): Promise<void> => {
  const until = Date.now() + recoveryMillis
  while (!(await holds()) && Date.now() < until) await pause(pollMillis)
}

interface Market {
  readonly symbol: string
  readonly mark: string | null
  readonly halted: boolean
  readonly haltedByUs: boolean
}

const marketsOf = async (demo: TourDemo, command: ReadonlyArray<string>): Promise<ReadonlyArray<Market>> =>
  ((await demo.command(command)).json as { readonly markets?: ReadonlyArray<Market> } | null)?.markets ?? []

/** False while the service has not received that the venue resumed the market; true also for a market that is really halted. */
const mayTrade = async (demo: TourDemo, market: string, markets: ReadonlyArray<Market>): Promise<boolean> => {
  const known = markets.find(({ symbol }) => symbol === market)
  if (known === undefined) return false
  if (known.haltedByUs || !known.halted) return true
  return (await marketsOf(demo, ["sim", "venue", "show"])).some(({ symbol, halted }) => symbol === market && halted)
}

const accountOf = async (demo: TourDemo): Promise<{ readonly riskState: string; readonly restrictions: string }> => {
  const { json } = await demo.command(["client", "show", String(demo.clientId)])
  return { riskState: memberOf(json, "riskState")[0] ?? "", restrictions: memberOf(json, "restrictions").join() }
}

/** The operator lifts these restrictions; the service itself lifts the one of a close-out. */
const liftRestrictions = async (
  demo: TourDemo,
  restrictions: ReadonlyArray<string>,
  perform: Perform
): Promise<void> => {
  const set = (await accountOf(demo)).restrictions
  for (const each of restrictions.filter((name) => set.includes(name)))
    await perform({
      purpose: `First: the client is restricted, and the operator lifts ${each}.`,
      command: `client lift ${demo.clientId} ${each} --reason tour`
    })
}

/** Cancels the open orders and closes the positions that an earlier step left. */
const flatten = async (demo: TourDemo, client: string, perform: Perform): Promise<void> => {
  const open = (await demo.request("GET", `${client}/orders/open`)).json
  for (const order of memberOf(open, "data.*.orderId"))
    await perform({ purpose: "First: an earlier order is cancelled.", path: `${client}/orders/${order}` }, "DELETE")
  const { json } = await demo.request("GET", `${client}/positions`)
  const positions = (json as { readonly positions?: ReadonlyArray<Position> } | null)?.positions ?? []
  for (const { symbol, netQty } of positions) {
    const side = netQty.startsWith("-") ? "BUY" : "SELL"
    const body = { symbol, side, type: "MARKET", qty: netQty.replace("-", ""), reduceOnly: true }
    await perform({
      purpose: "First: an earlier position is closed.",
      path: `${client}/orders`,
      body: JSON.stringify(body),
      shows: ["orderId", "state"],
      expects: { state: "FILLED" }
    })
  }
}

interface Position {
  readonly symbol: string
  readonly netQty: string
}
