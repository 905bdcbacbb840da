/**
 * Every machine's objects through `machine inspect`: complete from creation to now, without secrets or personal data,
 * in pages, found by an index; the audit by object; live objects by state (operator surface, Developers and QA; A3-45).
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { instanceView } from "../../cli/commands/machine.ts"
import { plainScreen } from "../../cli/views/cellText.ts"
import { render } from "../../cli/views/render.ts"
import type { PathStep as Step } from "../../src/http/api/operator/MachineGroup.ts"
import { type Kind, kinds, machines } from "../../src/machines/registry.ts"
import { orderRef } from "../../src/machines/order/Order.ts"
import { noteMisfit } from "../../src/runtime/services/venue/misfits.ts"
import { historyStatement } from "../../src/runtime/store/reads/auditReads.ts"
import { collateral, onboard, person, query } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { orderSteps } from "../support/orderSteps.ts"
import { inTurn } from "../support/orderRows.ts"
import { perp } from "../support/perpVenue.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"
import { stepsOf } from "../support/steps.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

type PathStep = typeof Step.Type

const market = stakingVenue()
let service: OperatorService
/** The name of one object of each machine, and the actions that its history must have. */
const objects = new Map<Kind, { readonly id: string; readonly actions: ReadonlyArray<string> }>()
let email: string
let secret: string
let clientId: number

beforeAll(async () => {
  service = await startOperatorService({
    settings: { webhookHosts: new Set(["127.0.0.1"]), fourEyes: new Set(["ledger adjust"]) },
    layerVenue: market.layerVenue
  })
  const partner = await service.partner({ code: "HIST" })
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, `/partner/v1${path}`, { key: partner.key, ...(body === undefined ? {} : { body }) })
  secret = (await call("PUT", "/webhook", { url: "https://127.0.0.1:9/hook" })).json.data.secret
  const body = person(1, "history", { "attestation.riskRating": "HIGH" })
  email = body.email
  const { data } = (await onboard(service, partner.key, body)).json
  clientId = data.clientId
  await service.done(["kyc", "clear", String(clientId), "--note", "seen"], "COMPLIANCE")
  const test = await service.done(["sim", "answers", "FAIL"])
  await call("POST", `/clients/${clientId}/appropriateness`, test)
  const report = { partnerRef: "h-1", direction: "DEPOSIT", amount: "5" }
  const { reportId } = (await collateral(service, partner.key, clientId, report)).json.data
  const adjust = ["ledger", "adjust", String(clientId), "--currency", "USDC", "--amount", "1", "--reason", "test"]
  const { approvalId } = await service.done(adjust)
  await service.done(["approval", "grant", String(approvalId)], "SECOND")
  const [item] = await query<{ readonly id: bigint }>(service, "SELECT id FROM settlement_items")
  const { deliveryId } = (await call("POST", "/webhook/test")).json.data
  await call("DELETE", "/webhook")
  await query(service, "UPDATE webhook_deliveries SET state = 'FAILED' WHERE id = $1", [BigInt(deliveryId)])
  await service.done(["webhook", "redeliver", String(deliveryId)])
  const imported = await importList(service)
  const add = (kind: Kind, id: unknown, ...actions: ReadonlyArray<string>) =>
    objects.set(kind, { id: String(id), actions })
  add("partner", "HIST", "partner.create")
  add("reliance", "HIST", "partner.create", "reliance.request", "reliance.approve")
  add("apiKey", partner.keyId, "key.issue")
  add("client", clientId, "client.onboard", "client.approve")
  add("kycPackage", data.kycPackageId, "kyc.store", "kyc.accept")
  add("verificationBlock", `${clientId}:PEP`, "kyc.store")
  add("assessment", clientId, "appropriateness.submit")
  add("case", data.review.caseId, "case.open", "case.clear")
  add("approval", approvalId, "approval.request", "approval.grant")
  add("watchImport", imported.importId, "screening.import.begin", "screening.import.finish")
  const { passId } = await vi.waitFor(
    async () => {
      const [pass] = (await service.done(["screening", "passes"])).passes
      assert.strictEqual(pass?.status, "DONE")
      return pass
    },
    { timeout: 20_000, interval: 20 }
  )
  add("screeningPass", passId, "screening.pass.begin", "screening.pass.finish")
  add("collateralReport", reportId, "collateral.report")
  add("settlementItem", item?.id, "settlement.item")
  const { noticeId, requestId } = await moneyOf(service)
  const broken = ["break", "open", "--scope", "HISW", "--currency", "EUR", "--amount", "1", "--reason", "test"]
  const { breakId } = await service.done(broken)
  await service.done(["break", "close", String(breakId), "--reason", "found"])
  add("depositNotice", noticeId, "deposit.file", "deposit.confirm")
  add("withdrawalRequest", requestId, "withdrawal.request", "withdrawal.approve", "withdrawal.pay")
  add("reconBreak", breakId, "break.open", "break.close")
  const { haltId } = await service.done(["market", "halt", "ALL", "--message", "test"])
  await service.done(["market", "resume", "ALL"])
  add("tradingHalt", haltId, "market.halt", "market.resume")
  const { probes } = await service.done(["sim", "venue", "probe", String(clientId)])
  add("venueProbe", probes[0].probeId, "venueProbe.begin", "venueProbe.end")
  const traded = await tradesOf(service)
  add("rfq", traded.rfqId, "rfq.create", "rfq.accept", "rfq.accepted")
  add("barrierContract", traded.contractId, "contract.open", "contract.tearUp", "contract.end")
  const ordered = await ordersOf(service)
  add("order", ordered.orderId, "order.place", "order.cancel", "order.end")
  add("attachment", ordered.parentId, "attachment.place")
  add("venueMisfit", await misfitOf(service, ordered), "venueMisfit.begin", "venueMisfit.end")
  add("swap", await swapOf(service), "swap.take", "swap.open", "swap.fee")
  const { statementId } = await service.done(["statement", "generate", String(clientId), "--kind", "ACCOUNT"])
  add("statement", statementId, "statement.generate")
  add("riskMonitor", traded.clientId, "risk.state", "risk.state")
  add("closeOut", traded.closeOutId, "closeout.start", "closeout.tearUp", "closeout.end")
  add("webhookEndpoint", "HIST", "webhook.register", "webhook.delete")
  add("webhookDelivery", deliveryId, "webhook.redeliver")
})
afterAll(() => service.stop())

