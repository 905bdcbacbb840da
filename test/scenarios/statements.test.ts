/** Statements over HTTP: made, listed, read as model, PDF and CSV, in versions (doc 2, Statements; A2-65, A2-66, A2-69..A2-75, STS-15..STS-32). */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import canonicalize from "canonicalize"
import { currentRenderer } from "../../src/machines/statement/Statement.ts"
import { verifyLedger } from "../../src/runtime/ledger/verify.ts"
import { Statements } from "../../src/runtime/services/statements/Statements.ts"
import { collateral, get, query } from "../support/Builders.ts"
import { inTurn, putFill, putOrder } from "../support/orderRows.ts"
import { openScenario } from "../support/Scenario.ts"
import { operator } from "../support/Service.ts"

const { service, key, client, now, call, close } = await openScenario({ damaged: true })

const money = async (clientId: number, partnerRef: string, direction: string, amount: string) => {
  const answer = await collateral(service, key, clientId, { partnerRef, direction, amount })
  assert.strictEqual(answer.status, 201, answer.text)
}
const made = async (clientId: number, body: object) => {
  const answer = await call("POST", clientId, "/statements", body)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.json
}
const read = async (clientId: number, statementId: number) => {
  const answer = await get(service, key, `/clients/${clientId}/statements/${statementId}`)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer
}

/** The model's text in the answer, from its first brace to its last. */
const modelText = (text: string): string => text.slice(text.indexOf('"model":') + '"model":'.length, -1)

describe("ACCOUNT", () => {
  it("A2-69: opening, rows with the balance after each, closing, totals; its text has the hash", async () => {
    const clientId = await client()
    await money(clientId, "a-1", "DEPOSIT", "100")
    const from = await now()
    await money(clientId, "a-2", "DEPOSIT", "50.5")
    await money(clientId, "a-3", "WITHDRAWAL", "20.25")
    const row = await made(clientId, { kind: "ACCOUNT", from, to: (await now()) + 86_400_000 })
    assert.deepInclude(row, {
      clientId,
      kind: "ACCOUNT",
      version: 1,
      supersedes: null,
      state: "GENERATED",
      rows: 2,
      generatedBy: "PARTNER"
    })
    const answer = await read(clientId, row.statementId)
    assert.strictEqual(answer.headers["content-type"], "application/json")
    const text = modelText(answer.text)
    assert.strictEqual(createHash("sha256").update(text).digest("hex"), row.sha256)
    const { model } = answer.json
    assert.strictEqual(canonicalize(model), text, "the text is canonical")
    const [section] = model.sections
    assert.deepStrictEqual(section.opening, { cash: "100.000000", reserved: "0.000000" })
    assert.deepStrictEqual(section.closing, { cash: "130.250000", reserved: "0.000000" })
    assert.deepStrictEqual(
      section.rows.map((each: { amount: string; balance: string; kind: string }) => [
        each.amount,
        each.balance,
        each.kind
      ]),
      [
        ["50.500000", "150.500000", "cash"],
        ["-20.250000", "130.250000", "cash"]
      ]
    )
    assert.deepStrictEqual(section.totals, [
      { type: "PARTNER_COLLATERAL_IN", amount: "50.500000" },
      { type: "PARTNER_COLLATERAL_OUT", amount: "-20.250000" }
    ])
    assert.match(model.ledgerSeal.hash, /^[0-9a-f]{64}$/)
  })

  it("A2-66: the same period gives the same: one row, whichever caller and however often", async () => {
    const clientId = await client()
    const from = await now()
    await money(clientId, "b-1", "DEPOSIT", "1")
    const to = await now()
    const body = { kind: "ACCOUNT", from: from - 1000, to }
    const rows = await Promise.all(Array.from({ length: 6 }, () => made(clientId, body)))
    assert.strictEqual(new Set(rows.map(({ statementId }) => statementId)).size, 1)
    const list = await get(service, key, `/clients/${clientId}/statements`)
    assert.deepStrictEqual(list.json.statements, [rows[0]])
    const feed = await get(service, key, `/clients/${clientId}/notifications`)
    assert.deepStrictEqual(
      feed.json.data.items
        .filter((item: { kind: string }) => item.kind === "STATEMENT_READY")
        .map((item: { ref: string }) => item.ref),
      [String(rows[0].statementId)]
    )
  })

  it("STS-32: PDF and CSV are attachments with an ETag, of the same bytes each time", async () => {
    const clientId = await client()
    const from = await now()
    await money(clientId, "c-1", "DEPOSIT", "12.5")
    const row = await made(clientId, { kind: "ACCOUNT", from, to: (await now()) + 1000 })
    for (const form of ["pdf", "csv"] as const) {
      const path = `/clients/${clientId}/statements/${row.statementId}/${form}`
      const one = await get(service, key, path)
      assert.strictEqual(one.status, 200)
      assert.strictEqual(one.text, (await get(service, key, path)).text)
      assert.strictEqual(one.headers["cache-control"], "private")
      assert.strictEqual(one.headers.etag, `"${row.sha256}-${currentRenderer}"`)
      assert.match(
        String(one.headers["content-disposition"]),
        new RegExp(`^attachment; filename="P1-[0-9]{8}-ACCOUNT-.*-v1\\.${form}"$`)
      )
      const known = await service.call("GET", `/partner/v1${path}`, {
        key,
        headers: { "if-none-match": `W/"x", "${row.sha256}-${currentRenderer}"` }
      })
      assert.deepStrictEqual(
        [known.status, known.text, known.headers.etag],
        [304, "", `"${row.sha256}-${currentRenderer}"`]
      )
      const head = await service.call("HEAD", `/partner/v1${path}`, { key })
      assert.deepStrictEqual(
        [head.status, head.text, head.headers.etag],
        [200, "", `"${row.sha256}-${currentRenderer}"`]
      )
    }
    const csv = await get(service, key, `/clients/${clientId}/statements/${row.statementId}/csv`)
    assert.strictEqual(csv.headers["content-type"], "text/csv; charset=utf-8; header=present")
    const lines = csv.text.split("\r\n")
    assert.strictEqual(lines[0], "ts,venueTs,currency,type,amount,balance,kind,postingId,txId,refs")
    assert.match(lines[1] ?? "", /^[^,]+Z,,USDC,OPENING,,0\.000000,cash,,,$/)
    assert.match(lines[3] ?? "", /,USDC,PARTNER_COLLATERAL_IN,12\.500000,12\.500000,cash,/)
    const pdf = await get(service, key, `/clients/${clientId}/statements/${row.statementId}/pdf`)
    assert.strictEqual(pdf.headers["content-type"], "application/pdf")
    assert.isTrue(pdf.text.startsWith("%PDF-1.7"))
  })
})

