/**
 * A stamp in its client's turn (F14): booked once on the position at its time, kept open while trades may be missing,
 * corrected by trades that are found later, and posted late once its mark is known.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { fundingPayment } from "../../../src/machines/funding/fundingRules.ts"
import { formatAmount, MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import type { VenueFunding } from "../../../src/machines/venue/VenueEvent.ts"
import { contractsNow } from "../../fixtures/contracts.ts"
import { withoutMarkCase } from "../../fixtures/goldenFunding.ts"
import { perp } from "../order/leverageTurns.ts"
import { spot, TradingWorld } from "../order/TradingWorld.ts"

const price = { mark: "60000.0", rate: "0.0001" }
/** Later than every trade and turn without another time. */
const later = contractsNow + 100_000

const stampAt = (netQty: string, change: Partial<VenueFunding> = {}): VenueFunding => {
  const stamp = { symbol: perp, settledAt: later, ...price, ...change }
  const amount = formatAmount(fundingPayment(netQty, { ...price, ...priceOf(stamp) }), "USDC")
  return { netQty, amount, ...stamp }
}
const priceOf = ({ mark, rate }: Pick<VenueFunding, "mark" | "rate">) =>
  mark === null || rate === null ? {} : { mark, rate }

class Funded extends TradingWorld {
  constructor() {
    super()
    this.mark(perp, "60000.0")
    this.deposit("USDC", "10000.000000")
  }

  /** Places a resting order of this quantity. Returns its id. */
  asked(side: "BUY" | "SELL", qty: string): number {
    const asked = { symbol: perp, side, qty, price: "60000.0", type: "LIMIT", tif: "GTC", reduceOnly: false } as const
    const { id } = this.place({ ...asked, trigger: null, attach: null, ocoGroup: null, leverage: null })
    return id ?? assert.fail("it was refused")
  }

  /** An order that is completely filled, at its place in the account's sequence. */
  traded(side: "BUY" | "SELL", qty: string): void {
    this.fill(this.asked(side, qty), qty, "60000.0")
  }

  /** The posted amounts, by key without the market. Nothing else has changed the cash. */
  get postings(): Readonly<Record<string, string>> {
    const rows = this.store.rows("ledgerTransactions").filter(({ type }) => type === "FUNDING")
    const legs = this.store.rows("postings")
    return Object.fromEntries(
      rows.map(({ key, txId }) => [
        key.replace(`funding:${perp}:`, ""),
        formatAmount(legs.find((leg) => leg.txId === txId && leg.clientId !== null)?.amount ?? 0n, "USDC")
      ])
    )
  }

  get open() {
    return this.store.rows("openFundings").filter(({ live }) => live)
  }
  get timers(): number {
    return this.store.rows("timers").length
  }
}

const held = (qty: string, side: "BUY" | "SELL" = "BUY"): Funded => {
  const at = new Funded()
  at.traded(side, qty)
  return at
}

const plain = `${later}:1`

