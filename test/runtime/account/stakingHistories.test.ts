/**
 * Whole lives of swaps over random histories of payments, defaults, write-offs, delistings, late finds and marks: the
 * account's figures equal those of a second implementation by the definitions, to the last unit (A2-59, F22, F23,
 * STS-6, STS-9 to STS-12).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { formatAmount, usdcMinor } from "../../../src/machines/shared/Money.ts"
import { overdueMillis, type SwapEvent } from "../../../src/machines/swap/Swap.ts"
import { applyEffects } from "../../../src/runtime/effects/Interpreter.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import { MemoryStore } from "../../../src/runtime/engine/journal/MemoryStore.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { balancesIn, overviewIn } from "../../../src/runtime/services/account/StandingPortfolio.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import { stepSwap, takeSwap } from "../../../src/runtime/services/trading/swap/swapDecisions.ts"
import { swapTimers } from "../../../src/runtime/services/trading/swap/swapEvents.ts"
import type { VenueLink } from "../../../src/runtime/services/venue/VenueLink.ts"
import type { SwapRow } from "../../../src/runtime/tables/swap.ts"
import { contractsNow, factsWith } from "../../fixtures/contracts.ts"
import { Fraction, fraction } from "../../fixtures/naiveTrading.ts"
import { stakingMarket } from "../../support/ScriptedVenue.ts"
import { takeTurn } from "../../support/takeTurn.ts"
import { clients, view } from "../rfq/rfqTurns.ts"

const scales = { ETH: 8, USDC: 6 } as const
type Asset = keyof typeof scales
const of = instanceOf(clients, view)
const by = { role: "TRADE", keyLabel: "t", requestId: "t", actor: "partner:ACM" }
const bps = 1_000

interface Swap {
  readonly id: number
  readonly asset: Asset
  readonly notional: bigint
  readonly reward: bigint
  readonly fee: bigint
  state: "ACCEPTING" | "REJECTED" | "OPEN" | "DEFAULTED" | "ENDED"
  closed: boolean
  taken: boolean
  paid: bigint
  writtenOff: bigint
  charged: bigint
}

const atLeastZero = (figure: bigint): bigint => (figure > 0n ? figure : 0n)
const left = ({ notional, reward, paid, writtenOff }: Swap): bigint =>
  atLeastZero(notional + reward - paid - writtenOff)
const received = ({ notional, reward, paid }: Swap): bigint => {
  const beyond = atLeastZero(paid - notional)
  return beyond < reward ? beyond : reward
}

/** The account and its swaps by their definitions. */
class Naive {
  readonly cash: Record<Asset, bigint> = { ETH: 0n, USDC: 0n }
  readonly reserved: Record<Asset, bigint> = { ETH: 0n, USDC: 0n }
  readonly swaps: Array<Swap> = []
  mark: string | null = null
  staking = 0n
  commission = 0n

  /** Micro-USDC; null: unknown. */
  worth(asset: Asset, minor: bigint): bigint | null {
    const mark = asset === "USDC" ? "1" : this.mark
    return mark === null ? null : new Fraction(minor, 10n ** BigInt(scales[asset])).times(fraction(mark)).floor(6)
  }

  pay(swap: Swap, amount: bigint): void {
    const before = received(swap)
    swap.paid += amount
    swap.writtenOff = atLeastZero(swap.writtenOff - amount)
    this.cash[swap.asset] += amount
    this.staking += this.worth(swap.asset, received(swap) - before) ?? 0n
    const isComplete = swap.writtenOff === 0n && left(swap) === 0n
    if ((swap.state === "OPEN" || swap.state === "DEFAULTED") && isComplete) this.end(swap)
    else if (swap.closed) this.charge(swap)
  }

  end(swap: Swap): void {
    swap.state = "ENDED"
    swap.closed = true
    this.charge(swap)
  }

  charge(swap: Swap): void {
    const due = (received(swap) * BigInt(bps)) / 10_000n - swap.charged
    if (due <= 0n) return
    swap.charged += due
    this.cash[swap.asset] -= due
    this.commission -= this.worth(swap.asset, -due) ?? 0n
  }

  writeOff(swap: Swap, amount: bigint): void {
    const isWhole = amount === left(swap)
    swap.writtenOff += amount
    if (!isWhole) return
    swap.closed = true
    this.charge(swap)
  }

  take(swap: Swap, held: boolean): void {
    const cost = swap.notional + swap.fee
    if (held) this.reserved[swap.asset] -= cost
    else this.cash[swap.asset] -= cost
    swap.state = "OPEN"
    swap.taken = true
  }

