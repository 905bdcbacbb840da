/**
 * The money of a client in the ledger and in the venue's own books, differences, and their consequences in the client's
 * turn (A2-103).
 */
import { assert, describe, it } from "@effect/vitest"
import { noFacts } from "../../../src/machines/market/Facts.ts"
import { venueAccount, postingRules } from "../../../src/machines/postingRules.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { moneyApart, ownMoney, venueMoney } from "../../../src/machines/reconciliation/money.ts"
import type { VenueMoney } from "../../../src/machines/venue/venueObjects.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import {
  type ComparedMoney,
  moneyDifferences,
  settleMoneyDifferences,
  standing
} from "../../../src/runtime/services/reconciliation/moneyComparison.ts"
import { balance, sampleRows } from "../engine/fixtures.ts"
import { perp } from "./leverageTurns.ts"
import { spot, TradingWorld } from "./TradingWorld.ts"

const { clients, accountTotals: sampleTotals } = sampleRows(1)
const usdc = { ...balance(1, 0n), fromVenue: 40_000_000n }
const totals = { ...sampleTotals, perpFlow: -500_000_000n, fillsPnl: 30_000_000n }
const trades = (amount: string, asset = "USDC"): VenueMoney => ({ kind: "trades", asset, amount })

const look = (change: Partial<ComparedMoney> = {}): ComparedMoney => ({
  clientId: 1,
  ours: { balances: [usdc], totals },
  taken: 7,
  account: { sequence: 7, money: [trades("-500"), { kind: "contracts", asset: "USDC", amount: "10" }] },
  ...change
})
const apart = (amount = "-505", sequence = 7) =>
  moneyDifferences(look({ account: { sequence, money: [trades(amount)] } }))

const turnOf = (row = usdc): Turn => {
  let last = 0
  const state = new SubjectState("client:1", {
    token: 1,
    rows: [
      { table: "clients", row: clients },
      { table: "balances", row },
      { table: "accountTotals", row: totals }
    ]
  })
  const mark = { price: new MoneyDecimal("61000"), places: 1, at: 0, current: true }
  const facts = { ...noFacts, takenAt: 0, marks: new Map([["BTC-USDC", mark]]) }
  const by = { role: "SYSTEM", keyLabel: "t", requestId: "t", actor: "system:venue" }
  return { now: 40, state, facts, draft: new CommitBuilder(), by, nextId: () => ++last }
}
const breaksOf = (turn: Turn) =>
  turn.draft.written("reconBreaks").map(({ amount, context }) => [amount, context.pausesMoneyOut])

