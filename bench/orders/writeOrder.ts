/**
 * The writes of the reference services: an order before and after its venue call, and a cancel before and after its
 * call. Each is a commit, because the call must survive a crash. The rows are those of the service: order with its held
 * amount, call, audit, stored answer. `typical` writes them one by one; `tuned` prepares its statements, reads with one
 * query and writes all rows of a commit by one statement.
 *
 * The references do less work than the service: ids come from memory, stored answers are not encrypted, there are no
 * seals, no venue event is read, only the gates of cash, number and state are checked, and a call without an answer of
 * the venue is not resolved.
 */
import { type ClientBase, type Pool, type QueryResultRow } from "pg"
import type { Style } from "../reference/protocol.ts"
import type { ReferenceIds } from "../reference/ReferenceIds.ts"
import { transact } from "../reference/transact.ts"
import { contextOf, heldFor, type ReferenceOrder } from "./orderRow.ts"

export type Context = ReturnType<typeof contextOf>
export interface Asked {
  readonly partnerId: number
  readonly requestId: string
}
export interface Placed extends Asked {
  readonly order: Omit<ReferenceOrder, "account">
  readonly prefix: string
}
export interface Answered extends Asked {
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly body: string
  readonly context: Context
}
export interface Cancelled extends Asked {
  readonly clientId: number
  readonly orderId: number
}

const orderColumns =
  "(id, partner_id, client_id, state, version, context, symbol, currency, amount, parent_order_id, created_at)"
const auditColumns = "(id, ts, role, key_label, request_id, partner_id, client_id, object, action, after)"
const mostWorking = 500

const statements = {
  answer: "SELECT status, body FROM answers WHERE principal = 'partner:' || $1::text AND key = $2",
  client: `SELECT c.uid, c.state, b.cash FROM clients c JOIN balances b ON b.client_id = c.id AND b.currency = 'USDC'
            WHERE c.id = $1 AND c.partner_id = $2 FOR UPDATE`,
  positions: "SELECT coalesce(sum(amount), 0) AS held FROM positions WHERE client_id = $1 AND state = 'OPEN'",
  tied: `SELECT coalesce(sum(amount), 0) AS held, count(*) AS n FROM orders WHERE client_id = $1 AND works`,
  room: `SELECT (SELECT coalesce(sum(amount), 0) FROM orders WHERE client_id = $1 AND works)
              + (SELECT coalesce(sum(amount), 0) FROM positions WHERE client_id = $1 AND state = 'OPEN') AS held,
                (SELECT count(*) FROM orders WHERE client_id = $1 AND works) AS n,
                (SELECT count(*) FROM answers WHERE principal = 'partner:' || $2::text AND key = $3) AS answered`,
  order: `INSERT INTO orders ${orderColumns} VALUES ($1, $2, $3, 'SENT', '1', $4, $5, 'USDC', $6, NULL, $7)`,
  call: "INSERT INTO venue_calls (ref, partner_id, client_id, call, request, at) VALUES ($1, $2, $3, $4, $5, $6)",
  audit: `INSERT INTO audit ${auditColumns} VALUES ($1, $2, 'PARTNER', 'bench', $3, $4, $5, $6, $7, $8)`,
  sent: `WITH o AS (INSERT INTO orders ${orderColumns} VALUES ($1, $2, $3, 'SENT', '1', $4, $5, 'USDC', $6, NULL, $7)),
              v AS (INSERT INTO venue_calls (ref, partner_id, client_id, call, request, at) VALUES ($8, $2, $3, 'placeOrder', $9, $7))
         INSERT INTO audit ${auditColumns} VALUES ($10, $7, 'PARTNER', 'bench', $11, $2, $3, $12, 'order.place', 'SENT')`,
  read: "SELECT state, context FROM orders WHERE id = $1 AND client_id = $2 FOR UPDATE",
  update: "UPDATE orders SET state = $2, context = $3 WHERE id = $1",
  called: "DELETE FROM venue_calls WHERE ref = $1",
  storeAnswer: `INSERT INTO answers (principal, key, fingerprint, status, body, answered_at)
                VALUES ('partner:' || $1::text, $2, $3, 200, $4, $5)`,
  acked: `WITH o AS (UPDATE orders SET state = 'ACKED', context = $2 WHERE id = $1),
               v AS (DELETE FROM venue_calls WHERE ref = $3)
          INSERT INTO answers (principal, key, fingerprint, status, body, answered_at)
          VALUES ('partner:' || $4::text, $5, $6, 200, $7, $8)`,
  cancelling: `WITH o AS (UPDATE orders SET state = 'PENDING_CANCEL', context = (context::jsonb ||
                 '{"cancels":1,"cancelling":{"attempt":1,"from":"ACKED"}}'::jsonb)::json
                 WHERE id = $1 AND client_id = $2 AND partner_id = $3 AND state = 'ACKED' RETURNING context),
                    v AS (INSERT INTO venue_calls (ref, partner_id, client_id, call, request, at)
                          SELECT $4, $3::bigint, $2::bigint, 'cancelOrder', $5::json, $6::bigint FROM o),
                    a AS (INSERT INTO audit ${auditColumns}
                          SELECT $7::bigint, $6::bigint, 'PARTNER', 'bench', $8, $3::bigint, $2::bigint, $9, 'order.cancel', 'PENDING_CANCEL' FROM o)
               SELECT context FROM o`,
  cancelled: `WITH o AS (UPDATE orders SET state = 'CANCELLED', context = $2 WHERE id = $1),
                   v AS (DELETE FROM venue_calls WHERE ref = $3)
              INSERT INTO audit ${auditColumns} VALUES ($4, $5, 'PARTNER', 'bench', $6, $7, $8, $9, 'order.end', 'CANCELLED')`
} as const

