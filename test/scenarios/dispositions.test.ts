/**
 * The effect of a finding of compliance: it applies to the identity for which it was made and to matches that are no
 * closer, whatever the partner sends afterwards (F26, dispositions; doc 1, Rules of POST /clients 6 and PUT .../kyc 7
 * and 8; D1; A1-33).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Compliance } from "../../src/runtime/services/clients/compliance/Compliance.ts"
import { comply, get, named, ofClient, onboard, person, query, watch } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, nextPerson } = await openScenario()

let lists = 0

interface Named {
  readonly first_name: string
  readonly last_name: string
  readonly date_of_birth: string
}
/** Very different names: no person of this file matches another person's entry. */
const names = [
  "Balduin Ostermann-Kielholz",
  "Theophil Wackernagel",
  "Gundolf Zumthor-Lindqvist",
  "Xaver Przybylski",
  "Ottokar Quellinghaus",
  "Ruprecht Featherstone",
  "Ignatius Dvorak-Melchior",
  "Leberecht Uhlenbrook",
  "Fridolin Castellani",
  "Hartwig Nymphenburger",
  "Kasimir Jablonowski",
  "Emmerich Vandersteen",
  "Sigismund Abernathy",
  "Wolfhard Grimaldi-Roux"
]
/** A person with a unique name whom the list contains from now on. */
const listed = async (): Promise<Named & { readonly entryId: number }> => {
  const [first = "", last = ""] = (names[lists++] ?? "").split(" ")
  const one = { first_name: first, last_name: last, date_of_birth: "1961-02-03" }
  const { entryId } = await watch(service, { name: `${first} ${last}`, dob: one.date_of_birth, list: "SANCTIONS" })
  return { ...one, entryId }
}
const namesake = (one: Named): Named => ({ ...one, date_of_birth: "1990-07-08" })
const paths = (one: Named) => named(one.first_name, one.last_name, one.date_of_birth)
const onboarded = async (one?: Named) => {
  const n = nextPerson()
  const { json, text } = await onboard(service, key, person(n, "disp", one === undefined ? {} : paths(one)))
  assert.isNumber(json.data?.clientId, text)
  return { n, clientId: json.data.clientId as number }
}
/** Sends the names of `one`; without it, the person's original names. */
const put = async (n: number, clientId: number, one?: Named, whole = false) => {
  const body = person(n, "disp", one === undefined ? {} : paths(one))
  const sent = whole
    ? { kyc: body.kyc, identityCheck: body.identityCheck, attestation: body.attestation }
    : { kyc: { personalInfo: body.kyc.personalInfo }, attestation: body.attestation }
  const answer = await service.call("PUT", `/partner/v1/clients/${clientId}/kyc`, { key, body: sent })
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.json.data
}
const looked = (revision?: number) => (revision === undefined ? {} : { revision })
const clear = (clientId: number, revision?: number) =>
  comply(service, (compliance) => compliance.clear(operator, String(clientId), "another person", looked(revision)))
const refusal = async (clientId: number, revision?: number) => {
  const verdict = await service.run(
    Effect.provide(
      Effect.flatMap(Compliance, (compliance) => compliance.clear(operator, String(clientId), null, looked(revision))),
      Compliance.layer
    )
  )
  if (verdict.ok || verdict.refusal._tag !== "Conflict") throw new Error("a clearance was not refused")
  return verdict.refusal
}
const stateOf = async (clientId: number) => (await get(service, key, `/clients/${clientId}`)).json.data.lifecycleState
const casesOf = async (clientId: number) =>
  (await ofClient(service, "cases", clientId)).map(({ state, reason }) => `${state} ${reason}`)
const findings = async (clientId: number) =>
  (await ofClient(service, "dispositions", clientId)).map(({ entryId, disposition, outcome, score }) => [
    entryId,
    disposition,
    outcome,
    score
  ])
const shownIn = async (clientId: number) =>
  (await ofClient(service, "cases", clientId)).map(
    ({ details }) =>
      details as unknown as {
        readonly reasons: ReadonlyArray<string>
        readonly screeningRunId: number
        readonly candidates: ReadonlyArray<{ readonly entryId: number; readonly score: number }>
      }
  )

