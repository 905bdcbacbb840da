/** Requests for quotes at the simulated venue: their quotes, which of them are acceptable, and their ends (A2-25). */
import { assert, describe, it } from "@effect/vitest"
import type { StoredContract } from "../../simulator/venue/core/Contracts.ts"
import { type Rfq, type RfqRequest, Rfqs } from "../../simulator/venue/core/Rfqs.ts"

const asked: RfqRequest = {
  ref: "R-1",
  accountId: 1,
  symbol: "BTC-USDC-KO",
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

const contract: StoredContract = {
  id: 1,
  ref: "A-0-0",
  tradeId: 1,
  accountId: 1,
  dealer: "alpha",
  symbol: "BTC-USDC-KO",
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
  const quote = (dealer = "alpha", price = 600_000, validUntil = 5_000) =>
    rfqs.quote(rfq, { dealer, price, quantity: 10, at: 0, validUntil })
  /** Accepts a quote. Returns the reason of a refusal, or null. */
  const accept = (quoteId: number, now = 1_000): string | null => {
    const judged = rfqs.judge(rfq, quoteId, now)
    if (typeof judged === "string") return judged
    rfqs.accepted(rfq, judged)
    return null
  }
  return { rfqs, rfq, quote, accept, ended }
}
const states = ({ quotes }: Rfq) => quotes.map(({ state }) => state)

describe("requests for quotes", () => {
  it("a request with a known ref is answered with its present state", () => {
    const { rfqs, rfq } = opened()
    assert.strictEqual(rfqs.request({ ...asked, quantity: 99 }, 5), rfq)
  })

  it("a dealer's newer quote supersedes its older one, and no other dealer's", () => {
    const { rfq, quote } = opened()
    quote("alpha")
    quote("beta")
    quote("alpha", 600_010)
    assert.deepStrictEqual(states(rfq), ["SUPERSEDED", "LIVE", "LIVE"])
  })

  it("an accept ends the request; the other quotes are superseded, and a second accept is refused", () => {
    const { rfq, quote, accept, ended } = opened()
    const [taken, other] = [quote("alpha"), quote("beta")]
    assert.isNull(accept(taken?.id ?? 0))
    assert.deepStrictEqual([rfq.state, ...states(rfq)], ["ACCEPTED", "ACCEPTED", "SUPERSEDED"])
    assert.deepStrictEqual(ended, [rfq.id])
    assert.strictEqual(accept(other?.id ?? 0), "request not open")
  })

  it("A2-25: an expired, withdrawn, unknown or too small quote and one beyond a level are refused, and the request stays open", () => {
    const { rfqs, rfq, quote, accept } = opened({ takeProfit: 610_000 })
    const late = quote("alpha")
    assert.strictEqual(accept(late?.id ?? 0, 5_000), "quote not live")
    const withdrawn = quote("beta")
    assert.isTrue(rfqs.withdraw(rfq, withdrawn?.id ?? 0))
    assert.isFalse(rfqs.withdraw(rfq, withdrawn?.id ?? 0))
    assert.strictEqual(accept(withdrawn?.id ?? 0), "quote not live")
    assert.strictEqual(accept(99), "unknown quote")
    const little = rfqs.quote(rfq, { dealer: "gamma", price: 600_000, quantity: 9, at: 0, validUntil: 5_000 })
    assert.strictEqual(accept(little?.id ?? 0), "quantity not offered")
    assert.strictEqual(accept(quote("gamma", 590_000)?.id ?? 0), "price beyond the barrier")
    assert.strictEqual(accept(quote("gamma", 610_000)?.id ?? 0), "price beyond the take profit")
    assert.strictEqual(rfq.state, "OPEN")
  })

  it("an expired quote and an ended request accept nothing", () => {
    const { rfqs, rfq, quote } = opened()
    const one = quote("alpha")
    quote("beta")
    rfqs.expire(rfq, one?.id ?? 0)
    assert.deepStrictEqual([rfq.state, ...states(rfq)], ["OPEN", "EXPIRED", "LIVE"])
    assert.isTrue(rfqs.end(rfq, "EXPIRED", "window over"))
    assert.deepStrictEqual([rfq.state, rfq.reason, ...states(rfq)], ["EXPIRED", "window over", "EXPIRED", "EXPIRED"])
    assert.strictEqual(quote("gamma"), null)
    assert.isFalse(rfqs.end(rfq, "CANCELLED", null))
  })

  it("F19: only the contract's writer quotes a close request", () => {
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

  it("accepts no quote of another dealer while a hundred are live", () => {
    const { rfq, quote } = opened()
    for (let n = 0; n < 100; n++) quote(`dealer-${n}`)
    assert.strictEqual(quote("one too many"), null)
    assert.isNotNull(quote("dealer-5", 600_001))
    assert.lengthOf(rfq.quotes, 100)
  })
})
