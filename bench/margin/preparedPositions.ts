/**
 * Stores very many open positions without an order for each over HTTP. One order that was filled over HTTP is the
 * pattern. In the database it is copied as completely filled orders, each with a trade, a position and the account's
 * totals. The same positions are put into the venue's books, whose own makers have the other side. A copy costs no
 * commission, so the ledger needs no posting: both sides agree, and `ledger verify` and `sim verify` find no fault.
 */
import { defaultMarkets } from "../../simulator/venue/core/defaultMarkets.ts"
import { houseAccounts } from "../../simulator/venue/core/Makers.ts"
import { type Market, unitsOf, valueOf } from "../../simulator/venue/core/Market.ts"
import type { VenueState } from "../../simulator/venue/core/VenueState.ts"
import { onDatabase } from "../reference/database.ts"
import { prefixOf, withBooks } from "../venueBooks.ts"

/**
 * Copied orders, trades and positions have ids above the first, copied accounts and trades at the venue above the
 * second.
 */
const firstCopy = 2_000_000_000
const firstAtVenue = 1_000_000_000
/** The next ids of orders and trades at the venue: above those of all copies. */
const afterCopies = firstAtVenue + 100_000_000
/** Rows per statement. */
const chunk = 50_000

export interface HeldPosition {
  readonly clientId: number
  /** The client's account name at the venue. */
  readonly uid: string
  readonly symbol: string
  /** A signed decimal text on the market's grid; not zero. */
  readonly netQty: string
  /** The entry price, on the market's grid. */
  readonly price: string
}

const marketOf = (symbol: string): Market => {
  const market = defaultMarkets.find((each) => each.symbol === symbol)
  if (market === undefined) throw new Error(`no market ${symbol}`)
  return market
}

/** The venue account names of clients, by id. */
export const uidsOf = (databaseUrl: string, clientIds: ReadonlyArray<number>): Promise<ReadonlyMap<number, string>> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly id: string; readonly uid: string }>(
      "SELECT id, uid FROM clients WHERE id = ANY($1)",
      [clientIds]
    )
    return new Map(rows.map(({ id, uid }) => [Number(id), uid]))
  })

/** SQL of a copied trade: `h` is the position with its number, `t` the pattern, `c` its client. */
const tradeOf = `
  FROM h JOIN clients c ON c.id = h.client_id,
       (SELECT * FROM orders WHERE client_id = $1 AND state = 'FILLED' ORDER BY id LIMIT 1) t`
const given = `h AS (
  SELECT client_id, symbol, qty, price, price_decimals, qty_decimals, n + $2::bigint AS n,
         CASE WHEN qty::numeric > 0 THEN 'BUY' ELSE 'SELL' END AS side, trim_scale(abs(qty::numeric))::text AS size,
         trunc(abs(qty::numeric) * price::numeric * 1000000)::bigint AS notional
    FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::int[], $8::int[])
         WITH ORDINALITY AS u(client_id, symbol, qty, price, price_decimals, qty_decimals, n))`

const orders = `WITH ${given}
  INSERT INTO orders (id, partner_id, client_id, state, version, context, symbol, currency, amount, parent_order_id, created_at)
  SELECT ${firstCopy} + n, c.partner_id, c.id, 'FILLED', t.version,
         (t.context::jsonb || jsonb_build_object(
            'orderId', ${firstCopy} + n, 'clientId', c.id, 'account', c.uid, 'symbol', h.symbol, 'side', side, 'qty', size,
            'filledQty', size, 'venueOrderId', ${firstAtVenue} + n, 'lastTradeId', ${firstAtVenue} + n, 'commissionBps', 0,
            'priceDecimals', price_decimals, 'qtyDecimals', qty_decimals))::json,
         h.symbol, 'USDC', 0, NULL, t.created_at ${tradeOf}`
const fills = `WITH ${given}
  INSERT INTO fills (id, partner_id, client_id, order_id, trade_id, symbol, family, side, price, qty, closed_qty, currency,
                     notional, commission, realized_pnl, order_type, origin, ts, booked_at)
  SELECT ${firstCopy} + n, c.partner_id, c.id, ${firstCopy} + n, ${firstAtVenue} + n, h.symbol, 'PERP', side, price, size, NULL,
         'USDC', notional, 0, 0, 'LIMIT', 'CLIENT', t.created_at, t.created_at ${tradeOf}`
const positions = `WITH ${given}
  INSERT INTO positions (id, partner_id, client_id, symbol, state, net_qty, avg_entry, net_cost, currency, amount, realized_pnl,
                         opened_at, updated_at)
  SELECT ${firstCopy} + n, c.partner_id, c.id, h.symbol, 'OPEN', qty, price, trim_scale(qty::numeric * price::numeric)::text,
         'USDC', notional, 0, t.created_at, t.created_at ${tradeOf}`
const totals = `WITH ${given}
  INSERT INTO account_totals (client_id, partner_id, fills, fills_pnl, spot_pnl, barrier_pnl, fills_commission,
                              barrier_commission, contracts, perp_flow)
  SELECT c.id, c.partner_id, 1, 0, 0, 0, 0, 0, 0, CASE side WHEN 'BUY' THEN -notional ELSE notional END ${tradeOf}
  ON CONFLICT (client_id) DO UPDATE
     SET fills = account_totals.fills + 1, perp_flow = account_totals.perp_flow + excluded.perp_flow`
