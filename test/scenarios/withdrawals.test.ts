/**
 * Withdrawal requests of BROKER custody on the real service: gates in their order, the reserve, finance's decisions,
 * cancelling, replay and races (doc 3, Withdrawal request; D10; A3-01, A3-02, A3-06..A3-08, A3-12). The rules on
 * figures that no account has yet are in test/machines/withdrawalBody.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import { type FinanceRuling, Withdrawals } from "../../src/runtime/services/money/withdrawal/Withdrawals.ts"
import { Effect } from "effect"
import { comply, get, ofClient, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { finance, type Answer, operator, startService } from "../support/Service.ts"
import { broker, openScenario } from "../support/Scenario.ts"

const { service, partner, fresh, adjust, restrict, lift } = await openScenario({ partner: broker })

type Body = Readonly<Record<string, unknown>>

describe("withdrawals", () => {
  const post = (clientId: number, body: Body, key = partner.key, headers: Readonly<Record<string, string>> = {}) =>
    service.call("POST", `/partner/v1/clients/${clientId}/withdrawals`, { key, body, headers })
  const ask = (clientId: number, body: Body = {}, key = partner.key): Promise<Answer> =>
    post(clientId, { partnerRef: fresh(), currency: "USDC", amount: "10", ...body }, key)
  const cancel = (clientId: number, requestId: number | string, key = partner.key) =>
    service.call("POST", `/partner/v1/clients/${clientId}/withdrawals/${requestId}/cancel`, { key })
  const decide = (requestId: number, ruling: FinanceRuling, caller = finance) =>
    service.run(Effect.flatMap(Withdrawals, (withdrawals) => withdrawals.rule(caller, requestId, ruling)))
  const funded = async (amount = "100", currency = "USDC"): Promise<number> => {
    const clientId = await service.client(partner.key)
    await adjust(clientId, amount, currency)
    return clientId
  }
  const balance = async (clientId: number, currency = "USDC", key = partner.key): Promise<ReadonlyArray<string>> => {
    const { balances } = (await get(service, key, `/clients/${clientId}/balances`)).json
    const line = balances.find((row: { readonly currency: string }) => row.currency === currency)
    return [line.cash, line.reserved]
  }
  const told = async (clientId: number): Promise<ReadonlyArray<string>> =>
    (await rowsOf(service, "events", "client_id = $1 AND name = 'withdrawal.status'", [BigInt(clientId)])).map(
      ({ data }) => String(data["status"])
    )

  describe("the path of a request", () => {
    it("SC-CUS-03: three events, and each step's postings under a key of its own", async () => {
      const clientId = await funded()
      const { requestId } = (await ask(clientId, { amount: "40.5" })).json.data
      await decide(requestId, { to: "APPROVED" })
      const paid = await decide(requestId, { to: "PAID" })
      assert.deepStrictEqual(await told(clientId), ["REQUESTED", "APPROVED", "PAID"])
      const posted = await query(
        service,
        `SELECT t.key, t.type, p.account, p.kind, p.amount FROM ledger_transactions t JOIN postings p USING (tx_id)
          WHERE t.key LIKE 'withdrawal:' || $1 || ':%' ORDER BY p.posting_id`,
        [String(requestId)]
      )
      const own = `client:${clientId}`
      assert.deepStrictEqual(
        posted.map(({ key, type, account, kind, amount }) => [key, type, account, kind, Number(amount)]),
        [
          [`withdrawal:${requestId}:reserve`, "WITHDRAWAL_RESERVE", own, "cash", -40_500_000],
          [`withdrawal:${requestId}:reserve`, "WITHDRAWAL_RESERVE", own, "reserved", 40_500_000],
          [`withdrawal:${requestId}:out`, "WITHDRAWAL", own, "reserved", -40_500_000],
          [`withdrawal:${requestId}:out`, "WITHDRAWAL", "transit", "cash", 40_500_000]
        ]
      )
      const [tx] = await rowsOf(service, "ledgerTransactions", "key = $1", [`withdrawal:${requestId}:out`])
      assert.isTrue(paid.ok && paid.value.ledgerTxId === tx?.txId)
    })

    it("D10: rejected, the reserve is cash again; nothing can follow", async () => {
      const clientId = await funded()
      const { requestId } = (await ask(clientId)).json.data
      const rejected = await decide(requestId, { to: "REJECTED", reason: "no such account" })
      assert.isTrue(rejected.ok && rejected.value.decisionNote === "no such account")
      assert.deepStrictEqual(await balance(clientId), ["100.000000", "0.000000"])
      for (const ruling of [{ to: "APPROVED" }, { to: "PAID" }, { to: "FAILED", reason: "r" }] as const) {
        const late = await decide(requestId, ruling)
        assert.isTrue(!late.ok && late.refusal._tag === "Conflict")
      }
      assert.deepStrictEqual(await told(clientId), ["REQUESTED", "REJECTED"])
    })

    it("D10: refused by the bank after the approval, the amount returns under a key of its own", async () => {
      const clientId = await funded()
      const { requestId } = (await ask(clientId)).json.data
      await decide(requestId, { to: "APPROVED" })
      const failed = await decide(requestId, { to: "FAILED", reason: "account closed" })
      assert.isTrue(failed.ok && failed.value.status === "REJECTED" && failed.value.decisionNote === "account closed")
      assert.deepStrictEqual(await balance(clientId), ["100.000000", "0.000000"])
      const keys = await rowsOf(service, "ledgerTransactions", "client_id = $1 AND type = 'WITHDRAWAL'", [
        BigInt(clientId)
      ])
      assert.deepStrictEqual(
        keys.map(({ key, reason }) => [key, reason]),
        [
          [`withdrawal:${requestId}:out`, null],
          [`withdrawal:${requestId}:fail`, "account closed"]
        ]
      )
      assert.deepStrictEqual(await told(clientId), ["REQUESTED", "APPROVED", "REJECTED"])
    })

    it("F25: lifetime deposits do not change with withdrawals", async () => {
      const clientId = await funded()
      const { requestId } = (await ask(clientId)).json.data
      await decide(requestId, { to: "APPROVED" })
      const rows = await ofClient(service, "balances", clientId)
      assert.deepStrictEqual(
        rows.map(({ deposited }) => deposited),
        [0n]
      )
    })

    it("D10: every step is on the client's audit stream with who took it", async () => {
      const clientId = await funded()
      const { requestId } = (await ask(clientId)).json.data
      await decide(requestId, { to: "APPROVED" })
      await decide(requestId, { to: "PAID" })
      const audit = await rowsOf(service, "audit", "object = $1", [`withdrawalRequest:${requestId}`])
      assert.deepStrictEqual(
        audit.map(({ action, role, before, after }) => [action, role, before, after]),
        [
          ["withdrawal.request", "PARTNER", null, "REQUESTED"],
          ["withdrawal.approve", "FINANCE", "REQUESTED", "APPROVED"],
          ["withdrawal.pay", "FINANCE", "APPROVED", "PAID"]
        ]
      )
    })
  })

  describe("gates", () => {
    it("SC-CUS-10, A3-02: custody is checked before the fields and writes no row; the lists stay readable", async () => {
      const other = await service.partner({ custody: "PARTNER" })
      const clientId = await service.client(other.key)
      const before = await rowCounts(service)
      const refused = await post(clientId, { amount: 5 }, other.key)
      assert.deepStrictEqual([refused.status, refused.json.code], [409, 4092])
      const cancelled = await cancel(clientId, 1, other.key)
      assert.deepStrictEqual([cancelled.status, cancelled.json.code], [409, 4092])
      assert.deepStrictEqual(await rowCounts(service), before)
      assert.deepStrictEqual((await get(service, other.key, "/withdrawals")).json.data.withdrawals, [])
    })

    it("SC-CUS-04: a request beyond the cash writes no row", async () => {
      const clientId = await funded()
      const before = await rowCounts(service)
      assert.strictEqual((await ask(clientId, { amount: "100.000001" })).status, 400)
      assert.strictEqual((await ask(clientId, { currency: "BTC" })).status, 400)
      assert.deepStrictEqual(await rowCounts(service), before)
    })

    it("A3-08: cash of another currency pays out in its own scale", async () => {
      const clientId = await funded("0.5", "BTC")
      assert.strictEqual((await ask(clientId, { currency: "BTC", amount: "0.50000000" })).status, 201)
      assert.deepStrictEqual(await balance(clientId, "BTC"), ["0.00000000", "0.50000000"])
    })

    it("A3-02, SC-CUS-12: fields, reference, verification, restriction, economics, in this order", async () => {
      const clientId = await funded()
      const own = { partnerRef: fresh(), currency: "USDC", amount: "1" }
      const first = await post(clientId, own)
      await restrict(clientId, "NO_WITHDRAWALS")
      assert.strictEqual((await ask(clientId, { amount: "900" })).status, 409)
      await lift(clientId, "NO_WITHDRAWALS")
      await restrict(clientId, "FROZEN")
      assert.strictEqual((await ask(clientId, { amount: "900" })).status, 409)
      await comply(service, (compliance) => compliance.reject(operator, String(clientId), "Documents are missing."))
      const unverified = await ask(clientId, { amount: "900" })
      assert.deepStrictEqual([unverified.status, unverified.json.code], [403, 4030])
      const foreign = await funded()
      const used = await post(foreign, { ...own, amount: "900" })
      assert.deepStrictEqual([used.status, used.json.code], [409, 4092])
      assert.strictEqual((await post(clientId, { ...own, amount: "x" })).status, 400)
      const again = await post(clientId, { ...own, amount: "900" })
      assert.deepStrictEqual([again.status, again.json.data], [200, first.json.data])
    })

    it("A1-02: an unknown or foreign client is 404 before the fields", async () => {
      const other = await service.partner(broker)
      const clientId = await funded()
      assert.strictEqual((await post(clientId, {}, other.key)).status, 404)
      assert.strictEqual((await get(service, other.key, `/clients/${clientId}/withdrawals?limit=x`)).status, 404)
      assert.strictEqual((await get(service, partner.key, `/clients/${clientId}/withdrawals?status=OPEN`)).status, 400)
    })
  })

  describe("finance's approval runs the gate again", () => {
    it("SC-CUS-06: under a restriction the request stays REQUESTED with its reserve, without an event", async () => {
      const clientId = await funded()
      const { requestId } = (await ask(clientId)).json.data
      await restrict(clientId, "NO_WITHDRAWALS")
      const before = await rowCounts(service)
      const stopped = await decide(requestId, { to: "APPROVED" })
      assert.isTrue(!stopped.ok && stopped.refusal._tag === "Conflict")
      assert.deepStrictEqual(await rowCounts(service), before)
      assert.deepStrictEqual(await balance(clientId), ["90.000000", "10.000000"])
      await lift(clientId, "NO_WITHDRAWALS")
      assert.isTrue((await decide(requestId, { to: "APPROVED" })).ok)
      assert.deepStrictEqual(await told(clientId), ["REQUESTED", "APPROVED"])
    })

    it("D10: rejecting needs no gate", async () => {
      const clientId = await funded()
      const { requestId } = (await ask(clientId)).json.data
      await restrict(clientId, "FROZEN")
      assert.isTrue((await decide(requestId, { to: "REJECTED", reason: "frozen" })).ok)
      assert.deepStrictEqual(await balance(clientId), ["100.000000", "0.000000"])
    })
  })

  describe("cancelling", () => {
    it("A3-12: REQUESTED is cancelled, CANCELLED and REJECTED are answered as decided, APPROVED and PAID refused", async () => {
      const clientId = await funded()
      const first = (await ask(clientId)).json.data
      const done = await cancel(clientId, first.requestId)
      assert.deepStrictEqual([done.status, done.json.data.alreadyDecided], [200, false])
      assert.deepInclude(done.json.data.request, { status: "CANCELLED", decidedBy: "PARTNER", ledgerTxId: null })
      assert.deepStrictEqual(await balance(clientId), ["100.000000", "0.000000"])
      const again = await cancel(clientId, first.requestId)
      assert.deepStrictEqual(
        [again.status, again.json.data],
        [200, { request: done.json.data.request, alreadyDecided: true }]
      )
      const second = (await ask(clientId)).json.data
      await decide(second.requestId, { to: "REJECTED", reason: "r" })
      assert.strictEqual((await cancel(clientId, second.requestId)).json.data.alreadyDecided, true)
      const third = (await ask(clientId)).json.data
      await decide(third.requestId, { to: "APPROVED" })
      assert.strictEqual((await cancel(clientId, third.requestId)).status, 409)
      await decide(third.requestId, { to: "PAID" })
      assert.strictEqual((await cancel(clientId, third.requestId)).status, 409)
    })

    it("doc 3, Endpoints: another client's or partner's request is unknown, and so is none", async () => {
      const clientId = await funded()
      const { requestId } = (await ask(clientId)).json.data
      const other = await service.partner(broker)
      const second = await funded()
      assert.strictEqual((await cancel(second, requestId)).status, 404)
      // The request is looked up before the body is validated (A1-02).
      const unread = `/partner/v1/clients/${second}/withdrawals/${requestId}/cancel`
      assert.strictEqual((await service.call("POST", unread, { key: partner.key, raw: "{" })).status, 404)
      assert.strictEqual((await cancel(clientId, requestId, other.key)).status, 404)
      for (const id of ["999999999", "0", "x"]) assert.strictEqual((await cancel(clientId, id)).status, 404)
      assert.deepStrictEqual(await told(clientId), ["REQUESTED"])
    })

    it("SC-CUS-07: cancel and approve together: exactly one wins, twenty times", async () => {
      const clientId = await funded()
      for (let n = 0; n < 20; n++) {
        const { requestId } = (await ask(clientId, { amount: "1" })).json.data
        const [approved, cancelled] = await Promise.all([
          decide(requestId, { to: "APPROVED" }),
          cancel(clientId, requestId)
        ])
        assert.notStrictEqual(approved.ok, cancelled.status === 200)
        assert.strictEqual(cancelled.status, approved.ok ? 409 : 200)
      }
      assert.deepStrictEqual((await balance(clientId))[1], "0.000000")
    })
  })

  describe("references and keys", () => {
    it("A3-01: the original answers 200 for any new body, in its present state", async () => {
      const clientId = await funded()
      const partnerRef = fresh()
      const first = await ask(clientId, { partnerRef, destination: { a: 1 } })
      await decide(first.json.data.requestId, { to: "REJECTED", reason: "r" })
      const again = await ask(clientId, { partnerRef, amount: "3", currency: "EUR" })
      assert.strictEqual(again.status, 200)
      assert.deepInclude(again.json.data, { requestId: first.json.data.requestId, status: "REJECTED" })
      assert.deepStrictEqual(again.json.data.destination, { a: 1 })
    })

    it("A3-01: ten filings of one reference for all the money reserve it once, and each gets the request", async () => {
      const clientId = await funded()
      const partnerRef = fresh()
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask(clientId, { partnerRef, amount: "100" })))
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [...Array<number>(9).fill(200), 201])
      assert.strictEqual(new Set(answers.map(({ json }) => json.data.requestId)).size, 1)
      assert.deepStrictEqual(await balance(clientId), ["0.000000", "100.000000"])
    })

    it("A1-52: a keyed request and a keyed cancel are replayed byte for byte and run once", async () => {
      const clientId = await funded()
      const headers = { "idempotency-key": fresh() }
      const body = { partnerRef: fresh(), currency: "USDC", amount: "10" }
      const [one, two] = await Promise.all([
        post(clientId, body, partner.key, headers),
        post(clientId, body, partner.key, headers)
      ])
      assert.deepStrictEqual([one.status, two.status, two.text], [201, 201, one.text])
      const path = `/partner/v1/clients/${clientId}/withdrawals/${one.json.data.requestId}/cancel`
      const keyed = () =>
        service.call("POST", path, {
          key: partner.key,
          headers: { "idempotency-key": `${headers["idempotency-key"]}c` }
        })
      const first = await keyed()
      const second = await keyed()
      assert.strictEqual(first.json.data.alreadyDecided, false)
      assert.deepStrictEqual([second.text, second.headers["idempotency-replayed"]], [first.text, "true"])
    })

    it("doc 3, Endpoints: lists of a client and of the partner, by status, in pages", async () => {
      const clientId = await funded()
      for (let n = 0; n < 3; n++) await ask(clientId, { amount: "1" })
      const list = async (path: string) => (await get(service, partner.key, path)).json.data
      const page = await list(`/clients/${clientId}/withdrawals?limit=2`)
      assert.deepStrictEqual([page.withdrawals.length, page.hasMore], [2, true])
      const rest = await list(`/clients/${clientId}/withdrawals?limit=2&before=${page.nextBefore}`)
      assert.deepStrictEqual([rest.withdrawals.length, rest.hasMore, rest.nextBefore], [1, false, null])
      assert.deepStrictEqual((await list(`/clients/${clientId}/withdrawals?status=PAID`)).withdrawals, [])
      const whole = await list("/withdrawals?status=REQUESTED&limit=3")
      assert.strictEqual(whole.withdrawals[0].requestId, page.withdrawals[0].requestId)
      assert.isAtLeast((await get(service, partner.key, "/summary")).json.data.pendingWithdrawals, 3)
    })
  })

  it("D10: a hundred racing withdrawals on one balance never take it below zero, and the sums are right", async () => {
    const clientId = await funded("30")
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(clientId, { amount: "1" })))
    assert.strictEqual(answers.filter(({ status }) => status === 201).length, 30)
    assert.strictEqual(answers.filter(({ status }) => status === 400).length, 70)
    assert.deepStrictEqual(await balance(clientId), ["0.000000", "30.000000"])
    const rows = await ofClient(service, "withdrawalRequests", clientId)
    assert.strictEqual(
      rows.reduce((sum, { amount }) => sum + amount, 0n),
      30_000_000n
    )
  })

  it("doc 3, Endpoints: a destination is stored and answered as its text was written", async () => {
    const clientId = await funded()
    const send = (number: string) =>
      service.call("POST", `/partner/v1/clients/${clientId}/withdrawals`, {
        key: partner.key,
        raw: `{"partnerRef":"${fresh()}","currency":"USDC","amount":"1","destination":{"account":${number}}}`
      })
    for (const number of [
      "12345678901234567890",
      "1.10",
      "-0",
      '[1e3,{"iban":1.0}]',
      '{"b":1,"2":"\\u00fc","1":""}',
      "42"
    ]) {
      const written = `"destination":{"account":${number}}`
      const { status, text, json } = await send(number)
      assert.deepStrictEqual([status, text.includes(written)], [201, true], text)
      const listed = await get(service, partner.key, `/clients/${clientId}/withdrawals?limit=1`)
      assert.include(listed.text, written)
      const cancelled = await cancel(clientId, json.data.requestId)
      assert.include(cancelled.text, written)
    }
  })

  it("architecture, At rest: the destination is nowhere readable but in answers", async () => {
    const clientId = await funded()
    const mark = "ZqDestinationMark"
    const { requestId } = (await ask(clientId, { destination: { iban: mark } })).json.data
    await decide(requestId, { to: "APPROVED" })
    const [row] = await query(
      service,
      `SELECT (w::text || coalesce((SELECT string_agg(a::text, '') FROM audit a), '')
               || coalesce((SELECT string_agg(e::text, '') FROM events e), '')) AS text
         FROM withdrawal_requests w WHERE id = $1`,
      [BigInt(requestId)]
    )
    assert.notInclude(String(row?.["text"]), mark)
    assert.notInclude(String(row?.["text"]), Buffer.from(mark).toString("hex"))
    const [stored] = await rowsOf(service, "withdrawalRequests", "id = $1", [BigInt(requestId)])
    assert.deepStrictEqual(stored?.destination, JSON.stringify({ iban: mark }))
  })

  describe("sandbox", () => {
    it("SC-CUS-11: PAID inside the POST with its events in their order; a repeat and a race pay once", async () => {
      const sandbox = await service.partner({ ...broker, sandbox: true })
      const clientId = await service.client(sandbox.key)
      await adjust(clientId, "100")
      const { status, json } = await ask(clientId, {}, sandbox.key)
      assert.strictEqual(status, 201)
      assert.deepInclude(json.data, { status: "PAID", decidedBy: "PARTNER" })
      assert.deepStrictEqual(await told(clientId), ["REQUESTED", "APPROVED", "PAID"])
      const replay = await ask(clientId, { partnerRef: json.data.partnerRef }, sandbox.key)
      assert.deepStrictEqual([replay.status, replay.json.data], [200, json.data])
      const races = await Promise.all(
        Array.from({ length: 6 }, () => ask(clientId, { partnerRef: "all", amount: "90" }, sandbox.key))
      )
      assert.deepStrictEqual(races.map((answer) => answer.status).sort(), [200, 200, 200, 200, 200, 201])
      assert.deepStrictEqual(await balance(clientId, "USDC", sandbox.key), ["0.000000", "0.000000"])
    })
  })
})

describe("withdrawals after a start", () => {
  it("A3-08, SC-CUS-05: an account in close-out pays nothing out, in no currency", async () => {
    const first = await startService()
    const { key, partnerId } = await first.partner(broker)
    const clientId = await first.client(key)
    const cash = "INSERT INTO balances (client_id, currency, partner_id, cash, reserved, deposited) VALUES"
    await query(first, `${cash} ($1, 'USDC', $2, -1, 0, 0), ($1, 'BTC', $2, 100000000, 0, 0)`, [
      BigInt(clientId),
      BigInt(partnerId)
    ])
    const second = await startService({ database: first.database })
    const refused = await second.call("POST", `/partner/v1/clients/${clientId}/withdrawals`, {
      key,
      body: { partnerRef: "w-1", currency: "BTC", amount: "0.1" }
    })
    assert.strictEqual(refused.status, 400)
    assert.include(refused.json.msg, "short of margin for its open positions")
    await second.stop()
    await first.stop()
  })
})
