/**
 * The reference of orders: Fastify over TLS and a pg pool at the same venue process. An order takes one commit, the
 * venue call, another commit and the answer; a cancel takes the same steps (`writeOrder`).
 */
import { createHash, randomUUID } from "node:crypto"
import type { FastifyRequest } from "fastify"
import { Pool } from "pg"
import { answerParent } from "../child.ts"
import { listen, type PartnerRequest, partnerServer } from "../reference/partnerServer.ts"
import { poolSizes } from "../reference/protocol.ts"
import { loadReferenceIds } from "../reference/ReferenceIds.ts"
import { VenueSide } from "../reference/VenueSide.ts"
import { limitSchema } from "./orderRow.ts"
import type { AskedLimit, OrderServerQuestion } from "./protocol.ts"
import { type Desk, writeAcked, writeCancelled, writeCancelling, writeSent } from "./writeOrder.ts"

interface Params {
  readonly id: string
  readonly orderId: string
}

const askedOf = (request: FastifyRequest) => ({
  partnerId: (request as PartnerRequest).partnerId,
  requestId: randomUUID()
})

const serve = async (question: OrderServerQuestion): Promise<{ readonly port: number }> => {
  const { style } = question
  const pool = new Pool({ connectionString: question.databaseUrl, max: poolSizes[style], idleTimeoutMillis: 0 })
  pool.on("error", (error) => console.error("reference pool:", error.message))
  const desk: Desk = { pool, style, ids: await loadReferenceIds(pool) }
  const venue = new VenueSide(question)
  const app = await partnerServer(pool, question)
  const prefix = style
  const nameOf = (account: string): string => `${style}-${account}`
  let lastOrder = 0

  app.post<{ Params: Params; Body: AskedLimit }>(
    "/partner/v1/clients/:id/orders",
    { schema: { body: limitSchema } },
    async (request, reply) => {
      const asked = askedOf(request)
      const { body } = request
      const idempotencyKey = String(request.headers["idempotency-key"] ?? "")
      const orderId = ++lastOrder
      const order = { ...body, orderId, clientId: Number(request.params.id), at: Date.now() }
      const context = await writeSent(desk, { ...asked, order, prefix }, idempotencyKey)
      const ref = `${prefix}-${orderId}`
      const { symbol, side, qty, price } = body
      const terms = { symbol, side, qty, price, tif: "GTC", reduceOnly: false, trigger: null, group: null }
      const outcome = await venue.write("/orders", nameOf(context.account), { ref, ...terms })
      if (outcome.order?.state !== "WORKING") throw new Error(`the venue refuses: ${outcome.reason}`)
      const answer = JSON.stringify({ orderId, clOrdId: ref, state: "ACKED" })
      const text = `${request.method} ${request.url}\n${(request as unknown as PartnerRequest).text}`
      await writeAcked(desk, ref, {
        ...asked,
        idempotencyKey,
        fingerprint: createHash("sha256").update(text).digest("hex"),
        body: answer,
        context: { ...context, venueOrderId: outcome.order.id, updatedAt: Date.now() }
      })
      return reply.header("x-request-id", asked.requestId).type("application/json").send(answer)
    }
  )

  app.delete<{ Params: Params }>("/partner/v1/clients/:id/orders/:orderId", async (request, reply) => {
    const asked = askedOf(request)
    const orderId = Number(request.params.orderId)
    const cancelled = { ...asked, orderId, clientId: Number(request.params.id) }
    const context = await writeCancelling(desk, cancelled, prefix)
    const [target, ref] = [`${prefix}-${orderId}`, `${prefix}-${orderId}-c1`]
    const outcome = await venue.write("/orders/cancel", nameOf(context.account), { ref, target })
    if (outcome.order?.state !== "CANCELLED") throw new Error(`the venue refuses: ${outcome.reason}`)
    await writeCancelled(desk, cancelled, context, ref)
    return reply.header("x-request-id", asked.requestId).send({ orderId, clOrdId: target })
  })
  app.setErrorHandler((error, _request, reply) => reply.code(500).send({ code: 5000, msg: String(error) }))
  return listen(app)
}

answerParent(serve)
