/**
 * Leverage in a client's turn (A2-50, A2-102): the immediate effect of a choice on positions and working orders, its
 * rows, and the effect of another categorization on it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { Facts } from "../../../src/machines/market/Facts.ts"
import { accountIn, accountInTurn } from "../../../src/runtime/services/account/accountNow.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import { categorizeClient } from "../../../src/runtime/services/lifecycle/lifecycleDecisions.ts"
import { judgeRisk } from "../../../src/runtime/services/margin/riskDecisions.ts"
import { lossesToNotify } from "../../../src/runtime/services/margin/lossNotices.ts"
import { chooseLeverage } from "../../../src/runtime/services/trading/order/leverageDecisions.ts"
import type { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { contractsNow, micro } from "../../fixtures/contracts.ts"
import { view } from "../rfq/rfqTurns.ts"
import { accountOf, allTrade, committed, gold, marketsAt, perp, turnAt } from "./leverageTurns.ts"

const at60 = marketsAt({ [perp]: { price: "60000" }, [gold]: { price: "4000" } })
const directory = { partner: () => view, stamp: () => ({ partnerId: 1, epoch: 0 }) } as Partial<
  Directory["Service"]
> as Directory["Service"]
const parts = { directory, markets: allTrade }

const clientOf = (state: SubjectState) => {
  const row = state.one("clients")
  if (row === undefined) throw new Error("no client")
  return row
}
const choose = (turn: Turn, leverage: number, { symbol = perp, force = false } = {}) => {
  const client = clientOf(turn.state)
  return chooseLeverage({ turn, of: instanceOf(client, view) }, client, { symbol, leverage, force })
}
const shown = (verdict: ReturnType<typeof choose>) => (verdict.ok ? verdict.value : verdict.refusal._tag)
const marginIn = (state: SubjectState, facts: Facts) => {
  const { risk } = accountIn(state, facts)
  return [risk.positionMargin, risk.orderMargin]
}
const audited = (turn: Turn) =>
  turn.draft.written("audit").map(({ action, before, after, reason }) => [action, before, after, reason])

describe("a choice of leverage", () => {
  const account = { cash: "5000", positions: [{ netQty: "0.1" }], orders: [{ qty: "0.1000", price: "60000.0" }] }

  it("A2-50: counts at once for the position and the working orders, and is one row with its audit", () => {
    const state = accountOf(account)
    assert.deepStrictEqual(marginIn(state, at60), [micro("600"), micro("600")])
    const turn = turnAt(state, at60)
    assert.deepStrictEqual<unknown>(shown(choose(turn, 5)), {
      symbol: perp,
      leverage: 5,
      cap: 10,
      categorization: "RETAIL",
      chosen: 5
    })
    assert.deepStrictEqual(turn.draft.written("leverages"), [
      { clientId: 1, symbol: perp, partnerId: 1, leverage: 5, updatedAt: contractsNow }
    ])
    assert.deepStrictEqual(audited(turn), [["leverage.choose", null, `${perp} 5`, null]])
    assert.strictEqual(turn.draft.rowCount, 2)
    assert.deepStrictEqual(marginIn(committed(turn), at60), [micro("1200"), micro("1200")])
    // The order keeps the leverage of its placement, which does not determine its margin.
    assert.strictEqual(state.all("orders")[0]?.context.leverage, 10)
  })

  it("A2-50: the stored choice again is answered and writes nothing, in a close-out and on stale marks too", () => {
    const stale = marketsAt({ [perp]: { price: "60000", at: 5 } })
    const restrictions = { ...clientOf(accountOf(account)).context, restrictions: ["CLOSE_OUT" as const] }
    const turn = turnAt(accountOf({ ...account, chosen: { [perp]: 5 }, client: { context: restrictions } }), stale)
    assert.deepInclude(shown(choose(turn, 5)), { leverage: 5, chosen: 5 })
    assert.isTrue(turn.draft.isEmpty)
    assert.strictEqual(shown(choose(turn, 6)), "Invalid")
    assert.isTrue(turn.draft.isEmpty)
  })

  it("A2-10, A2-88: the cap depends on class and categorization; the cap itself is a choice like another", () => {
    const turn = turnAt(accountOf(account), at60)
    assert.strictEqual(shown(choose(turn, 11)), "Invalid")
    assert.deepInclude(shown(choose(turn, 20, { symbol: gold })), { cap: 20, chosen: 20 })
    assert.deepInclude(shown(choose(turn, 10)), { leverage: 10, chosen: 10 })
    const professional = turnAt(accountOf({ ...account, client: { categorization: "PROFESSIONAL" } }), at60)
    assert.strictEqual(shown(choose(professional, 51)), "Invalid")
    assert.deepInclude(shown(choose(professional, 50)), { cap: 50, chosen: 50 })
  })

  it("A2-50: a forced choice that causes a margin call: the account is judged in the same commit", () => {
    const turn = turnAt(accountOf({ cash: "1000", positions: [{ netQty: "0.1" }] }), at60)
    assert.strictEqual(shown(choose(turn, 5)), "MarginBreach")
    assert.isTrue(turn.draft.isEmpty)
    assert.deepInclude(shown(choose(turn, 5, { force: true })), { leverage: 5 })
    assert.deepStrictEqual(audited(turn), [["leverage.choose", null, `${perp} 5`, "forced"]])
    judgeRisk(turn, parts)
    assert.deepStrictEqual(
      turn.draft.written("riskMonitors").map(({ state }) => state),
      ["MARGIN_CALL"]
    )
    assert.deepStrictEqual(
      turn.draft.written("notifications").map(({ kind }) => kind),
      ["MARGIN_CALL"]
    )
  })

  it("A2-50: a choice above a schedule that was lowered counts as the new cap", () => {
    const terms = {
      ...at60.terms,
      leverage: { ...at60.terms.leverage, retail: { ...at60.terms.leverage.retail, crypto: 2 } }
    }
    const state = accountOf({ ...account, chosen: { [perp]: 10 } })
    assert.deepStrictEqual(marginIn(state, { ...at60, terms }), [micro("3000"), micro("3000")])
  })

  it("A2-10: a market that is not listed now is margined by the strictest class", () => {
    const unlisted = { ...at60, instruments: new Map() }
    const state = accountOf({ cash: "5000", positions: [{ symbol: gold, netQty: "1", avgEntry: "4000" }] })
    assert.deepStrictEqual(marginIn(state, at60), [micro("200"), 0n])
    assert.deepStrictEqual(marginIn(state, unlisted), [micro("400"), 0n])
  })
})

const someAccount = fc.record({
  cash: fc.integer({ min: 0, max: 30_000 }).map(String),
  held: fc.integer({ min: -300, max: 300 }).map((lots) => (lots / 1_000).toFixed(3)),
  orders: fc.array(
    fc.record({
      side: fc.constantFrom("BUY" as const, "SELL" as const),
      qty: fc.integer({ min: 1, max: 300 }).map((lots) => (lots / 1_000).toFixed(4)),
      reduceOnly: fc.boolean()
    }),
    { maxLength: 3 }
  ),
  mark: fc.integer({ min: 40_000, max: 80_000 }).map(String),
  from: fc.option(fc.integer({ min: 1, max: 10 })),
  to: fc.integer({ min: 1, max: 10 })
})

describe("any choice on any account", () => {
  it("A2-50: is refused only where it ties up more than there is; force writes what the refusal predicted", () => {
    fc.assert(
      fc.property(someAccount, ({ cash, held, orders, mark, from, to }) => {
        const facts = marketsAt({ [perp]: { price: mark } })
        const positions = Number(held) === 0 ? [] : [{ netQty: held }]
        const state = accountOf({ cash, positions, orders, ...(from === null ? {} : { chosen: { [perp]: from } }) })
        const before = accountIn(state, facts).risk
        const turn = turnAt(state, facts)
        const verdict = choose(turn, to)
        const forced = turnAt(state, facts)
        assert.isTrue(choose(forced, to, { force: true }).ok)
        const after = accountIn(committed(forced), facts).risk
        const grows = after.initialMargin > before.initialMargin
        const breaches = grows && (after.freeMargin < 0n || after.riskState !== "NORMAL")
        assert.strictEqual(verdict.ok, !breaches)
        if (to >= (from ?? 10)) assert.isTrue(verdict.ok, "another leverage that is higher ties up no more")
        if (verdict.ok || verdict.refusal._tag !== "MarginBreach") return
        assert.deepInclude(verdict.refusal.after, {
          marginLevelAfter: after.marginLevel,
          riskStateAfter: after.riskState
        })
        assert.isTrue(turn.draft.isEmpty)
        // The same by a second computation: one tier, as long as the largest exposure is below half a million.
        const worth = Math.abs(Number(held)) * Number(mark)
        const base = BigInt(Math.ceil(Number(((worth * 1e6) / to).toFixed(3))))
        assert.strictEqual(after.marginBase, base)
      })
    )
  })
})

describe("another categorization", () => {
  const held = { cash: "5000", positions: [{ netQty: "0.1" }] }
  const categorize = (turn: Turn, categorization: "RETAIL" | "PROFESSIONAL", force = false) => {
    const client = clientOf(turn.state)
    const at = { turn, instance: instanceOf(client, view), by: "COMPLIANCE" as const }
    return categorizeClient(at, client, { categorization, force, reason: "asked for" })
  }

  it("A2-102: choices above the new cap become the cap, others stay; all in one commit", () => {
    const chosen = { [perp]: 25, [gold]: 12 }
    const turn = turnAt(accountOf({ ...held, chosen, client: { categorization: "PROFESSIONAL" } }), at60)
    assert.isTrue(categorize(turn, "RETAIL").ok)
    assert.deepStrictEqual(
      turn.draft.written("leverages").map(({ symbol, leverage }) => [symbol, leverage]),
      [[perp, 10]]
    )
    assert.deepStrictEqual(audited(turn), [
      ["client.categorize", "PROFESSIONAL", "RETAIL", "asked for"],
      ["leverage.choose", `${perp} 25`, `${perp} 10`, "categorized RETAIL"]
    ])
    assert.deepStrictEqual(marginIn(committed(turn), at60), [micro("600"), 0n])
  })

  it("A2-102: a refused change writes nothing; a forced one is judged by the client's new categorization", () => {
    const client = { categorization: "PROFESSIONAL" } as const
    const turn = turnAt(accountOf({ ...held, cash: "500", client }), at60)
    assert.isFalse(categorize(turn, "RETAIL").ok)
    assert.isTrue(turn.draft.isEmpty)
    assert.isTrue(categorize(turn, "RETAIL", true).ok)
    judgeRisk(turn, parts)
    assert.deepStrictEqual(
      turn.draft.written("riskMonitors").map(({ state }) => state),
      ["MARGIN_CALL"]
    )
  })

  it("A2-88, A2-102: a professional has 50 on every class, and keeps the choices made before", () => {
    const turn = turnAt(accountOf({ ...held, chosen: { [perp]: 4 } }), at60)
    assert.isTrue(categorize(turn, "PROFESSIONAL").ok)
    assert.deepStrictEqual(turn.draft.written("leverages"), [])
    const state = committed(turn)
    assert.deepStrictEqual(marginIn(state, at60), [micro("1500"), 0n])
    assert.deepInclude(shown(choose(turnAt(state, at60), 50, { symbol: gold })), { cap: 50 })
  })
})

describe("reported losses", () => {
  const looked = (price: string, { at = contractsNow } = {}) => {
    const facts = marketsAt({ [perp]: { price, at }, [gold]: { price: "4000" } })
    const positions = [{ netQty: "0.1" }, { symbol: gold, netQty: "-1", avgEntry: "3000" }]
    const state = accountOf({ cash: "5000", positions, chosen: { [perp]: 5 } })
    const { risk } = accountInTurn(turnAt(state, facts), clientOf(state))
    return lossesToNotify(state, { client: clientOf(state), risk, now: contractsNow }).map(({ symbol, step }) => [
      symbol,
      step
    ])
  }

  it("A2-89: depend on the margin at the leverage in force, each position for itself", () => {
    // Gold: a loss of 1,000 on a margin of 150. Bitcoin: a margin of 1,200, so a fall of 1,200 is a tenth.
    assert.deepStrictEqual(looked("60000"), [[gold, 660]])
    assert.deepStrictEqual(looked("58800.1"), [[gold, 660]])
    assert.deepStrictEqual(looked("58800"), [
      [perp, 10],
      [gold, 660]
    ])
  })

  it("A2-89: a mark that is not fresh reports nothing for its own market", () => {
    assert.deepStrictEqual(looked("50000", { at: contractsNow - 10_001 }), [[gold, 660]])
  })
})
