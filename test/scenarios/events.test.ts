/**
 * The event log and its webhook deliveries on the real service, for partners with an ACTIVE endpoint, an INACTIVE one
 * and none; and, because its rows have to be prepared the same way, a CLOSED account (doc 3, Events, Collateral
 * refusal table; D1, D13, D14; A3-30).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { brokenInvariants, collateral, get, onboard, person, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { type Service, startService } from "../support/Service.ts"

describe("events", () => {
  let first: Service
  let service: Service
  const partners: Record<
    "active" | "inactive" | "none" | "closing",
    Awaited<ReturnType<Service["partner"]>>
  > = {} as never
  const closing = { id: 0, ref: "before-closing", email: "" }

  // Endpoints and the closed account have no command yet: the test writes their rows between two runs of the service.
  beforeAll(async () => {
    first = await startService()
    for (const name of ["active", "inactive", "none", "closing"] as const) partners[name] = await first.partner()
    const body = person(1, "closing")
    closing.email = body.email
    closing.id = (await onboard(first, partners.closing.key, body)).json.data.clientId
    for (const [direction, partnerRef] of [
      ["DEPOSIT", closing.ref],
      ["WITHDRAWAL", "emptied"]
    ]) {
      await collateral(first, partners.closing.key, closing.id, { partnerRef, direction, amount: "5" })
    }
    for (const [name, state] of [
      ["active", "ACTIVE"],
      ["inactive", "INACTIVE"]
    ] as const) {
      const sealed = Buffer.from(first.database.sealing.seal("whs_test", "webhook_endpoints.secret")).toString("hex")
      await query(
        first,
        `INSERT INTO webhook_endpoints (partner_id, state, version, context, url, secret, created_at, updated_at)
         VALUES ($1, $2, '1', '{}', 'https://hooks.example/in', decode($3, 'hex'), 1, 1)`,
        [BigInt(partners[name].partnerId), state, sealed]
      )
    }
    await query(first, "UPDATE clients SET state = 'CLOSED' WHERE id = $1", [BigInt(closing.id)])
    service = await startService({ database: first.database })
  })
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service), [])
    await service.stop()
    await first.stop()
  })

  const of = (table: "events" | "webhookDeliveries", partnerId: number) =>
    rowsOf(service, table, "partner_id = $1", [BigInt(partnerId)])

  it("Event catalogue: collateral.booked and collateral.refused carry the report itself", async () => {
    const { key, partnerId } = partners.none
    const clientId = await service.client(key)
    const booked = await collateral(service, key, clientId, { partnerRef: "a", direction: "DEPOSIT", amount: "3" })
    const refused = await collateral(service, key, clientId, { partnerRef: "b", direction: "WITHDRAWAL", amount: "4" })
    const events = await rowsOf(service, "events", "partner_id = $1", [BigInt(partnerId)])
    assert.deepStrictEqual(
      events.slice(1).map(({ name, clientId: of, data, ts }) => ({ name, of, data, ts })),
      [
        {
          name: "collateral.booked",
          of: clientId,
          data: booked.json.data.report,
          ts: booked.json.data.report.createdAt
        },
        {
          name: "collateral.refused",
          of: clientId,
          data: refused.json.data.report,
          ts: refused.json.data.report.createdAt
        }
      ]
    )
    assert.deepInclude(refused.json.data.report, { status: "REFUSED", ledgerTxId: null })
    assert.notStrictEqual(refused.json.data.report.refusal, "")
  })

  it("Event catalogue: a replay and a refusal without a row publish nothing", async () => {
    const { key, partnerId } = partners.none
    const clientId = await service.client(key)
    await collateral(service, key, clientId, { partnerRef: "c", direction: "DEPOSIT", amount: "3" })
    const before = (await of("events", partnerId)).length
    await collateral(service, key, clientId, { partnerRef: "c", direction: "DEPOSIT", amount: "3" })
    await collateral(service, key, clientId, { partnerRef: "d", direction: "DEPOSIT", amount: "0" })
    await collateral(service, key, clientId, { partnerRef: "e", direction: "DEPOSIT", amount: "20000" })
    assert.strictEqual((await of("events", partnerId)).length, before)
  })

  it("Events: numbers are gap-free per partner while many clients move at once", async () => {
    const { key, partnerId } = partners.none
    const clients = await Promise.all(Array.from({ length: 6 }, () => service.client(key)))
    await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        collateral(service, key, clients[n % 6] as number, { partnerRef: `g-${n}`, direction: "DEPOSIT", amount: "1" })
      )
    )
    const seqs = (await rowsOf(service, "events", "partner_id = $1", [BigInt(partnerId)])).map(({ seq }) => seq)
    assert.deepStrictEqual(
      seqs,
      seqs.map((_, index) => index + 1)
    )
    assert.isAtLeast(seqs.length, 66)
  })

  it("A3-30: an ACTIVE endpoint gets one delivery per event, its body serialised once, in the documented order", async () => {
    const { key, partnerId } = partners.active
    const result = (await onboard(service, key, person(2, "hook"))).json.data
    const { clientId, clientUid, kycPackageId } = result
    const { report } = (
      await collateral(service, key, clientId, { partnerRef: "h", direction: "DEPOSIT", amount: "1" })
    ).json.data
    const events = await rowsOf(service, "events", "partner_id = $1", [BigInt(partnerId)])
    const deliveries = await rowsOf(service, "webhookDeliveries", "partner_id = $1", [BigInt(partnerId)])
    const data = [{ verificationLevel: "MICA", lifecycleState: "ACTIVE", kycPackageId }, report]
    const bodies = deliveries.map(({ id, event, ts }, index) =>
      JSON.stringify({
        id,
        event,
        partnerId,
        clientId,
        clientUid,
        partnerClientRef: "hook-2",
        ts,
        data: data[index]
      })
    )
    assert.deepStrictEqual(
      deliveries.map((delivery) => delivery.body),
      bodies
    )
    assert.deepStrictEqual(
      deliveries.map(({ event, clientId: of, ts }) => ({ event, of, ts })),
      events.map(({ name, clientId: of, ts }) => ({ event: name, of, ts }))
    )
    assert.deepStrictEqual(
      deliveries.map(({ event }) => event),
      ["client.onboarded", "collateral.booked"]
    )
    for (const delivery of deliveries) assert.include(["PENDING", "RETRYING"], delivery.state)
  })

  it.each(["inactive", "none"] as const)(
    "D13: a partner whose endpoint is %s gets events and no delivery",
    async (name) => {
      const { key, partnerId } = partners[name]
      await service.client(key)
      assert.isNotEmpty(await of("events", partnerId))
      assert.deepStrictEqual(await of("webhookDeliveries", partnerId), [])
    }
  )

  it("Partner profile: webhook shows the registration", async () => {
    const webhook = async (name: "active" | "inactive" | "none") =>
      (await get(service, partners[name].key, "/me")).json.data.webhook
    assert.deepStrictEqual(await webhook("active"), { url: "https://hooks.example/in", active: true })
    assert.deepStrictEqual(await webhook("inactive"), { url: "https://hooks.example/in", active: false })
    assert.isNull(await webhook("none"))
  })

  describe("CLOSED account", () => {
    const send = (body: object) => collateral(service, partners.closing.key, closing.id, body)

    it("Refusal rules: 409 without a row, before the verification gate", async () => {
      const before = await rowCounts(service)
      for (const amount of ["1", "20000"]) {
        const { status, json } = await send({ partnerRef: "late", direction: "DEPOSIT", amount })
        assert.deepStrictEqual([status, json.code, json.data], [409, 4092, { reason: "ACCOUNT_CLOSED" }])
        assert.match(json.msg, /closed/)
      }
      assert.deepStrictEqual(await rowCounts(service), before)
    })

    it("Refusal rules: an invalid field is refused first", async () => {
      assert.strictEqual((await send({ partnerRef: "late", direction: "DEPOSIT", amount: "0" })).status, 400)
    })

    it("A3-14: an own reference still replays", async () => {
      const { status, json } = await send({ partnerRef: closing.ref, direction: "DEPOSIT", amount: "5" })
      assert.deepStrictEqual([status, json.data.report.partnerRef], [200, closing.ref])
    })

    it("A1-18: its reference stays taken, and reads continue", async () => {
      const body = person(3, "closing", { partnerClientRef: "closing-1" })
      const { status, json } = await onboard(service, partners.closing.key, body)
      assert.deepStrictEqual([status, json.code], [409, 4092])
      const row = (await get(service, partners.closing.key, `/clients/${closing.id}`)).json.data
      assert.strictEqual(row.lifecycleState, "CLOSED")
    })
  })
})
