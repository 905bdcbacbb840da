/**
 * Deletion of documents through the command line, on a real service: the content is gone, the facts stay, a slot is free
 * (operator surface, document delete; A1-38).
 */
import { assert, describe, it } from "@effect/vitest"
import { ofClient, rowsOf } from "../support/Builders.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, key } = await openOperatorScenario({ partner: { code: "DOCS" } })
let clientId = await service.client(key)

const dataBase64 = Buffer.from("%PDF-1.7\nsomething").toString("base64")

const path = () => `/partner/v1/clients/${clientId}/documents`
const upload = async () =>
  await service.call("POST", path(), { key, body: { name: "w9.pdf", purpose: "w9", dataBase64 } })
const remove = (documentId: number | string, role: "ADMIN" | "COMPLIANCE" | "FINANCE" | "SUPPORT" = "COMPLIANCE") =>
  service.cli(["document", "delete", String(documentId), "--reason", "sent by mistake", "--yes"], role)

describe("operator surface, document delete", () => {
  it("A1-38: the content is deleted, the row keeps the time, the audit the reason", async () => {
    const { documentId } = (await upload()).json.data
    const kept = (await upload()).json.data.documentId
    const ran = await remove(documentId)
    assert.strictEqual(ran.status, 0, ran.stderr)
    const listed = (await service.call("GET", path(), { key })).json.data.documents
    assert.deepStrictEqual(
      listed.map((row: { documentId: number; deletedAt: number | null }) => [row.documentId, row.deletedAt === null]),
      [
        [kept, true],
        [documentId, false]
      ]
    )
    assert.deepStrictEqual(ran.json, { ...listed[1], clientId })
    const contents = await ofClient(service, "documentContents", clientId)
    assert.deepStrictEqual(
      contents.map((row) => [row.documentId, row.content]),
      [
        [documentId, ""],
        [kept, dataBase64]
      ]
    )
    const audit = await rowsOf(service, "audit", "object = $1", [`document:${documentId}`])
    assert.deepStrictEqual(
      audit.map(({ role, action, before, after, reason }) => ({ role, action, before, after, reason })),
      [
        { role: "PARTNER", action: "document.upload", before: null, after: "LIVE", reason: null },
        { role: "COMPLIANCE", action: "document.delete", before: "LIVE", after: "DELETED", reason: "sent by mistake" }
      ]
    )
  })

  it("A1-38: a document is deleted once, and only if it exists", async () => {
    const { documentId } = (await upload()).json.data
    const both = await Promise.all([remove(documentId), remove(documentId, "ADMIN")])
    assert.sameMembers(
      both.map(({ status }) => status),
      [0, 1]
    )
    assert.strictEqual((await remove(documentId)).refusal.code, 4092)
    assert.strictEqual((await remove("999999")).refusal.code, 4004)
  })

  it("A1-38: deletion frees a slot of the twenty", async () => {
    clientId = await service.client(key)
    const ids: Array<number> = []
    for (let n = 0; n < 20; n++) ids.push((await upload()).json.data.documentId)
    assert.strictEqual((await upload()).status, 409)
    assert.strictEqual((await remove(ids[7] as number)).status, 0)
    assert.strictEqual((await upload()).status, 201)
    assert.strictEqual((await upload()).status, 409)
  })

  it("roles: FINANCE and SUPPORT are refused, and a reason is needed", async () => {
    for (const role of ["FINANCE", "SUPPORT"] as const) assert.strictEqual((await remove(1, role)).refusal.code, 4034)
    assert.strictEqual((await service.cli(["document", "delete", "1"], "COMPLIANCE")).status, 2)
  })
})
