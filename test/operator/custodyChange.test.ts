/**
 * Changing the custody model (doc 3, Changing the custody model; D15; SC-SET-11): every guard blocks and is named with
 * its remedy, no write comes between the count and the change, and the books hold for every history of models.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { Directory } from "../../src/runtime/services/partners/Directory.ts"
import { changeCustody } from "../../src/runtime/services/lifecycle/partnerDecisions.ts"
import { brokenInvariants, collateral, get, query, rowCounts } from "../support/Builders.ts"
import { played } from "../support/every.ts"
import { type Answer, operator } from "../support/Service.ts"
import { openOperator } from "./operatorScenario.ts"

const service = await openOperator()

interface Firm {
  readonly code: string
  readonly partnerId: number
  readonly key: string
}

let refs = 0
const custody = (code: string, model: "BROKER" | "PARTNER", ...more: ReadonlyArray<string>) => [
  "partner",
  "custody",
  code,
  model,
  ...(model === "PARTNER" ? ["--collateral-asset", "EURX"] : []),
  "--reason",
  "new agreement",
  ...more
]
const adjust = (clientId: number, amount: string, currency = "USDC") =>
  service.done(
    ["ledger", "adjust", String(clientId), "--currency", currency, "--amount", amount, "--reason", "test"],
    "FINANCE"
  )
const report = (firm: Firm, clientId: number, direction: "DEPOSIT" | "WITHDRAWAL", amount: string) =>
  collateral(service, firm.key, clientId, { partnerRef: `r${++refs}`, direction, amount })
const deposit = (firm: Firm, clientId: number, amount: string) =>
  service.call("POST", `/partner/v1/clients/${clientId}/deposits`, {
    key: firm.key,
    body: { partnerRef: `d${++refs}`, currency: "USDC", amount }
  })
const withdraw = (firm: Firm, clientId: number, amount: string, currency = "USDC") =>
  service.call("POST", `/partner/v1/clients/${clientId}/withdrawals`, {
    key: firm.key,
    body: { partnerRef: `w${++refs}`, currency, amount }
  })
/** A payment between the firms; positive: the service paid the partner. */
const payFirms = (code: string, amount: string) => {
  const period = ["--from", "0", "--to", String(Date.now()), "--tx-ref", `wire ${++refs}`]
  return service.done(["interfirm", "record", code, "--amount", amount, ...period], "FINANCE")
}
const settle = async (firm: Firm, status: "SETTLED" | "FAILED") => {
  const { items } = (await get(service, firm.key, "/settlement/items?limit=500")).json.data
  for (const { itemId } of items.filter((item: { status: string }) => item.status !== "SETTLED")) {
    const body = status === "SETTLED" ? { status, partnerTxRef: `t${itemId}` } : { status }
    const told = await service.call("POST", `/partner/v1/settlement/items/${itemId}/report`, { key: firm.key, body })
    assert.strictEqual(told.status, 200)
  }
}
const broker = (code: string) => service.partner({ code, custody: "BROKER", collateralAsset: "", sandbox: false })
const partnerFirm = (code: string) => service.partner({ code, sandbox: false })
const blockersOf = async (line: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const { status, json: dry } = await service.cli([...line, "--dry-run"])
  assert.deepStrictEqual([dry.dryRun, status], [true, dry.blockers.length > 0 ? 1 : 0])
  if (dry.blockers.length > 0) {
    const refused = await service.cli(line)
    assert.deepStrictEqual([refused.status, refused.refusal.code], [1, 4092])
    assert.deepStrictEqual(refused.refusal.data.blockers, dry.blockers)
  }
  return dry.blockers
}

