/**
 * The statements of an end-of-day run by plain SQL, in a process of its own: for each client a query of its executions,
 * a model as text with its hash, and a transaction with the rows that the service stores for it (model, piece,
 * statement, notification, event, audit row), on several connections with prepared statements. It leaves out cut-offs,
 * seals, the canonical form, encryption, and the progress that a restart would need.
 */
import { createHash } from "node:crypto"
import { Pool } from "pg"
import { answerParent } from "../child.ts"
import type { PlainNightQuestion, PlainNightResult } from "./protocol.ts"

const executions = `SELECT f.id, f.order_id, f.trade_id, f.symbol, f.family, f.side, f.price, f.qty, f.closed_qty, f.currency, f.notional,
    f.commission, f.ts, f.booked_at, f.order_type, f.origin
  FROM fills f
 WHERE f.client_id = $1 AND f.booked_at >= $2 AND f.booked_at < $3 ORDER BY f.id`
const model = `INSERT INTO statement_models (id, partner_id, client_id, sha256, size, pieces, counts, stored_at)
  VALUES ($1, $2, $3, $4, $5, 1, '{}', $6)`
const piece = `INSERT INTO statement_pieces (model_id, number, partner_id, client_id, section, content, stored_at)
  VALUES ($1, 0, $2, $3, 0, $4, $5)`
const statement = `INSERT INTO statements (id, partner_id, client_id, state, version, context, kind, period_from, period_to, number,
    model_id, generated_at) VALUES ($1, $2, $3, 'GENERATED', '1', $4, 'TRANSACTIONS', $5, $6, 1, $1, $7)`
const notification = `INSERT INTO notifications (id, partner_id, client_id, kind, ref, ts, written_at)
  VALUES ($1, $2, $3, 'STATEMENT_READY', $1::bigint::text, $4, $4)`
const event =
  "INSERT INTO events (partner_id, seq, name, client_id, data, ts) VALUES ($1, $2, 'statement.ready', $3, $4, $5)"
const audit = `INSERT INTO audit (id, ts, role, key_label, request_id, partner_id, client_id, object, action, after)
  VALUES ($1, $2, 'SYSTEM', 'job', 'job', $3, $4, $5, 'statement.make', 'GENERATED')`

const partnerId = 1
/** The highest id of all questions so far. */
let lastId = 0

const run = async (question: PlainNightQuestion): Promise<PlainNightResult> => {
  const { databaseUrl, ownUrl, clientIds, concurrency, from, to } = question
  const reads = new Pool({ connectionString: databaseUrl, max: concurrency })
  const writes = new Pool({ connectionString: ownUrl, max: concurrency })
  let at = 0
  const one = async (clientId: number): Promise<void> => {
    const { rows } = await reads.query({ name: "executions", text: executions, values: [clientId, from, to] })
    const id = ++lastId
    const now = Date.now()
    const head = { kind: "TRANSACTIONS", clientId, periodFrom: from, periodTo: to, statementId: id }
    const text = JSON.stringify({ ...head, sections: [{ name: "EXECUTIONS", rows }] })
    const sha256 = createHash("sha256").update(text).digest("hex")
    const wire = JSON.stringify({ ...head, sha256, rows: rows.length, version: 1, generatedAt: now })
    const connection = await writes.connect()
    try {
      const put = (name: string, sql: string, values: ReadonlyArray<unknown>) =>
        connection.query({ name, text: sql, values: [...values] })
      await connection.query("BEGIN")
      await put("model", model, [id, partnerId, clientId, sha256, text.length, now])
      await put("piece", piece, [id, partnerId, clientId, Buffer.from(text), now])
      await put("statement", statement, [id, partnerId, clientId, wire, from, to, now])
      await put("notification", notification, [id, partnerId, clientId, now])
      await put("event", event, [partnerId, id, clientId, wire, now])
      await put("audit", audit, [id, now, partnerId, clientId, `statement:${id}`])
      await connection.query("COMMIT")
    } finally {
      connection.release()
    }
  }
  try {
    const began = performance.now()
    const work = async (): Promise<void> => {
      while (at < clientIds.length) await one(clientIds[at++] as number)
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    return { statements: clientIds.length, millis: performance.now() - began }
  } finally {
    await reads.end()
    await writes.end()
  }
}

answerParent(run)