describe("F14: a funding stamp on which both sides agree", () => {
  it("is posted in one transaction, with its settlement item, and leaves nothing open", () => {
    const at = held("0.1")
    assert.isTrue(at.funding(stampAt("0.1")))
    assert.deepStrictEqual(at.postings, { [plain]: "-0.600000" })
    const refs = { symbol: perp, settledAt: later, qty: "0.1", fundingPerUnit: "6.00000000", side: "LONG" }
    const [tx] = at.store.rows("ledgerTransactions").filter(({ type }) => type === "FUNDING")
    assert.isDefined(tx)
    assert.deepStrictEqual(tx?.refs, refs)
    const items = at.store.rows("settlementItems").filter(({ type }) => type === "FUNDING")
    assert.deepStrictEqual(
      items.map(({ amount, context, txId }) => [amount, context.refs, txId]),
      [[-600_000n, refs, tx?.txId ?? 0]]
    )
    const legs = at.store.rows("postings").filter(({ txId }) => txId === tx?.txId)
    assert.deepStrictEqual(
      legs.map(({ account, amount }) => [account, amount]),
      [
        ["client:1", -600_000n],
        ["venue", 600_000n]
      ]
    )
    assert.strictEqual(at.summary.fundingPaid, "0.600000")
    assert.deepStrictEqual([at.store.rows("openFundings"), at.timers], [[], 0])
  })

  it("pays a short position when the rate is positive, and costs it when it is negative", () => {
    const at = held("0.1", "SELL")
    at.funding(stampAt("-0.1"))
    at.funding(stampAt("-0.1", { settledAt: later + 1, rate: "-0.0001" }))
    assert.deepStrictEqual(at.postings, { [plain]: "0.600000", [`${later + 1}:1`]: "-0.600000" })
    assert.strictEqual(at.summary.fundingPaid, "0.000000")
  })

  it("is posted in full although cash becomes negative", () => {
    const at = held("0.5")
    at.turnToCash("0.000001")
    at.funding(stampAt("0.5", { rate: "0.0075" }))
    assert.deepStrictEqual(at.postings, { [plain]: "-225.000000" })
    assert.strictEqual(at.balance("USDC").cash, -224_999_999n)
  })

  it("posts nothing where nothing is due", () => {
    const at = held("0.1")
    assert.isTrue(at.funding(stampAt("0.1", { rate: "0" })))
    assert.deepStrictEqual([at.postings, at.open], [{}, []])
  })

  it("a market without funding, and a second report of a stamp, are not booked", () => {
    const at = held("0.1")
    at.deposit("BTC", "1.00000000")
    assert.isTrue(at.funding(stampAt("0.1")))
    assert.throws(() => at.funding(stampAt("0.1")))
    at.turn((turn) =>
      turn.draft.put("positions", { ...(at.positions[0] ?? assert.fail()), id: 99, symbol: spot, state: "SPOT" })
    )
    assert.isFalse(at.funding(stampAt("0.1", { symbol: spot })))
    assert.deepStrictEqual(at.postings, { [plain]: "-0.600000" })
  })
})

describe("F14: the position at the stamp's place", () => {
  it("a trade that the service queried and that lies behind the stamp does not count for it", () => {
    const at = held("0.1")
    const id = at.asked("BUY", "0.2")
    at.found(id, [{ qty: "0.2", price: "60000.0", at: contractsNow + 60 }])
    at.funding(stampAt("0.1", { settledAt: contractsNow + 50 }))
    assert.deepStrictEqual([at.postings, at.open], [{ [`${contractsNow + 50}:1`]: "-0.600000" }, []])
  })

  it("SC-FUN-03: a position that is closed in the stamp's millisecond counts", () => {
    const at = held("0.1")
    const id = at.asked("SELL", "0.1")
    at.found(id, [{ qty: "0.1", price: "60000.0", at: contractsNow + 50 }])
    at.funding(stampAt("0.1", { settledAt: contractsNow + 50 }))
    assert.deepStrictEqual(at.postings, { [`${contractsNow + 50}:1`]: "-0.600000" })
  })

  it("of trades in the stamp's millisecond those count that the venue has counted", () => {
    const at = held("0.3")
    const id = at.asked("SELL", "0.3")
    at.found(id, [
      { qty: "0.1", price: "60000.0", at: contractsNow + 50 },
      { qty: "0.2", price: "60000.0", at: contractsNow + 50 }
    ])
    at.funding(stampAt("0.2", { settledAt: contractsNow + 50 }))
    assert.deepStrictEqual([at.postings, at.open], [{ [`${contractsNow + 50}:1`]: "-1.200000" }, []])
  })
})

