/**
 * The staking swaps that were open at the end of a period: taken, not yet paid in full, and not written off (F22,
 * STS-27).
 */
import { Effect } from "effect"
import { minorOf } from "../../../../machines/shared/Money.ts"
import type { SwapContext } from "../../../../machines/swap/Swap.ts"
import { expectedPayout } from "../../../../machines/swap/swapFigures.ts"
import { swapThen, type SwapThen } from "../../../../machines/swap/swapThen.ts"
import { swapEnds, swapsByIds } from "../../../store/reads/statementSwaps.ts"
import type { LentThen } from "./AccountReplay.ts"
import { type Building, pageRows, type Reading, reading } from "./Building.ts"

export interface Lent {
  readonly id: number
  readonly swap: SwapContext
  readonly stood: SwapThen
}

/**
 * The swaps that were open at the end of the period, by ascending id. `swaps`: what each had taken and been paid by then.
 */
export const swapsStanding = (
  { sql, period }: Pick<Building, "sql" | "period">,
  swaps: ReadonlyMap<number, LentThen>
): Reading<ReadonlyArray<Lent>> =>
  Effect.gen(function* () {
    const ids = [...swaps.keys()].toSorted((one, other) => one - other)
    const standing: Array<Lent> = []
    for (let from = 0; from < ids.length; from += pageRows) {
      const contexts = yield* reading(swapsByIds(sql, ids.slice(from, from + pageRows)))
      const unpaid = [...contexts].filter(([id, swap]) => (swaps.get(id)?.paid ?? 0n) < expected(swap))
      const ends = yield* reading(
        swapEnds(
          sql,
          unpaid.map(([id]) => id)
        )
      )
      for (const [id, swap] of unpaid) {
        const stood = swapThen(swap, swaps.get(id)?.paid ?? 0n, period.to)
        const isOver = (ends.get(id) ?? Infinity) < period.to
        if (!isOver && (stood.principal > 0n || stood.claim > 0n)) standing.push({ id, swap, stood })
      }
    }
    return standing.toSorted((one, other) => one.id - other.id)
  })

const expected = ({ asset, notional, reward }: SwapContext): bigint =>
  expectedPayout({ notional: minorOf(notional, asset), reward: minorOf(reward, asset) })
