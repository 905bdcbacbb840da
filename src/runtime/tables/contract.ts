/** Requests for quotes and knock-out contracts (doc 2; D4, D5). */
import type { ContractContext } from "../../machines/contract/Contract.ts"
import { openRfqStates } from "../../machines/rfq/Rfq.ts"
import { usdcMinor } from "../../machines/shared/Money.ts"
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

export interface ContractRow extends MachineRow<"barrierContract"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly rfqId: number
  readonly symbol: string
  readonly currency: string
  /** The premium, which is the maximum loss. */
  readonly amount: bigint
  readonly commission: bigint
  readonly openedAt: number
  readonly closedAt: number | null
  /** The result, negative for a loss; null while the contract is open. */
  readonly pnl: bigint | null
}

const withTearUp = (context: ContractContext): ContractContext => ({
  ...context,
  isTearUpLost: context.tearUps > 0 && !context.tearing
})

const live = onlyIn(...openRfqStates)

export const contractTables = {
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
      clear: () => "POST .../rfq/{rfqId}/cancel, or wait until its window is over"
    },
    returns: null,
    id: ["rfq", "usual"]
  }),
  barrierContracts: table<ContractRow>()({
    title: "knock-out contract",
    machine: "barrierContract",
    // Version 1 did not record whether the venue received a tear-up.
    upcasters: [({ state, context }) => ({ state, context: withTearUp(context as ContractContext) })],
    mirrors: ({ closedAt, pnl }) => ({ closedAt, pnl: pnl === null ? null : usdcMinor(pnl) }),
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      ...machineColumns,
      rfqId: "id",
      symbol: "text",
      currency: "text",
      amount: "money",
      commission: "money",
      openedAt: "id",
      closedAt: "id?",
      pnl: "money?"
    },
    check: (row) => row.amount >= 0n && row.commission >= 0n,
    residence: { ...ofClient, only: onlyIn("OPEN") },
    open: {
      states: ["OPEN"],
      ofClient: "Knock-out contracts are open",
      ofPartner: "Knock-out contracts are open",
      one: "contract",
      clear: () => "POST .../barriers/{contractId}/close, or wait until it ends"
    },
    returns: null,
    id: ["barrierContract", "usual"]
  })
}