  sum(asset: Asset, state: Swap["state"], figure: (swap: Swap) => bigint): bigint {
    return this.swaps
      .filter((swap) => swap.asset === asset && swap.state === state)
      .reduce((total, swap) => total + figure(swap), 0n)
  }
}

class World {
  readonly store = new MemoryStore()
  readonly state = new SubjectState("client:1", { token: null, rows: [] })
  readonly naive = new Naive()
  private ids = 0

  constructor() {
    this.turn((turn) => {
      turn.draft.put("partners", { ...view.row, epoch: 1 })
      turn.draft.put("clients", clients)
    })
    for (const currency of ["ETH", "USDC"] as const) {
      const amount = 10n ** BigInt(scales[currency]) * 1_000n
      this.naive.cash[currency] += amount
      const posting = { entry: "DEPOSIT", key: `d:${currency}`, currency, reason: null, refs: {} } as const
      this.turn((turn) =>
        applyEffects(turn, of, [{ type: "ledger.post", ...posting, amount: formatAmount(amount, currency) }])
      )
    }
  }

  get facts() {
    return factsWith(this.naive.mark === null ? {} : { "ETH-USDC": { price: this.naive.mark } })
  }

  turn(decide: (turn: Turn) => void): void {
    const { store, state, facts } = this
    const nextId = () => ++this.ids
    takeTurn(
      { store, state, subject: "client:1", given: () => ({ now: contractsNow + this.ids, facts, by, nextId }) },
      decide
    )
  }

  ask(asset: Asset, notional: bigint, reward: bigint, fee: bigint): void {
    const { naive } = this
    if (naive.cash[asset] < notional + fee) return
    const offer = { id: 5, symbol: `${asset}-SWAP`, rateBps: 400, tenorDays: 7 } as never
    let id = 0
    this.turn((turn) => {
      const asked = { offer, market: stakingMarket(`${asset}-SWAP`), asset, qty: "1" }
      id = takeSwap({ turn, of }, clients, {
        take: asked,
        figures: { qty: "1", notional, reward, fee },
        commissionRewardBps: bps
      }).id
    })
    naive.cash[asset] -= notional + fee
    naive.reserved[asset] += notional + fee
    const fresh = { closed: false, taken: false, paid: 0n, writtenOff: 0n, charged: 0n }
    naive.swaps.push({ id, asset, notional, reward, fee, state: "ACCEPTING", ...fresh })
  }

  step({ id }: Swap, event: SwapEvent): void {
    const row = this.store.rows("swaps").find((each) => each.id === id) ?? assert.fail(`no swap ${id}`)
    this.turn((turn) => assert.isNotNull(stepSwap({ turn, of }, row, event), event.type))
  }

  took(swap: Swap, held: boolean): void {
    const { id, asset, notional, reward } = swap
    const terms = {
      notional: formatAmount(notional, asset),
      reward: formatAmount(reward, asset),
      rateBps: 400,
      tenorDays: 7
    }
    this.step(swap, {
      type: "TOOK",
      at: contractsNow,
      contractId: 100 + id,
      tradeId: id,
      ...terms,
      openedTs: contractsNow,
      maturityTs: contractsNow + 1
    })
    this.naive.take(swap, held)
  }

  pay(swap: Swap, amount: bigint): void {
    this.step(swap, {
      type: "PAID",
      at: contractsNow,
      paymentId: ++this.ids,
      amount: formatAmount(amount, swap.asset),
      final: false
    })
    this.naive.pay(swap, amount)
  }
}

type Step = (world: World) => void
const someSwap = (world: World, pick: number, ...states: ReadonlyArray<Swap["state"]>): Swap | undefined => {
  const found = world.naive.swaps.filter(({ state }) => states.includes(state))
  return found[pick % Math.max(1, found.length)]
}
const pick = fc.nat()

