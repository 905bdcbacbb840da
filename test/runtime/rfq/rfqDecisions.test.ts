/** Requests for quotes and contracts in their client's turn, by rows of D4 and D5, with their postings. */
import { assert, describe, it } from "@effect/vitest"
import { restrictionSentences } from "../../../src/machines/client/Restriction.ts"
import type { VenueContract, VenueRfq } from "../../../src/machines/venue/venueObjects.ts"
import { advance } from "../../../src/runtime/effects/advance.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { restrictClient } from "../../../src/runtime/services/clients/client/clientDecisions.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import { cancelOpeningRequests, rfqInTurn, startClose } from "../../../src/runtime/services/trading/rfq/rfqDecisions.ts"
import { sampleQuote } from "../../../src/machines/rfq/rfqSamples.ts"
import { decided, clients, contract, handlers, parts, posted, turnWith, view } from "./rfqTurns.ts"

const executedRequest: VenueRfq = {
  id: 70,
  ref: "R-1",
  account: contract.account,
  symbol: contract.symbol,
  side: contract.side,
  qty: contract.qty,
  barrier: contract.barrier,
  takeProfit: contract.takeProfit,
  expiryAt: contract.expiryAt,
  strict: contract.strict,
  windowEndsAt: 60_000,
  closes: null,
  state: "ACCEPTED",
  reason: null,
  quotes: []
}

const say = (turn: Turn, told: VenueContract) =>
  decided(() =>
    handlers.rfq.reported(turn, {
      id: 1,
      at: 30,
      fact: { type: "contract", account: told.account, sequence: 1, contract: told }
    })
  )

/** A turn in which a contract is open and a request to close it has begun. Returns the request's id. */
const closingTurn = (): { readonly turn: Turn; readonly closing: number } => {
  const turn = turnWith(true)
  say(turn, contract)
  const [open] = turn.draft.written("barrierContracts")
  if (open === undefined) throw new Error("no contract is open")
  const { id } = startClose(turn, clients, open, { windowEndsAt: 60_000, autoAccept: true, mark: null })
  return { turn, closing: id }
}

