/**
 * The notifications, counts and routes of a client that is refused for good or closed, on the real service (doc 1,
 * Rules of POST /clients and PUT .../kyc 9, Summary; D1, D2, D3; A1-13, A1-40, A1-48).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { Compliance } from "../../src/runtime/services/clients/compliance/Compliance.ts"
import { advance, comply, dayMillis, get, ofClient, onboard, person } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, close, refuse, nextPerson } = await openScenario()

const high = { "attestation.riskRating": "HIGH" }
const onboarded = async (paths: Readonly<Record<string, unknown>> = {}): Promise<number> => {
  const { status, text, json } = await onboard(service, key, person(nextPerson(), "ended", paths))
  assert.strictEqual(status, 201, text)
  return json.data.clientId
}
const told = async (clientId: number) =>
  (await ofClient(service, "notifications", clientId)).map(({ kind, ref }) => [kind, ref])

describe("clients refused for good or closed", () => {
  it("rule 9: the pointer to re-onboarding is given only while the client can be onboarded again", async () => {
    const sent = person(nextPerson(), "ended")
    const clientId = (await onboard(service, key, sent)).json.data.clientId
    await comply(service, (compliance) => compliance.reject(operator, String(clientId), "no session"))
    const pointer = await onboard(service, key, sent)
    assert.deepStrictEqual([pointer.status, pointer.json.data.clientId], [409, clientId])
    assert.strictEqual(pointer.json.data.reonboardWith, `PUT /partner/v1/clients/${clientId}/kyc`)
    await refuse(clientId)
    const sentence = "This partnerClientRef was used for another client."
    for (const end of [() => Promise.resolve(), () => close(clientId)]) {
      await end()
      const { status, json } = await onboard(service, key, sent)
      const data = { reason: "REFERENCE_REUSED" }
      assert.deepStrictEqual([status, json], [409, { code: 4092, msg: sentence, error: sentence, data }])
    }
  })

  it("A1-13: their packages are no pending reviews", async () => {
    const { key: other } = await service.partner()
    const pending = async () => (await get(service, other, "/summary")).json.data.pendingReviews
    const ids: Array<number> = []
    for (let n = 0; n < 3; n++) {
      ids.push((await onboard(service, other, person(nextPerson(), "ended", high))).json.data.clientId)
    }
    assert.strictEqual(await pending(), 3)
    await refuse(ids[0] as number)
    assert.strictEqual(await pending(), 2)
    await close(ids[1] as number)
    assert.strictEqual(await pending(), 1)
  })

  it("A1-48, D3: after the refusal of the person nothing more is published, though the document ends", async () => {
    const last = new Date(Date.now() + dayMillis).toISOString().slice(0, 10)
    const clientId = await onboarded({ ...high, "kyc.identification.expiration_date": last })
    const path = `/partner/v1/clients/${clientId}/appropriateness`
    const body = { version: 1, answers: answersFor(questionnaire1, "FAIL") }
    assert.strictEqual((await service.call("POST", path, { key, body })).status, 200)
    await refuse(clientId)
    const before = await told(clientId)
    assert.deepInclude(before, ["VERIFICATION_DECISION", String(clientId)])
    await advance(service, 4 * dayMillis)
    assert.deepStrictEqual(await told(clientId), before)
    const blocks = await ofClient(service, "verificationBlocks", clientId)
    assert.strictEqual(blocks.find(({ code }) => code === "IDENTIFICATION")?.state, "EXPIRED")
    const audit = (await ofClient(service, "audit", clientId)).map(({ action }) => action)
    assert.include(audit, "block.expire")
  })

  it("D1: lifting a stored restriction names the state that forbids it", async () => {
    const clientId = await onboarded(high)
    await comply(service, (compliance) => compliance.restrict(operator, String(clientId), "FROZEN", "test"))
    await refuse(clientId)
    const lift = (restriction: "FROZEN" | "NO_NEW_RISK") =>
      service.run(
        Effect.provide(
          Effect.flatMap(Compliance, (compliance) => compliance.lift(operator, String(clientId), restriction, "test")),
          Compliance.layer
        )
      )
    const sentenceOf = async (restriction: "FROZEN" | "NO_NEW_RISK") => {
      const verdict = await lift(restriction)
      return verdict.ok || verdict.refusal._tag !== "Conflict" ? null : verdict.refusal.sentence
    }
    assert.strictEqual(await sentenceOf("FROZEN"), "The client is KYC_REJECTED, so no restriction can be lifted.")
    assert.strictEqual(await sentenceOf("NO_NEW_RISK"), "This restriction is not set.")
  })

  it("D2: a document that arrives while documents are requested is a note on every open case", async () => {
    const clientId = await onboarded(high)
    const upload = async () => {
      const dataBase64 = Buffer.from("%PDF-1.7\ncopy").toString("base64")
      const body = { name: "Maria.pdf", purpose: "other", dataBase64 }
      const answer = await service.call("POST", `/partner/v1/clients/${clientId}/documents`, { key, body })
      assert.strictEqual(answer.status, 201, answer.text)
      return answer.json.data.documentId as number
    }
    await upload()
    await comply(service, (compliance) => compliance.requestDocuments(operator, String(clientId), "a bill"))
    const documentId = await upload()
    const [open] = await ofClient(service, "cases", clientId)
    const notes = (await ofClient(service, "audit", clientId)).filter(({ action }) => action === "case.note")
    assert.deepStrictEqual(
      notes.map(({ object, role, before, after, reason }) => [object, role, before, after, reason]),
      [[`case:${open?.id}`, "PARTNER", "OPEN", "OPEN", `document ${documentId} uploaded`]]
    )
  })
})
