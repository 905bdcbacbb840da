/**
 * Money outside the cash does not escape a write-off. A client's shortfall is written off at once. A waiting withdrawal stands
 * behind the write-off, can't be approved, and repays the write-off when its money comes back (F10).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type FinanceRuling, Withdrawals } from "../../src/runtime/services/money/withdrawal/Withdrawals.ts"
import { moneyOutSentences } from "../../src/machines/withdrawal/moneyOut.ts"
import { ofClient } from "../support/Builders.ts"
import { orderSteps, orderVenue } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { broker, openOn } from "../support/Scenario.ts"
import { type Answer, finance } from "../support/Service.ts"
import { runRecorded, startOperatorService } from "./operatorHarness.ts"

const world = orderVenue()
const { service, key, call, cash, adjust, rowOf } = await openOn(startOperatorService, {
  layerVenue: world.layerVenue,
  partner: broker
})
/** Under BROKER custody, finance books deposits. */
const report = async (clientId: number, body: Readonly<Record<string, unknown>> = {}): Promise<Answer> => {
  await adjust(clientId, String(body["amount"]))
  return { status: 201, text: "" } as Answer
}
const { trader, place, poll } = orderSteps(service, key, { call, report })

const ask = async (clientId: number, amount: string): Promise<number> => {
  const body = { partnerRef: `w-${clientId}-${amount}`, currency: "USDC", amount }
  const { status, json, text } = await call("POST", clientId, "/withdrawals", body)
  assert.strictEqual(status, 201, text)
  return json.data.requestId
}
const rule = (requestId: number, ruling: FinanceRuling) =>
  service.run(Effect.flatMap(Withdrawals, (withdrawals) => withdrawals.rule(finance, requestId, ruling)))
const episodesOf = (clientId: number) => ofClient(service, "closeOuts", clientId)

/** A client with 6,000 USDC and a long position of 0.1 from 60,000. */
const holder = async (): Promise<number> => {
  world.price("60000")
  world.book(perp, "5")
  const clientId = await trader("6000.00")
  const bought = await poll(
    () => place(clientId, { symbol: perp, side: "BUY", type: "MARKET", qty: "0.1" }),
    ({ status }) => status === 200
  )
  assert.deepInclude(bought.json, { state: "FILLED" }, bought.text)
  return clientId
}
/** The mark falls to 15,000. The shortfall exceeds 4,000 and is written off. */
const fallen = async (clientId: number): Promise<number> => {
  world.price("15000")
  await poll(
    () => episodesOf(clientId),
    (all) => all.some(({ state }) => state === "DONE")
  )
  assert.strictEqual(await cash(clientId), "0.000000")
  assert.deepInclude(await rowOf(clientId), { riskState: "NORMAL" })
  const [episode] = await episodesOf(clientId)
  return Number(episode?.context.writtenOff)
}

describe("F10: a withdrawal that waits while a gap costs more than the cash", () => {
  it("is behind the write-off: not approved, and when it is cancelled it repays first; the rest is cash", async () => {
    const clientId = await holder()
    const requestId = await ask(clientId, "5200")
    const off = await fallen(clientId)
    assert.isAbove(off, 3_000)
    const refused = await rule(requestId, { to: "APPROVED" })
    assert.isTrue(!refused.ok && JSON.stringify(refused.refusal).includes(moneyOutSentences.insufficient))
    const [{ id } = { id: 0 }] = await episodesOf(clientId)
    const shown = await service.done(["closeout", "show", `CO-${id}`])
    assert.deepInclude(shown, { repaid: "0.000000", behindAmount: "5200.000000", waits: [] })
    assert.deepStrictEqual(shown.behind, [
      { what: "WITHDRAWAL", id: requestId, state: "REQUESTED", amount: "5200.000000" }
    ])
    const { stdout } = await runRecorded(["closeout", "show", `CO-${id}`, ...service.connection("SUPPORT")])
    assert.match(stdout, /behind the write-off +5200\.000000 USDC outside the cash/)
    // Later money belongs to the client. A later withdrawal of it does not stand behind the write-off.
    await adjust(clientId, "100")
    const later = await ask(clientId, "40")
    assert.isTrue((await rule(later, { to: "APPROVED" })).ok)
    assert.strictEqual((await call("POST", clientId, `/withdrawals/${requestId}/cancel`, {})).status, 200)
    assert.strictEqual(Number(await cash(clientId)), Number((60 + 5_200 - off).toFixed(6)))
    const [paid] = await episodesOf(clientId)
    assert.deepInclude(paid, { unrepaid: 0n, state: "DONE" })
    assert.strictEqual(Number(paid?.context.repaid), off)
    assert.deepInclude(await service.done(["closeout", "show", `CO-${id}`]), { behind: [], behindAmount: "0.000000" })
    const own = (await ofClient(service, "ledgerTransactions", clientId)).filter(({ type }) => type === "NBP_WRITEOFF")
    assert.deepStrictEqual(
      own.map(({ key: name, refs }) => [name, refs["episodeId"], refs["requestId"] ?? null]),
      [
        [`nbp:${id}`, `CO-${id}`, null],
        [`nbp:${id}:1`, `CO-${id}`, requestId]
      ]
    )
  }, 60_000)

  it("approved before, it repays when the bank refuses it; rejected it repays as well, a part where there is no more", async () => {
    const clientId = await holder()
    const gone = await ask(clientId, "1500")
    for (const to of ["APPROVED", "PAID"] as const) assert.isTrue((await rule(gone, { to })).ok)
    const approved = await ask(clientId, "1000")
    assert.isTrue((await rule(approved, { to: "APPROVED" })).ok)
    const waiting = await ask(clientId, "500")
    const off = await fallen(clientId)
    for (const [requestId, to] of [
      [approved, "FAILED"],
      [waiting, "REJECTED"]
    ] as const)
      assert.isTrue((await rule(requestId, { to, reason: "no such account" })).ok)
    assert.strictEqual(await cash(clientId), "0.000000")
    const [episode] = await episodesOf(clientId)
    assert.deepInclude(episode?.context, { repaid: "1500.000000", repayments: 2 })
    assert.strictEqual(Number(episode?.unrepaid), Math.round((off - 1_500) * 1e6))
    const [listed] = (await service.done(["closeout", "list", "--client", String(clientId)])).closeouts
    assert.deepInclude(listed, { state: "DONE", repaid: "1500.000000" })
  }, 60_000)
})
