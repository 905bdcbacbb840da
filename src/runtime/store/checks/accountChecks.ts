/**
 * Checks of `ledger verify` on the totals of each account: the stored totals equal the sums over its fills, contracts
 * and swaps. Both sides of the comparison name their columns; a missing column counts as zero (STS-11).
 */

/** The columns of the totals that are checked, in the order in which a violation shows them. */
const totals = [
  "fills",
  "fills_pnl",
  "spot_pnl",
  "barrier_pnl",
  "staking_pnl",
  "fills_commission",
  "barrier_commission",
  "staking_commission",
  "contracts",
  "swap_takes",
  "wins",
  "losses",
  "perp_flow"
] as const
type Total = (typeof totals)[number]

/** The select of one source of a side. `adds`: the SQL of what each of its rows adds to a total; other totals get zero. */
const part = (source: string, adds: { readonly [T in Total]?: string }): string =>
  `SELECT client_id, ${totals.map((name) => `${adds[name] ?? "0"} AS ${name}`).join(", ")} FROM ${source}`

/** SQL that counts a result as a win or a loss; a result of zero is neither. */
const outcomes = (result: string) => ({ wins: `(${result} > 0)::int`, losses: `(${result} < 0)::int` })

/** SQL of a figure that counts only for trades of this family that were paid in USDC, as in the totals. */
const inUsdc = (family: "PERP" | "SPOT", figure: string): string =>
  `CASE WHEN currency = 'USDC' AND family = '${family}' THEN ${figure} ELSE 0 END`

/** The postings of swaps with their mark price and their value in micro-USDC. USDC itself has the mark 1. */
const staking = `SELECT p.client_id, t.type, (t.refs ->> 'reward')::numeric AS reward,
                        CASE p.currency WHEN 'USDC' THEN 1 ELSE (t.refs ->> 'mark')::numeric END AS mark,
                        CASE p.currency WHEN 'USDC' THEN p.amount ELSE (t.refs ->> 'valueUsdc')::numeric * 1000000 END AS value
                   FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id AND p.client_id IS NOT NULL
                  WHERE t.type = 'SWAP_SETTLE' OR (t.type = 'COMMISSION' AND t.key LIKE 'commission:swap:%')`

const sources = [
  part("fills", {
    fills: "1",
    fills_pnl: inUsdc("PERP", "realized_pnl"),
    spot_pnl: inUsdc("SPOT", "realized_pnl"),
    fills_commission: "CASE WHEN currency = 'USDC' THEN commission ELSE 0 END",
    ...outcomes("CASE WHEN currency = 'USDC' THEN realized_pnl ELSE 0 END"),
    perp_flow: inUsdc("PERP", "CASE WHEN side = 'BUY' THEN -notional ELSE notional END")
  }),
  part("barrier_contracts", {
    barrier_pnl: "coalesce(pnl, 0)",
    barrier_commission: "commission",
    contracts: "1",
    ...outcomes("coalesce(pnl, 0)")
  }),
  part("swaps", {
    swap_takes: "(opened_at IS NOT NULL)::int",
    ...outcomes("CASE WHEN closed_at IS NULL THEN 0 ELSE paid - amount END")
  }),
  part("staking", {
    // Rewards and their charges, each at the mark price in its posting (STS-9).
    staking_pnl: "CASE type WHEN 'SWAP_SETTLE' THEN coalesce(floor(reward * mark * 1000000), 0) ELSE 0 END",
    staking_commission: "CASE type WHEN 'COMMISSION' THEN -coalesce(value, 0) ELSE 0 END"
  }),
  part("account_totals", Object.fromEntries(totals.map((name) => [name, `-${name}`])))
]

/** The checks on account totals, for the list in ledgerChecks.ts. */
export const accountChecks = [
  {
    name: "every account's totals equal the sums of its fills, contracts and swaps",
    figure: "SELECT count(*) AS n FROM account_totals",
    breaks: `WITH staking AS MATERIALIZED (${staking})
             SELECT 'client ' || client_id || ': its totals lack ' || concat_ws(', ', ${totals.map((name) => `'${name} ' || sum(${name})`).join(", ")}) AS what
               FROM (${sources.join(" UNION ALL ")}) AS both_sides
              GROUP BY client_id HAVING ${totals.map((name) => `sum(${name}) <> 0`).join(" OR ")} LIMIT 1`
  }
] as const
