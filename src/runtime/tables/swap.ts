/** Staking swaps (doc 2, Staking; D8). */
import { liveSwapStates, progressOfSwap, type SwapContext, termsOfSwap } from "../../machines/swap/Swap.ts"
import { outstandingOf } from "../../machines/swap/swapFigures.ts"
import { minorOf } from "../../machines/shared/Money.ts"
import { type MachineRow, machineColumns, ofClient, table } from "./Table.ts"

/** A staking swap. All amounts are in minor units of `currency`, the market's asset. */
export interface SwapRow extends MachineRow<"swap"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly symbol: string
  readonly currency: string
  /** The amount lent in the swap. */
  readonly amount: bigint
  readonly reward: bigint
  /** The venue's taker fee: first the estimate, then the actual fee. */
  readonly fee: bigint
  readonly paid: bigint
  readonly writtenOff: bigint
  /** The commission that the service has charged on rewards so far. */
  readonly commission: bigint
  /** The venue's id of the contract; null until the take is known. */
  readonly contractId: number | null
  readonly openedAt: number | null
  readonly maturityAt: number | null
  /** The time at which the swap was completely paid, settled or written off; null before. */
  readonly closedAt: number | null
  readonly createdAt: number
}

/** SQL of a swap that is not closed. A default counts as closed once it is completely written off (STS-6). */
const stands = "closed_at IS NULL"

/** The context of a swap with its write-offs, from a context of any earlier version. */
export const withWriteOffs = (context: Omit<SwapContext, "writeOffs">): SwapContext => {
  if ("writeOffs" in context) return context as SwapContext
  const { writtenOff: amount, closedTs, ts, paid, asset } = context
  const writeOffs = minorOf(amount, asset) === 0n ? [] : [{ amount, at: closedTs ?? ts, paid }]
  return { ...context, writeOffs }
}

export const swapTables = {
  swaps: table<SwapRow>()({
    title: "staking swap",
    machine: "swap",
    // Version 2 keeps each write-off; of earlier write-offs only the sum and the time of the last change are known.
    upcasters: [({ state, context }) => ({ state, context: withWriteOffs(context as Omit<SwapContext, "writeOffs">) })],
    mirrors: (context) => ({
      amount: minorOf(context.notional, context.asset),
      reward: minorOf(context.reward, context.asset),
      fee: minorOf(context.fee, context.asset),
      paid: minorOf(context.paid, context.asset),
      writtenOff: minorOf(context.writtenOff, context.asset),
      commission: minorOf(context.commission, context.asset),
      contractId: context.contractId,
      openedAt: context.openedTs,
      maturityAt: context.maturityTs,
      closedAt: context.closedTs
    }),
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
      reward: "money",
      fee: "money",
      paid: "money",
      writtenOff: "money",
      commission: "money",
      contractId: "id?",
      openedAt: "id?",
      maturityAt: "id?",
      closedAt: "id?",
      createdAt: "id"
    },
    check: (row) =>
      row.amount >= 0n &&
      row.reward >= 0n &&
      row.fee >= 0n &&
      row.paid >= 0n &&
      row.writtenOff >= 0n &&
      row.commission >= 0n,
    residence: {
      ...ofClient,
      only: {
        sql: `(state IN (${liveSwapStates.map((state) => `'${state}'`).join(", ")}) AND ${stands})`,
        test: ({ state, closedAt }) => (liveSwapStates as ReadonlyArray<string>).includes(state) && closedAt === null
      }
    },
    open: {
      states: liveSwapStates,
      only: stands,
      ofClient: "Staking swaps are open",
      ofPartner: "Staking swaps are open",
      one: "swap",
      clear: (state) =>
        state === "DEFAULTED" ? "brokerage swap writeoff ID, or wait until it is paid" : "wait until it is paid",
      exposes: true,
      atVenue: "open swaps"
    },
    // For a take without an answer, only the reward counts: its notional is still in the reserve, which is counted
    // separately.
    returns: ({ state, currency, reward, context }) => {
      if (state === "ACCEPTING") return { currency, amount: reward }
      if (state !== "OPEN" && state !== "DEFAULTED") return null
      return { currency, amount: outstandingOf(termsOfSwap(context), progressOfSwap(context)) }
    },
    id: ["swap", "usual"],
    logged: true
  })
}
