/**
 * Trades booked by plain SQL, a process of its own: no HTTP, no events, `concurrency` connections with prepared statements,
 * each with clients of its own, so that none waits for another's locks. `steps` is a transaction a trade, its rows one by one;
 * `one` all of them by a single statement; `set` a single statement for a trade of many clients, which is the ceiling.
 *
 * Kinder than the service is to itself: orders and their trades are known beforehand and read once, ids come from memory, event
 * numbers may have gaps, no trade is looked up, nothing is sealed and no trigger checks a sum.
 */
import { type ClientBase, Pool } from "pg"
import { applyFill, commissionOf, flatPosition } from "../../src/machines/order/positionRules.ts"
import { floorToMinor, formatAmount, MoneyDecimal } from "../../src/machines/shared/Money.ts"
import { answerParent } from "../child.ts"
import { loadReferenceIds, type ReferenceIds } from "../reference/ReferenceIds.ts"
import type { Context } from "./writeOrder.ts"
import { setStatement, stepStatements } from "./plainFillStatements.ts"
import type { PlainFillQuestion, PlainFillResult } from "./protocol.ts"

interface Waiting {
  readonly orderId: number
  readonly clientId: number
}

interface Desk {
  readonly partnerId: number
  readonly ids: ReferenceIds
  readonly question: PlainFillQuestion
  /** The first id that no trade has: a trade's rows have ids that follow it. */
  next: number
}

interface OrderRecord {
  readonly client_id: string
  readonly symbol: string
  readonly context: Context
  readonly uid: string
  readonly partner_client_ref: string
  readonly position_id: string | null
  readonly net_qty: string | null
  readonly avg_entry: string | null
  readonly net_cost: string | null
  readonly realized_pnl: string | null
}

const qtyDecimals = 4
const shards = 1_024
/** Trades of one statement at most. */
const setSize = 250

type Run = (name: keyof typeof stepStatements, values: ReadonlyArray<unknown>) => Promise<ReadonlyArray<unknown>>

const runOn =
  (connection: ClientBase): Run =>
  async (name, values) =>
    (await connection.query({ name, text: stepStatements[name], values: [...values] })).rows

interface Posted {
  readonly type: "COMMISSION" | "PNL"
  readonly house: "commission" | "venue"
  readonly amount: bigint
}

/** One trade of a whole order in a transaction of its own. */
const bookOne = async (connection: ClientBase, desk: Desk, { orderId }: Waiting): Promise<void> => {
  const run = runOn(connection)
  const { partnerId, question } = desk
  const { price } = question
  await connection.query("BEGIN")
  try {
    const [order] = (await run("order", [orderId])) as ReadonlyArray<OrderRecord>
    if (order === undefined) throw new Error(`order ${orderId} does not work`)
    const { symbol, context } = order
    const clientId = Number(order.client_id)
    const { side, qty } = context
    const now = Date.now()
    const tradeId = desk.next++
    const before =
      order.net_qty === null
        ? flatPosition(symbol)
        : {
            symbol,
            netQty: order.net_qty,
            avgEntry: order.avg_entry ?? "0",
            netCost: order.net_cost ?? "0",
            realizedPnl: BigInt(order.realized_pnl ?? 0)
          }
    const { position, realized, closedQty } = applyFill(before, { side, qty, price })
    const commission = commissionOf(qty, price, context.commissionBps, "USDC")
    const closed = new MoneyDecimal(closedQty).isZero() ? null : new MoneyDecimal(closedQty).toFixed(qtyDecimals)
    const notional = floorToMinor(new MoneyDecimal(qty).mul(price), "USDC")
    const trade = [tradeId, partnerId, clientId, orderId, tradeId, symbol, side, price, qty, closed]
    await run("fill", [...trade, notional, commission, realized, now])
    await run("filled", [orderId, JSON.stringify({ ...context, filledQty: qty, lastTradeId: tradeId, updatedAt: now })])
    const flat = new MoneyDecimal(position.netQty).isZero()
    await run("position", [
      order.position_id ?? tradeId,
      partnerId,
      clientId,
      symbol,
      flat ? "FLAT" : "OPEN",
      new MoneyDecimal(position.netQty).toFixed(qtyDecimals),
      position.avgEntry,
      position.netCost,
      floorToMinor(new MoneyDecimal(position.netCost).abs(), "USDC"),
      position.realizedPnl,
      now
    ])
    const entries: ReadonlyArray<Posted> = [
      ...(realized === 0n ? [] : [{ type: "PNL", house: "venue", amount: realized } as const]),
      { type: "COMMISSION", house: "commission", amount: -commission }
    ]
    for (const entry of entries) await post(run, desk, { ...entry, order, orderId, tradeId, now })
    await run("balance", [clientId, realized - commission])
    await run("totals", [clientId, partnerId, realized, commission])
    await run("notification", [tradeId, partnerId, clientId, String(orderId), now])
    await connection.query("COMMIT")
  } catch (error) {
    await connection.query("ROLLBACK")
    throw error
  }
}

interface Entry extends Posted {
  readonly order: OrderRecord
  readonly orderId: number
  readonly tradeId: number
  readonly now: number
}

