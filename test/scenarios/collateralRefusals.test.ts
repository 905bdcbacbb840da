/**
 * Every row of the refusal table of collateral reports in its order (for each adjacent pair, a report that violates
 * both gets the earlier refusal), and the source of wealth (doc 3, Collateral report rules; A3-10; F2, F25).
 */
import { assert, describe, it } from "@effect/vitest"
import { collateral, get, onboard, person, rowCounts, rowsOf } from "../support/Builders.ts"
import { type Answer } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, partner, client, fresh, report, cash, restrict, lift } = await openScenario({
  partner: { collateralAsset: "EURD" }
})

describe("collateral refusals", () => {
  describe("refusal table", () => {
    const invalid = { amount: "-1" }
    const told = ({ status, json }: Answer): string =>
      `${status} ${json.code} ${json.data?.status ?? json.data?.missingBlocks ?? json.msg}`

    it("A1-02: an unknown client before custody and fields", async () => {
      const broker = await service.partner({ custody: "BROKER", collateralAsset: "" })
      for (const key of [broker.key, partner.key]) {
        const { status, json } = await collateral(service, key, 999_999, invalid)
        assert.deepStrictEqual([status, json.code], [404, 4004])
      }
    })

    it("BROKER custody before an invalid field: 409 without a row", async () => {
      const broker = await service.partner({ custody: "BROKER", collateralAsset: "" })
      const clientId = await service.client(broker.key)
      const before = await rowCounts(service)
      for (const body of [invalid, { partnerRef: fresh(), direction: "DEPOSIT", amount: "1" }]) {
        const { status, json } = await collateral(service, broker.key, clientId, body)
        assert.deepStrictEqual([status, json.code, json.data], [409, 4092, { reason: "BROKER_CUSTODY" }])
        assert.match(json.msg, /deposit notices and withdrawal requests/)
      }
      assert.deepStrictEqual(await rowCounts(service), before)
      const list = await get(service, broker.key, `/clients/${clientId}/collateral`)
      assert.deepStrictEqual(list.json.data, { reports: [], hasMore: false, nextBefore: null })
    })

    it("an invalid field before the verification gate", async () => {
      const held = (await onboard(service, partner.key, person(900, "held", { "attestation.riskRating": "HIGH" }))).json
        .data
      assert.match(told(await report(held.clientId, invalid)), /^400 4000 The amount/)
    })

    it("SC-ONB-02: the verification gate is 403 4030 with missingBlocks, without a row", async () => {
      const held = (await onboard(service, partner.key, person(901, "held", { "attestation.riskRating": "HIGH" }))).json
        .data
      const before = await rowCounts(service)
      for (const [direction, action] of [
        ["DEPOSIT", "DEPOSIT:CRYPTO"],
        ["WITHDRAWAL", "WITHDRAW:CRYPTO"]
      ]) {
        const { status, json } = await report(held.clientId, { direction })
        assert.deepStrictEqual([status, json.code], [403, 4030])
        assert.deepStrictEqual(json.data, {
          action,
          level: "NONE",
          requiredLevel: "MICA",
          missingBlocks: ["COMPLIANCE_REVIEW"]
        })
      }
      assert.deepStrictEqual(await rowCounts(service), before)
    })

    it("the verification gate before a reference of another client", async () => {
      const held = (await onboard(service, partner.key, person(902, "held", { "attestation.riskRating": "HIGH" }))).json
        .data
      const partnerRef = fresh()
      await report(await client(), { partnerRef })
      assert.strictEqual(told(await report(held.clientId, { partnerRef })), "403 4030 COMPLIANCE_REVIEW")
    })

    it("a reference of another client before a restriction: 409 without a row", async () => {
      const partnerRef = fresh()
      await report(await client(), { partnerRef })
      const clientId = await client()
      await restrict(clientId, "FROZEN")
      const before = await rowCounts(service)
      const { status, json } = await report(clientId, { partnerRef })
      assert.deepStrictEqual([status, json.code, json.data], [409, 4092, { reason: "REFERENCE_REUSED" }])
      assert.match(json.msg, /another client/)
      assert.deepStrictEqual(await rowCounts(service), before)
    })

    it("A3-10: a restriction before the collateral on the books, with a REFUSED row", async () => {
      const clientId = await client()
      await restrict(clientId, "NO_WITHDRAWALS")
      const { status, json } = await report(clientId, { direction: "WITHDRAWAL", amount: "5" })
      const { reportId, report: row, refusal } = json.data
      assert.deepStrictEqual([status, json.code], [409, 4092])
      assert.strictEqual(json.msg, "Withdrawals are restricted on this account.")
      assert.deepStrictEqual(json.data, {
        reason: "WITHDRAWALS_RESTRICTED",
        reportId,
        status: "REFUSED",
        refusal: json.msg,
        report: row
      })
      assert.deepInclude(row, { reportId, status: "REFUSED", refusal, ledgerTxId: null, amount: "5.000000" })
      const list = (await get(service, partner.key, `/clients/${clientId}/collateral`)).json.data.reports
      assert.deepStrictEqual(list, [row])
      assert.strictEqual(await cash(clientId), "0.000000")
    })

    it.each([
      ["NO_WITHDRAWALS", "DEPOSIT", 201],
      ["NO_WITHDRAWALS", "WITHDRAWAL", 409],
      ["FROZEN", "DEPOSIT", 409],
      ["FROZEN", "WITHDRAWAL", 409],
      ["NO_NEW_RISK", "DEPOSIT", 201],
      ["NO_NEW_RISK", "WITHDRAWAL", 201]
    ] as const)("A3-10: %s answers a %s with %s", async (restriction, direction, status) => {
      const clientId = await client()
      await report(clientId, { amount: "5" })
      await restrict(clientId, restriction)
      const answer = await report(clientId, { direction })
      assert.strictEqual(answer.status, status)
      if (status === 409) assert.strictEqual(answer.json.data.status, "REFUSED")
    })

    it("A3-10: restrictions stack, lifting one leaves the other, lifting the last lets money move", async () => {
      const clientId = await client()
      await restrict(clientId, "FROZEN")
      await restrict(clientId, "NO_WITHDRAWALS")
      await lift(clientId, "FROZEN")
      assert.strictEqual((await report(clientId, { amount: "2" })).status, 201)
      assert.strictEqual((await report(clientId, { direction: "WITHDRAWAL" })).status, 409)
      await lift(clientId, "NO_WITHDRAWALS")
      assert.strictEqual((await report(clientId, { direction: "WITHDRAWAL" })).status, 201)
    })

    it("SC-SET-03: more than the collateral on the books is REFUSED and adds no posting", async () => {
      const clientId = await client()
      await report(clientId, { amount: "10" })
      const { status, json } = await report(clientId, { direction: "WITHDRAWAL", amount: "10.000001" })
      assert.deepStrictEqual([status, json.code, json.data.status], [409, 4092, "REFUSED"])
      assert.strictEqual(json.msg, "The withdrawal exceeds the client's collateral on the books.")
      assert.lengthOf(await rowsOf(service, "postings", "client_id = $1", [BigInt(clientId)]), 1)
    })

    it("F2: an amount that leaves 64 bits is a field error, not a defect", async () => {
      const own = await service.partner()
      const clientId = await service.client(own.key)
      const send = (amount: string) =>
        collateral(service, own.key, clientId, { partnerRef: fresh(), direction: "DEPOSIT", amount })
      assert.strictEqual((await send("9223372036854.775808")).status, 400)
      assert.strictEqual((await send("9223372036854.775807")).status, 403)
    })
  })

  describe("source of wealth", () => {
    const gate = (action: string) => ({
      action,
      level: "MICA",
      requiredLevel: "MICA",
      missingBlocks: ["SOURCE_OF_WEALTH"]
    })

    it.each([
      ["in one report", []],
      ["in two", ["14999.999998"]]
    ])("F25: 15000.000000 %s reach the threshold and are stopped, one micro-USDC less passes", async (_, first) => {
      const clientId = await client()
      for (const amount of first) assert.strictEqual((await report(clientId, { amount })).status, 201)
      const rest = first.length === 0 ? "14999.999999" : "0.000001"
      const over = first.length === 0 ? "15000.000000" : "0.000002"
      const before = await rowCounts(service)
      const stopped = await report(clientId, { amount: over })
      assert.deepStrictEqual([stopped.status, stopped.json.data], [403, gate("DEPOSIT:CRYPTO")])
      assert.deepStrictEqual(await rowCounts(service), before)
      assert.strictEqual((await report(clientId, { amount: rest })).status, 201)
      assert.strictEqual((await report(clientId, { amount: "0.000001" })).status, 403)
    })

    it("F25: a withdrawal counts booked deposits alone, and withdrawals do not lower them", async () => {
      const clientId = await client()
      await report(clientId, { amount: "14999.999999" })
      const out = { direction: "WITHDRAWAL", amount: "14999.999999" }
      assert.strictEqual((await report(clientId, out)).status, 201)
      assert.strictEqual((await report(clientId, { amount: "0.000001" })).status, 403)
      const requirements = (await get(service, partner.key, `/clients/${clientId}/verification`)).json.data.requirements
      assert.deepStrictEqual(requirements["WITHDRAW:CRYPTO"], [])
    })

    it("F25: a refused report counts nothing", async () => {
      const clientId = await client()
      await restrict(clientId, "FROZEN")
      assert.strictEqual((await report(clientId, { amount: "14000" })).status, 409)
      await lift(clientId, "FROZEN")
      assert.strictEqual((await report(clientId, { amount: "14999" })).status, 201)
    })
  })
})
