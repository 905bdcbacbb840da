/**
 * The whole service sends: an endpoint registered over HTTP gets the events of its clients and of their feeds, signed
 * with the secret from the answer to PUT (doc 3, Webhook registration and delivery; sweep rules).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LocalAuthority } from "../../../src/runtime/adapters/LocalAuthority.ts"
import { signatureOf } from "../../../src/runtime/services/webhooks/signature.ts"
import { comply } from "../../support/Builders.ts"
import { operator, type Service, startService } from "../../support/Service.ts"
import { type Receiver, startReceiver, until } from "./webhookWorld.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-wiring-"))
let service: Service
let receiver: Receiver

beforeAll(async () => {
  const tls = await Effect.runPromise(LocalAuthority.ensure({ dataDirectory: folder, host: "127.0.0.1" }))
  receiver = await startReceiver(tls)
  service = await startService({ settings: { webhookHosts: new Set(["127.0.0.1"]), webhookAuthority: tls.ca } })
})
afterAll(async () => {
  await service.stop()
  await receiver.close()
  rmSync(folder, { recursive: true, force: true })
})

const arrival = (event: string) =>
  until(`the event ${event}`, () => receiver.received.find(({ headers }) => headers["x-brokerage-event"] === event))

describe("Webhooks of the whole service", () => {
  it("doc 3: an event of a client and one of its feed arrive, signed with the secret of the PUT", async () => {
    const { key } = await service.partner()
    const put = await service.call("PUT", "/partner/v1/webhook", { key, body: { url: receiver.url } })
    assert.strictEqual(put.status, 200, put.text)
    const clientId = await service.client(key)
    await comply(service, (compliance) => compliance.restrict(operator, String(clientId), "NO_WITHDRAWALS", "test"))
    for (const event of ["client.onboarded", "margin.restriction_set"]) {
      const { headers, body } = await arrival(event)
      const sent = JSON.parse(body) as { readonly event: string; readonly clientId: number }
      assert.deepStrictEqual([sent.event, sent.clientId], [event, clientId])
      assert.strictEqual(
        headers["x-brokerage-signature"],
        signatureOf(put.json.data.secret as string, Number(headers["x-brokerage-timestamp"]), body)
      )
    }
  })
})
