/**
 * The way to level MICA_MIFID on the real service: test, acknowledgement and MiFID blocks, in either order and under races
 * (doc 1, Appropriateness and MiFID blocks; SC-ONB-11..14; D1, D19; A1-40..A1-43).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor, type Outcome } from "../../src/machines/appropriateness/scoring.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { mifidBlockCodes } from "../../src/machines/verification/Blocks.ts"
import { Questionnaires } from "../../src/runtime/services/clients/appropriateness/Questionnaires.ts"
import {
  advance,
  comply,
  dayMillis,
  ofClient,
  onboard,
  partners,
  person,
  rowCounts,
  withPaths
} from "../support/Builders.ts"
import { type Answer, operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, call, client, verificationOf, now, nextPerson } = await openScenario()

let version = 1

type Headers = Readonly<Record<string, string>>
const submit = (clientId: number, outcome: Outcome, headers: Headers = {}) =>
  call("POST", clientId, "/appropriateness", { version, answers: answersFor(questionnaire1, outcome) }, headers)
const acknowledge = (clientId: number, acknowledgedAt: unknown = 1, headers: Headers = {}) =>
  call("POST", clientId, "/appropriateness/acknowledge", { acknowledgedAt }, headers)
const mifid = (clientId: number, headers: Headers = {}) => call("PUT", clientId, "/mifid", sampleMifid(), headers)
const events = async (clientId: number, name: string) =>
  (await ofClient(service, "events", clientId)).filter((event) => event.name === name).map(({ data }) => data)
const refusal = ({ status, json }: Answer) => [status, json.code, json.msg]
const held = async (): Promise<number> =>
  (await onboard(service, key, person(nextPerson(), "held", { "attestation.riskRating": "HIGH" }))).json.data.clientId

const levelChanged = (outcome: Outcome, score: number, attempt = 1) => ({
  from: "MICA",
  to: "MICA_MIFID",
  appropriateness: { version: 1, outcome, score, attempt }
})

describe("SC-ONB-11: MiFID in both orders", () => {
  it("SC-ONB-11: blocks, then PASS: answers, view, decisions and both events to the member", async () => {
    const clientId = await client()
    const written = (await mifid(clientId)).json.data
    const before = await verificationOf(clientId)
    assert.deepStrictEqual(written, {
      clientId,
      clientUid: before.clientUid,
      verificationLevel: "MICA",
      lifecycleState: "ACTIVE",
      granted: false,
      appropriateness: before.appropriateness,
      requirements: before.requirements
    })
    const { status, json } = await submit(clientId, "PASS")
    const { retakeAt } = json.data
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(json, {
      code: 0,
      data: {
        version: 1,
        outcome: "PASS",
        score: 100,
        requiresAcknowledgement: false,
        retakeAt,
        attempt: 1,
        verificationLevel: "MICA_MIFID",
        granted: true
      }
    })
    const after = await verificationOf(clientId)
    assert.deepStrictEqual(after.appropriateness, {
      version: 1,
      outcome: "PASS",
      score: 100,
      takenAt: retakeAt - dayMillis,
      acknowledgedAt: null,
      retakeAt,
      requiresAcknowledgement: false,
      attempt: 1
    })
    const blocks = after.blocks.filter(({ level }: { readonly level: string }) => level === "MICA_MIFID")
    assert.deepStrictEqual(
      blocks.map((block: { readonly code: string; readonly status: string; readonly decidedBy: string }) => [
        block.code,
        block.status,
        block.decidedBy
      ]),
      mifidBlockCodes.map((code) => [code, "APPROVED", code === "APPROPRIATENESS" ? "SYSTEM" : "PARTNER"])
    )
    assert.deepStrictEqual(await events(clientId, "client.level_changed"), [levelChanged("PASS", 100)])
    assert.deepStrictEqual(await events(clientId, "appropriateness.result"), [
      { version: 1, outcome: "PASS", score: 100, attempt: 1, retakeAt, requiresAcknowledgement: false }
    ])
    const decisions = await ofClient(service, "decisions", clientId)
    assert.deepStrictEqual(
      decisions.map(({ decision, decidedBy }) => [decision, decidedBy]),
      [
        ["GRANT_MICA", "SYSTEM"],
        ["GRANT_MICA_MIFID", "SYSTEM"]
      ]
    )
  })

  it("SC-ONB-11: PASS, then blocks: the blocks move the level", async () => {
    const clientId = await client()
    assert.deepInclude((await submit(clientId, "PASS")).json.data, { granted: false, verificationLevel: "MICA" })
    assert.deepInclude((await mifid(clientId)).json.data, { granted: true, verificationLevel: "MICA_MIFID" })
    assert.deepStrictEqual(await events(clientId, "client.level_changed"), [levelChanged("PASS", 100)])
  })

  it("A1-43: blocks written again after the level moved: taken, granted false", async () => {
    const clientId = await client()
    await submit(clientId, "PASS")
    await mifid(clientId)
    const body = withPaths(sampleMifid(), { "employmentFinancial.net_worth": "gt_5m" })
    const { status, json } = await call("PUT", clientId, "/mifid", body)
    assert.deepStrictEqual([status, json.data.granted, json.data.verificationLevel], [200, false, "MICA_MIFID"])
    const payloads = await ofClient(service, "blockPayloads", clientId)
    assert.deepStrictEqual(payloads.find(({ code }) => code === "EMPLOYMENT_FINANCIAL")?.data, body.employmentFinancial)
  })

  it("A1-44: ignored fields are not stored either", async () => {
    const clientId = await client()
    const ignored = { primary_purpose_other: "a private matter", unknown: "a private matter" }
    const body = { ...sampleMifid(), accountPurpose: { ...sampleMifid().accountPurpose, ...ignored } }
    assert.strictEqual((await call("PUT", clientId, "/mifid", body)).status, 200)
    const payloads = await ofClient(service, "blockPayloads", clientId)
    const kept = payloads.find(({ code }) => code === "ACCOUNT_PURPOSE")?.data
    assert.deepStrictEqual(kept, sampleMifid().accountPurpose)
  })

  it("A1-43: blocks written again make no second event", async () => {
    const clientId = await client()
    await submit(clientId, "PASS")
    await mifid(clientId)
    await mifid(clientId)
    assert.strictEqual((await events(clientId, "client.level_changed")).length, 1)
  })

  it("A1-43: before level MICA every block is accepted; the grant of compliance then leads to MICA_MIFID", async () => {
    const clientId = await held()
    assert.deepInclude((await mifid(clientId)).json.data, { granted: false, verificationLevel: "NONE" })
    assert.deepInclude((await submit(clientId, "PASS")).json.data, { granted: false, verificationLevel: "NONE" })
    assert.deepStrictEqual(await events(clientId, "client.level_changed"), [])
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), null))
    assert.deepInclude(await verificationOf(clientId), { level: "MICA_MIFID", lifecycleState: "ACTIVE" })
    assert.deepStrictEqual(await events(clientId, "client.level_changed"), [levelChanged("PASS", 100)])
  })

  it("A1-43: a WARN that waits when compliance clears leaves level MICA until it is acknowledged", async () => {
    const clientId = await held()
    await mifid(clientId)
    await submit(clientId, "WARN")
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), null))
    assert.strictEqual((await verificationOf(clientId)).level, "MICA")
    assert.isTrue((await acknowledge(clientId)).json.data.granted)
  })

  it("D1: a restricted client's level moves too", async () => {
    const clientId = await client()
    await comply(service, (compliance) => compliance.restrict(operator, String(clientId), "NO_NEW_RISK", "review"))
    await mifid(clientId)
    assert.isTrue((await submit(clientId, "PASS")).json.data.granted)
    assert.deepInclude(await verificationOf(clientId), { level: "MICA_MIFID", lifecycleState: "RESTRICTED" })
  })
})

describe("SC-ONB-11: races", () => {
  it("SC-ONB-11: forty calls of both halves at once, on one client: one moves the level", async () => {
    const clientId = await client()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? mifid(clientId) : submit(clientId, "PASS")))
    )
    assert.strictEqual(answers.filter(({ json }) => json.data?.granted === true).length, 1)
    const tests = answers.filter((_, n) => n % 2 === 1)
    assert.deepStrictEqual(tests.map(({ status }) => status).toSorted(), [
      200,
      ...Array.from({ length: 19 }, () => 409)
    ])
    assert.deepStrictEqual(await events(clientId, "client.level_changed"), [levelChanged("PASS", 100)])
    assert.strictEqual((await events(clientId, "appropriateness.result")).length, 1)
    assert.strictEqual((await ofClient(service, "assessmentAttempts", clientId)).length, 1)
  })

  it("A1-40: forty failing attempts at once: one counts, the others wait for retakeAt", async () => {
    const clientId = await client()
    const answers = await Promise.all(Array.from({ length: 40 }, () => submit(clientId, "FAIL")))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [
      200,
      ...Array.from({ length: 39 }, () => 429)
    ])
    assert.strictEqual((await verificationOf(clientId)).appropriateness.attempt, 1)
  })

  it("A1-42: forty acknowledgements at once: one moves the level", async () => {
    const clientId = await client()
    await mifid(clientId)
    await submit(clientId, "WARN")
    const answers = await Promise.all(Array.from({ length: 40 }, () => acknowledge(clientId)))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [
      200,
      ...Array.from({ length: 39 }, () => 409)
    ])
    assert.strictEqual((await events(clientId, "client.level_changed")).length, 1)
  })
})

describe("SC-ONB-12: WARN", () => {
  it("SC-ONB-12: granted on the acknowledgement, whose answer has both times; the second one is a conflict", async () => {
    const clientId = await client()
    await mifid(clientId)
    assert.isFalse((await submit(clientId, "WARN")).json.data.granted)
    const { status, json } = await acknowledge(clientId, 1_700_000_000_000)
    const { acknowledgedAt } = json.data
    assert.isAbove(acknowledgedAt, 1_700_000_000_000)
    assert.deepStrictEqual(
      [status, json],
      [
        200,
        {
          code: 0,
          data: {
            acknowledgedAt,
            attestedAt: 1_700_000_000_000,
            outcome: "WARN",
            verificationLevel: "MICA_MIFID",
            granted: true
          }
        }
      ]
    )
    assert.strictEqual((await verificationOf(clientId)).appropriateness.acknowledgedAt, acknowledgedAt)
    assert.deepStrictEqual(await events(clientId, "client.level_changed"), [levelChanged("WARN", 80)])
    assert.deepStrictEqual(refusal(await acknowledge(clientId)), [409, 4092, "The warning is acknowledged already."])
    // A1-41: the block is checked before the cooling period.
    assert.deepStrictEqual(refusal(await submit(clientId, "PASS")), [
      409,
      4092,
      "The appropriateness block is approved already."
    ])
  })

  it("A1-42: without a WARN that waits there is nothing to acknowledge", async () => {
    const none = [400, 4000, "There is no warning to acknowledge."]
    const clientId = await client()
    assert.deepStrictEqual(refusal(await acknowledge(clientId)), none)
    await submit(clientId, "FAIL")
    assert.deepStrictEqual(refusal(await acknowledge(clientId)), none)
    const passed = await client()
    await submit(passed, "PASS")
    assert.deepStrictEqual(refusal(await acknowledge(passed)), none)
  })

  it.each([
    [undefined, "The time of acknowledgement is required."],
    [null, "The time of acknowledgement is required."],
    ["1", "The time of acknowledgement must be a positive integer of Unix milliseconds."],
    [0, "The time of acknowledgement must be a positive integer of Unix milliseconds."],
    [1.5, "The time of acknowledgement must be a positive integer of Unix milliseconds."],
    [4_000_000_000_000, "The time of acknowledgement must not be in the future."]
  ])("A1-42: acknowledgedAt %j is refused", async (acknowledgedAt, sentence) => {
    const clientId = await client()
    await submit(clientId, "WARN")
    const { status, json } = await call("POST", clientId, "/appropriateness/acknowledge", { acknowledgedAt })
    assert.deepStrictEqual(
      [status, json.code, json.data],
      [400, 4000, { reason: "INVALID_FIELDS", errors: { acknowledgedAt: sentence } }]
    )
  })
})

describe("requests", () => {
  it("A1-41: the first missing answer is named, and nothing is written", async () => {
    const clientId = await client()
    const before = await rowCounts(service)
    const answers = { ...answersFor(questionnaire1, "PASS"), knockoutKnowledge: "maybe", highRiskAllocation: null }
    const sentence = "The answer must be one of the question's options."
    const { status, json } = await call("POST", clientId, "/appropriateness", { version, answers })
    assert.deepStrictEqual(
      [status, json.msg, json.data],
      [400, sentence, { reason: "INVALID_FIELDS", errors: { "answers.knockoutKnowledge": sentence } }]
    )
    for (const body of [{ version }, { answers }, { version: "1", answers }, { version: 1.5, answers }]) {
      assert.strictEqual((await call("POST", clientId, "/appropriateness", body)).status, 400)
    }
    assert.deepStrictEqual(await rowCounts(service), before)
    assert.strictEqual((await verificationOf(clientId)).appropriateness.attempt, 0)
  })

  it("A1-27: bad MiFID blocks answer the field map and write nothing", async () => {
    const clientId = await client()
    const before = await rowCounts(service)
    const body = withPaths(sampleMifid(), { "declarationsMifid.order_execution_policy_consent": false })
    const { status, json } = await call("PUT", clientId, "/mifid", body)
    assert.deepStrictEqual(
      [status, json.msg, json.data],
      [
        400,
        "Please check the highlighted fields.",
        {
          reason: "INVALID_FIELDS",
          errors: {
            "mifid.declarationsMifid.order_execution_policy_consent":
              "The declaration order_execution_policy_consent must be true."
          }
        }
      ]
    )
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it("doc 1, Endpoints: an unknown or foreign client is 404 on every route, whatever the body", async () => {
    const other = await service.partner()
    const foreign = await service.client(other.key)
    for (const clientId of [foreign, 999_999_999]) {
      for (const answer of [
        await submit(clientId, "PASS"),
        await acknowledge(clientId),
        await mifid(clientId),
        await call("PUT", clientId, "/mifid", {})
      ]) {
        assert.deepStrictEqual([answer.status, answer.json.code], [404, 4004])
      }
    }
  })

  it("doc 1, Reliance: only the MiFID blocks need it", async () => {
    const other = await service.partner()
    const clientId = await service.client(other.key)
    await partners(service, (list) => list.reliance(operator, other.code, "SUSPENDED", "test"))
    const send = (method: string, path: string, body: object) =>
      service.call(method, `/partner/v1/clients/${clientId}${path}`, { key: other.key, body })
    const blocks = await send("PUT", "/mifid", sampleMifid())
    assert.deepStrictEqual(
      [blocks.status, blocks.json.code, blocks.json.data],
      [403, 4036, { error: "RELIANCE_NOT_APPROVED" }]
    )
    const answers = answersFor(questionnaire1, "WARN")
    assert.strictEqual((await send("POST", "/appropriateness", { version, answers })).status, 200)
    assert.strictEqual((await send("POST", "/appropriateness/acknowledge", { acknowledgedAt: 1 })).status, 200)
  })

  it("doc 1, Idempotency: each write replays its first answer byte for byte and runs once", async () => {
    const clientId = await client()
    const runs = [
      () => submit(clientId, "WARN", { "idempotency-key": `submit-${clientId}` }),
      () => mifid(clientId, { "idempotency-key": `mifid-${clientId}` }),
      () => acknowledge(clientId, 1, { "idempotency-key": `acknowledge-${clientId}` })
    ]
    for (const run of runs) {
      const first = await run()
      const again = await run()
      assert.strictEqual(first.status, 200)
      assert.deepStrictEqual([again.status, again.text], [200, first.text])
      assert.strictEqual(again.headers["idempotency-replayed"], "true")
    }
    assert.isTrue(JSON.parse((await runs[2]?.())?.text ?? "{}").data.granted)
    assert.strictEqual((await ofClient(service, "assessmentAttempts", clientId)).length, 1)
    assert.strictEqual((await events(clientId, "client.level_changed")).length, 1)
  })

  it("D3: a rejection voids the assessment: block REJECTED, no pending WARN, the cooling period stays", async () => {
    const clientId = await client()
    await mifid(clientId)
    await submit(clientId, "WARN")
    await comply(service, (compliance) => compliance.reject(operator, String(clientId), "The attestation is false."))
    assert.strictEqual((await acknowledge(clientId)).status, 400)
    assert.strictEqual((await submit(clientId, "PASS")).status, 429)
    const { appropriateness, blocks } = await verificationOf(clientId)
    assert.deepInclude(appropriateness, { attempt: 1, requiresAcknowledgement: false })
    assert.deepInclude(blocks[10], { code: "APPROPRIATENESS", status: "REJECTED" })
  })
})

describe("SC-ONB-13 and SC-ONB-14: time and versions", () => {
  it("SC-ONB-13: a retake that is refused as too early names its wait and gives the key back; each attempt is stored", async () => {
    const clientId = await client()
    const { retakeAt } = (await submit(clientId, "FAIL")).json.data
    const before = await now()
    const keyed = { "idempotency-key": `retake-${clientId}` }
    const early = await submit(clientId, "WARN", keyed)
    const waits = Number(early.headers["retry-after"])
    assert.isAtMost(waits, Math.ceil((retakeAt - before) / 1_000), "A1-04")
    assert.isAtLeast(waits, Math.ceil((retakeAt - (await now())) / 1_000), "A1-04")
    assert.deepStrictEqual(
      [early.status, early.json],
      [
        429,
        {
          code: 4290,
          msg: "The cooling period after the last attempt is not over yet.",
          error: "The cooling period after the last attempt is not over yet.",
          data: { reason: "RETAKE_TOO_EARLY", retakeAt }
        }
      ]
    )
    const bad = await call("POST", clientId, "/appropriateness", { version, answers: {} })
    assert.strictEqual(bad.status, 429, "A1-41: the time is judged before the answers")
    await advance(service, dayMillis)
    // A1-51: the refusal released the key.
    const second = (await submit(clientId, "WARN", keyed)).json.data
    assert.deepInclude(second, { attempt: 2, outcome: "WARN" })
    assert.isAtLeast(second.retakeAt, retakeAt + dayMillis)
    await advance(service, dayMillis)
    assert.deepInclude((await submit(clientId, "FAIL")).json.data, { attempt: 3, outcome: "FAIL" })
    assert.strictEqual((await acknowledge(clientId)).status, 400, "A1-40: the WARN of attempt 2 is void")
    const attempts = await ofClient(service, "assessmentAttempts", clientId)
    assert.deepStrictEqual(
      attempts.map((row) => [row.attempt, row.questionnaire, row.outcome, row.score]),
      [
        [1, 1, "FAIL", 40],
        [2, 1, "WARN", 80],
        [3, 1, "FAIL", 40]
      ]
    )
    assert.deepStrictEqual(attempts[1]?.answers, answersFor(questionnaire1, "WARN"))
  })

  it("SC-ONB-14: any version but the current one is refused before time and answers; earlier results stay valid", async () => {
    const passed = await client()
    const cooling = await client()
    const clientId = await client()
    await submit(passed, "PASS")
    await submit(cooling, "FAIL")
    const file = withPaths(questionnaire1, { warningText: "Another warning." })
    const published = await service.run(
      Effect.flatMap(Questionnaires, (questionnaires) => questionnaires.publish(operator, file))
    )
    assert.isTrue(published.ok && published.value.version === 2)
    for (const stale of [1, 3, 0, -1]) {
      const { status, json } = await call("POST", clientId, "/appropriateness", { version: stale, answers: {} })
      assert.deepStrictEqual(
        [status, json.code, json.data],
        [409, 4092, { reason: "STALE_VERSION", currentVersion: 2 }],
        String(stale)
      )
    }
    assert.strictEqual((await submit(cooling, "PASS")).status, 409, "A1-41: the version is judged before the time")
    assert.isTrue((await mifid(passed)).json.data.granted)
    version = 2
    assert.strictEqual((await submit(cooling, "PASS")).status, 429)
    assert.deepInclude((await submit(clientId, "PASS")).json.data, { version: 2, outcome: "PASS" })
  })
})
