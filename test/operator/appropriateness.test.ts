/**
 * `appropriateness publish` and `sim answers` through the command line, on a real service (operator surface; F24, A1-39).
 */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assessmentOutcomes } from "../../src/http/api/operator/operatorTokens.ts"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { outcomes } from "../../src/machines/appropriateness/scoring.ts"
import { mifidSections } from "../../src/machines/mifid/MifidBody.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { get, rowsOf, withPaths } from "../support/Builders.ts"
import { runRecorded, startOperatorService } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, key } = await openOperatorScenario()

let files = 0
const fileOf = (text: string): string => {
  const path = join(dirname(service.caFile), `questionnaire-${++files}.json`)
  writeFileSync(path, text)
  return path
}
const questionnaire = (paths: Readonly<Record<string, unknown>> = {}) =>
  fileOf(JSON.stringify(withPaths(questionnaire1, paths)))
const publish = (path: string, role: "ADMIN" | "COMPLIANCE" | "FINANCE" | "SUPPORT" = "COMPLIANCE") =>
  service.cli(["appropriateness", "publish", path], role)
const served = async () => (await get(service, key, "/appropriateness-test")).json.data

describe("operator surface, appropriateness", () => {
  it("operator surface: publish raises the version by one, is served at once and audited", async () => {
    const before = (await served()).version
    const { status, json } = await publish(questionnaire({ warningText: "Mind the risk." }))
    assert.deepStrictEqual([status, json.version, json.questions], [0, before + 1, 8])
    const now = await served()
    assert.deepStrictEqual([now.version, now.warningText], [before + 1, "Mind the risk."])
    const audit = await rowsOf(service, "audit", "object = $1", [`questionnaire:${before + 1}`])
    assert.deepStrictEqual(
      audit.map((row) => [row.action, row.before, row.after, row.role, row.keyLabel]),
      [["appropriateness.publish", `version ${before}`, `version ${before + 1}`, "COMPLIANCE", "COMPLIANCE one"]]
    )
    const [row] = await rowsOf(service, "questionnaires", "version = $1", [BigInt(before + 1)])
    assert.deepStrictEqual(row?.content, { ...questionnaire1, warningText: "Mind the risk." } as object)
  })

  it("A1-39: publications at once get numbers of their own", async () => {
    const before = (await served()).version
    const path = questionnaire()
    const made = await Promise.all(Array.from({ length: 5 }, () => publish(path, "ADMIN")))
    assert.deepStrictEqual(
      made.map(({ json }) => json.version).toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5].map((n) => before + n)
    )
    assert.strictEqual((await served()).version, before + 5)
  })

  it("operator surface: a bad questionnaire is refused with its sentences, nothing is published", async () => {
    const before = (await served()).version
    const rule = await publish(questionnaire({ "questions.0.options.3.points": 1 }))
    assert.deepStrictEqual(
      [rule.status, rule.refusal.code, rule.refusal.msg],
      [1, 4000, "The best answers must make exactly 100 points."]
    )
    const field = await publish(questionnaire({ "questions.0.text": 5 }))
    assert.deepStrictEqual(
      [field.status, field.refusal.data],
      [1, { reason: "INVALID_FIELDS", errors: { "questions.0.text": "The question must be text." } }]
    )
    for (const text of ["[]", "null", "7"]) assert.strictEqual((await publish(fileOf(text))).refusal.code, 4000, text)
    assert.strictEqual((await served()).version, before)
  })

  it("operator surface: a file that is missing or no JSON is wrong usage", async () => {
    for (const path of [join(dirname(service.caFile), "none.json"), fileOf("{"), fileOf("")]) {
      assert.strictEqual((await publish(path)).status, 2)
    }
  })

  it("operator surface: FINANCE and SUPPORT publish nothing", async () => {
    const path = questionnaire()
    for (const role of ["FINANCE", "SUPPORT"] as const) {
      const { status, refusal } = await publish(path, role)
      assert.deepStrictEqual([status, refusal.code], [1, 4034], role)
    }
  })

  it.each(outcomes)("operator surface: sim answers %s, sent as printed, gives that outcome", async (outcome) => {
    const submission = await service.done(["sim", "answers", outcome], "SUPPORT")
    assert.deepStrictEqual(Object.keys(submission), ["version", "answers"])
    const clientId = await service.client(key)
    const answer = await service.call("POST", `/partner/v1/clients/${clientId}/appropriateness`, {
      key,
      body: submission
    })
    assert.strictEqual(answer.json.data.outcome, outcome)
  })

  it("operator surface: the outcomes offered are the ones there are; another is wrong usage", async () => {
    assert.deepStrictEqual([...assessmentOutcomes], [...outcomes])
    assert.strictEqual((await service.cli(["sim", "answers", "MAYBE"])).status, 2)
  })

  it("operator surface: a person reads version and answers", async () => {
    const { stdout } = await runRecorded(["sim", "answers", "PASS", ...service.connection("SUPPORT")])
    assert.match(stdout, /^version +\d+\n/)
    assert.match(stdout, /riskUnderstanding +margin_lost/)
  })
})

describe("operator surface, machine inspect of the answers behind a level", () => {
  it("A3-45: each MiFID block shows who wrote it, the other blocks don't, and the assessment shows no answers", async () => {
    const clientId = await service.client(key)
    const submission = await service.done(["sim", "answers", "WARN"])
    const send = (method: string, path: string, body: object) =>
      service.call(method, `/partner/v1/clients/${clientId}${path}`, { key, body })
    await send("PUT", "/mifid", sampleMifid())
    await send("POST", "/appropriateness", submission)
    await send("POST", "/appropriateness/acknowledge", { acknowledgedAt: 1 })
    const inspect = (kind: string, id: string) => service.done(["machine", "inspect", kind, id])
    const actionsOf = async (code: string) =>
      (await inspect("verificationBlock", `${clientId}:${code}`)).history.map(
        ({ action }: { readonly action: string }) => action
      )
    for (const code of Object.values(mifidSections))
      assert.deepStrictEqual(await actionsOf(code), ["client.mifid"], code)
    assert.deepStrictEqual(await actionsOf("PEP"), ["kyc.store"])
    assert.deepStrictEqual(await actionsOf("APPROPRIATENESS"), ["block.assessed", "block.acknowledged"])
    const shown = await inspect("assessment", String(clientId))
    assert.strictEqual(shown.state, "ACKNOWLEDGED")
    assert.notInclude(JSON.stringify(shown), "riskUnderstanding")
  })
})

describe("operator surface, outside a sandbox", () => {
  it("operator surface: sim answers is refused", async () => {
    const real = await startOperatorService({ settings: { sandbox: false } })
    try {
      const { status, refusal } = await real.cli(["sim", "answers", "PASS"])
      assert.deepStrictEqual([status, refusal.code], [1, 4092])
    } finally {
      await real.stop()
    }
  })
})
