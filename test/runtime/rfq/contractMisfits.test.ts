/**
 * A contract whose report by the venue does not fit, for each source of reports: event, lookup and comparison. Nothing
 * of the report is booked, and a misfit is recorded (A2-115).
 */
import { assert, describe, it, onTestFinished } from "@effect/vitest"
import type { Facts } from "../../../src/machines/market/Facts.ts"
import { tearUpRef } from "../../../src/machines/contract/Contract.ts"
import { acceptRef } from "../../../src/machines/rfq/Rfq.ts"
import { notReceived, type VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueContract } from "../../../src/machines/venue/venueObjects.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { advance } from "../../../src/runtime/effects/advance.ts"
import { openContracts } from "../../../src/runtime/services/account/contractHoldings.ts"
import { differencesOf, settleDifferences } from "../../../src/runtime/services/reconciliation/comparisonDecisions.ts"
import { beginAccept, startClose } from "../../../src/runtime/services/trading/rfq/rfqDecisions.ts"
import { voidReport } from "../../../src/runtime/services/trading/rfq/resolveDecisions.ts"
import { endCall } from "../../../src/runtime/services/venue/outcomes.ts"
import type { DefiniteOutcome } from "../../../src/runtime/services/venue/VenueHandler.ts"
import { reportMisfit } from "../../support/standingMisfit.ts"
import { clients, contract, decided, handlers, parts, posted, turnAfter, turnWith } from "./rfqTurns.ts"

const hour = 3_600_000
/** So late that no later mark can decide. */
const later = 12 * hour
const none = { reason: null, at: 40, order: null, rfq: null, swap: null }
const outcomeOf = (shown: VenueContract): DefiniteOutcome & VenueOutcome => ({
  ...none,
  ref: contract.ref,
  outcome: "EXECUTED",
  contract: shown
})

/** The client's next turn, at a later time, with every call answered and the request in memory. */
const nextTurn = (first: Turn, latest = Infinity): Turn => {
  const request = first.draft.peek("rfqs", "1") ?? assert.fail("there is no request")
  const turn = turnAfter(first)
  const answered = new CommitBuilder()
  answered.endCall(contract.ref)
  turn.state.adopt(answered.build(null, null))
  const facts: Facts = {
    ...turn.facts,
    venueTime: { latest, lag: 0, pastLag: 0, lead: 0, pastLead: 0, behindUntil: 0 }
  }
  turn.draft.put("rfqs", request)
  return { ...turn, now: Math.min(later, latest), facts }
}
const withOpen = (latest?: number): Turn => {
  const first = turnWith(true)
  assert.isTrue(endCall(first, handlers, outcomeOf(contract)))
  return nextTurn(first, latest)
}
/** The accept was answered without an execution. */
const withAnswer = (answer: Pick<DefiniteOutcome, "outcome" | "reason">): Turn => {
  const first = turnWith(true)
  assert.isTrue(endCall(first, handlers, { ...none, ...answer, ref: contract.ref, contract: null }))
  return nextTurn(first)
}

/** Each source of a report of the contract, and whether the report is accepted. */
const ways = {
  event: (turn: Turn, shown: VenueContract): boolean => {
    const { account } = shown
    const event = { id: 1, at: turn.now }
    if (handlers.rfq.verdict(turn, { ...event, ref: contract.ref, isEvent: true, contract: shown }) !== null)
      return false
    return handlers.rfq.reported(turn, { ...event, fact: { type: "contract", account, sequence: 9, contract: shown } })
  },
  "look-up": (turn: Turn, shown: VenueContract): boolean =>
    endCall(turn, handlers, outcomeOf(shown), { isRead: true }) && turn.draft.written("venueMisfits").length === 0,
  comparison: (turn: Turn, shown: VenueContract): boolean => {
    const isOpen = shown.state === "OPEN"
    const outcomes = new Map<string, VenueOutcome>(isOpen ? [] : [[contract.ref, outcomeOf(shown)]])
    const contracts = openContracts(turn)
    const theirs = isOpen ? [shown] : []
    const differences = differencesOf({ clientId: 1, contracts, requests: [], theirs, outcomes })
    return settleDifferences(turn, parts, differences).length === 0
  }
} as const
const wayNames = Object.keys(ways) as ReadonlyArray<keyof typeof ways>