/** Runs a statement, prepared in the tuned style. */
export const runnerOf =
  (sql: ClientBase | Pool, style: Style) =>
  async <Row extends QueryResultRow>(
    name: keyof typeof statements,
    values: ReadonlyArray<unknown>
  ): Promise<ReadonlyArray<Row>> => {
    const text = statements[name]
    const { rows } = await sql.query<Row>({ ...(style === "tuned" ? { name } : {}), text, values: [...values] })
    return rows
  }

export interface Desk {
  readonly pool: Pool
  readonly style: Style
  readonly ids: ReferenceIds
}

const refuse = (sentence: string): never => {
  throw new Error(sentence)
}

/** Checks the gates, and writes order, call and audit row. Returns the client's account at the venue. */
export const writeSent = ({ pool, style, ids }: Desk, { partnerId, requestId, order, prefix }: Placed, key: string) =>
  transact(pool, async (sql): Promise<Context> => {
    const run = runnerOf(sql, style)
    const { orderId, clientId, symbol, qty, price, at } = order
    const needed = heldFor(price, qty)
    const [client] = await run<{ uid: string; state: string; cash: string }>("client", [clientId, partnerId])
    if (client === undefined || client.state !== "ACTIVE") return refuse("no such client")
    const room = await roomOf(run, style, clientId, partnerId, key)
    if (BigInt(client.cash) - room.held < needed)
      refuse("The order's margin and costs exceed the client's free margin.")
    if (room.n >= mostWorking) refuse("too many working orders")
    const context = contextOf({ ...order, account: client.uid })
    const object = `order:${orderId}`
    const ref = `${prefix}-${orderId}`
    const call = JSON.stringify({ ref, account: client.uid, symbol, side: order.side, price, qty, tif: "GTC" })
    const auditId = ids.next("audit")
    const row = [orderId, partnerId, clientId, JSON.stringify(context), symbol, needed, at]
    if (style === "tuned") {
      await run("sent", [...row, ref, call, auditId, requestId, object])
      return context
    }
    await run("order", row)
    await run("call", [ref, partnerId, clientId, "placeOrder", call, at])
    await run("audit", [auditId, at, requestId, partnerId, clientId, object, "order.place", "SENT"])
    return context
  })

