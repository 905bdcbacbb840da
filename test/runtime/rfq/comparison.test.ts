/** The consequences of a difference between service and venue, in the client's turn (A2-103, D4, D5). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueContract } from "../../../src/machines/venue/venueObjects.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import {
  type Compared,
  differencesOf,
  settleDifferences
} from "../../../src/runtime/services/reconciliation/comparisonDecisions.ts"
import { quarantinePause, WantedAccounts } from "../../../src/runtime/services/reconciliation/WantedAccounts.ts"
import { openContracts, rfqsInTurn } from "../../../src/runtime/services/account/contractHoldings.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import { endCall } from "../../../src/runtime/services/venue/outcomes.ts"
import type { ContractRow } from "../../../src/runtime/tables/contract.ts"
import { contract, handlers, parts, posted, turnAfter, turnWith } from "./rfqTurns.ts"

const executed = (shows: VenueContract | null, rfq: VenueOutcome["rfq"] = null): VenueOutcome => ({
  ref: contract.ref,
  outcome: shows === null ? "UNKNOWN" : "EXECUTED",
  reason: null,
  at: 1,
  order: null,
  rfq,
  contract: shows,
  swap: null
})

/** A turn in which the contract is open, and the contract's row. */
const withOpen = (): { readonly turn: Turn; readonly row: ContractRow } => {
  const first = turnWith(true)
  endCall(first, handlers, { ...executed(contract), outcome: "EXECUTED" })
  const turn = turnAfter(first)
  turn.state.adopt(endedCalls(turn))
  const [row] = openContracts(turn)
  if (row === undefined) throw new Error("no contract is open")
  return { turn, row }
}

const compared = (row: ContractRow | null, paths: Partial<Compared> = {}): Compared => ({
  clientId: 1,
  contracts: row === null ? [] : [row],
  requests: [],
  theirs: [],
  outcomes: new Map(),
  ...paths
})

const breaks = (turn: Turn) =>
  turn.draft.written("reconBreaks").map(({ amount, context }) => [amount, context.pausesMoneyOut])
const claims = (turn: Turn) => turn.draft.build(null, null).claims.map(({ name }) => name)

