/**
 * One live object through the command line: its history has exactly the audit rows that name it; its timers are those
 * of the object, not of its whole mailbox (operator surface, machine inspect; A3-45).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { advance, collateral, dayMillis, onboard, person, query } from "../support/Builders.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

/** A calendar date this number of days from now. */
const dateIn = (days: number) => new Date(Date.now() + days * dayMillis).toISOString().slice(0, 10)

let service: OperatorService
let clientId: number
let packageId: number
let held: { readonly clientId: number; readonly caseId: number; readonly kycPackageId: number }
const reports: Array<number> = []
const keys: Array<number> = []

beforeAll(async () => {
  service = await startOperatorService()
  const partner = await service.partner({ code: "ONE" })
  const second = await service.done(["key", "issue", "ONE", "--label", "second", "--scope", "READ"])
  keys.push(partner.keyId, second.keyId)
  await service.done(["key", "revoke", String(second.keyId), "--reason", "unused"])
  await service.partner({ code: "TWO" })
  const documents = { "identityCheck.documentExpiry": dateIn(40), "kyc.identification.expiration_date": dateIn(30) }
  const onboarded = (await onboard(service, partner.key, person(901, "inspect", documents))).json.data
  clientId = onboarded.clientId
  packageId = onboarded.kycPackageId
  const risky = await onboard(service, partner.key, person(900, "inspect", { "attestation.riskRating": "HIGH" }))
  const { data } = risky.json
  held = { clientId: data.clientId, caseId: data.review.caseId, kycPackageId: data.kycPackageId }
  for (const partnerRef of ["in-1", "in-2"]) {
    const answer = await collateral(service, partner.key, clientId, { partnerRef, direction: "DEPOSIT", amount: "5" })
    reports.push(answer.json.data.reportId)
  }
  await service.done(["kyc", "clear", String(held.clientId), "--note", "looked at"], "COMPLIANCE")
})
afterAll(() => service.stop())

const inspect = (kind: string, id: string | number) => service.done(["machine", "inspect", kind, String(id)], "SUPPORT")
interface Row {
  readonly object: string
  readonly action: string
}
const historyOf = async (kind: string, id: string | number): Promise<ReadonlyArray<string>> =>
  (await inspect(kind, id)).history.map(({ object, action }: Row) => `${object} ${action}`)

describe("operator surface, machine inspect", () => {
  const objects: ReadonlyArray<readonly [kind: string, id: () => string | number, history: () => unknown]> = [
    ["collateralReport", () => reports[0] ?? 0, () => [`collateralReport:${reports[0]} collateral.report`]],
    ["collateralReport", () => reports[1] ?? 0, () => [`collateralReport:${reports[1]} collateral.report`]],
    ["apiKey", () => keys[0] ?? 0, () => [`apiKey:${keys[0]} key.issue`]],
    ["apiKey", () => keys[1] ?? 0, () => [`apiKey:${keys[1]} key.issue`, `apiKey:${keys[1]} key.revoke`]],
    ["case", () => held.caseId, () => [`case:${held.caseId} case.open`, `case:${held.caseId} case.clear`]],
    [
      "kycPackage",
      () => held.kycPackageId,
      () => [`kycPackage:${held.kycPackageId} kyc.store`, `kycPackage:${held.kycPackageId} kyc.accept`]
    ],
    ["client", () => clientId, () => [`client:${clientId} client.onboard`]],
    // The partner sends all its blocks with the package, so the package's audit row records them.
    ["verificationBlock", () => `${clientId}:FATCA`, () => [`kycPackage:${packageId} kyc.store`]],
    ["verificationBlock", () => `${held.clientId}:PEP`, () => [`kycPackage:${held.kycPackageId} kyc.store`]]
  ]
  it.each(objects.map(([kind, id, history], index) => ({ kind, id, history, index })))(
    "A3-45: the history of $kind ($index) is its own from its first row on",
    async ({ kind, id, history }) => assert.deepStrictEqual<unknown>(await historyOf(kind, id()), history())
  )

  it("A3-45: partner and reliance share an id and not a history", async () => {
    const { partnerId } = await service.done(["partner", "show", "ONE"])
    const actions = new Set(await historyOf("partner", "ONE"))
    assert.sameMembers([...actions], [`partner:${partnerId} partner.create`, `partner:${partnerId} partner.limits`])
    assert.deepStrictEqual(await historyOf("reliance", "ONE"), [
      `partner:${partnerId} partner.create`,
      `reliance:${partnerId} reliance.request`,
      `reliance:${partnerId} reliance.approve`
    ])
  })

  it("A3-45: only audit rows without an object stay unnamed", async () => {
    await service.done(["screening", "add", "--name", "Some One", "--list", "PEP"])
    await service.done(["sim", "clock", "advance", "1s"])
    const adjust = ["ledger", "adjust", String(clientId), "--currency", "USDC", "--amount", "-1", "--reason", "fee"]
    await service.done(adjust)
    const unnamed = await query<{ readonly action: string }>(
      service,
      "SELECT DISTINCT action FROM audit WHERE object IS NULL"
    )
    assert.deepStrictEqual(
      unnamed.map(({ action }) => action),
      ["clock.advance"]
    )
    const kinds = await query<{ readonly kind: string }>(
      service,
      `SELECT DISTINCT split_part(object, ':', 1) AS kind FROM audit
        WHERE action IN ('screening.add', 'ledger.adjust') OR action LIKE 'key.%' ORDER BY 1`
    )
    assert.deepStrictEqual(
      kinds.map(({ kind }) => kind),
      ["apiKey", "ledgerTransaction", "operatorKey", "watchEntry"]
    )
  })

  const timers: ReadonlyArray<readonly [string, () => string, ReadonlyArray<string>]> = [
    ["client", () => String(clientId), ["identification.expiry", "identityCheck.expiry"]],
    ["verificationBlock", () => `${clientId}:IDENTIFICATION`, ["identification.expiry"]],
    ["verificationBlock", () => `${clientId}:IDENTITY_CHECK`, ["identityCheck.expiry"]],
    ["verificationBlock", () => `${clientId}:PEP`, []],
    ["kycPackage", () => String(held.kycPackageId), []],
    ["case", () => String(held.caseId), []],
    ["collateralReport", () => String(reports[0]), []]
  ]
  it.each(timers.map(([kind, id, names], index) => ({ kind, id, names, index })))(
    "D3: $kind ($index) shows the timers $names",
    async ({ kind, id, names }) => {
      const shown = (await inspect(kind, id())).timers.map(({ name }: { readonly name: string }) => name)
      assert.sameMembers(shown, [...names])
    }
  )

  it("D3: an expired block has its own row and its timer is deleted", async () => {
    await advance(service, 32 * dayMillis)
    const stored = `kycPackage:${packageId} kyc.store`
    assert.deepStrictEqual(await historyOf("verificationBlock", `${clientId}:IDENTIFICATION`), [
      stored,
      `verificationBlock:${clientId}:IDENTIFICATION block.expire`
    ])
    assert.deepStrictEqual(await historyOf("verificationBlock", `${clientId}:PEP`), [stored])
    assert.deepStrictEqual((await inspect("verificationBlock", `${clientId}:IDENTIFICATION`)).timers, [])
  })
})
