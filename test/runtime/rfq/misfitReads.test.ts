/**
 * A contract whose report by the venue does not fit. The service books nothing of the report, whatever its source: an
 * answer, a lookup, or the comparison. The object is read again. A misfit that no answer explains stands (A2-115).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bandOfMarks } from "../../../src/machines/market/PriceBand.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { readPauses } from "../../../src/machines/venueChecks/VenueMisfit.ts"
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueContract } from "../../../src/machines/venue/venueObjects.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../../src/runtime/engine/mailbox/turnRows.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { openContracts } from "../../../src/runtime/services/account/contractHoldings.ts"
import { differencesOf, settleDifferences } from "../../../src/runtime/services/reconciliation/comparisonDecisions.ts"
import { rfqHandler } from "../../../src/runtime/services/trading/rfq/rfqEvents.ts"
import { outOfSyncOrders } from "../../../src/runtime/services/venue/OutOfSync.ts"
import { Recall } from "../../../src/runtime/services/account/Recall.ts"
import { misfitReads } from "../../../src/runtime/services/venue/MisfitReads.ts"
import { misfitTimers, noteMisfit } from "../../../src/runtime/services/venue/misfits.ts"
import { endCall } from "../../../src/runtime/services/venue/outcomes.ts"
import type { DefiniteOutcome } from "../../../src/runtime/services/venue/VenueHandler.ts"
import type { RfqRow } from "../../../src/runtime/tables/rfq.ts"
import {
  contract,
  decided,
  handlers as handlersInMemory,
  parts as partsInMemory,
  posted,
  turnAfter,
  turnWith
} from "./rfqTurns.ts"

const timers = misfitTimers(misfitReads(outOfSyncOrders()))

/** Requests that have left memory with their accept, as the store returns them. */
const stored: Array<RfqRow> = []
const rowsOf = { among: () => Effect.succeed(stored) } as Partial<RowReads["Service"]> as RowReads["Service"]
const parts = { ...partsInMemory, recall: new Recall(rowsOf) }
const handlers = { ...handlersInMemory, rfq: rfqHandler(parts) }

const executed = (shows: VenueContract): DefiniteOutcome & VenueOutcome => ({
  ref: contract.ref,
  outcome: "EXECUTED",
  reason: null,
  at: 50,
  order: null,
  rfq: null,
  contract: shows,
  swap: null
})

/** A market whose last known mark, and whose last listing, are from before the present. */
const marked = (turn: Turn): Turn => {
  const mark = new MoneyDecimal("60000")
  const band = { ...bandOfMarks(mark, mark, 100), isWhole: false }
  const recent = {
    bandAt: () => band,
    bandNear: () => null,
    isListed: () => null
  }
  return { ...turn, facts: { ...turn.facts, recent } }
}

/** A turn in which the accept of the contract is in flight. */
const accepting = (): Turn => marked(turnAfter(turnWith(true)))
const next = (turn: Turn, millis = 0): Turn => {
  const after = turnAfter(turn)
  return { ...after, now: after.now + millis }
}
/** A turn in which the contract is open. */
const withOpen = (): Turn => {
  const turn = accepting()
  assert.isTrue(endCall(turn, handlers, executed(contract)))
  stored.splice(0, stored.length, ...turn.draft.written("rfqs"))
  return next(turn)
}

const misfits = (turn: Turn) => rowsInTurn(turn, "venueMisfits").map(({ state, context }) => [state, context.reads])
const breaks = (turn: Turn) => turn.draft.written("reconBreaks").map(({ context }) => context.pausesMoneyOut)
const read = (turn: Turn, shows: VenueContract) =>
  decided(() => endCall(turn, handlers, executed(shows), { isRead: true }))
/** Fires the timer of the misfit, which reads its object. */
const readAgain = (turn: Turn): void => {
  for (const { id } of rowsInTurn(turn, "venueMisfits")) timers["venue.misfit"](turn, turn.now, String(id))
}

const knockedOut = { ...contract, state: "KNOCKED_OUT", settlePrice: "57000.0", endedAt: 45 } as const
const settled = { ...contract, state: "CLOSED", settlePrice: "60010.0", endedAt: 45 } as const

describe("A2-115: a contract that is settled with its market", () => {
  it.each([
    ["waits for a listing of after its time", null, 0, "early"],
    ["waits for a listing of after its time, as long as marks are waited for", null, 4_999, "early"],
    ["does not fit if no newer listing comes", null, 5_000, "refuted"],
    ["is refuted at once by a listing of after its time", true, 0, "refuted"],
    ["is refuted by a listing of after its time, however late it comes", true, 60_000, "refuted"],
    ["fits where the market is delisted", false, 0, "fits"]
  ] as const)("%s", (_, listed, after, expected) => {
    const turn = withOpen()
    const recent = { ...turn.facts.recent, isListed: () => listed }
    const at = { ...turn, now: settled.endedAt + after, facts: { ...turn.facts, recent } }
    const verdict = handlers.rfq.verdict(at, { id: 1, ref: contract.ref, at: settled.endedAt, contract: settled })
    assert.strictEqual(verdict === null ? "fits" : verdict.isEarly ? "early" : "refuted", expected)
    if (verdict !== null)
      assert.match(
        verdict.reason,
        /it is settled with its market, (but the market is listed|and no later listing shows .*)$/
      )
  })

  it("stays refuted by a listing that a restart has forgotten, until the market is delisted", () => {
    const listed = (turn: Turn, isListed: boolean | null): Turn => {
      const recent = { ...turn.facts.recent, isListed: () => isListed }
      return { ...turn, facts: { ...turn.facts, recent } }
    }
    const turn = listed(withOpen(), true)
    assert.isFalse(read(turn, settled))
    const restarted = listed(next(turn, 60_000), null)
    assert.isFalse(read(restarted, settled))
    assert.deepStrictEqual(openContracts(restarted).length, 1)
    const later = { contract: settled, id: 1, ref: contract.ref, at: turn.now + 1 }
    const { reason } = handlers.rfq.verdict(restarted, later) ?? assert.fail("no later listing confirms it")
    assert.match(reason, /no later listing shows that the market is delisted$/)
    const delisted = listed(next(restarted), false)
    assert.isTrue(read(delisted, settled))
    assert.deepStrictEqual([misfits(delisted), openContracts(delisted)], [[["ENDED", 0]], []])
  })
})

