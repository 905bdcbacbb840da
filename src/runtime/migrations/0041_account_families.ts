/** Totals of an account by family (STS-11; A2-61): staking, and results counted as won or lost out of the fills and contracts there are. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const m0041 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE account_totals
    ADD COLUMN staking_pnl bigint NOT NULL DEFAULT 0,
    ADD COLUMN staking_commission bigint NOT NULL DEFAULT 0 CHECK (staking_commission >= 0),
    ADD COLUMN swap_takes bigint NOT NULL DEFAULT 0 CHECK (swap_takes >= 0),
    ADD COLUMN wins bigint NOT NULL DEFAULT 0 CHECK (wins >= 0),
    ADD COLUMN losses bigint NOT NULL DEFAULT 0 CHECK (losses >= 0)`
  // Zero is neither; what is paid in another currency than USDC has no result here.
  yield* sql`UPDATE account_totals a SET wins = r.wins, losses = r.losses
    FROM (SELECT client_id, count(*) FILTER (WHERE result > 0) AS wins, count(*) FILTER (WHERE result < 0) AS losses
            FROM (SELECT client_id, realized_pnl AS result FROM fills WHERE currency = 'USDC' AND realized_pnl <> 0
                  UNION ALL
                  SELECT client_id, pnl FROM barrier_contracts WHERE pnl <> 0) AS results
           GROUP BY client_id) AS r
   WHERE a.client_id = r.client_id`
})
