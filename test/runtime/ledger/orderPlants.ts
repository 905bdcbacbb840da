/** Rows of orders that contradict each other, put behind the service's back: the check of `ledger verify` that finds each, and how it is undone. */

const id = 999_999_999
const client1 = "(SELECT partner_id FROM clients WHERE id = 1)"

interface PlantedOrder {
  readonly partner?: string
  readonly state?: string
  readonly amount?: number
  readonly currency?: string
  readonly context?: object
}

const orderContext = {
  family: "PERP",
  side: "BUY",
  qty: "1.0000",
  filledQty: "0",
  lastTradeId: 0,
  consumed: "0",
  released: "0",
  commissionBps: 10
}
const order = ({ partner = client1, state = "CANCELLED", amount = 0, currency = "USDC", context }: PlantedOrder) =>
  `INSERT INTO orders VALUES (${id}, ${partner}, 1, '${state}', '1', '${JSON.stringify({ ...orderContext, ...context })}', 'BTC-USDC-PERP', '${currency}', ${amount}, NULL, 1)`
const noOrder = `DELETE FROM orders WHERE id = ${id}`

const fill = (columns: object = {}) => {
  const row = {
    id,
    partner_id: client1,
    client_id: 1,
    order_id: id,
    trade_id: 70,
    symbol: "'BTC-USDC-PERP'",
    family: "'PERP'",
    side: "'BUY'",
    price: "'100.0'",
    qty: "'0.5000'",
    closed_qty: "NULL",
    currency: "'USDC'",
    notional: 50_000_000,
    commission: 50_000,
    realized_pnl: 0,
    ts: 1,
    ...columns
  }
  return `INSERT INTO fills (${Object.keys(row).join(", ")}) VALUES (${Object.values(row).join(", ")})`
}
const noFill = `DELETE FROM fills WHERE id = ${id}`

const position = (state: string, netQty: string, partner = client1) =>
  `INSERT INTO positions VALUES (${id}, ${partner}, 1, 'BTC-USDC-PERP', '${state}', '${netQty}', '0', '0', 'USDC', 0, 0, 1, 1)`
const noPosition = `DELETE FROM positions WHERE id = ${id}`

const lot = (partner = client1) => `INSERT INTO spot_lots VALUES (${id}, ${partner}, 1, 'BTC', 5, 1, 0, 1)`
const noLot = `DELETE FROM spot_lots WHERE id = ${id}`
/** A posting that gives the client an asset that it has never had. */
const asset = `INSERT INTO ledger_transactions VALUES (${id}, 'spot:${id}:70', 'SPOT_SETTLE', 'system:venue', NULL, 1, ${client1}, '{"Instrument":"SOL-USDC"}', 1); INSERT INTO postings VALUES (${id}, ${id}, 'client:1', 1, ${client1}, 'SOL', 'cash', 7)`
const totals = (partner = client1) => `INSERT INTO account_totals VALUES (1, ${partner}, 0, 0, 0, 0, 0, 0, 0)`
const noTotals = "DELETE FROM account_totals WHERE client_id = 1"
const noAsset = `DELETE FROM postings WHERE posting_id = ${id}; DELETE FROM ledger_transactions WHERE tx_id = ${id}`
const heldAsset = `INSERT INTO balances VALUES (1, 'SOL', ${client1}, 7, 0, 0); ${asset}`
const noHeldAsset = `DELETE FROM balances WHERE client_id = 1 AND currency = 'SOL'; ${noAsset}`

/** By the name of the check. */
export const orderPlants: Readonly<Record<string, readonly [plant: string, undo: string]>> = {
  "every fill has its postings once, and nothing else is booked as one": [fill(), noFill],
  "every spot order has paid, got and been charged what its fills come to together": [
    `${order({})}; ${fill({ symbol: "'BTC-USDC'", family: "'SPOT'" })}`,
    `${noOrder}; ${noFill}`
  ],
  "every order has filled the sum of its fills, and no more than was asked for": [
    order({ context: { filledQty: "0.1000" } }),
    noOrder
  ],
  "every fill has the notional of its price and quantity, and a result only for what it closed": [
    fill({ notional: 50_000_001 }),
    noFill
  ],
  "every order holds what is reserved in its name, and none that has ended holds anything": [
    order({ amount: 5 }),
    noOrder
  ],
  "every position is the sum of its fills: quantity, what they opened and closed, and what they realized": [
    position("OPEN", "0.5000"),
    noPosition
  ],
  "lots that are left are what clients hold of assets that they have traded alone": [heldAsset, noHeldAsset],
  "the totals of every account are what its fills and contracts add up to": [
    `${totals()}; UPDATE account_totals SET spot_pnl = 1`,
    noTotals
  ],
  "every total of an account is of its client's partner": [totals("999"), noTotals],
  "every order is of its client's partner": [order({ partner: "999" }), noOrder],
  "every fill is of its client's partner": [fill({ partner_id: 999 }), noFill],
  "every position is of its client's partner": [position("FLAT", "0", "999"), noPosition],
  "every lot of an asset is of its client's partner": [lot("999"), noLot]
}

/** Others that the same checks find: name of the check, what is wrong, and how it is planted and undone. */
export const moreOrderPlants: ReadonlyArray<readonly [check: string, what: string, plant: string, undo: string]> = [
  ["every fill has its postings", "a posting of no fill", asset, noAsset],
  ["every order has filled", "fills of no order", fill(), noFill],
  ["every order has filled", "an order filled with something left", order({ state: "FILLED" }), noOrder],
  [
    "every order has filled",
    "more filled than asked for",
    `${order({ context: { qty: "0.4000", filledQty: "0.5000", lastTradeId: 70 } })}; ${fill()}`,
    `${noOrder}; ${noFill}`
  ],
  ["every fill has the notional", "a result of nothing closed", fill({ realized_pnl: 5 }), noFill],
  [
    "every order holds",
    "a spot order that works for nothing",
    order({ state: "ACKED", context: { family: "SPOT" } }),
    noOrder
  ],
  ["every order holds", "a hold that nobody reserved", order({ state: "ACKED", amount: 5 }), noOrder],
  ["the reserve of every client", "a hold beside the reserve", order({ state: "ACKED", amount: 5 }), noOrder],
  ["the totals of every account", "fills that are not counted", fill(), noFill],
  [
    "the totals of every account",
    "a result counted for another family",
    `${fill({ commission: 0, realized_pnl: 5 })}; ${totals()}; UPDATE account_totals SET fills = 1, spot_pnl = 5`,
    `${noFill}; ${noTotals}`
  ],
  ["every position is", "fills without a position", fill(), noFill],
  ["every position is", "a flat position called open", position("OPEN", "0"), noPosition]
]
