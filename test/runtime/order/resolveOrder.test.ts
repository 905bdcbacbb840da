/** Resolutions by staff with the venue's evidence, for an order that the venue never answers (A2-116). */
import { assert, describe, it } from "@effect/vitest"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import {
  cancelOrder,
  orderInTurn,
  placeOrder,
  positionInTurn
} from "../../../src/runtime/services/trading/order/orderDecisions.ts"
import {
  fillOf,
  resolveOrderExecuted,
  resolveOrderVoid
} from "../../../src/runtime/services/trading/order/resolveOrder.ts"
import { orderRef } from "../../../src/machines/order/Order.ts"
import { perpInput, spotInput } from "../../../src/machines/order/orderSamples.ts"
import { invalidFields, refuse } from "../../../src/machines/shared/Refusal.ts"
import { readPauses } from "../../../src/machines/venueChecks/VenueMisfit.ts"
import { bookFill } from "../../../src/runtime/services/trading/order/fillBooking.ts"
import { endCall } from "../../../src/runtime/services/venue/outcomes.ts"
import { reportMisfit } from "../../support/standingMisfit.ts"
import { reportOf } from "../../support/venueOrders.ts"
import type { OrderRow } from "../../../src/runtime/tables/order.ts"
import { clients, handlers, parts, posted, view } from "../rfq/rfqTurns.ts"
import { accountOf, committed, marketsAt, perp, turnAt } from "./leverageTurns.ts"

const reason = "the venue's letter of today"
const evidence = { tradeId: 91, price: "60000.0", qty: "0.1000", reason }
const of = instanceOf(clients, view)
const facts = marketsAt({ [perp]: { price: "60000" } })
const placed = (input = perpInput): { readonly turn: Turn; readonly row: OrderRow } => {
  const first = turnAt(accountOf({ cash: "10000" }), facts)
  const { orderId: _id, clientId: _client, account: _account, createdAt: _createdAt, ...wish } = input
  const { id } = placeOrder({ turn: first, of }, clients, wish)
  return after(first, id)
}
const after = (turn: Turn, id: number) => {
  const next = turnAt(committed(turn), facts)
  return { turn: next, row: orderInTurn(next, id) ?? assert.fail("the order does not work") }
}
const at = (turn: Turn) => ({ turn, of, recall: parts.recall })
const ends = (turn: Turn) => turn.draft.build(null, null).endedCalls
const actions = (turn: Turn) => turn.draft.written("audit").map(({ action }) => action)