describe("F14: a trade is missing", () => {
  it("SC-FUN-04: our amount is posted, and a trade that is found with an earlier place posts its difference once", () => {
    const at = held("0.1")
    const id = at.asked("BUY", "0.5")
    at.unsettled.take()
    assert.isTrue(at.funding(stampAt("0.3")))
    assert.deepStrictEqual(at.postings, { [plain]: "-0.600000" })
    assert.lengthOf(at.open, 1)
    at.found(id, [
      { qty: "0.05", price: "60000.0", at: later - 1 },
      { qty: "0.15", price: "60000.0", at: later },
      { qty: "0.2", price: "60000.0", at: later + 1 }
    ])
    assert.deepStrictEqual(at.postings, {
      [plain]: "-0.600000",
      [`${plain}:${id}:2`]: "-0.300000",
      [`${plain}:${id}:3`]: "-0.900000"
    })
    assert.deepStrictEqual(at.open, [])
  })

  it("the differences of a found trade equal those of the whole, however amounts are rounded", () => {
    const at = held("0.1")
    const id = at.asked("BUY", "0.3")
    const odd = { mark: "60000.1", rate: "0.00000777" }
    at.funding(stampAt("0.4", odd))
    at.found(
      id,
      [0.1, 0.1, 0.1].map((qty) => ({ qty: String(qty), price: "60000.0", at: later - 1 }))
    )
    const sum = Object.values(at.postings).reduce((all, amount) => all.plus(amount), new MoneyDecimal(0))
    assert.strictEqual(sum.toFixed(6), formatAmount(fundingPayment("0.4", odd), "USDC"))
    assert.deepStrictEqual([Object.keys(at.postings).length, at.open], [4, []])
  })

  it("a trade of an account on which both sides agree changes no posted amount", () => {
    const at = held("0.1")
    const id = at.asked("BUY", "0.5")
    at.funding(stampAt("0.1"))
    at.found(id, [{ qty: "0.2", price: "60000.0", at: later + 5 }])
    assert.deepStrictEqual(at.postings, { [plain]: "-0.600000" })
  })

  it("after a gap nothing is posted; the venue's answer settles the stamp once", () => {
    const at = held("0.1")
    const id = at.asked("BUY", "0.5")
    at.funding(stampAt("0.3"), false)
    assert.deepStrictEqual([at.postings, at.timers], [{}, 1])
    at.found(id, [{ qty: "0.2", price: "60000.0", at: later - 1 }])
    assert.deepStrictEqual([at.postings, at.open, at.timers], [{ [plain]: "-1.800000" }, [], 0])
    at.fireFunding()
    assert.deepStrictEqual(at.postings, { [plain]: "-1.800000" })
  })

  it("after a gap a stamp on which both sides agree is posted at once", () => {
    const at = held("0.1")
    at.funding(stampAt("0.1"), false)
    assert.deepStrictEqual([at.postings, at.open], [{ [plain]: "-0.600000" }, []])
  })

  it("a stamp waits while its orders are queried; without an answer our amount is posted, and stays open", () => {
    const at = held("0.1")
    const id = at.asked("BUY", "0.5")
    at.unsettled.add({ clientId: 1, orderId: id, filledQty: "0", ended: false, wasOver: false })
    at.funding(stampAt("0.3"))
    at.fireFunding()
    assert.deepStrictEqual([at.postings, at.timers], [{}, 1])
    at.unsettled.take()
    at.unsettled.settled(id)
    at.restart()
    at.fireFunding()
    assert.deepStrictEqual([at.postings, at.open.length, at.timers], [{ [plain]: "-0.600000" }, 1, 0])
    at.found(id, [{ qty: "0.2", price: "60000.0", at: later - 1 }])
    assert.deepStrictEqual([at.postings, at.open], [{ [plain]: "-0.600000", [`${plain}:${id}:2`]: "-1.200000" }, []])
  })

  it("an account stores a limited number of open stamps, and drops the oldest", () => {
    const at = held("0.1")
    for (let n = 0; n < 40; n++) at.funding(stampAt("0.3", { settledAt: later + n }))
    assert.deepStrictEqual([at.open.length, at.open[0]?.settledAt], [32, later + 8])
    assert.lengthOf(Object.keys(at.postings), 40)
  })

  it("a waiting stamp is posted before it is dropped", () => {
    const at = held("0.1")
    for (let n = 0; n < 40; n++) at.funding(stampAt("0.3", { settledAt: later + n }), false)
    assert.deepStrictEqual([at.open.length, at.timers], [32, 32])
    assert.deepStrictEqual(
      Object.entries(at.postings),
      Array.from({ length: 8 }, (_, n) => [`${later + n}:1`, "-0.600000"])
    )
  })

  it("another amount of the venue for the same quantity changes nothing of our amount", () => {
    const at = held("0.1")
    assert.isTrue(at.funding(stampAt("0.1", { amount: "-0.500000" })))
    assert.deepStrictEqual([at.postings, at.open], [{ [plain]: "-0.600000" }, []])
    assert.deepInclude(at.store.rows("openFundings")[0], { posted: true, live: false })
  })
})

