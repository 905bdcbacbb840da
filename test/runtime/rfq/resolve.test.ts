/** What staff end with the venue's evidence (A2-116; D5): calls that the venue never answers, contracts that it does not know. */
import { assert, describe, it } from "@effect/vitest"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { contractInTurn, openContracts } from "../../../src/runtime/services/barrier/contractDecisions.ts"
import { instanceOf } from "../../../src/runtime/services/client/clientState.ts"
import { resolveClosed, resolveExecuted, resolveVoid } from "../../../src/runtime/services/rfq/resolveDecisions.ts"
import { rfqInTurn } from "../../../src/runtime/services/rfq/rfqDecisions.ts"
import type { RfqRow } from "../../../src/runtime/store/tables/barrier.ts"
import { clients, contract, handlers, parts, posted, turnAfter, turnWith, view } from "./rfqTurns.ts"

const reason = "the venue's letter of today"
const evidence = { tradeId: 91, price: "60010.0", qty: contract.qty, reason }
const request = (turn: Turn): RfqRow => rfqInTurn(turn, 1) ?? assert.fail("there is no request")
const ends = (turn: Turn) => turn.draft.build(null, null).endedCalls
const actions = (turn: Turn) => turn.draft.written("audit").map(({ action }) => action)

describe("venue resolve", () => {
  it("A2-116: an accept that was never executed: the request is open again, and its hold is free", () => {
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

  it("A2-116: what it cost beside what was held is a break", () => {
    const turn = turnAfter(turnWith(true))
    const done = resolveExecuted(turn, handlers, request(turn), { ...evidence, price: "60110.0" })
    const [difference] = turn.draft.written("reconBreaks")
    assert.deepInclude(difference, { scope: "CLIENT", clientId: 1, amount: -950_200n })
    assert.deepStrictEqual(done, { ok: true, value: { state: "ACCEPTED", breakId: difference?.id ?? 0 } })
  })

  it("only what is in flight can be resolved, and only an accept as executed", () => {
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
    assert.deepStrictEqual(resolveClosed(owned, open, { price: "60210.0", reason }), {
      ok: true,
      value: { state: "CLOSED", breakId: null }
    })
    const closed = contractInTurn(turn, open.id)
    assert.deepInclude(closed, { state: "CLOSED", pnl: 2_000_000n })
    assert.strictEqual(closed?.context.closeReason, "finalSettlement")
    assert.deepStrictEqual(posted(turn), [`settle:${open.id} system:venue`])
    assert.isFalse(resolveClosed(owned, closed ?? open, { price: "1.0", reason }).ok)
  })
})
