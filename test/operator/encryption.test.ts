/**
 * Rotation of the encryption key by command while the service works: nothing is lost, no value is sealed with a key
 * that the file lacks, and an interrupted rotation continues (architecture, At rest).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { keyFileName, keyFileStore, loadKeyFile } from "../../src/runtime/adapters/keyFile.ts"
import { setPauseTrigger } from "../../src/runtime/engine/PausePoints.ts"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import { DocumentContents } from "../../src/runtime/ports/DocumentContents.ts"
import { type RowKey, sealedColumns } from "../../src/runtime/store/SealedValues.ts"
import { batchesOf } from "../../src/runtime/workers/ResealWorker.ts"
import { ofClient, onboard, person, query, rowsOf } from "../support/Builders.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"
import { expectLog } from "../support/expectLog.ts"

const fast = { pauseMillis: 0, settleMillis: 200 }
const fullFile = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(8_388_608 - 9, 0x20)]).toString("base64")

let folder: string
let database: TestDatabase
let service: OperatorService
let key: string
const keyFile = () => readFileSync(join(folder, keyFileName), "utf8")

const start = async (pace = fast) => {
  const store = keyFileStore(folder)
  service = await startOperatorService({
    database: { url: database.url, sealing: makeSealing(loadKeyFile(folder), store.read) },
    keys: { keyStore: store, resealPace: pace }
  })
}
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "brokerage-keys-"))
  database = await makeTestDatabase()
  await start()
  key = (await service.partner({ code: "KEYS" })).key
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

const show = () => service.done(["encryption", "show"])
const rotate = () => service.cli(["encryption", "rotate", "--yes"])
const atRest = async () =>
  await vi.waitFor(
    async () => {
      const shown = await show()
      assert.isFalse(shown.resealing.running)
      return shown
    },
    { timeout: 25_000, interval: 100 }
  )
/** The key number of every sealed value, with its column. */
const keysUsed = async (): Promise<ReadonlyMap<string, ReadonlyArray<number>>> => {
  const used = new Map<string, ReadonlyArray<number>>()
  for (const { table, column, place } of sealedColumns) {
    const rows = await query<{ readonly n: number }>(
      service,
      `SELECT DISTINCT get_byte("${column}", 0) AS n FROM ${table} WHERE "${column}" IS NOT NULL`
    )
    if (rows.length > 0)
      used.set(
        place,
        rows.map(({ n }) => Number(n))
      )
  }
  return used
}
const upload = (clientId: number, dataBase64: string, name = "scan.pdf") =>
  service.call("POST", `/partner/v1/clients/${clientId}/documents`, {
    key,
    body: { name, purpose: "other", dataBase64 },
    headers: { "idempotency-key": `up-${clientId}-${name}` }
  })

