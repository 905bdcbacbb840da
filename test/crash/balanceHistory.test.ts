/**
 * Tests the checker of histories: it proves the history of a correct account, and rejects each kind of manipulated
 * history (architecture, Proof: mutation check; SC-PLT-04).
 */
import { assert, describe, it } from "@effect/vitest"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import {
  type Balance,
  type Coin,
  type History,
  judgeHistory,
  type Place,
  type Read,
  type Step
} from "./balanceHistory.ts"

const coins: ReadonlyArray<Coin> = Array.from({ length: 80 }, (_, n) => ({
  currency: n < 40 ? "USDC" : "BTC",
  amount: 1n << BigInt(n % 40)
}))

type Draft = {
  readonly coins: ReadonlyArray<Coin>
  steps: Array<Step>
  reads: Array<Read>
  /** The coins in the order in which their last steps took effect. */
  readonly effects: Array<number>
}

const next = (place: Place, random: SeededRandom): Place =>
  place === "away" ? "cash" : place === "cash" ? "reserved" : random.chance(0.5) ? "cash" : "away"

/**
 * Simulates a correct account with `workers` concurrent callers. Each operation begins, takes effect at one moment and
 * ends, with other operations in between. A few never get an answer.
 */
const simulate = (seed: number, operations = 2_000): Draft => {
  const random = new SeededRandom(seed)
  const draft: Draft = { coins, steps: [], reads: [], effects: [] }
  const at: Array<Place> = coins.map(() => "away")
  const freeFrom = coins.map(() => 0)
  const dead = new Set<number>()
  const books = new Map<string, { cash: bigint; reserved: bigint }>([
    ["USDC", { cash: 0n, reserved: 0n }],
    ["BTC", { cash: 0n, reserved: 0n }]
  ])
  const openReads = new Map<number, { start: number; balances: ReadonlyMap<string, Balance> | null }>()
  const openSteps = new Map<number, { start: number; to: Place; done: boolean }>()
  let clock = 0
  let readNumber = 0
  const apply = (coin: number, to: Place): void => {
    const { currency, amount } = coins[coin] as Coin
    const book = books.get(currency) as { cash: bigint; reserved: bigint }
    const from = at[coin] as Place
    if (from !== "away") book[from] -= amount
    if (to !== "away") book[to] += amount
    at[coin] = to
    draft.effects.push(coin)
  }
  const snapshot = () => new Map([...books].map(([currency, book]) => [currency, { ...book }]))
  for (let n = 0; n < operations * 3; n++) {
    clock++
    const kind = random.between(0, 5)
    if (kind === 0 && openReads.size < 4) openReads.set(readNumber++, { start: clock, balances: null })
    else if (kind === 1 && openReads.size > 0) {
      const id = random.pick([...openReads.keys()])
      const open = openReads.get(id) as { start: number; balances: ReadonlyMap<string, Balance> | null }
      if (open.balances === null) open.balances = snapshot()
      else {
        openReads.delete(id)
        draft.reads.push({ start: open.start, end: clock, balances: open.balances })
      }
    } else if (kind <= 3 && openSteps.size < 8) {
      const coin = random.between(0, coins.length - 1)
      const oldest = Math.min(...openReads.keys(), readNumber)
      if (!openSteps.has(coin) && !dead.has(coin) && oldest >= (freeFrom[coin] as number))
        openSteps.set(coin, { start: clock, to: next(at[coin] as Place, random), done: false })
    } else if (openSteps.size > 0) {
      const coin = random.pick([...openSteps.keys()])
      const open = openSteps.get(coin) as { start: number; to: Place; done: boolean }
      if (!open.done && random.chance(0.98)) {
        apply(coin, open.to)
        open.done = true
      } else {
        const lost = !open.done || random.chance(0.01)
        openSteps.delete(coin)
        draft.steps.push({ coin, to: open.to, start: open.start, end: lost ? Infinity : clock })
        if (lost) dead.add(coin)
        freeFrom[coin] = readNumber
      }
    }
  }
  for (const [coin, { start, to }] of openSteps) draft.steps.push({ coin, to, start, end: Infinity })
  draft.reads.push({ start: ++clock, end: ++clock, balances: snapshot() })
  return draft
}

const withBalance = (read: Read, currency: string, change: (balance: Balance) => Balance): Read => ({
  ...read,
  balances: new Map([...read.balances].map(([name, balance]) => [name, name === currency ? change(balance) : balance]))
})
const seeds = [1, 2, 3, 4, 5, 6, 7, 8]
const faultsOf = (history: History) => judgeHistory(history).faults

/** The last read, and a coin that it found in cash. */
const lastWithCash = (history: Draft) => {
  const index = history.reads.length - 1
  const read = history.reads[index] as Read
  const coin = coins.findIndex(
    ({ currency, amount }) => currency === "USDC" && ((read.balances.get("USDC")?.cash ?? 0n) & amount) !== 0n
  )
  return { index, read, amount: (coins[coin] as Coin).amount }
}