/** The contracts and postings that a turn has written. */
const written = (turn: Turn) => [turn.draft.written("barrierContracts").map(({ state }) => state), posted(turn)]

const closeTerms = { windowEndsAt: later + 60_000, autoAccept: false, mark: null }

/** A request to close the open contract at 61000.0, whose accept is answered without an execution. Returns its id. */
const askToClose = (turn: Turn, answer: Pick<DefiniteOutcome, "outcome" | "reason">): number => {
  const [row] = openContracts(turn)
  if (row === undefined) return assert.fail("no contract is open")
  const asked = startClose(turn, clients, row, closeTerms)
  const closing = advance(turn, "rfqs", asked, { type: "CONFIRMED", at: later, venueRfqId: 71 }) ?? asked
  const quote = { id: 8, dealer: "D", price: "61000.0", qty: "0.01", at: later, validUntil: later + 5_000 }
  parts.board.open(closing.id)
  parts.board.receive(closing.id, { ...quote, state: "LIVE" })
  const figures = { premium: 0n, commission: 0n }
  beginAccept(turn, closing, { id: 8, price: "61000.0", figures, by: "system:router" })
  assert.isTrue(endCall(turn, handlers, { ...none, ...answer, ref: acceptRef(closing.id, 8), contract: null }))
  return closing.id
}

describe("A2-115: an earlier request to close whose refused accept is executed", () => {
  it("has a misfit of the contract: staff resolve it with the contract, though later requests exist", () => {
    const first = withOpen()
    const closing = askToClose(first, { outcome: "REFUSED", reason: "last look" })
    onTestFinished(() => parts.board.close(closing))
    const [open] = openContracts(first)
    if (open === undefined) return assert.fail("no contract is open")
    startClose(first, clients, open, closeTerms)
    const ref = acceptRef(closing, 8)
    const shown = { ...contract, state: "EARLY_CLOSE", settlePrice: "61000.0", endedAt: later } as const
    assert.isFalse(decided(() => endCall(first, handlers, { ...outcomeOf(shown), ref })))
    reportMisfit(first, ref)
    const turn = turnAfter(first)
    const [row] = openContracts(turn)
    if (row === undefined) return assert.fail("no contract is open")
    assert.notStrictEqual(row.context.closeRfqId, closing)
    assert.isTrue(voidReport(turn, row, "the venue's letter").ok)
    assert.deepStrictEqual(
      turn.draft.written("venueMisfits").map(({ state, contractId }) => [state, contractId]),
      [["ENDED", row.id]]
    )
  })
})