describe("A2-103: what differs", () => {
  it("the same contract on both sides is no difference, whatever zeros follow", () => {
    const { row } = withOpen()
    assert.deepStrictEqual(differencesOf(compared(row, { theirs: [{ ...contract, qty: "0.0100" }] })), [])
  })

  it("A2-116: a contract that staff opened by the venue's documents is the venue's contract with its accept's ref", () => {
    const { row } = withOpen()
    const byPapers = { ...row, context: { ...row.context, venueContractId: 0 } }
    assert.deepStrictEqual(differencesOf(compared(byPapers, { theirs: [contract] })), [])
    const [other] = differencesOf(compared(byPapers, { theirs: [{ ...contract, qty: "0.02" }] }))
    assert.strictEqual(other?.what.is, "otherTerms")
  })

  it("D5: the venue ended the contract and the event was lost: its end is adopted, without a break", () => {
    const { turn, row } = withOpen()
    const shown = { ...contract, state: "KNOCKED_OUT", settlePrice: "57000.0", endedAt: 35 } as const
    const differences = differencesOf(compared(row, { outcomes: new Map([[contract.ref, executed(shown)]]) }))
    assert.deepStrictEqual(settleDifferences(turn, parts, differences), [])
    assert.deepInclude(turn.draft.peek("barrierContracts", String(row.id)), { state: "KNOCKED_OUT", closedAt: 35 })
    assert.deepStrictEqual([posted(turn), breaks(turn), claims(turn)], [[`settle:${row.id} system:venue`], [], []])
  })

  it("D5: the venue does not know the contract: a break of its premium that pauses outgoing money, and it stays open", () => {
    const { turn, row } = withOpen()
    const differences = differencesOf(compared(row, { outcomes: new Map([[contract.ref, executed(null)]]) }))
    assert.strictEqual(settleDifferences(turn, parts, differences).length, 1)
    assert.deepStrictEqual(breaks(turn), [[row.amount, true]])
    assert.deepStrictEqual([openContracts(turn).length, posted(turn)], [1, []])
    assert.deepStrictEqual(claims(turn), [`differs:1:unknown:${row.id}`])
  })

  it("other quantities: a break of the premiums' difference", () => {
    const { turn, row } = withOpen()
    const differences = differencesOf(compared(row, { theirs: [{ ...contract, qty: "0.02" }] }))
    settleDifferences(turn, parts, differences)
    assert.deepStrictEqual(breaks(turn), [[-row.amount, true]])
  })

  it.each([
    ["side", { side: "SELL" }],
    ["entry", { entry: "1.0" }],
    ["barrier", { barrier: "99999.0" }],
    ["take profit", { takeProfit: null }],
    ["strict flag", { strict: true }],
    ["expiry", { expiryAt: contract.expiryAt + 1 }],
    ["trade", { tradeId: 91 }],
    ["ref", { ref: "A-1-8" }]
  ] as const)("another %s: a break that pauses outgoing money, once, and the contract stays open", (member, change) => {
    const { turn, row } = withOpen()
    const differences = differencesOf(compared(row, { theirs: [{ ...contract, ...change }] }))
    const sentences = settleDifferences(turn, parts, differences)
    assert.lengthOf(sentences, 1)
    assert.include(sentences[0], `Contract ${row.id} differs at the venue: the ${member} is`)
    const [[amount = 0n, pauses] = []] = breaks(turn)
    assert.deepStrictEqual([amount !== 0n, pauses], [true, true])
    assert.deepStrictEqual([openContracts(turn).length, posted(turn), claims(turn).length], [1, [], 1])
  })

  it("D4: the venue has a contract that a request of ours opened: it is adopted", () => {
    const turn = turnAfter(turnWith(true))
    turn.state.adopt(endedCalls(turn))
    const differences = differencesOf(compared(null, { theirs: [contract] }))
    assert.deepStrictEqual(settleDifferences(turn, parts, differences), [])
    assert.deepStrictEqual([openContracts(turn).length, breaks(turn)], [1, []])
    assert.strictEqual(posted(turn).length, 1)
  })

  it("the venue has a contract that no request here opened: a break of the venue's surplus", () => {
    const { turn } = withOpen()
    const foreign = { ...contract, id: 51, ref: "X-9" }
    const differences = differencesOf(compared(null, { theirs: [foreign] }))
    const [sentence] = settleDifferences(turn, parts, differences)
    assert.match(sentence ?? "", /^The venue has contract 51 of 0.01 BTC-USDC-KO open and the service has not/)
    assert.deepStrictEqual(
      breaks(turn).map(([amount]) => amount),
      [-28_595_000n]
    )
    assert.strictEqual(openContracts(turn).length, 1)
  })

  it("D4: the venue ended a request and its event was lost: the request ends; a request that it does not know raises an alarm", () => {
    const turn = turnAfter(turnWith(false))
    const [row] = rfqsInTurn(turn)
    if (row === undefined) return assert.fail("no request")
    const venue = { ...venueRfq, state: "EXPIRED" } as const
    const ended = compared(null, { requests: [row], outcomes: new Map([["R-1", executed(null, venue)]]) })
    assert.deepStrictEqual(settleDifferences(turn, parts, differencesOf(ended)), [])
    assert.strictEqual(rfqsInTurn(turn)[0]?.state, "EXPIRED")
    const other = turnAfter(turnWith(false))
    const unknown = compared(null, { requests: [row], outcomes: new Map([["R-1", executed(null)]]) })
    assert.strictEqual(settleDifferences(other, parts, differencesOf(unknown)).length, 1)
    assert.deepStrictEqual([rfqsInTurn(other)[0]?.state, breaks(other)], ["OPEN", []])
  })
})

const venueRfq = {
  id: 70,
  ref: "R-1",
  account: contract.account,
  symbol: contract.symbol,
  side: "BUY",
  qty: contract.qty,
  barrier: contract.barrier,
  takeProfit: contract.takeProfit,
  expiryAt: contract.expiryAt,
  strict: false,
  windowEndsAt: 60_000,
  closes: null,
  state: "OPEN",
  reason: null,
  quotes: []
} as const

/** A commit that ends the accept's call, as if its outcome had been lost. */
const endedCalls = (turn: Turn) => {
  const draft = new CommitBuilder()
  for (const { ref } of turn.state.all("venueCalls")) draft.endCall(ref)
  return draft.build(null, null)
}

describe("A2-103: an account with quarantined events is compared", () => {
  it.effect("at once, and for the later events of one pause when the pause ends", () =>
    Effect.gen(function* () {
      const wanted = new WantedAccounts()
      yield* Effect.forkChild(wanted.pauses)
      const taken: Array<string> = []
      const taking = Effect.map(wanted.take, ({ uids }) => void taken.push(uids.join()))
      yield* Effect.forkChild(Effect.forever(taking))
      const passing = (millis: number) => TestClock.adjust(millis)
      for (let event = 0; event < 3; event++) {
        wanted.wantQuarantined("A")
        yield* passing(1_000)
      }
      assert.deepStrictEqual(taken, ["A"])
      yield* passing(quarantinePause)
      assert.deepStrictEqual(taken, ["A", "A"])
      // A request at the end of a pause begins the next pause.
      wanted.wantQuarantined("A")
      wanted.wantQuarantined("B")
      yield* passing(1_000)
      assert.deepStrictEqual(taken.slice(2), ["B"])
      yield* passing(quarantinePause)
      assert.deepStrictEqual(taken.slice(2), ["B", "A"])
      yield* passing(2 * quarantinePause)
      assert.strictEqual(taken.length, 4)
    })
  )
})