const roomOf = async (
  run: ReturnType<typeof runnerOf>,
  style: Style,
  clientId: number,
  partnerId: number,
  key: string
): Promise<{ readonly held: bigint; readonly n: number }> => {
  if (style === "tuned") {
    const [room] = await run<{ held: string; n: string; answered: string }>("room", [clientId, partnerId, key])
    if (room === undefined || room.answered !== "0") return refuse("the key was used before")
    return { held: BigInt(room.held), n: Number(room.n) }
  }
  const [answered] = await run("answer", [partnerId, key])
  if (answered !== undefined) refuse("the key was used before")
  const [positions] = await run<{ held: string }>("positions", [clientId])
  const [orders] = await run<{ held: string; n: string }>("tied", [clientId])
  return { held: BigInt(positions?.held ?? 0) + BigInt(orders?.held ?? 0), n: Number(orders?.n) }
}

/** Writes the venue's answer, and the stored answer to the partner. */
export const writeAcked = async ({ pool, style }: Desk, ref: string, answered: Answered): Promise<void> => {
  const { context, partnerId, idempotencyKey, fingerprint, body } = answered
  const stored = [partnerId, idempotencyKey, fingerprint, Buffer.from(body), Date.now()]
  if (style === "tuned") {
    await runnerOf(pool, style)("acked", [context.orderId, JSON.stringify(context), ref, ...stored])
    return
  }
  await transact(pool, async (sql) => {
    const run = runnerOf(sql, style)
    await run("read", [context.orderId, context.clientId])
    await run("update", [context.orderId, "ACKED", JSON.stringify(context)])
    await run("called", [ref])
    await run("storeAnswer", stored)
  })
}

/** Writes call and audit row of a cancel. Returns the order. */
export const writeCancelling = async (
  { pool, style, ids }: Desk,
  { partnerId, requestId, clientId, orderId }: Cancelled,
  prefix: string
): Promise<Context> => {
  const ref = `${prefix}-${orderId}-c1`
  const call = JSON.stringify({ ref, target: `${prefix}-${orderId}` })
  const object = `order:${orderId}`
  const now = Date.now()
  const auditId = ids.next("audit")
  if (style === "tuned") {
    const [row] = await runnerOf(pool, style)<{ context: Context }>("cancelling", [
      orderId,
      clientId,
      partnerId,
      ref,
      call,
      now,
      auditId,
      requestId,
      object
    ])
    return row?.context ?? refuse("the order does not work")
  }
  return transact(pool, async (sql) => {
    const run = runnerOf(sql, style)
    const [row] = await run<{ state: string; context: Context }>("read", [orderId, clientId])
    if (row?.state !== "ACKED") return refuse("the order does not work")
    const context: Context = { ...row.context, cancels: 1, cancelling: { attempt: 1, from: "ACKED" }, updatedAt: now }
    await run("update", [orderId, "PENDING_CANCEL", JSON.stringify(context)])
    await run("call", [ref, partnerId, clientId, "cancelOrder", call, now])
    await run("audit", [auditId, now, requestId, partnerId, clientId, object, "order.cancel", "PENDING_CANCEL"])
    return context
  })
}

/** Writes the end of a cancelled order. */
export const writeCancelled = async (
  { pool, style, ids }: Desk,
  { partnerId, requestId, clientId, orderId }: Cancelled,
  context: Context,
  ref: string
): Promise<void> => {
  const ended = JSON.stringify({ ...context, cancelling: null, updatedAt: Date.now() })
  const object = `order:${orderId}`
  const auditId = ids.next("audit")
  const now = Date.now()
  if (style === "tuned") {
    const values = [orderId, ended, ref, auditId, now, requestId, partnerId, clientId, object]
    await runnerOf(pool, style)("cancelled", values)
    return
  }
  await transact(pool, async (sql) => {
    const run = runnerOf(sql, style)
    await run("read", [orderId, clientId])
    await run("update", [orderId, "CANCELLED", ended])
    await run("called", [ref])
    await run("audit", [auditId, now, requestId, partnerId, clientId, object, "order.end", "CANCELLED"])
  })
}
