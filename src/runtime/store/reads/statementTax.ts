/** Postings for tax statements (STS-26). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { texts } from "../arrays.ts"
import { type IdRange, postingsOfTypes, type StatementPosting } from "./statementReads.ts"

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

/** Types that move an asset in or out of the account; a reserve stays in it. */
const moving = texts([
  "DEPOSIT",
  "WITHDRAWAL",
  "PARTNER_COLLATERAL_IN",
  "PARTNER_COLLATERAL_OUT",
  "COMMISSION",
  "MANUAL",
  "SPOT_SETTLE",
  "SWAP_PRINCIPAL",
  "SWAP_SETTLE",
  "SWAP_FEE_ADJUST"
])

/** Postings of a range that moved an asset in or out, with both legs and the commission of spot trades, in their order. */
export const assetPostings = (
  sql: PgClient.PgClient,
  clientId: number,
  stretch: IdRange
): Reading<ReadonlyArray<StatementPosting>> =>
  Effect.map(postingsOfTypes(sql, clientId, moving, stretch), (postings) =>
    postings.filter(({ currency, type }) => currency !== "USDC" || type === "SPOT_SETTLE" || type === "COMMISSION")
  )
