/**
 * What statements are held to: Fastify over TLS, a pg pool, JSON.stringify and pdfkit as they come. A model is what one query
 * answers, made a text in memory and stored with its hash; a file is made of the whole model. Spared are the canonical form, pieces,
 * seals, versions, limits, tags and attachments.
 */
import { createHash, randomUUID } from "node:crypto"
import { Pool } from "pg"
import { answerParent } from "../child.ts"
import { listen, partnerServer } from "../reference/partnerServer.ts"
import { poolSizes } from "../reference/protocol.ts"
import type { StatementServerQuestion } from "./protocol.ts"
import { csvOf, pdfOf, type ReferenceModel, type ReferenceRow } from "./referenceFiles.ts"

interface Params {
  readonly id: string
  readonly sid: string
}

const rowsQuery = `SELECT p.posting_id, p.tx_id, t.ts, f.ts AS venue_ts, t.type, t.refs, p.amount, p.kind FROM postings p
  JOIN ledger_transactions t USING (tx_id)
  LEFT JOIN fills f ON f.client_id = p.client_id AND f.trade_id = (t.refs ->> 'TradeId')::int8
 WHERE p.client_id = $1 AND t.ts >= $2 AND t.ts < $3 ORDER BY p.posting_id`
const openingQuery = `SELECT coalesce(sum(p.amount), 0) AS cash FROM postings p JOIN ledger_transactions t USING (tx_id)
  WHERE p.client_id = $1 AND p.kind = 'cash' AND t.ts < $2`

interface RowRecord {
  readonly posting_id: string
  readonly tx_id: string
  readonly ts: string
  readonly venue_ts: string | null
  readonly type: string
  readonly refs: object
  readonly amount: string
  readonly kind: string
}

const text = (minor: bigint): string => (Number(minor) / 1e6).toFixed(6)

const serve = async (question: StatementServerQuestion): Promise<{ readonly port: number }> => {
  const pool = new Pool({ connectionString: question.databaseUrl, max: poolSizes.tuned, idleTimeoutMillis: 0 })
  const own = new Pool({ connectionString: question.ownUrl, max: poolSizes.tuned, idleTimeoutMillis: 0 })
  for (const each of [pool, own]) each.on("error", (error) => console.error("reference pool:", error.message))
  await own.query(
    "CREATE TABLE IF NOT EXISTS models (id bigserial PRIMARY KEY, sha256 text NOT NULL, model text NOT NULL)"
  )
  const app = await partnerServer(pool, question)

  const modelOf = async (sid: string): Promise<ReferenceModel> => {
    const { rows } = await own.query<{ readonly model: string }>("SELECT model FROM models WHERE id = $1", [sid])
    return JSON.parse(rows[0]?.model ?? "{}") as ReferenceModel
  }

  app.post<{ Params: Params; Body: { readonly from: number; readonly to: number } }>(
    "/partner/v1/clients/:id/statements",
    async (request, reply) => {
      const clientId = Number(request.params.id)
      const { from, to } = request.body
      const opening = await pool.query<{ readonly cash: string }>(openingQuery, [clientId, from])
      let balance = BigInt(opening.rows[0]?.cash ?? 0)
      const { rows } = await pool.query<RowRecord>(rowsQuery, [clientId, from, to])
      const model: ReferenceModel = {
        kind: "ACCOUNT",
        clientId,
        periodFrom: from,
        periodTo: to,
        opening: text(balance),
        rows: rows.map((row): ReferenceRow => {
          balance += BigInt(row.amount)
          return {
            postingId: Number(row.posting_id),
            txId: Number(row.tx_id),
            ts: Number(row.ts),
            venueTs: Number(row.venue_ts),
            type: row.type,
            refs: row.refs,
            amount: text(BigInt(row.amount)),
            balance: text(balance),
            kind: row.kind
          }
        }),
        closing: text(balance)
      }
      const made = JSON.stringify(model)
      const sha256 = createHash("sha256").update(made).digest("hex")
      const stored = await own.query<{ readonly id: string }>(
        "INSERT INTO models (sha256, model) VALUES ($1, $2) RETURNING id",
        [sha256, made]
      )
      const statementId = Number(stored.rows[0]?.id)
      return reply.header("x-request-id", randomUUID()).send({ statementId, rows: model.rows.length, sha256 })
    }
  )
  app.get<{ Params: Params }>("/partner/v1/clients/:id/statements/:sid/csv", async (request, reply) =>
    reply.type("text/csv; charset=utf-8").send(csvOf(await modelOf(request.params.sid)))
  )
  app.get<{ Params: Params }>("/partner/v1/clients/:id/statements/:sid/pdf", async (request, reply) =>
    reply.type("application/pdf").send(pdfOf(await modelOf(request.params.sid)))
  )
  app.setErrorHandler((error, _request, reply) => reply.code(500).send({ code: 5000, msg: String(error) }))
  return listen(app)
}

answerParent(serve)
