/** Requests for quotes at the simulated venue: quotes, accepts that are executed once, references that are voided (A2-25, A2-26). */
import { assert, describe, it } from "@effect/vitest"
import type { Contract } from "../../simulator/venue/core/Contracts.ts"
import { type Rfq, type RfqRequest, Rfqs } from "../../simulator/venue/core/Rfqs.ts"

const asked: RfqRequest = {
  ref: "R-1",
  accountId: 1,
  symbol: "BTC-KO",
  side: "BUY",
  quantity: 10,
  barrier: 590_000,
  takeProfit: null,
  expiryAt: 100_000,
  strict: false,
  premiumBps: 9_500,
  windowEndsAt: 60_000,
  closes: null
}

const contract: Contract = {
  id: 1,
  accountId: 1,
  dealer: "alpha",
  symbol: "BTC-KO",
  side: "BUY",
  quantity: 10,
  entry: 600_000,
  barrier: 590_000,
  takeProfit: null,
  expiryAt: 100_000,
  strict: false,
  premiumBps: 9_500,
  openedAt: 0,
  state: "OPEN",
  settlePrice: null,
  endedAt: null
}

const opened = (parts: Partial<RfqRequest> = {}) => {
  const ended: Array<number> = []
  const rfqs = new Rfqs({ onQuote: () => undefined, onEnd: ({ id }) => void ended.push(id) })
  const rfq = rfqs.request({ ...asked, ...parts }, 0)
  let executed = 0
  const quote = (dealer = "alpha", price = 600_000, validUntil = 5_000) =>
    rfqs.quote(rfq, { dealer, price, quantity: 10, validUntil })
  const accept = (ref: string, quoteId: number, { now = 1_000, declines = false, halted = false } = {}) =>
    rfqs.accept(
      { ref, rfqId: rfq.id, quoteId, now },
      { halted: () => halted, declines: () => declines, execute: () => ({ tradeId: ++executed, contract }) }
    )
  return { rfqs, rfq, quote, accept, ended, executed: () => executed }
}
const states = ({ quotes }: Rfq) => quotes.map(({ state }) => state)

describe("requests for quotes", () => {
  it("a request whose reference is known is answered as it stands", () => {
    const { rfqs, rfq } = opened()
    assert.strictEqual(rfqs.request({ ...asked, quantity: 99 }, 5), rfq)
  })

  it("a dealer's newer quote supersedes its older one, and leaves the others'", () => {
    const { rfq, quote } = opened()
    quote("alpha")
    quote("beta")
    quote("alpha", 600_010)
    assert.deepStrictEqual(states(rfq), ["SUPERSEDED", "LIVE", "LIVE"])
  })

  it("an accept is executed once, however often it is asked; the other quotes are superseded", () => {
    const { rfq, quote, accept, executed, ended } = opened()
    const taken = quote("alpha")
    quote("beta")
    const first = accept("A-1-1", taken?.id ?? 0)
    assert.strictEqual(first.outcome, "EXECUTED")
    assert.strictEqual(accept("A-1-1", taken?.id ?? 0), first)
    assert.strictEqual(executed(), 1)
    assert.deepStrictEqual([rfq.state, ...states(rfq)], ["ACCEPTED", "ACCEPTED", "SUPERSEDED"])
    assert.deepStrictEqual(ended, [rfq.id])
  })

  it("a second accept of the same request under another reference is refused", () => {
    const { quote, accept } = opened()
    const [one, other] = [quote("alpha"), quote("beta")]
    accept("A-1-1", one?.id ?? 0)
    assert.deepInclude(accept("A-1-2", other?.id ?? 0), { outcome: "REFUSED", reason: "request not open" })
  })

  it("a voided reference is never executed; one that was executed keeps its execution", () => {
    const { rfqs, quote, accept, executed } = opened()
    const taken = quote()
    assert.deepStrictEqual(rfqs.voidAccept("A-1-1"), { outcome: "VOID" })
    assert.deepStrictEqual(accept("A-1-1", taken?.id ?? 0), { outcome: "VOID" })
    assert.strictEqual(executed(), 0)
    const second = accept("A-1-2", taken?.id ?? 0)
    assert.strictEqual(rfqs.voidAccept("A-1-2"), second)
    assert.strictEqual(rfqs.acceptOf("A-1-2"), second)
    assert.strictEqual(rfqs.acceptOf("A-1-3"), null)
  })

  it("A2-25: past its validity, withdrawn, declined at the last look, unknown, halted: refused, and the request stays open", () => {
    const { rfqs, rfq, quote, accept } = opened()
    const late = quote("alpha")
    assert.deepInclude(accept("A-1-1", late?.id ?? 0, { now: 5_000 }), { reason: "quote not live" })
    const withdrawn = quote("beta")
    rfqs.withdraw(rfq, withdrawn?.id ?? 0)
    assert.deepInclude(accept("A-1-2", withdrawn?.id ?? 0), { reason: "quote not live" })
    const live = quote("gamma")
    assert.deepInclude(accept("A-1-3", live?.id ?? 0, { halted: true }), { reason: "market halted" })
    assert.deepInclude(accept("A-1-4", live?.id ?? 0, { declines: true }), { reason: "declined by the dealer" })
    assert.deepInclude(accept("A-1-5", 99), { reason: "unknown quote" })
    assert.deepStrictEqual([rfq.state, ...states(rfq)], ["OPEN", "EXPIRED", "WITHDRAWN", "EXPIRED"])
  })

  it("time ends quotes and requests", () => {
    const { rfqs, rfq, quote } = opened()
    quote("alpha", 600_000, 5_000)
    quote("beta", 600_000, 90_000)
    rfqs.pass(5_000)
    assert.deepStrictEqual([rfq.state, ...states(rfq)], ["OPEN", "EXPIRED", "LIVE"])
    rfqs.pass(60_000)
    assert.deepStrictEqual([rfq.state, ...states(rfq)], ["EXPIRED", "EXPIRED", "EXPIRED"])
    assert.strictEqual(quote("gamma"), null)
    assert.isFalse(rfqs.end(rfq, "CANCELLED"))
  })

  it("F19: a close request is quoted by the contract's writer alone", () => {
    const { quote } = opened({ closes: contract })
    assert.strictEqual(quote("beta"), null)
    assert.isNotNull(quote("alpha"))
  })

  it("keeps the newest hundred quotes", () => {
    const { rfq, quote } = opened()
    for (let n = 0; n < 150; n++) quote("alpha", 600_000 + n)
    assert.lengthOf(rfq.quotes, 100)
    assert.deepInclude(rfq.quotes.at(-1), { price: 600_149, state: "LIVE" })
  })
})
