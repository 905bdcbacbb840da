/**
 * Refused revisions of a client's KYC, as a whole and without a trace, and documents that a revision names (doc 1,
 * Rules of POST /clients and PUT .../kyc 2 and 7, Idempotency).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Documents } from "../../src/runtime/services/clients/document/Documents.ts"
import { catalogue, tableNames } from "../../src/runtime/tables/Catalogue.ts"
import { get, query, rowCounts } from "../support/Builders.ts"
import { type Answer, operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, onboarded, sectionsOf } = await openScenario()

const put = (clientId: number, sent: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  service.call("PUT", `/partner/v1/clients/${clientId}/kyc`, { key, body: sent, headers })
const kycOf = async (clientId: number) => (await get(service, key, `/clients/${clientId}/kyc`)).json.data

describe("refusals", () => {
  it("doc 1: an unknown or foreign client is 404, also to GET; a READ key is refused", async () => {
    const { n, clientId } = await onboarded()
    const foreign = await service.client((await service.partner()).key)
    for (const target of [foreign, 999_999]) {
      assert.deepStrictEqual(
        [(await put(target, {})).status, (await put(target, sectionsOf(n, ["pep"]))).json.code],
        [404, 4004]
      )
      assert.strictEqual((await get(service, key, `/clients/${target}/kyc`)).status, 404)
    }
    const { key: reader } = await service.partner({}, "READ")
    const path = `/partner/v1/clients/${clientId}/kyc`
    const answer = await service.call("PUT", path, { key: reader, body: sectionsOf(n, ["pep"]) })
    assert.strictEqual(answer.json.code, 4034)
  })

  it("rule 2: every failing field in one map, 400 4000, nothing written; 413 over 256 KB", async () => {
    const { n, clientId } = await onboarded()
    const before = await rowCounts(service)
    const sent = sectionsOf(n, ["personalInfo", "fatca"], {
      "kyc.personalInfo.citizenships": ["DE", "QQ"],
      "kyc.fatca.w9_document_id": 5,
      attestation: undefined
    })
    const { status, json } = await put(clientId, sent)
    assert.deepStrictEqual([status, json.code, json.msg], [400, 4000, "Please check the highlighted fields."])
    assert.sameMembers(Object.keys(json.data.errors), [
      "kyc.personalInfo.citizenships.1",
      "kyc.fatca.w9_document_id",
      "attestation"
    ])
    const large = await put(clientId, { ...sectionsOf(n, ["pep"]), padding: "x".repeat(256 * 1024) })
    assert.deepStrictEqual([large.status, large.json.code], [413, 4000])
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("doc 1: a document reference must name a live document of this client", async () => {
    const { n, clientId } = await onboarded()
    const upload = async (of: number): Promise<number> => {
      const file = { name: "a.pdf", contentType: "x", dataBase64: btoa("%PDF-1.7\n1 0 obj\n"), purpose: "w9" }
      const answer = await service.call("POST", `/partner/v1/clients/${of}/documents`, { key, body: file })
      return answer.json.data.documentId
    }
    const [own, other] = [await upload(clientId), await upload((await onboarded()).clientId)]
    const refer = (id: number) => put(clientId, sectionsOf(n, ["fatca"], { "kyc.fatca.w9_document_id": id }))
    assert.strictEqual((await refer(own)).status, 200)
    assert.deepInclude((await kycOf(clientId)).payload.fatca, { w9_document_id: own })
    await service.run(Effect.flatMap(Documents, (documents) => documents.remove(operator, own, "test")))
    for (const id of [own, other]) {
      assert.deepStrictEqual(Object.keys((await refer(id)).json.data.errors), ["kyc.fatca.w9_document_id"])
    }
  })

  it("doc 1, Idempotency: a retry gets the same bytes and makes no second revision", async () => {
    const { n, clientId } = await onboarded()
    const headers = { "idempotency-key": `kyc-${clientId}` }
    const sent = sectionsOf(n, ["pep"])
    const first = await put(clientId, sent, headers)
    const retry = await put(clientId, sent, headers)
    assert.deepStrictEqual([retry.status, retry.headers["idempotency-replayed"]], [200, "true"])
    assert.strictEqual(retry.text, first.text)
    assert.strictEqual((await put(clientId, sectionsOf(n, ["fatca"]), headers)).json.code, 4092)
    assert.strictEqual((await kycOf(clientId)).revision, 2)
  })

  it("architecture, At rest: the personal data of a revision, accepted or refused, are readable nowhere", async () => {
    const { n, clientId } = await onboarded()
    const mark = "PLANTEDREVISION"
    const paths = {
      "kyc.personalInfo.address.street_name": mark,
      "kyc.identification.number": mark,
      "kyc.taxResidency.tax_residencies.0.tin": mark,
      "identityCheck.reference": mark,
      "attestation.attestedBy": mark
    }
    const sections = ["personalInfo", "identification", "taxResidency", "identityCheck"]
    const headers = { "idempotency-key": `planted-${clientId}` }
    assert.strictEqual((await put(clientId, sectionsOf(n, sections, paths), headers)).status, 200)
    const refused = await put(clientId, sectionsOf(n, sections, { ...paths, "kyc.personalInfo.phone_number": mark }))
    assert.strictEqual(refused.status, 400)
    assert.notInclude(refused.text, mark)
    assert.include(JSON.stringify(await kycOf(clientId)), mark)
    for (const table of tableNames) {
      for (const row of await query(service, `SELECT * FROM ${catalogue[table].sqlName}`)) {
        for (const value of Object.values(row)) {
          const text =
            value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : JSON.stringify(value, plain)
          assert.notInclude(text ?? "", mark, table)
        }
      }
    }
  })
})

const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value)
