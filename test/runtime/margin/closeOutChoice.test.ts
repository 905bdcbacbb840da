/**
 * F9, F10: the position that the first turn of a close-out closes, and its write-off, over random accounts, compared
 * with a second implementation of the formulas.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { defaultMarketTerms } from "../../../src/machines/market/marketTerms.ts"
import { formatAmount } from "../../../src/machines/shared/Money.ts"
import { judgeRisk } from "../../../src/runtime/services/margin/riskDecisions.ts"
import type { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import { micro } from "../../fixtures/contracts.ts"
import { type PlainAccount, plainChoice, plainRisk, plainWriteOff } from "../../fixtures/naiveMargin.ts"
import { accountOf, allTrade, gold, marketsAt, perp, turnAt } from "../order/leverageTurns.ts"
import { view } from "../rfq/rfqTurns.ts"

const directory = { partner: () => view, stamp: () => ({ partnerId: 1, epoch: 0 }) } as Partial<
  Directory["Service"]
> as Directory["Service"]
const tiers = defaultMarketTerms.riskTiers.map(({ from, maxLeverage }) => ({
  from: formatAmount(from, "USDC"),
  most: maxLeverage
}))

const someHeld = fc.record({
  lots: fc.integer({ min: -20_000, max: 20_000 }),
  entry: fc.integer({ min: 300_000, max: 900_000 }),
  mark: fc.integer({ min: 300_000, max: 900_000 }),
  leverage: fc.integer({ min: 1, max: 10 })
})
const text = (tenths: number): string => (tenths / 10).toFixed(1)

describe("the first turn of a close-out", () => {
  it("F9, F10: closes the position with the largest margin, and writes off a retail client's debt where nothing is open", () => {
    const seen = { closed: 0, chosen: new Set<string | null>(), writtenOff: 0, owing: 0 }
    const some = fc.record({
      cash: fc.oneof(fc.integer({ min: -9_000, max: 9_000 }), fc.integer({ min: -90_000, max: 90_000 })),
      isRetail: fc.boolean(),
      held: fc.array(someHeld, { maxLength: 2 })
    })
    fc.assert(
      fc.property(some, ({ cash, isRetail, held }) => {
        const positions = held.flatMap(({ lots, entry, mark, leverage }, at) =>
          lots === 0
            ? []
            : [
                {
                  symbol: at === 0 ? perp : gold,
                  qty: (lots / 10_000).toFixed(4),
                  entry: text(entry),
                  mark: text(mark),
                  leverage,
                  openedAt: at
                }
              ]
        )
        const account: PlainAccount = { cash: `${cash}.000000`, isRetail, tiers, positions, contracts: [] }
        const state = accountOf({
          cash: `${cash}`,
          positions: positions.map(({ symbol, qty, entry, openedAt }) => ({
            symbol,
            netQty: qty,
            avgEntry: entry,
            openedAt
          })),
          chosen: Object.fromEntries(positions.map(({ symbol, leverage }) => [symbol, leverage])),
          client: { categorization: isRetail ? "RETAIL" : "PROFESSIONAL" }
        })
        const marks = Object.fromEntries(positions.map(({ symbol, mark }) => [symbol, { price: mark }]))
        const turn = turnAt(state, marketsAt(marks))
        judgeRisk(turn, { directory, markets: allTrade })

        const isDue = plainRisk(account).state === "CLOSE_OUT"
        const sent = turn.draft.written("orders").filter(({ context }) => context.origin === "CLOSE_OUT")
        const chosen = isDue ? plainChoice(account) : null
        assert.deepStrictEqual([...new Set(sent.map(({ symbol }) => symbol))], chosen === null ? [] : [chosen])
        for (const { symbol, context } of sent) {
          const held = positions.find((position) => position.symbol === symbol)
          assert.strictEqual(context.side, held?.qty.startsWith("-") === true ? "BUY" : "SELL")
          assert.isTrue(context.reduceOnly && Number(context.qty) <= Math.abs(Number(held?.qty)))
        }
        const due = plainWriteOff(account)
        const paid = turn.draft
          .written("ledgerTransactions")
          .filter(({ type }) => type === "NBP_WRITEOFF")
          .map(
            ({ txId }) =>
              turn.draft.written("postings").find((row) => row.txId === txId && row.clientId !== null)?.amount
          )
        assert.deepStrictEqual(paid, due.isZero() ? [] : [micro(due.toFixed(6))])
        if (sent.length > 0) seen.closed++
        seen.chosen.add(chosen)
        if (paid.length > 0) seen.writtenOff++
        if (!isRetail && cash < 0 && positions.length === 0) seen.owing++
      }),
      { numRuns: 400, seed: 16 }
    )
    assert.isAbove(seen.closed, 50)
    assert.sameMembers([...seen.chosen], [null, perp, gold])
    assert.isAbove(seen.writtenOff, 10)
    assert.isAbove(seen.owing, 10)
  })
})
