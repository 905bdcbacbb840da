/**
 * Each false report of an object is a misfit, and a true report of the same object fits. The lies are those of the simulated
 * venue. A lie that no check detects fails here under its name (A2-115).
 */
import { assert, describe, it } from "@effect/vitest"
import { lieOfFact } from "../../../simulator/venue/core/lies.ts"
import { type LieKind, lieKinds } from "../../../src/venue/testerTokens.ts"
import { outsideBand, type PriceBand } from "../../../src/machines/market/PriceBand.ts"
import type { OrderContext } from "../../../src/machines/order/Order.ts"
import { dayMillis } from "../../../src/machines/swap/swapFigures.ts"
import { anyTime, type VenueTime } from "../../../src/machines/venue/timeChecks.ts"
import type { VenueFact } from "../../../src/machines/venue/VenueEvent.ts"
import { notReceived, refusalReason } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueSwap } from "../../../src/machines/venue/swapAtVenue.ts"
import type { VenueContract, VenueOrder } from "../../../src/machines/venue/venueObjects.ts"
import { type RequestedContract, contractMisfit } from "../../../src/machines/venueChecks/contractChecks.ts"
import { fillMisfit } from "../../../src/machines/venueChecks/fillChecks.ts"
import { orderMisfit } from "../../../src/machines/venueChecks/orderChecks.ts"
import { ownOrderMisfit, ownTradeMisfit } from "../../../src/machines/venueChecks/ownTradeChecks.ts"
import { requestMisfit } from "../../../src/machines/venueChecks/requestChecks.ts"
import { swapMisfit } from "../../../src/machines/venueChecks/swapChecks.ts"
import { reportOf } from "../../support/venueOrders.ts"
import {
  asked,
  at,
  band,
  bandAt,
  contract,
  fill,
  funding,
  knockedOut,
  known,
  latest,
  lent,
  order,
  request,
  rfq,
  stamp,
  stop,
  swap,
  venueTime
} from "./reports.ts"

/** The misfit of a fact, by the check of its object. */
const misfitOf = (fact: VenueFact): string | null => {
  switch (fact.type) {
    case "order":
      return orderMisfit(fact.order, fact.order.trigger === null ? known : { ...known, order: stop })
    case "fill":
      return orderMisfit(fact.order, known) ?? fillMisfit(fact.fill, { ...known, report: fact.order })
    case "rfq":
      return requestMisfit(fact.rfq, request)
    case "contract":
      return contractMisfit(fact.contract, { ...asked, bandAt: () => null, venueTime })
    case "swap":
      return swapMisfit(fact.swap, { swap: lent, isListed: true, venueTime })
    case "funding":
      return fact.funding.mark === null ? null : outsideBand(fact.funding.mark, band)
    default:
      return null
  }
}

const report = reportOf(order, 900)
const truths: ReadonlyArray<VenueFact> = [
  { type: "order", ...stamp, order: report },
  { type: "order", ...stamp, order: reportOf(stop, 900) },
  { type: "funding", ...stamp, funding },
  { type: "fill", ...stamp, order: reportOf(order, 900, { filledQty: order.qty, state: "FILLED" }), fill },
  { type: "rfq", ...stamp, rfq },
  { type: "contract", ...stamp, contract },
  { type: "contract", ...stamp, contract: knockedOut },
  { type: "swap", ...stamp, swap }
]