/** For a sandbox partner under BROKER custody: a deposit confirmed at once, and a withdrawal paid at once. */
const moneyOf = async (on: OperatorService): Promise<{ readonly noticeId: number; readonly requestId: number }> => {
  const { key } = await on.partner({ code: "HISW", custody: "BROKER", collateralAsset: "", sandbox: true })
  const path = `/partner/v1/clients/${await on.client(key)}`
  const money = { partnerRef: "h-1", currency: "EUR", amount: "5" }
  const { noticeId } = (await on.call("POST", `${path}/deposits`, { key, body: money })).json.data
  const answer = await on.call("POST", `${path}/withdrawals`, { key, body: { ...money, destination: { iban: email } } })
  return { noticeId, requestId: answer.json.data.requestId }
}

/** A contract that its client's money no longer covers: torn up in a close-out. */
const tradesOf = async (on: OperatorService) => {
  const { key } = await on.partner({ code: "HIST2" })
  const { trader, post, rfqBody, until, poll } = contractSteps(on, key, stepsOf(on, key))
  const id = await trader()
  const { rfqId } = (await post(id, "/rfq", rfqBody())).json.data
  market.quote(rfqId, "60000")
  const { contractId } = await until(id, rfqId, ({ state }) => state === "ACCEPTED")
  assert.strictEqual((await post(id, `/barriers/${contractId}/close`, {})).status, 200)
  await query(
    on,
    `INSERT INTO notifications SELECT 9000000 + n, c.partner_id, c.client_id, 'BARRIER_NEAR_KO', CASE n WHEN 1 THEN c.id::text ELSE '0' END,
       a.ts, a.ts FROM barrier_contracts c CROSS JOIN generate_series(1, 2) n
         JOIN audit a ON a.object = 'barrierContract:' || c.id AND a.action = 'contract.open' WHERE c.id = $1`,
    [BigInt(contractId)]
  )
  const taken = ["ledger", "adjust", String(id), "--currency", "USDC", "--amount", "-998", "--reason", "test"]
  const { approvalId } = await on.done(taken)
  await on.done(["approval", "grant", String(approvalId)], "SECOND")
  const { closeouts } = await poll(
    () => on.done(["closeout", "list"]),
    (page) => page.closeouts[0]?.state === "DONE"
  )
  return { clientId: id, rfqId, contractId, closeOutId: closeouts[0].closeOutId }
}

