/**
 * Executions by the venue of a request that had ended here and left memory (D4, D5): adopted once, with an alarm, never
 * dropped. The test sends the venue's events over a memory store and a memory venue in virtual time.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { openRfqInput } from "../../src/machines/rfq/rfqSamples.ts"
import type { AccountFact } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueContract } from "../../src/machines/venue/venueObjects.ts"
import { advance, start } from "../../src/runtime/effects/advance.ts"
import { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { sampleRows } from "../runtime/engine/fixtures.ts"
import { begin, CallWorld, uidOf } from "../runtime/venue/CallWorld.ts"

const by = { role: "ADMIN", keyLabel: "test", requestId: "test", actor: "ADMIN" }
const clientId = 1
const account = uidOf(clientId)
const expiry = begin + 60_000

const contractOf = (rfqId: number, change: Partial<VenueContract> = {}): VenueContract => ({
  id: 50,
  ref: `A-${rfqId}-7`,
  account,
  symbol: openRfqInput.symbol,
  side: "BUY",
  qty: openRfqInput.qty,
  entry: "60010.0",
  barrier: openRfqInput.barrierLevel,
  takeProfit: openRfqInput.takeProfit,
  expiryAt: expiry,
  strict: false,
  premiumBps: openRfqInput.premiumBps,
  tradeId: 90,
  openedAt: begin,
  state: "OPEN",
  settlePrice: null,
  endedAt: null,
  ...change
})

const saying =
  (contract: VenueContract) =>
  (stamp: { readonly account: string; readonly sequence: number }): AccountFact => ({
    type: "contract",
    ...stamp,
    contract
  })

/** A client with one request that reached the venue and ended there without an execution. The request has left memory. */
const withEndedRequest = () => {
  const world = new CallWorld()
  const process = world.launch()
  const { partners, clients } = sampleRows(clientId)
  process.run(
    Effect.flatMap(ActorHost, (host) =>
      host.dispatch({ subject: "partner:1", by, decide: (turn) => turn.draft.put("partners", partners) })
    )
  )
  world.run(100)
  const made = process.run(
    Effect.flatMap(ActorHost, (host) =>
      host.dispatch({
        subject: `client:${clientId}`,
        by,
        decide: (turn) => {
          turn.draft.put("clients", { ...clients, uid: account })
          const id = turn.nextId("rfq")
          const columns = { id, partnerId: 1, clientId, symbol: openRfqInput.symbol, currency: "USDC" } as const
          const row = start(turn, "rfqs", {
            input: { ...openRfqInput, rfqId: id, clientId, account, expiryTs: expiry, windowEndsAt: begin + 60_000 },
            columns: { ...columns, amount: 28_500_000n, createdAt: begin, closeContractId: null }
          })
          // The call of this request is not part of this test.
          const open = advance(turn, "rfqs", row, { type: "CONFIRMED", at: begin, venueRfqId: 70 }) ?? row
          const end = { type: "VENUE_ENDED", at: begin, how: "EXPIRED", reason: null, quotes: [], note: null } as const
          const over = advance(turn, "rfqs", open, end) ?? open
          // The request's only accept was recorded as void.
          const refusedQuotes = [{ quoteId: 7, reason: "not found at the venue" }]
          turn.draft.put("rfqs", { ...over, context: { ...over.context, refusedQuotes } })
          return id
        }
      })
    )
  )
  world.run(5_000)
  if (made.exit?._tag !== "Success") throw new Error("the request was not made")
  const rfqId = made.exit.value
  const rfq = () => world.store.rows("rfqs").find(({ id }) => id === rfqId)
  assert.deepStrictEqual([rfq()?.state, rfq()?.venueOpen], ["EXPIRED", false])
  return { world, process, rfqId, rfq }
}

const actions = (world: CallWorld) => world.store.rows("audit").map(({ action }) => action)
const keys = (world: CallWorld) => world.store.rows("ledgerTransactions").map(({ key }) => key)

