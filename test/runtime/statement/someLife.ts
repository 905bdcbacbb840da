/** Random lives for statements, from one winter day to more than a year. */
import * as fc from "fast-check"
import { textOf } from "../../fixtures/naiveAccount.ts"
import type { NaiveLoan } from "../../fixtures/naiveStatements.ts"
import { fraction } from "../../fixtures/naiveTrading.ts"
import { gold, perp } from "../order/leverageTurns.ts"
import { spot } from "../order/TradingWorld.ts"
import { dayMillis, type Held, knockOut, StatedLife } from "./StatementLife.ts"

type Step = (life: StatedLife) => void

const pick = fc.nat()
const tenths = (units: number): string => (units / 10).toFixed(1)
const someSide = fc.constantFrom("BUY" as const, "SELL" as const)
const someAsset = fc.constantFrom<Held>("USDC", "BTC")
const micro = (most: number) => fc.integer({ min: 1, max: most }).map(BigInt)

const loanIn = (life: StatedLife, at: number, ...states: ReadonlyArray<NaiveLoan["state"]>): NaiveLoan | undefined => {
  const found = life.loans.all.filter(({ state }) => states.includes(state))
  return found[at % Math.max(1, found.length)]
}

const mark = fc
  .record({
    symbol: fc.constantFrom(perp, spot, spot, gold, knockOut),
    level: fc.integer({ min: 400_000, max: 800_000 })
  })
  .map(
    ({ symbol, level }): Step =>
      (life) =>
        life.mark(symbol, tenths(symbol === gold ? Math.floor(level / 15) : level))
  )

const deposit = fc.record({ asset: someAsset, amount: micro(2 ** 31) }).map(
  ({ asset, amount }): Step =>
    (life) =>
      life.deposit(asset, asset === "BTC" ? amount % 300_000_000n || 1n : amount)
)

const withdraw = fc.record({ asset: someAsset, amount: micro(90_000_000) }).map(
  ({ asset, amount }): Step =>
    (life) =>
      life.withdraw(asset, amount)
)

const fund = fc.record({ amount: fc.integer({ min: -9_000_000, max: 9_000_000 }) }).map(
  ({ amount }): Step =>
    (life) =>
      life.fund(perp, BigInt(amount))
)

const placesOf = (symbol: string): number => (symbol === spot ? 6 : 4)

const fillOf = (life: StatedLife, id: number, share: number, better: number): void => {
  const order = life.naive.orders.get(id)
  if (order === undefined) return
  const left = order.qty.minus(order.filled)
  const places = placesOf(order.symbol)
  const units = left.times(fraction(share)).by(fraction(10)).ceil(places)
  const qty = left.min(fraction(units).by(fraction(10 ** places)))
  const price = fraction(order.price ?? "0").plus(fraction(order.side === "BUY" ? -better : better))
  life.fill(id, textOf(qty, places), textOf(price, 1))
}

/** An order at some price, of which a part trades at once. */
const trade = fc
  .record({
    symbol: fc.constantFrom(perp, gold, spot, spot, spot),
    side: someSide,
    lots: fc.integer({ min: 1, max: 15_000 }),
    share: fc.integer({ min: 0, max: 12 }),
    better: fc.nat(50)
  })
  .map(({ symbol, side, lots, share, better }): Step => (life) => {
    const before = new Set(life.naive.orders.keys())
    const held = life.naive.cash["BTC"] ?? 0n
    const places = placesOf(symbol)
    const wanted = symbol === spot ? lots * 100 - (lots % 97) : lots
    const most = symbol === spot && side === "SELL" ? Number(held / 100n) : wanted
    if (most === 0) return
    life.place(
      symbol,
      side,
      (Math.min(wanted, most) / 10 ** places).toFixed(places),
      textOf(life.naive.mark(symbol), 1)
    )
    const id = [...life.naive.orders.keys()].find((each) => !before.has(each))
    if (id !== undefined && share > 0) fillOf(life, id, Math.min(share, 10), better)
  })

const fill = fc
  .record({ at: pick, share: fc.integer({ min: 1, max: 12 }), better: fc.nat(50) })
  .map(({ at, share, better }): Step => (life) => {
    const ids = [...life.naive.orders.keys()]
    const id = ids[at % Math.max(1, ids.length)]
    if (id !== undefined) fillOf(life, id, Math.min(share, 10), better)
  })

const end = pick.map((at): Step => (life) => {
  const ids = [...life.naive.orders.keys()]
  const id = ids[at % Math.max(1, ids.length)]
  if (id !== undefined) life.end(id)
})

