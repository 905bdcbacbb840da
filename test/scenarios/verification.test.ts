/**
 * GET /clients/{clientId}/verification on the real service, from onboarding to rejection (doc 1, Verification view;
 * A1-30, A1-45).
 */
import { assert, describe, it } from "@effect/vitest"
import { comply, get } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, key, onboarded, verificationOf } = await openScenario()

const mica = ["PERSONAL_INFO", "IDENTIFICATION", "TAX_RESIDENCY", "FATCA", "PEP", "DECLARATIONS_MICA", "IDENTITY_CHECK"]
const mifid = ["ACCOUNT_PURPOSE", "EMPLOYMENT_FINANCIAL", "SOURCE_OF_WEALTH", "APPROPRIATENESS", "DECLARATIONS_MIFID"]

describe("verification", () => {
  const requirements = (crypto: ReadonlyArray<string>, spot: ReadonlyArray<string>, all: ReadonlyArray<string>) => ({
    "TRADE:PERP": all,
    "TRADE:SPOT": spot,
    "TRADE:BARRIER": all,
    "TRADE:STAKING": all,
    "DEPOSIT:CRYPTO": crypto,
    "WITHDRAW:CRYPTO": crypto,
    "DEPOSIT:FIAT": [...spot.filter((code) => code !== "COMPLIANCE_REVIEW"), "BANK_ACCOUNT"],
    "WITHDRAW:FIAT": [...spot.filter((code) => code !== "COMPLIANCE_REVIEW"), "BANK_ACCOUNT"]
  })
  const none = {
    version: null,
    outcome: null,
    score: null,
    takenAt: null,
    acknowledgedAt: null,
    retakeAt: null,
    requiresAcknowledgement: null,
    attempt: 0
  }

  it("A1-45: an onboarded client has seven approved and five untouched blocks, in the documented order", async () => {
    const { clientId, clientUid, partnerClientRef, kycPackageId } = await onboarded()
    const { createdAt } = (await get(service, key, `/clients/${clientId}`)).json.data
    const block = (code: string) => ({
      code,
      level: "MICA",
      status: "APPROVED",
      decidedBy: "PARTNER",
      decidedAt: createdAt,
      reason: null,
      updatedAt: createdAt
    })
    const untouched = (code: string) => ({
      code,
      level: "MICA_MIFID",
      status: "NOT_STARTED",
      decidedBy: null,
      decidedAt: null,
      reason: null,
      updatedAt: null
    })
    assert.deepStrictEqual(await verificationOf(clientId), {
      clientId,
      clientUid,
      partnerClientRef,
      level: "MICA",
      lifecycleState: "ACTIVE",
      blocks: [...mica.map(block), ...mifid.map(untouched)],
      requirements: requirements([], [], mifid),
      appropriateness: none,
      kycPackage: { kycPackageId, revision: 1, status: "ACCEPTED", reviewNote: null }
    })
  })

  it("A1-30: a held client lacks the review alone where every block is approved", async () => {
    const { clientId, requirements: told } = await onboarded({ "attestation.riskRating": "HIGH" })
    const held = await verificationOf(clientId)
    assert.deepInclude(held, { level: "NONE", lifecycleState: "KYC_PENDING" })
    assert.deepStrictEqual(held.requirements, requirements(["COMPLIANCE_REVIEW"], ["COMPLIANCE_REVIEW"], mifid))
    assert.deepStrictEqual(told, held.requirements)
    assert.deepInclude(held.kycPackage, { status: "SPOT_CHECK", reviewNote: null })
  })

  it("A1-45: after a rejection all twelve blocks carry the role and the reason, the package its note", async () => {
    const { clientId, kycPackageId } = await onboarded()
    const reason = "The identity session could not be confirmed."
    await comply(service, (compliance) => compliance.reject(operator, String(clientId), reason))
    const rejected = await verificationOf(clientId)
    assert.deepInclude(rejected, { level: "NONE", lifecycleState: "KYC_PENDING" })
    assert.deepStrictEqual(
      rejected.blocks.map((block: { readonly code: string }) => block.code),
      [...mica, ...mifid]
    )
    for (const block of rejected.blocks) {
      assert.deepInclude(block, { status: "REJECTED", decidedBy: "ADMIN", reason })
      assert.isNumber(block.decidedAt)
    }
    assert.deepStrictEqual(rejected.requirements, requirements(mica, mica, [...mica, ...mifid]))
    assert.deepStrictEqual(rejected.kycPackage, { kycPackageId, revision: 1, status: "REJECTED", reviewNote: reason })
  })
})
