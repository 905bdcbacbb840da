/** The next steps of a protection, by rows of D7 and A2-40, including results of races that no venue order reproduces. */
import { assert, describe, it } from "@effect/vitest"
import {
  attemptDueAt,
  type AttachmentContext,
  type AttachmentState,
  firstStanding,
  groupOf,
  isLive,
  type Leg,
  legDirection,
  legType,
  type OrderNow,
  type Standing,
  type Unplaced
} from "../../src/machines/order/Attachment.ts"
import { attachmentInput } from "../../src/machines/order/attachmentSamples.ts"
import { type Plan, planProtection } from "../../src/machines/order/protectionPlan.ts"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"

const works: OrderNow = {
  works: true,
  qty: "10",
  filledQty: "0",
  placing: false,
  changing: false,
  cancels: 0,
  rejected: false,
  why: null
}
const over = { ...works, works: false }

const leg: Leg = {
  orderId: 4,
  role: "takeProfit",
  round: 1,
  atMarket: false,
  asked: "4",
  askedFor: "4",
  tries: 0,
  standsFor: "4"
}
const stop: Leg = { ...leg, orderId: 5, role: "stopLoss" }
const placed: Standing = { ...firstStanding, filled: "4", round: 1, legs: [leg, stop] }
const fired: Standing = { ...placed, dealt: "4", traded: true, legs: [stop] }

const now = 50_000
/** The stop was refused a second ago, or now. */
const refusedOnce: Unplaced = {
  role: "stopLoss",
  orderId: 5,
  atMarket: false,
  attempts: 1,
  failedAt: now - 1_000,
  reason: "no"
}
const due: Standing = { ...placed, legs: [leg], unplaced: [refusedOnce] }
const notDue: Standing = { ...due, unplaced: [{ ...refusedOnce, failedAt: now - 999 }] }
/** Its next attempt is in flight. */
const tried: Standing = { ...due, legs: [leg, { ...stop, orderId: 6 }] }
const dueAtMarket: Standing = { ...fired, traded: false, legs: [], unplaced: [{ ...refusedOnce, atMarket: true }] }
const market: Leg = { ...stop, orderId: 6, atMarket: true }

interface Given {
  readonly state: AttachmentState
  readonly standing: Standing
  readonly parent?: Partial<OrderNow> | null
  readonly legs?: Readonly<Record<number, Partial<OrderNow>>>
  readonly net: string
  readonly mark?: string
}

const plan = ({ state, standing, parent = {}, legs = {}, net, mark }: Given): Plan => {
  const context: AttachmentContext = {
    ...attachmentInput,
    qtyDecimals: 0,
    standing,
    live: true,
    unplacedSince: null
  }
  return planProtection(
    { state, context },
    {
      now,
      parent: parent === null ? null : { ...works, filledQty: standing.filled, ...parent },
      legOf: (id) => ({ ...works, qty: "4", ...legs[id] }),
      netQty: net,
      mark: mark === undefined ? null : new MoneyDecimal(mark)
    }
  )
}

/** The plan as text: its event and its steps. */
const said = ({ event, place, amend, cancel, cancelParent, notes }: Plan): ReadonlyArray<string> => [
  event ?? "nothing",
  ...place.map(({ role, asked, atMarket, round }) => `${atMarket ? "market" : role} ${asked} in ${round}`),
  ...amend.map(({ orderId, qty }) => `${orderId} to ${qty}`),
  ...cancel.map((id) => `cancel ${id}`),
  ...(cancelParent ? ["cancel parent"] : []),
  ...notes
]