describe("A2-115: a contract whose report does not fit", () => {
  it("the true answer to a read of an open contract ends the misfit, and opens no second contract", () => {
    const turn = withOpen()
    const misfit = { reason: "it is closed early, but no accept of a closing quote stands", worth: 1n }
    noteMisfit(turn, { ref: contract.ref, misfit, bytes: null })
    assert.deepStrictEqual(misfits(turn), [["READING", 0]])
    const later = next(turn)
    assert.isTrue(read(later, contract))
    assert.deepStrictEqual(misfits(later), [["ENDED", 0]])
    assert.deepStrictEqual([openContracts(later).length, posted(later)], [1, []])
  })

  it("the true end of the contract, as the answer to a read, is booked once", () => {
    const turn = withOpen()
    noteMisfit(turn, { ref: contract.ref, misfit: { reason: "x", worth: 1n }, bytes: null })
    const later = { ...next(turn, 6_000) }
    assert.isTrue(read(later, knockedOut))
    assert.deepStrictEqual([misfits(later), openContracts(later), posted(later).length], [[["ENDED", 0]], [], 1])
  })

  it("the comparison waits for the mark after an end that is out of the band, and raises no alarm", () => {
    const turn = withOpen()
    const [row] = openContracts(turn)
    assert.isDefined(row)
    const difference = differencesOf({
      clientId: 1,
      contracts: [row],
      requests: [],
      theirs: [],
      outcomes: new Map([[contract.ref, executed(knockedOut)]])
    })
    assert.deepStrictEqual(settleDifferences(turn, parts, difference), [])
    assert.deepStrictEqual([openContracts(turn).length, posted(turn), breaks(turn)], [1, [], []])
    assert.deepStrictEqual([misfits(turn), turn.draft.build(null, null).claims], [[["READING", 0]], []])
    assert.deepStrictEqual(turn.draft.written("venueQuarantine"), [])
    const later = next(turn, 6_000)
    assert.isTrue(read(later, knockedOut))
    assert.deepStrictEqual([misfits(later), openContracts(later)], [[["ENDED", 0]], []])
  })

  it("the comparison does not adopt an ended contract that is out of the band", () => {
    const first = accepting()
    for (const { ref } of first.state.all("venueCalls")) first.draft.endCall(ref)
    const turn = next(first)
    const difference = differencesOf({
      clientId: 1,
      contracts: [],
      requests: [],
      theirs: [knockedOut],
      outcomes: new Map()
    })
    assert.deepStrictEqual(settleDifferences(turn, parts, difference), [])
    assert.deepStrictEqual([openContracts(turn), posted(turn), misfits(turn)], [[], [], [["READING", 0]]])
  })

  it.each([
    ["the answer of its accept and the look-ups", accepting, {}],
    ["the reads of an open contract", withOpen, { isRead: true }]
  ] as const)("a misfit that can't be judged yet at each of %s stands in the end", (_, given, by) => {
    let turn = given()
    for (let answers = 0; answers <= readPauses.length; answers++) {
      assert.deepStrictEqual(breaks(turn), [])
      readAgain(turn)
      assert.isFalse(endCall(turn, handlers, { ...executed(settled), at: turn.now }, by))
      if (answers < readPauses.length) turn = next(turn, 20_000)
    }
    assert.deepStrictEqual([misfits(turn), breaks(turn)], [[["STANDING", readPauses.length]], [true]])
    assert.match(turn.draft.written("reconBreaks")[0]?.context.reason ?? "", /the market is listed\.$/)
    assert.deepStrictEqual(turn.draft.written("venueQuarantine").length, 1)
    const later = next(turn, 20_000)
    assert.isFalse(endCall(later, handlers, { ...executed(settled), at: later.now }, by))
    assert.isTrue(later.draft.isEmpty)
  })

  it("look-ups and comparisons between two reads of its own do not count", () => {
    const turn = withOpen()
    const early = { ...contract, state: "EARLY_CLOSE", settlePrice: "61000.0", endedAt: 50 } as const
    const [row] = openContracts(turn)
    const answers = {
      clientId: 1,
      contracts: row === undefined ? [] : [row],
      requests: [],
      theirs: [],
      outcomes: new Map([[contract.ref, executed(early)]])
    }
    const others = () => {
      assert.isFalse(endCall(turn, handlers, executed(early)))
      assert.lengthOf(settleDifferences(turn, parts, differencesOf(answers)), 1)
    }
    for (let count = 0; count < 2 * readPauses.length; count++) others()
    assert.deepStrictEqual([misfits(turn), breaks(turn)], [[["READING", 0]], []])
    readAgain(turn)
    others()
    assert.deepStrictEqual(misfits(turn), [["READING", 1]])
  })
})
