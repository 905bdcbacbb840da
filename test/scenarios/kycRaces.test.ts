/**
 * PUT .../kyc with deadlines and races: dates of documents, ended clients, concurrent updates, and updates that race
 * compliance (doc 1, Rules of POST /clients and PUT .../kyc 7 and 8; D1, D2, D3; A1-28, A1-46, A1-47).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { personClaims as claimsOf, personKeyOf } from "../../src/machines/kyc/personKey.ts"
import { buildReportingRecord } from "../../src/machines/reporting/ReportingRecord.ts"
import { ActorHost, storeNothing } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { partnerAttribution } from "../../src/runtime/services/partners/Caller.ts"
import { clientSubject } from "../../src/runtime/services/account/clientState.ts"
import { Compliance } from "../../src/runtime/services/clients/compliance/Compliance.ts"
import { Directory } from "../../src/runtime/services/partners/Directory.ts"
import type { TimerHandlers } from "../../src/runtime/engine/timers/Timers.ts"
import { expiryHandlers } from "../../src/runtime/services/clients/document/documentExpiry.ts"
import { KycUpdates } from "../../src/runtime/services/clients/kyc/KycUpdates.ts"
import type { ClientRow } from "../../src/runtime/tables/client.ts"
import { displayNameOf, personFacts, reportingFacts } from "../../src/runtime/services/clients/kyc/sectionValues.ts"
import { storedSections } from "../../src/runtime/services/clients/kyc/KycUpdatePlan.ts"
import { Lifecycle } from "../../src/runtime/services/lifecycle/Lifecycle.ts"
import { advance, comply, dayMillis, get, ofClient, orlenko, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { type Answer, operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, onboarded, revisionOf, rowOf, nextPerson, sectionsOf } = await openScenario({
  watched: [orlenko.entry, { name: "Leopold Quandt-Rieger", dob: "1961-09-09", list: "PEP" }]
})

type Paths = Readonly<Record<string, unknown>>
const put = (clientId: number, body: object): Promise<Answer> =>
  service.call("PUT", `/partner/v1/clients/${clientId}/kyc`, { key, body })
const statusOf = async (clientId: number, code: string) =>
  (await ofClient(service, "verificationBlocks", clientId)).find((block) => block.code === code)?.state
const timersOf = async (clientId: number) =>
  Object.fromEntries(
    (await rowsOf(service, "timers", "subject = $1", [clientSubject(clientId)])).map(({ name, dueAt }) => [name, dueAt])
  )
const standing = async (clientId: number) => {
  const { lifecycleState, verificationLevel } = await rowOf(clientId)
  const [kyc] = await ofClient(service, "kycPackages", clientId)
  return `${lifecycleState} ${verificationLevel} ${kyc?.state}`
}
const openCases = async (clientId: number) =>
  (await ofClient(service, "cases", clientId)).filter(({ state }) => state === "OPEN")
const personClaims = async (clientId: number) =>
  (
    await query<{ readonly name: string }>(
      service,
      "SELECT name FROM claims WHERE owner = $1 AND name LIKE 'person:%'",
      [BigInt(clientId)]
    )
  ).map(({ name }) => name)
const lifecycle = (decide: (lifecycle: Lifecycle["Service"]) => ReturnType<Lifecycle["Service"]["close"]>) =>
  service.run(Effect.provide(Effect.flatMap(Lifecycle, decide), Lifecycle.layer))
const clear = (clientId: number) =>
  service.run(
    Effect.provide(
      Effect.flatMap(Compliance, (compliance) => compliance.clear(operator, String(clientId), "another person")),
      Compliance.layer
    )
  )
const named = (first: string, last: string, dob: string): Paths => ({
  "kyc.personalInfo.first_name": first,
  "kyc.personalInfo.last_name": last,
  "kyc.personalInfo.date_of_birth": dob
})
const quandt = named("Leopold", "Quandt-Rieger", "1961-09-09")

/** Checks that the stored rows of a client agree with its latest sections. */
const assertWhole = async (clientId: number, revision: number): Promise<void> => {
  const sections = storedSections(await ofClient(service, "blockPayloads", clientId))
  const [client] = await rowsOf(service, "clients", "id = $1", [BigInt(clientId)])
  const [record] = await ofClient(service, "reportingRecords", clientId)
  const personKey = personKeyOf(personFacts(sections), service.database.sealing.fingerprint)
  assert.strictEqual(client?.displayName, displayNameOf(sections.personalInfo))
  assert.strictEqual(client?.personKey, personKey)
  assert.deepStrictEqual(await personClaims(clientId), claimsOf(personKey))
  const built = buildReportingRecord(reportingFacts(sections), record?.builtAt ?? 0, record?.fromRevision ?? 0)
  assert.deepStrictEqual(record?.record as unknown, built)
  const revisions = await ofClient(service, "kycRevisions", clientId)
  assert.deepStrictEqual(
    revisions.map((row) => row.revision),
    Array.from({ length: revision }, (_, index) => index + 1)
  )
}

