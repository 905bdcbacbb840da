/** The demo that `serve --demo` prepares at each start, whatever became of its files, its client and its partner. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { prepareDemo } from "../../src/demo.ts"
import { dataFiles } from "../../src/runtime/adapters/dataDirectory.ts"
import { Partners } from "../../src/runtime/services/lifecycle/Partners.ts"
import { operator, type Service, startService } from "../support/Service.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-demo-"))
const files = dataFiles(folder)
let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const start = () => service.run(prepareDemo(files, null))
const cashAtStart = async () => (await start()).client?.cash

describe("the demo of a data directory", () => {
  it("is created again beside the file of another database", async () => {
    writeFileSync(files.demo, '{"partnerId":1,"code":"DEMO","key":"pbk_other","clientId":7}\n')
    const { key, clientId, client } = await start()
    assert.deepInclude(client, { state: "ACTIVE", level: "MICA_MIFID", cash: 1_000_000_000n })
    assert.strictEqual((await service.call("GET", `/partner/v1/clients/${clientId}`, { key })).status, 200)
    assert.strictEqual((await start()).key, key)
  })

  it("does not stop the start while the partner is suspended, and deposits later", async () => {
    const { key, clientId } = await start()
    const suspend = (to: "SUSPENDED" | "ACTIVE") =>
      service.run(Effect.flatMap(Partners, (partners) => partners.status(operator, "DEMO", to, "test")))
    const withdrawal = { partnerRef: "out", direction: "WITHDRAWAL", amount: "900.00" }
    await service.call("POST", `/partner/v1/clients/${clientId}/collateral`, { key, body: withdrawal })
    await suspend("SUSPENDED")
    assert.strictEqual(await cashAtStart(), 100_000_000n)
    await suspend("ACTIVE")
    assert.strictEqual(await cashAtStart(), 1_100_000_000n)
  })

  it("is refused with a remedy, and unchanged, while demo.json is not its file", async () => {
    const kept = readFileSync(files.demo, "utf8")
    const refused = async () => {
      const failure = await start().then(
        () => null,
        (error: unknown) => error
      )
      assert.include(String(failure), `${files.demo} can not be read as the demo's file: remove it`)
    }
    for (const text of ["", "{}", "no JSON", "[]"]) {
      writeFileSync(files.demo, text)
      await refused()
      assert.strictEqual(readFileSync(files.demo, "utf8"), text)
    }
    rmSync(files.demo)
    mkdirSync(files.demo)
    await refused()
    rmSync(files.demo, { recursive: true })
    writeFileSync(files.demo, kept)
    assert.strictEqual(await cashAtStart(), 1_100_000_000n)
  })

  it("can't be made of a closed partner: the failure names the step, the reason and the remedy", async () => {
    const other = await startService()
    try {
      await other.partner({ code: "DEMO" })
      await other.run(Effect.flatMap(Partners, (partners) => partners.status(operator, "DEMO", "CLOSED", "test")))
      const empty = join(folder, "empty")
      mkdirSync(empty)
      const failure = await other.run(prepareDemo(dataFiles(empty), null)).then(
        () => null,
        (error: unknown) => error
      )
      assert.match(
        String(failure),
        /The demo can not issue a key: .*\. Start without --demo and run brokerage sim reset, or name another/
      )
    } finally {
      await other.stop()
    }
  })
})
