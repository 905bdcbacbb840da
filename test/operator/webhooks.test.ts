/**
 * The webhook commands of the operator through the command line, on a real service (operator surface, Back office; D14;
 * A3-35).
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { deliveryStatuses } from "../../src/http/api/operator/operatorTokens.ts"
import { deliveryStatuses as statuses } from "../../src/machines/webhook/Webhook.ts"
import { endedByCommit } from "../../src/runtime/tables/triggers.ts"
import { query, rowsOf } from "../support/Builders.ts"
import { runRecorded } from "./operatorHarness.ts"
import { nextRow } from "../../src/runtime/effects/machineRow.ts"
import { openOperator } from "./operatorScenario.ts"

const service = await openOperator({ settings: { webhookHosts: new Set(["127.0.0.1"]) } })

/** A partner with `count` test deliveries and a webhook that is switched off, so that they are not attempted. */
const withDeliveries = async (count: number) => {
  const partner = await service.partner()
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, `/partner/v1${path}`, { key: partner.key, ...(body === undefined ? {} : { body }) })
  await call("PUT", "/webhook", { url: "https://127.0.0.1:9/hook" })
  const ids: Array<number> = []
  for (let n = 0; n < count; n++) ids.push((await call("POST", "/webhook/test")).json.data.deliveryId)
  await call("DELETE", "/webhook")
  return { ...partner, ids }
}

const giveUp = (deliveryId: number | undefined) =>
  query(
    service,
    `UPDATE webhook_deliveries SET state = 'FAILED', context = json_build_object('attempts', 10, 'lastStatus', 503,
       'error', 'The endpoint answered 503.', 'sentAt', NULL, 'nextAt', NULL) WHERE id = ${deliveryId}`
  )
const log = (...args: ReadonlyArray<string>) => service.done(["webhook", "deliveries", ...args])
const idsOf = (page: { readonly deliveries: ReadonlyArray<{ readonly deliveryId: number }> }) =>
  page.deliveries.map(({ deliveryId }) => deliveryId)

