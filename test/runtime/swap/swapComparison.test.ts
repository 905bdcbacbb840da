/**
 * A swap that is open on both sides is compared in all its terms: different terms are a misfit, and are not booked
 * (A2-103).
 */
import { assert, describe, it } from "@effect/vitest"
import { noFacts } from "../../../src/machines/market/Facts.ts"
import { swapRef, type Taken } from "../../../src/machines/swap/Swap.ts"
import { swapInput, took } from "../../../src/machines/swap/swapSamples.ts"
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { VenueSwap } from "../../../src/machines/venue/swapAtVenue.ts"
import { firstRow } from "../../../src/runtime/effects/machineRow.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { settleSwapDifferences, swapDifferences } from "../../../src/runtime/services/reconciliation/swapComparison.ts"
import type { SwapRow } from "../../../src/runtime/tables/swap.ts"
import { clients, parts } from "../rfq/rfqTurns.ts"

const { type: _type, at: _at, ...taken } = took as { readonly type: "TOOK" } & Taken
const columns = {
  id: 1,
  partnerId: 1,
  clientId: 1,
  symbol: swapInput.symbol,
  currency: swapInput.asset,
  amount: 0n,
  reward: 0n,
  fee: 0n,
  paid: 0n,
  writtenOff: 0n,
  commission: 0n,
  contractId: null,
  openedAt: null,
  maturityAt: null,
  closedAt: null,
  createdAt: 100
}
const started = firstRow("swaps", swapInput, columns).row
const { contractId } = taken
const open: SwapRow = { ...started, state: "OPEN", contractId, context: { ...started.context, ...taken } }
const shown: VenueSwap = {
  id: taken.contractId,
  ref: swapRef(1),
  account: swapInput.account,
  symbol: swapInput.symbol,
  offerId: swapInput.offerId,
  tradeId: taken.tradeId,
  notional: "10",
  rateBps: taken.rateBps,
  tenorDays: taken.tenorDays,
  reward: taken.reward,
  fee: swapInput.estimatedFee,
  openedAt: taken.openedTs,
  maturityAt: taken.maturityTs,
  corrections: [],
  payments: [],
  short: false,
  end: null
}

const turnOf = (): Turn => {
  let last = 0
  const rows = [
    { table: "clients" as const, row: clients },
    { table: "swaps" as const, row: open }
  ]
  const state = new SubjectState("client:1", { token: 1, rows })
  const by = { role: "SYSTEM", keyLabel: "t", requestId: "t", actor: "system:venue" }
  const now = taken.maturityTs
  return { now, state, facts: noFacts, draft: new CommitBuilder(), by, nextId: () => ++last }
}

const differences = (change: Partial<VenueSwap>) =>
  swapDifferences({ clientId: 1, swaps: [open], theirs: [{ ...shown, ...change }], outcomes: new Map() })

const none = { clientId: 1, swaps: [open], theirs: [], outcomes: new Map<string, VenueOutcome>() }
const unknownHere: VenueOutcome = {
  ref: swapRef(1),
  outcome: "UNKNOWN",
  reason: null,
  at: 1,
  order: null,
  rfq: null,
  contract: null,
  swap: null
}

describe("A2-103: a swap that is open on both sides", () => {
  it("has no difference where its terms are the same", () => {
    assert.deepStrictEqual(differences({}), [])
  })

  it.each([
    ["notional", { notional: "1000" }],
    ["rate", { rateBps: 4_000 }],
    ["tenor", { tenorDays: 1 }],
    ["reward", { reward: "9" }],
    ["trade", { tradeId: 78 }],
    ["opening time", { openedAt: 0 }],
    ["maturity", { maturityAt: taken.maturityTs + 1 }],
    ["market", { symbol: "BTC-SWAP" }]
  ] as const)("another %s is a misfit of which nothing is booked", (member, change) => {
    const turn = turnOf()
    const [sentence, ...others] = settleSwapDifferences(turn, parts, differences(change))
    assert.include(sentence, `the ${member} is`)
    assert.deepStrictEqual(others, [])
    assert.lengthOf(turn.draft.written("venueMisfits"), 1)
    assert.deepStrictEqual([turn.draft.written("swaps"), turn.draft.written("postings")], [[], []])
    assert.deepStrictEqual(turn.draft.written("reconBreaks"), [])
  })

  it("a swap of one side alone is a break that pauses outgoing money, even without a mark of its asset", () => {
    const unknown = { ...none, outcomes: new Map([[swapRef(1), unknownHere]]) }
    const foreign = { ...none, swaps: [], theirs: [{ ...shown, id: 51, ref: "X-8" }] }
    for (const compared of [unknown, foreign]) {
      const turn = turnOf()
      assert.lengthOf(settleSwapDifferences(turn, parts, swapDifferences(compared)), 1)
      const opened = turn.draft.written("reconBreaks").map(({ amount, context }) => [amount, context.pausesMoneyOut])
      assert.deepStrictEqual(opened, [[1n, true]])
    }
  })
})
