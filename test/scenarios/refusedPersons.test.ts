/**
 * A person refused for good, and an existing client, each written in every form that is treated as the same. The service finds
 * the match at onboarding, in a revision, among stored clients and after an upgrade (doc 1, Rules of POST /clients and PUT
 * .../kyc 4 and 7; D1; A1-28).
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { storeNothing } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { firstPersonKey, personClaims } from "../../src/machines/kyc/personKey.ts"
import { clientContext } from "../../src/runtime/services/account/clientState.ts"
import { Onboarding } from "../../src/runtime/services/clients/client/Onboarding.ts"
import { partnerAttribution } from "../../src/runtime/services/partners/Caller.ts"
import { Directory } from "../../src/runtime/services/partners/Directory.ts"
import { RowReads } from "../../src/runtime/ports/RowReads.ts"
import { comply, ofClient, onboard, query, rowsOf } from "../support/Builders.ts"
import { operator, type Service, startService } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"
import { stepsOf } from "../support/steps.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"

const { service, partner, personOf, sectionsOf, close, refuse, reopen, nextPerson } = await openScenario()
const other = await service.partner()

let copies = 0
type Paths = Readonly<Record<string, unknown>>

interface Written {
  readonly first?: string
  readonly middle?: string | null
  readonly last?: string
  readonly number?: string
  readonly born?: string
}

const zoe: Written = { first: "Zoë Anne", middle: "Ágnes", last: "Núñez-Őry", number: "Ab-123 456.x" }
const pathsOf = ({ first, middle, last, number, born }: Written): Paths => ({
  ...(first === undefined ? {} : { "kyc.personalInfo.first_name": first }),
  ...(middle === undefined || middle === null ? {} : { "kyc.personalInfo.middle_name": middle }),
  ...(last === undefined ? {} : { "kyc.personalInfo.last_name": last }),
  ...(number === undefined ? {} : { "kyc.identification.number": number }),
  ...(born === undefined ? {} : { "kyc.personalInfo.date_of_birth": born })
})

/** Each test uses its own birth dates, so that its persons match no person of another test. */
let days = 0
const nextDay = (): string => new Date(Date.UTC(1955, 0, 1) + ++days * 86_400_000).toISOString().slice(0, 10)

const sent = (written: Written, of: Service = service, key = other.key) => {
  const unique = { partnerClientRef: `refused-${++copies}`, email: `refused.${copies}@mail.example` }
  return onboard(of, key, { ...personOf(nextPerson(), pathsOf(written)), ...unique })
}
const onboarded = async (written: Written, of: Service = service, key = other.key) => {
  const { status, text, json } = await sent(written, of, key)
  assert.strictEqual(status, 201, text)
  return json.data as { readonly clientId: number; readonly status: string; readonly review: unknown }
}
const casesOf = async (clientId: number, of: Service = service) =>
  (await ofClient(of, "cases", clientId)).map(({ state, reason, details }) => ({
    state,
    reason,
    duplicateOf: details["duplicateOf"],
    refused: details["refused"]
  }))
const standing = async (clientId: number, of: Service = service) => {
  const [row] = await rowsOf(of, "clients", "id = $1", [BigInt(clientId)])
  if (row === undefined) throw new Error(`there is no client ${clientId}`)
  return { state: row.state, restrictions: clientContext(row).restrictions }
}
const restricted: Awaited<ReturnType<typeof standing>> = { state: "RESTRICTED", restrictions: ["NO_NEW_RISK"] }
const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 20 })
const clear = (clientId: number, of: Service = service) =>
  comply(of, (compliance) => compliance.clear(operator, String(clientId), "looked at"))
const lift = (clientId: number, of: Service = service) =>
  comply(of, (compliance) => compliance.lift(operator, String(clientId), "NO_NEW_RISK", "looked at"))

/** Creates a person refused for good at the first partner. Returns the client's id. */
const refused = async (written: Written): Promise<number> => {
  const { clientId } = await onboarded(written, service, partner.key)
  await comply(service, (compliance) => compliance.restrict(operator, String(clientId), "FROZEN", "forged papers"))
  await refuse(clientId)
  return clientId
}

