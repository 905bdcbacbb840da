/**
 * A partner whose uploads begin and then stall uses only its own share of the memory for bodies: all other partners can
 * write as usual (architecture 8).
 */
import { assert, describe, it } from "@effect/vitest"
import { type RawConnection, openRaw, statusLine } from "../http/callRaw.ts"
import { brokenInvariants, collateral } from "../support/Builders.ts"
import { startService } from "../support/Service.ts"
import { openService } from "../support/Scenario.ts"

const service = await openService(startService)

/** Their declared lengths exceed the memory for all bodies, and two thirds of the bytes are not sent. */
const uploads = 40
const sent = 2 * 1024 * 1024

/** An upload of a full document that stops in the middle. */
const stalled = async (key: string): Promise<RawConnection> => {
  const connection = await openRaw({ port: Number(new URL(service.url).port), ca: service.ca })
  const head = ["POST /partner/v1/clients/1/documents HTTP/1.1", "Host: x", `Authorization: Bearer ${key}`]
  connection.socket.write([...head, "Content-Length: 11184812", "", ""].join("\r\n"))
  connection.socket.write(Buffer.alloc(sent, 0x20))
  return connection
}

describe("architecture 8: memory of bodies", () => {
  it("architecture 8: one partner's stalled uploads are refused beyond its share; another partner's writes and documents are not", async () => {
    const slow = await service.partner()
    const other = await service.partner()
    const clientId = await service.client(other.key)
    const held = await Promise.all(Array.from({ length: uploads }, () => stalled(slow.key)))
    const refused = await Promise.race(
      held.map(async (connection) => {
        await connection.until("}")
        return connection.received
      })
    )
    assert.match(statusLine(refused), / 503 /)
    assert.match(refused, /\r\nretry-after: 1\r\n/i)
    assert.isTrue(
      held.some(({ received }) => received === ""),
      "its share is still held"
    )
    const small = await collateral(service, other.key, clientId, { partnerRef: "r", direction: "DEPOSIT", amount: "1" })
    assert.strictEqual(small.status, 201)
    const large = await service.call("POST", `/partner/v1/clients/${clientId}/documents`, {
      key: other.key,
      raw: JSON.stringify({ filename: "x".repeat(11_000_000) })
    })
    assert.strictEqual(large.status, 400, "read whole and judged")
    for (const { socket } of held) socket.destroy()
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })
})
