/** Running totals of what clients have traded (STS-11), begun with the fills and contracts that there are. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0035 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE account_totals (
    client_id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    fills bigint NOT NULL CHECK (fills >= 0),
    fills_pnl bigint NOT NULL,
    spot_pnl bigint NOT NULL,
    barrier_pnl bigint NOT NULL,
    fills_commission bigint NOT NULL CHECK (fills_commission >= 0),
    barrier_commission bigint NOT NULL CHECK (barrier_commission >= 0),
    contracts bigint NOT NULL CHECK (contracts >= 0))`
  // Of a market that is not paid in USDC only the number of trades counts.
  yield* sql`INSERT INTO account_totals
    SELECT client_id, partner_id, sum(fills), sum(fills_pnl), sum(spot_pnl), sum(barrier_pnl),
           sum(fills_commission), sum(barrier_commission), sum(contracts)
      FROM (SELECT client_id, partner_id, 1 AS fills,
                   CASE WHEN currency = 'USDC' AND family = 'PERP' THEN realized_pnl ELSE 0 END AS fills_pnl,
                   CASE WHEN currency = 'USDC' AND family = 'SPOT' THEN realized_pnl ELSE 0 END AS spot_pnl,
                   0 AS barrier_pnl,
                   CASE WHEN currency = 'USDC' THEN commission ELSE 0 END AS fills_commission,
                   0 AS barrier_commission, 0 AS contracts
              FROM fills
            UNION ALL
            SELECT client_id, partner_id, 0, 0, 0, coalesce(pnl, 0), 0, commission, 1 FROM barrier_contracts) AS traded
     GROUP BY client_id, partner_id`
})
