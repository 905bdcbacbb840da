/** Levels of open knock-out contracts, which build the index at start: very many rows of a few figures each. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Level } from "../../../machines/contract/Contract.ts"

/** An open contract. Prices are decimal texts. */
export interface OpenLevels {
  readonly contractId: number
  readonly clientId: number
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly barrier: string
  readonly takeProfit: string | null
  /** Levels with a stored near notice that have not been re-armed since. */
  readonly notified: ReadonlyArray<Level>
}

/** The end of a page: the next page begins after it. */
export interface LevelsCursor {
  readonly clientId: number
  readonly contractId: number
}

/** The default number of contracts of one page. */
const usualPage = 25_000

/**
 * Common columns are grouped, and every other column is one joined text: separate rows for a hundred thousand contracts would
 * cost both sides more than the figures. No figure contains a comma.
 */
const pageText = `SELECT symbol, side, said AS notified,
    string_agg(id::text, ',') AS ids, string_agg(client_id::text, ',') AS clients,
    string_agg(barrier, ',') AS barriers, string_agg(COALESCE("takeProfit", ''), ',') AS take_profits
  FROM (SELECT id, client_id, symbol, context FROM barrier_contracts
         WHERE state = 'OPEN' AND client_id >= $1 AND (client_id, id) > ($1, $2) ORDER BY client_id, id LIMIT $3) AS page,
       json_to_record(context) AS terms(side text, barrier text, "takeProfit" text, said text)
 GROUP BY symbol, side, said`

interface Group {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly notified: string
  readonly ids: string
  readonly clients: string
  readonly barriers: string
  readonly take_profits: string
}

/** Passes the open contracts of a page to `take`, in no order. Returns the end of the page; null on the last one. */
export const readLevels = (
  sql: PgClient.PgClient,
  after: LevelsCursor,
  take: (contract: OpenLevels) => void,
  length = usualPage
): Effect.Effect<LevelsCursor | null, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<Group>(pageText, [BigInt(after.clientId), BigInt(after.contractId), BigInt(length)]),
    (groups) => {
      let last = after
      let count = 0
      for (const group of groups) {
        eachOf(group, (contract) => {
          take(contract)
          count++
          if (isBehind(contract, last)) last = contract
        })
      }
      return count < length ? null : last
    }
  )

const isBehind = (one: LevelsCursor, other: LevelsCursor): boolean =>
  one.clientId > other.clientId || (one.clientId === other.clientId && one.contractId > other.contractId)

const eachOf = (group: Group, take: (contract: OpenLevels) => void): void => {
  const { symbol, side } = group
  const notified = JSON.parse(group.notified) as ReadonlyArray<Level>
  const [ids, clients] = [group.ids.split(","), group.clients.split(",")]
  const [barriers, takeProfits] = [group.barriers.split(","), group.take_profits.split(",")]
  for (let at = 0; at < ids.length; at++) {
    const [contractId, clientId] = [Number(ids[at]), Number(clients[at])]
    const [barrier, takeProfit] = [barriers[at] as string, takeProfits[at] as string]
    take({ contractId, clientId, symbol, side, barrier, takeProfit: takeProfit === "" ? null : takeProfit, notified })
  }
}
