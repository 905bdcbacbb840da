/**
 * What `ledger verify` asks of the totals that are kept of each account: they are what its fills and contracts add up to
 * (STS-11). Each side names its columns; one that it does not name is nothing there.
 */

/** Kept of each account, in the order in which they are shown. */
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

/** Rows of one source, each total by what the row adds to it. */
const part = (source: string, adds: { readonly [T in Total]?: string }): string =>
  `SELECT client_id, ${totals.map((name) => `${adds[name] ?? "0"} AS ${name}`).join(", ")} FROM ${source}`

/** Zero is neither won nor lost. */
const outcomes = (result: string) => ({ wins: `(${result} > 0)::int`, losses: `(${result} < 0)::int` })

/** Of a market that is not paid in USDC only the number of trades counts. */
const inUsdc = (family: "PERP" | "SPOT", figure: string): string =>
  `CASE WHEN currency = 'USDC' AND family = '${family}' THEN ${figure} ELSE 0 END`

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
  part("account_totals", Object.fromEntries(totals.map((name) => [name, `-${name}`])))
]

/** Entries of the list in ledgerChecks.ts. */
export const accountChecks = [
  {
    name: "the totals of every account are what its fills and contracts add up to",
    figure: "SELECT count(*) AS n FROM account_totals",
    breaks: `SELECT 'client ' || client_id || ': its totals lack ' || concat_ws(', ', ${totals.map((name) => `'${name} ' || sum(${name})`).join(", ")}) AS what
               FROM (${sources.join(" UNION ALL ")}) AS both_sides
              GROUP BY client_id HAVING ${totals.map((name) => `sum(${name}) <> 0`).join(" OR ")} LIMIT 1`
  }
] as const