describe("parallel updates", () => {
  it("rule 7: twenty at once end with consecutive revisions, and none is merged from a superseded base", async () => {
    const { n, clientId } = await onboarded()
    const sent = Array.from({ length: 20 }, (_, index) => {
      const bodies = [
        sectionsOf(n, ["personalInfo"], { "kyc.personalInfo.last_name": `Name${"abcdefghijklmnopqrst"[index]}` }),
        sectionsOf(n, ["identification"], { "kyc.identification.number": `RACE${index}` }),
        sectionsOf(n, ["taxResidency"], { "kyc.taxResidency.tax_residencies.0.tin": `5500000${index}` }),
        sectionsOf(n, ["fatca"])
      ]
      return bodies[index % bodies.length] as object
    })
    const answers = await Promise.all(sent.map((body) => put(clientId, body)))
    assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.deepStrictEqual(
      answers.map(({ json }) => json.data.revision).toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, index) => index + 2)
    )
    await assertWhole(clientId, 21)
  })

  it("rule 7: an update whose base was superseded begins again: two services beside each other never merge a stale one", async () => {
    const { n, clientId } = await onboarded()
    const { partnerId } = await rowsOf(service, "clients", "id = $1", [BigInt(clientId)]).then(
      ([row]) => row as ClientRow
    )
    // Each service instance has its own queue, so only the turns order the two updates.
    const others = service.run(
      Effect.gen(function* () {
        const kyc = yield* KycUpdates
        const directory = yield* Directory
        const [partner, apiKey] = [directory.partner(partnerId), directory.keys(partnerId)[0]]
        if (partner === null || apiKey === undefined) throw new Error("no partner")
        const caller = { partner, key: apiKey, by: partnerAttribution(partner, apiKey, "test") }
        return yield* Effect.forEach(
          ["1", "2", "3", "4", "5", "6", "7", "8"],
          (suffix) =>
            kyc.update(
              caller,
              clientId,
              sectionsOf(n, ["identification"], { "kyc.identification.number": `OTHER${suffix}` }),
              storeNothing
            ),
          { concurrency: "unbounded" }
        )
      }).pipe(Effect.provide(Layer.fresh(KycUpdates.layer)))
    )
    const own = await Promise.all(
      ["Anders", "Berend", "Caspar", "Dirk", "Egon", "Falko", "Gero", "Hanno"].map((last) =>
        put(clientId, sectionsOf(n, ["personalInfo"], { "kyc.personalInfo.last_name": last }))
      )
    )
    assert.deepStrictEqual([...new Set(own.map(({ status }) => status))], [200])
    assert.isTrue((await others).every(({ ok }) => ok))
    await assertWhole(clientId, 17)
  })

  it("rule 7: an operator's restriction amid updates is no reason to begin again", async () => {
    const { n, clientId } = await onboarded()
    const updates = ["Anders", "Berend", "Caspar"].map((last) =>
      put(clientId, sectionsOf(n, ["personalInfo"], { "kyc.personalInfo.last_name": last }))
    )
    await comply(service, (compliance) => compliance.restrict(operator, String(clientId), "FROZEN", "race"))
    for (const answer of await Promise.all(updates)) assert.strictEqual(answer.status, 200)
    await assertWhole(clientId, 4)
    assert.strictEqual((await rowOf(clientId)).lifecycleState, "RESTRICTED")
  })

  it("A1-28: of two clients that become the same person at once one holds the claim, the other gets the case", async () => {
    for (let round = 0; round < 8; round++) {
      const [a, b] = [(await onboarded()).clientId, (await onboarded()).clientId]
      const shared = nextPerson()
      const sent = revisionOf(shared)
      const answers = await Promise.all([put(a, sent), put(b, sent)])
      assert.deepStrictEqual(
        answers.map(({ status, json }) => [status, json.data.lifecycleState]),
        [
          [200, "ACTIVE"],
          [200, "ACTIVE"]
        ]
      )
      const held = [await personClaims(a), await personClaims(b)].map(({ length }) => length)
      const cases = [await openCases(a), await openCases(b)].map((rows) => rows.map(({ reason }) => reason))
      assert.deepStrictEqual(cases, held[0] === 1 ? [[], ["DUPLICATE_PERSON"]] : [["DUPLICATE_PERSON"], []])
      assert.strictEqual((held[0] ?? 0) + (held[1] ?? 0), 1)
    }
  })
})