describe("venue resolve order", () => {
  it("A2-116: void: it is rejected, its call has ended, and staff's evidence is stored", () => {
    const { turn, row } = placed()
    const done = resolveOrderVoid(at(turn), handlers, row, reason)
    assert.deepStrictEqual(done, { ok: true, value: { state: "REJECTED", breakId: null } })
    assert.deepStrictEqual(ends(turn), [`O-${row.id}`])
    assert.include(actions(turn), "venue.resolve")
    assert.deepStrictEqual(posted(turn), [])
  })

  it("A2-116: void: the reserve of a spot order is released", () => {
    const { turn, row } = placed(spotInput)
    assert.isTrue(resolveOrderVoid(at(turn), handlers, row, reason).ok)
    assert.deepStrictEqual(posted(turn), [`release:${row.id} partner:ACM`])
  })

  it("A2-116: void of an order that is being cancelled: both calls end, and nothing is queried again", () => {
    const { turn: first, row: sent } = placed()
    cancelOrder({ turn: first, of }, sent, null)
    const { turn, row } = after(first, sent.id)
    assert.strictEqual(row.state, "PENDING_CANCEL")
    const done = resolveOrderVoid(at(turn), handlers, row, reason)
    assert.deepStrictEqual(done, { ok: true, value: { state: "CANCELLED", breakId: null } })
    assert.sameMembers([...ends(turn)], [`O-${row.id}`, `O-${row.id}-c1`])
    assert.deepStrictEqual(turn.draft.written("venueCalls"), [])
  })

  it("A2-116: executed: the trade is booked as any other, without a break", () => {
    const { turn, row } = placed()
    const done = resolveOrderExecuted(at(turn), handlers, row, evidence)
    assert.deepStrictEqual(done, { ok: true, value: { state: "FILLED", breakId: null } })
    assert.deepInclude(positionInTurn(turn, perp), { netQty: "0.1000", state: "OPEN" })
    assert.deepInclude(turn.draft.written("fills")[0], { tradeId: 91, commission: 3_000_000n })
    assert.deepStrictEqual(ends(turn), [`O-${row.id}`])
  })

  it("A2-103: executed: the account is one of those that are compared with the venue, although no event of it ever arrived", () => {
    const { turn, row } = placed()
    assert.isTrue(resolveOrderExecuted(at(turn), handlers, row, evidence).ok)
    assert.deepStrictEqual(turn.draft.written("venueAccounts"), [
      { clientId: row.clientId, sequence: 0, takenTo: 0, gapTo: 0 }
    ])
  })

  it("A2-116: executed in part: the rest has ended; beyond the limit it is a break", () => {
    const { turn, row } = placed()
    const done = resolveOrderExecuted(at(turn), handlers, row, { ...evidence, qty: "0.0400", price: "60100.0" })
    const [difference] = turn.draft.written("reconBreaks")
    assert.deepInclude(difference, { scope: "CLIENT", clientId: 1, amount: 4_000_000n })
    assert.deepStrictEqual(done, { ok: true, value: { state: "CANCELLED", breakId: difference?.id ?? 0 } })
    assert.strictEqual(orderInTurn(turn, row.id)?.context.filledQty, "0.0400")
    assert.isTrue(actions(turn).includes("order.end"))
  })

  describe("A2-115: an acknowledged order whose report never fits", () => {
    /** The venue has acknowledged the order, and its report of a trade is a standing misfit. */
    const misfitting = (answers: number = readPauses.length, input = perpInput, refOf = orderRef) => {
      const { turn: first, row } = placed(input)
      const ref = refOf(row.id)
      const order = reportOf(row.context, 900)
      const none = { rfq: null, contract: null, swap: null, reason: null }
      assert.isTrue(
        endCall(first, handlers, { ...none, ref: `O-${row.id}`, outcome: "EXECUTED", at: first.now, order })
      )
      reportMisfit(first, ref, answers)
      return after(first, row.id)
    }
    const states = (turn: Turn) => turn.draft.written("venueMisfits").map(({ state }) => state)

    it("executed: the trade of the evidence is booked, and the misfit ends", () => {
      const { turn, row } = misfitting()
      const done = resolveOrderExecuted(at(turn), handlers, row, { ...evidence, qty: "0.0400" })
      assert.deepStrictEqual(done, { ok: true, value: { state: "CANCELLED", breakId: null } })
      assert.deepInclude(positionInTurn(turn, perp), { netQty: "0.0400", state: "OPEN" })
      assert.deepStrictEqual([states(turn), turn.draft.written("reconBreaks")], [["ENDED"], []])
    })

    it("void: it ends without a trade, and its reserve comes back", () => {
      const { turn, row } = misfitting(readPauses.length, spotInput)
      const done = resolveOrderVoid(at(turn), handlers, row, reason)
      assert.deepStrictEqual(done, { ok: true, value: { state: "CANCELLED", breakId: null } })
      assert.deepStrictEqual([states(turn), posted(turn)], [["ENDED"], [`release:${row.id} partner:ACM`]])
    })

    it("void ends the misfit of an answer to a cancel too", () => {
      const { turn, row } = misfitting(readPauses.length, perpInput, (id) => `O-${id}-c1`)
      assert.isTrue(resolveOrderVoid(at(turn), handlers, row, reason).ok)
      assert.deepStrictEqual(states(turn), ["ENDED"])
    })

    it("while its object is read again, and with a trade that is booked, it is refused and changes nothing", () => {
      const reading = misfitting(readPauses.length - 1)
      assert.isFalse(resolveOrderExecuted(at(reading.turn), handlers, reading.row, evidence).ok)
      assert.isTrue(reading.turn.draft.isEmpty)
      const { turn: first, row: sent } = placed()
      const part = { ...evidence, qty: "0.0400" }
      const row = bookFill(at(first), sent, fillOf(first.now, sent, part))
      const again = resolveOrderExecuted(at(first), handlers, row, part)
      assert.deepStrictEqual(again, refuse(invalidFields({ tradeId: "Trade 91 is booked already." })))
      assert.notInclude(actions(first), "venue.resolve")
    })
  })

  it("more than its rest, and an order that the venue has answered, are refused and change nothing", () => {
    const { turn, row } = placed()
    assert.isFalse(resolveOrderExecuted(at(turn), handlers, row, { ...evidence, qty: "0.1001" }).ok)
    assert.isTrue(turn.draft.isEmpty)
    assert.isTrue(resolveOrderVoid(at(turn), handlers, row, reason).ok)
    const later = turnAt(committed(turn), facts)
    for (const again of [
      resolveOrderVoid(at(later), handlers, row, reason),
      resolveOrderExecuted(at(later), handlers, row, evidence)
    ]) {
      assert.isFalse(again.ok)
    }
    assert.isTrue(later.draft.isEmpty)
  })
})
