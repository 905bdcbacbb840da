/** Requests for quotes and contracts in their client's turn, by rows of D4 and D5, with the postings that come of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { openRfqInput } from "../../../src/machines/rfq/rfqSamples.ts"
import { restrictionSentences } from "../../../src/machines/client/Restriction.ts"
import { noFacts } from "../../../src/machines/market/Facts.ts"
import type { VenueContract } from "../../../src/machines/venue/venueObjects.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { advance, start } from "../../../src/runtime/effects/advance.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import type { Directory } from "../../../src/runtime/services/partner/Directory.ts"
import { restrictClient } from "../../../src/runtime/services/client/clientDecisions.ts"
import { instanceOf } from "../../../src/runtime/services/client/clientState.ts"
import { beginAccept, cancelOpeningRequests, rfqInTurn } from "../../../src/runtime/services/rfq/rfqDecisions.ts"
import { Board } from "../../../src/runtime/services/rfq/QuoteBoard.ts"
import { rfqHandler } from "../../../src/runtime/services/rfq/rfqHears.ts"
import type { ClientRow } from "../../../src/runtime/store/tables/client.ts"
import { Recall } from "../../../src/runtime/services/shared/Recall.ts"
import { sampleRows } from "../engine/fixtures.ts"

const { partners, clients: sample } = sampleRows(1)
const clients: ClientRow = {
  ...sample,
  state: "ACTIVE",
  context: { ...sample.context, level: "MICA_MIFID", restrictions: [], openCases: [] }
}
const view = { row: { ...partners, custodyModel: "PARTNER" as const }, reliance: "APPROVED", endpoint: null }
const directory = { partner: () => view } as Partial<Directory["Service"]> as Directory["Service"]
const nothingElse = { among: () => Effect.succeed([]) } as Partial<RowReads["Service"]> as RowReads["Service"]
const handler = rfqHandler({ directory, recall: new Recall(nothingElse) }, new Board())

const contract: VenueContract = {
  id: 50,
  ref: "A-1-7",
  account: "ACM-00000001",
  symbol: "BTC-USDC-KO",
  side: "BUY",
  qty: "0.01",
  entry: "60010.0",
  barrier: "57000.0",
  takeProfit: "63000.0",
  expiryAt: 28_800_000,
  strict: false,
  premiumBps: 9_500,
  tradeId: 90,
  openedAt: 30,
  state: "OPEN",
  settlePrice: null,
  endedAt: null
}

/** A turn with one confirmed request in its draft. */
const turnWith = (accepted: boolean): Turn => {
  let last = 0
  const state = new SubjectState("client:1", { token: 1, rows: [{ table: "clients", row: clients }] })
  const by = { role: "SYSTEM", keyLabel: "t", requestId: "t", actor: "system:venue" }
  const turn: Turn = { now: 40, state, facts: noFacts, draft: new CommitBuilder(), by, nextId: () => ++last }
  const row = start(turn, "rfqs", {
    input: openRfqInput,
    columns: {
      id: 1,
      partnerId: 1,
      clientId: 1,
      symbol: openRfqInput.symbol,
      currency: "USDC",
      amount: 28_500_000n,
      createdAt: 0,
      closeContractId: null
    }
  })
  const open = advance(turn, "rfqs", row, { type: "CONFIRMED", at: 5, venueRfqId: 70 }) ?? row
  const figures = { premium: 28_595_000n, commission: 120_020n }
  if (accepted) beginAccept(turn, open, { id: 7, price: "60010.0", figures, by: "system:router" })
  return turn
}

const say = (turn: Turn, told: VenueContract) =>
  handler.said(turn, { id: 1, at: 30, fact: { type: "contract", account: told.account, sequence: 1, contract: told } })

const posted = (turn: Turn) => turn.draft.written("ledgerTransactions").map(({ key, actor }) => `${key} ${actor}`)

describe("requests for quotes in their client's turn", () => {
  it("D4: an execution opens one contract with one commission, by whoever accepted; said again it changes nothing", () => {
    const turn = turnWith(true)
    assert.isTrue(say(turn, contract))
    assert.isTrue(say(turn, contract))
    const [opened, ...others] = turn.draft.written("barrierContracts")
    assert.deepStrictEqual(others, [])
    assert.deepInclude(opened?.context, { premium: "28.595000", commission: "0.120020", entry: "60010.0", tradeId: 90 })
    assert.strictEqual(rfqInTurn(turn, 1)?.state, "ACCEPTED")
    assert.deepStrictEqual(posted(turn), [`commission:contract:${opened?.id} system:router`])
  })

  it("D5: a contract ends once, with one settlement of what it paid and its item", () => {
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

  it("D4: what was executed after a cancel is adopted, with a break of what is not free", () => {
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

  it("A2-101: a request with an accept in flight is left to its answer", () => {
    const turn = turnWith(true)
    assert.strictEqual(cancelOpeningRequests(turn, "The market is halted."), 0)
    assert.strictEqual(rfqInTurn(turn, 1)?.state, "OPEN")
  })
})
