/**
 * The reference of the onboarding part, a process of its own: Fastify over TLS and a pg pool of 10, one handler for
 * POST /clients and one for PUT .../kyc. The key is checked by SHA-256 against the partners' keys held in memory, the
 * body by Fastify's JSON schema.
 */
import { createHash, randomUUID } from "node:crypto"
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify"
import { Pool, type PoolClient } from "pg"
import { answerParent } from "../child.ts"
import { onboardingSchema, revisionSchema } from "./bodySchemas.ts"
import { type OnboardingServeAnswer, type OnboardingServeQuestion, poolSize } from "./protocol.ts"
import { loadReferenceIds } from "./ReferenceIds.ts"
import type { Keyed, OnboardingBody, RevisionBody, StoredAnswer } from "./rows.ts"
import { writeOnboarding } from "./writeOnboarding.ts"
import { writeRevision } from "./writeRevision.ts"

interface RequestWithFacts extends FastifyRequest {
  partnerId: number
  text: string
}

const loadKeys = async (pool: Pool): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await pool.query<{ readonly hash: string; readonly partner_id: string }>(
    "SELECT hash, partner_id FROM api_keys WHERE state = 'ACTIVE'"
  )
  return new Map(rows.map((row) => [row.hash, Number(row.partner_id)]))
}

const keyedOf = <Body>(request: FastifyRequest, body: Body): Keyed<Body> => {
  const { partnerId, text } = request as unknown as RequestWithFacts
  return {
    partnerId,
    idempotencyKey: String(request.headers["idempotency-key"] ?? ""),
    requestId: randomUUID(),
    text: `${request.method} ${request.url}\n${text}`,
    body,
    now: Date.now()
  }
}

const makeServer = ({ certificate, key }: OnboardingServeQuestion, partners: ReadonlyMap<string, number>) => {
  const app = fastify({ https: { cert: certificate, key } }) as unknown as FastifyInstance
  app.decorateRequest("partnerId", 0)
  // The body's text is hashed for the key's fingerprint, so the parser keeps it.
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    try {
      ;(request as RequestWithFacts).text = body as string
      done(null, JSON.parse(body as string))
    } catch (error) {
      done(error as Error, undefined)
    }
  })
  app.addHook("onRequest", async (request, reply) => {
    const sent = request.headers.authorization?.slice("Bearer ".length) ?? ""
    const partnerId = partners.get(createHash("sha256").update(sent).digest("hex"))
    if (partnerId === undefined) return reply.code(401).send({ code: 4010, msg: "A valid partner key is required." })
    ;(request as RequestWithFacts).partnerId = partnerId
  })
  return app
}

const serve = async (question: OnboardingServeQuestion): Promise<OnboardingServeAnswer> => {
  const pool = new Pool({ connectionString: question.databaseUrl, max: poolSize, idleTimeoutMillis: 0 })
  pool.on("error", (error) => console.error("onboarding reference pool:", error.message))
  const ids = await loadReferenceIds(pool)
  const app = makeServer(question, await loadKeys(pool))
  const answer = async (reply: FastifyReply, work: (connection: PoolClient) => Promise<StoredAnswer>) => {
    const connection = await pool.connect()
    try {
      const { status, text } = await work(connection)
      return await reply.code(status).header("x-request-id", randomUUID()).type("application/json").send(text)
    } finally {
      connection.release()
    }
  }
  app.post<{ Body: OnboardingBody }>("/partner/v1/clients", { schema: { body: onboardingSchema } }, (request, reply) =>
    answer(reply, (connection) => writeOnboarding(connection, ids, keyedOf(request, request.body)))
  )
  app.put<{ Params: { readonly id: string }; Body: RevisionBody }>(
    "/partner/v1/clients/:id/kyc",
    { schema: { body: revisionSchema } },
    (request, reply) =>
      answer(reply, (connection) =>
        writeRevision(connection, ids, { ...keyedOf(request, request.body), clientId: Number(request.params.id) })
      )
  )
  const url = await app.listen({ host: "127.0.0.1", port: 0 })
  return { port: Number(new URL(url).port) }
}

answerParent(serve)
