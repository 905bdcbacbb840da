/** Knock-out contracts for statements: by their ids, and those open at a moment (STS-19, STS-25, STS-27). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { ContractContext } from "../../../machines/contract/Contract.ts"
import { int8s } from "../arrays.ts"
import type { IdRange } from "./statementReads.ts"

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

interface VenueTimes {
  readonly openedAt: number
  readonly closedAt: number | null
}

/** The times at which the venue opened and ended the contracts with these ids. */
export const contractTimes = (
  sql: PgClient.PgClient,
  ids: ReadonlyArray<number>
): Reading<ReadonlyMap<number, VenueTimes>> =>
  Effect.map(
    sql.unsafe<{ readonly id: bigint; readonly opened_at: bigint; readonly closed_at: bigint | null }>(
      "SELECT id, opened_at, closed_at FROM barrier_contracts WHERE id = ANY ($1)",
      [int8s(ids)]
    ),
    (rows) =>
      new Map(
        rows.map(({ id, opened_at, closed_at }) => [
          Number(id),
          { openedAt: Number(opened_at), closedAt: closed_at === null ? null : Number(closed_at) }
        ])
      )
  )

/** A contract, and the mark price that was shown to its client with the quote. */
export interface StatementContract {
  readonly id: number
  readonly context: ContractContext
  readonly markAtRequest: string | null
}

interface RawContract {
  readonly id: bigint
  readonly context: ContractContext
  readonly mark: string | null
}

const contractColumns = "c.id, c.context, r.context->>'markAtRequest' AS mark"
const stated = (rows: ReadonlyArray<RawContract>): ReadonlyArray<StatementContract> =>
  rows.map(({ id, context, mark }) => ({ id: Number(id), context, markAtRequest: mark }))

export const contractsByIds = (
  sql: PgClient.PgClient,
  ids: ReadonlyArray<number>
): Reading<ReadonlyArray<StatementContract>> =>
  Effect.map(
    sql.unsafe<RawContract>(
      `SELECT ${contractColumns} FROM barrier_contracts c LEFT JOIN rfqs r ON r.id = c.rfq_id WHERE c.id = ANY ($1)`,
      [int8s(ids)]
    ),
    stated
  )

/** A client's contracts in the order of their ids, at most `limit`. */
export const contractsOf = (
  sql: PgClient.PgClient,
  clientId: number,
  { after, to }: IdRange,
  limit: number
): Reading<ReadonlyArray<StatementContract>> =>
  Effect.map(
    sql.unsafe<RawContract>(
      `SELECT ${contractColumns} FROM barrier_contracts c LEFT JOIN rfqs r ON r.id = c.rfq_id
        WHERE c.client_id = $1 AND c.id > $2 AND c.id <= $3 ORDER BY c.id LIMIT $4`,
      [BigInt(clientId), BigInt(after), BigInt(to), BigInt(limit)]
    ),
    stated
  )
