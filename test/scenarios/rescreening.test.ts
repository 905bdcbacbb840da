/**
 * Stored clients are screened again when a list changes and every night: a hit freezes, a possible match restricts,
 * findings of compliance stay valid, and an unchanged result writes nothing (F26; D1; A3-10; operator surface,
 * screening passes).
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import type { ListedPerson } from "../../src/machines/screening/ListedPerson.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { ScreeningPasses } from "../../src/runtime/services/clients/screening/ScreeningPasses.ts"
import { chainOf, type ImportView } from "../../src/runtime/services/screening/importDecisions.ts"
import { candidatesOf } from "../../src/runtime/services/clients/screening/rescreening.ts"
import { clientContext } from "../../src/runtime/services/account/clientState.ts"
import { ScreeningImports } from "../../src/runtime/services/screening/ScreeningImports.ts"
import { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import type { WatchEntryBody } from "../../src/runtime/services/screening/WatchLists.ts"
import {
  advance,
  collateral,
  comply,
  dayMillis,
  get,
  ofClient,
  onboard,
  passesDone,
  person,
  query,
  rowsOf,
  watchAll
} from "../support/Builders.ts"
import { operator, type Service, startService } from "../support/Service.ts"
import { makeTestDatabase } from "../support/TestDatabase.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, nextPerson } = await openScenario({ settings: { webhookHosts: new Set(["127.0.0.1"]) } })

/** Very different names: no person of this file matches another person's entry. */
const names = [
  "Balduin Ostermann",
  "Theophil Wackernagel",
  "Gundolf Zumthor",
  "Xaver Przybylski",
  "Ottokar Quellinghaus",
  "Ruprecht Featherstone",
  "Ignatius Dvorak",
  "Leberecht Uhlenbrook",
  "Fridolin Castellani",
  "Hartwig Nymphenburger",
  "Kasimir Jablonowski",
  "Emmerich Vandersteen",
  "Sigismund Abernathy",
  "Wolfhard Grimaldi"
]
const dob = "1961-02-03"
const deposit = { direction: "DEPOSIT", amount: "10", asset: "EURD", occurredAt: Date.now() - 1_000 }
const born = (name: string, date = dob) => ({
  "kyc.personalInfo.first_name": name.split(" ")[0],
  "kyc.personalInfo.last_name": name.split(" ")[1],
  "kyc.personalInfo.date_of_birth": date
})
/** A new ACTIVE client with a unique name. */
const active = async (over: Readonly<Record<string, unknown>> = {}) => {
  const n = nextPerson()
  const name = names[n - 1] ?? ""
  const { json, text } = await onboard(service, key, person(n, "again", { ...born(name), ...over }))
  assert.strictEqual(json.data?.lifecycleState, "ACTIVE", text)
  return { name, clientId: json.data.clientId as number }
}

const contexts = async () =>
  (await rowsOf(service, "screeningPasses")).map((row) => ({ ...row.context, state: row.state }))
const listed = async (entry: WatchEntryBody): Promise<number> => (await watchAll(service, entry)).entryId
const imports = async (
  use: (service: ScreeningImports["Service"]) => ReturnType<ScreeningImports["Service"]["begin"]>
): Promise<ImportView> => {
  const verdict = await service.run(Effect.provide(Effect.flatMap(ScreeningImports, use), ScreeningImports.layer))
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal))
  return verdict.value
}
/** An import with all its entries that is not current yet. Returns its id. */
const announced = async (source: string, version: string, people: ReadonlyArray<ListedPerson>): Promise<number> => {
  const request = { source, version, count: people.length, hash: people.reduce(chainOf, "") }
  const { importId } = await imports((service) => service.begin(operator, request))
  await imports((service) => service.entries(operator, importId, 0, people))
  return importId
}
const view = async (clientId: number) => {
  const [row] = await rowsOf(service, "clients", "id = $1", [BigInt(clientId)])
  if (row === undefined) throw new Error(`there is no client ${clientId}`)
  const { restrictions, openCases } = clientContext(row)
  return { state: row.state, restrictions, openCases: openCases.length }
}
const casesOf = async (clientId: number) =>
  (await ofClient(service, "cases", clientId)).map(({ state, reason }) => `${state} ${reason}`)
const runsOf = async (clientId: number) =>
  (await ofClient(service, "screeningRuns", clientId)).map(({ trigger, outcome }) => `${trigger} ${outcome}`)
