/**
 * Fastify over TLS that checks a key and sends a prepared buffer: the least work that a reader of market data can
 * cause.
 */
import { createHash, randomUUID } from "node:crypto"
import fastify, { type FastifyInstance } from "fastify"
import { answerParent } from "../child.ts"
import type { PreparedQuestion } from "./feedProtocol.ts"

const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex")

answerParent(async ({ certificate, key, partnerKey, bodies }: PreparedQuestion) => {
  const keys = new Set([hashOf(partnerKey)])
  const app = fastify({ https: { cert: certificate, key } }) as unknown as FastifyInstance
  app.addHook("onRequest", async (request, reply) => {
    const sent = request.headers.authorization?.slice("Bearer ".length) ?? ""
    if (!keys.has(hashOf(sent))) return reply.code(401).send({ code: 4010 })
  })
  const prepared = new Map(bodies.map(({ path, body }) => [path, Buffer.from(body)]))
  for (const route of new Set(bodies.map(({ path }) => path.split("?")[0] as string))) {
    app.get(route, (request, reply) =>
      reply.header("x-request-id", randomUUID()).type("application/json").send(prepared.get(request.url))
    )
  }
  return { port: Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port) }
})
