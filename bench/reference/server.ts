/**
 * The reference service, in a process of its own: Fastify over TLS and a pg pool, one handler for the report and one
 * for the client read. The key is checked by SHA-256 against the partners' keys held in memory, the body by Fastify's
 * JSON schema.
 */
import { randomUUID } from "node:crypto"
import { Pool } from "pg"
import { answerParent } from "../child.ts"
import { listen, type PartnerRequest, partnerServer } from "./partnerServer.ts"
import { poolSizes, type ServeQuestion } from "./protocol.ts"
import { loadReferenceIds } from "./ReferenceIds.ts"
import { type CollateralBody, writeCollateral } from "./writeCollateral.ts"

interface Params {
  readonly id: string
}

const bodySchema = {
  type: "object",
  required: ["partnerRef", "direction", "amount"],
  properties: {
    partnerRef: { type: "string", minLength: 1, maxLength: 64 },
    direction: { type: "string", enum: ["DEPOSIT"] },
    currency: { type: "string", enum: ["USDC"] },
    amount: { type: "string", pattern: "^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,6})?$" },
    sourceAsset: { type: "string", maxLength: 32 },
    txRef: { type: "string", maxLength: 128 },
    occurredAt: { type: "integer", minimum: 1 }
  }
} as const

const paramsSchema = { type: "object", properties: { id: { type: "string", pattern: "^[1-9][0-9]{0,18}$" } } } as const

const clientQuery = {
  name: "readClient",
  text: `SELECT c.id, c.uid, c.partner_client_ref, c.email, c.display_name, c.level, c.state, c.categorization, c.created_at, b.cash
           FROM clients c LEFT JOIN balances b ON b.client_id = c.id AND b.currency = 'USDC'
          WHERE c.id = $1 AND c.partner_id = $2`
}

interface ClientRecord {
  readonly id: string
  readonly uid: string
  readonly partner_client_ref: string
  readonly email: string
  readonly display_name: string
  readonly level: string
  readonly state: string
  readonly categorization: string
  readonly created_at: string
  readonly cash: string | null
}

/** Starts the reference service on a free port. */
const serve = async (question: ServeQuestion): Promise<{ readonly port: number }> => {
  // Connections are kept between slices, and with them their prepared statements.
  const pool = new Pool({
    connectionString: question.databaseUrl,
    max: poolSizes[question.style],
    idleTimeoutMillis: 0
  })
  pool.on("error", (error) => console.error("reference pool:", error.message))
  const ids = await loadReferenceIds(pool)
  const app = await partnerServer(pool, question)
  app.post<{ Params: Params; Body: CollateralBody }>(
    "/partner/v1/clients/:id/collateral",
    { schema: { params: paramsSchema, body: bodySchema } },
    async (request, reply) => {
      const { partnerId, text } = request as unknown as PartnerRequest
      const requestId = randomUUID()
      const connection = await pool.connect()
      try {
        const answer = await writeCollateral(connection, question.style, ids, {
          partnerId,
          clientId: Number(request.params.id),
          idempotencyKey: String(request.headers["idempotency-key"] ?? ""),
          requestId,
          text,
          body: request.body,
          now: Date.now()
        })
        return reply.code(answer.status).header("x-request-id", requestId).type("application/json").send(answer.text)
      } finally {
        connection.release()
      }
    }
  )
  app.get<{ Params: Params }>(
    "/partner/v1/clients/:id",
    { schema: { params: paramsSchema } },
    async (request, reply) => {
      const { partnerId } = request as unknown as PartnerRequest
      const { rows } = await pool.query<ClientRecord>({ ...clientQuery, values: [request.params.id, partnerId] })
      const row = rows[0]
      if (row === undefined)
        return reply.code(404).send({ code: 4004, msg: "Client not found.", error: "Client not found." })
      return reply.header("x-request-id", randomUUID()).send({ code: 0, data: wireOf(row) })
    }
  )
  return listen(app)
}

const wireOf = (row: ClientRecord) => {
  const digits = (row.cash ?? "0").padStart(7, "0")
  return {
    clientId: Number(row.id),
    clientUid: row.uid,
    partnerClientRef: row.partner_client_ref,
    email: row.email,
    displayName: row.display_name,
    verificationLevel: row.level,
    lifecycleState: row.state,
    categorization: row.categorization,
    riskState: null,
    cashUsdc: `${digits.slice(0, -6)}.${digits.slice(-6)}`,
    createdAt: Number(row.created_at)
  }
}

answerParent(serve)