describe("operator surface, webhook deliveries", () => {
  it("operator surface: the log as the partner reads it, by code or id, newest first, in pages", async () => {
    const { code, partnerId, key, ids } = await withDeliveries(3)
    for (const id of ids) await giveUp(id) // An attempt in flight changes nothing any more.
    const page = await log(code)
    assert.deepStrictEqual(idsOf(page), ids.toReversed())
    assert.deepStrictEqual(await log(String(partnerId)), page)
    const own = await service.call("GET", "/partner/v1/webhook/deliveries", { key })
    assert.deepStrictEqual(page, own.json.data)
    const first = await log(code, "--limit", "2")
    assert.deepStrictEqual(
      [idsOf(first), first.hasMore, first.nextBefore],
      [ids.toReversed().slice(0, 2), true, ids[1]]
    )
    assert.deepStrictEqual(idsOf(await log(code, "--limit", "2", "--before", String(ids[1]))), [ids[0]])
  })

  it("operator surface: --status keeps one status", async () => {
    const { code, ids } = await withDeliveries(3)
    await giveUp(ids[1])
    assert.deepStrictEqual(idsOf(await log(code, "--status", "FAILED")), [ids[1]])
    assert.deepStrictEqual((await log(code, "--status", "SENT")).deliveries, [])
    const wrong = await service.cli(["webhook", "deliveries", code, "--status", "LOST"])
    assert.strictEqual(wrong.status, 2)
  })

  it("operator surface: the statuses offered are the ones there are", () => {
    assert.deepStrictEqual([...deliveryStatuses], [...statuses])
  })

  it("D14, A3-35: redeliver puts a FAILED delivery back to PENDING, same id and bytes, and is audited", async () => {
    const { code, partnerId, ids } = await withDeliveries(2)
    const failed = ids[0] as number
    await giveUp(failed)
    const rowOf = async () => (await rowsOf(service, "webhookDeliveries", "id = $1", [BigInt(failed)]))[0]
    const before = await rowOf()
    const answer = await service.done(["webhook", "redeliver", String(failed)])
    const { nextAt } = answer
    assert.deepInclude(answer, {
      deliveryId: failed,
      event: "webhook.test",
      status: "PENDING",
      attempts: 0,
      sentAt: null
    })
    assert.isAbove(nextAt, 0)
    const after = await rowOf()
    assert.deepStrictEqual([after?.body, after?.ts, after?.nextAt], [before?.body, before?.ts, nextAt])
    assert.deepStrictEqual(idsOf(await log(code)), ids.toReversed())
    assert.deepStrictEqual((await log(code, "--status", "PENDING")).deliveries.at(-1), answer)
    const audit = await rowsOf(service, "audit", "object = $1", [`webhookDelivery:${failed}`])
    assert.deepStrictEqual(
      audit.map(({ action, before: from, after: to, keyLabel, partnerId: owner }) => [
        action,
        from,
        to,
        keyLabel,
        owner
      ]),
      [["webhook.redeliver", "FAILED", "PENDING", "ADMIN one", partnerId]]
    )
  })

  it("D14: only a FAILED delivery, and the second of two commands at once is refused", async () => {
    const { ids } = await withDeliveries(2)
    const [failed, waiting] = ids
    const refused = await service.cli(["webhook", "redeliver", String(waiting)])
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    await giveUp(failed)
    const both = await Promise.all([0, 1].map(() => service.cli(["webhook", "redeliver", String(failed)])))
    assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [0, 1])
    assert.strictEqual((await rowsOf(service, "audit", "object = $1", [`webhookDelivery:${failed}`])).length, 1)
  })

  const close = (code: string) => service.done(["partner", "status", code, "CLOSED", "--reason", "contract ended"])
  const rowsFor = (partnerId: number) => rowsOf(service, "webhookDeliveries", "partner_id = $1", [BigInt(partnerId)])

  it("D13, D14: closing the partner ends what waits in its own commit, and nothing else; it can't be revived", async () => {
    const { code, partnerId, ids } = await withDeliveries(4)
    const [retried, failed, sent, claimed] = ids
    await giveUp(failed)
    await query(
      service,
      `UPDATE webhook_deliveries SET state = 'RETRYING', claim_token = 'worker:1', claimed_at = 1, context = json_build_object(
         'attempts', 3, 'lastStatus', 503, 'error', 'The endpoint answered 503.', 'sentAt', NULL, 'nextAt', 7) WHERE id = ${retried}`
    )
    await query(
      service,
      `UPDATE webhook_deliveries SET state = 'SENT', context = json_build_object(
         'attempts', 1, 'lastStatus', 204, 'error', NULL, 'sentAt', 5, 'nextAt', NULL) WHERE id = ${sent}`
    )
    // Leased by a worker that does not exist, so no attempt in flight can write its result.
    await query(service, `UPDATE webhook_deliveries SET claim_token = 'worker:2', claimed_at = 1 WHERE id = ${claimed}`)
    const before = await rowsFor(partnerId)
    await close(code)
    const [partner] = await rowsOf(service, "partners", "id = $1", [BigInt(partnerId)])
    const closedAt = partner?.context.changedAt ?? 0
    const expected = before.map((row) => {
      const closed = nextRow("webhookDeliveries", row, { type: "PARTNER_CLOSED", at: closedAt })
      return closed === null ? row : { ...closed.row, nextAt: closedAt, claimToken: null, claimedAt: null }
    })
    assert.deepStrictEqual(await rowsFor(partnerId), expected)
    assert.deepStrictEqual(
      (await log(code)).deliveries.map(({ status, error }: { status: string; error: string }) => [status, error]),
      [
        ["FAILED", "The partner is closed."],
        ["SENT", null],
        ["FAILED", "The endpoint answered 503."],
        ["FAILED", "The partner is closed."]
      ]
    )
    const { status, refusal } = await service.cli(["webhook", "redeliver", String(failed)])
    assert.deepStrictEqual([status, refusal.code, refusal.msg], [1, 4092, "The partner is closed."])
  })

  it("D14: more deliveries than a closing commit ends: all of them end, none of another partner", async () => {
    const { code, partnerId, ids } = await withDeliveries(1)
    const other = await withDeliveries(1)
    await query(
      service,
      `INSERT INTO webhook_deliveries SELECT 1000000000 + n, partner_id, client_id, event, state, version, context, body, ts,
         next_at + n, NULL, NULL FROM webhook_deliveries, generate_series(1, ${endedByCommit + 5_000}) n WHERE id = ${ids[0]}`
    )
    await close(code)
    const waiting = async (of: number) =>
      (
        await query(
          service,
          `SELECT 1 FROM webhook_deliveries WHERE partner_id = ${of} AND state IN ('PENDING', 'RETRYING')`
        )
      ).length
    await vi.waitFor(async () => assert.strictEqual(await waiting(partnerId), 0), { timeout: 30_000, interval: 50 })
    assert.strictEqual(await waiting(other.partnerId), 1)
  })

  it.each([
    [["webhook", "deliveries", "NOBODY"], "Partner not found."],
    [["webhook", "redeliver", "999999999"], "Delivery not found."]
  ])("operator surface: %j is refused with 4004", async (line, sentence) => {
    const { status, refusal } = await service.cli(line)
    assert.deepStrictEqual([status, refusal.code, refusal.msg], [1, 4004, sentence])
  })

  it("operator surface: SUPPORT reads the log and repeats nothing", async () => {
    const { code, ids } = await withDeliveries(1)
    await giveUp(ids[0])
    assert.strictEqual((await service.cli(["webhook", "deliveries", code], "SUPPORT")).status, 0)
    for (const role of ["SUPPORT", "FINANCE", "COMPLIANCE"] as const) {
      const { status, refusal } = await service.cli(["webhook", "redeliver", String(ids[0])], role)
      assert.deepStrictEqual([status, refusal.code], [1, 4034], role)
    }
    assert.strictEqual((await log(code, "--status", "FAILED")).deliveries.length, 1)
  })

  it("operator surface: a person sees a table", async () => {
    const { code, ids } = await withDeliveries(1)
    await giveUp(ids[0])
    const { stdout } = await runRecorded(["webhook", "deliveries", code, ...service.connection("ADMIN")])
    const [head, row] = stdout.split("\n")
    assert.match(head ?? "", /^ID +EVENT +CLIENT +STATUS +ATTEMPTS +HTTP +QUEUED +SENT +NEXT +ERROR$/)
    assert.match(row ?? "", new RegExp(`^${ids[0]} +webhook\\.test +FAILED +10 +503 .*The endpoint answered 503\\.$`))
    const empty = await runRecorded(["webhook", "deliveries", code, "--status", "SENT", ...service.connection("ADMIN")])
    assert.strictEqual(empty.stdout, "no deliveries\n")
  })
})