describe("late objects", () => {
  it("D4: an execution of a request that has left memory is adopted, once, with an alarm and a break of the uncovered amount", () => {
    const { world, rfqId, rfq } = withEndedRequest()
    world.venue.publish(account, saying(contractOf(rfqId)))
    world.venue.publish(account, saying(contractOf(rfqId)))
    world.run(1_000)
    const [contract, ...others] = world.store.rows("barrierContracts")
    assert.deepStrictEqual([others, contract?.state, contract?.rfqId], [[], "OPEN", rfqId])
    assert.deepStrictEqual([rfq()?.state, rfq()?.context.contractId], ["ACCEPTED", contract?.id])
    assert.deepStrictEqual(keys(world), [`commission:contract:${contract?.id}`])
    assert.include(actions(world), "rfq.lateExecution")
    const [short] = world.store.rows("reconBreaks")
    assert.deepInclude(short, { scope: "CLIENT", clientId, amount: 28_715_020n })
    assert.deepStrictEqual([world.errors, world.store.rows("venueQuarantine")], [[], []])
  })

  it("D5: a second end of a contract that has left memory books nothing", () => {
    const { world, rfqId } = withEndedRequest()
    const end = { state: "KNOCKED_OUT", settlePrice: openRfqInput.barrierLevel, endedAt: begin + 4_000 } as const
    for (const change of [{}, end, end, { ...end, state: "CLOSED", settlePrice: "60010.0", endedAt: begin + 4_500 }]) {
      world.venue.publish(account, saying(contractOf(rfqId, change as Partial<VenueContract>)))
    }
    world.run(1_000)
    const [contract] = world.store.rows("barrierContracts")
    assert.deepInclude(contract, { state: "KNOCKED_OUT", pnl: -28_595_000n })
    assert.deepStrictEqual(keys(world), [`commission:contract:${contract?.id}`, `settle:${contract?.id}`])
    assert.lengthOf(world.store.rows("reconBreaks"), 1, "of the late execution alone")
    assert.notInclude(actions(world), "contract.otherEnd")
  })

  it("F19: an earlier end that arrives later opens a break of the difference, and the booking stays", () => {
    const { world, rfqId } = withEndedRequest()
    const profit = { state: "TAKE_PROFIT", settlePrice: openRfqInput.takeProfit, endedAt: begin + 4_500 } as const
    const touched = { state: "KNOCKED_OUT", settlePrice: openRfqInput.barrierLevel, endedAt: begin + 4_000 } as const
    for (const change of [{}, profit, touched]) world.venue.publish(account, saying(contractOf(rfqId, change)))
    world.run(1_000)
    const [contract] = world.store.rows("barrierContracts")
    assert.strictEqual(contract?.state, "TAKE_PROFIT")
    const breaks = world.store.rows("reconBreaks").map(({ amount }) => amount)
    assert.deepStrictEqual(breaks, [28_715_020n, -28_595_000n - (contract?.pnl ?? 0n)])
    assert.include(actions(world), "contract.otherEnd")
  })

  it("A2-115: an object that names another client's request is quarantined", () => {
    const { world, process, rfqId } = withEndedRequest()
    process.probe(8, 1)
    world.run(1_000)
    world.venue.publish(uidOf(8), saying(contractOf(rfqId, { account: uidOf(8) })))
    world.venue.publish(uidOf(8), saying(contractOf(999, { account: uidOf(8) })))
    world.run(1_000)
    assert.lengthOf(world.store.rows("barrierContracts"), 0)
    const reasons = world.store.rows("venueQuarantine").map(({ reason }) => reason)
    assert.deepStrictEqual(reasons, ["it names no object of ours", "it names no object of ours"])
  })

  it("A2-111: a contract has the name of the accept that opened it; under another name it is quarantined, and opens nothing", () => {
    const { world, rfqId, rfq } = withEndedRequest()
    const names = [`R-${rfqId}`, `A-${rfqId}`, `A-${rfqId}-x`, `R-${rfqId}-c1`]
    for (const ref of names) world.venue.publish(account, saying(contractOf(rfqId, { ref })))
    world.run(1_000)
    assert.deepStrictEqual([world.store.rows("barrierContracts"), rfq()?.state], [[], "EXPIRED"])
    assert.lengthOf(world.store.rows("venueQuarantine"), names.length)
  })
})
