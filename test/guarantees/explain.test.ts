/**
 * Explain and the write use the same gates: for every state and body, explain predicts the write's verdict and
 * sentence, and writes nothing (doc 3, Money write gates and Collateral report rules; A3-02, A3-08, A3-14, A1-31).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { brokenInvariants, comply, rowCounts } from "../support/Builders.ts"
import { type OperatorService, startOperatorService } from "../operator/operatorHarness.ts"
import { operator } from "../support/Service.ts"

type Custody = "PARTNER" | "BROKER"
type Body = Readonly<Record<string, unknown>>

let service: OperatorService
let partners: Record<Custody | "SANDBOX", { readonly key: string; readonly other: number }>
beforeAll(async () => {
  service = await startOperatorService()
  const partner = async (code: string, custody: Custody, sandbox: boolean) => {
    const asset = custody === "PARTNER" ? { collateralAsset: "EURD" } : { collateralAsset: "" }
    const { key } = await service.partner({ code, custody, sandbox, ...asset })
    const other = await service.client(key)
    await post(key, custody === "PARTNER" ? "collateral" : "deposits", other, { ...sample, partnerRef: "taken" })
    return { key, other }
  }
  partners = {
    PARTNER: await partner("EXPART", "PARTNER", false),
    BROKER: await partner("EXBROK", "BROKER", false),
    SANDBOX: await partner("EXSAND", "BROKER", true)
  }
})
afterAll(async () => {
  assert.deepStrictEqual(await brokenInvariants(service), [])
  await service.stop()
})

const sample = { partnerRef: "r", direction: "DEPOSIT", currency: "USDC", amount: "1" }
/** `destination` is JSON text and is sent unchanged. */
const rawOf = ({ destination, ...body }: Body): string =>
  destination === undefined
    ? JSON.stringify(body)
    : `${JSON.stringify(body).slice(0, -1)},"destination":${String(destination)}}`
const post = (key: string, route: string, clientId: number, body: Body) =>
  service.call("POST", `/partner/v1/clients/${clientId}/${route}`, { key, raw: rawOf(body) })

const adjust = (clientId: number, amount: string) =>
  service.run(
    Effect.provide(
      Effect.flatMap(Adjustments, (adjustments) =>
        adjustments.adjust(operator, String(clientId), { currency: "USDC", amount, reason: "test" })
      ),
      Adjustments.layer
    )
  )

type Change = "FROZEN" | "NO_WITHDRAWALS" | "lift" | "debit" | "credit" | "reject"
/** A command that this state does not allow leaves the state unchanged, and that state is tested too. */
const change = async (clientId: number, what: Change): Promise<void> => {
  const client = String(clientId)
  if (what === "debit") return void (await adjust(clientId, "-30"))
  if (what === "credit") return void (await adjust(clientId, "50"))
  const run = comply(service, (compliance) => {
    if (what === "reject") return compliance.reject(operator, client, "test")
    return what === "lift"
      ? compliance.lift(operator, client, "FROZEN", "test")
      : compliance.restrict(operator, client, what, "test")
  })
  await run.catch(() => undefined)
}

const amounts = [
  "1",
  "2",
  "3",
  "1",
  "2",
  "3",
  "25",
  "49.999999",
  "50",
  "14999",
  "20000",
  "0",
  "-1",
  "x",
  "1.0000001",
  "9223372036854"
]
/** JSON texts, because a parsed number loses its spelling. */
const destinations = [
  "{}",
  '{"iban":"DE02"}',
  '{"a":1.0}',
  '{"a":{"b":[1.0]}}',
  '{"a":12345678901234567890}',
  '{"a":{"b":1e2}}',
  '{"a":10}',
  '"x"',
  "null"
]
const bodies = fc.record(
  {
    partnerRef: fc.constantFrom("r1", "r2", "r3", "r1", "r2", "r3", "r4", "r5", "taken", ""),
    direction: fc.constantFrom("DEPOSIT", "DEPOSIT", "WITHDRAWAL", "WITHDRAWAL", "WITHDRAWAL", "SIDEWAYS"),
    currency: fc.constantFrom("USDC", "USDC", "USDC", "USDC", "USDC", "USDC", "EUR", "ZZZ"),
    amount: fc.constantFrom(...amounts),
    destination: fc.constantFrom(...destinations)
  },
  { requiredKeys: ["partnerRef", "amount", "currency"] }
)
const writes = ["collateral", "deposits", "withdrawals"] as const
const steps = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom<Change>("FROZEN", "NO_WITHDRAWALS", "lift", "debit", "credit", "credit") },
    { weight: 6, arbitrary: fc.record({ write: fc.constantFrom(...writes, "collateral" as const), body: bodies }) }
  ),
  { minLength: 10, maxLength: 25 }
)

