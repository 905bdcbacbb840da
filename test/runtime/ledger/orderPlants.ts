/**
 * Contradictory rows of orders, planted in the database: for each, the check of `ledger verify` that finds it, and its
 * removal.
 */

export const id = 999_999_999
export const client1 = "(SELECT partner_id FROM clients WHERE id = 1)"

interface PlantedOrder {
  readonly partner?: string
  readonly state?: string
  readonly amount?: number
  readonly currency?: string
  readonly parent?: number
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
export const order = ({
  partner = client1,
  state = "CANCELLED",
  amount = 0,
  currency = "USDC",
  parent,
  context
}: PlantedOrder) =>
  `INSERT INTO orders VALUES (${id}, ${partner}, 1, '${state}', '1', '${JSON.stringify({ ...orderContext, ...context })}', 'BTC-USDC-PERP', '${currency}', ${amount}, ${parent ?? "NULL"}, 1)`
export const noOrder = `DELETE FROM orders WHERE id = ${id}`

export const fill = (columns: object = {}) => {
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
    order_type: "'LIMIT'",
    origin: "'CLIENT'",
    ts: 1,
    booked_at: 1,
    ...columns
  }
  return `INSERT INTO fills (${Object.keys(row).join(", ")}) VALUES (${Object.values(row).join(", ")})`
}
export const noFill = `DELETE FROM fills WHERE id = ${id}`

export const position = (state: string, netQty: string, partner = client1) =>
  `INSERT INTO positions VALUES (${id}, ${partner}, 1, 'BTC-USDC-PERP', '${state}', '${netQty}', '0', '0', 'USDC', 0, 0, 1, 1)`
/** The long position that the fill above makes, unless overridden. */
const long = ({ average = "100", cost = "50", realized = 0 } = {}) =>
  `INSERT INTO positions VALUES (${id}, ${client1}, 1, 'BTC-USDC-PERP', 'OPEN', '0.5000', '${average}', '${cost}', 'USDC', 50000000, ${realized}, 1, 1)`
export const noPosition = `DELETE FROM positions WHERE id = ${id}`

const lot = (partner = client1) => `INSERT INTO spot_lots VALUES (${id}, ${partner}, 1, 'BTC', 5, 1, 0, 1)`
const noLot = `DELETE FROM spot_lots WHERE id = ${id}`
const bought = { symbol: "'SOL-USDC'", family: "'SPOT'", qty: "'0.000000007'", notional: 0, commission: 3 }
/** A purchase of 7 lamports for 5 micro-USDC, with a commission of 3. */
const purchase = () => `${fill(bought)}; ${asset}, (${id + 1}, ${id}, 'client:1', 1, ${client1}, 'USDC', 'cash', -5)`
const noPurchase = `${noFill}; DELETE FROM postings WHERE tx_id = ${id}; DELETE FROM ledger_transactions WHERE tx_id = ${id}`
const solLot = (qty: number, cost: number, commission: number) =>
  `INSERT INTO spot_lots VALUES (${id}, ${client1}, 1, 'SOL', ${qty}, ${cost}, ${commission}, 1)`
/** A posting that gives the client an asset that it never had. */
const asset = `INSERT INTO ledger_transactions VALUES (${id}, 'spot:${id}:70', 'SPOT_SETTLE', 'system:venue', NULL, 1, ${client1}, '{"Instrument":"SOL-USDC"}', 1); INSERT INTO postings VALUES (${id}, ${id}, 'client:1', 1, ${client1}, 'SOL', 'cash', 7)`
/** The sale of the purchased quantity, for 9 micro-USDC. */
const sale = (realized: number) => {
  const [tx, trade] = [
    id + 2,
    { ...bought, id: id + 2, trade_id: 71, side: "'SELL'", commission: 0, realized_pnl: realized }
  ]
  return `${purchase()}; ${fill(trade)}; INSERT INTO ledger_transactions VALUES (${tx}, 'spot:${id}:71', 'SPOT_SETTLE', 'system:venue', NULL, 1, ${client1}, '{"Instrument":"SOL-USDC"}', 1); INSERT INTO postings VALUES (${tx}, ${tx}, 'client:1', 1, ${client1}, 'SOL', 'cash', -7), (${id + 3}, ${tx}, 'client:1', 1, ${client1}, 'USDC', 'cash', 9)`
}
const noSale = `DELETE FROM fills WHERE id >= ${id}; DELETE FROM postings WHERE tx_id >= ${id}; DELETE FROM ledger_transactions WHERE tx_id >= ${id}`
const totals = (partner = client1) => `INSERT INTO account_totals VALUES (1, ${partner}, 0, 0, 0, 0, 0, 0, 0)`
const noTotals = "DELETE FROM account_totals WHERE client_id = 1"
const noAsset = `DELETE FROM postings WHERE posting_id = ${id}; DELETE FROM ledger_transactions WHERE tx_id = ${id}`
const heldAsset = `INSERT INTO balances VALUES (1, 'SOL', ${client1}, 7, 0, 0); ${asset}`
const noHeldAsset = `DELETE FROM balances WHERE client_id = 1 AND currency = 'SOL'; ${noAsset}`

