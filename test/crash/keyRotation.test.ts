/**
 * Key rotation on the real service, killed with SIGKILL after the write of the key file and between two batches. Every
 * sealed value opens after the restart, and the rotation completes (architecture, At rest; Proof: crash runs).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Redacted } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { keyFileName } from "../../src/runtime/adapters/keyFile.ts"
import { isDeep } from "../support/every.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-rotation-"))
const dataDir = join(folder, "data")
const keyFile = join(dataDir, keyFileName)
const pdf = Buffer.from("%PDF-1.7\nthe content of this file").toString("base64")

let database: TestDatabase
let service: RealService | null = null
let documentId = 0

/** Starts a service that is killed at its n-th pass of the point. Null: it was killed before it was ready. */
const start = async (killAt?: { readonly point: string; readonly times: number }): Promise<RealService | null> => {
  const databaseUrl = Redacted.value(database.url)
  const starting = startRealService({ dataDir, databaseUrl, ...(killAt === undefined ? {} : { killAt }) })
  return (service = killAt === undefined ? await starting : await starting.catch(() => null))
}
const running = (): RealService => {
  if (service === null) throw new Error("the service is not up")
  return service
}
const killed = async (): Promise<void> => {
  if (service !== null) assert.notStrictEqual((await service.ended()).code, 0)
  await service?.stop()
}
const numbersFiled = () =>
  readFileSync(keyFile, "utf8")
    .trim()
    .split("\n")
    .map((line) => Number(line.split(" ")[0]))
/** Downloads the document, and checks that its content and its name are those of the upload. */
const readBack = async (to: string) => {
  const output = join(folder, to)
  const reason = ["--reason", "after the crash"]
  const shown = await running().done("document", "show", String(documentId), ...reason, "--output", output)
  assert.strictEqual(shown.filename, "passport.pdf")
  assert.strictEqual(readFileSync(output).toString("base64"), pdf)
}

beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(async () => {
  await service?.stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

describe("key rotation, killed", { timeout: 120_000 }, () => {
  it("At rest: killed after the write of the key file, the key exists and seals nothing yet", async () => {
    await start({ point: "key-written", times: 1 })
    const key = await running().partner("ROT")
    const onboarding = sampleOnboarding(1, "rotation", Date.now())
    const { clientId } = dataOf(await running().call(key, "POST", "/clients", onboarding))
    const upload = { name: "passport.pdf", purpose: "identity", dataBase64: pdf }
    documentId = dataOf(await running().call(key, "POST", `/clients/${clientId}/documents`, upload)).documentId
    const cut = await running().cli("encryption", "rotate")
    assert.strictEqual(cut.status, 3, cut.stderr)
    await killed()
    assert.deepStrictEqual(numbersFiled(), [1, 2])
  })

  it("At rest: killed repeatedly between batches, the rotation continues with the remaining values and ends", async () => {
    for (let kill = 0; kill < (isDeep ? 2 : 1); kill++) {
      await start({ point: "values-resealed", times: 2 })
      await killed()
    }
    await start()
    await vi.waitFor(
      async () => {
        const { current, resealing } = await running().done("encryption", "show")
        assert.deepStrictEqual([current, resealing.remaining, resealing.running], [2, 0, false])
      },
      { timeout: 30_000, interval: 200 }
    )
    await readBack("one.pdf")
    const { entries } = await running().done("audit", "tail", "--limit", "200")
    const told = entries.filter(({ action }: { readonly action: string }) => action.startsWith("encryption."))
    assert.deepStrictEqual(
      told.map(({ role, action, before, after }: Record<string, unknown>) => [role, action, before, after]),
      [
        ["SYSTEM", "encryption.adopt", "key 1", "key 2"],
        ["SYSTEM", "encryption.resealed", null, "key 2"]
      ]
    )
    assert.deepStrictEqual(numbersFiled(), [1, 2])
  })

  it("At rest: a key file from before the rotation is refused at start, because it would not open every value", async () => {
    await running().stop()
    const whole = readFileSync(keyFile, "utf8")
    writeFileSync(keyFile, `${whole.split("\n")[0]}\n`)
    const refused = await start().catch((error: unknown) => String(error))
    assert.include(String(refused), "restore the encryption.keys file")
    writeFileSync(keyFile, whole)
    if (!isDeep) return
    await start()
    await readBack("two.pdf")
  })
})