const accounts = `INSERT INTO venue_accounts (client_id, sequence)
  SELECT DISTINCT id, 1 FROM unnest($1::bigint[]) AS u(id) ON CONFLICT DO NOTHING`

/**
 * Stores the service's side. `traderId`: the client whose filled order is the pattern. A client has at most one
 * position in a market.
 */
export const storePositions = (
  databaseUrl: string,
  traderId: number,
  held: ReadonlyArray<HeldPosition>
): Promise<void> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly n: string }>(
      `SELECT greatest(0, max(id) - ${firstCopy}) AS n FROM orders`
    )
    let stored = Number(rows[0]?.n ?? 0)
    await client.query("BEGIN")
    // One market at a time: no statement touches an account's totals twice.
    for (const list of Map.groupBy(held, ({ symbol }) => symbol).values()) {
      for (let at = 0; at < list.length; at += chunk) {
        const part = list.slice(at, at + chunk)
        const markets = part.map(({ symbol }) => marketOf(symbol))
        const values = [
          traderId,
          stored,
          part.map(({ clientId }) => clientId),
          part.map(({ symbol }) => symbol),
          part.map(({ netQty }) => netQty),
          part.map(({ price }) => price),
          markets.map(({ tickDecimals }) => tickDecimals),
          markets.map(({ lotDecimals }) => lotDecimals)
        ]
        for (const statement of [orders, fills, positions, totals]) await client.query(statement, values)
        await client.query(accounts, [part.map(({ clientId }) => clientId)])
        stored += part.length
      }
    }
    // Later trades get higher ids than the copies.
    for (const name of ["order", "fill", "position"])
      await client.query("SELECT setval($1, $2)", [`id_${name}`, firstCopy + stored])
    await client.query("COMMIT")
    await client.query("ANALYZE")
  })

/** Stores the venue's side of `storePositions`, while the venue has ended. */
export const storeVenuePositions = (dataDirectory: string, held: ReadonlyArray<HeldPosition>): Promise<void> =>
  withBooks(dataDirectory, (state) => {
    const pattern = state.accounts.find(({ id }) => id > 0)
    if (pattern === undefined) throw new Error("no client is known at the venue")
    const prefix = prefixOf(state, pattern.id)
    type AccountState = VenueState["accounts"][number]
    type PositionState = AccountState["positions"][number]
    const paid = new Map<string, { lots: number; flow: bigint }>()
    let id = Math.max(firstAtVenue, ...state.accounts.map((each) => each.id))
    const added = [...Map.groupBy(held, ({ uid }) => uid)].map(([uid, list]): AccountState => {
      const positions = list.map(({ symbol, netQty, price }): PositionState => {
        const market = marketOf(symbol)
        const [size, ticks] = [
          unitsOf(netQty.replace("-", ""), market.lotDecimals),
          unitsOf(price, market.tickDecimals)
        ]
        if (size === null || ticks === null) throw new Error(`${netQty} at ${price} is off the grid of ${symbol}`)
        const lots = netQty.startsWith("-") ? -size : size
        const flow = -valueOf(market, ticks, lots)
        const other = paid.get(symbol) ?? { lots: 0, flow: 0n }
        paid.set(symbol, { lots: other.lots - lots, flow: other.flow - flow })
        return [symbol, lots, String(flow)]
      })
      return { id: ++id, name: `${prefix}${uid}`, sequence: 1, positions }
    })
    const accounts = state.accounts.map((each) =>
      each.id === houseAccounts.maker ? { ...each, positions: withPaid(each.positions, paid) } : each
    )
    // Later trades at the venue get higher ids than the copies.
    const ids = { ...state.ids, exchange: { order: afterCopies, trade: afterCopies } }
    return [withInterest({ ...state, ids, accounts: [...accounts, ...added] }), undefined]
  })

type Positions = VenueState["accounts"][number]["positions"]

const withPaid = (positions: Positions, paid: ReadonlyMap<string, { lots: number; flow: bigint }>): Positions => {
  const had = new Map(positions.map(([symbol, lots, flow]) => [symbol, { lots, flow: BigInt(flow) }]))
  for (const [symbol, { lots, flow }] of paid) {
    const before = had.get(symbol) ?? { lots: 0, flow: 0n }
    had.set(symbol, { lots: before.lots + lots, flow: before.flow + flow })
  }
  return [...had].map(([symbol, { lots, flow }]) => [symbol, lots, String(flow)])
}

/** Sets the open interest of each market to the sum of its long positions. */
const withInterest = (state: VenueState): VenueState => {
  const long = new Map<string, number>()
  for (const { positions } of state.accounts)
    for (const [symbol, lots] of positions) long.set(symbol, (long.get(symbol) ?? 0) + Math.max(0, lots))
  return {
    ...state,
    listings: state.listings.map((listing) => ({ ...listing, openInterest: long.get(listing.symbol) ?? 0 }))
  }
}
