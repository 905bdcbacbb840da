/** Statements that the service generates by itself: jobs with their cursors, failed clients, daily equities (STS-28, STS-29). */
import type { StatementJobName } from "../../machines/statement/statementJobs.ts"
import { ofSystem, table } from "./Table.ts"

/** A job and its period. */
export interface StatementJobRow {
  readonly id: number
  readonly name: StatementJobName
  /** The beginning of the period, Unix ms, inclusive. */
  readonly periodFrom: number
  /** The end of the period, Unix ms, exclusive; for equities the last midnight, inclusive. */
  readonly periodTo: number
  readonly dueAt: number
  /** The last processed client, by id: every client up to it is done or recorded as failed. */
  readonly cursor: number
  /** The number of processed clients, including those that failed at first. */
  readonly clients: number
  /** The number of statements or equities that the job generated. */
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
  /** Business time of the next retry, Unix ms. */
  readonly retryAt: number
  readonly reason: string
  readonly failedAt: number
}

/** Amounts that are not zero, by currency and kind, such as "USDC cash". */
export type HeldThen = { readonly [currencyAndKind: string]: string }

/** The equity of an account at 00:00 UTC, for accounts that held anything (STS-28). */
export interface DailyEquityRow {
  readonly day: number
  readonly clientId: number
  readonly partnerId: number
  /** The equity, micro-USDC. */
  readonly equity: bigint
  /** Positions and contracts without a mark price, which count nothing in the equity; null in rows older than this column. */
  readonly unvalued: number | null
  /** The holdings, by "USDC cash" and the like, in minor units; without zeros. Null in rows older than this column. */
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
