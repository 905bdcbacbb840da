import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer } from "node:http"

const secret = process.env.WEBHOOK_SECRET

const verified = (timestamp, body, signature) => {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false
  const wanted = `v1=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`
  const given = Buffer.from(signature)
  return given.length === wanted.length && timingSafeEqual(given, Buffer.from(wanted))
}

createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const { "x-brokerage-timestamp": timestamp = "", "x-brokerage-signature": signature = "" } = request.headers
  if (!verified(timestamp, body, signature)) return response.writeHead(400).end()
  response.writeHead(204).end() // first the answer, then the work: deduplicate by id
  const { id, event } = JSON.parse(body)
  console.log(id, event)
}).listen(process.env.PORT, "127.0.0.1")