describe("a false positive belongs to the identity it was found for", () => {
  it("F26: the listed birth date after a cleared namesake holds the client", async () => {
    const one = await listed()
    const { n, clientId } = await onboarded(namesake(one))
    await clear(clientId)
    assert.deepStrictEqual(await findings(clientId), [[one.entryId, "FALSE_POSITIVE", "POSSIBLE", 789_474]])
    const answer = await put(n, clientId, one)
    assert.deepInclude(answer, { screening: "PENDING_REVIEW", lifecycleState: "RESTRICTED" })
    assert.deepStrictEqual(await casesOf(clientId), ["CLEARED SCREENING_POSSIBLE_MATCH", "OPEN SCREENING_HIT"])
    // The officer reviews the hit too: the finding then applies to this identity as well, and earlier ones stay.
    await clear(clientId)
    assert.strictEqual((await findings(clientId)).length, 2)
    assert.strictEqual((await put(n, clientId, namesake(one))).screening, "CLEAR")
    assert.strictEqual((await put(n, clientId, one)).screening, "CLEAR")
  })

  it("F26: a third finding on one entry is kept beside the first two, and none is forgotten", async () => {
    const one = await listed()
    const near = { ...one, last_name: `${one.last_name.slice(0, -1)}q` }
    const { n, clientId } = await onboarded(namesake(one))
    await clear(clientId)
    assert.strictEqual((await put(n, clientId, near)).screening, "PENDING_REVIEW")
    await clear(clientId)
    assert.strictEqual((await put(n, clientId, one)).screening, "PENDING_REVIEW")
    await clear(clientId)
    const numbers = (await ofClient(service, "dispositions", clientId)).map(({ number }) => number)
    assert.deepStrictEqual(numbers, [1, 2, 3])
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
    for (const known of [namesake(one), near, one]) {
      assert.strictEqual((await put(n, clientId, known)).screening, "CLEAR")
    }
  })

  it("F26: the exact name after a cleared near one holds the client", async () => {
    const one = await listed()
    const near = namesake({ ...one, last_name: `${one.last_name.slice(0, -2)}xq` })
    const { n, clientId } = await onboarded(near)
    assert.strictEqual(await stateOf(clientId), "KYC_PENDING")
    await clear(clientId)
    assert.strictEqual((await put(n, clientId, namesake(one))).screening, "PENDING_REVIEW")
    assert.strictEqual(await stateOf(clientId), "RESTRICTED")
  })

  it("rule 8: re-onboarding under the listed birth date is held, under the cleared one it is not", async () => {
    const one = await listed()
    const { n, clientId } = await onboarded(namesake(one))
    await clear(clientId)
    const reject = () =>
      comply(service, (compliance) => compliance.reject(operator, String(clientId), "The session is missing."))
    await reject()
    assert.deepInclude(await put(n, clientId, one, true), { grant: "PENDING_REVIEW", screening: "PENDING_REVIEW" })
    await reject()
    assert.deepInclude(await put(n, clientId, namesake(one), true), { grant: "ACTIVE", screening: "CLEAR" })
  })

  it("F26: the same identity, or a less similar one, holds no client again", async () => {
    const one = await listed()
    const { n, clientId } = await onboarded(one)
    await clear(clientId)
    assert.strictEqual((await put(n, clientId, namesake(one))).screening, "CLEAR")
    assert.strictEqual((await put(n, clientId)).screening, "CLEAR")
    assert.strictEqual((await put(n, clientId, one)).screening, "CLEAR")
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
  })

  it("F26: findings without their identity settle nothing", async () => {
    const one = await listed()
    const { n, clientId } = await onboarded()
    const [client] = await ofClient(service, "kycPackages", clientId)
    await query(
      service,
      `INSERT INTO dispositions (client_id, entry_id, number, partner_id, disposition, decided_at, decided_by)
       VALUES ($1, $2, 1, $3, 'FALSE_POSITIVE', 1, 'COMPLIANCE')`,
      [BigInt(clientId), BigInt(one.entryId), BigInt(client?.partnerId ?? 0)]
    )
    assert.strictEqual((await put(n, clientId, one)).screening, "PENDING_REVIEW")
  })

  it("F26: the database refuses to change or to forget a finding", async () => {
    for (const text of [
      "UPDATE dispositions SET outcome = 'HIT'",
      "DELETE FROM dispositions",
      "TRUNCATE dispositions"
    ]) {
      assert.isNull(await query(service, text).catch(() => null), text)
    }
  })
})