const rows: ReadonlyArray<readonly [title: string, given: Given, steps: ReadonlyArray<string>]> = [
  ["ARMED: nothing is filled", { state: "ARMED", standing: firstStanding, net: "0" }, ["nothing"]],
  [
    "ARMED: the first fill",
    { state: "ARMED", standing: firstStanding, parent: { filledQty: "4" }, net: "4", mark: "60000" },
    ["PLACE", "takeProfit 4 in 1", "stopLoss 4 in 1"]
  ],
  [
    "ARMED: a fill of which a part closed what was short",
    { state: "ARMED", standing: firstStanding, parent: { filledQty: "4" }, net: "1" },
    ["PLACE", "takeProfit 1 in 1", "stopLoss 1 in 1"]
  ],
  [
    "ARMED: a fill of which nothing is held",
    { state: "ARMED", standing: firstStanding, parent: { filledQty: "4" }, net: "-2" },
    ["FOLLOW"]
  ],
  [
    "ARMED: a fill behind the stop",
    { state: "ARMED", standing: firstStanding, parent: { filledQty: "4" }, net: "4", mark: "58000" },
    ["FIRE", "market 4 in 1"]
  ],
  ["ARMED: the parent ends unfilled", { state: "ARMED", standing: firstStanding, parent: over, net: "0" }, ["CLOSE"]],
  [
    "PLACING: a leg is on its way",
    { state: "PLACING", standing: placed, legs: { 5: { placing: true, changing: true } }, net: "4" },
    ["nothing"]
  ],
  ["PLACING: the venue has both", { state: "PLACING", standing: placed, net: "4" }, ["STAND"]],
  [
    "PLACING: one is refused, the other stands",
    { state: "PLACING", standing: placed, legs: { 5: { ...over, rejected: true, why: "no" } }, net: "4" },
    ["STAND", "stop loss not placed, attempt 1: no; it is placed again"]
  ],
  [
    "PLACING: the venue knows its level to be passed",
    {
      state: "PLACING",
      standing: placed,
      legs: { 5: { ...over, rejected: true, why: "would trigger at once" } },
      net: "4"
    },
    ["FIRE"]
  ],
  ["ACTIVE: as it should be", { state: "ACTIVE", standing: placed, net: "4" }, ["nothing"]],
  [
    "ACTIVE: a further fill",
    { state: "ACTIVE", standing: placed, parent: { filledQty: "7" }, net: "7" },
    ["FOLLOW", "4 to 7", "5 to 7"]
  ],
  [
    "ACTIVE: a further fill while a change of one leg is in flight",
    { state: "ACTIVE", standing: placed, parent: { filledQty: "7" }, legs: { 4: { changing: true } }, net: "7" },
    ["FOLLOW", "5 to 7"]
  ],
  [
    "ACTIVE: an amendment was lost and is asked for again",
    {
      state: "ACTIVE",
      standing: { ...placed, filled: "7", legs: [{ ...leg, asked: "7", askedFor: "7", tries: 2 }] },
      net: "7"
    },
    ["FOLLOW", "4 to 7"]
  ],
  [
    "ACTIVE: an amendment that is refused for good is asked for no more",
    {
      state: "ACTIVE",
      standing: { ...placed, filled: "7", legs: [{ ...leg, asked: "7", askedFor: "7", tries: 3 }] },
      net: "7"
    },
    ["nothing"]
  ],
  ["ACTIVE: a part is sold by hand", { state: "ACTIVE", standing: placed, net: "1" }, ["FOLLOW", "4 to 1", "5 to 1"]],
  ["ACTIVE: the position is flat", { state: "ACTIVE", standing: placed, net: "0" }, ["CLOSE", "cancel 4", "cancel 5"]],
  [
    "ACTIVE: the position is turned",
    { state: "ACTIVE", standing: placed, net: "-3" },
    ["CLOSE", "cancel 4", "cancel 5"]
  ],
  [
    "ACTIVE: one is cancelled by hand",
    { state: "ACTIVE", standing: placed, legs: { 4: { ...over, cancels: 1 } }, net: "4" },
    ["FOLLOW"]
  ],
  [
    "ACTIVE: both are cancelled by hand",
    { state: "ACTIVE", standing: placed, legs: { 4: { ...over, cancels: 1 }, 5: { ...over, cancels: 1 } }, net: "4" },
    ["CLOSE"]
  ],
  [
    "ACTIVE: a member fills",
    { state: "ACTIVE", standing: placed, legs: { 5: { filledQty: "1" } }, net: "3" },
    ["FIRE"]
  ],
  [
    "ACTIVE: a fired leg of another round takes its part of what is held first, and no more than that",
    {
      state: "ACTIVE",
      standing: {
        ...placed,
        filled: "8",
        round: 2,
        before: "4",
        dealt: "4",
        legs: [leg, { ...stop, round: 2, askedFor: "8", standsFor: "8" }]
      },
      legs: { 4: { filledQty: "1" } },
      net: "5"
    },
    ["FOLLOW", "5 to 2"]
  ],
  [
    "ACTIVE: a fired leg of another round is larger than what is held",
    {
      state: "ACTIVE",
      standing: { ...placed, filled: "8", round: 2, before: "4", dealt: "4", legs: [leg, { ...stop, round: 2 }] },
      legs: { 4: { filledQty: "1" } },
      net: "2"
    },
    ["FOLLOW", "4 to 3", "cancel 5"]
  ],
  [
    "FIRED: the others and the parent's rest are cancelled",
    { state: "FIRED", standing: { ...fired, legs: [leg, stop] }, legs: { 5: { filledQty: "1" } }, net: "3" },
    ["FOLLOW", "cancel 4", "cancel parent"]
  ],
  [
    "FIRED: a cancel that the venue refuses is not asked for ever",
    { state: "FIRED", standing: fired, parent: { cancels: 3 }, legs: { 5: { cancels: 3 } }, net: "3" },
    ["nothing"]
  ],
  [
    "FIRED: what fires is larger than what is held",
    { state: "FIRED", standing: fired, parent: null, legs: { 5: { filledQty: "1" } }, net: "2" },
    ["FOLLOW", "5 to 3"]
  ],
  [
    "FIRED: the others are gone",
    { state: "FIRED", standing: fired, parent: over, legs: { 5: over }, net: "0" },
    ["CLOSE"]
  ],
  [
    "FIRED: the parent fills once more",
    {
      state: "FIRED",
      standing: { ...fired, legs: [] },
      parent: { ...works, changing: true, filledQty: "6" },
      net: "2"
    },
    ["PLACE", "takeProfit 2 in 2", "stopLoss 2 in 2"]
  ],
  [
    "FIRED: a leg met its own parent's order, which is cancelled first",
    {
      state: "FIRED",
      standing: { ...placed, again: { role: "stopLoss", orderId: 5, waits: true }, legs: [leg] },
      net: "4"
    },
    ["FOLLOW", "cancel parent"]
  ],
  [
    "FIRED: the parent's rest is out of the book",
    {
      state: "FIRED",
      standing: { ...placed, again: { role: "stopLoss", orderId: 5, waits: true }, legs: [leg] },
      parent: null,
      net: "4"
    },
    ["FIRE", "market 4 in 1"]
  ],
  [
    "FIRED: what it had traded before it met its parent's order is not sold twice",
    {
      state: "FIRED",
      standing: {
        ...placed,
        taken: "3",
        traded: true,
        again: { role: "stopLoss", orderId: 5, waits: false },
        legs: []
      },
      net: "9"
    },
    ["FIRE", "market 1 in 1", "cancel parent"]
  ],
  [
    "FIRED: nobody takes it at the market, twice",
    {
      state: "FIRED",
      standing: { ...placed, atMarket: 2, again: { role: "stopLoss", orderId: 5, waits: true }, legs: [] },
      parent: null,
      net: "4"
    },
    ["FOLLOW", "stop loss not placed, attempt 1: no counterparty; it is placed again"]
  ],
  [
    "CLOSED: the parent fills on behind the take profit",
    {
      state: "CLOSED",
      standing: { ...fired, legs: [] },
      parent: { filledQty: "6" },
      net: "2",
      mark: "66000"
    },
    ["FIRE", "market 2 in 2"]
  ],
  [
    "CLOSED: what was closed by hand is not protected again",
    { state: "CLOSED", standing: { ...placed, dealt: "4", legs: [] }, net: "4" },
    ["nothing"]
  ],
  [
    "CLOSED: what was bought while nothing was held is not",
    { state: "CLOSED", standing: { ...fired, legs: [] }, parent: { filledQty: "6" }, net: "0" },
    ["FOLLOW"]
  ],
  ["CLOSED: the parent ends", { state: "CLOSED", standing: { ...fired, legs: [] }, parent: over, net: "0" }, ["FOLLOW"]]
]