const post = async (run: Run, { partnerId, ids, question }: Desk, entry: Entry): Promise<void> => {
  const { type, house, amount, order, orderId, tradeId, now } = entry
  const clientId = Number(order.client_id)
  const txId = ids.next("transaction")
  const refs = { TradeId: tradeId, ClientOrderId: `O-${orderId}`, Instrument: order.symbol }
  const key = `${type.toLowerCase()}:${orderId}:${tradeId}`
  await run("transaction", [txId, key, type, clientId, partnerId, JSON.stringify(refs), now])
  await run("posting", [ids.next("posting"), txId, `client:${clientId}`, clientId, partnerId, amount])
  await run("posting", [ids.next("posting"), txId, house, null, partnerId, -amount])
  if (question.custody !== "PARTNER") return
  const item = JSON.stringify({
    itemId: txId,
    clientId,
    clientUid: order.uid,
    partnerClientRef: order.partner_client_ref,
    type,
    currency: "USDC",
    amount: formatAmount(amount, "USDC"),
    refs,
    occurredAt: now,
    ledgerTxId: txId,
    createdAt: now,
    partnerTxRef: null,
    settledAt: null,
    reportedAt: null,
    note: null,
    reports: 0
  })
  await run("item", [txId, partnerId, clientId, clientId % shards, item, type, amount, txId, now])
  await run("event", [partnerId, ids.next("event"), clientId, item, now])
  await run("audit", [ids.next("audit"), now, partnerId, clientId, `settlementItem:${txId}`])
}

/** Trades of orders of different clients by one statement. */
const bookSet = async (connection: ClientBase, desk: Desk, orders: ReadonlyArray<Waiting>): Promise<void> => {
  const { question, partnerId } = desk
  const first = desk.next
  desk.next += orders.length
  const { rows } = await connection.query<{ readonly booked: string }>({
    name: `set-${question.custody}`,
    text: setStatement(question.custody),
    values: [orders.map(({ orderId }) => orderId), first - 1, question.price, partnerId, Date.now()]
  })
  if (Number(rows[0]?.booked) !== orders.length) throw new Error(`${rows[0]?.booked} of ${orders.length} were booked`)
}

/** The orders of each connection, whose clients are its alone. */
const shared = (orders: ReadonlyArray<Waiting>, concurrency: number): ReadonlyArray<ReadonlyArray<Waiting>> => {
  const places = new Map([...new Set(orders.map(({ clientId }) => clientId))].map((id, place) => [id, place]))
  const lists = Array.from({ length: concurrency }, (): Array<Waiting> => [])
  for (const order of orders) lists[(places.get(order.clientId) ?? 0) % concurrency]?.push(order)
  return lists
}

/** In sets of at most `setSize`, no client twice in one. */
const setsOf = (orders: ReadonlyArray<Waiting>): ReadonlyArray<ReadonlyArray<Waiting>> => {
  const turns = new Map<number, number>()
  const byTurn = Map.groupBy(orders, ({ clientId }) => {
    const turn = turns.get(clientId) ?? 0
    turns.set(clientId, turn + 1)
    return turn
  })
  return [...byTurn.values()].flatMap((list) =>
    Array.from({ length: Math.ceil(list.length / setSize) }, (_, n) => list.slice(n * setSize, (n + 1) * setSize))
  )
}

const bookAll = async (connection: ClientBase, desk: Desk, orders: ReadonlyArray<Waiting>): Promise<void> => {
  const { way } = desk.question
  if (way === "set") for (const set of setsOf(orders)) await bookSet(connection, desk, set)
  else if (way === "one") for (const order of orders) await bookSet(connection, desk, [order])
  else for (const order of orders) await bookOne(connection, desk, order)
}

/** Ids of a statement's rows follow from its trades', so that a database is booked in one way alone. */
const firstFree = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ readonly last: string }>("SELECT coalesce(max(id), 0) AS last FROM fills")
  return Number(rows[0]?.last) + 1
}

/** Its connections outlive the question, so that what their processes have used can be read; the next one ends them. */
let last: Pool | null = null

const run = async (question: PlainFillQuestion): Promise<PlainFillResult> => {
  await last?.end()
  const pool = new Pool({ connectionString: question.databaseUrl, max: question.concurrency, idleTimeoutMillis: 0 })
  pool.on("error", (error) => console.error("plain SQL pool:", error.message))
  last = pool
  const { rows } = await pool.query<{ readonly id: string; readonly client_id: string; readonly partner_id: string }>(
    "SELECT id, client_id, partner_id FROM orders WHERE state = 'ACKED' ORDER BY id"
  )
  const orders = rows.map(({ id, client_id }) => ({ orderId: Number(id), clientId: Number(client_id) }))
  const partnerId = Number(rows[0]?.partner_id)
  const desk: Desk = { partnerId, ids: await loadReferenceIds(pool), question, next: await firstFree(pool) }
  const connections = await Promise.all(Array.from({ length: question.concurrency }, () => pool.connect()))
  try {
    const lists = shared(orders, question.concurrency)
    const began = performance.now()
    await Promise.all(connections.map((connection, n) => bookAll(connection, desk, lists[n] ?? [])))
    return { booked: orders.length, millis: performance.now() - began }
  } finally {
    for (const connection of connections) connection.release()
  }
}

answerParent(run)