describe("trades that are booked in another order than the venue executed them", () => {
  const gap = 10_000
  const settledAt = contractsNow + 100 * gap

  it("F14: an older trade that is booked after a newer one does not make the newer one count", () => {
    const at = new Funded()
    const id = at.asked("BUY", "0.6")
    at.found(id, [{ qty: "0.3", price: "60000.0", at: settledAt + gap, tradeId: 2 }])
    at.found(id, [{ qty: "0.3", price: "60000.0", at: settledAt - gap, tradeId: 1 }])
    at.funding(stampAt("0.3", { settledAt }))
    assert.deepStrictEqual([at.postings, at.open], [{ [`${settledAt}:1`]: "-1.800000" }, []])
  })

  /** Every high-water mark. */
  const marks = (at: Funded): ReadonlyMap<string, number> =>
    new Map([
      ...at.store.rows("positions").map(({ symbol, updatedAt }) => [`position ${symbol}`, updatedAt] as const),
      ...at.store.rows("orders").map(({ id, context }) => [`order ${id}`, context.lastTradeId] as const)
    ])

  const trade = fc.record({ buys: fc.boolean(), lots: fc.integer({ min: 1, max: 9 }), booked: fc.nat(), of: fc.nat(2) })
  const course = fc.record({
    trades: fc.array(trade, { minLength: 1, maxLength: 40 }),
    /** The place of the stamp among the venue's trades, and the time of its booking. */
    place: fc.nat(40),
    booked: fc.nat()
  })

  it("F14: in any order of booking a stamp is paid on the position at its place, and no high-water mark decreases", () => {
    fc.assert(
      fc.property(course, ({ trades, place, booked }) => {
        const at = new Funded()
        const orders = (["BUY", "SELL"] as const).map((side) => [0, 1, 2].map(() => at.asked(side, "0.36")))
        const before = Math.min(place, trades.length)
        const signed = ({ buys, lots }: (typeof trades)[number]) => (buys ? lots : -lots)
        const lotsHeld = trades.slice(0, before).reduce((sum, each) => sum + signed(each), 0)
        const held = new MoneyDecimal(lotsHeld).div(1_000).toFixed(4)
        const steps = trades.map((each, index) => ({
          booked: each.booked,
          book: () => {
            const { buys, lots, of } = each
            const ts = settledAt + (index - before) * gap + (index < before ? 0 : gap)
            const found = { qty: (lots / 1_000).toFixed(4), price: "60000.0", at: ts, tradeId: index + 1 }
            at.found(orders[buys ? 0 : 1]?.[of] ?? assert.fail(), [found])
          }
        }))
        steps.push({ booked, book: () => void at.funding(stampAt(held, { settledAt })) })
        let known = marks(at)
        for (const { book } of steps.toSorted((one, other) => one.booked - other.booked)) {
          book()
          const now = marks(at)
          for (const [name, mark] of known) assert.isAtLeast(now.get(name) ?? 0, mark, name)
          known = now
        }
        const sum = Object.values(at.postings).reduce((all, amount) => all.plus(amount), new MoneyDecimal(0))
        assert.strictEqual(sum.toFixed(6), formatAmount(fundingPayment(held, price), "USDC"))
        assert.deepStrictEqual(at.open, [])
      }),
      { numRuns: 60 }
    )
  })
})

describe("SC-FUN-05: no mark", () => {
  const unpriced = { mark: withoutMarkCase.mark, rate: null, amount: null }

  it("nothing is posted until a mark is known, then on the position at the stamp", () => {
    const at = held("0.1")
    assert.isTrue(at.funding(stampAt("0.1", unpriced)))
    assert.deepStrictEqual([at.postings, at.open.length, at.timers], [{}, 1, 0])
    at.traded("BUY", "0.2")
    at.restart()
    assert.isFalse(at.funding(stampAt("0.1", unpriced)))
    assert.isTrue(at.funding(stampAt("0.1")))
    assert.deepStrictEqual([at.postings, at.open], [{ [plain]: "-0.600000" }, []])
  })

  it("a trade that is found meanwhile counts if it lies before the stamp", () => {
    const at = held("0.1")
    const id = at.asked("BUY", "0.5")
    at.funding(stampAt("0.3", unpriced))
    at.found(id, [
      { qty: "0.2", price: "60000.0", at: later - 1 },
      { qty: "0.1", price: "60000.0", at: later + 1 }
    ])
    assert.deepStrictEqual(at.postings, {})
    at.funding(stampAt("0.3"))
    assert.deepStrictEqual([at.postings, at.open], [{ [plain]: "-1.800000" }, []])
  })
})