const refusedLegs: ReadonlyArray<readonly [title: string, given: Given, steps: ReadonlyArray<string>]> = [
  ["within its pause", { state: "ACTIVE", standing: notDue, net: "4" }, ["nothing"]],
  ["after its pause", { state: "ACTIVE", standing: due, net: "4" }, ["FOLLOW", "stopLoss 4 in 1"]],
  [
    "with what the parent has filled by then",
    { state: "ACTIVE", standing: due, parent: { filledQty: "7" }, net: "7" },
    ["FOLLOW", "stopLoss 7 in 1", "4 to 7"]
  ],
  [
    "while its next attempt is on its way",
    { state: "ACTIVE", standing: tried, legs: { 6: { placing: true, changing: true } }, net: "4" },
    ["nothing"]
  ],
  ["once the venue has it", { state: "ACTIVE", standing: tried, net: "4" }, ["FOLLOW", "stop loss placed"]],
  [
    "refused again",
    { state: "ACTIVE", standing: tried, legs: { 6: { ...over, rejected: true, why: "busy" } }, net: "4" },
    ["FOLLOW", "stop loss not placed, attempt 2: busy; it is placed again"]
  ],
  [
    "cancelled by hand on its way, and refused",
    {
      state: "ACTIVE",
      standing: { ...placed, legs: [leg, stop] },
      legs: { 5: { ...over, cancels: 1, rejected: true } },
      net: "4"
    },
    ["FOLLOW", "stop loss not placed: no reason"]
  ],
  ["alone, within its pause", { state: "ACTIVE", standing: { ...notDue, legs: [] }, net: "4" }, ["nothing"]],
  ["while its level is passed", { state: "ACTIVE", standing: due, net: "4", mark: "58000" }, ["FIRE", "market 4 in 1"]],
  [
    "after the position is gone",
    { state: "ACTIVE", standing: due, net: "0" },
    ["CLOSE", "cancel 4", "stop loss not placed: not needed any more"]
  ],
  [
    "after the other leg has fired",
    { state: "ACTIVE", standing: due, legs: { 4: { filledQty: "1" } }, net: "3" },
    ["FIRE", "stop loss not placed: not needed any more"]
  ],
  [
    "at the market",
    {
      state: "FIRED",
      standing: { ...dueAtMarket, unplaced: [], legs: [market] },
      legs: { 6: { ...over, rejected: true, why: "no" } },
      net: "4"
    },
    ["FOLLOW", "cancel parent", "stop loss not placed, attempt 1: no; it is placed again"]
  ],
  [
    "at the market, after its pause",
    { state: "FIRED", standing: dueAtMarket, parent: null, net: "4" },
    ["FIRE", "market 4 in 1"]
  ],
  [
    "at the market, after what it stood for was sold",
    { state: "FIRED", standing: dueAtMarket, parent: null, net: "0" },
    ["CLOSE", "stop loss not placed: not needed any more"]
  ]
]