const steps: ReadonlyArray<fc.Arbitrary<Step>> = [
  fc.option(fc.integer({ min: 1, max: 60_000 }), { freq: 8 }).map(
    (tenths): Step =>
      // After the first mark there is always a last mark.
      ({ naive }) =>
        void (naive.mark = tenths === null ? naive.mark : (tenths / 10).toFixed(1))
  ),
  fc
    .record({
      asset: fc.constantFrom("ETH" as const, "USDC" as const),
      notional: fc.bigInt({ min: 1n, max: 10n ** 9n }),
      reward: fc.bigInt({ min: 0n, max: 10n ** 6n }),
      fee: fc.bigInt({ min: 0n, max: 10n ** 5n })
    })
    .map(
      ({ asset, notional, reward, fee }): Step =>
        (world) =>
          world.ask(asset, notional, reward, fee)
    ),
  pick.map((at): Step => (world) => {
    const swap = someSwap(world, at, "ACCEPTING")
    if (swap !== undefined) world.took(swap, true)
  }),
  pick.map((at): Step => (world) => {
    const swap = someSwap(world, at, "ACCEPTING")
    if (swap === undefined || at % 3 !== 0) return
    world.step(swap, { type: "REFUSED", at: contractsNow, reason: "no" })
    world.naive.cash[swap.asset] += swap.notional + swap.fee
    world.naive.reserved[swap.asset] -= swap.notional + swap.fee
    swap.state = "REJECTED"
  }),
  pick.map((at): Step => (world) => {
    const swap = someSwap(world, at, "REJECTED")
    if (swap !== undefined && swap.notional + swap.fee <= world.naive.cash[swap.asset]) world.took(swap, false)
  }),
  ...[1, 2].map(() =>
    fc.record({ at: pick, share: fc.integer({ min: 1, max: 1_100 }) }).map(({ at, share }): Step => (world) => {
      const swap = someSwap(world, at, "OPEN", "DEFAULTED", "ENDED")
      if (swap === undefined) return
      const amount = ((swap.notional + swap.reward) * BigInt(share)) / 1_000n
      if (amount > 0n) world.pay(swap, amount)
    })
  ),
  fc.record({ at: pick, more: fc.bigInt({ min: -2n, max: 2n }) }).map(({ at, more }): Step => (world) => {
    const swap = someSwap(world, at, "OPEN", "DEFAULTED")
    if (swap !== undefined && left(swap) + more > 0n) world.pay(swap, left(swap) + more)
  }),
  pick.map((at): Step => (world) => {
    const swap = someSwap(world, at, "OPEN")
    if (swap === undefined) return
    world.step(swap, { type: "OVERDUE", at: contractsNow + 4_000_000 })
    swap.state = "DEFAULTED"
  }),
  fc.record({ at: pick, share: fc.constantFrom(3n, 10n, 10n) }).map(({ at, share }): Step => (world) => {
    const swap = someSwap(world, at, "DEFAULTED")
    const amount = swap === undefined ? 0n : (left(swap) * share) / 10n
    if (swap === undefined || amount === 0n) return
    world.step(swap, { type: "WRITE_OFF", at: contractsNow, amount: formatAmount(amount, swap.asset), reason: "gone" })
    world.naive.writeOff(swap, amount)
  }),
  pick.map((at): Step => (world) => {
    const swap = someSwap(world, at, "OPEN", "DEFAULTED")
    if (swap === undefined || at % 4 !== 0) return
    world.step(swap, { type: "DELISTED", at: contractsNow })
    world.naive.end(swap)
  })
]

const usdc = (minor: bigint | null) => (minor === null ? null : formatAmount(minor, "USDC"))

const compare = ({ state, facts, naive }: World): void => {
  const { balances, portfolio, portfolioValue } = balancesIn(state, facts)
  const overview = overviewIn(state, facts)
  let all = naive.cash.USDC + naive.reserved.USDC
  for (const asset of ["ETH", "USDC"] as const) {
    const text = (minor: bigint) => formatAmount(minor, asset)
    const staked = naive.sum(asset, "OPEN", ({ notional, paid }) => atLeastZero(notional - paid))
    const claims = naive.sum(asset, "DEFAULTED", left)
    const worth = (minor: bigint) => (minor === 0n ? 0n : naive.worth(asset, minor))
    const line = balances.find(({ currency }) => currency === asset)
    assert.deepInclude(line, {
      cash: text(naive.cash[asset]),
      reserved: text(naive.reserved[asset]),
      staked: text(staked),
      swapClaims: text(claims),
      stakedValue: usdc(worth(staked)),
      claimsValue: usdc(worth(claims))
    })
    const count = naive.swaps.filter(
      (swap) => swap.asset === asset && (swap.state === "OPEN" || (swap.state === "DEFAULTED" && left(swap) > 0n))
    ).length
    assert.strictEqual(overview.staked.find((row) => row.asset === asset)?.swaps ?? 0, count)
    // Money that may still return is counted, however many swaps there are (F2).
    const onItsWay = naive.sum(asset, "ACCEPTING", ({ reward }) => reward)
    assert.strictEqual(state.returning(asset), onItsWay + naive.sum(asset, "OPEN", left) + claims)
    all += worth(staked) ?? 0n
    if (asset === "ETH") all += worth(naive.cash.ETH + naive.reserved.ETH) ?? 0n
  }
  assert.strictEqual(portfolioValue, usdc(all))
  const { cashTotal, reserved, holdingsValue, stakedValue, unrealizedPnl } = portfolio
  const parts = [cashTotal, reserved, holdingsValue, stakedValue, unrealizedPnl]
  assert.strictEqual(
    usdcMinor(portfolioValue),
    parts.reduce((sum, part) => sum + usdcMinor(part), 0n)
  )
  const closed = naive.swaps.filter((swap) => swap.closed)
  assert.deepStrictEqual(
    [overview.realized.staking, overview.commission.staking, overview.counts.swapTakes, overview.wins, overview.losses],
    [
      usdc(naive.staking),
      usdc(naive.commission),
      naive.swaps.filter(({ taken }) => taken).length,
      closed.filter(({ paid, notional }) => paid > notional).length,
      closed.filter(({ paid, notional }) => paid < notional).length
    ]
  )
}

