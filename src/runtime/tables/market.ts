/**
 * The service's own trading halts (A2-11), the last mark prices for the valuation of holdings and deposits (F23, F25), and the
 * last listing.
 */
import type { VenueListing } from "../../machines/venue/VenueMarket.ts"
import { type MachineRow, machineColumns, ofSystem, onlyIn, table } from "./Table.ts"

export interface TradingHaltRow extends MachineRow<"tradingHalt"> {
  readonly id: number
  /** The covered markets: ALL, a family, or a symbol. */
  readonly scope: string
  readonly startedAt: number
}

/** The last kept mark price of a SPOT market. */
export interface LastMarkRow {
  readonly symbol: string
  /** Decimal string, on the market's grid. */
  readonly price: string
  /** The venue's time of the mark price, Unix ms. */
  readonly at: number
}

/** The single row of the last accepted listing (A2-114). */
export interface LastListingRow {
  readonly id: number
  readonly listing: VenueListing
}

/** The last mark price of a market at or before 00:00 UTC of a day (STS-28). */
export interface DailyMarkRow {
  /** 00:00 UTC of the day, Unix ms. */
  readonly day: number
  readonly symbol: string
  readonly price: string
  /** The venue's time of the mark price, Unix ms. */
  readonly at: number
}

export const marketTables = {
  tradingHalts: table<TradingHaltRow>()({
    title: "trading halt",
    machine: "tradingHalt",
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", ...machineColumns, scope: "text", startedAt: "id" },
    residence: { ...ofSystem, only: onlyIn("ACTIVE") },
    id: ["tradingHalt", "rare"]
  }),
  lastMarks: table<LastMarkRow>()({
    title: "last mark",
    machine: null,
    key: ["symbol"],
    mode: "upsert",
    columns: { symbol: "text", price: "text", at: "id" }
  }),
  lastListings: table<LastListingRow>()({
    title: "last listing",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", listing: "json" }
  }),
  dailyMarks: table<DailyMarkRow>()({
    title: "mark of a day",
    machine: null,
    key: ["day", "symbol"],
    mode: "upsert",
    columns: { day: "id", symbol: "text", price: "text", at: "id" }
  })
}