describe("the plan of a protection", () => {
  it.each(rows)("D7: %s", (_, given, steps) => assert.deepStrictEqual(said(plan(given)), steps))

  it.each(refusedLegs)("D7: a refused leg %s", (_, given, steps) => assert.deepStrictEqual(said(plan(given)), steps))

  it("D7: pauses between attempts double from a second to five minutes", () => {
    const pauseAfter = (attempts: number) => attemptDueAt({ ...refusedOnce, attempts, failedAt: 0 })
    assert.deepStrictEqual([1, 2, 3, 9, 10, 1_000].map(pauseAfter), [1_000, 2_000, 4_000, 256_000, 300_000, 300_000])
    const again = plan({ state: "ACTIVE", standing: tried, legs: { 6: { ...over, rejected: true } }, net: "4" })
    assert.deepStrictEqual(again.standing.unplaced, [
      { ...refusedOnce, orderId: 6, attempts: 2, failedAt: now, reason: "no reason" }
    ])
  })

  it("A2-40: a leg that fires before its amendment leaves the rest of the fills to another round", () => {
    const growing = { ...placed, filled: "7", legs: [leg, { ...stop, asked: "7", askedFor: "7", tries: 1 }] }
    const first = plan({
      state: "ACTIVE",
      standing: growing,
      legs: { 4: { ...over, why: "other of its group filled" }, 5: { ...over, filledQty: "4" } },
      net: "3"
    })
    assert.strictEqual(first.event, "FIRE")
    assert.deepInclude(first.standing, { dealt: "4", taken: "4", traded: true, legs: [] })
    const next = plan({ state: "FIRED", standing: first.standing, net: "3", mark: "58000" })
    assert.deepStrictEqual(said(next), ["FIRE", "market 3 in 2", "cancel parent"])
  })

  it("A2-40: fills while no legs exist count as settled, and only later fills are protected", () => {
    const flat = plan({ state: "CLOSED", standing: { ...fired, legs: [] }, parent: { filledQty: "6" }, net: "0" })
    assert.strictEqual(flat.standing.dealt, "6")
    const later = plan({ state: "CLOSED", standing: flat.standing, parent: { filledQty: "8" }, net: "20" })
    assert.deepStrictEqual(said(later).slice(1), ["takeProfit 2 in 2", "stopLoss 2 in 2"])
  })

  it("A2-36: legs fire on their side of the level, and rounds have groups of their own", () => {
    assert.strictEqual(legDirection("takeProfit", "BUY"), "AT_OR_ABOVE")
    assert.strictEqual(legDirection("stopLoss", "BUY"), "AT_OR_BELOW")
    assert.strictEqual(legDirection("takeProfit", "SELL"), "AT_OR_BELOW")
    assert.strictEqual(legDirection("stopLoss", "SELL"), "AT_OR_ABOVE")
    assert.deepStrictEqual(
      [
        legType("takeProfit", true),
        legType("takeProfit", false),
        legType("stopLoss", true),
        legType("stopLoss", false)
      ],
      ["TAKE_PROFIT_LIMIT", "TAKE_PROFIT_MARKET", "STOP_LIMIT", "STOP_MARKET"]
    )
    assert.deepStrictEqual([groupOf(7, 1), groupOf(7, 2)], ["att:7", "att:7:2"])
  })

  it("D7: it exists as long as its parent or a leg works, or a leg has to be sent again", () => {
    const none = { ...firstStanding, parentWorks: false }
    assert.isFalse(isLive(none))
    assert.isTrue(isLive(firstStanding))
    assert.isTrue(isLive({ ...none, legs: [leg] }))
    assert.isTrue(isLive({ ...none, unplaced: [refusedOnce] }))
    assert.isTrue(isLive({ ...none, again: { role: "stopLoss", orderId: 5, waits: true } }))
  })
})