describe("the other kinds", () => {
  it("A2-71: TRANSACTIONS has one row an execution, in the order of booking", async () => {
    const clientId = await client()
    const from = await now()
    await inTurn(service, clientId, (turn) => {
      const orderId = putOrder(turn, { state: "FILLED" })
      putFill(turn, orderId, { commission: 0n })
      putFill(turn, orderId, { side: "SELL", closedQty: "0.1000", commission: 0n, ts: turn.now - 60_000 })
    })
    const row = await made(clientId, { kind: "TRANSACTIONS", from, to: (await now()) + 1000 })
    assert.strictEqual(row.rows, 2)
    const { model } = (await read(clientId, row.statementId)).json
    assert.deepStrictEqual(
      model.sections[0].rows.map((each: { side: string; nature: string; consideration: string }) => [
        each.side,
        each.nature,
        each.consideration
      ]),
      [
        ["BUY", "TRADE", "6000.000000"],
        ["SELL", "TRADE_CLOSING", "6000.000000"]
      ]
    )
    assert.notInclude(JSON.stringify(model), "test@")
  })

  it("A2-70, A2-72, A2-73: COSTS, TAX and CLIENT_ASSETS of a client that did nothing", async () => {
    const clientId = await client()
    for (const body of [{ kind: "COSTS" }, { kind: "TAX" }, { kind: "CLIENT_ASSETS" }]) {
      const row = await made(clientId, body)
      const { model } = (await read(clientId, row.statementId)).json
      assert.strictEqual(model.kind, body.kind)
      for (const form of ["pdf", "csv"] as const) {
        const file = await get(service, key, `/clients/${clientId}/statements/${row.statementId}/${form}`)
        assert.strictEqual(file.status, 200, file.text)
        assert.isAbove(file.text.length, 20)
      }
    }
  })
})

