/**
 * The balances of clients are linearizable over kill -9 of service and database: a history of at least 20,000
 * concurrent calls is proved, and each step took effect once and at one moment (architecture, Proof; SC-PLT-04). The
 * proof is in balanceHistory.ts; balanceHistory.test.ts checks that it fails on wrong histories.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { isDeep } from "../support/every.ts"
import { type Balance, type History, judgeHistory, type Read } from "./balanceHistory.ts"
import { BalanceWorkload } from "./BalanceWorkload.ts"
import { ledgerFaults } from "./crashRound.ts"
import { withCrashWorld } from "./CrashWorld.ts"
import { bounded, until } from "./patience.ts"
import { type Blow, killPointOf, restartToDieAt, strike } from "./strike.ts"

const seed = 77_031
const operations = isDeep ? 20_000 : 2_000
const allBlows: ReadonlyArray<Blow> = [
  "service",
  "database",
  "at:after-commit",
  "both",
  "at:before-commit",
  "service",
  "database"
]
const blows = isDeep ? allBlows : allBlows.slice(0, 1)

/**
 * Checks that the same history with a lost, a doubled and a stale last read is not proved. False: the history has no
 * read that could be lost.
 */
const assertDoctoredFails = (history: History): boolean => {
  const last = history.reads.at(-1) as Read
  const cashIn = (currency: string) => last.balances.get(currency)?.cash ?? 0n
  const told = (balances: Read["balances"]): History => ({
    ...history,
    reads: [...history.reads.slice(0, -1), { ...last, balances }]
  })
  // A step without an answer can't count as lost.
  const coin = history.coins.find(
    ({ currency, amount }, index) =>
      (cashIn(currency) & amount) !== 0n && history.steps.findLast((step) => step.coin === index)?.end !== Infinity
  )
  if (coin === undefined) return false
  const { currency, amount } = coin
  const balance = last.balances.get(currency) as Balance
  for (const cash of [balance.cash - amount, balance.cash + amount])
    assert.isNotEmpty(judgeHistory(told(new Map([...last.balances, [currency, { ...balance, cash }]]))).faults)
  const stale = history.reads.findLast(({ balances }) => ((balances.get(currency)?.cash ?? 0n) & amount) === 0n)
  assert.isNotEmpty(judgeHistory(told(stale?.balances ?? new Map())).faults)
  return true
}

describe("linearizable balances", () => {
  it.live(
    `SC-PLT-04: in spite of crashes, ${operations} concurrent calls of partners, finance and readers have one order`,
    () =>
      withCrashWorld({ seed, rate: 1, workers: 32 }, (world) =>
        Effect.gen(function* () {
          const workload = new BalanceWorkload({
            world,
            random: world.random.fork(),
            operations,
            clientsOfEach: 10,
            writers: 24,
            readers: 6
          })
          yield* bounded("the clients to be onboarded", workload.begin)
          const load = yield* Effect.forkChild(workload.work)
          const strikeAt = Effect.fnUntraced(function* (mark: number, blow: Blow) {
            yield* until(`${mark} calls`, () => workload.operations >= mark || load.pollUnsafe() !== undefined)
            const point = killPointOf(blow)
            const early = point === null ? [] : yield* restartToDieAt(world, point)
            const { faults } = yield* strike(world, blow, { outageMillis: 0 })
            assert.deepStrictEqual([...early, ...faults], [], `seed ${seed}, ${blow}`)
          })
          const apart = operations / (blows.length + 1)
          for (const [index, blow] of blows.entries()) yield* strikeAt((index + 1) * apart, blow)
          // One kill may hit no write that is sent only once; several kills in a row do.
          for (let more = 0; more < 8 && workload.givenUp === 0 && load.pollUnsafe() === undefined; more++)
            yield* strikeAt(workload.operations + 100, "service")
          yield* bounded("the last calls", Fiber.join(load))
          assert.deepStrictEqual(workload.contradictions, [], `seed ${seed}`)
          assert.strictEqual(workload.tally.serverErrors, 0)
          const judged = workload.histories.map(judgeHistory)
          assert.deepStrictEqual(
            judged.flatMap(({ faults }) => faults),
            [],
            `seed ${seed}`
          )
          assert.isAtLeast(workload.operations, operations)
          const count = (of: (history: History) => number) =>
            workload.histories.reduce((sum, history) => sum + of(history), 0)
          assert.isAbove(
            count(({ steps }) => steps.length),
            operations / 10
          )
          assert.isAbove(
            count(({ reads }) => reads.length),
            operations / 10
          )
          assert.isNotEmpty(workload.histories.filter(assertDoctoredFails))
          assert.isAbove(workload.givenUp, 0, "no outcome stayed unknown: the run proves less than it says")
          assert.deepStrictEqual(yield* ledgerFaults(world), [])
        })
      ),
    240_000
  )
})
