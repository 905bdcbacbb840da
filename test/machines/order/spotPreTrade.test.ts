/** F13, F20: the reserve of a spot order, and whether the client has the amount. */
import { assert, describe, it } from "@effect/vitest"
import { accountRisk, type AccountState } from "../../../src/machines/margin/accountRisk.ts"
import { type PreTradeOrder, unbounded } from "../../../src/machines/order/preTrade.ts"
import { spotPreTrade, type SpotPreTrade } from "../../../src/machines/order/spotPreTrade.ts"
import { contractOf, factsWith, micro } from "../../fixtures/contracts.ts"
import { holdingOf, orderOf, perp, positionOf, tenth } from "../../fixtures/perpetuals.ts"

const spot = "BTC-USDC"
const ko = "BTC-USDC-KO"
const buy = (over: Partial<PreTradeOrder> = {}): PreTradeOrder => ({
  symbol: spot,
  side: "BUY",
  qty: "0.1",
  price: "60000",
  trigger: null,
  reduceOnly: false,
  ...over
})

interface Setting extends Partial<Omit<SpotPreTrade, "order">> {
  readonly money?: Readonly<Record<string, bigint>>
  readonly state?: Partial<AccountState>
  readonly markAge?: number
}

const judge = (order: PreTradeOrder, setting: Setting = {}) => {
  const { money = { USDC: micro("10000") }, state = {}, markAge = 0, ...over } = setting
  const cashOf = (currency: string): bigint => money[currency] ?? 0n
  const at = 1_764_000_000_000 - markAge
  const facts = factsWith({ [ko]: { price: "60000", at }, [perp]: { price: "60000", at }, [spot]: { price: "60000" } })
  return spotPreTrade({
    order,
    base: "BTC",
    quote: "USDC",
    cashOf,
    risk: accountRisk({ cashOf, contracts: [], accepts: [], perpetuals: [], ...state }, facts),
    recorded: "NORMAL",
    mark: facts.marks.get(spot) ?? null,
    bestBid: "59990",
    bestAsk: "60010",
    commissionBps: 10,
    slippageBps: 50,
    bandBps: 1_000,
    tick: tenth,
    ...over
  })
}

const insufficient = "The client has insufficient free balance."
const short = "The client is short of margin for its open positions."
const stale = "The margin of the client's open positions can not be judged without live prices: try again shortly."