/** Other spellings of the same person. */
const ways: ReadonlyArray<readonly [string, Written]> = [
  ["as it was", {}],
  ["a space and a dash less in the number", { number: "AB123456X" }],
  ["a number in lower case with dots", { number: "a.b.1.2.3.4.5.6.x" }],
  ["accents left out", { first: "Zoe Anne", last: "Nunez Ory" }],
  ["an invisible character", { first: "Zo\u00ad\u00eb Anne" }],
  ["a joiner in the number", { number: "AB\u2060123456X" }],
  ["swapped names", { first: "Núñez-Őry", last: "Zoë Anne" }],
  ["no middle name", { middle: null }],
  ["another middle name", { middle: "Beatrix" }],
  ["the second given name left out", { first: "Zoë" }],
  ["the second given name in the middle", { first: "Zoë", middle: "Anne" }],
  ["given names in one word", { first: "ZOËANNE" }],
  ["capitals and spaces", { first: " ZOË  anne ", last: "NÚÑEZ   ŐRY" }],
  ["a title", { first: "Dr. Zoë Anne" }],
  ["wide letters", { first: "Ｚｏë Ａｎｎｅ" }]
]

describe("a person refused for good (A1-28)", () => {
  it.each(ways)("A1-28: %s: held at another partner, who reads COMPLIANCE_REVIEW alone", async (_, way) => {
    const born = nextDay()
    const before = await refused({ ...zoe, born })
    const again = await onboarded({ ...zoe, ...way, born })
    assert.deepInclude(again.review, { reason: "COMPLIANCE_REVIEW" })
    assert.deepStrictEqual(await casesOf(again.clientId), [
      { state: "OPEN", reason: "DUPLICATE_PERSON", duplicateOf: before, refused: [before] }
    ])
  })

  it.each([
    ["the names with another document", { number: "ZZ 99" }, "PENDING_REVIEW"],
    ["the number with another name", { first: "Berta", last: "Kulm" }, "PENDING_REVIEW"],
    ["neither", { first: "Berta", last: "Kulm", number: "ZZ 98" }, "ACTIVE"]
  ] as const)("A1-28: the birth date with %s", async (_, way, status) => {
    const born = nextDay()
    await refused({ ...zoe, born })
    assert.strictEqual((await onboarded({ ...zoe, ...way, born })).status, status)
    assert.strictEqual((await onboarded({ ...zoe, ...way, number: "ZZ 97", born: nextDay() })).status, "ACTIVE")
  })

  it("A1-28: a person refused and closed is still known; a reopened one is not", async () => {
    const born = nextDay()
    const gone = await refused({ ...zoe, born })
    await close(gone)
    assert.strictEqual((await onboarded({ ...zoe, number: "N1", born })).status, "PENDING_REVIEW")
    const day = nextDay()
    const back = await refused({ ...zoe, born: day })
    await reopen(back)
    assert.strictEqual((await onboarded({ ...zoe, number: "N2", born: day })).status, "ACTIVE")
  })

  it("A1-28: a revision into such a person is restricted at once, by names or by the number alone", async () => {
    const born = nextDay()
    const before = await refused({ ...zoe, born })
    for (const way of [{ number: "ab 123456 X" }, { first: "Nunez Ory", last: "Zoe Anne", middle: null }]) {
      const n = nextPerson()
      const mine = { first: "Hertha", last: "Vogt", number: `HV${n}`, born }
      const { clientId, status } = await onboarded(mine)
      assert.strictEqual(status, "ACTIVE")
      const body = sectionsOf(n, ["personalInfo", "identification"], pathsOf({ ...mine, ...way }))
      const answer = await service.call("PUT", `/partner/v1/clients/${clientId}/kyc`, { key: other.key, body })
      assert.deepInclude(answer.json.data, { lifecycleState: "RESTRICTED", status: "ACCEPTED" })
      assert.deepStrictEqual(await standing(clientId), restricted)
      assert.deepInclude((await casesOf(clientId))[0], { reason: "DUPLICATE_PERSON", refused: [before] })
    }
  })

  it("A1-28: open clients of the person are restricted when it is refused; a cleared match stays cleared", async () => {
    const born = nextDay()
    const first = await onboarded({ ...zoe, number: "P1", born })
    const second = await onboarded({ ...zoe, number: "P2", born }, service, partner.key)
    assert.deepStrictEqual([first.status, second.status], ["ACTIVE", "ACTIVE"])
    await comply(service, (compliance) => compliance.restrict(operator, String(second.clientId), "FROZEN", "r"))
    await refuse(second.clientId)
    await until(async () => assert.deepStrictEqual(await standing(first.clientId), restricted))
    assert.deepStrictEqual(await casesOf(first.clientId), [
      { state: "OPEN", reason: "DUPLICATE_PERSON", duplicateOf: second.clientId, refused: [second.clientId] }
    ])
    await clear(first.clientId)
    await lift(first.clientId)
    // Another refusal of the same person opens one more case, which names only that refusal.
    const third = await onboarded({ ...zoe, number: "P3", born })
    await refuse(third.clientId)
    await until(async () => assert.lengthOf(await casesOf(first.clientId), 2))
    assert.deepInclude((await casesOf(first.clientId))[1], { state: "OPEN", refused: [third.clientId] })
    assert.deepStrictEqual(await standing(first.clientId), restricted)
  })

  it("A1-28: of onboardings that race the refusal none ends ACTIVE without a case", async () => {
    for (let round = 0; round < 6; round++) {
      const born = nextDay()
      const { clientId } = await onboarded({ ...zoe, number: "R0", born }, service, partner.key)
      await comply(service, (compliance) => compliance.restrict(operator, String(clientId), "FROZEN", "r"))
      const racing = Array.from({ length: 4 }, (_, n) => onboarded({ ...zoe, number: `R${n + 1}`, born }))
      await refuse(clientId)
      for (const answer of await Promise.all(racing)) {
        await until(async () => {
          assert.notStrictEqual((await standing(answer.clientId)).state, "ACTIVE")
          assert.deepInclude((await casesOf(answer.clientId))[0], { refused: [clientId] })
        })
      }
    }
  })

  it("A1-28: an onboarding that has searched before the refusal and commits after it is found by its commit", async () => {
    const born = nextDay()
    const { clientId } = await onboarded({ ...zoe, number: "S0", born }, service, partner.key)
    await comply(service, (compliance) => compliance.restrict(operator, String(clientId), "FROZEN", "r"))
    let overtaken = 0
    const reads = Layer.effect(
      RowReads,
      Effect.map(RowReads, (stored) =>
        RowReads.of({
          ...stored,
          persons: (personKey, page) =>
            Effect.tap(stored.persons(personKey, page), () =>
              overtaken++ === 0 ? Effect.promise(() => refuse(clientId)) : Effect.void
            )
        })
      )
    )
    const unique = { partnerClientRef: "overtaken", email: "overtaken@mail.example" }
    const body = { ...personOf(nextPerson(), pathsOf({ ...zoe, number: "S1", born })), ...unique }
    const verdict = await service.run(
      Effect.gen(function* () {
        const directory = yield* Directory
        const [firm, apiKey] = [directory.partner(other.partnerId), directory.keys(other.partnerId)[0]]
        if (firm === null || apiKey === undefined) throw new Error("no partner")
        const caller = { partner: firm, key: apiKey, by: partnerAttribution(firm, apiKey, "test") }
        return yield* (yield* Onboarding).onboard(caller, body, storeNothing)
      }).pipe(Effect.provide(Layer.fresh(Onboarding.layer).pipe(Layer.provide(reads))))
    )
    if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal))
    assert.strictEqual(verdict.value.status, "ACTIVE")
    await until(async () => assert.deepStrictEqual(await standing(verdict.value.clientId), restricted))
    assert.deepInclude((await casesOf(verdict.value.clientId))[0], { refused: [clientId] })
  })
})

