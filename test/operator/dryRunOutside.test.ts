/**
 * Dry runs of the two commands that change more than a mailbox: the key file and the clock stay as they are (operator
 * surface, --dry-run; architecture, At rest).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { keyFileName, keyFileStore, loadKeyFile } from "../../src/runtime/adapters/keyFile.ts"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import { rowCounts } from "../support/Builders.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

let folder: string
let database: TestDatabase
let service: OperatorService
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "brokerage-dry-"))
  database = await makeTestDatabase()
  const store = keyFileStore(folder)
  service = await startOperatorService({
    database: { url: database.url, sealing: makeSealing(loadKeyFile(folder), store.read) },
    keys: { keyStore: store }
  })
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

describe("operator surface, --dry-run outside the mailboxes", () => {
  it("encryption rotate: says which key would follow, and adds none", async () => {
    const file = readFileSync(join(folder, keyFileName), "utf8")
    const before = await rowCounts(service)
    const { answer, would } = await service.done(["encryption", "rotate", "--dry-run"])
    assert.deepStrictEqual([answer.previous, answer.current, would.rows], [1, 2, { audit: 1 }])
    assert.strictEqual(readFileSync(join(folder, keyFileName), "utf8"), file)
    assert.deepStrictEqual(await rowCounts(service), before)
    assert.strictEqual((await service.done(["encryption", "show"])).current, 1)
  })

  it("sim clock advance: shows the clock as it would be, and leaves it", async () => {
    const before = await service.done(["sim", "clock", "show"])
    const { answer } = await service.done(["sim", "clock", "advance", "8h", "--dry-run"])
    assert.strictEqual(answer.offsetMillis, before.offsetMillis + 8 * 3_600_000)
    assert.isAtLeast(answer.now, before.now + 8 * 3_600_000)
    const after = await service.done(["sim", "clock", "show"])
    assert.strictEqual(after.offsetMillis, before.offsetMillis)
  })
})