describe("the checker of balance histories", () => {
  it.each(seeds)("proves the history of a correct account (seed %i)", (seed) => {
    const history = simulate(seed)
    assert.isAbove(history.steps.length, 200)
    assert.isAbove(history.reads.length, 100)
    assert.deepStrictEqual(faultsOf(history), [])
  })

  it.each(seeds)("finds a lost step: acknowledged, and not in a later read (seed %i)", (seed) => {
    const history = simulate(seed)
    const { index, read, amount } = lastWithCash(history)
    history.reads[index] = withBalance(read, "USDC", ({ cash, reserved }) => ({ cash: cash - amount, reserved }))
    assert.isNotEmpty(faultsOf(history))
  })

  it.each(seeds)("finds a doubled step: an amount is there twice (seed %i)", (seed) => {
    const history = simulate(seed)
    const { index, read, amount } = lastWithCash(history)
    history.reads[index] = withBalance(read, "USDC", ({ cash, reserved }) => ({ cash: cash + amount, reserved }))
    assert.isNotEmpty(faultsOf(history))
  })

  it.each(seeds)("finds a coin that is in cash and in the reserve (seed %i)", (seed) => {
    const history = simulate(seed)
    const { index, read, amount } = lastWithCash(history)
    history.reads[index] = withBalance(read, "USDC", ({ cash, reserved }) => ({ cash, reserved: reserved + amount }))
    assert.isNotEmpty(faultsOf(history))
  })

  it.each(seeds)("finds a stale read, which repeats an earlier one (seed %i)", (seed) => {
    const history = simulate(seed)
    const middle = history.reads[history.reads.length >> 1] as Read
    const last = history.reads.length - 1
    history.reads[last] = { ...(history.reads[last] as Read), balances: middle.balances }
    assert.isNotEmpty(faultsOf(history))
  })

  it.each(seeds)("finds a read that shows a step before it began (seed %i)", (seed) => {
    const history = simulate(seed)
    const last = history.reads.at(-1) as Read
    history.reads[0] = { ...(history.reads[0] as Read), balances: last.balances }
    assert.isNotEmpty(faultsOf(history))
  })

  it.each(seeds)("finds a step that was acknowledged and never happened (seed %i)", (seed) => {
    const history = simulate(seed)
    const coin = coins.findIndex((_, n) => history.steps.findLast((step) => step.coin === n)?.end !== Infinity)
    const place = history.steps.findLast((step) => step.coin === coin)?.to ?? "away"
    const clock = Math.max(...history.reads.map(({ end }) => end)) + 1
    history.steps.push({ coin, to: place === "cash" ? "reserved" : "cash", start: clock, end: clock + 1 })
    const balances = (history.reads.at(-1) as Read).balances
    history.reads.push({ start: clock + 2, end: clock + 3, balances })
    assert.isNotEmpty(faultsOf(history))
  })

  describe("small histories", () => {
    const two: ReadonlyArray<Coin> = [
      { currency: "USDC", amount: 1n },
      { currency: "USDC", amount: 2n }
    ]
    const cash = (amount: bigint) => new Map([["USDC", { cash: amount, reserved: 0n }]])
    const step = (coin: number, start: number, end: number): Step => ({ coin, to: "cash", start, end })
    const read = (start: number, end: number, amount: bigint): Read => ({ start, end, balances: cash(amount) })

    it("concurrent reads may not each lack the other's step", () => {
      const steps = [step(0, 1, 20), step(1, 2, 21)]
      assert.isNotEmpty(faultsOf({ coins: two, steps, reads: [read(3, 10, 1n), read(4, 11, 2n)] }))
      assert.isEmpty(faultsOf({ coins: two, steps, reads: [read(3, 10, 1n), read(4, 11, 3n)] }))
    })

    it("no read shows an earlier state than a previous one, even while the step is in flight", () => {
      const steps = [step(0, 1, 20)]
      assert.isNotEmpty(faultsOf({ coins: two, steps, reads: [read(2, 3, 1n), read(4, 5, 0n)] }))
      assert.isEmpty(faultsOf({ coins: two, steps, reads: [read(2, 3, 0n), read(4, 5, 1n)] }))
    })

    it("a read that shows a step also shows every step that had ended before it began", () => {
      const steps = [step(0, 2, 4), step(1, 5, 9)]
      assert.isNotEmpty(faultsOf({ coins: two, steps, reads: [read(1, 8, 2n)] }))
      assert.isEmpty(faultsOf({ coins: two, steps, reads: [read(1, 8, 1n)] }))
    })

    it("an unknown step happened once or never, and stays so", () => {
      const steps = [step(0, 1, Infinity)]
      assert.isEmpty(faultsOf({ coins: two, steps, reads: [read(2, 3, 0n), read(4, 5, 0n)] }))
      const late = judgeHistory({ coins: two, steps, reads: [read(2, 3, 0n), read(4, 5, 1n)] })
      assert.deepStrictEqual(late, { faults: [], settledLate: 1 })
      assert.isNotEmpty(faultsOf({ coins: two, steps, reads: [read(2, 3, 1n), read(4, 5, 0n)] }))
      assert.isNotEmpty(faultsOf({ coins: two, steps, reads: [read(2, 3, 1n), read(4, 5, 2n)] }))
    })

    it("the answer of a step shows the step", () => {
      const steps = [step(0, 1, 4)]
      assert.isNotEmpty(faultsOf({ coins: two, steps, reads: [{ ...read(1, 4, 0n), ownStep: 0 }] }))
      assert.isEmpty(faultsOf({ coins: two, steps, reads: [{ ...read(1, 4, 1n), ownStep: 0 }] }))
    })
  })
})
