/**
 * Resolutions by staff with the venue's evidence (A2-116; D5): calls that the venue never answers, contracts that it
 * does not know.
 */
import { assert, describe, it } from "@effect/vitest"
import { tearUpRef } from "../../../src/machines/contract/Contract.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { contractInTurn } from "../../../src/runtime/services/trading/contract/contractDecisions.ts"
import { openContracts } from "../../../src/runtime/services/account/contractHoldings.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import {
  openCall,
  resolveClosed,
  resolveExecuted,
  resolveVoid,
  voidReport
} from "../../../src/runtime/services/trading/rfq/resolveDecisions.ts"
import { rfqInTurn } from "../../../src/runtime/services/trading/rfq/rfqDecisions.ts"
import { endCall } from "../../../src/runtime/services/venue/outcomes.ts"
import type { RfqRow } from "../../../src/runtime/tables/rfq.ts"
import { reportMisfit } from "../../support/standingMisfit.ts"
import { clients, contract, handlers, parts, posted, turnAfter, turnWith, view } from "./rfqTurns.ts"

const reason = "the venue's letter of today"
const evidence = { tradeId: 91, price: "60010.0", qty: contract.qty, reason }
const request = (turn: Turn): RfqRow => rfqInTurn(turn, 1) ?? assert.fail("there is no request")
const ends = (turn: Turn) => turn.draft.build(null, null).endedCalls
const actions = (turn: Turn) => turn.draft.written("audit").map(({ action }) => action)

