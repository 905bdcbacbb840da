/**
 * kyc clear clears only the reviewed state: an open case that is not named, or that has new content, is not cleared
 * (operator surface, kyc clear; D1; F26).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { readCases, type ReadCase } from "../../cli/readCases.ts"
import { callService } from "../../cli/OperatorClient.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { conflict, refuse } from "../../src/machines/shared/Refusal.ts"
import { Compliance } from "../../src/runtime/services/clients/compliance/Compliance.ts"
import { brokenInvariants, ofClient, passesDone, rowCounts } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

let service: OperatorService
let key: string
beforeAll(async () => {
  service = await startOperatorService()
  key = (await service.partner({ code: "CLEARS" })).key
})
afterAll(async () => {
  assert.deepStrictEqual(await brokenInvariants(service), [])
  await service.stop()
})

/** Open cases, newest first. */
const openCases = async (clientId: number): Promise<ReadonlyArray<number>> =>
  (await service.done(["case", "list", "--open", "--client", String(clientId)], "COMPLIANCE")).cases.map(
    (each: { readonly caseId: number }) => each.caseId
  )
const stateOf = async (clientId: number) =>
  (await service.done(["client", "show", String(clientId)])).lifecycleState as string
const note = ["--note", "another person"]
/** The state that the command reads before it clears. */
const look = (clientId: number): Promise<ReadCase> =>
  callService(
    { url: service.url, operatorKey: service.keys.COMPLIANCE, ca: readFileSync(service.caFile, "utf8"), dryRun: false },
    (api) => readCases(api, String(clientId), () => undefined)
  )
const clear = (clientId: number, ...more: ReadonlyArray<string>) =>
  service.cli(["kyc", "clear", String(clientId), ...note, ...more], "COMPLIANCE")

let persons = 0
const list = (name: string) => service.done(["screening", "add", "--name", name, "--list", "SANCTIONS"], "COMPLIANCE")
/** A held client whose name is on the list. */
const held = async () => {
  const body = sampleOnboarding(900 + ++persons, "clears", Date.now())
  const name = `${body.kyc.personalInfo.first_name} ${body.kyc.personalInfo.last_name}`
  await list(name)
  await passesDone(service)
  const { json, text } = await service.call("POST", "/partner/v1/clients", { key, body })
  assert.strictEqual(json.data.status, "PENDING_REVIEW", text)
  const { clientId, review } = json.data as { readonly clientId: number; readonly review: { readonly caseId: number } }
  /** Another entry of the name, for which the pass opens a case. */
  const again = async (): Promise<number> => {
    await list(name)
    await passesDone(service)
    const open = await openCases(clientId)
    assert.lengthOf(open, 2)
    return open[0] as number
  }
  return { clientId, caseId: review.caseId, again }
}