/** A cancelled order and a protected one. */
const ordersOf = async (on: OperatorService) => {
  const { key } = await on.partner({ code: "HIST3" })
  const { trader, placed, cancel, limit, orderOf, poll } = orderSteps(on, key, stepsOf(on, key))
  const id = await trader()
  const orderId = await placed(id, limit("BUY", "0.001", "59000"))
  assert.strictEqual((await cancel(id, orderId)).status, 200)
  const market = { symbol: perp, side: "BUY", type: "MARKET", qty: "0.001", attach: { stopLoss: { price: "58000" } } }
  const parentId = await placed(id, market)
  await poll(
    () => orderOf(id, parentId),
    ({ attach }) => attach.legs.length > 0
  )
  return { clientId: id, orderId, parentId }
}

/** A false report of an order, and the venue's true answer to the read that follows. */
const misfitOf = async (
  on: OperatorService,
  { clientId: id, orderId }: { readonly clientId: number; readonly orderId: number }
): Promise<number> => {
  await inTurn(on, id, (turn) => {
    const misfit = { reason: "the side is SELL instead of BUY", worth: 1n }
    noteMisfit(turn, { ref: orderRef(orderId), misfit, bytes: null })
  })
  const rows = () => query<{ readonly id: bigint; readonly state: string }>(on, "SELECT id, state FROM venue_misfits")
  return vi.waitFor(
    async () => {
      const [misfit] = await rows()
      assert.strictEqual(misfit?.state, "ENDED")
      return Number(misfit?.id)
    },
    { timeout: 20_000, interval: 20 }
  )
}

/** A swap that is taken and partly paid, and whose fee the venue has corrected. */
const swapOf = async (on: OperatorService): Promise<number> => {
  const { key } = await on.partner({ code: "HIST4" })
  const { lender, taken, until } = stakingSteps(on, key, market, stepsOf(on, key))
  const id = await lender({ eth: "0" })
  const { swapId, contractId } = await taken(id, "USDC-SWAP", "10")
  market.pay(contractId, "1.5")
  await until(id, swapId, ({ paid }) => Number(paid) === 1.5)
  market.pay(contractId, "2")
  market.correctFee(contractId, "0.02")
  await until(id, swapId, ({ paid, fee }) => Number(paid) === 3.5 && Number(fee) === 0.02)
  return swapId
}

/** Imports a list with one name through the command line. */
const importList = async (on: OperatorService): Promise<{ readonly importId: number }> => {
  const folder = mkdtempSync(join(tmpdir(), "brokerage-history-"))
  const file = join(folder, "list.csv")
  writeFileSync(file, "name,list\nQuirin Zebrowski,PEP\n")
  const shown = await on.done(["screening", "import", file, "--source", "EU", "--version", "1"], "COMPLIANCE")
  rmSync(folder, { recursive: true, force: true })
  return shown
}

const inspect = (kind: string, id: string, ...args: ReadonlyArray<string>) =>
  service.done(["machine", "inspect", kind, id, ...args], "SUPPORT")

