/** The equity of an account at a moment of the past, from its holdings of that time (F4, F16, STS-28). */
import { pnlAt } from "../contract/contractFigures.ts"
import type { ContractContext } from "../contract/Contract.ts"
import { type PerpPosition, unrealizedOf } from "../margin/perpetual.ts"
import { usdcMinor } from "../shared/Money.ts"

/** The mark prices of one past moment by symbol; a symbol without a known mark is absent. */
export type MarksThen = ReadonlyMap<string, string>

export interface EquityParts {
  /** USDC cash at that moment, micro-USDC. */
  readonly cash: bigint
  readonly positions: Iterable<Pick<PerpPosition, "symbol" | "netQty" | "avgEntry">>
  readonly contracts: Iterable<ContractContext>
}

/** An account's equity, and the number of holdings without a value. */
export interface EquityThen {
  /** Micro-USDC. */
  readonly equity: bigint
  /** The number of positions and contracts without a mark, which count as zero. */
  readonly unvalued: number
}

/**
 * Cash plus the unrealized PnL of positions and contracts at these marks. An item without a mark counts as zero; `unvalued`
 * is the number of such items.
 */
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

/** The unrealized PnL of an open contract at a mark, micro-USDC. */
export const unrealizedOfContract = (context: ContractContext, mark: string): bigint =>
  pnlAt(
    {
      ...context,
      premium: usdcMinor(context.premium),
      potentialProfit: context.potentialProfit === null ? null : usdcMinor(context.potentialProfit)
    },
    mark
  )