describe("versions", () => {
  it("STS-33: a correction with equal content is refused, one with other content is the next version", async () => {
    const clientId = await client()
    const from = await now()
    await money(clientId, "v-1", "DEPOSIT", "7")
    const to = await now()
    const row = await made(clientId, { kind: "ACCOUNT", from: from - 1000, to: to + 1 })
    const again = await service.run(
      Effect.provide(
        Effect.flatMap(Statements, (each) => each.correct(operator.by, row.statementId, "looked wrong")),
        Statements.layer
      )
    )
    assert.deepInclude(again, { ok: false })
    assert.deepInclude((again as { refusal: object }).refusal, { _tag: "Conflict" })
  })

  it("A2-66, STS-33: once a fact changes, a correction is version 2; both stay readable, one alone is live", async () => {
    const clientId = await client()
    const from = (await now()) - 1000
    await money(clientId, "v-2", "DEPOSIT", "7")
    const to = (await now()) + 1
    // A period that has not ended yet would be cut at the time of its statement, and would differ later.
    await vi.waitUntil(async () => (await now()) >= to, { interval: 1 })
    const row = await made(clientId, { kind: "ACCOUNT", from, to })
    // Changes the stored history: the partner had another custody model until today.
    const partnerId = "(SELECT partner_id FROM clients LIMIT 1)"
    await query(
      service,
      `INSERT INTO custody_changes VALUES (999999999, ${partnerId}, 'BROKER', 'PARTNER', '', 'planted', 'ADMIN', ${to + 3_600_000})`
    )
    const correct = () =>
      service.run(
        Effect.provide(
          Effect.flatMap(Statements, (each) => each.correct(operator.by, row.statementId, "custody was wrong")),
          Statements.layer
        )
      )
    const corrected = (await correct()) as { readonly ok: true; readonly value: { readonly statementId: number } }
    assert.deepInclude(corrected.value as object, {
      version: 2,
      supersedes: row.statementId,
      state: "GENERATED",
      correctionReason: "custody was wrong"
    })
    const [first, second] = [await read(clientId, row.statementId), await read(clientId, corrected.value.statementId)]
    assert.deepInclude(first.json, { state: "SUPERSEDED", supersededBy: corrected.value.statementId })
    assert.strictEqual(createHash("sha256").update(modelText(first.text)).digest("hex"), row.sha256)
    assert.deepStrictEqual([first.json.model.custodyModel, second.json.model.custodyModel], ["PARTNER", "BROKER"])
    assert.deepStrictEqual(second.json.model.sections, first.json.model.sections)
    // Only the live version can be corrected, and a request for the period returns it.
    assert.deepInclude(await correct(), { ok: false })
    assert.strictEqual((await made(clientId, { kind: "ACCOUNT", from, to })).statementId, corrected.value.statementId)
    const { checks } = await service.run(verifyLedger)
    const broken = checks.filter(({ name, ok }) => name.includes("statement") && !ok)
    assert.deepStrictEqual(broken, [])
  })

  it("STS-15: a period before the account's opening is of nothing, and a closed account has its statements", async () => {
    const clientId = await client()
    const opened = await now()
    const before = { from: opened - 20 * 86_400_000, to: opened - 10 * 86_400_000 }
    for (const kind of ["ACCOUNT", "COSTS", "TRANSACTIONS"] as const)
      assert.strictEqual((await made(clientId, { kind, ...before })).version, 1)
    const costs = await made(clientId, { kind: "COSTS", ...before })
    assert.deepInclude((await read(clientId, costs.statementId)).json.model.sections[0], {
      total: "0.000000",
      averageEquity: null,
      pctOfTurnover: null,
      startEquity: "0.000000",
      returnAfterCostsPct: null
    })
    await close(clientId)
    const row = await made(clientId, { kind: "ACCOUNT", from: opened - 1000, to: (await now()) + 1 })
    assert.strictEqual((await read(clientId, row.statementId)).json.model.kind, "ACCOUNT")
  })
})
