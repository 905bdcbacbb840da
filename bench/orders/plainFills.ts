/**
 * Trades booked by plain SQL, in a process of its own: no HTTP, no events, `concurrency` connections with prepared
 * statements, each with its own clients, so that no connection waits for another's locks. One statement books a trade.
 *
 * The reference does less work than the service: orders and their trades are known in advance and read once, ids come
 * from memory, event numbers may have gaps, trades are not looked up, there are no seals, and no trigger checks a sum.
 */
import { type ClientBase, Pool } from "pg"
import { answerParent } from "../child.ts"
import { bookStatement } from "./plainFillStatements.ts"
import type { PlainFillQuestion, PlainFillResult } from "./protocol.ts"

interface Waiting {
  readonly orderId: number
  readonly clientId: number
}

interface Desk {
  readonly partnerId: number
  readonly question: PlainFillQuestion
  /** The first unused id; the ids of a trade's rows follow it. */
  next: number
}

const book = async (connection: ClientBase, desk: Desk, { orderId }: Waiting): Promise<void> => {
  const { question, partnerId } = desk
  const { rows } = await connection.query<{ readonly booked: string }>({
    name: `book-${question.custody}`,
    text: bookStatement(question.custody),
    values: [[orderId], desk.next++ - 1, question.price, partnerId, Date.now()]
  })
  if (rows[0]?.booked !== "1") throw new Error(`order ${orderId} does not work`)
}

/** Distributes the orders over connections so that no two connections share a client. */
const shared = (orders: ReadonlyArray<Waiting>, concurrency: number): ReadonlyArray<ReadonlyArray<Waiting>> => {
  const places = new Map([...new Set(orders.map(({ clientId }) => clientId))].map((id, place) => [id, place]))
  const lists = Array.from({ length: concurrency }, (): Array<Waiting> => [])
  for (const order of orders) lists[(places.get(order.clientId) ?? 0) % concurrency]?.push(order)
  return lists
}

const bookAll = async (connection: ClientBase, desk: Desk, orders: ReadonlyArray<Waiting>): Promise<void> => {
  for (const order of orders) await book(connection, desk, order)
}

const firstFree = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ readonly last: string }>("SELECT coalesce(max(id), 0) AS last FROM fills")
  return Number(rows[0]?.last) + 1
}

/**
 * The last pool. It stays open after the answer, so that the processor time of its server processes can be read; the
 * next question closes it.
 */
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
  const desk: Desk = { partnerId, question, next: await firstFree(pool) }
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
