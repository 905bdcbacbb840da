/** What `ledger verify` asks of the totals that are kept of each account: they are what its fills and contracts add up to (STS-11). */

/** Of a market that is not paid in USDC only the number of trades counts. */
const traded = `SELECT client_id, 1 AS fills,
                       CASE WHEN currency = 'USDC' AND family = 'PERP' THEN realized_pnl ELSE 0 END AS fills_pnl,
                       CASE WHEN currency = 'USDC' AND family = 'SPOT' THEN realized_pnl ELSE 0 END AS spot_pnl,
                       0 AS barrier_pnl, CASE WHEN currency = 'USDC' THEN commission ELSE 0 END AS fills_commission,
                       0 AS barrier_commission, 0 AS contracts,
                       CASE WHEN currency <> 'USDC' OR family <> 'PERP' THEN 0 WHEN side = 'BUY' THEN -notional ELSE notional END AS perp_flow
                  FROM fills
                 UNION ALL
                SELECT client_id, 0, 0, 0, coalesce(pnl, 0), 0, commission, 1, 0 FROM barrier_contracts
                 UNION ALL
                SELECT client_id, -fills, -fills_pnl, -spot_pnl, -barrier_pnl, -fills_commission, -barrier_commission, -contracts, -perp_flow
                  FROM account_totals`

/** In the order in which they are shown. */
const totals = [
  "fills",
  "fills_pnl",
  "spot_pnl",
  "barrier_pnl",
  "fills_commission",
  "barrier_commission",
  "contracts",
  "perp_flow"
]

/** Entries of the list in ledgerChecks.ts. */
export const accountChecks = [
  {
    name: "the totals of every account are what its fills and contracts add up to",
    figure: "SELECT count(*) AS n FROM account_totals",
    breaks: `SELECT 'client ' || client_id || ': its totals lack ' || concat_ws(', ', ${totals.map((name) => `'${name} ' || sum(${name})`).join(", ")}) AS what
               FROM (${traded}) AS both_sides
              GROUP BY client_id HAVING ${totals.map((name) => `sum(${name}) <> 0`).join(" OR ")} LIMIT 1`
  }
] as const
