/**
 * Forty concurrent POSTs of clients with one e-mail, one reference or both: exactly one is created, the others get the
 * documented conflict, and no table has a row of a client that was not created. Each request gets its bytes again under
 * its key (doc 1, Onboarding request and Idempotency; SC-ONB-05, SC-ONB-06, SC-ONB-17; A1-16, A1-18, A1-51).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { catalogue, tableNames } from "../../src/runtime/tables/Catalogue.ts"
import type { TableSpec } from "../../src/runtime/tables/Table.ts"
import { brokenInvariants, get, ofClient, onboard, person, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { type Answer, type Service, startService } from "../support/Service.ts"

const racers = 40

interface Racer {
  readonly key: string
  readonly body: ReturnType<typeof person>
  readonly headers?: Readonly<Record<string, string>>
}

const tally = (answers: ReadonlyArray<Answer>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { status, json } of answers) {
    const name = status === 201 ? "201" : `${status} ${json.code}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
const difference = (before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(after)
      .map(([name, n]) => [name, n - (before[name] ?? 0)] as const)
      .filter(([, n]) => n !== 0)
  )

describe.each([
  ["without Idempotency-Key", false],
  ["each with an Idempotency-Key of its own", true]
])("races of onboarding, %s", (_, keyed) => {
  let service: Service
  let one: Awaited<ReturnType<Service["partner"]>>
  let two: Awaited<ReturnType<Service["partner"]>>
  /** The number of rows that one onboarding adds to each table. */
  let ofOne: Readonly<Record<string, number>>

  beforeAll(async () => {
    service = await startService()
    one = await service.partner()
    two = await service.partner()
    const before = await rowCounts(service)
    assert.strictEqual((await onboard(service, one.key, person(1, "alone"))).status, 201)
    ofOne = difference(before, await rowCounts(service))
    assert.deepInclude(ofOne, { clients: 1, kycRevisions: 1, events: 1 })
  })
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service), [])
    await service.stop()
  })

  const owner = (n: number) => (n % 2 === 0 ? one : two)
  let races = 0

  /** Sends all requests at once. Checks that the stored rows are those of one client, and returns the answers. */
  const race = async (racing: ReadonlyArray<Racer>): Promise<ReadonlyArray<Answer>> => {
    const name = `race-${++races}`
    const sent = racing.map((racer, n) =>
      keyed ? { ...racer, headers: { "idempotency-key": `${name}-${n}` } } : racer
    )
    const post = ({ key, body, headers }: Racer) => onboard(service, key, body, headers)
    const before = await rowCounts(service)
    const answers = await Promise.all(sent.map(post))
    const { answers: stored = 0, ...rows } = difference(before, await rowCounts(service))
    assert.deepStrictEqual(rows, ofOne, "the rows of one client and no other")
    assert.strictEqual(stored, keyed ? racing.length : 0)
    await noHalfClient()
    if (keyed) {
      const again = await Promise.all(sent.map(post))
      for (const [n, { status, text, headers }] of again.entries()) {
        assert.deepStrictEqual([status, text], [answers[n]?.status, answers[n]?.text])
        assert.strictEqual(headers["idempotency-replayed"], "true")
      }
    }
    return answers
  }

  /** No row of any table, no claim and no mailbox names a client that was not created. */
  const noHalfClient = async (): Promise<void> => {
    const absent = (column: string) => `${column} IS NOT NULL AND ${column} NOT IN (SELECT id FROM clients)`
    const owned = tableNames.filter((name) =>
      (catalogue[name] as unknown as TableSpec).columns.some(({ sqlName }) => sqlName === "client_id")
    )
    assert.includeMembers(owned, ["verificationBlocks", "kycPackages", "kycRevisions", "identitySessions", "events"])
    const subject = "(substring(subject FROM '^client:([0-9]+)'))::bigint"
    const parts = owned
      .map((name) => [name, catalogue[name].sqlName, "client_id"] as const)
      .concat([
        ["claims", "claims", "(CASE WHEN name LIKE 'ref:%' OR name LIKE 'email:%' THEN owner END)"],
        ["subjects", "subjects", subject],
        ["timers", "timers", subject]
      ] as never)
      .map(([name, table, column]) => `SELECT '${name}' AS name, count(*) AS n FROM ${table} WHERE ${absent(column)}`)
    const found = await query<{ readonly name: string; readonly n: bigint }>(service, parts.join(" UNION ALL "))
    assert.deepStrictEqual(
      found.filter(({ n }) => n > 0n).map(({ name }) => name),
      []
    )
    const complete = await query<{ readonly id: bigint }>(
      service,
      `SELECT id FROM clients c WHERE
         (SELECT count(*) FROM verification_blocks b WHERE b.client_id = c.id) <> 7
         OR (SELECT count(*) FROM kyc_revisions r WHERE r.client_id = c.id) <> 1
         OR (SELECT count(*) FROM identity_sessions s WHERE s.client_id = c.id) <> 1`
    )
    assert.deepStrictEqual(complete, [], "every client is whole")
  }

  /** The one created client, read through the routes of its partner. */
  const winnerOf = async (racing: ReadonlyArray<Racer>, answers: ReadonlyArray<Answer>) => {
    const n = answers.findIndex(({ status }) => status === 201)
    const { key, body } = racing[n] as Racer
    const { clientId } = (answers[n] as Answer).json.data as { readonly clientId: number }
    const row = (await get(service, key, `/clients/by-ref/${encodeURIComponent(body.partnerClientRef)}`)).json.data
    assert.deepInclude(row, { clientId, email: body.email, verificationLevel: "MICA", lifecycleState: "ACTIVE" })
    const told = (await ofClient(service, "events", clientId)).filter(({ name }) => name === "client.onboarded")
    assert.lengthOf(told, 1)
    return { n, clientId }
  }

  it("SC-ONB-05: forty posts of one new e-mail at two partners make one client, the others answer 4090", async () => {
    const email = "one@mail.example"
    const racing = Array.from({ length: racers }, (_, n) => ({
      key: owner(n).key,
      // Values that differ only in case and white space are equal (A1-15).
      body: person(100 + n, "mail", { email: n % 3 === 0 ? ` ${email.toUpperCase()} ` : email })
    }))
    const lower = racing.map((racer) => ({ ...racer, body: { ...racer.body, email } }))
    const answers = await race(racing)
    assert.deepStrictEqual(tally(answers), { 201: 1, "409 4090": racers - 1 })
    const { n } = await winnerOf(lower, answers)
    assert.lengthOf(await rowsOf(service, "clients", "email = $1", [email]), 1)
    for (const [other, { status, json, text }] of answers.entries()) {
      if (other === n) continue
      assert.deepStrictEqual([status, json.data], [409, { reason: "EMAIL_IN_USE" }])
      assert.notInclude(text, "mail.example")
    }
    const loser = n === 0 ? 1 : 0
    const free = person(100 + loser, "mail", { email: "another@mail.example" })
    assert.strictEqual((await onboard(service, owner(loser).key, free)).status, 201, "a loser's reference is free")
  })

  it("SC-ONB-06: forty posts of one new reference make one client, the others answer 4092", async () => {
    const racing = Array.from({ length: racers }, (_, n) => ({
      key: one.key,
      // Values that differ only in surrounding white space and in the form of an accent are equal (A1-14, A1-18).
      body: person(200 + n, "ref", { partnerClientRef: n % 3 === 0 ? " re\u0301f " : "r\u00e9f" })
    }))
    const clean = racing.map((racer) => ({ ...racer, body: { ...racer.body, partnerClientRef: "r\u00e9f" } }))
    const answers = await race(racing)
    assert.deepStrictEqual(tally(answers), { 201: 1, "409 4092": racers - 1 })
    const { n } = await winnerOf(clean, answers)
    for (const { status, json } of answers)
      if (status === 409) assert.deepStrictEqual(json.data, { reason: "REFERENCE_REUSED" })
    const loser = n === 0 ? 1 : 0
    const free = person(200 + loser, "ref", { partnerClientRef: "its own" })
    assert.strictEqual((await onboard(service, one.key, free)).status, 201, "a loser's e-mail is free")
    const foreign = person(299, "ref", { partnerClientRef: "r\u00e9f" })
    assert.strictEqual((await onboard(service, two.key, foreign)).status, 201, "a reference is its partner's alone")
  })

  it("A1-16: forty posts of one e-mail and one reference at one partner: the refusal names the reference, not the e-mail", async () => {
    const racing = Array.from({ length: racers }, (_, n) => ({
      key: one.key,
      body: person(300 + n, "both", { email: "both@mail.example", partnerClientRef: "both" })
    }))
    const answers = await race(racing)
    assert.deepStrictEqual(tally(answers), { 201: 1, "409 4092": racers - 1 })
    await winnerOf(racing, answers)
  })

  it("A1-16: forty posts of one e-mail and one reference at two partners: 4092 at the winner's, 4090 at the other", async () => {
    const racing = Array.from({ length: racers }, (_, n) => ({
      key: owner(n).key,
      body: person(400 + n, "cross", { email: "cross@mail.example", partnerClientRef: "cross" })
    }))
    const answers = await race(racing)
    const half = racers / 2
    assert.deepStrictEqual(tally(answers), { 201: 1, "409 4092": half - 1, "409 4090": half })
    const { n } = await winnerOf(racing, answers)
    for (const [other, { status, json }] of answers.entries()) {
      if (status === 409) assert.strictEqual(json.code, owner(other) === owner(n) ? 4092 : 4090)
    }
  })

  it("A1-16: forty posts of the very same body make one client and one person", async () => {
    const body = person(500, "same")
    const racing = Array.from({ length: racers }, () => ({ key: one.key, body }))
    const answers = await race(racing)
    assert.deepStrictEqual(tally(answers), { 201: 1, "409 4092": racers - 1 })
    const { clientId } = await winnerOf(racing, answers)
    assert.deepStrictEqual(await ofClient(service, "cases", clientId), [])
  })
})