describe("explain", () => {
  it.each(["PARTNER", "BROKER", "SANDBOX"] as const)(
    "A3-02: predicts verdict and sentence of every write in every state (%s)",
    async (name) => {
      const { key } = partners[name]
      const outcomes = new Set<string>()
      await fc.assert(
        fc.asyncProperty(steps, fc.boolean(), fc.nat(), async (list, rejected, run) => {
          const clientId = await service.client(key)
          if (rejected && run % 3 === 0) await change(clientId, "reject")
          for (const step of list) {
            if (typeof step === "string") await change(clientId, step)
            else {
              const unique = (ref: string) => (ref === "" || ref === "taken" ? ref : `${clientId}-${ref}`)
              const body = { ...step.body, partnerRef: unique(step.body.partnerRef) }
              const explained = await post(key, `${step.write}/explain`, clientId, body)
              assert.strictEqual(explained.status, 200, explained.text)
              const { outcome, code, sentence, gates } = explained.json.data
              const written = await post(key, step.write, clientId, body)
              const status = { ACCEPTED: 201, REPLAYED: 200 }[outcome as string]
              if (status !== undefined) assert.strictEqual(written.status, status, `${explained.text} ${written.text}`)
              else assert.deepStrictEqual([written.json.code, written.json.msg], [code, sentence], explained.text)
              const results = gates.map((gate: { status: string }) => gate.status).join(" ")
              assert.match(
                results,
                outcome === "REFUSED" ? /^(passed )*failed( notReached)*$/ : /^passed( passed| notReached)*$/
              )
              outcomes.add(`${step.write} ${outcome}`)
            }
          }
        }),
        { numRuns: 25, endOnFailure: true }
      )
      assert.isAtLeast(outcomes.size, 4, [...outcomes].join(", "))
    },
    120_000
  )

  it("A3-14: shows every gate in order, with the compared figures; gates after the first refusal are not reached", async () => {
    const { key } = partners.PARTNER
    const clientId = await service.client(key)
    await post(key, "collateral", clientId, { ...sample, partnerRef: `${clientId}-in`, amount: "10" })
    const body = { partnerRef: `${clientId}-out`, direction: "WITHDRAWAL", amount: "12.5" }
    const { json } = await post(key, "collateral/explain", clientId, body)
    assert.deepInclude(json.data, {
      write: "collateral",
      outcome: "REFUSED",
      code: 4092,
      sentence: "The withdrawal exceeds the client's collateral on the books."
    })
    type Row = { gate: string; status: string; compared: object | null }
    assert.deepStrictEqual(
      json.data.gates.map(({ gate, status }: Row) => [gate, status]),
      [
        ["custody", "passed"],
        ["fields", "passed"],
        ["ownReference", "passed"],
        ["account", "passed"],
        ["verification", "passed"],
        ["reference", "passed"],
        ["size", "passed"],
        ["restriction", "passed"],
        ["collateralOnBooks", "failed"],
        ["marginState", "notReached"],
        ["freeMargin", "notReached"],
        ["livePrices", "notReached"]
      ]
    )
    assert.deepStrictEqual(json.data.gates[8].compared, { figure: "12.500000", limit: "10.000000" })
  })

  it.each(['{"a":1.0}', '{"a":12345678901234567890}', '{"a":[{"b":1e2}]}'])(
    "A3-07: a destination that would not be stored as written (%s) is refused as by the write",
    async (destination) => {
      const { key } = partners.BROKER
      const clientId = await service.client(key)
      const body = { partnerRef: `${clientId}-w`, currency: "USDC", amount: "1", destination }
      const explained = (await post(key, "withdrawals/explain", clientId, body)).json.data
      const written = (await post(key, "withdrawals", clientId, body)).json
      assert.deepStrictEqual([explained.outcome, explained.code], ["REFUSED", 4000])
      assert.deepStrictEqual([explained.sentence, explained.data], [written.msg, written.data])
      const line = ["explain", "withdrawal", String(clientId), "--amount", "1", "--destination", destination]
      assert.deepInclude(await service.done(line), { code: 4000, sentence: written.msg })
    }
  )

  it("writes nothing and claims no reference; a READ key may use it, and no partner for another partner's client", async () => {
    const { partnerId } = await service.partner({ code: "EXREAD" }, "READ").then(async (read) => ({ ...read }))
    assert.isAbove(partnerId, 0)
    const reader = await service.partner({ code: "EXREAD2" }, "READ")
    const foreign = await post(reader.key, "collateral/explain", partners.PARTNER.other, sample)
    assert.deepStrictEqual([foreign.status, foreign.json.code], [404, 4004])
    const { key } = partners.PARTNER
    const clientId = await service.client(key)
    const before = await rowCounts(service)
    const body = { ...sample, partnerRef: `${clientId}-fresh` }
    for (let n = 0; n < 3; n++) assert.strictEqual((await post(key, "collateral/explain", clientId, body)).status, 200)
    assert.deepStrictEqual(await rowCounts(service), before)
    assert.strictEqual((await post(key, "collateral", clientId, body)).status, 201)
    const again = await post(key, "collateral/explain", clientId, body)
    assert.strictEqual(again.json.data.outcome, "REPLAYED")
  })

  it("the command line sends the same query, in every role", async () => {
    const { key } = partners.BROKER
    const clientId = String(await service.client(key))
    const line = ["explain", "withdrawal", clientId, "--amount", "5"]
    const answer = await service.done(line, "SUPPORT")
    assert.deepInclude(answer, { write: "withdrawal", outcome: "REFUSED", code: 4000 })
    assert.match(answer.sentence, /insufficient free balance/)
    assert.deepInclude(await service.done(["explain", "deposit", clientId, "--amount", "5"]), { outcome: "ACCEPTED" })
    const custody = await service.done(["explain", "collateral", clientId, "--amount", "5", "--direction", "DEPOSIT"])
    assert.deepStrictEqual(
      [custody.gates[0].status, custody.gates[0].compared],
      ["failed", { figure: "BROKER", limit: "PARTNER" }]
    )
    assert.strictEqual((await service.cli(["explain", "deposit", "999999", "--amount", "5"])).refusal.code, 4004)
  })
})