const feedOf = async (clientId: number) =>
  (await ofClient(service, "notifications", clientId)).map(({ kind, ref }) => `${kind} ${ref}`)

/** Moves the clock by some nights and waits for their pass. */
const nightly = async (nights = 1) => {
  const before = (await contexts()).filter(({ trigger }) => trigger === "NIGHTLY").length
  await advance(service, nights * dayMillis)
  await vi.waitFor(
    async () => {
      const passes = (await contexts()).filter(({ trigger, state }) => trigger === "NIGHTLY" && state === "DONE")
      assert.isAbove(passes.length, before)
    },
    { timeout: 20_000, interval: 20 }
  )
}

describe("a change of the list", () => {
  it("F26: a hit freezes an ACTIVE client, opens a case and is sent as margin.restriction_set", async () => {
    const body = { url: "https://127.0.0.1:9/hook" }
    assert.strictEqual((await service.call("PUT", "/partner/v1/webhook", { key, body })).status, 200)
    const { clientId, name } = await active()
    const entryId = await listed({ name, dob, list: "SANCTIONS" })
    assert.deepStrictEqual(await view(clientId), { state: "RESTRICTED", restrictions: ["FROZEN"], openCases: 1 })
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_HIT"])
    assert.deepStrictEqual(await runsOf(clientId), ["ONBOARDING CLEAR", "LIST HIT"])
    assert.deepStrictEqual(await feedOf(clientId), ["RESTRICTION_SET FROZEN"])
    const [row] = await ofClient(service, "cases", clientId)
    const [, run] = await ofClient(service, "screeningRuns", clientId)
    if (row === undefined) throw new Error("there is no case")
    assert.deepStrictEqual(
      candidatesOf(row).map((candidate) => candidate.entryId),
      [entryId]
    )
    assert.strictEqual(row.details["screeningRunId"], run?.id)
    assert.strictEqual(run?.passId, (await contexts()).at(-1)?.passId)
    const answer = await get(service, key, `/clients/${clientId}`)
    assert.strictEqual(answer.json.data.lifecycleState, "RESTRICTED")
    const events = async (): Promise<ReadonlyArray<string>> =>
      (await get(service, key, "/webhook/deliveries")).json.data.deliveries.map(
        ({ event }: { readonly event: string }) => event
      )
    await vi.waitFor(async () => assert.include(await events(), "margin.restriction_set"), { timeout: 20_000 })
    // No request of the partner caused a review.
    assert.deepStrictEqual(
      (await ofClient(service, "events", clientId)).map(({ name: event }) => event),
      ["client.onboarded"]
    )
    const refused = await collateral(service, key, clientId, { ...deposit, partnerRef: "frozen-1" })
    assert.deepStrictEqual([refused.status, refused.json.code], [409, 4092])
  })

  it("F26: a possible match and a politically exposed person restrict, and money still moves", async () => {
    const namesake = await active()
    await listed({ name: namesake.name, dob: "1999-09-09", list: "SANCTIONS" })
    const exposed = await active()
    await listed({ name: exposed.name, dob, list: "PEP" })
    for (const { clientId } of [namesake, exposed]) {
      assert.deepStrictEqual(await view(clientId), { state: "RESTRICTED", restrictions: ["NO_NEW_RISK"], openCases: 1 })
      assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_POSSIBLE_MATCH"])
      assert.deepStrictEqual(await runsOf(clientId), ["ONBOARDING CLEAR", "LIST POSSIBLE"])
      assert.deepStrictEqual(await feedOf(clientId), ["RESTRICTION_SET NO_NEW_RISK"])
      const booked = await collateral(service, key, clientId, { ...deposit, partnerRef: `restricted-${clientId}` })
      assert.strictEqual(booked.status, 201, booked.text)
    }
  })

  it("F26: a finding of compliance stays cleared; lifting makes the client ACTIVE", async () => {
    const { clientId, name } = await active()
    await listed({ name, dob: "1999-09-09", list: "SANCTIONS" })
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), "another person"))
    assert.deepStrictEqual(await view(clientId), { state: "RESTRICTED", restrictions: ["NO_NEW_RISK"], openCases: 0 })
    await comply(service, (compliance) => compliance.lift(operator, String(clientId), "NO_NEW_RISK", "cleared"))
    const runs = await runsOf(clientId)
    await nightly()
    assert.deepStrictEqual(await view(clientId), { state: "ACTIVE", restrictions: [], openCases: 0 })
    assert.deepStrictEqual(await runsOf(clientId), runs)
    // Another entry of the same name needs another review.
    await listed({ name, dob: "1988-08-08", list: "SANCTIONS" })
    assert.deepStrictEqual(await view(clientId), { state: "RESTRICTED", restrictions: ["NO_NEW_RISK"], openCases: 1 })
  })

  it("F26: an open case that shows a candidate is enough; a new one brings a case more, a hit freezes", async () => {
    const { clientId, name } = await active()
    await listed({ name, dob: "1999-09-09", list: "SANCTIONS" })
    await nightly()
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_POSSIBLE_MATCH"])
    await listed({ name, dob, list: "SANCTIONS" })
    assert.deepStrictEqual(await casesOf(clientId), ["OPEN SCREENING_POSSIBLE_MATCH", "OPEN SCREENING_HIT"])
    assert.deepStrictEqual(await view(clientId), {
      state: "RESTRICTED",
      restrictions: ["FROZEN", "NO_NEW_RISK"],
      openCases: 2
    })
    assert.deepStrictEqual(await feedOf(clientId), ["RESTRICTION_SET NO_NEW_RISK", "RESTRICTION_SET FROZEN"])
  })

  it("D2: a client whose reliance was rejected is frozen by a hit, once, and by nothing less", async () => {
    const { clientId, name } = await active()
    await comply(service, (compliance) => compliance.reject(operator, String(clientId), "no attestation"))
    await listed({ name, dob: "1999-09-09", list: "SANCTIONS" })
    assert.deepStrictEqual(await view(clientId), { state: "KYC_PENDING", restrictions: [], openCases: 0 })
    await listed({ name, dob, list: "SANCTIONS" })
    assert.deepStrictEqual(await view(clientId), { state: "KYC_PENDING", restrictions: ["FROZEN"], openCases: 1 })
    await nightly()
    assert.deepStrictEqual(await runsOf(clientId), ["ONBOARDING CLEAR", "LIST HIT"])
    assert.deepStrictEqual(await feedOf(clientId), ["RESTRICTION_SET FROZEN"])
  })

  it("F26: closed and refused clients are left alone", async () => {
    const closed = await active({ "kyc.personalInfo.last_name": "Closedlater" })
    const refused = await active({
      "kyc.personalInfo.first_name": "Ann",
      "kyc.personalInfo.last_name": "Wackernagelsen"
    })
    await advance(service, 60_000)
    assert.strictEqual((await view(closed.clientId)).state, "CLOSED")
    await query(service, "UPDATE clients SET state = 'KYC_REJECTED' WHERE id = $1", [BigInt(refused.clientId)])
    await listed({ name: `${closed.name.split(" ")[0]} Closedlater`, dob, list: "SANCTIONS" })
    await listed({ name: "Ann Wackernagelsen", dob, list: "SANCTIONS" })
    for (const { clientId } of [closed, refused]) {
      assert.deepStrictEqual(await casesOf(clientId), [])
      assert.deepStrictEqual(await runsOf(clientId), ["ONBOARDING CLEAR"])
    }
  })

  it("F26: unchanged entries and other people's cause no row", async () => {
    const { clientId } = await active()
    const rows = await service.run(Effect.map(ScreeningPasses, (passes) => passes.lastEntry()))
    await listed({ name: "Nobody Whatsoever", dob, list: "SANCTIONS" })
    const pass = (await contexts()).at(-1)
    assert.deepInclude(pass, { trigger: "LIST", scope: "CHANGES", fromEntry: rows, state: "DONE" })
    assert.deepStrictEqual(await runsOf(clientId), ["ONBOARDING CLEAR"])
    assert.deepStrictEqual(await rowsOf(service, "screeningRuns", "pass_id = $1", [BigInt(pass?.passId ?? 0)]), [])
  })

  it("F26: entries of an import call for a pass when it becomes current, kept ones for none", async () => {
    const { clientId, name } = await active()
    const people = [{ name, dob, country: null, list: "SANCTIONS" }] as const
    const first = await announced("UN", "1", people)
    assert.deepStrictEqual(await view(clientId), { state: "ACTIVE", restrictions: [], openCases: 0 })
    await imports((service) => service.finish(operator, first, false))
    await passesDone(service)
    assert.deepStrictEqual(await view(clientId), { state: "RESTRICTED", restrictions: ["FROZEN"], openCases: 1 })
    const before = await contexts()
    const second = await announced("UN", "2", people)
    await imports((service) => service.finish(operator, second, false))
    // An entry after it, whose pass is the next one.
    await listed({ name: "Somebody Elsewhere", dob, list: "PEP" })
    assert.lengthOf(await contexts(), before.length + 1)
  })

  it("F26: who was screened on a list that has changed before the commit is screened again", async () => {
    const { clientId, name } = await active()
    const [client] = await rowsOf(service, "clients", "id = $1", [BigInt(clientId)])
    await announced("LATE", "1", [{ name, dob, country: null, list: "SANCTIONS" }])
    const [run] = await ofClient(service, "screeningRuns", clientId)
    await service.run(
      Effect.gen(function* () {
        const host = yield* ActorHost
        yield* host.dispatch({
          subject: `client:${client?.id}`,
          by: operator.by,
          decide: (turn) =>
            turn.draft.put("screeningRuns", { ...(run as NonNullable<typeof run>), id: turn.nextId("screeningRun") })
        })
      })
    )
    await vi.waitFor(async () => assert.deepInclude(await view(clientId), { restrictions: ["FROZEN"], openCases: 1 }), {
      timeout: 20_000,
      interval: 20
    })
    const last = (await ofClient(service, "screeningRuns", clientId)).at(-1)
    assert.deepInclude(last, { trigger: "LIST", outcome: "HIT", passId: null })
  })
})

