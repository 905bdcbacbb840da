/** Requests for quotes (doc 2; D4). */
import { openRfqStates } from "../../machines/rfq/Rfq.ts"
import { type MachineRow, machineColumns, ofClient, onlyIn, table } from "./Table.ts"

export interface RfqRow extends MachineRow<"rfq"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly symbol: string
  readonly currency: string
  /** The estimated maximum cost; zero for a request to close. */
  readonly amount: bigint
  readonly createdAt: number
  /** The contract that the request closes; null for a request to open one. */
  readonly closeContractId: number | null
  /** True if the venue may still have the request open, whatever its state here. Such a request stays in memory. */
  readonly venueOpen: boolean
}

const live = onlyIn(...openRfqStates)

export const rfqTables = {
  rfqs: table<RfqRow>()({
    title: "request for quotes",
    machine: "rfq",
    // Version 2 accepts NOT_WITHDRAWN while the request is open. Rows are unchanged.
    upcasters: [(row) => row],
    mirrors: ({ venueOpen }) => ({ venueOpen }),
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
      createdAt: "id",
      closeContractId: "id?",
      venueOpen: "bool"
    },
    check: (row) => row.amount >= 0n,
    residence: {
      ...ofClient,
      only: { sql: `(${live.sql} OR venue_open)`, test: (row) => live.test(row) || row.venueOpen }
    },
    open: {
      states: openRfqStates,
      ofClient: "Requests for quotes are open",
      ofPartner: "Requests for quotes are open",
      one: "request",
      clear: () => "POST .../rfq/{rfqId}/cancel, or wait until its window is over",
      exposes: true
    },
    returns: null,
    id: ["rfq", "usual"],
    logged: true
  })
}