describe("a preview on SPOT", () => {
  it("F20: caps a MARKET buy at the edge of the venue's band", () => {
    const market = buy({ price: null })
    const capAt = (bestAsk: string, order = market) => {
      const { reservationPrice, reservation, bound } = judge(order, { bandBps: 100, bestAsk })
      return [reservationPrice, reservation, bound.limit]
    }
    // The cap of 2 % above the offer lies outside the band of 1 % around the mark.
    assert.deepStrictEqual(capAt("60010"), ["60600.0", micro("6066.06"), "60600.0"])
    assert.deepStrictEqual(capAt("59000"), ["60180.0", micro("6024.018"), "60180.0"])
    // The offer itself lies outside the band: first below, then above.
    assert.strictEqual(capAt("58000")[0], "59400.0")
    assert.strictEqual(capAt("61000")[0], "60600.0")
    const stop = { price: "61000", limitPrice: null }
    assert.strictEqual(capAt("60010", buy({ price: null, trigger: stop }))[0], "61210.2")
  })

  it("has every figure", () => {
    assert.deepStrictEqual(judge(buy(), { state: { contracts: [contractOf()] } }), {
      refPrice: "60000",
      currency: "USDC",
      reservationCurrency: "USDC",
      reservation: micro("6006"),
      reservationPrice: "60000",
      orderValue: micro("6000"),
      marginRequired: 0n,
      leverage: null,
      freeMarginBefore: micro("9000"),
      freeMarginAfter: micro("2994"),
      // 3,994 divided by the premium of 1,000
      marginLevelAfter: "399.40",
      estLiquidationPrice: null,
      equityBefore: micro("10000"),
      initialMarginBefore: micro("1000"),
      initialMarginAfter: micro("1000"),
      estimatedCommission: micro("6"),
      slippageAllowance: 0n,
      estimatedCosts: micro("6"),
      openLoss: 0n,
      onlyReduces: false,
      compared: { figure: "6006.000000", limit: "9000.000000" },
      sentence: null,
      bound: { ...unbounded, limit: "60000" }
    })
  })

  it("a MARKET buy is judged at the best offer and sets aside its cap", () => {
    assert.deepInclude(judge(buy({ price: null })), {
      refPrice: "60010",
      orderValue: micro("6001"),
      // 0.1 x 61210.2, and ten basis points of the amount
      reservation: micro("6127.14102"),
      reservationPrice: "61210.2",
      slippageAllowance: micro("30.005"),
      estimatedCosts: micro("36.006"),
      freeMarginAfter: micro("3872.85898"),
      sentence: null
    })
  })

  it("a SELL reserves the asset; its proceeds count once it is filled", () => {
    const money = { USDC: micro("10000"), BTC: 10_000_000n }
    const sale = judge(buy({ side: "SELL", price: null }), { money, state: { contracts: [contractOf()] } })
    assert.deepInclude(sale, {
      refPrice: "59990",
      reservation: 10_000_000n,
      reservationPrice: null,
      reservationCurrency: "BTC",
      freeMarginAfter: micro("9000"),
      // 10,000 + 5,999 - 5.999
      marginLevelAfter: "1599.30",
      compared: { figure: "0.10000000", limit: "0.10000000" },
      sentence: null
    })
  })

  it("a conditional one is judged and set aside at its limit", () => {
    const order = buy({ price: null, trigger: { price: "61000", limitPrice: "61500" } })
    assert.deepInclude(judge(order), { refPrice: "61500", reservation: micro("6156.15"), slippageAllowance: 0n })
  })

  it("an order paid in another currency leaves the margin unchanged", () => {
    const money = { USDC: micro("10000"), EUR: 600_600n }
    const figures = judge(buy(), { quote: "EUR", money, state: { contracts: [contractOf()] } })
    assert.deepInclude(figures, {
      currency: "EUR",
      reservation: 600_600n,
      estimatedCommission: 600n,
      freeMarginAfter: micro("9000"),
      marginLevelAfter: "1000.00",
      sentence: null
    })
  })

  it("without a price nothing is known of the order", () => {
    const figures = judge(buy({ price: null }), { bestAsk: null, mark: null })
    assert.deepInclude(figures, {
      refPrice: null,
      reservation: null,
      orderValue: null,
      estimatedCosts: null,
      freeMarginAfter: null,
      marginLevelAfter: null,
      compared: null,
      sentence: "The market has no price that the order could be judged at."
    })
    assert.isNull(judge(buy({ price: null }), { bestAsk: null }).reservation)
  })
})

describe("F20: the reserve that a spot order needs", () => {
  const open = { contracts: [contractOf()] }
  const losing = { perpetuals: [holdingOf({ position: positionOf("1", "61000") })] }
  const waiting = { perpetuals: [holdingOf({ orders: [orderOf("BUY", "0.001", null)] })] }
  const usdc = (amount: string) => ({ USDC: micro(amount) })
  it.each([
    ["exactly the reserve", buy(), { money: usdc("6006") }, null],
    ["a micro-USDC less", buy(), { money: usdc("6005.999999") }, insufficient],
    ["as much free margin", buy(), { money: usdc("7006"), state: open }, null],
    ["cash enough, free margin a micro-USDC short", buy(), { money: usdc("7005.999999"), state: open }, short],
    ["a margin call by live marks", buy({ qty: "0.0001" }), { money: usdc("6999"), state: losing }, short],
    ["a margin call that is recorded", buy(), { recorded: "MARGIN_CALL" }, short],
    ["a stale mark in the figures", buy(), { state: open, markAge: 10_001 }, stale],
    ["one that an order alone uses", buy(), { state: waiting, markAge: 10_001 }, stale],
    ["a stale mark in none of them", buy(), { markAge: 10_001 }, null],
    ["EUR: its cash alone", buy(), { quote: "EUR", money: { EUR: 600_600n }, recorded: "CLOSE_OUT" }, null],
    ["EUR: a cent short", buy(), { quote: "EUR", money: { EUR: 600_599n } }, insufficient],
    ["a SELL: the asset alone", buy({ side: "SELL" }), { money: { BTC: 10_000_000n }, recorded: "CLOSE_OUT" }, null],
    ["a SELL: a unit short", buy({ side: "SELL" }), { money: { BTC: 9_999_999n } }, insufficient]
  ] as const)("%s", (_, order, setting, sentence) => {
    assert.strictEqual(judge(order, setting).sentence, sentence)
  })
})
