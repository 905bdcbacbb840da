/** The messages between the benchmark of orders, its load generator, its reference services and plain SQL. */
import type { Slice, SliceResult } from "../load/protocol.ts"
import type { ServerKeys } from "../reference/partnerServer.ts"
import type { Style } from "../reference/protocol.ts"
import type { VenueAddress } from "../reference/VenueSide.ts"

/** An order as it is requested. */
export interface AskedLimit {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly price: string
}

/** A working order with its client. */
export type WorkingOrder = readonly [clientId: number, orderId: number]

interface Window extends Pick<Slice, "port" | "ca" | "partnerKey" | "connections" | "millis"> {}

/** `place`: places orders, client by client in turn, until the window is over or `count` orders are placed. */
export interface PlaceSlice extends Window {
  readonly kind: "place"
  readonly clientIds: ReadonlyArray<number>
  readonly order: AskedLimit
  readonly count: number | null
}

/** `cancel`: cancels each of the orders once, whatever the duration. */
export interface CancelSlice extends Window {
  readonly kind: "cancel"
  readonly orders: ReadonlyArray<WorkingOrder>
}

/** Previews of one order, or reads of the margin, client by client in turn. */
export interface FigureSlice extends Window {
  readonly kind: "preview" | "margin"
  readonly clientIds: ReadonlyArray<number>
  readonly order: AskedLimit
}

/** Reads the largest page of orders, one client after the other. */
export interface ListSlice extends Window {
  readonly kind: "list"
  readonly clientIds: ReadonlyArray<number>
}

export type OrderSlice = PlaceSlice | CancelSlice | FigureSlice | ListSlice

/** `lastText`: the body of the last answer. */
export type OrderResult = SliceResult & { readonly lastText: string }

/** A reference service that places and cancels orders at the venue. */
export interface OrderServerQuestion extends ServerKeys, VenueAddress {
  readonly style: Style
  readonly databaseUrl: string
}

/** Books one trade for each working order of a database at `price`. */
export interface PlainFillQuestion {
  readonly databaseUrl: string
  readonly concurrency: number
  readonly price: string
  readonly custody: "BROKER" | "PARTNER"
}

export interface PlainFillResult {
  readonly booked: number
  readonly millis: number
}
