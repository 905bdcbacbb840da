/**
 * The reference of takes: Fastify over TLS and a pg pool at the same venue process. A take is one commit, the venue's
 * call, another commit and the answer (`writeTake`).
 */
import { createHash, randomUUID } from "node:crypto"
import { Pool } from "pg"
import { answerParent } from "../child.ts"
import { listen, type PartnerRequest, partnerServer } from "../reference/partnerServer.ts"
import { poolSizes } from "../reference/protocol.ts"
import { loadReferenceIds } from "../reference/ReferenceIds.ts"
import { VenueSide } from "../reference/VenueSide.ts"
import type { TakeServerQuestion } from "./protocol.ts"
import { answerOf, takeSchema } from "./takeRow.ts"
import { type Desk, writeTaken, writeTaking } from "./writeTake.ts"

interface Params {
  readonly id: string
  readonly offerId: string
}

const serve = async (question: TakeServerQuestion): Promise<{ readonly port: number }> => {
  const { style, offer } = question
  const pool = new Pool({ connectionString: question.databaseUrl, max: poolSizes[style], idleTimeoutMillis: 0 })
  pool.on("error", (error) => console.error("reference pool:", error.message))
  const desk: Desk = { pool, style, ids: await loadReferenceIds(pool), offer, prefix: style }
  const venue = new VenueSide(question)
  const app = await partnerServer(pool, question)
  let lastSwap = 0

  app.post<{ Params: Params; Body: { readonly qty: string } }>(
    "/partner/v1/clients/:id/staking/:offerId/accept",
    { schema: { body: takeSchema } },
    async (request, reply) => {
      const { partnerId, text: sent } = request as unknown as PartnerRequest
      if (Number(request.params.offerId) !== offer.offerId) throw new Error("no such offer")
      const swapId = ++lastSwap
      const requestId = randomUUID()
      const idempotencyKey = String(request.headers["idempotency-key"] ?? "")
      const { qty } = request.body
      const asked = { partnerId, requestId, idempotencyKey, swapId, clientId: Number(request.params.id), qty }
      const begun = await writeTaking(desk, asked)
      const account = `${style}-${begun.context.account}`
      const { swap, reason } = await venue.write("/takes", account, {
        ref: `${style}-S${swapId}`,
        offerId: offer.offerId,
        qty
      })
      if (swap === null || swap === undefined) throw new Error(`the venue refuses: ${reason}`)
      const { id: contractId, tradeId, openedAt, maturityAt } = swap
      const body = answerOf({ ...begun.context, contractId, openedTs: openedAt, maturityTs: maturityAt }, tradeId)
      const fingerprint = createHash("sha256").update(`${request.method} ${request.url}\n${sent}`).digest("hex")
      await writeTaken(desk, { ...asked, fingerprint, body }, begun, { contractId, tradeId, openedAt, maturityAt })
      return reply.header("x-request-id", requestId).type("application/json").send(body)
    }
  )
  app.setErrorHandler((error, _request, reply) => reply.code(500).send({ code: 5000, msg: String(error) }))
  return listen(app)
}

answerParent(serve)