describe("venue resolve", () => {
  it("A2-116: an accept that was never executed: the request is open again, and its hold is released", () => {
    const turn = turnAfter(turnWith(true))
    const done = resolveVoid(turn, handlers, request(turn), reason)
    assert.deepStrictEqual(done, { ok: true, value: { state: "OPEN", breakId: null } })
    assert.deepStrictEqual([request(turn).context.accepting, ends(turn)], [null, ["A-1-7"]])
    assert.include(actions(turn), "venue.resolve")
    assert.deepStrictEqual(posted(turn), [])
  })

  it("A2-116: an accept that was executed opens its contract once, with its commission and no break", () => {
    const turn = turnAfter(turnWith(true))
    const done = resolveExecuted(turn, handlers, request(turn), evidence)
    assert.deepStrictEqual(done, { ok: true, value: { state: "ACCEPTED", breakId: null } })
    const [opened] = openContracts(turn)
    assert.deepInclude(opened?.context, { entry: "60010.0", tradeId: 91, premium: "28.595000" })
    assert.deepStrictEqual(posted(turn), [`commission:contract:${opened?.id} system:router`])
    assert.deepStrictEqual(ends(turn), ["A-1-7"])
    const accepted = request(turn)
    assert.isFalse(resolveVoid(turnAfter(turn), handlers, accepted, reason).ok)
  })

  it("A2-116: a cost beyond the hold is a break", () => {
    const turn = turnAfter(turnWith(true))
    const done = resolveExecuted(turn, handlers, request(turn), { ...evidence, price: "60110.0" })
    const [difference] = turn.draft.written("reconBreaks")
    assert.deepInclude(difference, { scope: "CLIENT", clientId: 1, amount: -950_200n })
    assert.deepStrictEqual(done, { ok: true, value: { state: "ACCEPTED", breakId: difference?.id ?? 0 } })
  })

  it("only a call in flight can be resolved, and only an accept as executed", () => {
    const other = turnAfter(turnWith(false))
    const refused = resolveExecuted(other, handlers, request(other), evidence)
    assert.deepInclude(refused, { ok: false })
    assert.strictEqual(other.draft.isEmpty, true)
    const done = turnAfter(turnWith(true))
    resolveExecuted(done, handlers, request(done), evidence)
    const after = turnAfter(done)
    assert.isFalse(resolveExecuted(after, handlers, rfqInTurn(done, 1) as RfqRow, evidence).ok)
  })

  it("D5: a contract that the venue does not know is closed at a price, once", () => {
    const first = turnAfter(turnWith(true))
    resolveExecuted(first, handlers, request(first), evidence)
    const turn = turnAfter(first)
    const [open] = openContracts(turn)
    if (open === undefined) return assert.fail("no contract is open")
    const owned = { turn, board: parts.board, of: instanceOf(clients, view) }
    assert.deepStrictEqual(resolveClosed(owned, open, { price: "60210.0", reason, isUnknown: true }), {
      ok: true,
      value: { state: "CLOSED", breakId: null }
    })
    const closed = contractInTurn(turn, open.id)
    assert.deepInclude(closed, { state: "CLOSED", pnl: 2_000_000n })
    assert.strictEqual(closed?.context.closeReason, "finalSettlement")
    assert.deepStrictEqual(posted(turn), [`settle:${open.id} system:venue`])
    assert.isFalse(resolveClosed(owned, closed ?? open, { price: "1.0", reason, isUnknown: true }).ok)
  })

  describe("A2-115: a contract whose report never fits", () => {
    const open = (ref: string, reads?: number) => {
      const first = turnAfter(turnWith(true))
      resolveExecuted(first, handlers, request(first), evidence)
      reportMisfit(first, ref, reads)
      const turn = turnAfter(first)
      const [row] = openContracts(turn)
      if (row === undefined) throw new Error("no contract is open")
      return { turn, row, owned: { turn, board: parts.board, of: instanceOf(clients, view) } }
    }
    const price = "60210.0"
    const misfits = (turn: Turn) => turn.draft.written("venueMisfits").map(({ state }) => state)

    it.each([
      ["its own", () => contract.ref],
      ["its tear-up", () => tearUpRef(open(contract.ref).row.id, 1)]
    ])(
      "by %s: it is closed at the price of the evidence, though the venue knows it, and the misfit ends",
      (_, refOf) => {
        const { turn, row, owned } = open(refOf())
        const done = resolveClosed(owned, row, { price, reason, isUnknown: false })
        assert.deepStrictEqual(done, { ok: true, value: { state: "CLOSED", breakId: null } })
        assert.deepStrictEqual([misfits(turn), posted(turn)], [["ENDED"], [`settle:${row.id} system:venue`]])
      }
    )

    it("void: nothing of the report is booked, and the contract stays open", () => {
      const { turn, row } = open(contract.ref)
      assert.deepStrictEqual(voidReport(turn, row, reason), { ok: true, value: { state: "OPEN", breakId: null } })
      assert.deepStrictEqual([misfits(turn), posted(turn)], [["ENDED"], []])
      assert.include(actions(turn), "venue.resolve")
    })

    it("while its object is read again it is refused, and changes nothing", () => {
      const { turn, row, owned } = open(contract.ref, 4)
      assert.isFalse(resolveClosed(owned, row, { price, reason, isUnknown: false }).ok)
      assert.isFalse(voidReport(turn, row, reason).ok)
      assert.isTrue(turn.draft.isEmpty)
    })
  })

  describe("A2-115: an accept that the venue has refused and executed", () => {
    const refusedAndExecuted = () => {
      const first = turnAfter(turnWith(true))
      const refusal = { ref: "A-1-7", outcome: "REFUSED", reason: "last look", at: 40 } as const
      assert.isTrue(endCall(first, handlers, { ...refusal, order: null, rfq: null, contract: null, swap: null }))
      reportMisfit(first, "A-1-7")
      const turn = turnAfter(first)
      return { turn, row: request(turn) }
    }

    it("executed: its contract opens, and the cost beyond the free margin is the break", () => {
      const { turn, row } = refusedAndExecuted()
      assert.strictEqual(openCall(turn.state, row), "A-1-7")
      const done = resolveExecuted(turn, handlers, row, evidence)
      assert.isTrue(done.ok)
      assert.strictEqual(request(turn).state, "ACCEPTED")
      assert.deepInclude(openContracts(turn)[0]?.context, { entry: "60010.0", tradeId: 91 })
      assert.deepStrictEqual(
        turn.draft.written("venueMisfits").map(({ state }) => state),
        ["ENDED"]
      )
      const again = turnAfter(turn)
      assert.isFalse(resolveExecuted(again, handlers, request(turn), evidence).ok)
    })

    it("void: nothing opens, and the misfit ends", () => {
      const { turn, row } = refusedAndExecuted()
      assert.deepStrictEqual(resolveVoid(turn, handlers, row, reason), {
        ok: true,
        value: { state: row.state, breakId: null }
      })
      assert.deepStrictEqual(
        turn.draft.written("venueMisfits").map(({ state }) => state),
        ["ENDED"]
      )
      assert.deepStrictEqual([openContracts(turn), posted(turn)], [[], []])
    })
  })
})