describe("a client already (A1-28)", () => {
  it.each(ways)("A1-28: %s: held as a duplicate", async (_, way) => {
    const born = nextDay()
    const { clientId } = await onboarded({ ...zoe, born }, service, partner.key)
    const again = await onboarded({ ...zoe, ...way, born })
    assert.strictEqual(again.status, "PENDING_REVIEW")
    assert.deepStrictEqual(await casesOf(again.clientId), [
      { state: "OPEN", reason: "DUPLICATE_PERSON", duplicateOf: clientId, refused: undefined }
    ])
  })

  it("A1-28: it compares the birth date, the number and the names", async () => {
    const born = nextDay()
    await onboarded({ ...zoe, born }, service, partner.key)
    for (const way of [{ number: "Q1" }, { first: "Berta", last: "Kulm" }, { born: nextDay() }]) {
      assert.strictEqual((await onboarded({ ...zoe, born, ...way })).status, "ACTIVE")
    }
  })

  it("A1-28: of two partners that post one person at once, each written otherwise, one gets it ACTIVE", async () => {
    for (const [, way] of ways) {
      const born = nextDay()
      const answers = await Promise.all([
        onboarded({ ...zoe, born }, service, partner.key),
        onboarded({ ...zoe, ...way, born })
      ])
      assert.sameMembers(
        answers.map(({ status }) => status),
        ["ACTIVE", "PENDING_REVIEW"]
      )
    }
  })
})

