/**
 * Deposit notices of BROKER custody on the real service: filing, gates in their order, replay, lists, finance's
 * decision and further written rows (doc 3, Deposit notice and Money write gates; D9; A3-01..A3-06; F25).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { DepositNotice } from "../../src/machines/deposit/DepositNotice.ts"
import { type Currency, currencyCodes, scaleOf } from "../../src/machines/shared/Currency.ts"
import type { Verdict } from "../../src/machines/shared/Refusal.ts"
import { Deposits } from "../../src/runtime/services/money/deposit/Deposits.ts"
import { Lifecycle } from "../../src/runtime/services/lifecycle/Lifecycle.ts"
import { get, ofClient, onboard, partners, person, query, rowCounts, rowsOf } from "../support/Builders.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { finance, type Answer, operator, type Service } from "../support/Service.ts"
import { broker, openScenario } from "../support/Scenario.ts"

const { service, partner, fresh, restrict, lift } = await openScenario({ partner: broker })
const sandbox = await service.partner({ ...broker, sandbox: true })

type Body = Readonly<Record<string, unknown>>
type Partner = Awaited<ReturnType<Service["partner"]>>

describe("deposits", () => {
  const file = (clientId: number, body: Body = {}, of: Partner = partner, headers: Record<string, string> = {}) =>
    service.call("POST", `/partner/v1/clients/${clientId}/deposits`, {
      key: of.key,
      body: { partnerRef: fresh(), currency: "USDC", amount: "1.00", ...body },
      headers
    })
  const filed = async (clientId: number, body: Body = {}, of: Partner = partner): Promise<DepositNotice> => {
    const answer = await file(clientId, body, of)
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json.data
  }
  const client = (of: Partner = partner) => service.client(of.key)
  const confirm = (noticeId: number, note: string | null = null) =>
    service.run(Deposits.use((deposits) => deposits.confirm(finance, noticeId, note)))
  const reject = (noticeId: number, reason = "no such transfer") =>
    service.run(Deposits.use((deposits) => deposits.reject(finance, noticeId, reason)))
  const balance = async (clientId: number, currency: string = "USDC", of: Partner = partner): Promise<string> =>
    (await get(service, of.key, `/clients/${clientId}/balances`)).json.balances.find(
      (line: { readonly currency: string }) => line.currency === currency
    )?.cash
  const close = (clientId: number) =>
    service.run(
      Effect.provide(
        Lifecycle.use((lifecycle) => lifecycle.close(operator, String(clientId), "asked by the client")),
        Lifecycle.layer
      )
    )
  const approveWealth = (clientId: number, of: Partner = partner) =>
    service.call("PUT", `/partner/v1/clients/${clientId}/mifid`, { key: of.key, body: sampleMifid() })
  const told = async (answer: Promise<Answer>) => {
    const { status, json } = await answer
    return [status, json.code, json.msg]
  }

  describe("filing", () => {
    it("Deposit notice: 201 PENDING with exactly the documented members, and no money moves", async () => {
      const clientId = await client()
      const body = { partnerRef: fresh(), currency: "EUR", amount: "12.5", method: "CRYPTO", evidenceRef: "bank-1" }
      const { status, json } = await file(clientId, body)
      const { noticeId, createdAt } = json.data
      assert.strictEqual(status, 201)
      assert.deepStrictEqual(json, {
        code: 0,
        data: {
          noticeId,
          partnerId: partner.partnerId,
          clientId,
          clientUid: `${partner.code}-${String(clientId).padStart(8, "0")}`,
          ...body,
          amount: "12.50",
          status: "PENDING",
          createdAt,
          decidedBy: null,
          decidedAt: null,
          decisionNote: null,
          ledgerTxId: null
        }
      })
      assert.deepStrictEqual(await ofClient(service, "postings", clientId), [])
      assert.deepStrictEqual(
        (await ofClient(service, "events", clientId)).filter(({ name }) => name.startsWith("deposit")),
        []
      )
      const audit = await rowsOf(service, "audit", "object = $1", [`depositNotice:${noticeId}`])
      assert.deepStrictEqual(
        audit.map(({ partnerId, clientId: of, role, action, before, after }) => [
          partnerId,
          of,
          role,
          action,
          before,
          after
        ]),
        [[partner.partnerId, clientId, "PARTNER", "deposit.file", null, "PENDING"]]
      )
    })

    it.each(currencyCodes)(
      "SC-CUS-11: a sandbox partner's %s is CONFIRMED inside the POST, at its scale",
      async (currency) => {
        const clientId = await client(sandbox)
        await approveWealth(clientId, sandbox)
        const least = `0.${"0".repeat(scaleOf(currency as Currency) - 1)}1`
        const notice = await filed(clientId, { currency, amount: least }, sandbox)
        assert.deepInclude(notice, {
          status: "CONFIRMED",
          amount: least,
          decidedBy: "PARTNER",
          decidedAt: notice.createdAt,
          decisionNote: null
        })
        assert.strictEqual(await balance(clientId, currency, sandbox), least)
        const [tx] = await rowsOf(service, "ledgerTransactions", "tx_id = $1", [BigInt(notice.ledgerTxId ?? 0)])
        assert.strictEqual(tx?.actor, `partner:${sandbox.code}`)
        const events = (await ofClient(service, "events", clientId)).filter(({ name }) => name === "deposit.confirmed")
        assert.lengthOf(events, 1)
      }
    )

    it("Endpoints: the answer has every failing field, the first one as the sentence, and nothing is written", async () => {
      const clientId = await client()
      const before = await rowCounts(service)
      const { status, json } = await file(clientId, { currency: "DOGE", method: "CASH", amount: "0" })
      assert.deepStrictEqual(
        [status, json.code, Object.keys(json.data.errors)],
        [400, 4000, ["currency", "amount", "method"]]
      )
      assert.strictEqual(json.msg, json.data.errors.currency)
      assert.deepStrictEqual(await rowCounts(service), before)
    })
  })

  describe("partnerRef", () => {
    it("SC-CUS-02: a repeated filing for this client returns the original with 200, for any body and in any state of the gates", async () => {
      const clientId = await client()
      const original = await filed(clientId, { amount: "7" })
      const { partnerRef } = original
      const other = { partnerRef, currency: "EUR", amount: "8", evidenceRef: "else" }
      const before = await rowCounts(service)
      const again = await file(clientId, other)
      assert.deepStrictEqual([again.status, again.json.data], [200, original])
      await restrict(clientId, "FROZEN")
      assert.strictEqual((await file(clientId, other)).status, 200)
      await lift(clientId, "FROZEN")
      await reject(original.noticeId)
      assert.strictEqual((await file(clientId, other)).json.data.status, "REJECTED")
      assert.isTrue((await close(clientId)).ok)
      assert.strictEqual((await file(clientId, other)).status, 200)
      assert.strictEqual((await rowCounts(service)).depositNotices, before.depositNotices)
    })

    it("SC-CUS-02: filed for another client it is 409 before that account's own gates; a bad field is refused first", async () => {
      const [one, two] = [await client(), await client()]
      const { partnerRef } = await filed(one)
      assert.isTrue((await close(two)).ok)
      assert.deepStrictEqual(await told(file(two, { partnerRef })), [
        409,
        4092,
        "This partnerRef was used for another client."
      ])
      assert.strictEqual((await file(one, { partnerRef, amount: "0" })).status, 400)
    })

    it("A3-01: another partner, and the other kinds of object, have name spaces of their own", async () => {
      const { partnerRef } = await filed(await client())
      assert.strictEqual((await file(await client(sandbox), { partnerRef }, sandbox)).status, 201)
      assert.lengthOf(
        await query(service, "SELECT 1 FROM claims WHERE name = $1", [`deposit:${partner.partnerId}:${partnerRef}`]),
        1
      )
    })

    it("D9: forty posts of one reference at once file one notice, and credit once in the sandbox", async () => {
      const clientId = await client(sandbox)
      const partnerRef = fresh()
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => file(clientId, { partnerRef, amount: "3" }, sandbox))
      )
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 39)
      assert.strictEqual(new Set(answers.map(({ json }) => json.data.noticeId)).size, 1)
      assert.strictEqual(await balance(clientId, "USDC", sandbox), "3.000000")
    })

    it("A3-01: of twenty clients racing for one reference one gets it, the others get 409", async () => {
      const clients = await Promise.all(Array.from({ length: 20 }, () => client()))
      const partnerRef = fresh()
      const answers = await Promise.all(clients.map((clientId) => file(clientId, { partnerRef })))
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
      assert.strictEqual(answers.filter(({ status }) => status === 409).length, 19)
    })

    it("A1-52: an Idempotency-Key replays the bytes of 201, 200 and refusals alike", async () => {
      const clientId = await client()
      const partnerRef = fresh()
      for (const [key, body, status] of [
        ["d-201", { partnerRef }, 201],
        ["d-200", { partnerRef }, 200],
        ["d-400", { amount: "x" }, 400]
      ] as const) {
        const sent = { partnerRef: `idem-${key}`, ...body }
        const [first, second] = [
          await file(clientId, sent, partner, { "idempotency-key": key }),
          await file(clientId, sent, partner, { "idempotency-key": key })
        ]
        assert.deepStrictEqual([first.status, second.status, second.text], [status, status, first.text])
        assert.strictEqual(second.headers["idempotency-replayed"], "true")
      }
    })
  })

  describe("gates", () => {
    it("SC-CUS-10: PARTNER custody answers a notice with 409 before its fields; the lists stay open", async () => {
      const other = await service.partner()
      const clientId = await client(other)
      const sentence = "This partner is under PARTNER custody: use collateral reports."
      assert.deepStrictEqual(await told(file(clientId, { amount: "x" }, other)), [409, 4092, sentence])
      for (const path of [`/clients/${clientId}/deposits`, "/deposits"]) {
        assert.deepStrictEqual((await get(service, other.key, path)).json.data.deposits, [])
      }
    })

    it("A1-01: a client that is not the caller's is unknown", async () => {
      const foreign = await client(sandbox)
      for (const clientId of [foreign, 999_999]) {
        assert.deepStrictEqual(await told(file(clientId)), [404, 4004, "Client not found."])
        assert.strictEqual((await get(service, partner.key, `/clients/${clientId}/deposits`)).status, 404)
        assert.strictEqual((await get(service, partner.key, `/clients/${clientId}/deposits?status=X`)).status, 404)
      }
    })

    it("A3-02: closed before verification, verification before the restriction", async () => {
      const clientId = await client()
      assert.isTrue((await close(clientId)).ok)
      assert.deepStrictEqual(await told(file(clientId)), [409, 4092, "The account is closed."])
      const pep = { position: "mayor", country: "FR", institution: "City", start_date: "2020-03-01" }
      const body = person(1, "hld", { "kyc.pep.is_pep": true, "kyc.pep.details": pep })
      const held = (await onboard(service, partner.key, body)).json.data.clientId
      const refused = await file(held)
      assert.deepInclude(refused.json.data, { action: "DEPOSIT:CRYPTO", requiredLevel: "MICA" })
      assert.deepStrictEqual([refused.status, refused.json.code], [403, 4030])
    })

    it("SC-CUS-12: NO_WITHDRAWALS allows a deposit; a refusal by FROZEN leaves no row", async () => {
      const clientId = await client()
      await restrict(clientId, "NO_WITHDRAWALS")
      assert.strictEqual((await file(clientId)).status, 201)
      await restrict(clientId, "FROZEN")
      const before = await rowCounts(service)
      assert.deepStrictEqual((await told(file(clientId))).slice(0, 2), [409, 4092])
      assert.deepStrictEqual(await rowCounts(service), before)
    })

    it("SC-CUS-09, F25: booked, PENDING and requested amounts count together; the deposit that would reach the threshold is refused", async () => {
      const clientId = await client()
      await confirm((await filed(clientId, { amount: "5000" })).noticeId)
      const waiting = await filed(clientId, { currency: "EUR", amount: "9999.99" })
      assert.strictEqual((await file(clientId, { amount: "0.009999" })).status, 201)
      const crossing = await file(clientId, { currency: "USD1", amount: "0.000001" })
      assert.deepStrictEqual(
        [crossing.status, crossing.json.code, crossing.json.data.missingBlocks],
        [403, 4030, ["SOURCE_OF_WEALTH"]]
      )
      await reject(waiting.noticeId)
      assert.strictEqual((await file(clientId, { amount: "9999.99" })).status, 201)
      assert.strictEqual((await file(clientId, { amount: "0.000001" })).status, 403)
      assert.strictEqual((await approveWealth(clientId)).status, 200)
      assert.strictEqual((await file(clientId, { amount: "20000" })).status, 201)
    })

    it("F2: the sum of PENDING notices and cash must fit 64 bits", async () => {
      const clientId = await client()
      await approveWealth(clientId)
      assert.strictEqual((await file(clientId, { currency: "SOL", amount: "9223372036.854775807" })).status, 201)
      const { status, json } = await file(clientId, { currency: "SOL", amount: "0.000000001" })
      assert.deepStrictEqual([status, json.code, Object.keys(json.data.errors)], [400, 4000, ["amount"]])
      assert.strictEqual((await file(clientId, { currency: "BTC", amount: "1" })).status, 201)
    })
  })

  describe("finance", () => {
    it("SC-CUS-01: confirmed twice: the stored transaction, both its legs and the one event, to the member", async () => {
      const clientId = await client()
      const notice = await filed(clientId, { amount: "250", evidenceRef: "e-9" })
      const [first, second] = [await confirm(notice.noticeId, " seen "), await confirm(notice.noticeId, "again")]
      assert.deepStrictEqual(second, first)
      if (!first.ok) throw new Error("refused")
      const { ledgerTxId, decidedAt } = first.value
      assert.deepStrictEqual(first.value, {
        ...notice,
        status: "CONFIRMED",
        decidedBy: "FINANCE",
        decidedAt,
        decisionNote: "seen",
        ledgerTxId
      })
      assert.deepStrictEqual(await rowsOf(service, "ledgerTransactions", "client_id = $1", [BigInt(clientId)]), [
        {
          txId: ledgerTxId as number,
          key: `deposit:${notice.noticeId}`,
          type: "DEPOSIT",
          actor: "FINANCE",
          reason: null,
          clientId,
          partnerId: partner.partnerId,
          refs: { noticeId: notice.noticeId, partnerRef: notice.partnerRef, method: "FIAT", evidenceRef: "e-9" },
          ts: decidedAt as number
        }
      ])
      const postings = await rowsOf(service, "postings", "tx_id = $1", [BigInt(ledgerTxId ?? 0)])
      assert.deepStrictEqual(
        postings.map(({ account, currency, kind, amount }) => [account, currency, kind, amount]),
        [
          [`client:${clientId}`, "USDC", "cash", 250_000_000n],
          ["transit", "USDC", "cash", -250_000_000n]
        ]
      )
      const events = (await ofClient(service, "events", clientId)).filter(({ name }) => name.startsWith("deposit"))
      const { noticeId, partnerRef } = notice
      assert.deepStrictEqual(
        events.map(({ name, data }) => [name, data]),
        [
          [
            "deposit.confirmed",
            { noticeId, partnerRef, currency: "USDC", amount: "250.000000", status: "CONFIRMED", ledgerTxId }
          ]
        ]
      )
      assert.deepStrictEqual(await ofClient(service, "notifications", clientId), [])
      assert.deepStrictEqual(await ofClient(service, "settlementItems", clientId), [])
    })

    it("A3-04: a rejected notice moves nothing, shows the reason, and can't be confirmed; a confirmed one not rejected", async () => {
      const clientId = await client()
      const one = await filed(clientId)
      const two = await filed(clientId)
      assert.isTrue((await reject(one.noticeId, "never arrived")).ok)
      assert.isTrue((await reject(one.noticeId, "again")).ok)
      assert.isTrue((await confirm(two.noticeId)).ok)
      for (const verdict of [await confirm(one.noticeId), await reject(two.noticeId)]) {
        assert.deepStrictEqual(verdict.ok ? null : verdict.refusal._tag, "Conflict")
      }
      const { noticeId, partnerRef } = one
      const [event] = (await ofClient(service, "events", clientId)).filter(({ name }) => name === "deposit.rejected")
      assert.deepStrictEqual(event?.data, {
        noticeId,
        partnerRef,
        currency: "USDC",
        amount: "1.000000",
        status: "REJECTED",
        reason: "never arrived"
      })
      assert.strictEqual(await balance(clientId), "1.000000")
    })

    it("A3-05: FROZEN at confirmation leaves it PENDING without a row; lifted, it passes", async () => {
      const clientId = await client()
      const { noticeId } = await filed(clientId)
      await restrict(clientId, "FROZEN")
      const before = await rowCounts(service)
      const refused = await confirm(noticeId)
      assert.deepStrictEqual(refused.ok ? null : refused.refusal._tag, "Conflict")
      assert.deepStrictEqual(await rowCounts(service), before)
      const [row] = (await get(service, partner.key, `/clients/${clientId}/deposits?status=PENDING`)).json.data.deposits
      assert.strictEqual(row.noticeId, noticeId)
      await lift(clientId, "FROZEN")
      assert.isTrue((await confirm(noticeId)).ok)
    })

    it("A3-05: FROZEN does not stop a rejection", async () => {
      const clientId = await client()
      const { noticeId } = await filed(clientId)
      await restrict(clientId, "FROZEN")
      assert.isTrue((await reject(noticeId)).ok)
    })

    it("A3-04: twenty confirmations racing twenty rejections decide once: one posting or none", async () => {
      for (let round = 0; round < 5; round++) {
        const clientId = await client()
        const { noticeId } = await filed(clientId, { amount: "2" })
        const verdicts = await Promise.all(
          Array.from({ length: 40 }, (_, n) => ((n + round) % 2 === 0 ? confirm(noticeId) : reject(noticeId)))
        )
        const states = new Set(verdicts.flatMap((verdict) => (verdict.ok ? [verdict.value.status] : [])))
        assert.strictEqual(states.size, 1)
        assert.strictEqual(verdicts.filter(({ ok }) => ok).length, 20)
        const booked = await rowsOf(service, "ledgerTransactions", "client_id = $1", [BigInt(clientId)])
        assert.lengthOf(booked, states.has("CONFIRMED") ? 1 : 0)
      }
    })

    it("A1-01: an unknown notice is answered as such", async () => {
      const verdict = await confirm(123_456_789)
      assert.deepStrictEqual(verdict.ok ? null : verdict.refusal, {
        _tag: "Unknown",
        reason: "UNKNOWN_DEPOSIT_NOTICE",
        sentence: "Deposit notice not found."
      })
    })
  })

  describe("effects of a PENDING notice", () => {
    it("Summary: pendingDeposits counts the partner's undecided notices", async () => {
      const own = await service.partner(broker)
      const clientId = await client(own)
      const pending = async () => (await get(service, own.key, "/summary")).json.data.pendingDeposits
      const [one, two] = [await filed(clientId, {}, own), await filed(clientId, {}, own)]
      assert.strictEqual(await pending(), 2)
      await confirm(one.noticeId)
      await reject(two.noticeId)
      assert.strictEqual(await pending(), 0)
    })

    it("D1, D15: neither the client nor its partner is closed before finance has decided", async () => {
      const own = await service.partner(broker)
      const clientId = await client(own)
      const { noticeId } = await filed(clientId, {}, own)
      const blockersOf = (verdict: Verdict<unknown>): string =>
        !verdict.ok && verdict.refusal._tag === "Conflict" ? JSON.stringify(verdict.refusal.data) : ""
      assert.match(blockersOf(await close(clientId)), /Deposit notices are not decided: 1 PENDING/)
      const end = () => partners(service, (desk) => desk.status(operator, own.code, "CLOSED", "ended"))
      assert.match(blockersOf(await end()), /Deposit notices are not decided: 1 PENDING/)
      await reject(noticeId)
      assert.isTrue((await close(clientId)).ok)
      assert.isTrue((await end()).ok)
    })
  })

  describe("lists", () => {
    it("Endpoints: newest first, by status, paged, of one client and of the partner", async () => {
      const own = await service.partner(broker)
      const [one, two] = [await client(own), await client(own)]
      const ids: Array<number> = []
      for (const clientId of [one, two, one]) ids.push((await filed(clientId, {}, own)).noticeId)
      await confirm(ids[0] as number)
      const list = async (path: string) => (await get(service, own.key, path)).json.data
      const idsOf = (page: { readonly deposits: ReadonlyArray<DepositNotice> }) =>
        page.deposits.map(({ noticeId }) => noticeId)
      assert.deepStrictEqual(idsOf(await list("/deposits")), ids.toReversed())
      assert.deepStrictEqual(idsOf(await list(`/clients/${one}/deposits`)), [ids[2], ids[0]])
      assert.deepStrictEqual(idsOf(await list("/deposits?status=CONFIRMED")), [ids[0]])
      assert.deepStrictEqual(idsOf(await list("/deposits?status=REJECTED")), [])
      const page = await list("/deposits?limit=2")
      assert.deepStrictEqual([page.hasMore, page.nextBefore], [true, ids[1]])
      const last = await list(`/deposits?limit=2&before=${page.nextBefore}`)
      assert.deepStrictEqual([idsOf(last), last.hasMore, last.nextBefore], [[ids[0]], false, null])
    })

    it.each(["limit=0", "limit=201", "limit=x", "status=pending", "status=OPEN", "before=0"])(
      "Endpoints: %s is 400",
      async (search) => {
        const clientId = await client()
        for (const path of ["/deposits", `/clients/${clientId}/deposits`]) {
          const { status, json } = await get(service, partner.key, `${path}?${search}`)
          assert.deepStrictEqual([status, json.code], [400, 4000])
        }
      }
    )
  })
})