describe("A2-103: the money of a client", () => {
  it("the postings against the venue's account, with the results of perpetuals assigned to their trades, equal the venue's figure", () => {
    assert.deepStrictEqual(moneyDifferences(look()), [])
    const none = look({ ours: { balances: [], totals: undefined }, account: null, taken: 0 })
    assert.deepStrictEqual(moneyDifferences(none), [])
  })

  it("every entry that is posted against the house account `venue` is compared with a kind of the venue's money", () => {
    for (const [entry, { house, venue }] of Object.entries(postingRules))
      assert.strictEqual(house?.(1) === venueAccount, venue !== null, entry)
  })

  it("F12: the venue's fees are not a part of it", () => {
    const money: ReadonlyArray<VenueMoney> = [trades("-490"), { kind: "fees", asset: "USDC", amount: "-3" }]
    assert.deepStrictEqual(moneyDifferences(look({ account: { sequence: 7, money } })), [])
  })

  it("A2-103: payments for swaps and payments from them are a part of it", () => {
    const money: ReadonlyArray<VenueMoney> = [trades("-490"), { kind: "swaps", asset: "BTC", amount: "-1" }]
    assert.deepStrictEqual(
      moneyDifferences(look({ account: { sequence: 7, money } })).map(({ asset, ours, theirs }) => [
        asset,
        ours.toFixed(),
        theirs.toFixed()
      ]),
      [["BTC", "0", "-1"]]
    )
  })

  it("F14: funding is part of it, to the last minor unit", () => {
    const money: ReadonlyArray<VenueMoney> = [trades("-490"), { kind: "funding", asset: "USDC", amount: "-2.000001" }]
    const account = { sequence: 7, money }
    const paid = { ...usdc, fromVenue: usdc.fromVenue - 2_000_001n }
    assert.deepStrictEqual(moneyDifferences(look({ account, ours: { balances: [paid], totals } })), [])
    assert.deepStrictEqual(
      moneyDifferences(look({ account })).map(({ ours, theirs }) => [ours.toFixed(), theirs.toFixed()]),
      [["-490", "-492.000001"]]
    )
  })

  it("an account that is older than the venue's records is not compared", () => {
    assert.deepStrictEqual(moneyDifferences(look({ account: { sequence: 7, money: null } })), [])
  })

  it("an account that the venue does not know, and an asset that one side has alone, differ", () => {
    const nowhere = moneyDifferences(look({ account: null }))
    assert.deepStrictEqual(
      nowhere.map(({ asset, ours, theirs }) => [asset, ours.toFixed(), theirs.toFixed()]),
      [["USDC", "-490", "0"]]
    )
    const account = { sequence: 7, money: [trades("-490"), trades("0.2", "BTC")] }
    assert.deepStrictEqual(
      moneyDifferences(look({ account })).map(({ claim }) => claim),
      ["differs:1:money:BTC:-0.2"]
    )
  })

  it("counts when both passes see it, and no call in flight explains it", () => {
    assert.lengthOf(standing(apart(), apart()), 1)
    assert.deepStrictEqual(standing([], apart()), [])
    // A difference of another size, or one to which the venue has added an event in the meantime.
    assert.deepStrictEqual(standing(apart("-504"), apart()), [])
    const moved = moneyDifferences(
      look({
        ours: { balances: [{ ...usdc, fromVenue: 50_000_000n }], totals },
        account: { sequence: 9, money: [trades("-495")] }
      })
    )
    assert.deepStrictEqual(standing(apart("-505", 8), moved), [])
    // No event has arrived for 5 s, and none was processed: the missing one was lost.
    assert.lengthOf(standing(apart("-505", 8), apart("-505", 8)), 1)
  })

  it("opens a break of the difference with both figures, which pauses outgoing money, once while it stays the same", () => {
    const turn = turnOf()
    assert.deepStrictEqual(settleMoneyDifferences(turn, apart()), [
      "The ledger has -490 USDC of the venue, and the venue's own books have -505."
    ])
    assert.deepStrictEqual(breaksOf(turn), [[15_000_000n, true]])
    assert.deepStrictEqual(
      turn.draft.build(null, null).claims.map(({ name }) => name),
      ["differs:1:money:USDC:15"]
    )
    assert.deepStrictEqual(settleMoneyDifferences(turnOf(), apart(), "The venue no longer gives an event."), [
      "The ledger has -490 USDC of the venue, and the venue's own books have -505. The venue no longer gives an event."
    ])
    const asset = turnOf()
    const account = { sequence: 7, money: [trades("-490"), trades("0.2", "BTC")] }
    settleMoneyDifferences(asset, moneyDifferences(look({ account })))
    assert.deepStrictEqual(breaksOf(asset), [[-12_200_000_000n, true]])
    const unpriced = turnOf()
    const ether = { sequence: 7, money: [trades("-490"), trades("0.2", "ETH")] }
    settleMoneyDifferences(unpriced, moneyDifferences(look({ account: ether })))
    assert.deepStrictEqual(breaksOf(unpriced), [[1n, true]])
  })

  it("nothing counts if the books have changed since, or if the turn itself has booked", () => {
    const booking = turnOf()
    booking.draft.put("balances", usdc)
    const moved = turnOf({ ...usdc, fromVenue: 1n })
    for (const turn of [booking, moved]) {
      assert.deepStrictEqual(settleMoneyDifferences(turn, apart()), [])
      assert.deepStrictEqual(breaksOf(turn), [])
    }
  })

  it("F11, F20: over a thousand partial fills, each rounded by itself or in sum, not one minor unit differs", () => {
    const world = new TradingWorld()
    world.deposit("USDC", "9000000")
    for (const symbol of [perp, spot]) {
      world.mark(symbol, "60000.0")
      for (const side of ["BUY", "SELL"] as const) {
        const { id } = world.place({
          symbol,
          side,
          qty: "2.5000",
          type: "LIMIT",
          price: side === "BUY" ? "61000.0" : "59000.0",
          tif: "GTC",
          trigger: null,
          reduceOnly: false,
          attach: null,
          ocoGroup: null,
          leverage: null
        })
        for (let n = 0; n < 250; n++) {
          world.fill(id ?? 0, n % 2 === 0 ? "0.0101" : "0.0099", (60_000 + ((n * 7_919) % 1_000) / 10).toFixed(1))
          if (n % 50 === 7) assertSame(world)
        }
        assertSame(world)
      }
    }
    const [{ realizedPnl } = { realizedPnl: 0n }] = world.positions.filter(({ symbol }) => symbol === perp)
    assert.notStrictEqual(realizedPnl, 0n)
  })
})

const assertSame = ({ money: { own, money } }: TradingWorld): void => {
  const theirs = venueMoney({ money })
  const found = theirs === null ? [] : moneyApart(ownMoney(own), theirs)
  assert.deepStrictEqual(
    found.map(({ asset, ours, theirs: there }) => `${asset} ${ours.toFixed()} ${there.toFixed()}`),
    []
  )
}