describe("clients keyed by an earlier version (A1-28)", () => {
  /** Copies the sections of the first client to the others. Sealed data is bound to its column, not to its row. */
  const rewrite = (of: Service, [first, ...others]: ReadonlyArray<number>, codes: ReadonlyArray<string>) =>
    Promise.all(
      others.flatMap((clientId) =>
        codes.map((code) =>
          query(
            of,
            `UPDATE block_payloads SET data = (SELECT data FROM block_payloads WHERE client_id = $1 AND code = $3)
              WHERE client_id = $2 AND code = $3`,
            [BigInt(first ?? 0), BigInt(clientId), code]
          )
        )
      )
    )
  /** A case that compliance has cleared under earlier rules. */
  const clearedCase = (of: Service, clientId: number, duplicateOf: number) =>
    query(
      of,
      `INSERT INTO cases (id, partner_id, client_id, shard, state, version, context, reason, details, opened_at, closed_at)
       SELECT 1000 * id + $2, partner_id, id, shard, 'CLEARED', '1',
              json_build_object('caseId', 1000 * id + $2, 'reason', 'DUPLICATE_PERSON', 'openedAt', $3::bigint,
                                'decidedBy', 'COMPLIANCE', 'decidedAt', $3::bigint, 'note', 'seen'),
              'DUPLICATE_PERSON', json_build_object('duplicateOf', $2::bigint), $3, $3
         FROM clients WHERE id = $1`,
      [BigInt(clientId), BigInt(duplicateOf), BigInt(Date.now() + 60_000)]
    )
  /** Restores the keys and claims of the earlier version. */
  const keyAsBefore = async (of: Service): Promise<void> => {
    await query(of, "UPDATE clients SET person_key = encode(sha256(convert_to(uid, 'UTF8')), 'hex')")
    await query(of, "DELETE FROM claims WHERE name LIKE 'person:%'")
    await query(of, "INSERT INTO claims (name, owner) SELECT 'person:' || person_key, id FROM clients")
  }

  it("A1-28: are keyed again after the start; each match is found once, and a cleared match stays cleared", async () => {
    const shared = await makeTestDatabase()
    const life = () => startService({ database: { url: shared.url, sealing: service.database.sealing } })
    try {
      const first = await life()
      const { key } = await first.partner()
      const steps = stepsOf(first, key)
      const active = async (name: string, born: string) => {
        const { clientId, status } = await onboarded({ ...zoe, first: name, number: `K ${name}`, born }, first, key)
        assert.strictEqual(status, "ACTIVE")
        return clientId
      }
      const [one, two, three] = [nextDay(), nextDay(), nextDay()]
      const [meets, known, ended] = [await active("Ada", one), await active("Bea", one), await active("Cleo", one)]
      const [twin, cleared, later] = [await active("Dora", two), await active("Emma", two), await active("Fia", two)]
      const [older, newer] = [await active("Gesa", three), await active("Hedi", three)]
      await steps.restrict(ended, "FROZEN")
      await steps.refuse(ended)
      await steps.close(ended)
      await clearedCase(first, known, ended)
      for (const [clientId, duplicateOf] of [
        [cleared, twin],
        [later, twin],
        [later, cleared]
      ] as const) {
        await clearedCase(first, clientId, duplicateOf)
      }
      await rewrite(first, [meets, known, ended], ["PERSONAL_INFO"])
      await rewrite(first, [twin, cleared, later], ["PERSONAL_INFO", "IDENTIFICATION"])
      await rewrite(first, [older, newer], ["PERSONAL_INFO", "IDENTIFICATION"])
      await keyAsBefore(first)
      await first.stop()
      // The second start finds no work left.
      for (let start = 0; start < 2; start++) {
        const next = await life()
        await until(async () => {
          assert.isTrue((await rowsOf(next, "clients")).every(({ personKey }) => personKey > firstPersonKey))
          assert.deepStrictEqual(await standing(meets, next), restricted)
          assert.lengthOf(await casesOf(newer, next), 1)
        })
        assert.deepStrictEqual(await casesOf(meets, next), [
          { state: "OPEN", reason: "DUPLICATE_PERSON", duplicateOf: ended, refused: [ended] }
        ])
        assert.deepStrictEqual(await casesOf(newer, next), [
          { state: "OPEN", reason: "DUPLICATE_PERSON", duplicateOf: older, refused: undefined }
        ])
        for (const clientId of [known, twin, cleared, later, older, newer]) {
          assert.deepStrictEqual(await standing(clientId, next), { state: "ACTIVE", restrictions: [] })
        }
        for (const clientId of [known, twin, cleared, later, older]) {
          assert.isTrue((await casesOf(clientId, next)).every(({ state }) => state === "CLEARED"))
        }
        const rows = await query<{ readonly name: string }>(next, "SELECT name FROM claims WHERE name LIKE 'person:%'")
        const today = new Set((await rowsOf(next, "clients")).flatMap(({ personKey }) => personClaims(personKey)))
        assert.deepStrictEqual(
          rows.filter(({ name }) => !today.has(name)),
          []
        )
        await next.stop()
      }
    } finally {
      await shared.drop()
    }
  })
})
