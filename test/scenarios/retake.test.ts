/**
 * The end of the cooling period on the real service: the client's feed has it once, unless no retake is due (doc 1,
 * Appropriateness; D19; A1-40, A2-64).
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor, type Outcome } from "../../src/machines/appropriateness/scoring.ts"
import { advance, comply, dayMillis, ofClient, onboard, person, rowsOf } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key } = await openScenario({ settings: { webhookHosts: new Set(["127.0.0.1"]) } })

const post = async (clientId: number, path: string, body: object) => {
  const answer = await service.call("POST", `/partner/v1/clients/${clientId}/appropriateness${path}`, { key, body })
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.json.data
}
const submit = (clientId: number, outcome: Outcome) =>
  post(clientId, "", { version: 1, answers: answersFor(questionnaire1, outcome) })
const tested = async (outcome: Outcome): Promise<number> => {
  const clientId = await service.client(key)
  await submit(clientId, outcome)
  return clientId
}
const told = async (clientId: number) =>
  (await ofClient(service, "notifications", clientId))
    .filter(({ kind }) => kind === "APPROPRIATENESS_RETAKE")
    .map(({ ref, ts }) => ({ ref, ts }))
const dueAt = async (clientId: number) =>
  (await rowsOf(service, "timers", "subject = $1", [`client:${clientId}`]))
    .filter(({ name }) => name === "appropriateness.retake")
    .map((row) => row.dueAt)

describe("APPROPRIATENESS_RETAKE", () => {
  it.each(["WARN", "FAIL"] as const)("A1-40: after %s it is sent once, at retakeAt and not before", async (outcome) => {
    const clientId = await service.client(key)
    const { retakeAt } = await submit(clientId, outcome)
    assert.deepStrictEqual(await dueAt(clientId), [retakeAt])
    await advance(service, dayMillis - 60_000)
    assert.deepStrictEqual(await told(clientId), [])
    await advance(service, 60_000)
    const [notice, ...more] = await told(clientId)
    assert.deepStrictEqual([notice?.ref, more], [String(clientId), []])
    assert.isAtLeast(notice?.ts ?? 0, retakeAt)
    await advance(service, 3 * dayMillis)
    assert.lengthOf(await told(clientId), 1)
    const audit = await ofClient(service, "audit", clientId)
    const due = audit.filter(({ action }) => action === "appropriateness.retakeDue")
    assert.deepStrictEqual(
      due.map(({ role, keyLabel, object }) => [role, keyLabel, object]),
      [["SYSTEM", "timer", `assessment:${clientId}`]]
    )
    // A further submission is accepted.
    assert.strictEqual((await submit(clientId, "PASS")).attempt, 2)
  })

  it("A1-40: a later attempt sets it again; each cooling period that ends is published", async () => {
    const clientId = await tested("FAIL")
    await advance(service, dayMillis)
    const { retakeAt } = await submit(clientId, "WARN")
    assert.deepStrictEqual(await dueAt(clientId), [retakeAt])
    await advance(service, dayMillis)
    assert.lengthOf(await told(clientId), 2)
    assert.deepStrictEqual(await dueAt(clientId), [])
  })

  it("architecture, Timers: two passes at once announce it once", async () => {
    const clientId = await tested("WARN")
    await Promise.all([advance(service, dayMillis), advance(service, 0), advance(service, 0)])
    assert.lengthOf(await told(clientId), 1)
  })

  it("D19: after a PASS there is nothing to take again", async () => {
    const clientId = await tested("PASS")
    assert.deepStrictEqual(await dueAt(clientId), [])
    await advance(service, 2 * dayMillis)
    assert.deepStrictEqual(await told(clientId), [])
  })

  it("D19: an acknowledged WARN approves the block: no notice is given", async () => {
    const clientId = await tested("WARN")
    await post(clientId, "/acknowledge", { acknowledgedAt: 1 })
    assert.deepStrictEqual(await dueAt(clientId), [])
    await advance(service, 2 * dayMillis)
    assert.deepStrictEqual(await told(clientId), [])
  })

  it("D3: a rejection of reliance voids the attempt: no notice is given", async () => {
    const clientId = await tested("FAIL")
    await comply(service, (compliance) => compliance.reject(operator, String(clientId), "test"))
    await advance(service, 2 * dayMillis)
    assert.deepStrictEqual(await told(clientId), [])
  })

  it("D1: a closed client gets no notice", async () => {
    const body = person(1, "retake", { "kyc.personalInfo.last_name": "Closedlater" })
    const clientId = (await onboard(service, key, body)).json.data.clientId as number
    await submit(clientId, "FAIL")
    await advance(service, 10_000)
    const [client] = await rowsOf(service, "clients", "id = $1", [BigInt(clientId)])
    assert.strictEqual(client?.state, "CLOSED")
    await advance(service, 2 * dayMillis)
    assert.deepStrictEqual(await told(clientId), [])
  })

  it("A2-64: it belongs to no webhook event; later items of the feed are sent", async () => {
    const partner = await service.partner()
    const call = (method: string, path: string, body?: object) =>
      service.call(method, `/partner/v1${path}`, { key: partner.key, ...(body === undefined ? {} : { body }) })
    assert.strictEqual((await call("PUT", "/webhook", { url: "https://127.0.0.1:9/hook" })).status, 200)
    const clientId = await service.client(partner.key)
    const submission = { version: 1, answers: answersFor(questionnaire1, "FAIL") }
    assert.strictEqual((await call("POST", `/clients/${clientId}/appropriateness`, submission)).status, 200)
    await advance(service, dayMillis)
    assert.lengthOf(await told(clientId), 1)
    await comply(service, (compliance) => compliance.restrict(operator, String(clientId), "FROZEN", "test"))
    const events = async (): Promise<ReadonlyArray<string>> =>
      (await call("GET", "/webhook/deliveries")).json.data.deliveries.map(
        ({ event }: { readonly event: string }) => event
      )
    await vi.waitFor(async () => assert.include(await events(), "margin.restriction_set"), { timeout: 20_000 })
    assert.sameMembers([...(await events())], ["client.onboarded", "appropriateness.result", "margin.restriction_set"])
  })
})