describe("the scope of a clearance", () => {
  it("F26: a hit hidden behind a clean revision is not cleared with it", async () => {
    const one = await listed()
    const { n, clientId } = await onboarded(one)
    assert.strictEqual((await put(n, clientId)).screening, "CLEAR")
    await clear(clientId)
    assert.deepStrictEqual(await findings(clientId), [])
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
    assert.deepInclude(await put(n, clientId, one), { screening: "PENDING_REVIEW", lifecycleState: "RESTRICTED" })
  })

  it("POST /clients 6: more candidates than a case shows at once are all shown before they are cleared", async () => {
    const one = await listed()
    for (let more = 0; more < 24; more++) {
      await watch(service, { name: `${one.first_name} ${one.last_name}`, dob: one.date_of_birth, list: "SANCTIONS" })
    }
    const { n, clientId } = await onboarded(one)
    assert.deepInclude((await refusal(clientId)).data, { unseenCandidates: 5 })
    assert.strictEqual((await shownIn(clientId))[0]?.candidates.length, 25)
    await clear(clientId)
    assert.strictEqual((await findings(clientId)).length, 25)
    await put(n, clientId)
    assert.strictEqual((await put(n, clientId, one)).screening, "CLEAR")
  })
})

describe("a match that becomes worse while the client is held", () => {
  it("F26, D1: the case shows the present match, a hit, with an audit row; the partner is not notified of a second case", async () => {
    const one = await listed()
    const { n, clientId } = await onboarded(namesake(one))
    const [before] = await shownIn(clientId)
    assert.approximately(before?.candidates[0]?.score ?? 0, 0.789, 0.001)
    await put(n, clientId, one)
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_HIT"])
    const [after] = await shownIn(clientId)
    assert.deepStrictEqual(
      after?.candidates.map(({ entryId, score }) => [entryId, score]),
      [[one.entryId, 1]]
    )
    assert.deepStrictEqual(after?.reasons, ["SCREENING_HIT"])
    const runs = await ofClient(service, "screeningRuns", clientId)
    assert.strictEqual(after?.screeningRunId, runs.at(-1)?.id)
    const notes = (await ofClient(service, "audit", clientId)).filter(({ action }) => action === "case.note")
    assert.deepStrictEqual(
      notes.map(({ reason }) => reason),
      [`screening run ${after?.screeningRunId}, HIT: 1 candidate new or worse than shown`]
    )
    assert.deepStrictEqual(
      (await ofClient(service, "events", clientId)).map(({ name }) => name),
      ["client.review_required"]
    )
    await clear(clientId)
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
  })

  it("F26: a less similar name leaves the case unchanged", async () => {
    const one = await listed()
    const { n, clientId } = await onboarded(one)
    const before = await shownIn(clientId)
    await put(n, clientId, namesake(one))
    assert.deepStrictEqual(await shownIn(clientId), before)
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_HIT"])
  })

  it("D1: a clearance that names the reviewed revision clears no later one", async () => {
    const one = await listed()
    const { n, clientId } = await onboarded(namesake(one))
    await put(n, clientId, one)
    assert.deepStrictEqual((await refusal(clientId, 1)).data, { revision: 2 })
    assert.strictEqual(await stateOf(clientId), "KYC_PENDING")
    await clear(clientId, 2)
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
  })

  it("POST /clients 6: the refusal that shows a new candidate leaves an audit row", async () => {
    const { clientId } = await onboarded(namesake(await listed()))
    const [one] = await ofClient(service, "cases", clientId)
    const shown = (await shownIn(clientId))[0]?.candidates[0]?.entryId
    const [entry] = await query<{ readonly name: string }>(service, "SELECT name FROM watch_entries WHERE id = $1", [
      BigInt(shown ?? 0)
    ])
    await watch(service, { name: entry?.name ?? "", dob: "1990-07-08", list: "SANCTIONS" })
    assert.deepInclude((await refusal(clientId)).data, { unseenCandidates: 1 })
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_HIT"])
    const notes = (await ofClient(service, "audit", clientId)).filter(({ action }) => action === "case.note")
    assert.deepStrictEqual(
      notes.map(({ object, role }) => [object, role]),
      [[`case:${one?.id}`, "ADMIN"]]
    )
  })

  it("POST /clients 6: of two clearances at once none passes over a candidate that the other has just shown", async () => {
    const one = await listed()
    const { clientId } = await onboarded(namesake(one))
    const name = `${one.first_name} ${one.last_name}`
    await watch(service, { name, dob: "1990-07-08", list: "SANCTIONS" })
    const both = await service.run(
      Effect.provide(
        Effect.flatMap(Compliance, (compliance) =>
          Effect.all(
            [1, 2].map(() => compliance.clear(operator, String(clientId), null)),
            { concurrency: 2 }
          )
        ),
        Compliance.layer
      )
    )
    assert.deepStrictEqual(
      both.map(({ ok }) => ok),
      [false, false]
    )
    assert.strictEqual(await stateOf(clientId), "KYC_PENDING")
    await clear(clientId)
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
  })
})
