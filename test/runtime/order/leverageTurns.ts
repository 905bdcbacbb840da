/** Accounts with perpetuals for tests of turns: positions and working orders as rows, and the market of one moment. */
import type { Facts } from "../../../src/machines/market/Facts.ts"
import type { OrderInput } from "../../../src/machines/order/Order.ts"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import { firstRow, nextRow } from "../../../src/runtime/effects/machineRow.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import type { ClosingMarkets } from "../../../src/runtime/services/margin/positionClosing.ts"
import { accept } from "../../../src/machines/shared/Refusal.ts"
import type { ClientRow } from "../../../src/runtime/tables/client.ts"
import type { OrderRow, PositionRow } from "../../../src/runtime/tables/order.ts"
import { contractsNow, factsWith, type MarkOf, micro } from "../../fixtures/contracts.ts"
import { market } from "../../support/ScriptedVenue.ts"
import { balance } from "../engine/fixtures.ts"
import { clients } from "../rfq/rfqTurns.ts"

export const perp = "BTC-USDC-PERP"
export const gold = "XAU-USDC-PERP"

const grids = { priceDecimals: 1, qtyDecimals: 4, priceTick: { decimals: 1, step: 1 }, bandBps: 1_000 }

/** Both markets are listed; one without a price has no mark. */
export const marketsAt = (marks: Readonly<Record<string, MarkOf>>): Facts => ({
  ...factsWith(marks),
  instruments: new Map([
    [perp, { symbol: perp, family: "PERP", assetClass: "crypto", ...grids }],
    [gold, { symbol: gold, family: "PERP", assetClass: "metal", ...grids }]
  ])
})

const listed = market(perp)

/** Each market is listed, trades and has quotes on both sides; at most 100 per order. */
export const allTrade: ClosingMarkets = {
  find: (symbol) => accept({ market: { ...listed, symbol }, family: "PERP", base: "BTC", quote: "USDC" }),
  quoted: () => ({ last: null, mark: null, index: null, bestBid: "1.0", bestAsk: "2.0" })
}

export interface Held {
  readonly symbol?: string
  /** The net quantity, negative for a short. */
  readonly netQty: string
  readonly avgEntry?: string
  readonly openedAt?: number
}

export interface PerpAccount {
  readonly cash: string
  readonly positions?: ReadonlyArray<Held>
  readonly orders?: ReadonlyArray<Partial<OrderInput>>
  readonly chosen?: Readonly<Record<string, number>>
  readonly client?: Partial<ClientRow>
}

export const positionRow = (
  id: number,
  { symbol = perp, netQty, avgEntry = "60000", openedAt = 5 }: Held
): PositionRow => ({
  id,
  partnerId: 1,
  clientId: 1,
  symbol,
  state: "OPEN",
  netQty,
  avgEntry,
  netCost: String(Number(netQty) * Number(avgEntry)),
  currency: "USDC",
  amount: 1n,
  realizedPnl: 0n,
  openedAt,
  updatedAt: 5
})

/** A working order in the venue's book. */
const orderRow = (id: number, input: Partial<OrderInput>): OrderRow => {
  const whole = { ...perpInput, ...input, orderId: id }
  const columns = {
    id,
    partnerId: 1,
    clientId: 1,
    symbol: whole.symbol,
    currency: "USDC",
    amount: 0n,
    parentOrderId: null,
    createdAt: 5
  }
  const { row } = firstRow("orders", whole, columns)
  const sent = nextRow("orders", row, { type: "SEND", at: 5 })?.row ?? row
  return nextRow("orders", sent, { type: "ACKED", at: 6, venueOrderId: id })?.row ?? sent
}

export const accountOf = ({ cash, positions = [], orders = [], chosen = {}, client = {} }: PerpAccount): SubjectState =>
  new SubjectState("client:1", {
    token: 1,
    rows: [
      { table: "clients", row: { ...clients, categorization: "RETAIL", ...client } },
      { table: "balances", row: balance(1, micro(cash)) },
      ...positions.map((held, at) => ({ table: "positions" as const, row: positionRow(at + 1, held) })),
      ...orders.map((input, at) => ({ table: "orders" as const, row: orderRow(at + 1, input) })),
      ...Object.entries(chosen).map(([symbol, leverage]) => ({
        table: "leverages" as const,
        row: { clientId: 1, symbol, partnerId: 1, leverage, updatedAt: 5 }
      }))
    ]
  })

let last = 1_000

export const turnAt = (state: SubjectState, facts: Facts): Turn => ({
  now: contractsNow,
  state,
  facts,
  draft: new CommitBuilder(),
  by: { role: "PARTNER", keyLabel: "t", requestId: "t", actor: "partner:ACM" },
  nextId: () => ++last
})

/** The account after the turn's commit. */
export const committed = ({ state, draft }: Turn): SubjectState => {
  if (!draft.isEmpty) state.adopt(draft.build({ subject: state.subject, expected: state.token }, null))
  return state
}
