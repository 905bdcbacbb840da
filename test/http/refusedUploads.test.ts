/**
 * Refusals that the service sends while megabytes of a body are in transit, over real sockets. They reach callers that write a
 * whole request before they read, directly and through an edge (doc 1, Limits: body caps; A1-02).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { openRaw, statusLine } from "./callRaw.ts"
import { type Refused, refusals, startRefusing, ways } from "./uploadRefusals.ts"

let refusing: Awaited<ReturnType<typeof startRefusing>>
beforeAll(async () => {
  refusing = await startRefusing()
})
afterAll(() => refusing.close())

/** Writes a whole request before it reads. Returns all bytes up to the end of the answer. */
const writeThenRead = async (
  target: { readonly port: number; readonly ca: string },
  { path, key, bytes }: Refused,
  isChunked: boolean
) => {
  const connection = await openRaw(target)
  connection.socket.pause()
  const failed = new Promise<never>((_, reject) => connection.socket.once("error", reject))
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${framing}\r\n\r\n`
  const [before, after] = isChunked ? [`${bytes.toString(16)}\r\n`, "\r\n0\r\n\r\n"] : ["", ""]
  const written = new Promise<void>((resolve) =>
    connection.socket.write(`${head}${before}${"x".repeat(bytes)}${after}`, () => resolve())
  )
  await Promise.race([written, failed])
  connection.socket.resume()
  await Promise.race([connection.until("}"), failed])
  connection.socket.destroy()
  return connection.received
}

describe.each(ways)("A1-02: a refusal reaches a caller that writes before it reads: %s", (way) => {
  for (const framing of ["declared", "chunked"] as const) {
    const sent = refusals.filter(({ declared }) => framing === "declared" || declared !== true)
    it.each(sent)(`$name: $status, ${framing}`, async (refused) => {
      const text = await writeThenRead(refusing.targetOf(refused, way), refused, framing === "chunked")
      assert.match(statusLine(text), new RegExp(` ${refused.status} `))
      assert.include(text, `"code":${refused.code}`)
      assert.match(text, /\r\nconnection: close\r\n/i)
    })
  }
})