describe("against compliance and the operator", () => {
  it("D1: an update that races a rejection ends rejected, or onboarded again, or refused", async () => {
    for (let round = 0; round < 12; round++) {
      const { n, clientId } = await onboarded()
      const whole = round % 2 === 0
      const reject = () => comply(service, (compliance) => compliance.reject(operator, String(clientId), "race"))
      const update = () => put(clientId, whole ? revisionOf(n) : sectionsOf(n, ["pep"]))
      const [{ status, json }] = await Promise.all(
        round % 4 < 2 ? [update(), reject()] : [reject().then(update), undefined]
      )
      const state = await standing(clientId)
      if (status === 400) assert.deepStrictEqual([whole, state], [false, "KYC_PENDING NONE REJECTED"])
      else if (json.data.reonboarded === true) assert.deepStrictEqual([whole, state], [true, "ACTIVE MICA ACCEPTED"])
      else assert.strictEqual(state, "KYC_PENDING NONE REJECTED")
      const expected = state.startsWith("ACTIVE") ? "APPROVED" : "REJECTED"
      assert.strictEqual(await statusOf(clientId, "PEP"), expected)
      assert.lengthOf(await ofClient(service, "kycRevisions", clientId), status === 400 ? 1 : 2)
    }
  })

  it("D1: an update that races a clearance never leaves an ACTIVE client with an open case", async () => {
    for (let round = 0; round < 8; round++) {
      const { n, clientId } = await onboarded(quandt)
      const [answer, cleared] = await Promise.all([
        put(clientId, sectionsOf(n, ["personalInfo"], orlenko.paths)),
        clear(clientId)
      ])
      assert.strictEqual(answer.status, 200)
      const open = await openCases(clientId)
      const state = await standing(clientId)
      if (open.length === 0) assert.deepStrictEqual([state, cleared.ok], ["ACTIVE MICA ACCEPTED", true])
      else if (cleared.ok) assert.deepStrictEqual([state, open.length], ["RESTRICTED MICA SPOT_CHECK", 1])
      else assert.deepStrictEqual([state, open.length], ["KYC_PENDING NONE SPOT_CHECK", 2])
    }
  })

  it("D1: an update that races closing leaves no claim of the person behind; a closed account answers 409 4092", async () => {
    for (let round = 0; round < 8; round++) {
      const { n, clientId } = await onboarded()
      const [answer, closed] = await Promise.all([
        put(clientId, sectionsOf(n, ["personalInfo"], { "kyc.personalInfo.last_name": "Abschied" })),
        lifecycle((decisions) => decisions.close(operator, String(clientId), "race"))
      ])
      assert.include([200, 409], answer.status)
      assert.isTrue(closed.ok, JSON.stringify(closed))
      assert.deepStrictEqual(await personClaims(clientId), [])
      const before = await rowCounts(service)
      const late = await put(clientId, sectionsOf(n, ["pep"]))
      assert.deepStrictEqual([late.status, late.json.code, late.json.msg], [409, 4092, "The account is closed."])
      assert.strictEqual((await put(clientId, {})).status, 400)
      assert.deepStrictEqual(await rowCounts(service), before)
      assert.strictEqual((await get(service, key, `/clients/${clientId}/kyc`)).status, 200)
    }
  })

  it("A1-47: a person refused for good can't be revised; reopened, it can", async () => {
    const { n, clientId } = await onboarded(orlenko.paths)
    const of = String(clientId)
    assert.isTrue((await lifecycle((decisions) => decisions.rejectPerson(operator, of, "sanctioned"))).ok)
    const refused = await put(clientId, revisionOf(n))
    assert.deepStrictEqual([refused.status, refused.json.code], [409, 4092])
    assert.isTrue((await lifecycle((decisions) => decisions.reopen(operator, of, "new evidence"))).ok)
    const answer = await put(clientId, revisionOf(n))
    assert.deepInclude(answer.json.data, { revision: 2, lifecycleState: "KYC_PENDING", screening: "CLEAR" })
    assert.notProperty(answer.json.data, "reonboarded")
  })
})