describe("doc 3, Changing the custody model", () => {
  it("BROKER to PARTNER: notices, cash, reserves and requests block, each with its figures and its remedy", async () => {
    const firm = await broker("UNWIND")
    const clientId = await service.client(firm.key)
    const line = custody("UNWIND", "PARTNER")
    const notice = (await deposit(firm, clientId, "100")).json.data
    assert.deepStrictEqual(await blockersOf(line), [
      `Deposit notices are not decided: 1 PENDING, 100.000000 USDC (notice ${notice.noticeId}). To clear: deposit confirm ID, or deposit reject ID.`
    ])
    await service.done(["deposit", "confirm", String(notice.noticeId)], "FINANCE")
    const request = (await withdraw(firm, clientId, "40")).json.data
    await adjust(clientId, "2.5", "EUR")
    const open = await blockersOf(line)
    assert.lengthOf(open, 4)
    assert.match(
      open[0] ?? "",
      new RegExp(`^Clients hold 60\\.000000 USDC of cash \\(client ${clientId}\\)\\. To clear: POST`)
    )
    assert.match(open[1] ?? "", /^Clients hold 40\.000000 USDC of reserve .* withdrawal reject ID/)
    assert.match(open[2] ?? "", /^Clients hold 2\.50 EUR of cash/)
    assert.match(
      open[3] ?? "",
      new RegExp(`^Withdrawal requests are open: 1 REQUESTED, 40\\.000000 USDC \\(request ${request.requestId}\\)`)
    )
    await service.done(["withdrawal", "approve", String(request.requestId)], "FINANCE")
    assert.match((await blockersOf(line)).at(-1) ?? "", /1 APPROVED.*withdrawal pay ID, or withdrawal fail ID\.$/)
    await service.done(["withdrawal", "pay", String(request.requestId)], "FINANCE")
    await adjust(clientId, "-60")
    await adjust(clientId, "-2.5", "EUR")
    const before = await rowCounts(service)
    assert.deepStrictEqual(await blockersOf(line), [])
    assert.deepStrictEqual(await rowCounts(service), before)
    const changed = await service.done(line)
    assert.deepStrictEqual(
      [changed.custodyModel, changed.collateralAsset, changed.status],
      ["PARTNER", "EURX", "ACTIVE"]
    )
    assert.strictEqual((await deposit(firm, clientId, "1")).status, 409)
    const booked = await report(firm, clientId, "DEPOSIT", "5")
    assert.deepStrictEqual([booked.status, booked.json.data.report.sourceAsset], [201, "EURX"])
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })

  it("SC-SET-11: PARTNER to BROKER is blocked by one FAILED item, the collateral and the firms' balance, then allowed", async () => {
    const firm = await partnerFirm("BACK")
    const clientId = await service.client(firm.key)
    await report(firm, clientId, "DEPOSIT", "50")
    await adjust(clientId, "-10")
    await adjust(clientId, "1.5", "BTC")
    const line = custody("BACK", "BROKER")
    const open = await blockersOf(line)
    assert.match(open[0] ?? "", /^Clients hold 40\.000000 USDC of cash .*WITHDRAWAL, or client payout C/)
    assert.strictEqual(
      open[1],
      `House account partner_custody:${firm.partnerId} is at -50.000000 USDC, recorded payments between the firms are at 0.000000 USDC: they have to be equal. To clear: POST /clients/{clientId}/collateral with direction WITHDRAWAL until clients hold nothing, and interfirm record P for what is outstanding between the firms.`
    )
    assert.match(open[2] ?? "", /^Settlement items are not settled: 1 PENDING, -10\.000000 USDC/)
    assert.match(open[3] ?? "", /^-10\.000000 USDC are outstanding .*interfirm record P --amount -10\.000000\.$/)
    assert.lengthOf(open, 4)
    // The procedure of the specification, in its order.
    await settle(firm, "FAILED")
    assert.match(
      (await blockersOf(line))[2] ?? "",
      /1 FAILED, -10\.000000 USDC \(item \d+\)\. To clear: POST \/settlement/
    )
    await settle(firm, "SETTLED")
    assert.lengthOf(await blockersOf(line), 3)
    await payFirms("BACK", "-10")
    const late = await blockersOf(line)
    assert.lengthOf(late, 2)
    assert.match(late[1] ?? "", /is at -50\.000000 USDC, recorded payments between the firms are at -10\.000000 USDC/)
    await report(firm, clientId, "WITHDRAWAL", "40")
    assert.deepStrictEqual(await blockersOf(line), [])
    assert.strictEqual((await service.done(line)).custodyModel, "BROKER")
    // Stored items stay readable, and new ones follow the new model; the BTC is also paid out by the new model.
    assert.lengthOf((await get(service, firm.key, "/settlement/items")).json.data.items, 1)
    assert.lengthOf((await get(service, firm.key, "/collateral")).json.data.reports, 2)
    assert.strictEqual((await report(firm, clientId, "DEPOSIT", "1")).status, 409)
    assert.strictEqual((await withdraw(firm, clientId, "1.5", "BTC")).status, 201)
    const notice = (await deposit(firm, clientId, "7")).json.data
    await service.done(["deposit", "confirm", String(notice.noticeId)], "FINANCE")
    await adjust(clientId, "-3")
    assert.lengthOf((await get(service, firm.key, "/settlement/items")).json.data.items, 1)
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })

  it.each([
    { name: "a loss", code: "LOST", change: "-10", left: "90" },
    { name: "a gain", code: "GAINED", change: "10", left: "110" }
  ])("SC-SET-11: there and back with $name: nothing has to be made good by a correction", async (way) => {
    const firm = await partnerFirm(way.code)
    const clientId = await service.client(firm.key)
    for (let round = 0; round < 2; round++) {
      await report(firm, clientId, "DEPOSIT", "100")
      await adjust(clientId, way.change)
      await settle(firm, "SETTLED")
      await report(firm, clientId, "WITHDRAWAL", way.left)
      // Only the balance between the firms is left, and its payment is the only remedy.
      const open = await blockersOf(custody(way.code, "BROKER"))
      assert.lengthOf(open, 2)
      assert.isTrue(
        open.every((blocker) => blocker.includes("interfirm record P") && !blocker.includes("ledger adjust"))
      )
      await payFirms(way.code, way.change)
      assert.strictEqual((await service.done(custody(way.code, "BROKER"))).custodyModel, "BROKER")
      assert.deepStrictEqual(await brokenInvariants(service), [])
      // Nothing is reset: the payments between the firms stay part of the collateral held, by its definition.
      const { currencies, definitions } = (await get(service, firm.key, "/settlement/summary")).json.data
      const paid = BigInt(way.change) * BigInt(round + 1)
      assert.deepInclude(currencies[0], { collateralHeld: `${-paid}.000000`, clientCash: "0.000000" })
      assert.deepInclude(currencies[0].interfirm, { settlementsRecorded: `${paid}.000000`, outstanding: "0.000000" })
      assert.match(
        definitions.collateralHeld,
        /plus what it has paid the service and less what the service has paid it/
      )
      assert.strictEqual((await service.done(custody(way.code, "PARTNER"))).custodyModel, "PARTNER")
    }
  })

  it("SC-SET-11: a payment recorded too much is shown under BROKER custody too, with its reversal", async () => {
    const firm = await partnerFirm("OVERPAID")
    await service.done(custody("OVERPAID", "BROKER"))
    await payFirms("OVERPAID", "5")
    const open = await blockersOf(custody("OVERPAID", "PARTNER"))
    assert.match(
      open[0] ?? "",
      new RegExp(`^House account partner_custody:${firm.partnerId} is at 0\\.000000 .*To clear: interfirm record P for`)
    )
    assert.match(open[1] ?? "", /^-5\.000000 USDC are outstanding .*--amount -5\.000000\.$/)
    await payFirms("OVERPAID", "-5")
    assert.strictEqual((await service.done(custody("OVERPAID", "PARTNER"))).custodyModel, "PARTNER")
  })

  it("a recorded reason: the change is in the profile's history and in the audit, with the role that made it", async () => {
    await partnerFirm("TOLD")
    assert.isUndefined((await service.done(["partner", "show", "TOLD"])).custodyChanges)
    await service.done(custody("TOLD", "BROKER"))
    await service.done(custody("TOLD", "PARTNER"))
    const { custodyChanges } = await service.done(["partner", "show", "TOLD"], "SUPPORT")
    assert.deepStrictEqual(
      custodyChanges.map(({ changedAt, ...change }: { changedAt: number }) => [typeof changedAt, change]),
      [
        [
          "number",
          { before: "PARTNER", after: "BROKER", collateralAsset: "", reason: "new agreement", changedBy: "ADMIN" }
        ],
        [
          "number",
          { before: "BROKER", after: "PARTNER", collateralAsset: "EURX", reason: "new agreement", changedBy: "ADMIN" }
        ]
      ]
    )
    const { entries } = await service.done(["audit", "tail", "--partner", "TOLD"])
    assert.deepStrictEqual(
      entries
        .filter((row: { action: string }) => row.action === "partner.custody")
        .map((row: { before: string; after: string; reason: string }) => [row.before, row.after, row.reason]),
      [
        ["PARTNER EURD", "BROKER", "new agreement"],
        ["BROKER", "PARTNER EURX", "new agreement"]
      ]
    )
  })

  it("D15: SUSPENDED may change, CLOSED may not; the same model, a missing and a superfluous asset are refused", async () => {
    const firm = await broker("RULES")
    const refusal = async (line: ReadonlyArray<string>) => (await service.cli(line)).refusal
    assert.strictEqual((await refusal(custody("RULES", "BROKER"))).code, 4092)
    const bare = ["partner", "custody", "RULES", "PARTNER", "--reason", "r"]
    assert.deepStrictEqual(Object.keys((await refusal(bare)).data.errors), ["collateralAsset"])
    const superfluous = custody("RULES", "BROKER", "--collateral-asset", "EURX")
    assert.deepStrictEqual(Object.keys((await refusal(superfluous)).data.errors), ["collateralAsset"])
    assert.strictEqual((await refusal(custody("NOBODY", "PARTNER"))).code, 4004)
    assert.strictEqual((await service.cli(custody("RULES", "PARTNER"), "FINANCE")).refusal.code, 4034)
    await service.done(["partner", "status", "RULES", "SUSPENDED", "--reason", "r"])
    const changed = await service.done(custody("RULES", "PARTNER"))
    assert.deepStrictEqual([changed.custodyModel, changed.status], ["PARTNER", "SUSPENDED"])
    await service.done(["partner", "status", "RULES", "CLOSED", "--reason", "r"])
    assert.strictEqual((await refusal(custody("RULES", "BROKER"))).code, 4092)
    assert.strictEqual((await service.call("GET", "/partner/v1/me", { key: firm.key })).status, 401)
  })
})

