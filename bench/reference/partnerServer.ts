/**
 * The common part of the reference services: Fastify over TLS. It knows the partners' keys by their SHA-256, held in
 * memory, and keeps the text of a body for the fingerprint of its Idempotency-Key.
 */
import { createHash } from "node:crypto"
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify"
import type { Pool } from "pg"

export interface ServerKeys {
  /** PEM of the certificate and of its key. */
  readonly certificate: string
  readonly key: string
}

/** A request whose key is known; `text` is its body as sent. */
export interface PartnerRequest extends FastifyRequest {
  partnerId: number
  text: string
}

/** A server without routes; requests without a valid key are answered 401. */
export const partnerServer = async (pool: Pool, { certificate, key }: ServerKeys): Promise<FastifyInstance> => {
  const partners = await loadKeys(pool)
  const app = fastify({ https: { cert: certificate, key } }) as unknown as FastifyInstance
  app.decorateRequest("partnerId", 0)
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    try {
      ;(request as PartnerRequest).text = body as string
      done(null, JSON.parse(body as string))
    } catch (error) {
      done(error as Error, undefined)
    }
  })
  app.addHook("onRequest", async (request, reply) => {
    const sent = request.headers.authorization?.slice("Bearer ".length) ?? ""
    const partnerId = partners.get(createHash("sha256").update(sent).digest("hex"))
    if (partnerId === undefined) return reply.code(401).send({ code: 4010, msg: "A valid partner key is required." })
    ;(request as PartnerRequest).partnerId = partnerId
  })
  return app
}

/** Listens on a free port of 127.0.0.1, and returns the port. */
export const listen = async (app: FastifyInstance): Promise<{ readonly port: number }> => {
  const url = await app.listen({ host: "127.0.0.1", port: 0 })
  return { port: Number(new URL(url).port) }
}

const loadKeys = async (pool: Pool): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await pool.query<{ readonly hash: string; readonly partner_id: string }>(
    "SELECT hash, partner_id FROM api_keys WHERE state = 'ACTIVE'"
  )
  return new Map(rows.map((row) => [row.hash, Number(row.partner_id)]))
}
