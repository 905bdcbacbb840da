/** Knock-out contracts (doc 2; D5). */
import type { ContractContext } from "../../machines/contract/Contract.ts"
import { usdcMinor } from "../../machines/shared/Money.ts"
import { type MachineRow, machineColumns, ofClient, onlyIn, table } from "./Table.ts"

export interface ContractRow extends MachineRow<"barrierContract"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly rfqId: number
  readonly symbol: string
  readonly currency: string
  /** The premium, micro-USDC: the most that the client can lose. */
  readonly amount: bigint
  readonly commission: bigint
  readonly openedAt: number
  readonly closedAt: number | null
  /** The result, micro-USDC, negative for a loss; null while the contract is open. */
  readonly pnl: bigint | null
}

const withTearUp = (context: ContractContext): ContractContext => ({
  ...context,
  isTearUpLost: context.tearUps > 0 && !context.tearing
})

export const contractTables = {
  barrierContracts: table<ContractRow>()({
    title: "knock-out contract",
    machine: "barrierContract",
    // Version 1 did not record whether the venue received a tear-up. A tear-up of such a row counts as not received, so the
    // checks expect that the venue may still execute it.
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
      clear: () => "POST .../barriers/{contractId}/close, or wait until it ends",
      exposes: true
    },
    returns: null,
    id: ["barrierContract", "usual"],
    logged: true
  })
}
