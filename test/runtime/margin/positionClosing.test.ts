/** A close-out of positions in its client's turns, by rows of F3, F9, F10 and D23, with its calls and rows. */
import { assert, describe, it } from "@effect/vitest"
import type { Facts } from "../../../src/machines/market/Facts.ts"
import type { VenueMarket } from "../../../src/machines/venue/VenueMarket.ts"
import { accept, refuse, unknown } from "../../../src/machines/shared/Refusal.ts"
import { spotInput } from "../../../src/machines/order/orderSamples.ts"
import { moneyOutRefusal, moneyOutSentences } from "../../../src/machines/withdrawal/moneyOut.ts"
import { advance } from "../../../src/runtime/effects/advance.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { presentRow } from "../../../src/runtime/engine/machine/upcast.ts"
import type { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { accountIn } from "../../../src/runtime/services/account/accountNow.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import type { ClosingMarkets } from "../../../src/runtime/services/margin/positionClosing.ts"
import { judgeRisk } from "../../../src/runtime/services/margin/riskDecisions.ts"
import { bookFill } from "../../../src/runtime/services/trading/order/fillBooking.ts"
import type { OrderInput } from "../../../src/machines/order/Order.ts"
import { ordersInTurn } from "../../../src/runtime/services/trading/order/orderDecisions.ts"
import type { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import { openExposure, openInMailbox } from "../../../src/runtime/services/shared/openWork.ts"
import { freeMoney } from "../../../src/runtime/services/money/withdrawal/withdrawalDecisions.ts"
import { catalogue } from "../../../src/runtime/tables/Catalogue.ts"
import type { OrderRow } from "../../../src/runtime/tables/order.ts"
import { contractsNow, micro } from "../../fixtures/contracts.ts"
import { clients, parts as turnParts, posted, view } from "../rfq/rfqTurns.ts"
import { accountOf, allTrade, committed, gold, marketsAt, perp, turnAt } from "../order/leverageTurns.ts"

const directory = { partner: () => view, stamp: () => ({ partnerId: 1, epoch: 0 }) } as Partial<
  Directory["Service"]
> as Directory["Service"]
const of = instanceOf(clients, view)

// A long of 0.1 from 60,000: a margin of 600 at 10x. At 55,000 it has lost 500 and its margin is 550: a close-out below
// 275.
const at55 = marketsAt({ [perp]: { price: "55000" }, [gold]: { price: "4000" } })
const both = [{ netQty: "0.1" }, { symbol: gold, netQty: "1", avgEntry: "4000" }]

interface Judging {
  readonly now?: number
  readonly markets?: ClosingMarkets
  readonly act?: (turn: Turn) => void
}

/** A turn in which `act` happens, judged at its end as the engine does it. */
const judged = (
  state: SubjectState,
  facts: Facts,
  { now = contractsNow, markets = allTrade, act = () => {} }: Judging = {}
): Turn => {
  const turn = { ...turnAt(state, facts), now }
  act(turn)
  judgeRisk(turn, { directory, markets })
  return turn
}

/** All markets trade, on other terms. */
const marketsWith = (terms: Partial<VenueMarket>): ClosingMarkets => ({
  ...allTrade,
  find: (symbol) => {
    const found = allTrade.find(symbol)
    return found.ok ? accept({ ...found.value, market: { ...found.value.market, ...terms } }) : found
  }
})

const episodes = (turn: Turn) => turn.draft.written("closeOuts").map(({ state }) => state)
const sent = (turn: Turn) =>
  turn.draft
    .written("orders")
    .filter(({ state, context }) => state === "SENT" && context.origin === "CLOSE_OUT")
    .map(({ symbol, context: { side, qty } }) => `${side} ${qty} ${symbol}`)
const called = (turn: Turn) => turn.draft.written("venueCalls").map(({ call }) => call)

const audited = (turn: Turn) => turn.draft.written("audit").map(({ action, reason }) => `${action}: ${reason}`)

const working = (turn: Turn): OrderRow => {
  const row = ordersInTurn(turn).find(({ context }) => context.origin === "CLOSE_OUT")
  if (row === undefined) throw new Error("nothing is being closed")
  return row
}

let trades = 70
/** The closing order is executed, completely or by this quantity, and then ends. */
const fills = (price: string, qty?: string) => (turn: Turn) => {
  const row = working(turn)
  const fill = {
    tradeId: ++trades,
    orderId: 900,
    ref: `O-${row.id}`,
    account: row.context.account,
    symbol: row.symbol,
    side: row.context.side,
    price,
    qty: qty ?? row.context.qty,
    fee: "0",
    feeCurrency: "USDC",
    liquidity: "TAKER" as const,
    reason: null,
    at: turn.now
  }
  const next = bookFill({ turn, of, recall: turnParts.recall }, row, fill as Parameters<typeof bookFill>[2])
  if (qty !== undefined) ends(turn, next)
}
const ends = (turn: Turn, row = working(turn)): void =>
  void advance(turn, "orders", row, { type: "ENDED", at: turn.now, how: "CANCELLED", reason: "no more" }, { of })

describe("a close-out of positions", () => {
  it("F9: closes the position with the largest margin first, one at a time, by an order that states why", () => {
    const first = judged(accountOf({ cash: "700", positions: both }), at55)
    // 200 left for margins of 550 and 200.
    assert.deepStrictEqual([episodes(first), sent(first)], [["CLOSING"], [`SELL 0.1000 ${perp}`]])
    const [episode] = first.draft.written("closeOuts")
    assert.deepInclude(working(first).context, {
      type: "MARKET",
      tif: "IOC",
      venueTif: "IOC",
      reduceOnly: true,
      note: `CO-${episode?.id}`,
      leverage: 10,
      commissionBps: 5,
      reserved: null
    })
    assert.deepInclude(episode?.context, { orders: 1, lastOrderId: working(first).id })
    assert.deepStrictEqual(first.draft.written("clients")[0]?.context.restrictions, ["CLOSE_OUT"])
    const state = committed(first)
    assert.isTrue(judged(state, at55, { now: contractsNow + 5_000 }).draft.isEmpty, "it waits for its order")
  })

  it("F9: decides again after each fill, and stops as soon as the equity suffices", () => {
    const first = judged(accountOf({ cash: "700", positions: both }), at55)
    // 197.25 is left for the 200 of the other position: a margin call.
    const next = judged(committed(first), at55, { act: fills("55000") })
    assert.deepStrictEqual([episodes(next), sent(next)], [["DONE"], []])
    assert.deepStrictEqual(
      next.draft.written("riskMonitors").map(({ state }) => state),
      ["MARGIN_CALL"]
    )
    const deeper = judged(accountOf({ cash: "590", positions: both }), at55)
    const on = judged(committed(deeper), at55, { now: contractsNow + 5, act: fills("55000") })
    assert.deepStrictEqual([episodes(on), sent(on)], [["CLOSING"], [`SELL 1.0000 ${gold}`]])
    assert.strictEqual(on.draft.written("closeOuts")[0]?.context.orders, 2)
  })

  it("F9: of equal margins it closes the position that was opened first, a short position by a purchase", () => {
    const facts = marketsAt({ [perp]: { price: "60000" }, [gold]: { price: "6000" } })
    const state = accountOf({
      cash: "100",
      chosen: { [gold]: 10 },
      positions: [
        { netQty: "0.1", openedAt: 9 },
        { symbol: gold, netQty: "-1", avgEntry: "6000", openedAt: 8 }
      ]
    })
    assert.deepStrictEqual(sent(judged(state, facts)), [`BUY 1.0000 ${gold}`])
  })

  it("F9: no order is larger than its market accepts; the next slice is sent as soon as one is filled", () => {
    const small = marketsWith({ maxQty: "0.06" })
    const first = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), at55, { markets: small })
    assert.deepStrictEqual(sent(first), [`SELL 0.0600 ${perp}`])
    const next = judged(committed(first), at55, { markets: small, act: fills("52000") })
    assert.deepStrictEqual(sent(next), [`SELL 0.0400 ${perp}`])
  })

  it("F9: the unfilled rest of an order is sent again after a second, other positions meanwhile", () => {
    const alone = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), at55)
    const part = judged(committed(alone), at55, { now: contractsNow + 10, act: fills("52000", "0.02") })
    assert.deepStrictEqual(sent(part), [])
    const state = committed(part)
    assert.isTrue(judged(state, at55, { now: contractsNow + 999 }).draft.isEmpty)
    assert.deepStrictEqual(sent(judged(state, at55, { now: contractsNow + 1_000 })), [`SELL 0.0800 ${perp}`])
    const two = judged(accountOf({ cash: "590", positions: both }), at55)
    const other = judged(committed(two), at55, { now: contractsNow + 10, act: (turn) => ends(turn) })
    assert.deepStrictEqual(sent(other), [`SELL 1.0000 ${gold}`])
  })

  it("D23: a market without a counterparty is tried at growing intervals, and once a second again after a fill", () => {
    let now = contractsNow
    const first = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), at55)
    let state = committed(first)
    const pauses: Array<number> = []
    for (let times = 0; times < 7; times++) {
      state = committed(judged(state, at55, { now, act: (turn) => ends(turn) }))
      let pause = 0
      for (;;) {
        const next = judged(state, at55, { now: now + pause })
        if (sent(next).length > 0) {
          state = committed(next)
          break
        }
        assert.isTrue(next.draft.isEmpty, "it waits without writing")
        pause += 500
      }
      now += pause
      pauses.push(pause)
    }
    assert.deepStrictEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    const part = judged(state, at55, { now, act: fills("52000", "0.02") })
    const later = judged(committed(part), at55, { now: now + 1_000 })
    assert.deepStrictEqual(sent(later), [`SELL 0.0800 ${perp}`])
  })

  it("F9: its limits move away from the mark: 1 %, 2 %, then as far as the equity pays, and further only by a command of staff", () => {
    const bounds: Array<string | null> = []
    // The equity is 200 against a value of 5,500. That pays 3.57 % with the commission.
    const first = judged(accountOf({ cash: "700", positions: [{ netQty: "0.1" }] }), at55)
    bounds.push(working(first).context.venuePrice)
    let state = committed(first)
    let now = contractsNow
    const next = (change: (turn: Turn) => void = () => {}): void => {
      state = committed(judged(state, at55, { now, act: (turn) => ends(turn) }))
      now += 30_000
      const again = judged(state, at55, { now, act: change })
      bounds.push(working(again).context.venuePrice)
      state = committed(again)
    }
    for (let times = 0; times < 3; times++) next()
    assert.deepStrictEqual(bounds, ["54450.0", "53900.0", "53036.5", "53036.5"])
    next((turn) => {
      const [episode] = turn.state.all("closeOuts")
      if (episode === undefined) throw new Error("no episode")
      advance(turn, "closeOuts", episode, { type: "WIDEN", bps: 700, reason: "R" }, { of })
    })
    assert.strictEqual(bounds.at(-1), "51150.0")
    // The venue's band limits every widening.
    next((turn) => {
      const [episode] = turn.state.all("closeOuts")
      if (episode !== undefined) advance(turn, "closeOuts", episode, { type: "WIDEN", bps: 9_000, reason: "R" }, { of })
    })
    assert.strictEqual(bounds.at(-1), "49500.0")
    // An order, or a position, whose mark is unknown could need the whole equity.
    const unmarked = marketsAt({ [perp]: { price: "55000" } })
    const resting = { symbol: gold, side: "SELL", price: "3990.0", venuePrice: "3990.0", reduceOnly: true } as const
    for (const other of [{ orders: [resting] }, { positions: [{ symbol: gold, netQty: "0.1", avgEntry: "4000" }] }]) {
      const { positions = [], ...orders } = { positions: [], ...other }
      let account = accountOf({ cash: "700", positions: [{ netQty: "0.1" }, ...positions], ...orders })
      for (const at of [0, 30_000, 60_000, 90_000]) {
        const due = judged(account, unmarked, { now: contractsNow + at })
        const { venuePrice } = working(due).context
        if (at > 0) assert.strictEqual(venuePrice, "53900.0")
        account = committed(judged(committed(due), unmarked, { now: contractsNow + at, act: (turn) => ends(turn) }))
      }
    }
    // A completely filled order starts the steps of its market again.
    const small = marketsWith({ maxQty: "0.06" })
    const slice = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), at55, { markets: small })
    const rest = judged(committed(slice), at55, { markets: small, act: fills("54450") })
    assert.strictEqual(working(rest).context.venuePrice, "54450.0")
  })

  it("F9: in a close-out resting limits beyond the present step are cancelled, and stops get the step as their bound", () => {
    const closing = { side: "SELL", qty: "0.0100", reduceOnly: true } as const
    const resting = (price: string) => ({ ...closing, price, venuePrice: price })
    const stop = (boundBps: number) => {
      const trigger = { source: "LAST", price: "52000.0", direction: "AT_OR_BELOW", limitPrice: null } as const
      return { ...closing, type: "STOP_MARKET", price: null, venuePrice: null, trigger, boundBps } as const
    }
    const orders = [resting("54449.9"), resting("54450.0"), resting("61000.0"), stop(494), stop(100)]
    const turn = judged(accountOf({ cash: "700", positions: [{ netQty: "0.1" }], orders }), at55)
    const cancelled = turn.draft.written("orders").filter(({ state }) => state === "PENDING_CANCEL")
    assert.deepStrictEqual(
      cancelled.map(({ id, context: { note } }) => [id, note]),
      [[1, "its price lies beyond the bound of the close-out"]]
    )
    const amended = turn.draft.written("orders").filter(({ context }) => context.amending !== null)
    assert.deepStrictEqual(
      amended.map(({ id, context: { amending } }) => [id, amending]),
      [[4, { attempt: 1, qty: "0.0100", boundBps: 100 }]]
    )
  })

  it("F13: outside a close-out the most expensive orders are cancelled until the equity covers the others", () => {
    const resting = (over: Partial<OrderInput>) => ({
      ...over,
      side: over.side ?? "BUY",
      venuePrice: over.price ?? null
    })
    const orders = [
      resting({ side: "SELL", reduceOnly: true, price: "57000.0" }),
      resting({ symbol: gold, price: "4000.0", qty: "1.0000" }),
      resting({ symbol: gold, price: "4000.0", qty: "2.0000" }),
      resting({ symbol: gold, price: "3000.0", qty: "1.0000" })
    ]
    const facts = marketsAt({ [perp]: { price: "60000" }, [gold]: { price: "3700" } })
    const cancelledWith = (cash: string) => {
      const turn = judged(accountOf({ cash, positions: [{ netQty: "0.1" }], orders }), facts)
      return turn.draft.written("orders").map(({ id, state, context: { note } }) => [id, state, note])
    }
    assert.deepStrictEqual(cancelledWith("1215"), [])
    assert.deepStrictEqual(cancelledWith("1190"), [
      [3, "PENDING_CANCEL", "the equity no longer covers its worst price"]
    ])
  })

  it("D23: without a counterparty nothing is sent or written, until there is one", () => {
    const nobody: ClosingMarkets = { ...allTrade, quoted: () => ({ ...allTrade.quoted(perp), bestBid: null }) }
    const state = accountOf({ cash: "600", positions: [{ netQty: "0.1" }] })
    const waits = judged(state, at55, { markets: nobody })
    assert.deepStrictEqual([episodes(waits), sent(waits)], [["WAITING_MARKET"], []])
    assert.include(audited(waits), `closeout.wait: nobody buys ${perp}`)
    for (let second = 1; second < 100; second++) {
      const now = contractsNow + second * 1_000
      assert.isTrue(judged(committed(waits), at55, { now, markets: nobody }).draft.isEmpty)
    }
    assert.deepStrictEqual(sent(judged(committed(waits), at55, { now: contractsNow + 100_000 })), [
      `SELL 0.1000 ${perp}`
    ])
    const short = judged(accountOf({ cash: "600", positions: [{ netQty: "-0.1", avgEntry: "50000" }] }), at55, {
      markets: nobody
    })
    assert.deepStrictEqual(sent(short), [`BUY 0.1000 ${perp}`], "a short needs somebody who sells")
  })

  it("D23: it shows what it waits for; a market before a mark", () => {
    const stale = { price: "55000", at: contractsNow - 10_001 }
    const first = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), at55)
    const state = committed(first)
    const gone = judged(state, marketsAt({ [perp]: stale }), { now: contractsNow + 10, act: (turn) => ends(turn) })
    assert.deepStrictEqual(episodes(gone), ["WAITING_MARK"])
    assert.include(audited(gone), `closeout.wait: ${perp} has no live price`)
    const delisted = judged(committed(gone), at55, { markets: marketsWith({ delisted: true }) })
    assert.deepStrictEqual(episodes(delisted), ["WAITING_MARKET"])
    assert.include(audited(delisted), `closeout.wait: ${perp} is delisted`)
  })

  it.each([
    [
      "nothing is known of any market",
      refuse({ _tag: "VenueAway", reason: "VENUE_UNREACHABLE", sentence: "Away." }),
      "the venue can not be reached"
    ],
    ["its market is gone", refuse(unknown("Market")), `${perp} is not listed`]
  ])("D23: where %s it shows that", (_case, found, why) => {
    const waits = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), at55, {
      markets: { ...allTrade, find: () => found }
    })
    assert.deepStrictEqual([episodes(waits), sent(waits)], [["WAITING_MARKET"], []])
    assert.include(audited(waits), `closeout.wait: ${why}`)
  })

  it("F9: a rest below a lot of a market with larger lots waits, and nothing is rounded up", () => {
    const waits = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), at55, {
      markets: marketsWith({ qtyStep: "1" })
    })
    assert.deepStrictEqual([episodes(waits), sent(waits)], [["WAITING_MARKET"], []])
    assert.include(audited(waits), `closeout.wait: ${perp} is traded in lots of 1`)
    const coarse = judged(accountOf({ cash: "600", positions: [{ netQty: "-0.1", avgEntry: "50000" }] }), at55, {
      markets: marketsWith({ priceTick: "100000" })
    })
    assert.deepStrictEqual([episodes(coarse), sent(coarse)], [["WAITING_MARKET"], []])
    assert.include(audited(coarse), `closeout.wait: no price of ${perp} is a multiple of its tick of 100000`)
    const rounded = judged(accountOf({ cash: "600", positions: [{ netQty: "0.10009" }] }), at55)
    assert.deepStrictEqual(sent(rounded), [`SELL 0.1000 ${perp}`])
  })

  it("F3: no order is sent where the mark is stale or the venue has halted trading; the close-out waits where that is true of every market", () => {
    const stale = { price: "55000", at: contractsNow - 10_001 }
    const one = marketsAt({ [perp]: stale, [gold]: { price: "4000" } })
    assert.deepStrictEqual(sent(judged(accountOf({ cash: "700", positions: both }), one)), [`SELL 1.0000 ${gold}`])
    const halted = marketsWith({ halt: { since: 1, message: "Halted by the venue." } })
    const waits = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), at55, { markets: halted })
    assert.deepStrictEqual([episodes(waits), sent(waits)], [["WAITING_MARKET"], []])
    assert.isTrue(judged(committed(waits), at55, { now: contractsNow + 500, markets: halted }).draft.isEmpty)
    const again = judged(committed(waits), at55, { now: contractsNow + 1_000 })
    assert.deepStrictEqual([episodes(again), sent(again)], [["CLOSING"], [`SELL 0.1000 ${perp}`]])
    const none = marketsAt({ [perp]: stale })
    const called55 = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), none)
    assert.deepStrictEqual(
      [episodes(called55), called55.draft.written("riskMonitors").map(({ state }) => state)],
      [[], ["MARGIN_CALL"]]
    )
  })

  it("F9, A2-101: opening orders are cancelled first and waited for, two seconds at the most", () => {
    const orders = [{ qty: "0.0100" }, { reduceOnly: true, side: "SELL" as const }, { ...spotInput }]
    const first = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }], orders }), at55)
    assert.deepStrictEqual([episodes(first), called(first)], [["CANCELLING"], ["cancelOrder", "cancelOrder"]])
    assert.deepStrictEqual(
      ordersInTurn(first).map(({ id, state }) => [id, state]),
      [
        [2, "ACKED"],
        [1, "PENDING_CANCEL"],
        [3, "PENDING_CANCEL"]
      ]
    )
    const state = committed(first)
    assert.isTrue(judged(state, at55, { now: contractsNow + 1_999 }).draft.isEmpty)
    assert.deepStrictEqual(sent(judged(state, at55, { now: contractsNow + 2_000 })), [`SELL 0.1000 ${perp}`])
  })

  it("F9: continues as soon as the cancels are confirmed, and ends if the money that they release suffices", () => {
    const orders = [{ qty: "0.0100" }]
    const first = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }], orders }), at55)
    const next = judged(committed(first), at55, {
      now: contractsNow + 10,
      act: (turn) => ends(turn, turn.state.get("orders", "1"))
    })
    assert.deepStrictEqual([episodes(next), sent(next)], [["CLOSING"], [`SELL 0.1000 ${perp}`]])
    const back = judged(committed(judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }], orders }), at55)), {
      ...at55,
      marks: marketsAt({ [perp]: { price: "60000" } }).marks
    })
    assert.deepStrictEqual(episodes(back), ["DONE"])
  })

  it("F10, SC-MRG-05: a loss beyond the money is written off in the commit of the last fill", () => {
    const first = judged(accountOf({ cash: "400", positions: [{ netQty: "0.1" }] }), at55)
    const end = judged(committed(first), at55, { now: contractsNow + 10, act: fills("55000") })
    assert.deepStrictEqual([episodes(end), end.draft.written("balances").at(-1)?.cash], [["DONE"], 0n])
    const [episode] = end.draft.written("closeOuts")
    // A loss of 500 and a commission of 2.75, against 400.
    assert.strictEqual(episode?.context.writtenOff, "102.750000")
    assert.strictEqual(posted(end).at(-1), `nbp:${episode?.id} system:risk`)
    assert.deepStrictEqual(
      end.draft.written("riskMonitors").map(({ state }) => state),
      ["NORMAL"]
    )
    assert.deepStrictEqual(end.draft.written("clients")[0]?.context.restrictions, [])
  })

  it("F10: nothing is written off while an order is in flight, or the hold of an order that is being cancelled exists", () => {
    const spot = [{ ...spotInput }]
    const first = judged(accountOf({ cash: "400", positions: [{ netQty: "0.1" }], orders: spot }), at55)
    const closing = judged(committed(first), at55, { now: contractsNow + 2_000 })
    const flat = judged(committed(closing), at55, { now: contractsNow + 2_010, act: fills("55000") })
    assert.deepStrictEqual(
      [episodes(flat), flat.draft.written("balances")[0]?.cash],
      [["PROTECTING"], micro("-102.75")]
    )
    const later = judged(committed(flat), at55, { now: contractsNow + 9_000 })
    assert.isTrue(later.draft.isEmpty, "its cancel is not confirmed")
  })

  it("F10: a professional's cash stays negative", () => {
    const state = accountOf({ cash: "50", positions: [{ netQty: "0.1" }], client: { categorization: "PROFESSIONAL" } })
    const first = judged(state, at55)
    const end = judged(committed(first), at55, { now: contractsNow + 10, act: fills("55000") })
    assert.deepStrictEqual([episodes(end), posted(end).some((key) => key.startsWith("nbp"))], [["DONE"], false])
  })
})