describe("every night", () => {
  it("F26: finds clients that no pass was requested for, at 02:00, once after any number of missed nights", async () => {
    const { clientId, name } = await active()
    await announced("OPEN", "1", [{ name, dob, country: null, list: "SANCTIONS" }])
    const before = (await contexts()).length
    await nightly(5)
    assert.deepStrictEqual(
      (await contexts()).slice(before).map(({ trigger, scope, state }) => [trigger, scope, state]),
      [["NIGHTLY", "ALL", "DONE"]]
    )
    assert.deepStrictEqual(await view(clientId), { state: "RESTRICTED", restrictions: ["FROZEN"], openCases: 1 })
    assert.deepStrictEqual(await runsOf(clientId), ["ONBOARDING CLEAR", "NIGHTLY HIT"])
    const [timer] = await rowsOf(service, "timers", "name = 'screening.nightly'")
    const now = await service.run(Effect.map(BusinessClock, (clock) => clock.now()))
    assert.strictEqual((timer?.dueAt ?? 0) % dayMillis, 2 * 3_600_000)
    assert.isTrue((timer?.dueAt ?? 0) > now && (timer?.dueAt ?? 0) <= now + dayMillis)
  })
})

describe("a start", () => {
  it("F26: screens every client if the stored rules are unknown, or differ", async () => {
    const shared = await makeTestDatabase()
    const database = { url: shared.url, sealing: service.database.sealing }
    const life = () => startService({ database })
    const triggers = async (of: Service) =>
      (await rowsOf(of, "screeningPasses")).map((row) => `${row.context.trigger} ${row.state}`)
    const settled = (of: Service, expected: ReadonlyArray<string>) =>
      vi.waitFor(async () => assert.deepStrictEqual(await triggers(of), expected), { timeout: 20_000, interval: 20 })
    try {
      const first = await life()
      await first.client((await first.partner()).key)
      assert.deepStrictEqual(await triggers(first), [])
      await first.stop()
      const second = await life()
      await settled(second, ["RULES DONE"])
      await query(second, "UPDATE screening_passes SET context = jsonb_set(context::jsonb, '{rules}', '0')::json")
      await second.stop()
      const third = await life()
      await settled(third, ["RULES DONE", "RULES DONE"])
      await third.stop()
      // The rules are unchanged, so the next pass is that of the next entry.
      const fourth = await life()
      await watchAll(fourth, { name: "Nobody Whatsoever", dob, list: "SANCTIONS" })
      await settled(fourth, ["RULES DONE", "RULES DONE", "LIST DONE"])
      await fourth.stop()
    } finally {
      await shared.drop()
    }
  })
})