/** The plants by the name of the check that finds them. */
export const orderPlants: Readonly<Record<string, readonly [plant: string, undo: string]>> = {
  "every fill has its postings exactly once, and no other posting is booked as a fill": [fill(), noFill],
  "every spot order's payments and commission equal the totals of its fills": [
    `${order({})}; ${fill({ symbol: "'BTC-USDC'", family: "'SPOT'" })}`,
    `${noOrder}; ${noFill}`
  ],
  "every order's filled quantity equals the sum of its fills and is at most its quantity": [
    order({ context: { filledQty: "0.1000" } }),
    noOrder
  ],
  "every fill's notional is price times quantity, and only a closing fill has a result": [
    fill({ notional: 50_000_001 }),
    noFill
  ],
  "every order's hold equals its reserved postings, and an ended order holds nothing": [order({ amount: 5 }), noOrder],
  "every position equals the sum of its fills: net, opened and closed quantity, realized result": [
    position("OPEN", "0.5000"),
    noPosition
  ],
  "remaining lots equal every client's holding of each asset that it only traded": [heldAsset, noHeldAsset],
  "every attached leg is reduce-only, in its parent's market, for at most the filled quantity of the parent": [
    order({ context: { reduceOnly: true }, parent: 5 }),
    noOrder
  ],
  "every posting is in its client's account or in the house account of its transaction type": [
    "UPDATE postings SET account = 'commission' WHERE posting_id = (SELECT min(posting_id) FROM postings WHERE account = 'manual')",
    "UPDATE postings SET account = 'manual' WHERE account = 'commission'"
  ],
  "every position has the cost, average price and result of replaying its fills in order": [
    `${fill()}; ${long({ average: "99" })}`,
    `${noFill}; ${noPosition}`
  ],
  "every lot and sale result equals a first-in-first-out replay of receipts and disposals": [lot(), noLot],
  "every account's totals equal the sums of its fills, contracts and swaps": [
    `${totals()}; UPDATE account_totals SET spot_pnl = 1`,
    noTotals
  ],
  "every total of an account belongs to its client's partner": [totals("999"), noTotals],
  "every order belongs to its client's partner": [order({ partner: "999" }), noOrder],
  "every fill belongs to its client's partner": [fill({ partner_id: 999 }), noFill],
  "every position belongs to its client's partner": [position("FLAT", "0", "999"), noPosition],
  "every lot of an asset belongs to its client's partner": [lot("999"), noLot]
}

/** Further plants of the same checks: name of the check, the fault, how it is planted and undone. */
export const moreOrderPlants: ReadonlyArray<readonly [check: string, what: string, plant: string, undo: string]> = [
  ["every fill has its postings", "a posting of no fill", asset, noAsset],
  ["every order's filled quantity", "fills of no order", fill(), noFill],
  ["every order's filled quantity", "an order filled with something left", order({ state: "FILLED" }), noOrder],
  [
    "every order's filled quantity",
    "more filled than asked for",
    `${order({ context: { qty: "0.4000", filledQty: "0.5000", lastTradeId: 70 } })}; ${fill()}`,
    `${noOrder}; ${noFill}`
  ],
  ["every fill's notional is", "a result of nothing closed", fill({ realized_pnl: 5 }), noFill],
  [
    "every order's hold equals",
    "a spot order that works for nothing",
    order({ state: "ACKED", context: { family: "SPOT" } }),
    noOrder
  ],
  ["every order's hold equals", "a hold that nobody reserved", order({ state: "ACKED", amount: 5 }), noOrder],
  ["every client's reserve equals", "a hold beside the reserve", order({ state: "ACKED", amount: 5 }), noOrder],
  ["every account's totals equal", "fills that are not counted", fill(), noFill],
  [
    "every account's totals equal",
    "a result counted for another family",
    `${fill({ commission: 0, realized_pnl: 5 })}; ${totals()}; UPDATE account_totals SET fills = 1, spot_pnl = 5`,
    `${noFill}; ${noTotals}`
  ],
  [
    "every account's totals equal",
    "a take, a reward and a result of no swap",
    `${totals()}; UPDATE account_totals SET swap_takes = 1, staking_pnl = 5, wins = 1`,
    noTotals
  ],
  [
    "every account's totals equal",
    "a result that is counted as won and as lost",
    `${fill({ commission: 0, realized_pnl: 5 })}; ${totals()}; UPDATE account_totals SET fills = 1, fills_pnl = 5, perp_flow = -50000000, wins = 1, losses = 1`,
    `${noFill}; ${noTotals}`
  ],
  ["every position equals the", "fills without a position", fill(), noFill],
  ["every position equals the", "a flat position called open", position("OPEN", "0"), noPosition],
  [
    "every attached leg is",
    "an amendment to more than is filled",
    `${order({ context: { qty: "0", amending: { qty: "0.5" }, reduceOnly: true }, parent: 5 })}`,
    noOrder
  ],
  ["every attached leg is", "one that could open", order({ context: { qty: "0" }, parent: 5 }), noOrder],
  [
    "every position has the",
    "another cost",
    `${fill()}; ${long({ cost: "50.000000000000000001" })}`,
    `${noFill}; ${noPosition}`
  ],
  ["every position has the", "another result", `${fill()}; ${long({ realized: 1 })}`, `${noFill}; ${noPosition}`],
  [
    "every position has the",
    "a trade that realizes what its turn does not",
    `${fill({ realized_pnl: 7, closed_qty: "'0.5000'" })}; ${long({ realized: 7 })}`,
    `${noFill}; ${noPosition}`
  ],
  ["every lot and", "a lot that is gone", purchase(), noPurchase],
  ["every lot and", "a lot of less", `${purchase()}; ${solLot(6, 5, 3)}`, `${noPurchase}; ${noLot}`],
  ["every lot and", "a lot of another cost", `${purchase()}; ${solLot(7, 4, 3)}`, `${noPurchase}; ${noLot}`],
  ["every lot and", "a lot of another commission", `${purchase()}; ${solLot(7, 5, 4)}`, `${noPurchase}; ${noLot}`],
  ["every lot and", "a sale with another result than its lots", sale(5), noSale]
]
