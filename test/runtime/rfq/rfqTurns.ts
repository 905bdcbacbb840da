/** Turns of a client with one request for quotes without automatic accept, and the venue's reports in them. */
import { Effect } from "effect"
import { noFacts } from "../../../src/machines/market/Facts.ts"
import { openRfqInput } from "../../../src/machines/rfq/rfqSamples.ts"
import type { VenueContract } from "../../../src/machines/venue/venueObjects.ts"
import { advance, start } from "../../../src/runtime/effects/advance.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { TurnHeld } from "../../../src/runtime/engine/mailbox/TurnHeld.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { contractHandler } from "../../../src/runtime/services/trading/contract/contractEvents.ts"
import type { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import { beginAccept } from "../../../src/runtime/services/trading/rfq/rfqDecisions.ts"
import { Board } from "../../../src/runtime/services/trading/rfq/QuoteBoard.ts"
import { rfqHandler } from "../../../src/runtime/services/trading/rfq/rfqEvents.ts"
import { outOfSyncOrders } from "../../../src/runtime/services/venue/OutOfSync.ts"
import { orderHandler } from "../../../src/runtime/services/trading/order/orderEvents.ts"
import { Recall } from "../../../src/runtime/services/account/Recall.ts"
import { refLetters, type VenueOwner } from "../../../src/machines/venue/venueRefs.ts"
import { probeHandler } from "../../../src/runtime/services/venue/probeDecisions.ts"
import { swapHandler } from "../../../src/runtime/services/trading/swap/swapEvents.ts"
import type { VenueHandler, VenueHandlers } from "../../../src/runtime/services/venue/VenueHandler.ts"
import type { ClientRow } from "../../../src/runtime/tables/client.ts"
import { sampleRows } from "../engine/fixtures.ts"

const { partners, clients: sample } = sampleRows(1)
export const clients: ClientRow = {
  ...sample,
  state: "ACTIVE",
  context: { ...sample.context, level: "MICA_MIFID", restrictions: [], openCases: [] }
}
export const view = { row: { ...partners, custodyModel: "PARTNER" as const }, reliance: "APPROVED", endpoint: null }
const stamp = (partnerId: number) => ({ partnerId, epoch: 1 })
const directory = { partner: () => view, stamp } as Partial<Directory["Service"]> as Directory["Service"]
const nothingElse = { among: () => Effect.succeed([]), page: () => Effect.succeed([]) } as Partial<
  RowReads["Service"]
> as RowReads["Service"]
export const parts = { directory, recall: new Recall(nothingElse), board: new Board() }
const probes = Object.fromEntries(Object.values(refLetters).map((owner) => [owner, probeHandler])) as {
  readonly [O in VenueOwner]: VenueHandler
}
export const handlers: VenueHandlers = {
  ...probes,
  rfq: rfqHandler(parts),
  barrierContract: contractHandler(parts),
  order: orderHandler({ ...parts, unsettled: outOfSyncOrders() }),
  swap: swapHandler(parts),
  answered: () => undefined,
  unnamedVerdict: () => null,
  unnamed: () => false,
  doubted: () => undefined
}

export const contract: VenueContract = {
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
export const turnWith = (accepted: boolean): Turn => {
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

/** The next turn of the same client, after the commit of the given one and the venue's confirmation of the request. */
export const turnAfter = ({ state, draft, facts, by, nextId, now }: Turn): Turn => {
  state.adopt(draft.build({ subject: state.subject, expected: state.token }, null))
  const confirmed = new CommitBuilder()
  confirmed.endCall("R-1")
  state.adopt(confirmed.build(null, null))
  return { state, facts, by, nextId, now: now + 10, draft: new CommitBuilder() }
}

export const posted = (turn: Turn) =>
  turn.draft.written("ledgerTransactions").map(({ key, actor }) => `${key} ${actor}`)

/** Repeats the decision once a missing row is read, as the host does. */
export const decided = <A>(decide: () => A): A => {
  for (;;) {
    try {
      return decide()
    } catch (error) {
      if (!(error instanceof TurnHeld)) throw error
      Effect.runSync(error.released)
    }
  }
}
