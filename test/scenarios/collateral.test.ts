/**
 * Collateral reports of PARTNER custody on the real service: booking, balances, fields, replay and further written rows
 * (doc 3, Collateral report rules; D11; A3-01, A3-14..A3-16). The refusal table is in collateralRefusals.test.ts.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { collateral, comply, ofClient, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { operator } from "../support/Service.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, partner, client, fresh, report, cash, restrict } = await openScenario({
  partner: { collateralAsset: "EURD" }
})

describe("collateral", () => {
  describe("booking", () => {
    it("SC-SET-01: the answer to a deposit and its ledger transaction have exactly the documented members", async () => {
      const clientId = await client()
      const occurredAt = Date.now() - 60_000
      const body = {
        partnerRef: fresh(),
        direction: "DEPOSIT",
        amount: "12.5",
        sourceAsset: "DAI",
        txRef: "0xabc",
        occurredAt
      }
      const { status, json } = await report(clientId, body)
      const { reportId, ledgerTxId, report: row } = json.data
      assert.strictEqual(status, 201)
      assert.deepStrictEqual(json, {
        code: 0,
        data: {
          reportId,
          status: "BOOKED",
          ledgerTxId,
          balances: { cash: "12.500000", reserved: "0.000000", free: "12.500000", freeMargin: "12.500000" },
          report: {
            reportId,
            partnerId: partner.partnerId,
            clientId,
            clientUid: `${partner.code}-${String(clientId).padStart(8, "0")}`,
            currency: "USDC",
            ...body,
            amount: "12.500000",
            status: "BOOKED",
            refusal: "",
            ledgerTxId,
            createdAt: row.createdAt
          }
        }
      })
      const [tx] = await rowsOf(service, "ledgerTransactions", "tx_id = $1", [BigInt(ledgerTxId)])
      const { partnerRef, direction, sourceAsset, txRef } = body
      assert.deepStrictEqual(tx, {
        txId: ledgerTxId,
        key: `collateral:${reportId}`,
        type: "PARTNER_COLLATERAL_IN",
        actor: `partner:${partner.code}`,
        reason: null,
        clientId,
        partnerId: partner.partnerId,
        refs: { partnerId: partner.partnerId, reportId, partnerRef, sourceAsset, txRef, direction, occurredAt },
        ts: row.createdAt
      })
    })

    it("Collateral report: the defaults are the partner's asset, no txRef and the moment of receipt", async () => {
      const clientId = await client()
      const sentAt = Date.now()
      const { report: row } = (await report(clientId, { txRef: " ", sourceAsset: null, currency: "USDC" })).json.data
      assert.deepInclude(row, { sourceAsset: "EURD", txRef: null })
      assert.isTrue(sentAt <= row.occurredAt && row.occurredAt <= row.createdAt)
    })

    it("A3-16: deposits and withdrawals add up to the last micro-USDC, under the lock", async () => {
      const clientId = await client()
      const moves = [
        ["DEPOSIT", "0.000001", "0.000001"],
        ["DEPOSIT", "9999.999999", "10000.000000"],
        ["WITHDRAWAL", "0.000001", "9999.999999"],
        ["WITHDRAWAL", "9999", "0.999999"],
        ["WITHDRAWAL", "0.999999", "0.000000"],
        ["DEPOSIT", "3.10", "3.100000"]
      ] as const
      for (const [direction, amount, after] of moves) {
        const { status, json } = await report(clientId, { direction, amount })
        assert.strictEqual(status, 201)
        assert.deepStrictEqual(json.data.balances, {
          cash: after,
          reserved: "0.000000",
          free: after,
          freeMargin: after
        })
        assert.strictEqual(await cash(clientId), after)
      }
    })

    it("D11: forty reports at once book forty times and no withdrawal overdraws", async () => {
      const clientId = await client()
      await report(clientId, { amount: "10" })
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => report(clientId, { direction: "WITHDRAWAL", amount: "1" }))
      )
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 10)
      assert.strictEqual(answers.filter(({ status }) => status === 409).length, 30)
      assert.strictEqual(await cash(clientId), "0.000000")
    })

    it("Collateral report rules: the house account is minus the collateral held", async () => {
      const own = await service.partner()
      const clientId = await service.client(own.key)
      for (const [direction, amount] of [
        ["DEPOSIT", "30"],
        ["WITHDRAWAL", "4"]
      ]) {
        await collateral(service, own.key, clientId, { partnerRef: fresh(), direction, amount })
      }
      const postings = await rowsOf(service, "postings", "partner_id = $1", [BigInt(own.partnerId)])
      const house = postings.filter((posting) => posting.account === `partner_custody:${own.partnerId}`)
      assert.deepStrictEqual(
        house.map((posting) => posting.amount),
        [-30_000_000n, 4_000_000n]
      )
    })

    it("Collateral report rules: both outcomes are on the client's and the partner's audit stream", async () => {
      const clientId = await client()
      await report(clientId)
      await report(clientId, { direction: "WITHDRAWAL", amount: "2" })
      const audit = await rowsOf(service, "audit", "client_id = $1 AND action = 'collateral.report'", [
        BigInt(clientId)
      ])
      assert.deepStrictEqual(
        audit.map(({ partnerId, role, before, after, reason }) => ({ partnerId, role, before, after, reason })),
        [
          { partnerId: partner.partnerId, role: "PARTNER", before: null, after: "BOOKED", reason: null },
          {
            partnerId: partner.partnerId,
            role: "PARTNER",
            before: null,
            after: "REFUSED",
            reason: "The withdrawal exceeds the client's collateral on the books."
          }
        ]
      )
    })
  })

  describe("fields", () => {
    let clientId: number
    beforeAll(async () => {
      clientId = await client()
    })

    it.each([
      ["partnerRef missing", { partnerRef: undefined }, "partnerRef"],
      ["partnerRef empty", { partnerRef: " \u00a0" }, "partnerRef"],
      ["partnerRef of 65 characters", { partnerRef: "r".repeat(65) }, "partnerRef"],
      ["partnerRef with a line break", { partnerRef: "a\nb" }, "partnerRef"],
      ["direction missing", { direction: undefined }, "direction"],
      ["direction in lower case", { direction: "deposit" }, "direction"],
      ["another currency", { currency: "EUR" }, "currency"],
      ["the currency in lower case", { currency: "usdc" }, "currency"],
      ["amount missing", { amount: undefined }, "amount"],
      ["amount zero", { amount: "0.000000" }, "amount"],
      ["seven places", { amount: "1.0000000" }, "amount"],
      ["sourceAsset of 33 characters", { sourceAsset: "s".repeat(33) }, "sourceAsset"],
      ["txRef of 129 characters", { txRef: "t".repeat(129) }, "txRef"],
      ["occurredAt beyond the skew", { occurredAt: Date.now() + 6 * 60_000 }, "occurredAt"],
      ["occurredAt zero", { occurredAt: 0 }, "occurredAt"],
      ["occurredAt as text", { occurredAt: "1700000000000" }, "occurredAt"],
      ["occurredAt as a fraction", { occurredAt: 1.5 }, "occurredAt"]
    ])("Refusal rules: %s is 400 without a row", async (_, body, field) => {
      const before = await rowCounts(service)
      const { status, json } = await report(clientId, body)
      assert.deepStrictEqual([status, json.code, Object.keys(json.data.errors)], [400, 4000, [field]])
      assert.deepStrictEqual([json.msg, json.error], [json.data.errors[field], json.msg])
      assert.deepStrictEqual(await rowCounts(service), before)
    })

    it.each([
      ["partnerRef of 64 characters beyond the basic plane", { partnerRef: "😀".repeat(64) }],
      ["sourceAsset of 32", { sourceAsset: "s".repeat(32) }],
      ["txRef of 128", { txRef: "t".repeat(128) }],
      ["six places", { amount: "0.000001" }],
      ["occurredAt 1", { occurredAt: 1 }]
    ])("Limits: %s is accepted", async (_, body) => {
      assert.strictEqual((await report(clientId, body)).status, 201)
    })

    it("A3-15: occurredAt up to five minutes ahead is stored as sent", async () => {
      const occurredAt = Date.now() + 5 * 60_000 - 2_000
      const { status, json } = await report(clientId, { occurredAt })
      assert.deepStrictEqual([status, json.data.report.occurredAt], [201, occurredAt])
    })
  })

  describe("replay", () => {
    it("SC-SET-02: a BOOKED reference answers its first bytes to any body, also of a report that kept no balances", async () => {
      const clientId = await client()
      const partnerRef = fresh()
      await report(clientId, { amount: "0.5" })
      const first = await report(clientId, { partnerRef, amount: "7" })
      for (let more = 0; more < 3; more++) await report(clientId, { direction: "WITHDRAWAL", amount: "1" })
      const booked = { cash: "7.500000", reserved: "0.000000", free: "7.500000", freeMargin: "7.500000" }
      assert.deepStrictEqual(first.json.data.balances, booked)
      const other = { partnerRef, direction: "WITHDRAWAL", amount: "3", txRef: "other" }
      const again = await report(clientId, other)
      assert.deepStrictEqual([again.status, again.text], [200, first.text])
      // The row as version 1 wrote it.
      await query(
        service,
        `UPDATE collateral_reports SET version = '1', context = (context::jsonb
           - '{cashAfter,reservedAfter,freeAfter,freeMarginAfter}'::text[])::json WHERE client_id = $1`,
        [BigInt(clientId)]
      )
      const older = await report(clientId, other)
      assert.deepStrictEqual([older.status, older.text], [200, first.text])
      assert.strictEqual(await cash(clientId), "4.500000")
    })

    it("SC-SET-02: a REFUSED reference answers the bytes of its first refusal after the funds have arrived", async () => {
      const clientId = await client()
      const partnerRef = fresh()
      const first = await report(clientId, { partnerRef, direction: "WITHDRAWAL", amount: "7" })
      await report(clientId, { amount: "100" })
      const again = await report(clientId, { partnerRef, direction: "WITHDRAWAL", amount: "7" })
      assert.deepStrictEqual([again.status, again.text], [409, first.text])
    })

    it("A3-14: an own reference replays before verification and restrictions, after the fields", async () => {
      const clientId = await client()
      const partnerRef = fresh()
      const first = await report(clientId, { partnerRef, amount: "7" })
      await restrict(clientId, "FROZEN")
      const frozen = await report(clientId, { partnerRef, amount: "7" })
      assert.deepStrictEqual([frozen.status, frozen.json.data.report], [200, first.json.data.report])
      await comply(service, (compliance) => compliance.reject(operator, String(clientId), "Documents are missing."))
      const rejected = await report(clientId, { partnerRef, amount: "7" })
      assert.deepStrictEqual([rejected.status, rejected.json.data.report], [200, first.json.data.report])
      assert.strictEqual((await report(clientId, { partnerRef, amount: "x" })).status, 400)
      const other = await report(clientId)
      assert.deepStrictEqual([other.status, other.json.code], [403, 4030])
    })

    it("A3-01: references are trimmed, NFC and case-sensitive, and each partner has its own", async () => {
      const clientId = await client()
      const first = await report(clientId, { partnerRef: "Cafe\u0301" })
      const again = await report(clientId, { partnerRef: " Café\u00a0" })
      assert.deepStrictEqual([first.status, again.status], [201, 200])
      assert.strictEqual((await report(clientId, { partnerRef: "CAFÉ" })).status, 201)
      const own = await service.partner()
      const foreign = await service.client(own.key)
      const body = { partnerRef: "Café", direction: "DEPOSIT", amount: "1" }
      assert.strictEqual((await collateral(service, own.key, foreign, body)).status, 201)
    })

    it("A3-01: eight clients race for one reference; one books, the others are answered with another client", async () => {
      const clients = await Promise.all(Array.from({ length: 8 }, client))
      const partnerRef = fresh()
      const answers = await Promise.all(clients.map((clientId) => report(clientId, { partnerRef })))
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, ...Array<number>(7).fill(409)])
      for (const { status, json } of answers)
        if (status === 409) assert.deepStrictEqual(json.data, { reason: "REFERENCE_REUSED" })
      const booked = await Promise.all(clients.map((clientId) => ofClient(service, "collateralReports", clientId)))
      assert.lengthOf(booked.flat(), 1)
    })
  })
})