describe("dates of documents (D3; A1-46)", () => {
  const now = () => service.run(BusinessClock.useSync((clock) => clock.now()))
  const dateIn = async (days: number) => new Date((await now()) + days * dayMillis).toISOString().slice(0, 10)
  const dueOf = (date: string) => Date.parse(`${date}T00:00:00Z`) + dayMillis
  const documents = async (identification: number, check: number | null): Promise<Paths> => ({
    "kyc.identification.expiration_date": await dateIn(identification),
    "identityCheck.verifiedAt": (await now()) - 1_000,
    ...(check === null ? {} : { "identityCheck.documentExpiry": await dateIn(check) })
  })

  it("D3: new documents approve EXPIRED blocks and take their own dates; a document given early keeps its block", async () => {
    const late = await onboarded(await documents(30, 20))
    const early = await onboarded(await documents(30, 20))
    const renewal = await documents(400, null)
    assert.strictEqual((await put(early.clientId, revisionOf(early.n, renewal))).status, 200)
    assert.deepStrictEqual(await timersOf(early.clientId), {
      "identification.expiry": dueOf(renewal["kyc.identification.expiration_date"] as string)
    })
    await advance(service, 32 * dayMillis)
    const states = async (clientId: number) => [
      await statusOf(clientId, "IDENTIFICATION"),
      await statusOf(clientId, "IDENTITY_CHECK")
    ]
    assert.deepStrictEqual(await states(late.clientId), ["EXPIRED", "EXPIRED"])
    assert.deepStrictEqual(await states(early.clientId), ["APPROVED", "APPROVED"])
    const again = await documents(300, 200)
    const answer = await put(late.clientId, revisionOf(late.n, again))
    assert.deepInclude(answer.json.data, { lifecycleState: "ACTIVE", identityChanged: false })
    assert.deepStrictEqual(await states(late.clientId), ["APPROVED", "APPROVED"])
    assert.deepStrictEqual(await timersOf(late.clientId), {
      "identification.expiry": dueOf(again["kyc.identification.expiration_date"] as string),
      "identityCheck.expiry": dueOf(again["identityCheck.documentExpiry"] as string)
    })
    await advance(service, 202 * dayMillis)
    assert.deepStrictEqual(await states(late.clientId), ["APPROVED", "EXPIRED"])
  })

  it("D3: a firing that belongs to an earlier document does not end the new one", async () => {
    const { n, clientId } = await onboarded(await documents(3, 2))
    const due = await timersOf(clientId)
    await advance(service, 5 * dayMillis)
    await put(clientId, revisionOf(n, await documents(300, null)))
    // Simulates a worker that read the timers before the update and fires them after it.
    await service.run(
      Effect.gen(function* () {
        const handlers: TimerHandlers = expiryHandlers(yield* Directory)
        const host = yield* ActorHost
        for (const [name, dueAt] of Object.entries(due)) {
          yield* host.dispatch({
            subject: clientSubject(clientId),
            by: operator.by,
            decide: (turn) => handlers[name]?.(turn, dueAt, null)
          })
        }
      })
    )
    assert.lengthOf(Object.keys(due), 2)
    assert.deepStrictEqual(
      [await statusOf(clientId, "IDENTIFICATION"), await statusOf(clientId, "IDENTITY_CHECK")],
      ["APPROVED", "APPROVED"]
    )
  })
})
