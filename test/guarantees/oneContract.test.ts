/**
 * However the venue's answers are lost, one accept makes at most one contract and one commission, and its outcome is
 * always resolved (A1-51, A1-53, A2-26, D4).
 */
import { assert, describe, it } from "@effect/vitest"
import { get, notReached, ofClient } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { answerWithin, progressOn, quickClock } from "../support/quickClock.ts"
import { openScenario } from "../support/Scenario.ts"

const world = contractVenue()
/** The service queries the outcome of a call once before a test ends the wait of a route. */
const routes = quickClock()
const { service, key, call, report } = await openScenario({
  layerVenue: world.layerVenue,
  venue: { progress: progressOn(routes) }
})
const { trader, rfqBody, post, until, poll, rfqOf } = contractSteps(service, key, { call, report })

const commissions = async (clientId: number): Promise<ReadonlyArray<string>> =>
  (await get(service, key, `/clients/${clientId}/ledger`)).json.data.postings
    .filter(({ type }: { readonly type: string }) => type === "COMMISSION")
    .map(({ amount }: { readonly amount: string }) => amount)

const contracts = async (clientId: number): Promise<number> =>
  (await ofClient(service, "barrierContracts", clientId)).length

/** A client with a request without automatic accept, and one live quote. */
const quoted = async () => {
  const clientId = await trader()
  const { rfqId } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
  const quoteId = world.quote(rfqId, "60000")
  await until(clientId, rfqId, (rfq) => rfq.quotes.length === 1)
  return { clientId, rfqId, quoteId }
}

describe("A2-26: one accept, one contract", () => {
  it("the venue executes and its answer is lost: the contract appears once, without a retry, at the quote's price", async () => {
    const { clientId, rfqId, quoteId } = await quoted()
    world.failing((name) => (name === "acceptQuote" ? { lost: "after" } : {}))
    const answer = await post(clientId, `/rfq/${rfqId}/accept`, { quoteId })
    assert.include([200, 502], answer.status)
    world.failing(() => ({}))
    const done = await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")
    assert.deepInclude(done, { acceptedQuoteId: quoteId, entryPrice: "60000.0", accepting: false })
    assert.deepInclude(done.quotes[0], { quoteId, state: "ACCEPTED" })
    assert.deepStrictEqual([await contracts(clientId), await commissions(clientId)], [1, ["-1.200000"]])
  }, 20_000)

  it("the venue is silent before it executes: the ref is voided, nothing is booked, and another quote can be accepted", async () => {
    const { clientId, rfqId, quoteId } = await quoted()
    world.failing((name) => (name === "acceptQuote" ? { lost: "before" } : {}))
    const answer = await post(clientId, `/rfq/${rfqId}/accept`, { quoteId })
    assert.deepStrictEqual(
      [answer.status, answer.json],
      [502, notReached({ rfqId, quoteId, state: "OPEN", accepting: false })]
    )
    const again = await post(clientId, `/rfq/${rfqId}/accept`, { quoteId })
    assert.strictEqual(again.json.msg, "An accept of this quote did not reach the venue: accept another quote.")
    const free = await until(clientId, rfqId, (rfq) => !rfq.accepting)
    world.failing(() => ({}))
    assert.deepInclude(free, { state: "OPEN", acceptedQuoteId: null })
    assert.deepStrictEqual([await contracts(clientId), await commissions(clientId)], [0, []])
    const next = world.quote(rfqId, "60010", { dealer: "beta" })
    await until(clientId, rfqId, (rfq) => rfq.quotes.length === 2)
    assert.strictEqual((await post(clientId, `/rfq/${rfqId}/accept`, { quoteId: next })).status, 200)
    assert.strictEqual(await contracts(clientId), 1)
  }, 20_000)

  it("the venue executes and does not show the contract: the accept stays in flight, and is queried until the contract appears", async () => {
    const { clientId, rfqId, quoteId } = await quoted()
    world.hide(true)
    let questions = 0
    world.failing((name) => {
      if (name === "voidRefs") questions++
      return {}
    })
    const accepting = post(clientId, `/rfq/${rfqId}/accept`, { quoteId })
    const answer = await routes.after(world.requested("voidRefs"), answerWithin, accepting)
    assert.strictEqual(answer.status, 502, answer.text)
    await poll(
      () => Promise.resolve(questions),
      (asked) => asked >= 2
    )
    assert.deepInclude(await rfqOf(clientId, rfqId), { state: "OPEN", accepting: true })
    assert.deepStrictEqual([await contracts(clientId), await commissions(clientId)], [0, []])
    world.hide(false)
    await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")
    world.failing(() => ({}))
    assert.deepStrictEqual([await contracts(clientId), await commissions(clientId)], [1, ["-1.200000"]])
  }, 30_000)

  it("a retry under the key calls the venue once, whatever the answer was", async () => {
    const clientId = await trader()
    const headers = { "Idempotency-Key": `request-${clientId}` }
    world.failing((name) =>
      name === "requestQuotes" ? { lost: "before" } : name === "voidRefs" ? { lost: "before" } : {}
    )
    const asking = call("POST", clientId, "/rfq", rfqBody(), headers)
    const first = await routes.after(world.requested("voidRefs"), answerWithin, asking)
    assert.strictEqual(first.status, 502, first.text)
    const { rfqId } = first.json.data
    assert.deepInclude(await rfqOf(clientId, rfqId), { state: "OPEN", venueRfqId: null })
    world.failing(() => ({}))
    const again = await call("POST", clientId, "/rfq", rfqBody(), headers)
    assert.strictEqual(again.text, first.text)
    await poll(
      () => rfqOf(clientId, rfqId),
      ({ state }) => state === "REJECTED"
    )
    assert.strictEqual((await ofClient(service, "rfqs", clientId)).length, 1)
  }, 30_000)

  it("A1-51: the first answer is not marked as a replay, the next one is", async () => {
    const { clientId, rfqId, quoteId } = await quoted()
    const requests = [
      ["/rfq", rfqBody({ autoAccept: false })],
      [`/rfq/${rfqId}/accept`, { quoteId }]
    ] as const
    for (const [path, body] of requests) {
      const send = () => call("POST", clientId, path, body, { "Idempotency-Key": `${path}-${rfqId}` })
      const [first, again] = [await send(), await send()]
      assert.deepStrictEqual([first.status, first.headers["idempotency-replayed"]], [200, undefined], first.text)
      assert.deepStrictEqual([again.text, again.headers["idempotency-replayed"]], [first.text, "true"])
    }
  })
})
