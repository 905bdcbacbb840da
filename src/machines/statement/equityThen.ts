/** What an account was worth at a moment of the past, out of what it held then (F4, F16, STS-28). */
import { pnlAt } from "../barrier/barrierFigures.ts"
import type { BarrierContractContext } from "../barrier/BarrierContract.ts"
import { type PerpPosition, unrealizedOf } from "../margin/perpetual.ts"
import { usdcMinor } from "../shared/Money.ts"

/** Marks of a moment, by symbol. */
export type MarksThen = ReadonlyMap<string, string>

/** What an account's equity is made of. */
export interface EquityParts {
  /** Micro-USDC. */
  readonly cash: bigint
  readonly positions: Iterable<Pick<PerpPosition, "symbol" | "netQty" | "avgEntry">>
  readonly contracts: Iterable<BarrierContractContext>
}

/** What an account was worth, and how much of it nobody could value. */
export interface EquityThen {
  /** Micro-USDC. */
  readonly equity: bigint
  /** Positions and contracts without a mark: they count nothing in it. */
  readonly unvalued: number
}

/** Cash and what positions and contracts have gained at these marks; one without a mark counts nothing, and is counted. */
export const equityOf = ({ cash, positions, contracts }: EquityParts, marks: MarksThen): EquityThen => {
  let equity = cash
  let unvalued = 0
  for (const position of positions) {
    const mark = marks.get(position.symbol)
    if (mark === undefined) unvalued++
    else equity += unrealizedOf(position, mark)
  }
  for (const contract of contracts) {
    const mark = marks.get(contract.symbol)
    if (mark === undefined) unvalued++
    else equity += unrealizedOfContract(contract, mark)
  }
  return { equity, unvalued }
}

/** What an open contract has gained at a mark. Micro-USDC. */
export const unrealizedOfContract = (context: BarrierContractContext, mark: string): bigint =>
  pnlAt(
    {
      ...context,
      premium: usdcMinor(context.premium),
      potentialProfit: context.potentialProfit === null ? null : usdcMinor(context.potentialProfit)
    },
    mark
  )
