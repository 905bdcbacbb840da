/**
 * Dry runs of the two commands that change more than a mailbox: keys and clock stay unchanged (operator surface,
 * --dry-run; architecture, At rest).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import { keyStoreMemory } from "../../src/runtime/ports/KeyStoreMemory.ts"
import { rowCounts } from "../support/Builders.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const keys = keyStoreMemory({ current: 1, keys: new Map([[1, Buffer.alloc(32, 1)]]) })
let database: TestDatabase
let service: OperatorService
beforeAll(async () => {
  database = await makeTestDatabase()
  service = await startOperatorService({
    database: { url: database.url, sealing: makeSealing(keys.read(), keys.read) },
    keys: { keyStore: keys }
  })
})
afterAll(async () => {
  await service.stop()
  await database.drop()
})

describe("operator surface, --dry-run outside the mailboxes", () => {
  it("encryption rotate: shows the next key, and adds none", async () => {
    // The clock begins an end-of-day run of statements at any time, under a claim of its own.
    const counted = async () => ({ ...(await rowCounts(service)), statementJobs: 0, claims: 0 })
    const before = await counted()
    const { answer, would } = await service.done(["encryption", "rotate", "--dry-run"])
    assert.deepStrictEqual([answer.previous, answer.current, would.rows], [1, 2, { audit: 1 }])
    assert.deepStrictEqual([...keys.read().keys.keys()], [1])
    assert.deepStrictEqual(await counted(), before)
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
