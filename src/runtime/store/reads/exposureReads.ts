/** Accounts with open positions, which build the risk index at start: a million rows of a few figures each. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { RiskState } from "../../../machines/margin/accountRisk.ts"

/** The inputs of an account's risk lines. Money is micro-USDC. */
export interface ExposedAccount {
  readonly clientId: number
  readonly categorization: "RETAIL" | "PROFESSIONAL"
  readonly cash: bigint
  /** The sum of premiums of its open knock-out contracts. */
  readonly premiums: bigint
  readonly recorded: RiskState
  readonly positions: ReadonlyArray<ExposedPosition>
}

export interface ExposedPosition {
  readonly symbol: string
  /** Signed decimal text. */
  readonly netQty: string
  readonly avgEntry: string
  /** The chosen leverage; null if none is chosen. */
  readonly chosen: number | null
  /** The loss in the last notice of the day, percent of the margin at entry. */
  readonly notified: number
}

export interface ExposurePage {
  /** The last account of the previous page. */
  readonly after: number
  /** UTC days since 1970. */
  readonly day: number
}

/** The default number of positions of one page; more than one account can have. */
const usualPage = 25_000

/** The page as one text with a line for each position: a million separate rows would cost both sides more than the figures. */
const pageText = `WITH page AS MATERIALIZED (
    SELECT client_id, symbol, net_qty, avg_entry, opened_at FROM positions
     WHERE state = 'OPEN' AND client_id > $1 ORDER BY client_id, symbol LIMIT $3),
  accounts AS MATERIALIZED (
    SELECT clients.id AS client_id, categorization, COALESCE(cash, 0) AS cash, COALESCE(monitors.state, 'NORMAL') AS recorded,
           COALESCE((SELECT sum(amount) FROM barrier_contracts AS contracts
                      WHERE contracts.client_id = clients.id AND contracts.state = 'OPEN'), 0) AS premiums
      FROM (SELECT DISTINCT client_id FROM page) AS holders
      JOIN clients ON clients.id = holders.client_id
      LEFT JOIN balances ON balances.client_id = clients.id AND currency = 'USDC'
      LEFT JOIN risk_monitors AS monitors ON monitors.client_id = clients.id)
  SELECT string_agg(concat_ws(' ', client_id, categorization, cash, premiums, recorded, symbol, net_qty, avg_entry,
           COALESCE(leverage, 0), CASE WHEN day = $2 AND notices.opened_at = page.opened_at THEN step ELSE 0 END),
         E'\\n' ORDER BY client_id, symbol) AS lines
    FROM page JOIN accounts USING (client_id)
    LEFT JOIN leverages USING (client_id, symbol)
    LEFT JOIN loss_notices AS notices USING (client_id, symbol)`

/** Passes the accounts of a page to `take`, each complete. Returns the last account; null if no page follows. */
export const readExposures = (
  sql: PgClient.PgClient,
  { after, day }: ExposurePage,
  take: (account: ExposedAccount) => void,
  length = usualPage
): Effect.Effect<number | null, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly lines: string | null }>(pageText, [BigInt(after), BigInt(day), BigInt(length)]),
    ([row]) => {
      const lines = row?.lines?.split("\n") ?? []
      const accounts = accountsOf(lines)
      const isLast = lines.length < length
      // The page may end in the middle of its last account, so the next page begins with that account.
      const whole = isLast ? accounts : accounts.slice(0, -1)
      whole.forEach(take)
      return isLast ? null : (whole.at(-1)?.clientId ?? after)
    }
  )

/** The number of clients of one page. */
const clientsAtOnce = 25_000

/** Passes the clients of one page that have a working perpetual order to `take`. Returns the last client; null at the end. */
export const readOrdering = (
  sql: PgClient.PgClient,
  after: number,
  take: (clientId: number) => void
): Effect.Effect<number | null, SqlError.SqlError> =>
  Effect.map(
    sql<{ readonly clientId: number }>`
      SELECT DISTINCT client_id AS "clientId" FROM orders
       WHERE works AND client_id > ${BigInt(after)}
         AND context ->> 'family' = 'PERP'
       ORDER BY client_id LIMIT ${clientsAtOnce}`,
    (rows) => {
      for (const { clientId } of rows) take(Number(clientId))
      const last = rows.at(-1)
      return rows.length < clientsAtOnce || last === undefined ? null : Number(last.clientId)
    }
  )

const accountsOf = (lines: ReadonlyArray<string>): ReadonlyArray<ExposedAccount> => {
  const accounts: Array<ExposedAccount & { readonly positions: Array<ExposedPosition> }> = []
  for (const line of lines) {
    const [client, categorization, cash, premiums, recorded, ...position] = line.split(" ") as Columns
    const clientId = Number(client)
    let account = accounts.at(-1)
    if (account?.clientId !== clientId) {
      account = { clientId, categorization, cash: BigInt(cash), premiums: BigInt(premiums), recorded, positions: [] }
      accounts.push(account)
    }
    const [symbol, netQty, avgEntry, chosen, notified] = position
    account.positions.push({
      symbol,
      netQty,
      avgEntry,
      chosen: chosen === "0" ? null : Number(chosen),
      notified: Number(notified)
    })
  }
  return accounts
}

/** Symbols have no spaces (VenueEvent). */
type Columns = [
  client: string,
  categorization: ExposedAccount["categorization"],
  cash: string,
  premiums: string,
  recorded: RiskState,
  symbol: string,
  netQty: string,
  avgEntry: string,
  chosen: string,
  notified: string
]