describe("operator surface, machine inspect", () => {
  it.each(kinds.map((kind) => ({ kind })))("A3-45: the history of a $kind is whole", async ({ kind }) => {
    const known = objects.get(kind)
    const shown = await inspect(kind, known?.id ?? "")
    const actions = shown.history.map(({ action }: { readonly action: string }) => action)
    if (kind !== "partner" && kind !== "client") assert.deepStrictEqual(actions, known?.actions)
    else for (const action of known?.actions ?? []) assert.include(actions, action)
    assert.include(Object.keys(machines[kind].machine.states), shown.state)
    assert.deepStrictEqual([shown.hasMore, shown.nextBefore], [false, null])
  })

  it.each(kinds.map((kind) => ({ kind })))("A3-45: a $kind shows no secret and no personal data", async ({ kind }) => {
    const text = JSON.stringify(await inspect(kind, objects.get(kind)?.id ?? ""))
    const [{ name }] = (await query<{ readonly name: string }>(
      service,
      "SELECT display_name AS name FROM clients WHERE id = $1",
      [BigInt(clientId)]
    )) as readonly [{ readonly name: string }]
    const [{ hash }] = (await query<{ readonly hash: string }>(service, "SELECT hash FROM api_keys")) as readonly [
      { readonly hash: string }
    ]
    for (const word of [email, secret, name, hash]) assert.notInclude(text, word)
  })

  it("D14: a delivery that waits shows when its next attempt is due, and its attempts", async () => {
    const shown = await inspect("webhookDelivery", objects.get("webhookDelivery")?.id ?? "")
    assert.strictEqual(shown.state, "PENDING")
    assert.deepStrictEqual(shown.timers, [{ name: "nextAttempt", dueAt: shown.context.nextAt }])
    assert.containsAllKeys(shown.context, ["attempts", "lastStatus", "error", "sentAt"])
  })

  it("A3-45: a long history is listed in pages, newest last, without gap or overlap", async () => {
    for (let n = 1; n <= 7; n++) await service.done(["partner", "limits", "HIST", "--read", String(1_000 + n)])
    const whole = (await inspect("partner", "HIST")).history
    const pages: Array<unknown> = []
    for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null;) {
      const page = await inspect("partner", "HIST", "--limit", "3", "--before", String(before))
      assert.isAtMost(page.history.length, 3)
      pages.unshift(...page.history)
      before = page.nextBefore
    }
    assert.deepStrictEqual(pages, whole)
    const ids = whole.map(({ auditId }: { readonly auditId: number }) => auditId)
    assert.deepStrictEqual(
      ids,
      ids.toSorted((a: number, b: number) => a - b)
    )
    const wrong = await service.cli(["machine", "inspect", "partner", "HIST", "--limit", "0"])
    assert.strictEqual(wrong.status, 2)
  })

  it("operator surface: a person reads state, timers and a time line", async () => {
    const shown = await inspect("reliance", "HIST")
    const drawn = render(instanceView({ ...shown, nextBefore: 17 }), plainScreen)
    const lines = drawn.split("\n")
    assert.match(drawn, /^kind {5}reliance$/m)
    assert.include(drawn, "no pending timers")
    assert.isDefined(lines.find((line) => /^TIME +TRANSITION +EVENT +ACTION +BY +REQUEST +REASON/.test(line)))
    assert.match(drawn, /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* +NONE -> REQUESTED +REQUEST +reliance\.request +ADMIN\/test/)
    assert.strictEqual(lines.at(-1), "older ones with --before 17")
  })

  it("D6, D8, D5: the path has the steps without an audit row, each in its order: trades, payments, warnings", async () => {
    const wayOf = async (kind: Kind, id = objects.get(kind)?.id ?? "") =>
      (await inspect(kind, id)).path as ReadonlyArray<PathStep>
    const said = (way: ReadonlyArray<PathStep>, ...events: ReadonlyArray<string>) =>
      way
        .filter(({ event }) => event !== null && events.includes(event))
        .map(({ event, from, to, guard, reason }) => `${from} ${event} ${guard} ${to}: ${reason}`)
    const parent = await wayOf("order", objects.get("attachment")?.id)
    const [fill = ""] = said(parent, "FILL")
    assert.match(fill, /^(SENT|ACKED) FILL complete FILLED: 0\.0010? at [0-9.]+, trade \d+\.$/)
    assert.match(said(parent, "ATTACHED")[0] ?? "", /^FILLED ATTACHED {2}FILLED: Protected by \d+\.$/)
    const [paid, more] = said(await wayOf("swap"), "PAID")
    assert.match(paid ?? "", /^OPEN PAID newPayment OPEN: 1\.500000 USDC, payment \d+ of the writer\.$/)
    assert.match(more ?? "", /^OPEN PAID newPayment OPEN: 2\.000000 USDC, payment \d+ of the writer\.$/)
    assert.match(
      said(await wayOf("swap"), "FEE").at(-1) ?? "",
      /^OPEN FEE newCorrection OPEN: Correction \d+ of the fee\.$/
    )
    const contract = await wayOf("barrierContract")
    assert.deepStrictEqual(said(contract, "NEAR_KO"), ["OPEN NEAR_KO  OPEN: The mark came near the barrier."])
    assert.lengthOf(said(contract, "CLOSE_REQUESTED"), 1)
    assert.strictEqual(contract.at(-1)?.to, "TORN_UP")
    for (const way of [parent, contract, await wayOf("swap")]) {
      const times = way.map(({ at }) => at)
      assert.deepStrictEqual(
        times,
        times.toSorted((a, b) => a - b)
      )
    }
  })

  it("D6: of an order of 10,000 trades a page shows the newest, and how many it leaves out", async () => {
    const orderId = objects.get("order")?.id ?? ""
    await query(
      service,
      `INSERT INTO fills SELECT (jsonb_populate_record(NULL::fills, to_jsonb(f) || jsonb_build_object('id', 9000000 + n,
         'order_id', $1::int8, 'trade_id', 9000000 + n, 'booked_at', o.created_at + n))).*
         FROM orders o, (SELECT * FROM fills LIMIT 1) f, generate_series(1, 10000) n WHERE o.id = $1`,
      [BigInt(orderId)]
    )
    const { path } = await inspect("order", orderId, "--limit", "100")
    const fills = path.filter(({ event }: PathStep) => event === "FILL")
    assert.lengthOf(fills, 100)
    assert.include(fills[0].reason, "9900 trades before it are left out.")
  })

  it("A3-45: audit tail --object shows one object alone, newest last", async () => {
    const object = `case:${objects.get("case")?.id}`
    const { entries } = await service.done(["audit", "tail", "--object", object])
    assert.deepStrictEqual(
      entries.map((entry: { readonly object: string; readonly action: string }) => `${entry.object} ${entry.action}`),
      [`${object} case.open`, `${object} case.clear`]
    )
    const last = await service.done(["audit", "tail", "--object", object, "--limit", "1"])
    assert.deepStrictEqual(last.entries, entries.slice(1))
    assert.deepStrictEqual((await service.done(["audit", "tail", "--object", "case:999999"])).entries, [])
  })

  it("operator surface: machine list --counts counts the objects of every machine by state", async () => {
    const { machines: counted } = await service.done(["machine", "list", "--counts"], "SUPPORT")
    assert.deepStrictEqual(
      counted.map(({ name }: { readonly name: string }) => name),
      [...kinds]
    )
    const statesOf = (kind: Kind) => counted.find(({ name }: { readonly name: string }) => name === kind).states
    assert.deepStrictEqual(statesOf("client"), { ACTIVE: 5 })
    assert.deepStrictEqual(statesOf("approval"), { GRANTED: 2 })
    assert.deepStrictEqual(statesOf("verificationBlock"), { APPROVED: 50, SUBMITTED: 1 })
    const human = await runRecorded(["machine", "list", "--counts", ...service.connection("ADMIN")])
    assert.match(human.stdout, /^client +5 +ACTIVE 5$/m)
  })

  it("A3-45: a client with 100,000 audit rows: the history of one object reads that object's rows alone", async () => {
    await query(
      service,
      `INSERT INTO audit SELECT 10000000 + n, 1, 'SYSTEM', 'x', 'x', 1, $1, 'collateralReport:' || (5000000 + n), 'collateral.report',
         null, 'BOOKED', null FROM generate_series(1, 100000) n`,
      [BigInt(clientId)]
    )
    const { text, values } = historyStatement({ sources: [{ object: "collateralReport:5000007" }], limit: 201 })
    const plan = await service.run(
      Effect.flatMap(PgClient.PgClient, (sql) =>
        sql.unsafe<{ readonly "QUERY PLAN": string }>(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, values)
      )
    )
    const lines = plan.map((row) => row["QUERY PLAN"])
    assert.isDefined(
      lines.find((line) => /using audit_object|on audit_object/.test(line)),
      lines.join("\n")
    )
    const read = Number(/shared hit=(\d+)/.exec(lines.find((line) => line.includes("Buffers")) ?? "")?.[1] ?? 0)
    assert.isBelow(read, 20, lines.join("\n"))
    const { entries } = await service.done(["audit", "tail", "--object", "collateralReport:5000007"])
    assert.lengthOf(entries, 1)
  })
})
