/** Recorded risk states and close-out episodes (D23). */
import { liveCloseOutStates, unrepaidOf } from "../../machines/margin/CloseOut.ts"
import { type MachineRow, machineColumns, ofClient, onlyIn, table } from "./Table.ts"

export interface RiskMonitorRow extends MachineRow<"riskMonitor"> {
  readonly clientId: number
  readonly partnerId: number
}

export interface CloseOutRow extends MachineRow<"closeOut"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly startedAt: number
  readonly endedAt: number | null
  /** The unrepaid part of the write-off, micro-USDC. Zero on ended rows from before version 4 (F10). */
  readonly unrepaid: bigint
}

/** The last loss notice that a client received for its position in a market (A2-89). */
export interface LossNoticeRow {
  readonly clientId: number
  readonly symbol: string
  readonly partnerId: number
  /** UTC days since 1970. */
  readonly day: number
  /** The time at which the position was opened. */
  readonly openedAt: number
  /** Percent of the margin at entry: 10, 20 and so on. */
  readonly step: number
}

/** An episode stays in memory while it is live, and while its write-off may be repaid. */
const goesOn = onlyIn(...liveCloseOutStates)

export const marginTables = {
  /** One row for each client that has ever left NORMAL. */
  riskMonitors: table<RiskMonitorRow>()({
    title: "risk monitor",
    machine: "riskMonitor",
    key: ["clientId"],
    mode: "upsert",
    columns: { clientId: "id", partnerId: "id", ...machineColumns },
    residence: ofClient,
    open: null
  }),
  closeOuts: table<CloseOutRow>()({
    title: "close-out",
    machine: "closeOut",
    // Version 4 added repayments from funds that precede the write-off. Version 5 added steps, each further from the mark price.
    upcasters: [
      ({ state, context }) => ({ state, context: { orders: 0, lastOrderId: null, tried: {}, ...(context as object) } }),
      ({ state, context }) => ({ state, context: { ...(context as object), tried: {} } }),
      ({ state, context }) => ({
        state,
        context: { ...(context as object), behind: null, repaid: "0.000000", repayments: 0 }
      }),
      ({ state, context }) => ({ state, context: { ...(context as object), tried: {}, widenedBps: 0 } })
    ],
    mirrors: (context) => ({ endedAt: context.endedAt, unrepaid: unrepaidOf(context) }),
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      ...machineColumns,
      startedAt: "id",
      endedAt: "id?",
      unrepaid: "money"
    },
    check: ({ unrepaid }) => unrepaid >= 0n,
    residence: {
      ...ofClient,
      only: {
        sql: `(${goesOn.sql} OR unrepaid > 0)`,
        test: (row) => goesOn.test(row) || row.unrepaid > 0n
      }
    },
    open: null,
    id: ["closeOut", "usual"]
  }),
  lossNotices: table<LossNoticeRow>()({
    title: "loss notice",
    machine: null,
    key: ["clientId", "symbol"],
    mode: "upsert",
    columns: { clientId: "id", symbol: "text", partnerId: "id", day: "id", openedAt: "id", step: "id" },
    check: (row) => row.step > 0,
    residence: ofClient
  })
}
