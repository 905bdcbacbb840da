/**
 * A screening pass on the real service, killed with SIGKILL after the clients of a page are judged and before the
 * cursor moves. The next process walks that page again, writes nothing twice and leaves out no client (F26; Proof:
 * crash runs).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Redacted } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-pass-"))
const dataDir = join(folder, "data")
/** More than two pages of clients. */
const clients = 300

let database: TestDatabase
let service: RealService | null = null
const start = async (killAt?: { readonly point: string; readonly times: number }): Promise<RealService> => {
  const databaseUrl = Redacted.value(database.url)
  service = await startRealService({ dataDir, databaseUrl, ...(killAt === undefined ? {} : { killAt }) })
  return service
}

beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(async () => {
  await service?.stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

const bodyOf = (n: number) => {
  const body = sampleOnboarding(n, "pass", Date.now())
  // One listed client in each page, and one after the page at which the process dies.
  const listed = { 10: "Balduin Ostermann", 200: "Theophil Wackernagel", 290: "Gundolf Zumthor" }[n]
  if (listed === undefined) return body
  const [first_name, last_name] = listed.split(" ")
  const personalInfo = { ...body.kyc.personalInfo, first_name, last_name, date_of_birth: "1961-02-03" }
  return { ...body, kyc: { ...body.kyc, personalInfo } }
}

describe("a screening pass that is killed", () => {
  it("F26: continues from its cursor, and freezes each client once", { timeout: 180_000 }, async () => {
    const dying = await start({ point: "clients-judged", times: 2 })
    const key = await dying.partner("PASS")
    await dying.done("partner", "limits", "PASS", "--read", "1000000", "--trade", "1000000")
    const listed: Array<number> = []
    for (let from = 1; from <= clients; from += 10) {
      const numbers = Array.from({ length: 10 }, (_, n) => from + n)
      const onboarded = await Promise.all(numbers.map((n) => dying.call(key, "POST", "/clients", bodyOf(n))))
      for (const [index, answer] of onboarded.entries()) {
        if ([10, 200, 290].includes(from + index)) listed.push(dataOf(answer).clientId as number)
      }
    }
    const list = join(folder, "list.csv")
    const lines = ["Balduin Ostermann", "Theophil Wackernagel", "Gundolf Zumthor"].map(
      (name) => `${name},1961-02-03,,SANCTIONS`
    )
    writeFileSync(list, ["name,dob,country,list", ...lines].join("\n"))
    // The process may end before the command has its answer.
    await dying.cli("screening", "import", list, "--source", "EU", "--version", "1")
    assert.strictEqual((await dying.ended()).signal, "SIGKILL")
    await dying.stop()

    const next = await start()
    const passes = await vi.waitFor(
      async () => {
        const found = (await next.done("screening", "passes")).passes
        assert.strictEqual(found[0]?.status, "DONE")
        return found
      },
      { timeout: 30_000, interval: 50 }
    )
    assert.deepStrictEqual(
      passes.map(({ trigger, scope, screened, hits, possible }: Record<string, unknown>) => [
        trigger,
        scope,
        screened,
        hits,
        possible
      ]),
      [["LIST", "CHANGES", clients, 3, 0]]
    )
    const cases = (await next.done("case", "list", "--open")).cases as ReadonlyArray<{ readonly clientId: number }>
    assert.sameMembers(
      cases.map(({ clientId }) => clientId),
      listed
    )
    for (const clientId of listed) {
      const client = await next.done("client", "show", String(clientId))
      assert.strictEqual(client.lifecycleState, "RESTRICTED")
    }
  })
})