describe("operator surface, kyc clear of the reviewed file", () => {
  it("a case that is open and not named refuses the clearance, which writes nothing", async () => {
    const { clientId, caseId, again } = await held()
    const later = await again()
    const before = await rowCounts(service)
    const { status, refusal } = await clear(clientId, "--case", String(caseId))
    assert.deepStrictEqual(
      [status, refusal.code, refusal.msg, refusal.data],
      [
        1,
        4092,
        `Case ${later} is open and was not looked at: look at the client's cases again before clearing them.`,
        { reason: "FILE_CHANGED", openCases: [later] }
      ]
    )
    assert.deepStrictEqual(await rowCounts(service), before)
    assert.strictEqual(await stateOf(clientId), "KYC_PENDING")
    const both = await clear(clientId, "--case", String(caseId), "--case", String(later))
    // The pass has frozen the client; that restriction is lifted separately.
    assert.deepStrictEqual([both.status, both.json?.lifecycleState, both.json?.openCases], [0, "RESTRICTED", []])
  })

  it("a named case that shows a later screening refuses it, too", async () => {
    const { clientId, caseId } = await held()
    const [run] = await ofClient(service, "screeningRuns", clientId)
    const screeningRunId = run?.id ?? 0
    const clearAsOf = (screeningRun: number) =>
      service.run(
        Effect.provide(
          Effect.flatMap(Compliance, (compliance) =>
            compliance.clear(operator, String(clientId), "another person", { cases: [caseId], screeningRun })
          ),
          Compliance.layer
        )
      )
    const sentence = `Case ${caseId} shows more since it was looked at: look at the client's cases again before clearing them.`
    assert.deepStrictEqual(
      await clearAsOf(screeningRunId - 1),
      refuse(conflict("FILE_CHANGED", sentence, { openCases: [caseId] }))
    )
    assert.isTrue((await clearAsOf(screeningRunId)).ok)
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
  })

  it("of cases that showed no screening a first one is later; without one they are cleared", async () => {
    const { clientId, caseId } = await held()
    const { refusal } = await clear(clientId, "--case", String(caseId), "--screening-run", "0")
    assert.match(refusal.msg, /shows more since it was looked at/)
    const [run] = await ofClient(service, "screeningRuns", clientId)
    const asOf = ["--screening-run", String(run?.id)]
    assert.strictEqual((await clear(clientId, "--case", String(caseId), ...asOf)).json?.lifecycleState, "ACTIVE")
    await service.done(["kyc", "sample", String(clientId)], "COMPLIANCE")
    assert.lengthOf(await openCases(clientId), 1)
    assert.strictEqual((await clear(clientId)).json?.lifecycleState, "ACTIVE")
    assert.deepStrictEqual(await openCases(clientId), [])
  })

  it("without --case the command shows the open cases and clears these; --json leaves stdout and stderr alone", async () => {
    const { clientId, caseId, again } = await held()
    const later = await again()
    const ran = await runRecorded([
      "kyc",
      "clear",
      String(clientId),
      ...note,
      "--yes",
      ...service.connection("COMPLIANCE")
    ])
    assert.strictEqual(ran.status, 0, ran.stderr)
    assert.match(
      ran.stderr,
      new RegExp(
        `^case ${caseId}: SCREENING_HIT, 1 candidate, open since [^\\n]*\\ncase ${later}: [A-Z_]*, 1 candidate, [^\\n]*\\n$`
      )
    )
    assert.deepStrictEqual(await openCases(clientId), [])
    const quiet = await held()
    const json = await clear(quiet.clientId)
    assert.deepStrictEqual([json.status, json.stderr, json.json.lifecycleState], [0, "", "ACTIVE"])
  })

  it("a revision that arrives after the read is not cleared with the cases", async () => {
    const { clientId, caseId } = await held()
    const looked = await look(clientId)
    assert.deepInclude(looked, { cases: [caseId], revision: 1 })
    assert.isAbove(looked.screeningRun ?? 0, 0)
    const { kyc, attestation } = sampleOnboarding(900 + persons, "clears", Date.now())
    const path = `/partner/v1/clients/${clientId}/kyc`
    const revised = await service.call("PUT", path, { key, body: { kyc: { pep: kyc.pep }, attestation } })
    assert.strictEqual(revised.status, 200, revised.text)
    const { status } = await clear(clientId, "--case", String(caseId), "--revision", String(looked.revision))
    assert.strictEqual(status, 1)
    assert.strictEqual(await stateOf(clientId), "KYC_PENDING")
    assert.strictEqual((await clear(clientId)).json?.lifecycleState, "ACTIVE")
  })

  it("case list --client shows the cases of one client; an unknown one is refused", async () => {
    const one = await held()
    const other = await held()
    assert.deepStrictEqual(await openCases(one.clientId), [one.caseId])
    assert.deepStrictEqual(await openCases(other.clientId), [other.caseId])
    assert.strictEqual((await service.cli(["case", "list", "--client", "999999"], "COMPLIANCE")).refusal.code, 4004)
  })
})
