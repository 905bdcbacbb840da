/**
 * Documents on the real service: uploads by content, the size and number limits under races, the list, replays, and what
 * is stored (doc 1, Document and rule 10; A1-37; SC-ONB-15).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { storeNothing } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { partnerAttribution } from "../../src/runtime/services/partners/Caller.ts"
import { Directory } from "../../src/runtime/services/partners/Directory.ts"
import { DocumentContents } from "../../src/runtime/ports/DocumentContents.ts"
import { Documents } from "../../src/runtime/services/clients/document/Documents.ts"
import { get, ofClient, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { type Answer, type Service, startService } from "../support/Service.ts"

const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1])
const pdf = Buffer.from("%PDF-1.7\n1 0 obj\n")
const chunk = (type: string, data: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)])
}
const pngOf = (...chunks: ReadonlyArray<Buffer>): Buffer =>
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", Buffer.alloc(13)),
    ...chunks,
    chunk("IDAT", Buffer.alloc(4))
  ])
const png = pngOf()
const webp = Buffer.from("RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0", "latin1")
/** A file of exactly this number of bytes. */
const sized = (bytes: number): string => {
  const file = Buffer.alloc(bytes, 0x20)
  pdf.copy(file)
  return file.toString("base64")
}
const fullFile = 8_388_608

