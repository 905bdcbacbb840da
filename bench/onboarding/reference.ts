/**
 * The reference of the onboarding part, a process of its own: Fastify over TLS and a pg pool of 10, one handler for
 * POST /clients and one for PUT .../kyc. The key is checked by SHA-256 against the partners' keys held in memory, the
 * body by Fastify's JSON schema.
 */
import { randomUUID } from "node:crypto"
import type { FastifyReply, FastifyRequest } from "fastify"
import { Pool, type PoolClient } from "pg"
import { answerParent } from "../child.ts"
import { listen, type PartnerRequest, partnerServer } from "../reference/partnerServer.ts"
import { onboardingSchema, revisionSchema } from "./bodySchemas.ts"
import { type OnboardingServeAnswer, type OnboardingServeQuestion, poolSize } from "./protocol.ts"
import { loadReferenceIds } from "./ReferenceIds.ts"
import type { Keyed, OnboardingBody, RevisionBody, StoredAnswer } from "./rows.ts"
import { writeOnboarding } from "./writeOnboarding.ts"
import { writeRevision } from "./writeRevision.ts"

const keyedOf = <Body>(request: FastifyRequest, body: Body): Keyed<Body> => {
  const { partnerId, text } = request as unknown as PartnerRequest
  return {
    partnerId,
    idempotencyKey: String(request.headers["idempotency-key"] ?? ""),
    requestId: randomUUID(),
    text: `${request.method} ${request.url}\n${text}`,
    body,
    now: Date.now()
  }
}

const serve = async (question: OnboardingServeQuestion): Promise<OnboardingServeAnswer> => {
  const pool = new Pool({ connectionString: question.databaseUrl, max: poolSize, idleTimeoutMillis: 0 })
  pool.on("error", (error) => console.error("onboarding reference pool:", error.message))
  const ids = await loadReferenceIds(pool)
  const app = await partnerServer(pool, question)
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
  return listen(app)
}

answerParent(serve)