const lend = fc
  .record({
    asset: someAsset,
    notional: micro(50_000_000),
    reward: fc.bigInt({ min: 0n, max: 900_000n }),
    fee: fc.bigInt({ min: 0n, max: 50_000n }),
    isTaken: fc.integer({ min: 0, max: 5 }).map((n) => n > 0)
  })
  .map(
    ({ asset, notional, reward, fee, isTaken }): Step =>
      (life) =>
        life.lend(asset, notional, reward, fee, isTaken)
  )

const pay = fc
  .record({ at: pick, share: fc.integer({ min: 1, max: 1_200 }), late: fc.constantFrom(0, 1_000, 2 * dayMillis) })
  .map(({ at, share, late }): Step => (life) => {
    const loan = loanIn(life, at, "OPEN", "DEFAULTED", "ENDED")
    if (loan === undefined) return
    const amount = ((loan.notional + loan.reward) * BigInt(share)) / 1_000n
    if (amount > 0n) life.pay(loan, amount, late)
  })

const payAll = pick.map((at): Step => (life) => {
  const loan = loanIn(life, at, "OPEN", "DEFAULTED")
  const left = loan === undefined ? 0n : life.loans.owed(loan)
  if (loan !== undefined && left > 0n) life.pay(loan, left, 0)
})

const fallShort = pick.map((at): Step => (life) => {
  const loan = loanIn(life, at, "OPEN")
  if (loan !== undefined) life.fallShort(loan)
})

const writeOff = fc.record({ at: pick, share: fc.constantFrom(2n, 5n, 10n) }).map(({ at, share }): Step => (life) => {
  const loan = loanIn(life, at, "DEFAULTED")
  if (loan !== undefined) life.writeOff(loan, (life.loans.owed(loan) * share) / 10n)
})

const delist = pick.map((at): Step => (life) => {
  const loan = loanIn(life, at, "OPEN", "DEFAULTED")
  if (loan !== undefined && at % 3 === 0) life.delist(loan)
})

const open = fc
  .record({ side: someSide, lots: fc.integer({ min: 1, max: 300 }), spread: fc.integer({ min: -300, max: 300 }) })
  .map(
    ({ side, lots, spread }): Step =>
      (life) =>
        life.open(side, (lots / 100).toFixed(2), spread)
  )

const settle = fc
  .record({ at: pick, pnl: fc.integer({ min: -5_000_000, max: 5_000_000 }) })
  .map(({ at, pnl }): Step => (life) => {
    const ids = [...life.contracts.keys()]
    const id = ids[at % Math.max(1, ids.length)]
    if (id !== undefined) life.settle(id, at % 5 === 0 ? 0n : BigInt(pnl))
  })

const step = fc.oneof(
  { weight: 4, arbitrary: mark },
  { weight: 2, arbitrary: deposit },
  { weight: 1, arbitrary: withdraw },
  { weight: 2, arbitrary: fund },
  { weight: 9, arbitrary: trade },
  { weight: 4, arbitrary: fill },
  { weight: 1, arbitrary: end },
  { weight: 4, arbitrary: lend },
  { weight: 4, arbitrary: pay },
  { weight: 2, arbitrary: payAll },
  { weight: 3, arbitrary: fallShort },
  { weight: 3, arbitrary: writeOff },
  { weight: 1, arbitrary: delist },
  { weight: 2, arbitrary: open },
  { weight: 2, arbitrary: settle }
)

/** Mostly parts of a day, often hours, sometimes weeks; never zero, so that a cut between two steps is certain. */
const gap = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: dayMillis / 4 }) },
  { weight: 3, arbitrary: fc.integer({ min: dayMillis / 4, max: 3 * dayMillis }) },
  { weight: 2, arbitrary: fc.integer({ min: dayMillis, max: 20 * dayMillis }) }
)

/** Begins on 10 January 2024 at noon, and is checked when both tax years and their 30 days have passed. */
const begins = Date.UTC(2024, 0, 10, 12)
const looked = Date.UTC(2025, 5, 1)

export const someLife: fc.Arbitrary<StatedLife> = fc
  .array(fc.tuple(step, gap), { minLength: 90, maxLength: 150 })
  .map((steps) => {
    const life = new StatedLife(begins)
    for (const [take, millis] of steps) {
      if (life.now + millis >= looked) break
      life.pass(millis)
      take(life)
    }
    life.pass(Math.max(1, looked - life.now))
    return life
  })
