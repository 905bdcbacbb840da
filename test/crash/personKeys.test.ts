/**
 * SIGKILL ends a service while it writes the keys of an earlier version's clients again. The next process continues, leaves out
 * no client and writes nothing twice (A1-28; Proof: crash runs).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"
import { makeTestDatabase, type TestDatabase } from "../support/TestDatabase.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-persons-"))
const dataDir = join(folder, "data")
/** More than one page of clients. */
const clients = 150

let database: TestDatabase
let service: RealService | null = null
const start = async (killAt?: { readonly point: string; readonly times: number }): Promise<RealService> => {
  const databaseUrl = Redacted.value(database.url)
  service = await startRealService({ dataDir, databaseUrl, ...(killAt === undefined ? {} : { killAt }) })
  return service
}
const onDatabase = async <A>(work: (client: Client) => Promise<A>): Promise<A> => {
  const client = new Client({ connectionString: Redacted.value(database.url) })
  await client.connect()
  return work(client).finally(() => client.end())
}
const toKey = (): Promise<number> =>
  onDatabase(async (client) => {
    const { rows } = await client.query("SELECT count(*)::int AS n FROM clients WHERE person_key < 'g'")
    return rows[0].n as number
  })

beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(async () => {
  await service?.stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

/**
 * Each of the two pages holds one client that is the same person as the first client, with its document number written
 * differently.
 */
const bodyOf = (n: number, now: number) => {
  const body = sampleOnboarding(n, "keys", now)
  if (n !== 20 && n !== 149) return body
  const { kyc } = sampleOnboarding(1, "keys", now)
  const number =
    n === 20 ? kyc.identification.number : kyc.identification.number.replace(/^./, (letter) => `${letter}-`)
  return { ...body, kyc: { ...kyc, identification: { ...kyc.identification, number } } }
}

describe("clients keyed again by a service that is killed", () => {
  it("A1-28: the next process continues; each duplicate has one case", { timeout: 180_000 }, async () => {
    const before = await start()
    const key = await before.partner("KEYS")
    await before.done("partner", "limits", "KEYS", "--read", "1000000", "--trade", "1000000")
    const now = Date.now()
    const same: Array<number> = []
    for (let from = 1; from <= clients; from += 10) {
      const numbers = Array.from({ length: 10 }, (_, n) => from + n)
      const answers = await Promise.all(numbers.map((n) => before.call(key, "POST", "/clients", bodyOf(n, now))))
      for (const [index, answer] of answers.entries()) {
        if ([1, 20, 149].includes(from + index)) same.push(dataOf(answer).clientId as number)
      }
    }
    for (const clientId of same.slice(1)) await before.done("kyc", "clear", String(clientId), "--note", "seen")
    await before.stop()
    await onDatabase(async (client) => {
      await client.query("UPDATE clients SET person_key = encode(sha256(convert_to(uid, 'UTF8')), 'hex')")
      await client.query("DELETE FROM claims WHERE name LIKE 'person:%'")
      await client.query("INSERT INTO claims (name, owner) SELECT 'person:' || person_key, id FROM clients")
      // Removes the mark that a case has shown the two clients as one person.
      await client.query("UPDATE cases SET details = '{}'")
    })
    const dying = await start({ point: "persons-keyed", times: 1 })
    assert.strictEqual((await dying.ended()).signal, "SIGKILL")
    await dying.stop()
    const left = await toKey()
    assert.isTrue(left > 0 && left < clients, `${left} are left`)
    for (let life = 0; life < 2; life++) {
      const next = await start()
      await vi.waitFor(async () => assert.strictEqual(await toKey(), 0), { timeout: 30_000, interval: 50 })
      const open = (await next.done("case", "list", "--open")).cases as ReadonlyArray<{ readonly clientId: number }>
      assert.sameMembers(
        open.map(({ clientId }) => clientId),
        same.slice(1)
      )
      await next.stop()
    }
  })
})
