/** Deposit notices (doc 3, Deposit notice; D9). */
import { type MachineRow, machineColumns, ofClient, onlyIn, table } from "./Table.ts"

export interface DepositNoticeRow extends MachineRow<"depositNotice"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly shard: number
  readonly currency: string
  /** Minor units; more than zero. */
  readonly amount: bigint
  readonly createdAt: number
  /** Null while PENDING. */
  readonly decidedAt: number | null
}

export const depositTables = {
  depositNotices: table<DepositNoticeRow>()({
    title: "deposit notice",
    machine: "depositNotice",
    mirrors: ({ decidedAt }) => ({ decidedAt }),
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
      createdAt: "id",
      decidedAt: "id?"
    },
    check: (row) => row.amount > 0n,
    residence: { ...ofClient, only: onlyIn("PENDING") },
    open: {
      states: ["PENDING"],
      ofClient: "Deposit notices are not decided",
      ofPartner: "Deposit notices are not decided",
      one: "notice",
      clear: () => "deposit confirm ID, or deposit reject ID"
    },
    // A deposit becomes cash only when it is confirmed.
    returns: null,
    reference: "deposit",
    id: ["deposit", "usual"]
  })
}
