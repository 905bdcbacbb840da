/** A webhook receiver: tells true deliveries from false ones, each once, and lets a program wait for an event. */
import { createHmac, timingSafeEqual } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:https"

const toleranceSeconds = 300

/** Whether the body was signed with this secret (`whs_` included) within the last five minutes. */
export const verified = (secret, timestamp, body, signature) => {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) return false
  const wanted = `v1=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`
  const given = Buffer.from(signature)
  return given.length === wanted.length && timingSafeEqual(given, Buffer.from(wanted))
}

/** Listens on 127.0.0.1 with the certificate of TLS_CERT and TLS_KEY. Set `secret` once the service has told it. */
export const startReceiver = async () => {
  const seen = new Map()
  const waiting = []
  const tls = { cert: readFileSync(process.env.TLS_CERT), key: readFileSync(process.env.TLS_KEY) }
  const server = createServer(tls, async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const { "x-brokerage-timestamp": timestamp = "", "x-brokerage-signature": signature = "" } = request.headers
    // Unknown secrets and false signatures alike: the service tries again.
    const known = receiver.secret !== null && verified(receiver.secret, timestamp, body, signature)
    if (!known) return response.writeHead(400).end()
    response.writeHead(204).end()
    const delivery = JSON.parse(body)
    if (seen.has(delivery.id)) return
    seen.set(delivery.id, delivery)
    for (const look of waiting) look()
  })
  await new Promise((resolve) => server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", resolve))
  const receiver = {
    secret: null,
    url: `https://127.0.0.1:${server.address().port}/hooks`,
    /** The first delivery of an event about a client. */
    heard: (event, clientId) =>
      new Promise((resolve) => {
        const look = () => {
          const found = [...seen.values()].find((one) => one.event === event && one.clientId === clientId)
          if (found !== undefined) resolve(found)
        }
        waiting.push(look)
        look()
      }),
    close: () => server.close()
  }
  return receiver
}