describe("documents", () => {
  let service: Service
  let key: string
  let clientId: number

  const body = (over: object = {}) => ({
    name: "scan.jpg",
    contentType: "image/jpeg",
    dataBase64: jpeg.toString("base64"),
    purpose: "identity",
    ...over
  })
  const upload = (over: object = {}, of = clientId, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    service.call("POST", `/partner/v1/clients/${of}/documents`, { key, body: body(over), headers })
  const list = async (of = clientId) => (await get(service, key, `/clients/${of}/documents`)).json.data.documents

  beforeAll(async () => {
    service = await startService()
    key = (await service.partner()).key
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    clientId = await service.client(key)
  })

  it("doc 1, Document: the answer and the list row, to the member", async () => {
    const answer = await upload()
    const [row] = await ofClient(service, "documents", clientId)
    assert.strictEqual(answer.status, 201)
    assert.deepStrictEqual(answer.json, {
      code: 0,
      data: {
        documentId: row?.id,
        type: "passport",
        purpose: "identity",
        filename: "scan.jpg",
        mimeType: "image/jpeg",
        sizeBytes: jpeg.length,
        uploadedAt: row?.uploadedAt,
        source: "PARTNER"
      }
    })
    const { purpose: _, ...facts } = answer.json.data
    assert.deepStrictEqual(await list(), [{ ...facts, side: null, deletedAt: null }])
    const audit = await rowsOf(service, "audit", "object = $1", [`document:${row?.id}`])
    assert.deepStrictEqual(
      audit.map(({ clientId: of, role, action, before, after }) => ({ of, role, action, before, after })),
      [{ of: clientId, role: "PARTNER", action: "document.upload", before: null, after: "LIVE" }]
    )
  })

  it("doc 1, Document: purposes give types, the content gives the mime type; newest first", async () => {
    const sent = [
      { purpose: "address", name: "bill.pdf", dataBase64: png.toString("base64"), contentType: "application/pdf" },
      { purpose: "w9", name: "w9.pdf", dataBase64: pdf.toString("base64"), contentType: "nonsense" },
      { purpose: "other", name: "a.png", dataBase64: pngOf(chunk("acTL", Buffer.alloc(8))).toString("base64") }
    ]
    for (const over of sent) assert.strictEqual((await upload(over)).status, 201)
    assert.deepStrictEqual(
      (await list()).map(({ type, mimeType, filename }: Record<string, string>) => [type, mimeType, filename]),
      [
        ["other", "image/png", "a.png"],
        ["w9_form", "application/pdf", "w9.pdf"],
        ["utility_bill", "image/png", "bill.pdf"]
      ]
    )
  })

  const refusals: ReadonlyArray<readonly [title: string, dataBase64: string, sentence: RegExp]> = [
    ["an empty content", "", /is empty/],
    ["white space", `${jpeg.toString("base64")}\n`, /padded base64/],
    ["missing padding", pdf.subarray(0, 16).toString("base64").replace(/=+$/, ""), /padded base64/],
    ["padding in the middle", "/9j/4A==/9j/", /padded base64/],
    ["the alphabet of URLs", jpeg.toString("base64").replaceAll("/", "_"), /padded base64/],
    ["bits behind the last byte", "/9j/4B==", /padded base64/],
    ["a data: prefix", `data:image/jpeg;base64,${jpeg.toString("base64")}`, /padded base64/],
    ["WebP", webp.toString("base64"), /JPEG, PNG or PDF/],
    ["HTML called a PNG", Buffer.from("<html>").toString("base64"), /JPEG, PNG or PDF/],
    ["a ZIP", Buffer.from("PK\x03\x04\x14\0\0\0\0\0", "latin1").toString("base64"), /JPEG, PNG or PDF/],
    ["one byte", "AA==", /JPEG, PNG or PDF/]
  ]
  it("A1-37: other contents are refused by name and write nothing", async () => {
    const before = await rowCounts(service)
    for (const [title, dataBase64, sentence] of refusals) {
      const { status, json } = await upload({ dataBase64, contentType: "image/png" })
      assert.deepStrictEqual([status, json.code, Object.keys(json.data.errors)], [400, 4000, ["dataBase64"]], title)
      assert.match(json.msg, sentence, title)
    }
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("rule 10: a full 8 MB file fits, one byte more is 413 code 4000", async () => {
    const full = await upload({ dataBase64: sized(fullFile) })
    assert.deepStrictEqual([full.status, full.json.data?.sizeBytes], [201, fullFile])
    // One size whose base64 has the same length, so that the length does not show it, and one with another length.
    for (const bytes of [fullFile + 1, fullFile + 3]) {
      const over = await upload({ dataBase64: sized(bytes) })
      assert.deepStrictEqual([over.status, over.json.code], [413, 4000])
    }
    // An encoder that escapes slashes: the longer body of a full file is still below the route's cap.
    const slashes = JSON.stringify(body({ dataBase64: sized(fullFile), name: "s".repeat(200) }))
    const raw = slashes.slice(0, -1) + " ".repeat(180_000) + "}"
    const path = `/partner/v1/clients/${clientId}/documents`
    assert.strictEqual((await service.call("POST", path, { key, raw })).status, 201)
    const beyond = await service.call("POST", path, { key, raw: " ".repeat(12_000_000) })
    assert.deepStrictEqual([beyond.status, beyond.json.code], [413, 4000])
    assert.lengthOf(await list(), 2)
  })

  it("architecture 8: the passes over a full file leave the thread to others in between, those over a small one don't", async () => {
    const original = globalThis.setImmediate
    let pauses = 0
    const spy = vi.spyOn(globalThis, "setImmediate").mockImplementation(((work: () => void) => {
      if (new Error().stack?.includes("yieldToEventLoop.ts") === true) pauses++
      return original(work)
    }) as typeof setImmediate)
    const pausesOf = async (dataBase64: string, key: string) => {
      pauses = 0
      assert.strictEqual((await upload({ dataBase64 }, clientId, { "idempotency-key": key })).status, 201)
      return pauses
    }
    try {
      // Pauses after receiving, parsing, fingerprinting and checking.
      assert.strictEqual(await pausesOf(sized(fullFile), `full-${clientId}`), 4)
      assert.strictEqual(await pausesOf(jpeg.toString("base64"), `small-${clientId}`), 0)
    } finally {
      spy.mockRestore()
    }
  })

  it("architecture 8: concurrent uploads wait for room; uploads beyond the queue get Retry-After", async () => {
    const { partnerId } = await service.partner()
    const outcomes = await service.run(
      Effect.gen(function* () {
        const documents = yield* Documents
        const partner = (yield* Directory).partner(partnerId)
        const apiKey = (yield* Directory).keys(partnerId)[0]
        if (partner === null || apiKey === undefined) throw new Error("no partner")
        const caller = { partner, key: apiKey, by: partnerAttribution(partner, apiKey, "test") }
        // Uploads for an unknown client, so that nothing is stored. Two full ones are processed, four wait, and then
        // even a small one is refused.
        const full = body({ dataBase64: sized(fullFile) })
        const once = (sent: object) => Effect.exit(documents.upload(caller, 999_999, sent, storeNothing))
        const first = yield* Effect.forEach([full, full, full, full, full, full, body()], once, {
          concurrency: "unbounded"
        })
        return [...first, yield* once(full)]
      })
    )
    assert.deepStrictEqual(outcomes.map(Exit.isSuccess), [true, true, true, true, true, true, false, true])
  })

  it("doc 1, Limits: of 40 uploads at once exactly 20 are kept, and no content of the others", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => upload({ name: `${n}.jpg` })))
    const of = (status: number) => answers.filter((answer) => answer.status === status)
    assert.deepStrictEqual([of(201).length, of(409).length], [20, 20])
    assert.deepStrictEqual([...new Set(of(409).map(({ json }) => json.code))], [4092])
    const rows = await ofClient(service, "documents", clientId)
    const contents = await ofClient(service, "documentContents", clientId)
    assert.deepStrictEqual(
      contents.map(({ documentId }) => documentId),
      rows.map(({ id }) => id)
    )
    assert.lengthOf(rows, 20)
    assert.strictEqual((await upload()).status, 409)
  })

  it("doc 1, Idempotency: a retry gets the same bytes and makes nothing; the stored answer has no content", async () => {
    const headers = { "idempotency-key": `document-${clientId}` }
    const first = await upload({}, clientId, headers)
    const again = await upload({}, clientId, headers)
    assert.deepStrictEqual([again.status, again.text], [201, first.text])
    assert.strictEqual(again.headers["idempotency-replayed"], "true")
    const other = await upload({ dataBase64: pdf.toString("base64") }, clientId, headers)
    assert.deepStrictEqual([other.status, other.json.code], [409, 4092])
    assert.lengthOf(await list(), 1)
    assert.lengthOf(await ofClient(service, "documentContents", clientId), 1)
    const [stored] = await rowsOf(service, "answers", "key = $1", [headers["idempotency-key"]])
    assert.strictEqual(stored?.body, first.text)
    assert.notInclude(stored?.body, jpeg.toString("base64"))
  })

  it("architecture, At rest: neither content nor name is readable in any stored byte", async () => {
    const marker = "PLANTED-DOCUMENT-MARKER"
    const file = Buffer.concat([pdf, Buffer.from(marker)])
    const text = file.toString("base64")
    assert.strictEqual((await upload({ dataBase64: text, name: `${marker}.pdf` })).status, 201)
    const [content] = await ofClient(service, "documentContents", clientId)
    assert.strictEqual(content?.content, text)
    for (const table of ["documents", "document_contents", "audit", "answers", "events"]) {
      for (const row of await query(service, `SELECT * FROM ${table}`)) {
        for (const value of Object.values(row)) {
          const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(String(value))
          for (const secret of [marker, text.slice(24, 48), text]) assert.isFalse(bytes.includes(secret), table)
        }
      }
    }
  })

  it("D2, A1-37: an upload is noted on a package that requested documents, which stays; a closed account accepts none", async () => {
    // No command requests documents or closes a client yet: the test writes the rows, and a service that has not loaded
    // them reads them.
    const closed = await service.client(key)
    await query(service, "UPDATE kyc_packages SET state = 'DOCUMENTS_REQUESTED' WHERE client_id = $1", [
      BigInt(clientId)
    ])
    await query(service, "UPDATE clients SET state = 'CLOSED' WHERE id = $1", [BigInt(closed)])
    const second = await startService({ database: service.database })
    const ask = (of: number) =>
      second.call("POST", `/partner/v1/clients/${of}/documents`, { key, body: body({ purpose: "identity" }) })
    assert.strictEqual((await ask(clientId)).status, 201)
    const refused = await ask(closed)
    assert.deepStrictEqual([refused.status, refused.json.code], [409, 4092])
    assert.deepStrictEqual(await ofClient(second, "documentContents", closed), [])
    const notes = await rowsOf(second, "audit", "action = 'kyc.documentUploaded'")
    assert.deepStrictEqual(
      notes.map((note) => note.clientId),
      [clientId]
    )
    assert.strictEqual((await ofClient(second, "kycPackages", clientId))[0]?.state, "DOCUMENTS_REQUESTED")
    await second.stop()
    await service.stop()
    service = await startService()
    key = (await service.partner()).key
  })

  it("A1-01: an unknown or foreign client is 404 before the body is judged; a READ key is refused", async () => {
    const foreign = await service.client((await service.partner()).key)
    for (const target of [foreign, 999_999]) {
      assert.deepStrictEqual((await upload({ dataBase64: "" }, target)).json.code, 4004)
      assert.strictEqual((await get(service, key, `/clients/${target}/documents`)).status, 404)
    }
    const reader = await service.partner({}, "READ")
    const path = `/partner/v1/clients/${clientId}/documents`
    assert.strictEqual((await service.call("POST", path, { key: reader.key, body: body() })).json.code, 4034)
  })

  it("A1-37: contents without a document are removed, young ones and those of a document stay", async () => {
    await upload()
    const contents = (ids: ReadonlyArray<number>) =>
      service.run(
        Effect.flatMap(DocumentContents, (port) =>
          Effect.forEach(ids, (documentId) => port.write({ documentId, partnerId: 1, clientId, content: "AAAA" }))
        )
      )
    await contents([7_000_001, 7_000_002])
    await query(service, "UPDATE document_contents SET stored_at = 5 WHERE document_id <> 7000002")
    const swept = await service.run(Effect.flatMap(DocumentContents, (port) => port.sweep(6)))
    assert.strictEqual(swept, 1)
    const left = await ofClient(service, "documentContents", clientId)
    assert.deepStrictEqual(
      left.map(({ documentId }) => documentId),
      [(await list())[0].documentId, 7_000_002]
    )
  })
})