describe("custody change while writes are queued", () => {
  /** Rows of the other model after the change and before it, by the numbers of the ledger's transactions. */
  const strays = (partnerId: number) =>
    query<{ readonly what: string }>(
      service,
      `SELECT t.tx_id || ' ' || t.type AS what FROM ledger_transactions t, custody_changes c
        WHERE t.partner_id = $1 AND c.partner_id = $1
          AND (CASE WHEN t.tx_id > c.id THEN c.after ELSE c.before END)
              <> (CASE WHEN t.type LIKE 'PARTNER_COLLATERAL%' THEN 'PARTNER' WHEN t.type = 'MANUAL' THEN
                  (CASE WHEN EXISTS (SELECT 1 FROM settlement_items i WHERE i.tx_id = t.tx_id) THEN 'PARTNER' ELSE 'BROKER' END)
                  ELSE 'BROKER' END)`,
      [BigInt(partnerId)]
    )

  it.each(played({ usual: [3], deep: [1, 2, 3, 4] }))(
    "200 collateral reports against a change to BROKER, round %d: none is booked after it",
    async (round) => {
      const firm = await partnerFirm(`RACE${round}`)
      const clients = [await service.client(firm.key), await service.client(firm.key)]
      const sends = Array.from({ length: 200 }, (_, n) => report(firm, clients[n % 2] as number, "DEPOSIT", "1"))
      // In later rounds some writes are committed first.
      if (round > 2) await Promise.race(sends)
      const change = await service.cli(custody(firm.code, "BROKER"))
      const answers = await Promise.all(sends)
      const booked = answers.filter(({ status }) => status === 201).length
      assert.isTrue(answers.every(({ status, json }) => status === 201 || (status === 409 && json.code === 4092)))
      assert.strictEqual(change.status === 0, booked === 0 && change.status === 0)
      const { custodyModel } = await service.done(["partner", "show", firm.code])
      assert.strictEqual(custodyModel, change.status === 0 ? "BROKER" : "PARTNER")
      if (change.status !== 0) assert.match(change.refusal.data.blockers[0], /^Clients hold /)
      assert.deepStrictEqual(await strays(firm.partnerId), [])
      assert.deepStrictEqual(await brokenInvariants(service), [])
    }
  )

  it.each(played({ usual: [1], deep: [1, 2, 3] }))(
    "100 deposits, withdrawals and corrections against a change to PARTNER, round %d",
    async (round) => {
      const firm = await broker(`QUEUE${round}`)
      const clientId = await service.client(firm.key)
      const sends = Array.from({ length: 100 }, (_, n) =>
        n % 10 === 9
          ? adjust(clientId, "0.5").then(() => null)
          : n % 2 === 0
            ? deposit(firm, clientId, "1")
            : withdraw(firm, clientId, "0.1")
      )
      const change = await service.cli(custody(firm.code, "PARTNER"))
      const answers = (await Promise.all(sends)).filter((answer) => answer !== null)
      assert.isTrue(answers.every(({ status }) => [201, 400, 409].includes(status)))
      const pending = await query<{ readonly n: bigint }>(
        service,
        "SELECT count(*) AS n FROM deposit_notices WHERE partner_id = $1",
        [BigInt(firm.partnerId)]
      )
      if (change.status === 0) assert.strictEqual(Number(pending[0]?.n), 0)
      else assert.strictEqual(change.refusal.code, 4092)
      assert.deepStrictEqual(await strays(firm.partnerId), [])
      assert.deepStrictEqual(await brokenInvariants(service), [])
    }
  )

  /** Writes that are sent once the partner is held. They all wait in their mailboxes when the model changes. */
  const queuedBehind = (firm: Firm, to: "BROKER" | "PARTNER", send: () => ReadonlyArray<Promise<Answer>>) => {
    let sends: ReadonlyArray<Promise<Answer>> = []
    const change = { to, collateralAsset: to === "PARTNER" ? "EURX" : "", reason: "test", changedBy: "ADMIN" } as const
    const work = Effect.gen(function* () {
      const host = yield* ActorHost
      sends = send()
      yield* Effect.promise(() => vi.waitUntil(() => host.stats().waiting >= sends.length, { timeout: 20_000 }))
      return yield* host.dispatch({
        subject: `partner:${firm.partnerId}`,
        by: operator.by,
        decide: (turn) => changeCustody(turn, change, [])
      })
    })
    return service
      .run(
        Effect.gen(function* () {
          const directory = yield* Directory
          return yield* directory.hold(firm.partnerId, Effect.provideService(work, ActorHost, yield* ActorHost))
        })
      )
      .then(async (verdict) => ({ verdict, answers: await Promise.all(sends) }))
  }

  it("200 collateral reports in the queue: not one is booked under the new model", async () => {
    const firm = await partnerFirm("HELD")
    const clients = [await service.client(firm.key), await service.client(firm.key)]
    const { verdict, answers } = await queuedBehind(firm, "BROKER", () =>
      Array.from({ length: 200 }, (_, n) => report(firm, clients[n % 2] as number, "DEPOSIT", "1"))
    )
    assert.isTrue(verdict.ok)
    assert.lengthOf(
      answers.filter(({ status, json }) => status === 409 && json.code === 4092),
      200
    )
    assert.deepStrictEqual(await strays(firm.partnerId), [])
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })

  it("200 deposits in the queue: not one is filed under the new model", async () => {
    const firm = await broker("HELDTOO")
    const clientId = await service.client(firm.key)
    const { verdict, answers } = await queuedBehind(firm, "PARTNER", () =>
      Array.from({ length: 200 }, () => deposit(firm, clientId, "1"))
    )
    assert.isTrue(verdict.ok)
    assert.lengthOf(
      answers.filter(({ status, json }) => status === 409 && json.code === 4092),
      200
    )
    const filed = await query(service, "SELECT id FROM deposit_notices WHERE partner_id = $1", [BigInt(firm.partnerId)])
    assert.lengthOf(filed, 0)
  })

  it("F28: 20 corrections in the queue make their settlement items, because they are booked under the new model", async () => {
    const firm = await broker("HELDMAN")
    const clientId = await service.client(firm.key)
    const lines: Array<Promise<unknown>> = []
    await queuedBehind(firm, "PARTNER", () => {
      const sent = Array.from({ length: 20 }, () => adjust(clientId, "1"))
      lines.push(...sent)
      return sent as unknown as ReadonlyArray<Promise<Answer>>
    })
    await Promise.all(lines)
    assert.lengthOf((await get(service, firm.key, "/settlement/items")).json.data.items, 20)
    assert.deepStrictEqual(await strays(firm.partnerId), [])
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })

  it("two changes at once: one is made, the other is answered that the change is already made", async () => {
    const firm = await partnerFirm("TWICE")
    const both = await Promise.all([
      service.cli(custody("TWICE", "BROKER")),
      service.cli(custody("TWICE", "BROKER"), "SECOND")
    ])
    assert.sameMembers(
      both.map(({ status }) => status),
      [0, 1]
    )
    const changes = await query(service, "SELECT id FROM custody_changes WHERE partner_id = $1", [
      BigInt(firm.partnerId)
    ])
    assert.lengthOf(changes, 1)
  })
})