describe("encryption rotate", () => {
  it("adds a key to the file, seals with it, and seals everything again while the service works", async () => {
    const clientId = await service.client(key)
    assert.strictEqual((await upload(clientId, fullFile)).status, 201)
    const mifid = () => service.call("PUT", `/partner/v1/clients/${clientId}/mifid`, { key, body: sampleMifid() })
    assert.strictEqual((await mifid()).status, 200)
    const before = {
      file: keyFile(),
      revisions: await ofClient(service, "kycRevisions", clientId),
      contents: await ofClient(service, "documentContents", clientId),
      fingerprint: service.database.sealing.fingerprint("a person")
    }
    assert.deepStrictEqual((await atRest()).keys.length, 1)

    const rotated = await rotate()
    assert.deepStrictEqual(rotated.json, { previous: 1, current: 2 }, rotated.stderr)
    const filed = keyFile()
    assert.isTrue(filed.startsWith(before.file))
    assert.match(filed.slice(before.file.length), /^2 [A-Za-z0-9+/]{43}=\n$/)
    assert.strictEqual(statSync(join(folder, keyFileName)).mode & 0o777, 0o600)
    // The service works with the new key in the meantime.
    for (let n = 0; n < 10; n++) assert.strictEqual((await mifid()).status, 200)

    const shown = await atRest()
    assert.strictEqual(shown.current, 2)
    assert.strictEqual(shown.resealing.remaining, 0)
    assert.deepStrictEqual(
      shown.keys.map((each: { number: number; sealedValues: number }) => [each.number, each.sealedValues > 10]),
      [
        [1, false],
        [2, true]
      ]
    )
    const used = await keysUsed()
    for (const [place, numbers] of used) assert.deepStrictEqual(numbers, [2], place)
    for (const place of ["document_contents.content", "documents.filename", "kyc_revisions.payload", "answers.body"])
      assert.isTrue(used.has(place), place)
    assert.deepStrictEqual(await ofClient(service, "kycRevisions", clientId), before.revisions)
    assert.deepStrictEqual(await ofClient(service, "documentContents", clientId), before.contents)
    assert.strictEqual(service.database.sealing.fingerprint("a person"), before.fingerprint)
    const [canary] = await query<{ n: number; done: number }>(
      service,
      "SELECT get_byte(canary, 0) AS n, resealed_key AS done FROM service_stamp"
    )
    assert.deepStrictEqual([Number(canary?.n), Number(canary?.done)], [2, 2])
  })

  it("is noted in the audit by key numbers alone", async () => {
    const rows = await rowsOf(service, "audit", "action LIKE 'encryption.%'")
    assert.deepStrictEqual(
      rows.map(({ role, action, before, after, reason, partnerId, clientId }) => [
        role,
        action,
        before,
        after,
        reason,
        partnerId,
        clientId
      ]),
      [
        ["ADMIN", "encryption.rotate", "key 1", "key 2", null, null, null],
        ["SYSTEM", "encryption.resealed", null, "key 2", null, null, null]
      ]
    )
    const secret = keyFile()
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "?")
    for (const each of secret) assert.notInclude(JSON.stringify([rows, await show()]), each)
  })

  it("an answer stored before the rotation is replayed byte for byte after it, and a person is recognised again", async () => {
    const body = person(900, "replay")
    const headers = { "idempotency-key": "before-rotation" }
    const first = await onboard(service, key, body, headers)
    assert.strictEqual(first.status, 201)
    assert.strictEqual((await rotate()).json.current, 3)
    const again = await onboard(service, key, body, headers)
    assert.strictEqual(again.text, first.text)
    const same = person(900, "replay", { partnerClientRef: "same-person", email: "same.person@mail.example" })
    assert.strictEqual((await onboard(service, key, same)).json.data.lifecycleState, "KYC_PENDING")
    await atRest()
    assert.strictEqual((await onboard(service, key, body, headers)).text, first.text)
  })

  it("one rotation at a time: another one is refused until nothing is left to seal again", async () => {
    const both = await Promise.all([rotate(), rotate()])
    assert.sameMembers(
      both.map(({ status }) => status),
      [0, 1]
    )
    const refused = both.find(({ status }) => status === 1)
    assert.strictEqual(refused?.refusal.code, 4092)
    assert.include(refused?.refusal.msg, "sealed again")
    assert.strictEqual((await atRest()).current, 4)
  })

  it("values that are written while they are sealed again are never lost: the last writer wins", async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => service.client(key)))
    const put = (clientId: number, employer: string) =>
      service.call("PUT", `/partner/v1/clients/${clientId}/mifid`, {
        key,
        body: {
          ...sampleMifid(),
          employmentFinancial: { ...sampleMifid().employmentFinancial, employer_name: employer }
        }
      })
    await Promise.all(ids.map((clientId) => put(clientId, "round 0")))
    const rotated = rotate()
    for (let round = 1; round <= 12; round++) {
      const answers = await Promise.all(ids.map((clientId) => put(clientId, `round ${round}`)))
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
    }
    assert.strictEqual((await rotated).status, 0)
    assert.strictEqual((await atRest()).resealing.remaining, 0)
    for (const clientId of ids) {
      const rows = await ofClient(service, "blockPayloads", clientId)
      const employment = rows.find(({ code }) => code === "EMPLOYMENT_FINANCIAL")?.data as { employer_name: string }
      assert.strictEqual(employment.employer_name, "round 12")
    }
  })

  it("a rotation that died after the write of the file continues: the next one uses the key of the file", async () => {
    expectLog(/operator request failed by a defect: .* died here/)
    const { current } = await show()
    setPauseTrigger("key-written", () => {
      throw new Error("died here")
    })
    const died = await rotate()
    setPauseTrigger("key-written", null)
    assert.strictEqual(died.refusal.code, 5000)
    assert.strictEqual(loadKeyFile(folder).current, current + 1)
    assert.strictEqual((await show()).current, current)
    assert.deepStrictEqual((await rotate()).json, { previous: current, current: current + 1 })
    assert.strictEqual(loadKeyFile(folder).current, current + 1)
    await atRest()
  })

  it("a restart adopts a filed key, writes the audit, and continues with the rest", async () => {
    expectLog(/operator request failed by a defect: .* died here/)
    const clientId = await service.client(key)
    const { current } = await show()
    await upload(clientId, fullFile, "restart.pdf")
    const contents = await ofClient(service, "documentContents", clientId)
    setPauseTrigger("key-written", () => {
      throw new Error("died here")
    })
    await rotate()
    setPauseTrigger("key-written", null)
    await service.stop()
    // The first start stops in its second batch.
    await start({ pauseMillis: 600_000, settleMillis: 0 })
    await vi.waitFor(
      async () => {
        const { keys } = await show()
        assert.isAbove(keys.at(-1).sealedValues, 0)
      },
      { timeout: 10_000 }
    )
    const half = await show()
    assert.strictEqual(half.current, current + 1)
    assert.isTrue(half.resealing.running)
    assert.isAbove(half.resealing.remaining, 0)
    assert.deepStrictEqual((await rotate()).refusal.code, 4092)
    await service.stop()
    await start()
    assert.deepStrictEqual((await atRest()).resealing, { running: false, remaining: 0 })
    assert.deepStrictEqual(await ofClient(service, "documentContents", clientId), contents)
    const [adopted, ...more] = await rowsOf(service, "audit", "action = 'encryption.adopt'")
    assert.deepStrictEqual([adopted?.role, adopted?.after, more.length], ["SYSTEM", `key ${current + 1}`, 0])
  })

  it("a value that no key opens stays unchanged and delays nothing", async () => {
    expectLog(/no key opens 1 sealed value/)
    const clientId = (await onboard(service, key, person(901, "spoiled"))).json.data.clientId
    const spoiled = "set_byte(data, 40, (get_byte(data, 40) + 1) % 256)"
    await query(service, `UPDATE block_payloads SET data = ${spoiled} WHERE client_id = $1 AND code = 'FATCA'`, [
      BigInt(clientId)
    ])
    const rotated = await rotate()
    assert.strictEqual(rotated.status, 0, rotated.stderr)
    assert.deepStrictEqual((await atRest()).resealing, { running: false, remaining: 1 })
    await query(service, "DELETE FROM block_payloads WHERE client_id = $1 AND code = 'FATCA'", [BigInt(clientId)])
    assert.strictEqual((await show()).resealing.remaining, 0)
  })

  it("a content whose statement was in progress is found by a later pass", async () => {
    const { current } = await show()
    const older = makeSealing({ ...loadKeyFile(folder), current })
    assert.strictEqual((await rotate()).status, 0)
    const write = Effect.flatMap(DocumentContents, (contents) =>
      contents.write({ documentId: 999_999, partnerId: 1, clientId: 1, content: "bGF0ZQ==" })
    )
    await service.run(write)
    await query(service, "UPDATE document_contents SET content = decode($1, 'hex') WHERE document_id = 999999", [
      Buffer.from(older.seal("bGF0ZQ==", "document_contents.content")).toString("hex")
    ])
    assert.strictEqual((await atRest()).resealing.remaining, 0)
    const [row] = await rowsOf(service, "documentContents", "document_id = 999999")
    assert.strictEqual(row?.content, "bGF0ZQ==")
  })

  it("a file that was replaced, cut or lost is refused, and nothing is added to it", async () => {
    const whole = keyFile()
    const path = join(folder, keyFileName)
    const lines = whole.trim().split("\n")
    const other = `1 ${Buffer.alloc(32, 9).toString("base64")}`
    for (const text of [`${lines.slice(0, -1).join("\n")}\n`, [other, ...lines.slice(1)].join("\n"), "x", ""]) {
      writeFileSync(path, text)
      const refused = await rotate()
      assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092], text.slice(0, 4))
      assert.strictEqual(keyFile(), text)
    }
    rmSync(path)
    assert.include((await rotate()).refusal.msg, "encryption.keys")
    assert.throws(() => statSync(path))
    writeFileSync(path, whole, { mode: 0o600 })
  })

  it("255 keys at most: a clear refusal, and nothing changes", async () => {
    const numbers = Array.from({ length: 255 }, (_, n) => n + 1)
    const text = numbers.map(
      (n) => `${n} ${loadKeyFile(folder).keys.get(n)?.toString("base64") ?? Buffer.alloc(32, n).toString("base64")}\n`
    )
    writeFileSync(join(folder, keyFileName), text.join(""))
    // Uses the key that is already in the file.
    assert.strictEqual((await rotate()).json.current, 255)
    await atRest()
    const refused = await rotate()
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    assert.include(refused.refusal.msg, "255")
    assert.strictEqual(keyFile(), text.join(""))
    assert.strictEqual((await show()).current, 255)
  })

  it("a service whose keys are kept elsewhere does not rotate them", async () => {
    const other = await startOperatorService()
    try {
      const refused = await other.cli(["encryption", "rotate", "--yes"])
      assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    } finally {
      await other.stop()
    }
  })

  it("a confirmation precedes a rotation, and the result is a table", async () => {
    const { current } = await show()
    const asked: Array<string> = []
    const confirm = (question: string) => asked.push(question) === 0
    const line = (verb: string) => ["encryption", verb, ...service.connection("ADMIN")]
    // A rotation that would be refused, because the last one still seals, is refused before the confirmation.
    const ran = await runRecorded(line("rotate"), { confirm })
    assert.strictEqual(ran.status, 1)
    assert.strictEqual(asked.length === 1, ran.stderr.endsWith("Nothing was done.\n"), ran.stderr)
    assert.strictEqual((await show()).current, current)
    assert.match((await runRecorded(line("show"))).stdout, /KEY +SEALED VALUES/)
  })

  it("roles: ADMIN rotates, everyone sees the numbers", async () => {
    for (const role of ["FINANCE", "COMPLIANCE", "SUPPORT"] as const) {
      assert.strictEqual((await service.cli(["encryption", "rotate", "--yes"], role)).refusal.code, 4034)
      assert.strictEqual((await service.cli(["encryption", "show"], role)).status, 0)
    }
  })
})

