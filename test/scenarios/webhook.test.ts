/**
 * The partner's webhook on the real service: registration, its secret, the test event, the delivery log and the effect
 * of closing and restarts (doc 3, Webhook, Webhook registration and delivery; D13; A3-29..A3-39). Sending is in
 * test/runtime/webhooks.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { bodyCaps } from "../../src/machines/shared/Limits.ts"
import { notPublic } from "../../src/runtime/services/webhooks/WebhookAddresses.ts"
import { brokenInvariants, collateral, get, partners, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { type Answer, type Call, operator, type Service, startService } from "../support/Service.ts"

const path = "/partner/v1/webhook"
/** Exempt in these tests; no server listens there. */
const url = "https://127.0.0.1:9/hook"

describe("webhook", () => {
  let service: Service
  const lives: Array<Service> = []
  const settings = { webhookHosts: new Set(["127.0.0.1"]) }
  beforeAll(async () => {
    service = await startService({ settings })
    lives.push(service)
  })
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service), [])
    for (const life of lives.toReversed()) await life.stop()
  })

  const put = (key: string, body: unknown = { url }, call: Call = {}): Promise<Answer> =>
    service.call("PUT", path, { key, body, ...call })
  const remove = (key: string): Promise<Answer> => service.call("DELETE", path, { key })
  const test = (key: string, call: Call = {}): Promise<Answer> => service.call("POST", `${path}/test`, { key, ...call })
  const deliveries = async (key: string, search = "") =>
    (await get(service, key, `/webhook/deliveries${search}`)).json.data
  const told = ({ status, json }: Answer) => [status, json.code, json.msg]
  const ofPartner = (table: "webhookEndpoints" | "webhookDeliveries" | "audit" | "partners", partnerId: number) =>
    rowsOf(service, table, table === "partners" ? "id = $1" : "partner_id = $1", [BigInt(partnerId)])
  const report = (key: string, clientId: number, partnerRef: string) =>
    collateral(service, key, clientId, { partnerRef, direction: "DEPOSIT", amount: "1" })

  describe("registration", () => {
    it("D13: PUT answers the secret once; GET and the profile show the registration without it", async () => {
      const { key, partnerId } = await service.partner()
      const { status, json } = await put(key)
      assert.strictEqual(status, 200)
      const { secret, ...shown } = json.data
      assert.match(secret, /^whs_[A-Za-z0-9_-]{43}$/)
      assert.isAbove(shown.createdAt, 0)
      assert.deepStrictEqual(shown, { url, active: true, createdAt: shown.createdAt, updatedAt: shown.createdAt })
      const read = await get(service, key, "/webhook")
      assert.deepStrictEqual(read.json, { code: 0, data: { ...shown, lastDeliveryAt: null, pending: 0 } })
      assert.deepStrictEqual((await get(service, key, "/me")).json.data.webhook, { url, active: true })
      const [row] = await ofPartner("webhookEndpoints", partnerId)
      assert.include(row, { state: "ACTIVE", secret })
      const [raw] = await query(service, `SELECT * FROM webhook_endpoints WHERE partner_id = ${partnerId}`)
      assert.notInclude(Buffer.from(raw?.["secret"] as Uint8Array).toString("latin1"), secret.slice(4))
    })

    it("D13: each PUT replaces the url and makes a new secret; nothing is remembered of the old one", async () => {
      const { key, partnerId } = await service.partner()
      const first = (await put(key)).json.data
      const second = (await put(key, { url: "https://8.8.8.8:8443/other?x=1", secret: "whs_mine" })).json.data
      assert.notStrictEqual(second.secret, first.secret)
      assert.match(second.secret, /^whs_[A-Za-z0-9_-]{43}$/)
      assert.strictEqual(second.url, "https://8.8.8.8:8443/other?x=1")
      assert.strictEqual(second.createdAt, first.createdAt)
      assert.isAtLeast(second.updatedAt, first.updatedAt)
      const stored = await ofPartner("webhookEndpoints", partnerId)
      assert.deepStrictEqual(
        stored.map((row) => [(row as { url: string }).url, (row as { secret: string }).secret]),
        [[second.url, second.secret]]
      )
      const audit = (await ofPartner("audit", partnerId)) as ReadonlyArray<{ action: string; object: string | null }>
      assert.deepStrictEqual(
        audit.filter(({ object }) => object === `webhookEndpoint:${partnerId}`).map(({ action }) => action),
        ["webhook.register", "webhook.rotate"]
      )
    })

    it.each<readonly [title: string, body: unknown, sentence: string]>([
      ["plain http", { url: "http://example.com/" }, "The url must be an absolute https URL."],
      ["no url", {}, "The url is required."],
      ["null", { url: null }, "The url is required."],
      ["a number", { url: 1 }, "The url must be text."],
      ["an inside address", { url: "https://10.0.0.1/" }, notPublic],
      ["cloud metadata", { url: "https://169.254.169.254/latest" }, notPublic],
      ["an inside address in another spelling", { url: "https://0xa000001/" }, notPublic],
      ["loopback in IPv6", { url: "https://[::1]:8443/" }, notPublic],
      ["localhost", { url: "https://localhost:8443/" }, notPublic]
    ])("A3-32: %s is refused with 400 4000 and the former registration stays", async (_title, body, sentence) => {
      const { key } = await service.partner()
      const kept = (await put(key)).json.data
      const before = await rowCounts(service)
      const refused = await put(key, body)
      assert.deepStrictEqual(
        [...told(refused), refused.json.data],
        [400, 4000, sentence, { reason: "INVALID_FIELDS", errors: { url: sentence } }]
      )
      assert.deepStrictEqual(await rowCounts(service), before)
      const { url: still, active, updatedAt } = (await get(service, key, "/webhook")).json.data
      assert.deepStrictEqual([still, active, updatedAt], [url, true, kept.updatedAt])
    })

    it("A1-02: a body that is no object, no JSON, or too large is refused as everywhere", async () => {
      const { key } = await service.partner()
      const bad = async (call: Call) => told(await put(key, undefined, call))
      assert.deepStrictEqual(await bad({ body: [] }), [400, 4000, "The request body must be a JSON object."])
      assert.deepStrictEqual(await bad({ raw: "{" }), [400, 4000, "The request body must be valid JSON."])
      assert.deepStrictEqual(await bad({ raw: "" }), [400, 4000, "The request body must be valid JSON."])
      const padded = JSON.stringify({ url, pad: "x".repeat(bodyCaps.webhook) })
      assert.deepStrictEqual((await bad({ raw: padded })).slice(0, 2), [413, 4000])
      const longest = `https://127.0.0.1/${"x".repeat(2_048 - 18)}`
      const escaped = [...longest].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
      assert.strictEqual((await put(key, undefined, { raw: `{"url":"${escaped}"}` })).json.data.url, longest)
    })

    it("doc 1, Authentication: a READ key reads and writes nothing", async () => {
      const { key } = await service.partner({}, "READ")
      for (const answer of [await put(key), await remove(key), await test(key)])
        assert.deepStrictEqual([answer.status, answer.json.code], [403, 4034])
      assert.strictEqual((await get(service, key, "/webhook")).status, 404)
      assert.deepStrictEqual(await deliveries(key), { deliveries: [], hasMore: false, nextBefore: null })
    })

    it("A1-01, A1-54: exactly these verbs, and HEAD as GET", async () => {
      const { key } = await service.partner()
      await put(key)
      for (const [method, where] of [
        ["POST", path],
        ["PUT", `${path}/test`],
        ["GET", `${path}/test`],
        ["DELETE", `${path}/deliveries`],
        ["PUT", `${path}/`]
      ] as const) {
        assert.deepStrictEqual(told(await service.call(method, where, { key })).slice(0, 2), [404, 4004], where)
      }
      const head = await service.call("HEAD", path, { key })
      assert.deepStrictEqual([head.status, head.text], [200, ""])
    })
  })

  describe("switching off and on", () => {
    it("A3-37: never registered is 404 4004 for GET, DELETE and test", async () => {
      const { key, partnerId } = await service.partner()
      for (const answer of [await get(service, key, "/webhook"), await remove(key), await test(key)])
        assert.deepStrictEqual(told(answer), [404, 4004, "Webhook not found."])
      assert.deepStrictEqual(await ofPartner("webhookEndpoints", partnerId), [])
    })

    it("D13: DELETE twice answers the same; nothing is queued until the next PUT, which has a new secret", async () => {
      const { key, partnerId } = await service.partner()
      const clientId = await service.client(key)
      const first = (await put(key)).json.data
      const epochs = async () => ((await ofPartner("partners", partnerId))[0] as { epoch: number }).epoch
      const before = await epochs()
      const off = await remove(key)
      assert.deepStrictEqual(off.json, { code: 0, data: { active: false, updatedAt: off.json.data.updatedAt } })
      assert.isAtLeast(off.json.data.updatedAt, first.updatedAt)
      assert.strictEqual(await epochs(), before + 1)
      assert.strictEqual((await service.call("DELETE", path, { key, body: {} })).text, off.text)
      assert.strictEqual(await epochs(), before + 1)
      assert.strictEqual((await get(service, key, "/webhook")).json.data.active, false)
      assert.deepStrictEqual((await get(service, key, "/me")).json.data.webhook, { url, active: false })
      assert.deepStrictEqual(told(await test(key)).slice(0, 2), [409, 4092])
      assert.strictEqual((await report(key, clientId, "while off")).status, 201)
      assert.deepStrictEqual((await deliveries(key)).deliveries, [])
      const again = (await put(key)).json.data
      assert.deepStrictEqual([again.active, again.createdAt], [true, first.createdAt])
      assert.notStrictEqual(again.secret, first.secret)
      assert.strictEqual((await report(key, clientId, "while on")).status, 201)
      const [booked, ...rest] = (await deliveries(key)).deliveries
      assert.deepInclude(booked, { event: "collateral.booked", clientId })
      assert.match(booked.clientUid, /^[A-Z0-9]+-[0-9]{8}$/)
      assert.deepStrictEqual(rest, [])
    })

    it("A3-31: deliveries queued before DELETE wait and count as pending", async () => {
      const { key } = await service.partner()
      await put(key)
      await test(key)
      await remove(key)
      assert.strictEqual((await get(service, key, "/webhook")).json.data.pending, 1)
      const [waiting] = (await deliveries(key)).deliveries
      assert.include(["PENDING", "RETRYING"], waiting.status)
    })

    it("D13, D15: closing the partner ends its webhook in the same commit", async () => {
      const own = await service.partner()
      await put(own.key)
      const closed = await partners(service, (commands) => commands.status(operator, own.code, "CLOSED", "ended"))
      assert.isTrue(closed.ok)
      assert.include((await ofPartner("webhookEndpoints", own.partnerId))[0], { state: "INACTIVE" })
      const audit = (await ofPartner("audit", own.partnerId)) as ReadonlyArray<{ action: string; ts: number }>
      const at = (action: string) => audit.find((row) => row.action === action)?.ts
      assert.isNumber(at("webhook.close"))
      assert.strictEqual(at("webhook.close"), at("partner.close"))
    })
  })

  describe("test event and log", () => {
    it("A3-37: a test is queued as any delivery: the body is kept, its client fields are null", async () => {
      const { key, partnerId } = await service.partner()
      await put(key)
      const { status, json } = await test(key)
      assert.strictEqual(status, 200)
      const { deliveryId, queuedAt } = json.data
      assert.deepStrictEqual(json, { code: 0, data: { deliveryId, event: "webhook.test", queuedAt } })
      const [row] = (await ofPartner("webhookDeliveries", partnerId)) as ReadonlyArray<{ id: number; body: string }>
      assert.strictEqual(row?.id, deliveryId)
      assert.deepStrictEqual(JSON.parse(row?.body ?? ""), {
        id: deliveryId,
        event: "webhook.test",
        partnerId,
        clientId: null,
        clientUid: null,
        partnerClientRef: null,
        ts: queuedAt,
        data: { message: "Webhook test", requestedAt: queuedAt }
      })
      const [shown] = (await deliveries(key)).deliveries
      assert.hasAllKeys(shown, [
        "deliveryId",
        "event",
        "clientId",
        "clientUid",
        "status",
        "attempts",
        "lastStatus",
        "error",
        "ts",
        "sentAt",
        "nextAt"
      ])
      assert.deepInclude(shown, { deliveryId, event: "webhook.test", clientId: null, clientUid: null, ts: queuedAt })
    })

    it("A1-52: no body and an empty object are the same request under a key; a broken one of an unknown webhook is 404", async () => {
      const { key } = await service.partner()
      const broken = await test(key, { raw: "xx" })
      assert.deepStrictEqual([broken.status, broken.json.code], [404, 4004])
      await put(key)
      const headers = { "idempotency-key": "same" }
      const first = await test(key, { headers })
      const again = await test(key, { headers, body: {} })
      assert.deepStrictEqual([first.status, again.status, again.text], [200, 200, first.text])
    })

    it("doc 1, Idempotency: a test with a key runs once and replays its bytes, the refusal of an inactive one too", async () => {
      const { key } = await service.partner()
      await put(key)
      const headers = { "idempotency-key": "t-1" }
      const first = await test(key, { headers })
      const again = await test(key, { headers })
      assert.deepStrictEqual([again.status, again.text], [200, first.text])
      assert.strictEqual(again.headers["idempotency-replayed"], "true")
      assert.strictEqual((await deliveries(key)).deliveries.length, 1)
      assert.notStrictEqual((await test(key)).json.data.deliveryId, first.json.data.deliveryId)
      assert.strictEqual((await test(key, { body: {} })).status, 200)
      await remove(key)
      const refused = await test(key, { headers: { "idempotency-key": "t-2" } })
      await put(key)
      assert.strictEqual((await test(key, { headers: { "idempotency-key": "t-2" } })).text, refused.text)
    })

    it("doc 3, Limits: the log is paged newest first, 1 to 200 rows", async () => {
      const own = await service.partner()
      const other = await service.partner()
      for (const { key } of [own, other]) await put(key)
      const ids: Array<number> = []
      for (let n = 0; n < 5; n++) {
        ids.unshift((await test(own.key)).json.data.deliveryId)
        await test(other.key)
      }
      const idsOf = (page: { deliveries: ReadonlyArray<{ deliveryId: number }> }) =>
        page.deliveries.map(({ deliveryId }) => deliveryId)
      const all = await deliveries(own.key)
      assert.deepStrictEqual([idsOf(all), all.hasMore, all.nextBefore], [ids, false, null])
      const first = await deliveries(own.key, "?limit=2")
      assert.deepStrictEqual([idsOf(first), first.hasMore, first.nextBefore], [ids.slice(0, 2), true, ids[1]])
      const second = await deliveries(own.key, `?limit=3&before=${first.nextBefore}`)
      assert.deepStrictEqual([idsOf(second), second.hasMore, second.nextBefore], [ids.slice(2), false, null])
      for (const search of ["?limit=0", "?limit=201", "?before=x", "?limit=1&limit=2"]) {
        const refused = await get(service, own.key, `/webhook/deliveries${search}`)
        assert.deepStrictEqual([refused.status, refused.json.code], [400, 4000], search)
      }
    })

    it("A3-39: lastDeliveryAt is the time of the last SENT, pending the number of open deliveries", async () => {
      const { key, partnerId } = await service.partner()
      await put(key)
      const ids = []
      for (let n = 0; n < 4; n++) ids.push((await test(key)).json.data.deliveryId)
      await remove(key)
      const outcome = (id: number, state: string, sentAt: number | null) =>
        query(
          service,
          `UPDATE webhook_deliveries SET state = '${state}', context = json_build_object('attempts', 1, 'lastStatus', 200,
             'error', NULL, 'sentAt', ${sentAt}::bigint, 'nextAt', NULL) WHERE id = ${id}`
        )
      await outcome(ids[0], "SENT", 2_000)
      await outcome(ids[1], "SENT", 1_000)
      await outcome(ids[2], "FAILED", null)
      const { lastDeliveryAt, pending } = (await get(service, key, "/webhook")).json.data
      assert.deepStrictEqual([lastDeliveryAt, pending], [2_000, 1])
      const [, failed, , oldest] = (await deliveries(key)).deliveries
      assert.deepInclude(failed, { status: "FAILED", sentAt: null, nextAt: null })
      assert.deepInclude(oldest, { status: "SENT", sentAt: 2_000, lastStatus: 200 })
      assert.strictEqual((await ofPartner("webhookDeliveries", partnerId)).length, 4)
    })
  })

  it("architecture, Commit and takeover: the registration is the same after a restart, and events are queued", async () => {
    const { key } = await service.partner()
    const clientId = await service.client(key)
    await put(key)
    const before = (await get(service, key, "/webhook")).json
    service = await startService({ settings, database: service.database })
    lives.push(service)
    assert.deepStrictEqual((await get(service, key, "/webhook")).json, before)
    assert.strictEqual((await report(key, clientId, "after")).status, 201)
    assert.strictEqual((await deliveries(key)).deliveries[0].event, "collateral.booked")
  })
})