describe("requests for quotes in their client's turn", () => {
  it("D4: an execution opens one contract with one commission, whoever accepted; a repeated report changes nothing", () => {
    const turn = turnWith(true)
    assert.isTrue(say(turn, contract))
    assert.isTrue(say(turn, contract))
    const [opened, ...others] = turn.draft.written("barrierContracts")
    assert.deepStrictEqual(others, [])
    assert.deepInclude(opened?.context, { premium: "28.595000", commission: "0.120020", entry: "60010.0", tradeId: 90 })
    assert.strictEqual(rfqInTurn(turn, 1)?.state, "ACCEPTED")
    assert.deepStrictEqual(posted(turn), [`commission:contract:${opened?.id} system:router`])
  })

  it("D11: a report of the venue is decided again when the partner has changed meanwhile, so that every event has its delivery", () => {
    const turn = turnWith(true)
    say(turn, contract)
    const { partner } = turn.draft.build({ subject: "client:1", expected: 1 }, null)
    assert.deepStrictEqual(partner, { partnerId: 1, epoch: 1 })
  })

  it("D5: a contract ends once, with one settlement of its payout and its item", () => {
    const turn = turnWith(true)
    say(turn, contract)
    say(turn, { ...contract, state: "KNOCKED_OUT", settlePrice: "57000.0", endedAt: 35 })
    say(turn, { ...contract, state: "TAKE_PROFIT", settlePrice: "63000.0", endedAt: 36 })
    const [ended] = turn.draft.written("barrierContracts")
    assert.deepInclude(ended, { state: "KNOCKED_OUT", pnl: -28_595_000n, closedAt: 35 })
    assert.lengthOf(posted(turn), 2)
    const items = turn.draft.written("settlementItems").map(({ type, amount }) => [type, amount])
    assert.deepStrictEqual(items, [
      ["COMMISSION", -120_020n],
      ["BARRIER_SETTLE", -28_595_000n]
    ])
  })

  it("D4: an execution after a cancel is adopted, with a break of the amount that is not free", () => {
    const turn = turnWith(false)
    assert.strictEqual(cancelOpeningRequests(turn, "The account is restricted."), 1)
    say(turn, contract)
    assert.strictEqual(rfqInTurn(turn, 1)?.state, "ACCEPTED")
    const [opened] = turn.draft.written("reconBreaks")
    assert.deepInclude(opened, { scope: "CLIENT", clientId: 1, amount: 28_715_020n })
    assert.include(
      turn.draft.written("audit").map(({ action }) => action),
      "rfq.lateExecution"
    )
  })

  it("D4: the end of a request also ends the withdrawal in flight", () => {
    const turn = turnWith(false)
    const open = rfqInTurn(turn, 1) ?? assert.fail("there is no request")
    const unconfirmed = { ...open, context: { ...open.context, venueRfqId: null } }
    const withdrawn = advance(turn, "rfqs", unconfirmed, { type: "CANCEL", at: 40, attempt: 1 }) ?? unconfirmed
    assert.deepStrictEqual(withdrawn.context.cancelling, { attempt: 1 })
    const refused = advance(turn, "rfqs", withdrawn, { type: "REFUSED", at: 41, reason: "not found at the venue" })
    assert.deepStrictEqual([refused?.state, refused?.context.cancelling], ["REJECTED", null])
    const found = advance(turn, "rfqs", refused ?? open, { type: "FOUND", at: 42, venueRfqId: 70, attempt: 2 })
    assert.deepStrictEqual(found?.context.cancelling, { attempt: 2 })
  })

  it("D4: a withdrawal also ends if the venue has executed the request and its report of that is lost", () => {
    const turn = turnWith(false)
    const open = rfqInTurn(turn, 1) ?? assert.fail("there is no request")
    const withdrawn = advance(turn, "rfqs", open, { type: "CANCEL", at: 40, attempt: 1 }) ?? open
    advance(turn, "rfqs", withdrawn, { type: "WINDOW_ELAPSED", at: 60_000 })
    assert.deepInclude(rfqInTurn(turn, 1)?.context, { cancelling: { attempt: 1 }, venueOpen: true })
    const said = { reason: null, order: null, rfq: executedRequest, contract: null, swap: null }
    const request = { ref: "R-1-c1", account: contract.account, target: "R-1" }
    handlers.rfq.ended(turn, {
      id: 1,
      call: { ref: "R-1-c1", clientId: 1, partnerId: 1, call: "cancelRequest", request, at: 40 },
      outcome: { ...said, ref: "R-1-c1", outcome: "EXECUTED", at: 41 }
    })
    const ended = rfqInTurn(turn, 1)
    assert.strictEqual(ended?.state, "EXPIRED")
    assert.deepInclude(ended?.context, { cancelling: null, venueOpen: false })
    assert.isTrue(say(turn, contract))
    assert.strictEqual(rfqInTurn(turn, 1)?.state, "ACCEPTED")
  })

  it("D4: a withdrawal that ends while its request is open leaves nothing in flight, whatever the window does", () => {
    for (const outcome of ["EXECUTED", "REFUSED"] as const) {
      const turn = turnWith(false)
      const open = rfqInTurn(turn, 1) ?? assert.fail("there is no request")
      advance(turn, "rfqs", open, { type: "CANCEL", at: 40, attempt: 1 })
      const said = { reason: null, order: null, rfq: executedRequest, contract: null, swap: null }
      const request = { ref: "R-1-c1", account: contract.account, target: "R-1" }
      handlers.rfq.ended(turn, {
        id: 1,
        call: { ref: "R-1-c1", clientId: 1, partnerId: 1, call: "cancelRequest", request, at: 40 },
        outcome: { ...said, ref: "R-1-c1", outcome, at: 41 }
      })
      const row = rfqInTurn(turn, 1) ?? open
      assert.deepStrictEqual([row.state, row.context.cancelling], ["OPEN", null])
      const expired = advance(turn, "rfqs", row, { type: "WINDOW_ELAPSED", at: 60_000 })
      assert.deepStrictEqual([expired?.state, expired?.context.cancelling], ["EXPIRED", null])
      // The report of its contract arrives anyway.
      assert.isTrue(say(turn, contract))
      assert.strictEqual(rfqInTurn(turn, 1)?.state, "ACCEPTED")
    }
  })

  it.each(["NO_NEW_RISK", "NO_WITHDRAWALS", "FROZEN"] as const)(
    "A2-101, A3-10: %s cancels requests to open, in the commit that sets it",
    (restriction) => {
      const turn = turnWith(false)
      const at = { turn, instance: instanceOf(clients, view), by: "ADMIN" } as const
      assert.isTrue(restrictClient(at, clients, restriction, "a look at the account").ok)
      const row = rfqInTurn(turn, 1)
      assert.deepStrictEqual([row?.state, row?.context.rejectReason], ["CANCELLED", restrictionSentences[restriction]])
    }
  )

  it("F19: if only the end of a contract shows that it was closed by a quote, no quote is named", () => {
    const { turn, closing } = closingTurn()
    say(turn, { ...contract, state: "EARLY_CLOSE", settlePrice: "60100.0", endedAt: 45 })
    const done = rfqInTurn(turn, closing)
    assert.strictEqual(done?.state, "ACCEPTED")
    assert.deepInclude(done?.context, { acceptedQuoteId: null, entryPrice: "60100.0" })
  })

  it("A2-22: the commit that ends a request with its contract stores its quotes, and the router's last message", () => {
    const { turn, closing } = closingTurn()
    parts.board.open(closing)
    parts.board.receive(closing, { ...sampleQuote, state: "LIVE" })
    parts.board.remark(closing, "The quote lies more than 1 percent away from the mark.")
    say(turn, { ...contract, state: "KNOCKED_OUT", settlePrice: "57000.0", endedAt: 45 })
    parts.board.close(closing)
    const done = rfqInTurn(turn, closing)
    assert.deepInclude(done?.context, {
      rejectReason: "contract ended",
      quotes: [{ ...sampleQuote, state: "LIVE" }],
      autoAcceptNote: "The quote lies more than 1 percent away from the mark."
    })
  })

  it("A2-101: a request with an accept in flight waits for its answer", () => {
    const turn = turnWith(true)
    assert.strictEqual(cancelOpeningRequests(turn, "The market is halted."), 0)
    assert.strictEqual(rfqInTurn(turn, 1)?.state, "OPEN")
  })
})