describe("an open position in a perpetual", () => {
  const account = { cash: "1000", positions: [{ netQty: "0.1" }], orders: [{ qty: "0.0100" }] }

  it("D1: prevents the account's closure, and a payment by staff", () => {
    const state = accountOf(account)
    const open = ["Orders are working: 1 ACKED.", "Positions are open: 1 OPEN."]
    assert.deepStrictEqual(openInMailbox(state), open)
    assert.deepStrictEqual(openExposure(state), open)
    assert.deepStrictEqual(openInMailbox(accountOf({ cash: "1000" })), [])
  })

  it("F3: blocks withdrawals while its mark is stale", () => {
    const usdc = (facts: Facts) => {
      const at = accountIn(accountOf({ ...account, orders: [] }), facts)
      return moneyOutRefusal({ ...freeMoney(at, "USDC"), restrictions: [], paused: false }, 1n)
    }
    assert.isNull(usdc(marketsAt({ [perp]: { price: "60000" } })))
    assert.strictEqual(usdc(marketsAt({ [perp]: { price: "60000", at: 5 } })), moneyOutSentences.stale)
  })
})

describe("an episode of an older version", () => {
  it("D23: has sent no order yet, or tries again at once", () => {
    const [row] = judged(accountOf({ cash: "600", positions: [{ netQty: "0.1" }] }), at55).draft.written("closeOuts")
    if (row === undefined) throw new Error("no episode")
    const { orders: _orders, lastOrderId: _last, tried: _tried, ...first } = row.context
    const stored = { ...row, state: "CANCELLING", version: "1", context: first } as unknown as typeof row
    assert.deepInclude(presentRow(catalogue.closeOuts, { ...stored }), {
      state: "CANCELLING",
      version: "5",
      context: { ...first, orders: 0, lastOrderId: null, tried: {}, widenedBps: 0 }
    })
    const second = { ...row, version: "2", context: { ...row.context, tried: { [perp]: 5 } } } as unknown as typeof row
    assert.deepInclude(presentRow(catalogue.closeOuts, { ...second }), {
      version: "5",
      context: { ...row.context, tried: {}, widenedBps: 0 }
    })
  })
})
