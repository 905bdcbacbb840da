/** A service that stops cleanly and starts again continues with the next id, as its partners see it (decision 40). */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Redacted } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-clean-stop-"))
const dataDir = join(folder, "data")
let database: TestDatabase
let service: RealService
const start = async (): Promise<void> => {
  service = await startRealService({ dataDir, databaseUrl: Redacted.value(database.url), demo: true })
}
beforeAll(async () => {
  database = await makeTestDatabase()
  await start()
}, 120_000)
afterAll(async () => {
  await service.stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

it("the order after a clean stop has the next id and name", async () => {
  const { key } = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as { readonly key: string }
  const buy = { symbol: "BTC-USDC-PERP", side: "BUY", type: "MARKET", qty: "0.001" }
  const bought = async (name: string) =>
    JSON.parse((await service.call(key, "POST", "/clients/1/orders", buy, { "Idempotency-Key": name })).text)
  assert.deepInclude(await bought("one"), { orderId: 1, clOrdId: "O-1" })
  assert.strictEqual((await service.kill("SIGTERM")).code, 0)
  await start()
  assert.deepInclude(await bought("two"), { orderId: 2, clOrdId: "O-2" })
}, 120_000)