describe.each(wayNames)("A2-115: a contract with false reports of the venue, by %s", (way) => {
  const take = ways[way]

  it.each([
    ["an expiry that has not come", { state: "EXPIRED", settlePrice: "600000.0", endedAt: contract.expiryAt }, 60_000],
    ["a level touched in the future", { state: "KNOCKED_OUT", settlePrice: "57000.0", endedAt: 65_001 }, 65_000],
    ["an end before the opening", { state: "KNOCKED_OUT", settlePrice: "57000.0", endedAt: 1 }, Infinity],
    ["an early close without an accept", { state: "EARLY_CLOSE", settlePrice: "61000.0", endedAt: 50 }, Infinity],
    ["a tear-up without a request", { state: "TORN_UP", settlePrice: "60500.0", endedAt: 50 }, Infinity]
  ] as const)("%s is not booked", (_, end, latest) => {
    const turn = withOpen(latest)
    assert.isFalse(decided(() => take(turn, { ...contract, ...end })))
    assert.deepStrictEqual(written(turn), [[], []])
  })

  it("an end that fits is booked", () => {
    const turn = withOpen(65_000)
    assert.isTrue(take(turn, { ...contract, state: "KNOCKED_OUT", settlePrice: "57000.0", endedAt: 64_000 }))
    assert.deepStrictEqual(written(turn)[0], ["KNOCKED_OUT"])
  })

  it("an end before the account's last event is refused only if it comes from an event", () => {
    const turn = withOpen(70_000)
    turn.draft.put("venueAccounts", { clientId: 1, sequence: 8, takenTo: 69_001, gapTo: 0 })
    const ends = { state: "KNOCKED_OUT", settlePrice: "57000.0", endedAt: 64_000 } as const
    assert.strictEqual(
      decided(() => take(turn, { ...contract, ...ends })),
      way !== "event"
    )
    assert.strictEqual(openContracts(turn).length, way === "event" ? 1 : 0)
  })

  it.each(["last look", notReceived, null])("an execution after the refusal %s is not booked", (reason) => {
    const turn = withAnswer({ outcome: "REFUSED", reason })
    assert.isFalse(take(turn, contract))
    assert.deepStrictEqual(written(turn), [[], []])
  })

  it("D4: an execution after the venue said that it never received the accept is taken over", () => {
    const turn = withAnswer({ outcome: "VOID", reason: null })
    assert.isTrue(take(turn, contract))
    assert.deepStrictEqual(written(turn)[0], ["OPEN"])
  })

  it.each([
    ["a refusal of its accept is not booked", { outcome: "REFUSED", reason: "last look" }, false],
    ["D4: an answer that the accept was never received is booked", { outcome: "VOID", reason: null }, true]
  ] as const)("an early close after %s", (_, answer, isBooked) => {
    const turn = withOpen()
    const closing = askToClose(turn, answer)
    onTestFinished(() => parts.board.close(closing))
    assert.strictEqual(
      decided(() => take(turn, { ...contract, state: "EARLY_CLOSE", settlePrice: "61000.0", endedAt: later })),
      isBooked
    )
    assert.strictEqual(openContracts(turn).length, isBooked ? 0 : 1)
  })

  it.each([
    ["D4: the accept that was never received is booked", { outcome: "VOID", reason: null }, 8_100, "61000.0", true],
    ["at a price that no accept named is not booked", { outcome: "VOID", reason: null }, 8_100, "61000.1", false],
    ["an accept that was refused is not booked", { outcome: "REFUSED", reason: "last look" }, 8_100, "61000.0", false],
    ["an accept of later is not booked", { outcome: "VOID", reason: null }, -8_100, "61000.0", false]
  ] as const)(
    "an early close once a second request to close exists, by %s",
    (_, answer, after, settlePrice, isBooked) => {
      const turn = withOpen()
      const first = askToClose(turn, answer)
      onTestFinished(() => parts.board.close(first))
      const [row] = openContracts(turn)
      if (row === undefined) return assert.fail("no contract is open")
      const second = startClose(turn, clients, row, closeTerms)
      assert.strictEqual(
        decided(() => take(turn, { ...contract, state: "EARLY_CLOSE", settlePrice, endedAt: later + after })),
        isBooked
      )
      assert.strictEqual(openContracts(turn).length, isBooked ? 0 : 1)
      const states = [first, second.id].map(
        (id) => turn.draft.peek("rfqs", String(id))?.context.acceptedQuoteId ?? null
      )
      assert.deepStrictEqual(states, [isBooked ? 8 : null, null])
    }
  )

  it.each([
    ["the venue has refused it is not booked", [{ outcome: "REFUSED", reason: "no market" }], false],
    ["a refusal in the words of a lost call is not booked", [{ outcome: "REFUSED", reason: notReceived }], false],
    ["D4: the venue never received it is booked", [{ outcome: "VOID", reason: null }], true],
    [
      "D4: the venue never received the first, and has refused the second, is booked",
      [
        { outcome: "VOID", reason: null },
        { outcome: "REFUSED", reason: "no market" }
      ],
      true
    ],
    ["no answer yet is booked", [], true]
  ] as const)("a tear-up after %s", (_, answers, isBooked) => {
    const turn = withOpen()
    const tornUp = { state: "TORN_UP", settlePrice: "60500.0", endedAt: later } as const
    const attempts = answers.length === 0 ? [null] : answers
    for (const [before, answer] of attempts.entries()) {
      const attempt = before + 1
      const [row] = openContracts(turn)
      if (row === undefined) return assert.fail("no contract is open")
      assert.isNotNull(advance(turn, "barrierContracts", row, { type: "TEAR_UP", attempt }))
      if (answer === null) continue
      assert.isTrue(endCall(turn, handlers, { ...none, ...answer, ref: tearUpRef(row.id, attempt), contract: null }))
    }
    assert.strictEqual(take(turn, { ...contract, ...tornUp }), isBooked)
    assert.strictEqual(openContracts(turn).length, isBooked ? 0 : 1)
    if (isBooked) assert.isTrue(take(turn, { ...contract, ...tornUp }), "its answer and its event say the same")
  })
})
