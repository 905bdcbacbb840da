/**
 * A retail client that trades, requests withdrawals and lends USDC, by the service's own turns. Each turn ends with a judgement
 * of risk, as in the engine. A second implementation checks write-offs and repayments, commit by commit (F9, F10).
 */
import { assert } from "@effect/vitest"
import { blockCodes } from "../../../src/machines/verification/Blocks.ts"
import { formatAmount } from "../../../src/machines/shared/Money.ts"
import type { SwapEvent } from "../../../src/machines/swap/Swap.ts"
import { applyEffects } from "../../../src/runtime/effects/Interpreter.ts"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { balanceOf } from "../../../src/runtime/ledger/Ledger.ts"
import { judgeRisk } from "../../../src/runtime/services/margin/riskDecisions.ts"
import type { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import { stepSwap, takeSwap } from "../../../src/runtime/services/trading/swap/swapDecisions.ts"
import {
  fileWithdrawal,
  ruleOnWithdrawal,
  type WithdrawalRuling
} from "../../../src/runtime/services/money/withdrawal/withdrawalDecisions.ts"
import { contractsNow } from "../../fixtures/contracts.ts"
import { NaiveHouse } from "../../fixtures/naiveHouse.ts"
import { stakingMarket } from "../../support/ScriptedVenue.ts"
import { sampleRows, testSealing } from "../engine/fixtures.ts"
import { allTrade } from "../order/leverageTurns.ts"
import { traderOf, TradingWorld } from "../order/TradingWorld.ts"
import { view } from "../rfq/rfqTurns.ts"

const partner = { ...view, row: { ...view.row, sandbox: false } }
const directory = { partner: () => partner, stamp: () => ({ partnerId: 1, epoch: 1 }) } as Partial<
  Directory["Service"]
> as Directory["Service"]

/** The service's share of a reward, basis points. */
const rewardBps = 1_000
const symbol = "USDC-SWAP"

class AuditedStore extends MemoryStore {
  readonly house = new NaiveHouse()

  override apply(commit: Commit) {
    const outcome = super.apply(commit)
    assert.deepStrictEqual(this.house.take(commit), [])
    return outcome
  }
}

export class GuardedClient {
  private readonly store = new AuditedStore()
  readonly world = new TradingWorld({
    store: this.store,
    judge: (turn) => judgeRisk(turn, { directory, markets: allTrade })
  })
  private made = 0

  constructor() {
    const block = { ...sampleRows(1).verificationBlocks, state: "APPROVED" as const }
    this.world.turn(({ draft }) => {
      for (const code of blockCodes) draft.put("verificationBlocks", { ...block, code })
    })
  }

  /** The cash in micro-USDC, equal in the service and in the second implementation. */
  get cash(): bigint {
    const cash = this.store.house.cash(1)
    assert.strictEqual(this.world.balance("USDC").cash, cash)
    return cash
  }

  /** The unrepaid amount that the house has paid for the client, micro-USDC. */
  get owesHouse(): bigint {
    const owed = this.store.house.unrepaid(1)
    const kept = this.store.rows("closeOuts").reduce((sum, { unrepaid }) => sum + unrepaid, 0n)
    assert.strictEqual(kept, owed)
    return owed
  }

  /** Postings without a decision: incoming money, and profits and losses of trading and of price jumps. */
  book(entry: "DEPOSIT" | "PNL", amount: bigint): void {
    const key = `${entry}:${++this.made}`
    const text = amount < 0n ? `-${formatAmount(-amount, "USDC")}` : formatAmount(amount, "USDC")
    this.world.turn((turn) =>
      applyEffects(turn, traderOf, [
        { type: "ledger.post", entry, key, currency: "USDC", amount: text, reason: null, refs: {} }
      ])
    )
  }

  /** Requests a withdrawal. Returns its id, or null if it is refused. */
  ask(amount: bigint): number | null {
    let id: number | null = null
    this.world.turn((turn) => {
      const client = clientOf(turn)
      const request = { partnerRef: `w-${++this.made}`, currency: "USDC", amount, destination: null } as const
      const verdict = fileWithdrawal({
        turn,
        client,
        partner,
        sealing: testSealing,
        request,
        balance: balanceOf(turn, client.id, client.partnerId, "USDC"),
        filed: null,
        threshold: 10n ** 17n,
        paused: false
      })
      id = verdict.ok ? verdict.value.requestId : null
    })
    return id
  }

  /** Rules on a withdrawal. Returns the refusal, or null. */
  rule(id: number, to: WithdrawalRuling["to"]): string | null {
    let sentence: string | null = null
    this.world.turn((turn) => {
      const row = turn.state.get("withdrawalRequests", String(id)) ?? assert.fail(`no request ${id}`)
      const ruling = { to, by: "FINANCE", reason: "so it is", paused: false } as unknown as WithdrawalRuling
      const verdict = ruleOnWithdrawal({ turn, client: clientOf(turn), partner, sealing: testSealing }, row, ruling)
      sentence = verdict.ok ? null : JSON.stringify(verdict.refusal)
    })
    return sentence
  }

  get requests() {
    return this.store.rows("withdrawalRequests")
  }

  /** Whether the withdrawal stands behind an unrepaid write-off, so that its money must not leave. */
  isBehind(id: number): boolean {
    return this.store.house.isBehind(1, `withdrawal ${id}`)
  }

  get loans() {
    return this.store.rows("swaps")
  }

  /** Sends a take to the venue. */
  lend(notional: bigint, reward: bigint, fee: bigint): void {
    if (this.cash < notional + fee) return
    const offer = { id: 5, symbol, rateBps: 400, tenorDays: 7 } as never
    const asked = { offer, market: stakingMarket(symbol), asset: "USDC", qty: "1" } as const
    const figures = { qty: "1", notional, reward, fee }
    this.world.turn(
      (turn) =>
        void takeSwap({ turn, of: traderOf }, clientOf(turn), { take: asked, figures, commissionRewardBps: rewardBps })
    )
  }

  /** Applies an event to a take or a swap. An event that its state does not accept changes nothing. */
  hear(id: number, event: SwapEvent): void {
    this.world.turn((turn) => {
      const row = this.loans.find((each) => each.id === id) ?? assert.fail(`no swap ${id}`)
      stepSwap({ turn, of: traderOf }, row, event)
    })
  }

  /** The venue reports an executed take, possibly after its release (D8). */
  took(id: number): void {
    const { context } = this.loans.find((each) => each.id === id) ?? assert.fail(`no swap ${id}`)
    const { notional, reward, rateBps, tenorDays } = context
    const ids = { contractId: 100 + id, tradeId: id }
    const times = { at: contractsNow, openedTs: contractsNow, maturityTs: contractsNow }
    this.hear(id, { type: "TOOK", ...ids, ...times, notional, reward, rateBps, tenorDays })
  }

  pays(id: number, amount: bigint): void {
    const paid = { at: contractsNow, paymentId: ++this.made, amount: formatAmount(amount, "USDC"), final: false }
    this.hear(id, { type: "PAID", ...paid })
  }
}

const clientOf = (turn: Turn) => turn.state.one("clients") ?? assert.fail("no client")
