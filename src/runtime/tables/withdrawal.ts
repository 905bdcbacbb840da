/** Withdrawal requests (doc 3, Withdrawal request; D10). */
import { openWithdrawalStatuses } from "../../machines/withdrawal/WithdrawalRequest.ts"
import { type MachineRow, machineColumns, ofClient, onlyIn, table } from "./Table.ts"

export interface WithdrawalRow extends MachineRow<"withdrawalRequest"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly currency: string
  /** Minor units, more than zero. */
  readonly amount: bigint
  /** The bank destination, as JSON text with the partner's digits: personal data, so it is sealed and in no machine's context. */
  readonly destination: string | null
  readonly createdAt: number
  /** The time of the payment; null before (A3-41: reports sum by it). */
  readonly paidAt: number | null
}

export const withdrawalTables = {
  withdrawalRequests: table<WithdrawalRow>()({
    title: "withdrawal request",
    machine: "withdrawalRequest",
    // Version 2 added a fingerprint of the destination; requests of version 1 have none.
    upcasters: [({ state, context }) => ({ state, context: { destinationFingerprint: null, ...(context as object) } })],
    mirrors: ({ paidAt }) => ({ paidAt }),
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      shard: "id",
      ...machineColumns,
      currency: "text",
      amount: "money",
      destination: "sealedText?",
      createdAt: "id",
      paidAt: "id?"
    },
    check: (row) => row.amount > 0n,
    residence: { ...ofClient, only: onlyIn(...openWithdrawalStatuses) },
    open: {
      states: openWithdrawalStatuses,
      ofClient: "Withdrawal requests are not decided and paid",
      ofPartner: "Withdrawal requests are open",
      one: "request",
      clear: (state) =>
        state === "REQUESTED"
          ? "withdrawal approve ID, or withdrawal reject ID"
          : "withdrawal pay ID, or withdrawal fail ID"
    },
    reference: "withdrawal",
    // The money of an approved request may return until it is paid: the bank may still refuse it.
    returns: ({ state, currency, amount }) => (state === "APPROVED" ? { currency, amount } : null),
    id: ["withdrawal", "usual"]
  })
}
