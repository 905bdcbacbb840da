/** Open stamps of funding (F14): most stamps are never open, and have no row. */
import { ofClient, table } from "./Table.ts"

/**
 * A funding stamp of one client in one market that may still change. It is not priced yet, or not posted because the venue
 * counts another position, or posted on another quantity than the venue's. In the last case an earlier trade may still be
 * found.
 */
export interface OpenFundingRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly symbol: string
  /** Unix ms. */
  readonly settledAt: number
  /** Mark and rate are null until the venue has published them. */
  readonly mark: string | null
  readonly rate: string | null
  /** The position at the stamp's sequence, including every trade that was found since; signed. */
  readonly qty: string
  /** The position that the venue counts. */
  readonly venueQty: string
  readonly posted: boolean
  /** The stamp may still change: it is kept in memory. */
  readonly live: boolean
  readonly createdAt: number
}

export const fundingTables = {
  openFundings: table<OpenFundingRow>()({
    title: "open funding",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      symbol: "text",
      settledAt: "id",
      mark: "text?",
      rate: "text?",
      qty: "text",
      venueQty: "text",
      posted: "bool",
      live: "bool",
      createdAt: "id"
    },
    unique: [["clientId", "symbol", "settledAt"]],
    residence: { ...ofClient, only: { sql: "live", test: ({ live }) => live } },
    id: ["openFunding", "usual"]
  })
}
