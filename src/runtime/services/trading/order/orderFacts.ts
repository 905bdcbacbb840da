/**
 * Gathers the inputs for the gates of an order from a client's state, in a turn or outside one. Preview, explain and placing
 * share it, so their results agree (A2-91, F13, F20).
 */
import { type AccountRisk, leverageCap } from "../../../../machines/margin/accountRisk.ts"
import type { PerpTerms } from "../../../../machines/margin/perpetual.ts"
import type { PerpHolding } from "../../../../machines/margin/perpRisk.ts"
import { gridsOf } from "../../../../machines/market/marketGrid.ts"
import type { OrderFacts } from "../../../../machines/order/orderGates.ts"
import type { RequestedOrder, OrderMarket } from "../../../../machines/order/orderOnMarket.ts"
import type { PreviewFigures } from "../../../../machines/order/OrderWire.ts"
import { type PreTrade, preTrade } from "../../../../machines/order/preTrade.ts"
import { spotPreTrade } from "../../../../machines/order/spotPreTrade.ts"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import type { Refusal } from "../../../../machines/shared/Refusal.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { OrderRow, PositionRow } from "../../../tables/order.ts"
import { type ClientMoment, momentAt, momentInTurn, type MomentOf } from "../../account/clientMoment.ts"
import { type Chosen, chosenIn, chosenInTurn, leverageTermsOf, perpTermsOf } from "../../account/perpHoldings.ts"
import { blockStatuses, clientContext } from "../../account/clientState.ts"
import { ordersIn, ordersInTurn, positionsInTurn } from "./orderDecisions.ts"
import { reducingBpsOf } from "./orderBounds.ts"
import type { OrderMarkets } from "./orderMarkets.ts"

/** A client at one moment, with the rows that the gates of its orders need. */
export interface ClientNow extends ClientMoment {
  readonly orders: ReadonlyArray<OrderRow>
  readonly positions: ReadonlyArray<PositionRow>
  readonly chosen: Chosen
}

export const clientInTurn = (turn: Turn, of: MomentOf): ClientNow => ({
  ...momentInTurn(turn, of),
  orders: ordersInTurn(turn),
  positions: positionsInTurn(turn),
  chosen: chosenInTurn(turn)
})

/** The client's committed state. */
export const clientAt = (...[state, facts, of]: Parameters<typeof momentAt>): ClientNow => ({
  ...momentAt(state, facts, of),
  orders: ordersIn(state),
  positions: state.all("positions"),
  chosen: chosenIn(state)
})

/** An order whose fields are valid, in its market. */
export interface OrderOnMarket {
  readonly order: RequestedOrder
  readonly market: OrderMarket
  /** The refusal of values off the market's grids. The gates return it at its place in their sequence. */
  readonly grid: Refusal | null
}

export interface Judged {
  readonly facts: OrderFacts
  readonly figures: PreTrade
}

/**
 * The gate inputs of an order. `previews`: uses the leverage of the request. `fired`: a member of its OCO group has already been
 * filled.
 */
export const judgedOrder = (
  at: ClientNow,
  requested: OrderOnMarket,
  markets: OrderMarkets,
  { previews, fired }: { readonly previews: boolean; readonly fired: boolean }
): Judged => {
  const { order, market, grid } = requested
  const { client, state, account, facts } = at
  const { risk, recorded } = account
  const quoted = markets.quoted(order.symbol)
  const figures = figuresOf(at, requested, markets, previews)
  const mark = facts.marks.get(order.symbol) ?? null
  return {
    figures,
    facts: {
      now: at.now,
      order,
      market: market.market,
      prices: quoted,
      netQty: at.positions.find(({ symbol, state: held }) => symbol === order.symbol && held === "OPEN")?.netQty ?? "0",
      preTrade: figures,
      client: {
        lifecycle: client.state,
        level: client.level,
        restrictions: clientContext(client).restrictions,
        blocks: blockStatuses(state)
      },
      partnerState: at.partnerState,
      leverage: leverageOf(at, order),
      risk: { riskState: risk.riskState, recorded },
      venueConnected: markets.connected(),
      halt: markets.haltOf(market.market),
      marks: { market: mark, allUsedFresh: risk.marksFresh },
      grid,
      group: groupOf(at, order, fired),
      workingOrders: at.orders.length
    }
  }
}