describe("sealed columns", () => {
  it("At rest: no table with a sealed column is insert-only by trigger", async () => {
    const rows = await query<{ readonly name: string }>(
      service,
      "SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger WHERE NOT tgisinternal"
    )
    const guarded = new Set(rows.map(({ name }) => name))
    assert.isTrue(guarded.has("audit"))
    for (const { table } of sealedColumns) assert.isFalse(guarded.has(table), table)
  })

  it("every bytea column of the schema is sealed again, or is the canary", async () => {
    const rows = await query<{ readonly place: string }>(
      service,
      "SELECT table_name || '.' || column_name AS place FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'bytea'"
    )
    assert.sameMembers(
      rows.map(({ place }) => place),
      [...sealedColumns.map(({ place }) => place), "service_stamp.canary"]
    )
  })

  it("batches are limited in rows and bytes, and a large value is alone", () => {
    const at = (size: number) => ({ key: [1n] as RowKey, number: 1, size })
    const sizes = (values: ReadonlyArray<number>) =>
      batchesOf(values.map(at)).map((batch) => batch.map(({ size }) => size))
    assert.deepStrictEqual(sizes([]), [])
    assert.deepStrictEqual(sizes([10, 11_000_000, 10]), [[10], [11_000_000], [10]])
    assert.deepStrictEqual(
      sizes(Array.from({ length: 250 }, () => 1)).map((batch) => batch.length),
      [100, 100, 50]
    )
    assert.deepStrictEqual(sizes([2_000_000, 97_152, 1]), [[2_000_000, 97_152], [1]])
  })
})
