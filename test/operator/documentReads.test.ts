/**
 * Reads of documents through the command line: only compliance and ADMIN, with a reason, audited before the reply; the
 * content goes to a file that only its owner can read (operator surface, rules and document; A1-38).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DocumentContents } from "../../src/runtime/ports/DocumentContents.ts"
import { query, rowCounts, rowsOf } from "../support/Builders.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"
import { expectLog } from "../support/expectLog.ts"

const pdf = Buffer.from("%PDF-1.7\nsomething about a person\u00e4")
const fullFile = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(8_388_608 - 9, 0x20)])

let service: OperatorService
let folder: string
let key: string
let clientId: number
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "brokerage-documents-"))
  service = await startOperatorService()
  key = (await service.partner({ code: "READS" })).key
  clientId = await service.client(key)
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const upload = async (content: Buffer = pdf, name = "Maria Passport.pdf"): Promise<number> => {
  const body = { name, purpose: "identity", dataBase64: content.toString("base64") }
  const answer = await service.call("POST", `/partner/v1/clients/${clientId}/documents`, { key, body })
  return answer.json.data.documentId
}
const showing = (documentId: number | string, more: ReadonlyArray<string>) => [
  "document",
  "show",
  String(documentId),
  "--reason",
  "the bank asks",
  ...more
]
const show = (documentId: number | string, more: ReadonlyArray<string> = []) =>
  service.cli(showing(documentId, more), "COMPLIANCE")
const list = (client: number | string) => ["document", "list", String(client), "--reason", "the bank asks"]
const auditOf = async (documentId: number) =>
  (await rowsOf(service, "audit", "object = $1 AND action <> 'document.upload'", [`document:${documentId}`])).map(
    ({ role, action, before, after, reason, clientId: of }) => ({ role, action, before, after, reason, of })
  )
const read = (action: string) => ({
  role: "COMPLIANCE",
  action,
  before: null,
  after: null,
  reason: "the bank asks",
  of: clientId
})

describe("operator surface, document list", () => {
  it("a client's documents by id or uid, deleted ones too, without any content", async () => {
    const [first, second] = [await upload(), await upload(fullFile, "full.pdf")]
    await service.done(["document", "delete", String(first), "--reason", "test", "--yes"])
    const listed = await service.done(list(clientId), "COMPLIANCE")
    assert.deepStrictEqual(
      listed.documents.map((row: Record<string, unknown>) => [row.documentId, row.filename, row.deletedAt === null]),
      [
        [second, "full.pdf", true],
        [first, "Maria Passport.pdf", false]
      ]
    )
    assert.deepStrictEqual(Object.keys(listed.documents[0]).toSorted(), [
      "clientId",
      "deletedAt",
      "documentId",
      "filename",
      "mimeType",
      "purpose",
      "side",
      "sizeBytes",
      "source",
      "type",
      "uploadedAt"
    ])
    const { clientUid } = (await service.call("GET", `/partner/v1/clients/${clientId}`, { key })).json.data
    assert.deepStrictEqual(await service.done(list(clientUid)), listed)
    assert.strictEqual((await service.cli(list("999999"))).refusal.code, 4004)
  })

  it("it shows the names of files, so it demands a reason, which is in the audit before the answer", async () => {
    const listings = async () =>
      (await rowsOf(service, "audit", "object = $1 AND action = 'document.list'", [`client:${clientId}`])).map(
        ({ role, action, before, after, reason, clientId: of }) => ({ role, action, before, after, reason, of })
      )
    const before = await listings()
    await service.done(list(clientId), "COMPLIANCE")
    assert.deepStrictEqual(await listings(), [...before, read("document.list")])
    assert.strictEqual((await service.cli(["document", "list", String(clientId)], "COMPLIANCE")).status, 2)
    assert.deepStrictEqual(await listings(), [...before, read("document.list")])
  })

  it("a person gets a table", async () => {
    const ran = await runRecorded([...list(clientId), ...service.connection("ADMIN")])
    assert.include(ran.stdout, "full.pdf")
    assert.include(ran.stdout, "FILENAME")
  })
})

describe("operator surface, document show", () => {
  it("without --output: the facts, the command to save it, and an audit row with the reason", async () => {
    const documentId = await upload()
    const shown = (await show(documentId)).json
    assert.deepStrictEqual(
      [shown.documentId, shown.clientId, shown.filename, shown.sizeBytes, "dataBase64" in shown],
      [documentId, clientId, "Maria Passport.pdf", pdf.length, false]
    )
    assert.deepStrictEqual(await auditOf(documentId), [read("document.show")])
    const line = ["document", "show", String(documentId), "--reason", "r", ...service.connection("ADMIN")]
    assert.include((await runRecorded(line)).stdout, "--output FILE")
  })

  it("A1-38: with --output: the bytes as uploaded, in a file of its owner alone, audited once; the audit names no person", async () => {
    const documentId = await upload(fullFile, "Maria Full.pdf")
    const output = join(folder, "full.pdf")
    const ran = await show(documentId, ["--output", output])
    assert.deepStrictEqual([ran.json.output, ran.json.sizeBytes], [output, fullFile.length], ran.stderr)
    assert.isTrue(readFileSync(output).equals(fullFile))
    assert.strictEqual(statSync(output).mode & 0o777, 0o600)
    assert.deepStrictEqual(await auditOf(documentId), [read("document.read")])
    assert.notInclude(JSON.stringify(await rowsOf(service, "audit")), "Maria")
  })

  it("an existing file is overwritten with --yes alone, never through a link, and nothing is read for a refusal", async () => {
    const documentId = await upload()
    const [output, target, link] = [join(folder, "there.pdf"), join(folder, "target.pdf"), join(folder, "link.pdf")]
    writeFileSync(output, "mine", { mode: 0o644 })
    writeFileSync(target, "mine")
    symlinkSync(target, link)
    for (const file of [output, link]) {
      const refused = await service.unsure(showing(documentId, ["--output", file]), "COMPLIANCE")
      assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092], file)
    }
    assert.strictEqual(readFileSync(output, "utf8"), "mine")
    assert.deepStrictEqual(await auditOf(documentId), [])
    assert.strictEqual((await show(documentId, ["--output", link])).refusal.code, 4092)
    assert.deepStrictEqual(await auditOf(documentId), [])
    assert.strictEqual((await show(documentId, ["--output", output])).status, 0)
    assert.isTrue(readFileSync(output).equals(pdf))
    assert.strictEqual(statSync(output).mode & 0o777, 0o600)
    assert.strictEqual(readFileSync(target, "utf8"), "mine")
    const looks = await auditOf(documentId)
    assert.strictEqual((await show(documentId, ["--output", join(folder, "none", "x")])).status, 2)
    assert.deepStrictEqual(await auditOf(documentId), looks, "a folder that is not there costs no audited read")
  })

  it("A1-38: a deleted document answers 409 and an unknown one 404, with a sentence and no audit row", async () => {
    const documentId = await upload()
    await service.done(["document", "delete", String(documentId), "--reason", "test", "--yes"])
    const before = await rowCounts(service)
    const output = join(folder, "deleted.pdf")
    for (const more of [[], ["--output", output]]) {
      const { status, refusal } = await show(documentId, more)
      assert.deepStrictEqual(
        [status, refusal.code, refusal.msg],
        [1, 4092, "The document was deleted: its content is gone."]
      )
      assert.strictEqual((await show("999999", more)).refusal.code, 4004)
    }
    assert.isFalse(existsSync(output))
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("a content that differs from the stored hash is never returned", async () => {
    expectLog(/content of document \d+ is not as long as it was/)
    expectLog(/document_contents\.content does not open/)
    const documentId = await upload()
    await service.run(
      Effect.flatMap(DocumentContents, (contents) =>
        Effect.andThen(
          contents.discard(documentId),
          contents.write({ documentId, partnerId: 1, clientId, content: Buffer.from("%PDF-other").toString("base64") })
        )
      )
    )
    assert.strictEqual((await show(documentId, ["--output", join(folder, "other.pdf")])).refusal.code, 5000)
    const spoiled = "set_byte(content, 40, get_byte(content, 40) # 1)"
    await query(service, `UPDATE document_contents SET content = ${spoiled} WHERE document_id = $1`, [
      BigInt(documentId)
    ])
    assert.strictEqual((await show(documentId, ["--output", join(folder, "other.pdf")])).refusal.code, 5000)
    assert.isFalse(existsSync(join(folder, "other.pdf")))
  })

  it("full files are read a few at a time: further requests get Retry-After, and all can be read after that", async () => {
    const documentId = await upload(fullFile)
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) => show(documentId, ["--output", join(folder, `many-${n}.pdf`)]))
    )
    const codes = all.map(({ status, refusal }) => (status === 0 ? 0 : (refusal.code as number)))
    assert.includeMembers([0, 5030], codes)
    assert.include(codes, 0)
    assert.strictEqual((await show(documentId, ["--output", join(folder, "last.pdf")])).status, 0)
  })

  it("roles: FINANCE and SUPPORT see no documents, and a reason is needed", async () => {
    const documentId = await upload()
    for (const role of ["FINANCE", "SUPPORT"] as const) {
      for (const line of [list(clientId), ["document", "show", String(documentId), "--reason", "r"]])
        assert.strictEqual((await service.cli(line, role)).refusal.code, 4034, line.join(" "))
    }
    assert.strictEqual((await service.cli(["document", "show", String(documentId)], "COMPLIANCE")).status, 2)
    assert.strictEqual(
      (await service.cli(["document", "show", String(documentId), "--reason", " "])).refusal.code,
      4000
    )
    assert.deepStrictEqual(await auditOf(documentId), [])
  })
})