/** The event log has every transition of every swap once, each from the previous state, and nothing else (EVT-2). */
const checkLog = ({ store }: World): void => {
  const moves = store.rows("events").filter(({ name }) => name === "state.changed")
  for (const { id, state, partnerId, clientId } of store.rows("swaps")) {
    const own = moves.filter(({ data }) => data["machine"] === "swap" && data["id"] === id)
    let at: unknown = null
    for (const { data, ...entry } of own) {
      assert.deepStrictEqual(data, { machine: "swap", id, from: at as never, to: data["to"] as never })
      assert.notStrictEqual(data["to"], at)
      assert.deepInclude(entry, { partnerId, clientId })
      at = data["to"]
    }
    assert.strictEqual(at, state)
  }
  assert.isEmpty(store.rows("webhookDeliveries"))
}

describe("an independent computation of swaps in the account's figures", () => {
  it("agrees after every step of any history", { timeout: 120_000 }, () => {
    const seen = { ended: 0, claimed: 0, lost: 0, unvalued: 0, found: 0 }
    fc.assert(
      fc.property(fc.array(fc.oneof(...steps), { minLength: 20, maxLength: 60 }), (taken) => {
        const world = new World()
        for (const step of taken) {
          step(world)
          compare(world)
          const { swaps, mark } = world.naive
          seen.ended += swaps.filter(({ state }) => state === "ENDED").length
          seen.claimed += swaps.filter((swap) => swap.state === "DEFAULTED" && left(swap) > 0n).length
          seen.lost += swaps.filter((swap) => swap.closed && swap.paid < swap.notional).length
          if (mark === null && swaps.some(({ state }) => state === "OPEN")) seen.unvalued++
        }
        seen.found += world.store.rows("audit").filter(({ action }) => action === "swap.found").length
        // The holdings equal the postings, and each fee was charged once.
        const sums = world.store.rows("postings").filter(({ clientId }) => clientId !== null)
        for (const asset of ["ETH", "USDC"] as const) {
          const own = sums.filter(({ currency }) => currency === asset)
          const held = own.reduce((sum, { amount }) => sum + amount, 0n)
          assert.strictEqual(held, world.naive.cash[asset] + world.naive.reserved[asset])
        }
        checkLog(world)
      }),
      { numRuns: 80, seed: 17 }
    )
    for (const [what, times] of Object.entries(seen)) assert.isAbove(times, 10, what)
  })
})

describe("A2-59: an overdue swap while events of the venue are outstanding", () => {
  it("is checked again after growing pauses while no event is applied, and is in default once all earlier events are applied", () => {
    const maturityTs = contractsNow
    const link = { takenTo: maturityTs }
    const timers = swapTimers({ state: () => link } as Partial<VenueLink["Service"]> as VenueLink["Service"])
    const row = { id: 7, clientId: 1, state: "OPEN", context: { maturityTs } } as unknown as SwapRow
    const state = new SubjectState("client:1", { token: 1, rows: [] })
    /** The pause after a check at this moment, ms. */
    const pause = (now: number): number => {
      const draft = new CommitBuilder()
      draft.put("swaps", row)
      const turn: Turn = { now, state, facts: factsWith({}), draft, by, nextId: () => 1 }
      timers["swap.overdue"](turn, now, "7")
      const again = draft.written("timers").find(({ name }) => name === "swap.overdue:7")
      return (again?.dueAt ?? assert.fail("it is not checked again")) - now
    }
    let now = maturityTs + overdueMillis
    const pauses: Array<number> = []
    for (let checks = 0; checks < 200; checks++) {
      pauses.push(pause(now))
      now += pauses.at(-1) ?? 0
    }
    assert.deepStrictEqual(pauses.slice(0, 5), [5_000, 5_000, 10_000, 20_000, 40_000])
    assert.deepStrictEqual([...new Set(pauses.slice(8))], [600_000])
    // The pause of another swap is as long. Once an event is processed, the pauses begin again.
    assert.strictEqual(pause(now + 1), 600_000)
    link.takenTo = maturityTs + 1
    assert.strictEqual(pause(now + 2), 5_000)
  })
})
