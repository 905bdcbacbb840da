/**
 * Durable timers on the real service: identity documents pass their date when the business clock is advanced, in due
 * order, once, and across a restart (SC-ONB-20; D3; A1-31; SC-PLT-08).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import {
  advance,
  brokenInvariants,
  collateral,
  dayMillis,
  get,
  ofClient,
  onboard,
  person,
  query,
  rowsOf
} from "../support/Builders.ts"
import { type Service, startService } from "../support/Service.ts"

/** The UTC date this number of days from the start of the file. */
const startedAt = Date.now()
const dateIn = (days: number): string => new Date(startedAt + days * dayMillis).toISOString().slice(0, 10)

describe("timers", () => {
  let service: Service
  let key: string
  let persons = 0

  beforeAll(async () => {
    service = await startService()
    key = (await service.partner()).key
  })
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service), [])
    await service.stop()
  })

  const onboarded = async (passport: string, identity?: string): Promise<number> => {
    const body = person(++persons, "timers", { "kyc.identification.expiration_date": passport })
    const identityCheck = { ...body.identityCheck, ...(identity === undefined ? {} : { documentExpiry: identity }) }
    const { status, text, json } = await onboard(service, key, { ...body, identityCheck })
    if (status !== 201) throw new Error(text)
    return json.data.clientId
  }
  const view = async (clientId: number) => (await get(service, key, `/clients/${clientId}/verification`)).json.data
  const statusOf = async (clientId: number, code: string): Promise<string> =>
    (await view(clientId)).blocks.find((block: { readonly code: string }) => block.code === code).status
  const timersOf = async (clientId: number) =>
    (await rowsOf(service, "timers", "subject = $1", [`client:${clientId}`])).map(({ name }) => name)
  /** Moves business time forward to an instant. */
  const moveTo = async (at: number): Promise<void> => {
    const now = await service.run(BusinessClock.useSync((clock) => clock.now()))
    await advance(service, Math.max(0, at - now))
  }
  const endOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) + dayMillis

  it("SC-ONB-20, D3: to the last minute of its day the document counts, then its block is EXPIRED and its timer deleted", async () => {
    const last = dateIn(3)
    const clientId = await onboarded(last)
    await moveTo(endOf(last) - 60_000)
    assert.strictEqual(await statusOf(clientId, "IDENTIFICATION"), "APPROVED")
    assert.deepStrictEqual(await timersOf(clientId), ["identification.expiry"])
    await moveTo(endOf(last))
    const after = await view(clientId)
    const block = after.blocks.find((each: { readonly code: string }) => each.code === "IDENTIFICATION")
    assert.strictEqual(block.status, "EXPIRED")
    assert.isAtLeast(block.decidedAt, endOf(last))
    assert.deepStrictEqual(await timersOf(clientId), [])
    const notifications = await ofClient(service, "notifications", clientId)
    assert.deepStrictEqual(
      notifications.map(({ kind, ref }) => [kind, ref]),
      [["VERIFICATION_DECISION", "IDENTIFICATION"]]
    )
  })

  it("A1-31: an EXPIRED block stops opening trades only; deposits and withdrawals continue", async () => {
    const last = dateIn(6)
    const clientId = await onboarded(last)
    await moveTo(endOf(last))
    const { requirements } = await view(clientId)
    assert.deepStrictEqual(requirements["TRADE:SPOT"], ["IDENTIFICATION"])
    assert.deepStrictEqual(requirements["DEPOSIT:CRYPTO"], [])
    assert.deepStrictEqual(requirements["WITHDRAW:CRYPTO"], [])
    for (const direction of ["DEPOSIT", "WITHDRAWAL"]) {
      const body = { partnerRef: `${direction}-${clientId}`, direction, amount: "1" }
      assert.strictEqual((await collateral(service, key, clientId, body)).status, 201)
    }
  })

  it("D3: firing late, again or by two workers at once decides once", async () => {
    const last = dateIn(9)
    const clientId = await onboarded(last)
    await moveTo(endOf(last) - 1)
    await Promise.all([advance(service, dayMillis), advance(service, 0), advance(service, 0)])
    await advance(service, 0)
    const audit = (await ofClient(service, "audit", clientId)).filter(({ action }) => action === "block.expire")
    assert.lengthOf(audit, 1)
    assert.lengthOf(await ofClient(service, "notifications", clientId), 1)
  })

  it("D3: a jump over many days fires everything, in due order", async () => {
    const clients = new Map<number, number>()
    for (let n = 0; n < 60; n++) clients.set(await onboarded(dateIn(20 + ((n * 37) % 60))), 20 + ((n * 37) % 60))
    const both = await onboarded(dateIn(90), dateIn(15))
    await moveTo(endOf(dateIn(100)))
    const left = await query(service, "SELECT 1 FROM timers WHERE due_at <= $1", [BigInt(endOf(dateIn(100)))])
    assert.deepStrictEqual(left, [])
    const expired = await rowsOf(service, "audit", "action = 'block.expire'")
    const order = expired.filter(({ clientId }) => clients.has(clientId ?? 0)).map(({ clientId }) => clientId as number)
    assert.deepStrictEqual(
      order,
      [...clients.keys()].sort((a, b) => (clients.get(a) as number) - (clients.get(b) as number))
    )
    assert.deepStrictEqual(
      expired.filter(({ clientId }) => clientId === both).map(({ before }) => before),
      ["IDENTITY_CHECK APPROVED", "IDENTIFICATION APPROVED"]
    )
  })

  it("D3: a timer that cannot be fired is logged and holds up no other", async () => {
    const last = dateIn(350)
    const clients: Array<number> = []
    for (let n = 0; n < 40; n++) clients.push(await onboarded(last))
    await query(service, "INSERT INTO timers (subject, name, due_at) VALUES ($1, 'nobody.knows', 1)", [
      `client:${clients[0]}`
    ])
    const logged = vi.spyOn(console, "log").mockImplementation(() => undefined)
    await moveTo(endOf(last))
    const told = JSON.stringify(logged.mock.calls)
    logged.mockRestore()
    for (const clientId of clients) assert.strictEqual(await statusOf(clientId, "IDENTIFICATION"), "EXPIRED")
    assert.include(told, "a timer could not be fired")
    await query(service, "DELETE FROM timers WHERE name = 'nobody.knows'")
  })

  it("SC-PLT-08: the skew rules follow the business clock", async () => {
    const clientId = await onboarded(dateIn(400))
    const now = await service.run(BusinessClock.useSync((clock) => clock.now()))
    const send = (occurredAt: number, n: number) =>
      collateral(service, key, clientId, { partnerRef: `skew-${n}`, direction: "DEPOSIT", amount: "1", occurredAt })
    assert.isAbove(now, Date.now() + dayMillis)
    assert.strictEqual((await send(now + 4 * 60_000, 1)).status, 201)
    assert.strictEqual((await send(now + 6 * 60_000, 2)).status, 400)
    const early = person(++persons, "timers", { "identityCheck.verifiedAt": now + 4 * 60_000 })
    early.kyc.identification.expiration_date = dateIn(400)
    assert.strictEqual((await onboard(service, key, early)).status, 201)
    const future = person(++persons, "timers", { "identityCheck.verifiedAt": now + 6 * 60_000 })
    assert.deepStrictEqual(Object.keys((await onboard(service, key, future)).json.data.errors), [
      "identityCheck.verifiedAt"
    ])
  })

  it("D3: timers survive a restart, and those that became due meanwhile fire by themselves", async () => {
    const due = await onboarded(dateIn(450))
    const later = await onboarded(dateIn(550))
    // Simulates a service that was down on that day: only the row shows the due time.
    await query(service, "UPDATE timers SET due_at = $1 WHERE subject = $2", [BigInt(startedAt), `client:${due}`])
    // A firing never ends a document given after it became due, so the block is older too.
    await query(
      service,
      "UPDATE verification_blocks SET context = jsonb_set(context::jsonb, '{updatedAt}', '0')::json WHERE client_id = $1",
      [BigInt(due)]
    )
    const before = service
    const offset = await before.run(BusinessClock.useSync((clock) => clock.offset()))
    service = await startService({ database: before.database })
    const { stop } = service
    service = {
      ...service,
      stop: async () => {
        await stop()
        await before.stop()
      }
    }
    await vi.waitFor(async () => assert.strictEqual(await statusOf(due, "IDENTIFICATION"), "EXPIRED"), 10_000)
    assert.deepStrictEqual(await timersOf(due), [])
    assert.deepStrictEqual(await timersOf(later), ["identification.expiry"])
    assert.strictEqual(await statusOf(later, "IDENTIFICATION"), "APPROVED")
    await advance(service, offset)
    await moveTo(endOf(dateIn(550)))
    assert.strictEqual(await statusOf(later, "IDENTIFICATION"), "EXPIRED")
  })
})
