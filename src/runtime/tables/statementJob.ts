/** Statements that the service makes by itself: jobs with their cursors, clients that failed, daily equities (STS-28, STS-29). */
import type { StatementJobName } from "../../machines/statement/statementJobs.ts"
import { ofSystem, table } from "./Table.ts"

/** A job and its period. */
export interface StatementJobRow {
  readonly id: number
  readonly name: StatementJobName
  /** Unix ms, inclusive. */
  readonly periodFrom: number
  /** Unix ms, exclusive; of equities the last midnight, inclusive. */
  readonly periodTo: number
  readonly dueAt: number
  /** The last client that was dealt with, by id: everything up to it is done or written down as failed. */
  readonly cursor: number
  /** Clients that were dealt with, those that failed at first too. */
  readonly clients: number
  /** Statements, or equities, that it made. */
  readonly made: number
  readonly startedAt: number
  readonly endedAt: number | null
}

/** A client whose part of a job failed. */
export interface StatementJobFailureRow {
  readonly id: number
  readonly jobId: number
  readonly partnerId: number
  readonly clientId: number
  readonly state: "OPEN" | "SOLVED"
  readonly tries: number
  /** Business time, Unix ms. */
  readonly retryAt: number
  readonly reason: string
  readonly failedAt: number
}

/** Amounts that are not zero, by currency and kind, such as "USDC cash". */
export type HeldThen = { readonly [currencyAndKind: string]: string }

/** What an account was worth at 00:00 UTC (STS-28); of one that held anything. */
export interface DailyEquityRow {
  readonly day: number
  readonly clientId: number
  readonly partnerId: number
  /** Micro-USDC. */
  readonly equity: bigint
  /** Positions and contracts that had no mark and count nothing in it; null: kept before they were counted. */
  readonly unvalued: number | null
  /** What was held, by "USDC cash" and the like, minor units; what is zero is not named. Null as above. */
  readonly held: HeldThen | null
}

export const statementJobTables = {
  statementJobs: table<StatementJobRow>()({
    title: "statement job",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      name: "text",
      periodFrom: "id",
      periodTo: "id",
      dueAt: "id",
      cursor: "id",
      clients: "id",
      made: "id",
      startedAt: "id",
      endedAt: "id?"
    },
    residence: { ...ofSystem, only: { sql: "ended_at IS NULL", test: ({ endedAt }) => endedAt === null } },
    unique: [["name", "periodFrom", "periodTo"]],
    id: ["statementJob", "usual"]
  }),
  statementJobFailures: table<StatementJobFailureRow>()({
    title: "failure of a statement job",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      jobId: "id",
      partnerId: "id",
      clientId: "id",
      state: "text",
      tries: "id",
      retryAt: "id",
      reason: "text",
      failedAt: "id"
    },
    unique: [["jobId", "clientId"]],
    id: ["statementJobFailure", "usual"]
  }),
  dailyEquities: table<DailyEquityRow>()({
    title: "equity of a day",
    machine: null,
    key: ["day", "clientId"],
    mode: "upsert",
    columns: { day: "id", clientId: "id", partnerId: "id", equity: "money", unvalued: "id?", held: "json?" }
  })
}