const leverageOf = (at: ClientNow, { family, symbol, leverage: sent }: RequestedOrder): OrderFacts["leverage"] => {
  if (family === "SPOT") return null
  const { leverage: inForce } = perpTermsOf(symbol, at.client, at.chosen, at.facts)
  return { sent, inForce, cap: leverageCap(leverageTermsOf(symbol, at.client, at.facts)) }
}

const groupOf = ({ orders }: ClientNow, { symbol, ocoGroup }: RequestedOrder, fired: boolean): OrderFacts["group"] => {
  if (ocoGroup === null) return null
  const members = orders.filter((row) => row.symbol === symbol && row.context.ocoGroup === ocoGroup)
  return { members: members.length, fired: fired || members.some(({ context }) => context.lastTradeId > 0) }
}

const figuresOf = (
  at: ClientNow,
  { order, market }: OrderOnMarket,
  markets: OrderMarkets,
  previews: boolean
): PreTrade => {
  const { account, facts } = at
  const { terms } = markets
  const { bestBid, bestAsk } = markets.quoted(order.symbol)
  const { price: tick } = gridsOf(market.market)
  if (tick === null) throw new Error(`${order.symbol} is listed without a grid`)
  if (order.family === "SPOT") {
    return spotPreTrade({
      order,
      base: order.base as Currency,
      quote: order.quote,
      cashOf: account.cashOf,
      risk: account.risk,
      recorded: account.recorded,
      mark: facts.marks.get(order.symbol) ?? null,
      bestBid,
      bestAsk,
      commissionBps: terms.commissionBps.SPOT,
      slippageBps: terms.slippageBps,
      bandBps: market.market.bandBps,
      tick
    })
  }
  const inForce = perpTermsOf(order.symbol, at.client, at.chosen, facts)
  const cap = leverageCap(leverageTermsOf(order.symbol, at.client, facts))
  const leverage = previews && order.leverage !== null ? Math.min(order.leverage, cap) : inForce.leverage
  return preTrade({
    order,
    risk: account.risk,
    holding: holdingAt(account.risk, order.symbol, { ...inForce, leverage }),
    facts,
    bestOpposite: order.side === "BUY" ? bestAsk : bestBid,
    reducingBps: reducingBpsOf({ ...at, episode: at.state.one("closeOuts") }, order.symbol),
    bandBps: market.market.bandBps,
    commissionBps: terms.commissionBps.PERP,
    tick
  })
}

/**
 * The account's holding in a market. It is computed again if the order is checked at a leverage other than the one in
 * force.
 */
const holdingAt = ({ perps }: AccountRisk, symbol: string, terms: PerpTerms): PerpHolding => {
  const held = perps.find(({ holding }) => holding.symbol === symbol)?.holding
  if (held === undefined) return { symbol, position: null, orders: [], terms }
  return held.terms.leverage === terms.leverage ? held : { ...held, terms }
}

/** The figures of an order in the form of a preview. */
export const previewFigures = (figures: PreTrade): PreviewFigures => {
  const inCurrency = (minor: bigint | null): string | null =>
    minor === null ? null : formatAmount(minor, figures.currency)
  const usdc = (minor: bigint | null): string | null => (minor === null ? null : formatAmount(minor, "USDC"))
  return {
    reservation: figures.reservation === null ? null : formatAmount(figures.reservation, figures.reservationCurrency),
    orderValue: inCurrency(figures.orderValue),
    marginRequired: usdc(figures.marginRequired),
    leverage: figures.leverage,
    freeMarginBefore: usdc(figures.freeMarginBefore),
    freeMarginAfter: usdc(figures.freeMarginAfter),
    marginLevelAfter: figures.marginLevelAfter,
    estLiquidationPrice: figures.estLiquidationPrice,
    equityBefore: usdc(figures.equityBefore),
    initialMarginBefore: usdc(figures.initialMarginBefore),
    initialMarginAfter: usdc(figures.initialMarginAfter),
    estimatedCommission: inCurrency(figures.estimatedCommission),
    slippageAllowance: inCurrency(figures.slippageAllowance),
    estimatedCosts: inCurrency(figures.estimatedCosts)
  }
}
