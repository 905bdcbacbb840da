/** Orders, their fills, and the derived rows: positions, lots of assets, chosen leverage (doc 2; D6; F11, F21). */
import { type OrderContext, workingStates } from "../../machines/order/Order.ts"
import type { Currency } from "../../machines/shared/Currency.ts"
import { type MachineRow, machineColumns, ofClient, onlyIn, table } from "./Table.ts"

export interface OrderRow extends MachineRow<"order"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly symbol: string
  readonly currency: string
  /** The reserved amount, in minor units of `currency`; zero on perpetuals, whose margin is computed (F6). */
  readonly amount: bigint
  readonly parentOrderId: number | null
  readonly createdAt: number
}

/** The protection of an order; it has the order's id (D7). */
export interface AttachmentRow extends MachineRow<"attachment"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly symbol: string
  /** True while the attachment may still act. It stays in memory until then. */
  readonly live: boolean
  /** Null unless a leg that the venue refused waits for its next attempt. */
  readonly unplacedSince: number | null
  readonly createdAt: number
}

/** A trade of an order, booked once: its identity is (order, tradeId) (A2-44). */
export interface FillRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly orderId: number
  /** The venue's trade id; both sides of a trade share it. */
  readonly tradeId: number
  readonly symbol: string
  readonly family: "PERP" | "SPOT"
  readonly side: "BUY" | "SELL"
  /** Decimal texts on the market's grids. */
  readonly price: string
  readonly qty: string
  /** For a perpetual, the part that closed a position; null if it closed none. */
  readonly closedQty: string | null
  /** The quote currency of notional, commission and result, in minor units. */
  readonly currency: string
  readonly notional: bigint
  /** The charge, positive. */
  readonly commission: bigint
  readonly realizedPnl: bigint
  /** The order's values at the time of the booking. */
  readonly orderType: OrderContext["type"]
  readonly origin: OrderContext["origin"]
  /** Business time at the venue. */
  readonly ts: number
  /** Business time of the booking, which dates it in statements (STS-19). */
  readonly bookedAt: number
}

/** The sum of a client's fills in a market (F11). For a spot market only the quantity, which is compared with the venue. */
export interface PositionRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly symbol: string
  readonly state: "OPEN" | "FLAT" | "SPOT"
  /** Signed decimal text. */
  readonly netQty: string
  /** Up to 18 places; zero while flat. */
  readonly avgEntry: string
  /** Signed. */
  readonly netCost: string
  readonly currency: string
  /** The absolute cost, from which the open amount of a partner is summed. */
  readonly amount: bigint
  /** Realized PnL of all fills of the position, before commission. */
  readonly realizedPnl: bigint
  /** The time at which the position was last opened or turned, Unix ms. */
  readonly openedAt: number
  /** The latest time of a trade or a booking, Unix ms. It never decreases, although an older trade may be booked last. */
  readonly updatedAt: number
}

/** The remaining part of an asset that was bought or deposited, first in first out (F21). */
export interface SpotLotRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly asset: Currency
  /** The remaining quantity, in minor units of the asset. */
  readonly qty: bigint
  /** The cost of the remaining quantity, micro-USDC. */
  readonly cost: bigint
  readonly commission: bigint
  readonly acquiredAt: number
}

/** The leverage that a client has chosen in a market (A2-50). */
export interface LeverageRow {
  readonly clientId: number
  readonly symbol: string
  readonly partnerId: number
  readonly leverage: number
  readonly updatedAt: number
}

/** An OCO group with a filled member: no order can join it any more. Its id is that of the first filled member (A2-93). */
export interface FiredGroupRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly symbol: string
  readonly name: string
  readonly firedAt: number
}

/** The context of an attachment of version 1. */
const attachmentOfOne = (context: unknown): object => {
  const { standing, ...rest } = context as { readonly standing: { readonly again: object | null } }
  const again = standing.again === null ? null : { orderId: 0, ...standing.again }
  return { ...rest, unplacedSince: null, standing: { ...standing, again, unplaced: [] } }
}

export const orderTables = {
  orders: table<OrderRow>()({
    title: "order",
    machine: "order",
    // Version 2 sends conditional orders with a bound. Earlier orders have no bound.
    upcasters: [({ state, context }) => ({ state, context: { boundBps: null, ...(context as object) } })],
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      ...machineColumns,
      symbol: "text",
      currency: "text",
      amount: "money",
      parentOrderId: "id?",
      createdAt: "id"
    },
    check: (row) => row.amount >= 0n,
    // The index is on `works`, which changes only when the order ends. So the steps of a working order do not update the index.
    residence: { ...ofClient, only: { ...onlyIn(...workingStates), sql: "works" } },
    open: {
      states: workingStates,
      ofClient: "Orders are working",
      ofPartner: "Orders are working",
      one: "order",
      clear: () => "DELETE .../orders/{orderId}",
      exposes: true
    },
    returns: null,
    id: ["order", "hot"],
    logged: true
  }),
  attachments: table<AttachmentRow>()({
    title: "attachment",
    machine: "attachment",
    // Version 2 retries refused legs.
    upcasters: [({ state, context }) => ({ state, context: attachmentOfOne(context) })],
    mirrors: ({ live, unplacedSince }) => ({ live, unplacedSince }),
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      ...machineColumns,
      symbol: "text",
      live: "bool",
      createdAt: "id",
      unplacedSince: "id?"
    },
    residence: { ...ofClient, only: { sql: "live", test: ({ live }) => live } },
    open: null
  }),
  fills: table<FillRow>()({
    title: "fill",
    machine: null,
    key: ["id"],
    mode: "insert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      orderId: "id",
      tradeId: "id",
      symbol: "text",
      family: "text",
      side: "text",
      price: "text",
      qty: "text",
      closedQty: "text?",
      currency: "text",
      notional: "money",
      commission: "money",
      realizedPnl: "money",
      orderType: "text",
      origin: "text",
      ts: "id",
      bookedAt: "id"
    },
    unique: [["orderId", "tradeId"]],
    id: ["fill", "hot"]
  }),
  positions: table<PositionRow>()({
    title: "position",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      symbol: "text",
      state: "text",
      netQty: "text",
      avgEntry: "text",
      netCost: "text",
      currency: "text",
      amount: "money",
      realizedPnl: "money",
      openedAt: "id",
      updatedAt: "id"
    },
    unique: [["clientId", "symbol"]],
    residence: ofClient,
    open: {
      states: ["OPEN"],
      ofClient: "Positions are open",
      ofPartner: "Positions are open",
      one: "position",
      clear: () => "POST .../orders with reduceOnly",
      exposes: true
    },
    id: ["position", "usual"]
  }),
  spotLots: table<SpotLotRow>()({
    title: "lot of an asset",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      asset: "text",
      qty: "money",
      cost: "money",
      commission: "money",
      acquiredAt: "id"
    },
    check: (row) => row.qty >= 0n && row.cost >= 0n && row.commission >= 0n,
    residence: { ...ofClient, only: { sql: "qty > 0", test: ({ qty }) => qty > 0n } },
    id: ["spotLot", "usual"]
  }),
  firedGroups: table<FiredGroupRow>()({
    title: "fired OCO group",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", partnerId: "id", clientId: "id", symbol: "text", name: "text", firedAt: "id" }
  }),
  leverages: table<LeverageRow>()({
    title: "leverage",
    machine: null,
    key: ["clientId", "symbol"],
    mode: "upsert",
    columns: { clientId: "id", symbol: "text", partnerId: "id", leverage: "id", updatedAt: "id" },
    check: (row) => row.leverage >= 1,
    residence: ofClient
  })
}