describe("A2-115: a venue that lies", () => {
  it("the truth fits", () => {
    for (const fact of truths) assert.isNull(misfitOf(fact), fact.type)
  })

  it.each(lieKinds)("%s is a misfit", (name: LieKind) => {
    const told = truths.flatMap((fact) => lieOfFact(name, fact) ?? [])
    assert.isNotEmpty(told)
    for (const fact of told) assert.isString(misfitOf(fact), fact.type)
  })

  it("an order with a bound is judged by its bound alone, another by the marks around the time of its trade", () => {
    const market = { ...order, venuePrice: null }
    const fits = (price: string, of: OrderContext, marks: PriceBand | null) =>
      fillMisfit({ ...fill, price }, { order: of, report: null, bandAt: () => marks, venueTime }) === null
    assert.deepStrictEqual(
      ["66000.0", "66000.1", "53999.9"].map((price) => fits(price, market, band)),
      [true, false, false]
    )
    assert.isTrue(fits("66000.1", market, null), "unknown marks set nothing aside")
    assert.deepStrictEqual(
      ["60000.0", "60000.1", "1.0"].map((price) => fits(price, order, bandAt("90000"))),
      [true, false, true]
    )
  })

  it("a conditional order trades within its basis points of the mark at which it fired", () => {
    const fired = {
      ...order,
      side: "SELL",
      venuePrice: null,
      boundBps: 500,
      trigger: { source: "MARK", price: "60000", direction: "AT_OR_BELOW", limitPrice: null }
    } as const
    const misfits = (
      bound: string | null,
      price: string,
      triggeredAt: number | null = at,
      state: "FILLED" | "REJECTED" = "FILLED"
    ) => {
      const report = reportOf(fired, 900, { price: bound, triggeredAt, filledQty: order.qty, state })
      const asks = { order: fired, bandAt: (_: number, bps = 1_000) => bandAt("60000", bps), venueTime }
      return orderMisfit(report, asks) ?? fillMisfit({ ...fill, side: "SELL", price }, { ...asks, report })
    }
    assert.isNull(misfits("57000.0", "57000.0"))
    assert.isNull(misfits("58000.0", "90000.0"), "a tighter bound and a better price")
    assert.isString(misfits("57000.0", "56999.9"))
    assert.isString(misfits("56999.9", "56999.9"), "a bound further away")
    assert.isString(misfits("1.0", "1.0", at, "REJECTED"), "a trade of a rejected order")
    assert.isString(misfits(null, "57000.0"))
    assert.isString(misfits(null, "57000.0", null), "filled without having fired")
    assert.isString(misfits("57000.0", "57000.0", at - 60_000), "fired before it was sent")
  })

  it("a stop fires only where the marks about its time reached its trigger", () => {
    const fires = (
      direction: "AT_OR_ABOVE" | "AT_OR_BELOW",
      price: string,
      {
        source = "MARK",
        mark = "60000",
        known = null
      }: Partial<Record<"source" | "mark", string>> & {
        readonly known?: number | null
      } = {}
    ) => {
      const trigger = { source: source as "MARK", price, direction, limitPrice: "60000.0" }
      const stop = { ...order, trigger, triggeredAt: known }
      const asks = {
        order: stop,
        bandAt: (_: number, bps?: number) => (mark === "" ? null : bandAt(mark, bps)),
        venueTime
      }
      return orderMisfit(reportOf(stop, 900, { triggeredAt: at }), asks) === null
    }
    assert.deepStrictEqual(
      ["59999.9", "60000", "70000"].map((price) => fires("AT_OR_BELOW", price)),
      [false, true, true]
    )
    assert.deepStrictEqual(
      ["50000", "60000", "60000.1"].map((price) => fires("AT_OR_ABOVE", price)),
      [true, true, false]
    )
    assert.isTrue(fires("AT_OR_BELOW", "50000", { mark: "" }), "the marks are unknown")
    assert.isTrue(fires("AT_OR_BELOW", "50000", { source: "LAST" }), "marks say nothing of the last price")
    assert.isTrue(fires("AT_OR_BELOW", "50000", { known: at }), "it has fired before")
  })

  it("only a mark at its level or beyond it touches a contract, at any distance", () => {
    const touched = (mark: string, state: "KNOCKED_OUT" | "TAKE_PROFIT", side: "BUY" | "SELL") => {
      const ends = {
        ...contract,
        side,
        takeProfit: contract.barrier,
        state,
        settlePrice: contract.barrier,
        endedAt: at
      }
      const told = { ...asked, side, takeProfit: contract.barrier }
      return contractMisfit(ends, { ...told, bandAt: (_, bps) => bandAt(mark, bps) }) === null
    }
    const level = Number(contract.barrier)
    const marks = [level * 3, level + 0.1, level, level - 0.1, level / 3]
    const ended = (state: "KNOCKED_OUT" | "TAKE_PROFIT", side: "BUY" | "SELL") =>
      marks.map((mark) => touched(mark.toFixed(1), state, side))
    const fromAbove = [false, false, true, true, true]
    assert.deepStrictEqual([ended("KNOCKED_OUT", "BUY"), ended("TAKE_PROFIT", "SELL")], [fromAbove, fromAbove])
    const fromBelow = [true, true, true, false, false]
    assert.deepStrictEqual([ended("KNOCKED_OUT", "SELL"), ended("TAKE_PROFIT", "BUY")], [fromBelow, fromBelow])
  })

  it("a time lies between the request, the opening and the clock of the venue, with five seconds of slack", () => {
    const fillAt = (time: number) => fillMisfit({ ...fill, at: time }, { ...known, report: null }) === null
    const created = order.createdAt
    assert.deepStrictEqual([created - 5_000, created - 5_001, latest, latest + 1].map(fillAt), [
      true,
      false,
      true,
      false
    ])
    const behind = { ...known, report: null, venueTime: { ...venueTime, pastLag: 6_000 } }
    assert.deepStrictEqual(
      [created - 11_000, created - 11_001].map((time) => fillMisfit({ ...fill, at: time }, behind) === null),
      [true, false],
      "the venue's clock is six seconds behind"
    )
    const lagging = { ...known, report: null, venueTime: { ...venueTime, behindUntil: created } }
    assert.isNull(fillMisfit({ ...fill, at: 1 }, lagging), "sent while the clock of a sandbox's venue was behind")
    const ended = (change: Partial<VenueContract>, than: Partial<RequestedContract> = {}) =>
      contractMisfit({ ...knockedOut, ...change }, { ...asked, ...than }) === null
    assert.deepStrictEqual(
      [
        ended({}),
        ended({ openedAt: at - 7_000 }),
        ended({ endedAt: at - 1 }),
        ended({}, { venueTime: { ...venueTime, latest: at - 1 } }),
        ended({ state: "TORN_UP" }, { tearUp: { sentAt: at + 5_000 } }),
        ended({ state: "TORN_UP" }, { tearUp: { sentAt: at + 5_001 } }),
        ended({ state: "EARLY_CLOSE" }, { close: { price: contract.barrier, sentAt: at + 5_001 } })
      ],
      [true, false, false, false, true, false, false]
    )
    const swapAt = (openedAt: number, change: Partial<VenueSwap> = {}) =>
      swapMisfit(
        { ...swap, openedAt, maturityAt: openedAt + 30 * dayMillis, ...change },
        { swap: lent, isListed: true, venueTime }
      ) === null
    assert.deepStrictEqual(
      [
        swapAt(at),
        swapAt(at + 73 * 365 * dayMillis),
        swapAt(631_152_000_000),
        swapAt(at, { payments: [{ id: 1, amount: "1", at: latest + 1 }] }),
        swapAt(at, { corrections: [{ id: 1, fee: "0", at: at - 5_001 }] })
      ],
      [true, false, false, false, false]
    )
    const own = { ...fill, ref: null, side: "SELL", qty: "0.03", reason: "deleverage", at: latest + 1 } as const
    assert.isString(ownTradeMisfit(own, { account: fill.account, netQty: "0.04", band: null, venueTime }))
  })

  /** By kind: the misfit of a report with a new time. */
  const newTimes: Readonly<Record<string, (time: number, venueTime: VenueTime) => string | null>> = {
    trade: (time, venueTime) => fillMisfit({ ...fill, at: time }, { ...known, report: null, venueTime }),
    "own trade": (time, venueTime) => {
      const own = { ...fill, ref: null, side: "SELL", reason: "deleverage", at: time } as const
      return ownTradeMisfit(own, { account: fill.account, netQty: fill.qty, band, venueTime })
    },
    trigger: (time, venueTime) =>
      orderMisfit(reportOf(stop, 900, { triggeredAt: time }), { ...known, order: stop, venueTime }),
    "knock-out": (time, venueTime) =>
      contractMisfit({ ...knockedOut, endedAt: time }, { ...asked, ...open, venueTime }),
    "take profit": (time, venueTime) => {
      const ends = { state: "TAKE_PROFIT", settlePrice: contract.takeProfit, endedAt: time } as const
      return contractMisfit({ ...contract, ...ends }, { ...asked, ...open, venueTime })
    },
    "tear-up": (time, venueTime) => {
      const ends = { state: "TORN_UP", settlePrice: "60000.0", endedAt: time } as const
      return contractMisfit({ ...contract, ...ends }, { ...asked, ...open, tearUp: { sentAt: null }, venueTime })
    },
    "early close": (time, venueTime) => {
      const ends = { state: "EARLY_CLOSE", settlePrice: "60000.0", endedAt: time } as const
      const close = { price: "60000.0", sentAt: null }
      return contractMisfit({ ...contract, ...ends }, { ...asked, ...open, close, venueTime })
    },
    settlement: (time, venueTime) => {
      const ends = { state: "CLOSED", settlePrice: "60000.0", endedAt: time } as const
      return contractMisfit({ ...contract, ...ends }, { ...asked, ...open, isListed: false, venueTime })
    }
  }
  /** An open contract, whose market the marks have moved through both of its levels. */
  const open = {
    sentAt: null,
    known: contract,
    bandAt: () => ({ ...bandAt("60000"), low: bandAt("1").low, high: bandAt("99999").high })
  }
  const takenTo = at + 50_000

  it.each(Object.entries(newTimes))("%s: an event of it is not before the account's earlier events", (_, misfit) => {
    const event = { ...anyTime, takenTo }
    const times = [takenTo, takenTo - 5_000, takenTo - 5_001]
    assert.deepStrictEqual(
      times.map((time) => misfit(time, event) === null),
      [true, true, false]
    )
    assert.isNull(misfit(takenTo - 5_001, anyTime), "a look-up brings old times")
  })

  it.each(Object.entries(newTimes))(
    "%s: only the venue's own trade gains no time from a corrected clock",
    (kind, misfit) => {
      // The clock has led by 700 ms, and lags by 300 ms since its correction.
      const corrected = { ...anyTime, takenTo, pastLead: 700, lag: 300 }
      const limit = takenTo - (kind === "own trade" ? 5_000 : 6_000)
      assert.deepStrictEqual(
        [limit, limit - 1].map((time) => misfit(time, corrected) === null),
        [true, false]
      )
    }
  )

  it("an event may repeat a time, and the time of an expiry is a frozen term", () => {
    const venueTime = { ...anyTime, takenTo: at + 3_600_000 }
    const fired = { ...stop, triggeredAt: at }
    assert.isNull(orderMisfit(reportOf(fired, 900), { ...known, order: fired, venueTime }))
    const expired = { state: "EXPIRED", settlePrice: "60000.0", endedAt: contract.expiryAt } as const
    assert.isNull(contractMisfit({ ...contract, ...expired }, { ...asked, ...open, venueTime }))
    assert.isNull(contractMisfit(contract, { ...asked, venueTime }), "the event of the opening is lost")
    const parts = { payments: [{ id: 2, amount: "1", at }], corrections: [{ id: 2, fee: "0", at }] }
    assert.isNull(swapMisfit({ ...swap, ...parts }, { swap: lent, isListed: true, venueTime }))
  })

  it("a refusal is final, and a call that the venue never received may turn up", () => {
    const answered = (reason: string | null) => ({
      order: { ...order, reject: reason, venueOrderId: null },
      swap: { ...lent, rejectReason: reason }
    })
    const misfits = (reason: string | null) => {
      const { order: sent, swap: take } = answered(reason)
      return [
        fillMisfit(fill, { ...known, order: sent, report: null }),
        orderMisfit(reportOf(sent, 900, { filledQty: "0.01" }), { ...known, order: sent }),
        swapMisfit(swap, { swap: take, isListed: true, venueTime })
      ].map((misfit) => misfit !== null)
    }
    assert.deepStrictEqual(misfits("last look"), [true, true, true])
    assert.deepStrictEqual(misfits(notReceived), [false, false, false])
    assert.isNull(
      orderMisfit(reportOf(answered("last look").order, 900, { state: "REJECTED" }), known),
      "the refusal itself"
    )
    for (const accept of ["REFUSED", "NONE"] as const) assert.isString(contractMisfit(contract, { ...asked, accept }))
    assert.strictEqual(refusalReason({ outcome: "REFUSED", reason: notReceived }), "refused")
  })

  it("the fee of a take is that of the listed rate, and a corrected one is not larger than the notional", () => {
    const correction = (fee: string) => ({ fee, corrections: [{ id: 1, fee, at }] })
    const fits = (change: Partial<VenueSwap>) =>
      swapMisfit({ ...swap, ...change }, { swap: lent, isListed: true, venueTime }) === null
    assert.deepStrictEqual([{ fee: "0" }, { fee: "0.002" }, correction("0.002"), correction("1.1")].map(fits), [
      false,
      false,
      true,
      false
    ])
  })

  it("a quantity is compared until it is amended, whether or not the bound is", () => {
    const misfit = (amends: number, boundAmends?: number) => {
      const amended = { ...order, amends, ...(boundAmends === undefined ? {} : { boundAmends }) }
      const small = reportOf(amended, 900, { qty: "0.0010", filledQty: "0.0010", state: "FILLED" })
      return orderMisfit(small, { order: amended, bandAt: () => band, venueTime })
    }
    for (const [amends, boundAmends] of [[0], [1, 1], [3, 3]] as const) assert.isString(misfit(amends, boundAmends))
    for (const [amends, boundAmends] of [[1], [2, 1]] as const) assert.isNull(misfit(amends, boundAmends))
  })

  it("a larger quantity counts as the rest once it was requested", () => {
    const filled = { ...order, filledQty: "0.0600", amending: { attempt: 1, qty: "0.2000" } }
    const traded = (qty: string) => fillMisfit({ ...fill, qty }, { ...known, order: filled, report: null })
    assert.isNull(traded("0.14"))
    assert.isString(traded("0.1401"))
  })

  it.each([
    ["opens a position", "0", "SELL", "0.04", false],
    ["adds to one", "0.04", "BUY", "0.04", false],
    ["turns one", "0.04", "SELL", "0.1", false],
    ["makes one smaller", "0.04", "SELL", "0.03", true],
    ["ends a short one", "-0.04", "BUY", "0.04", true]
  ] as const)("a trade of the venue's own that %s", (_, netQty, side, qty, fits) => {
    const own = { ...fill, ref: null, side, qty, reason: "deleverage" } as const
    assert.strictEqual(ownTradeMisfit(own, { account: fill.account, netQty, band, venueTime }) === null, fits)
  })

  it("the order of the venue's own trade is an order of that trade", () => {
    const own = { ...fill, ref: null }
    const of = reportOf(order, 900, { ref: null, filledQty: order.qty, state: "FILLED" })
    assert.isNull(ownOrderMisfit(of, own))
    const others: ReadonlyArray<Partial<VenueOrder>> = [
      { id: 901 },
      { ref: "X-1" },
      { account: "another" },
      { symbol: "ETH-USDC-PERP" },
      { side: "SELL" },
      { qty: "0.01", filledQty: "0.01" },
      { filledQty: "0.01" },
      { group: "g" },
      { triggeredAt: at }
    ]
    for (const change of others) assert.isString(ownOrderMisfit({ ...of, ...change }, own), JSON.stringify(change))
    assert.isString(
      ownTradeMisfit({ ...own, ref: "O-1", side: "SELL" }, { account: fill.account, netQty: "1", band, venueTime })
    )
  })

  it.each([
    [
      "an early close that was accepted, at its price",
      { state: "EARLY_CLOSE", settlePrice: "61000.0" },
      { close: { price: "61000.0", sentAt: null } },
      true
    ],
    [
      "one at another price",
      { state: "EARLY_CLOSE", settlePrice: "61001.0" },
      { close: { price: "61000.0", sentAt: null } },
      false
    ],
    ["a tear-up that was asked for", { state: "TORN_UP", settlePrice: "60500.0" }, { tearUp: { sentAt: null } }, true],
    ["one that was not", { state: "TORN_UP", settlePrice: "60500.0" }, {}, false],
    ["one far from the marks", { state: "TORN_UP", settlePrice: "80000.0" }, { tearUp: { sentAt: null } }, false],
    [
      "an end with its market, which is delisted",
      { state: "CLOSED", settlePrice: "60500.0" },
      { isListed: false },
      true
    ],
    ["one with its market, which is listed", { state: "CLOSED", settlePrice: "60500.0" }, {}, false],
    ["an expiry before its time", { state: "EXPIRED", settlePrice: "60500.0" }, {}, false],
    ["a quote that nobody accepted", { state: "OPEN", settlePrice: null, endedAt: null }, { accept: "NONE" }, false]
  ] as const)("%s", (_, change, known, fits) => {
    const said = { ...contract, endedAt: at, ...change } as VenueContract
    assert.strictEqual(contractMisfit(said, { ...asked, ...known }) === null, fits)
  })

  it("a band is inclusive", () => {
    assert.deepStrictEqual(
      ["54000", "66000", "53999.9", "66000.1"].map((price) => outsideBand(price, band) === null),
      [true, true, false, false]
    )
  })
})
