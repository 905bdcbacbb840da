/**
 * Accounts with a long history, stored in the database while no service uses it: eight currencies with lots, and many
 * trades with the totals that a service keeps of them. There are no postings and orders, because no read of these
 * figures uses them, so the books of such a database can't be verified. Swaps are taken by the usual requests.
 */
import { onDatabase } from "../reference/database.ts"
import type { RunningService } from "../service.ts"
import { type BenchPartner, partnerCall } from "../setup.ts"
import { putOffer } from "./boardOffer.ts"

export interface PreparedAccount {
  readonly clientId: number
  readonly trades: number
}

/** The held price of each asset's SPOT market while the accounts are made. */
export const spotPrices: ReadonlyArray<readonly [asset: string, price: string]> = [
  ["BTC", "60000"],
  ["ETH", "3000"],
  ["SOL", "150"],
  ["BNB", "600"],
  ["XRP", "0.6"],
  ["EUR", "1.08"],
  ["USD1", "1"]
]
const assets = spotPrices.map(([asset]) => asset)
/** Lots per asset. */
const lotsEach = 4
/** The first id, far above the ids of a service. */
const first = 1_000_000_000

const balances = `INSERT INTO balances (client_id, currency, partner_id, cash, reserved, deposited)
  SELECT c.id, asset, c.partner_id, ${lotsEach} * 25000, 0, 0 FROM clients c, unnest($2::text[]) AS a(asset) WHERE c.id = $1`
const lots = `INSERT INTO spot_lots (id, partner_id, client_id, asset, qty, cost, commission, acquired_at)
  SELECT ${first} + c.id * 100 + row_number() OVER (), c.partner_id, c.id, asset, 25000, 1000000 + n, 1000, n
    FROM clients c, unnest($2::text[]) AS a(asset), generate_series(1, ${lotsEach}) AS g(n) WHERE c.id = $1`
const fills = `INSERT INTO fills (id, partner_id, client_id, order_id, trade_id, symbol, family, side, price, qty, closed_qty, currency,
                     notional, commission, realized_pnl, order_type, origin, ts, booked_at)
  SELECT ${first} + $3 + n, c.partner_id, c.id, ${first} + $3 + n, n, CASE n % 4 WHEN 0 THEN 'BTC-USDC' ELSE 'BTC-USDC-PERP' END,
         CASE n % 4 WHEN 0 THEN 'SPOT' ELSE 'PERP' END, CASE n % 2 WHEN 0 THEN 'SELL' ELSE 'BUY' END, '60000.0', '0.0010',
         CASE n % 2 WHEN 0 THEN '0.0010' END, 'USDC', 60000000, 30000, CASE n % 2 WHEN 0 THEN (n % 7 - 3) * 1000 ELSE 0 END, 'LIMIT', 'CLIENT', n, n
    FROM clients c, generate_series(1, $2::bigint) AS g(n) WHERE c.id = $1`
/** The account totals that the service would have stored for these trades. */
const totals = `INSERT INTO account_totals (client_id, partner_id, fills, fills_pnl, spot_pnl, barrier_pnl, fills_commission,
                            barrier_commission, contracts, perp_flow, wins, losses)
  SELECT client_id, partner_id, count(*), coalesce(sum(realized_pnl) FILTER (WHERE family = 'PERP'), 0),
         coalesce(sum(realized_pnl) FILTER (WHERE family = 'SPOT'), 0), 0, sum(commission), 0, 0,
         coalesce(sum(CASE side WHEN 'BUY' THEN -notional ELSE notional END) FILTER (WHERE family = 'PERP'), 0),
         count(*) FILTER (WHERE realized_pnl > 0), count(*) FILTER (WHERE realized_pnl < 0)
    FROM fills WHERE client_id = $1 GROUP BY 1, 2
  ON CONFLICT (client_id) DO UPDATE SET fills = excluded.fills, fills_pnl = excluded.fills_pnl, spot_pnl = excluded.spot_pnl,
     fills_commission = excluded.fills_commission, perp_flow = excluded.perp_flow, wins = excluded.wins, losses = excluded.losses`

/** Stores the accounts in a service's database, or in a reference's: a reference's clients have no cash yet. */
export const storeAccounts = (databaseUrl: string, accounts: ReadonlyArray<PreparedAccount>): Promise<void> =>
  onDatabase(databaseUrl, async (client) => {
    let stored = 0
    for (const { clientId, trades } of accounts) {
      await client.query("BEGIN")
      await client.query(balances, [clientId, assets])
      await client.query(lots, [clientId, assets])
      await client.query(fills, [clientId, trades, stored])
      await client.query(totals, [clientId])
      await client.query("COMMIT")
      stored += trades
    }
    await client.query("VACUUM ANALYZE")
  })

const stakedQty = "10"

/** Takes this number of USDC swaps for each account, all from one offer. */
export const takeSwaps = async (
  service: RunningService,
  partner: BenchPartner,
  accounts: ReadonlyArray<PreparedAccount>,
  each: number
): Promise<void> => {
  const qty = String(Number(stakedQty) * each * accounts.length)
  const offerId = await putOffer(service, partner, { rateBps: 400, tenorDays: 30, qty })
  for (const { clientId } of accounts)
    for (let n = 0; n < each; n++)
      await partnerCall(service, partner, {
        method: "POST",
        path: `/partner/v1/clients/${clientId}/staking/${offerId}/accept`,
        body: { qty: stakedQty },
        idempotencyKey: `swap-${clientId}-${n}`
      })
}
