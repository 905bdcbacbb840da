/**
 * Collateral reports of PARTNER custody on the real service: every row of the refusal table in its order, replay,
 * limits, balances and what is written beside a report (document 3, Collateral report rules; D11; A3-01, A3-10,
 * A3-14..A3-16; F25).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  brokenInvariants,
  collateral,
  comply,
  get,
  ofClient,
  onboard,
  person,
  rowCounts,
  rowsOf
} from "../support/Builders.ts"
import { type Answer, operator, type Service, startService } from "../support/Service.ts"

type Body = Readonly<Record<string, unknown>>

describe("collateral", () => {
  let service: Service
  let partner: Awaited<ReturnType<Service["partner"]>>
  let references = 0
  const fresh = () => `ref-${++references}`
  const report = (clientId: number, body: Body = {}): Promise<Answer> =>
    collateral(service, partner.key, clientId, {
      partnerRef: fresh(),
      direction: "DEPOSIT",
      amount: "1.00",
      ...body
    })
  const client = () => service.client(partner.key)
  const cash = async (clientId: number): Promise<string> =>
    (await get(service, partner.key, `/clients/${clientId}/balances`)).json.balances[0].cash
  const restrict = (clientId: number, name: "FROZEN" | "NO_WITHDRAWALS" | "NO_NEW_RISK") =>
    comply(service, (compliance) => compliance.restrict(operator, String(clientId), name, "court order"))
  const lift = (clientId: number, name: "FROZEN" | "NO_WITHDRAWALS") =>
    comply(service, (compliance) => compliance.lift(operator, String(clientId), name, "order withdrawn"))

  beforeAll(async () => {
    service = await startService()
    partner = await service.partner({ collateralAsset: "EURD" })
  })
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service), [])
    await service.stop()
  })

  describe("booking", () => {
    it("SC-SET-01: a deposit answers 201 with exactly the documented members", async () => {
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

  describe("refusal table", () => {
    /** What may be wrong with a report, in the published order; each row knows how its answer is told. */
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
        assert.deepStrictEqual([status, json.code, json.data], [409, 4092, undefined])
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
      assert.deepStrictEqual([status, json.code, json.data], [409, 4092, undefined])
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
      assert.deepStrictEqual(json.data, { reportId, status: "REFUSED", refusal: json.msg, report: row })
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

    it("SC-SET-03: more than the collateral on the books is REFUSED, listed, and moves nothing", async () => {
      const clientId = await client()
      await report(clientId, { amount: "10" })
      const { status, json } = await report(clientId, { direction: "WITHDRAWAL", amount: "10.000001" })
      assert.deepStrictEqual([status, json.code, json.data.status], [409, 4092, "REFUSED"])
      assert.strictEqual(json.msg, "The withdrawal exceeds the client's collateral on the books.")
      assert.strictEqual(await cash(clientId), "10.000000")
      assert.lengthOf(await rowsOf(service, "postings", "client_id = $1", [BigInt(clientId)]), 1)
      assert.strictEqual((await report(clientId, { direction: "WITHDRAWAL", amount: "10" })).status, 201)
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
      ["in two", ["14999.999999"]]
    ])("F25: 15000.000000 %s passes and one micro-USDC more is stopped", async (_, first) => {
      const clientId = await client()
      for (const amount of first) assert.strictEqual((await report(clientId, { amount })).status, 201)
      const rest = first.length === 0 ? "15000.000000" : "0.000001"
      const over = first.length === 0 ? "15000.000001" : "0.000002"
      const before = await rowCounts(service)
      const stopped = await report(clientId, { amount: over })
      assert.deepStrictEqual([stopped.status, stopped.json.data], [403, gate("DEPOSIT:CRYPTO")])
      assert.deepStrictEqual(await rowCounts(service), before)
      assert.strictEqual((await report(clientId, { amount: rest })).status, 201)
      assert.strictEqual((await report(clientId, { amount: "0.000001" })).status, 403)
    })

    it("F25: a withdrawal counts booked deposits alone, and withdrawals do not lower them", async () => {
      const clientId = await client()
      await report(clientId, { amount: "15000" })
      assert.strictEqual((await report(clientId, { direction: "WITHDRAWAL", amount: "15000" })).status, 201)
      assert.strictEqual((await report(clientId, { amount: "0.000001" })).status, 403)
      const requirements = (await get(service, partner.key, `/clients/${clientId}/verification`)).json.data.requirements
      assert.deepStrictEqual(requirements["WITHDRAW:CRYPTO"], [])
    })

    it("F25: a refused report counts nothing", async () => {
      const clientId = await client()
      await restrict(clientId, "FROZEN")
      assert.strictEqual((await report(clientId, { amount: "14000" })).status, 409)
      await lift(clientId, "FROZEN")
      assert.strictEqual((await report(clientId, { amount: "15000" })).status, 201)
    })
  })

  describe("replay", () => {
    it("SC-SET-02: a BOOKED reference answers 200 with the original whatever the new body says", async () => {
      const clientId = await client()
      const partnerRef = fresh()
      const first = await report(clientId, { partnerRef, amount: "7" })
      await report(clientId, { amount: "1" })
      const again = await report(clientId, { partnerRef, direction: "WITHDRAWAL", amount: "3", txRef: "other" })
      assert.strictEqual(again.status, 200)
      assert.deepStrictEqual(again.json.data.report, first.json.data.report)
      assert.strictEqual(await cash(clientId), "8.000000")
    })

    it("SC-SET-02: a REFUSED reference answers its first refusal after the funds have come", async () => {
      const clientId = await client()
      const partnerRef = fresh()
      const first = await report(clientId, { partnerRef, direction: "WITHDRAWAL", amount: "7" })
      await report(clientId, { amount: "100" })
      const again = await report(clientId, { partnerRef, direction: "WITHDRAWAL", amount: "7" })
      assert.deepStrictEqual([again.status, again.text], [409, first.text])
      assert.strictEqual(await cash(clientId), "100.000000")
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

    it("A3-01: eight clients race for one reference; one books, the others are told of another client", async () => {
      const clients = await Promise.all(Array.from({ length: 8 }, client))
      const partnerRef = fresh()
      const answers = await Promise.all(clients.map((clientId) => report(clientId, { partnerRef })))
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, ...Array<number>(7).fill(409)])
      for (const { status, json } of answers) if (status === 409) assert.isUndefined(json.data)
      const booked = await Promise.all(clients.map((clientId) => ofClient(service, "collateralReports", clientId)))
      assert.lengthOf(booked.flat(), 1)
    })
  })
})
