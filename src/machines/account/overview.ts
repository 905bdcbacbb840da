/**
 * GET .../account/overview from one state of an account: the lines of its balances, the stored totals and the cost of its lots
 * (doc 2, Other account reads; A2-61, F21, F23, STS-12).
 */
import type { AccountRisk } from "../margin/accountRisk.ts"
import type { SpotLot } from "../order/spotLots.ts"
import type { Currency } from "../shared/Currency.ts"
import { decimalText, formatAmount, MoneyDecimal, toDecimal } from "../shared/Money.ts"
import { type AccountTotals, commissionTotal, realizedTotal } from "./accountTotals.ts"
import type { AccountOverviewWire, HoldingWire, StakedWire } from "./AccountWire.ts"
import type { Portfolio, PortfolioLine } from "./portfolio.ts"
import type { StakedAsset } from "./stakedSwaps.ts"

export interface OverviewState {
  readonly portfolio: Portfolio
  readonly staked: ReadonlyMap<Currency, StakedAsset>
  readonly risk: AccountRisk
  readonly totals: AccountTotals
  /** The net of all funding postings, micro-USDC, positive when the client received more than it paid. */
  readonly funding: bigint
  readonly lots: ReadonlyArray<Lot>
  readonly level: AccountOverviewWire["verificationLevel"]
}

type Lot = Pick<SpotLot, "qty" | "cost" | "commission"> & { readonly asset: string }

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")
const usdcOrNull = (minor: bigint | null): string | null => (minor === null ? null : usdc(minor))

/** The account overview of a client; the caller adds its time. */
export const overviewOf = (state: OverviewState): Omit<AccountOverviewWire, "asOf"> => {
  const { portfolio, risk, totals, funding } = state
  const { fillsPnl, spotPnl, barrierPnl, stakingPnl, fills, contracts, swapTakes, wins, losses } = totals
  return {
    currency: "USDC",
    equity: usdc(risk.equity),
    cash: usdc(portfolio.cashTotal),
    freeMargin: usdc(risk.freeMargin),
    initialMargin: usdc(risk.initialMargin),
    unrealizedPnl: usdc(portfolio.unrealizedPnl),
    holdings: holdingsOf(state),
    staked: portfolio.lines.flatMap((line) => stakedOf(line, state.staked.get(line.currency))),
    realized: {
      fills: usdc(fillsPnl),
      spot: usdc(spotPnl),
      barrier: usdc(barrierPnl),
      staking: usdc(stakingPnl),
      funding: usdc(funding),
      total: usdc(realizedTotal(totals))
    },
    commission: {
      fills: usdc(totals.fillsCommission),
      barrier: usdc(totals.barrierCommission),
      staking: usdc(totals.stakingCommission),
      total: usdc(commissionTotal(totals))
    },
    counts: { fills, barrierContracts: contracts, swapTakes },
    wins,
    losses,
    allocation: allocationOf(portfolio),
    verificationLevel: state.level
  }
}

const holdingsOf = ({ portfolio, lots }: OverviewState): ReadonlyArray<HoldingWire> => {
  const byAsset = Map.groupBy(lots, ({ asset }) => asset)
  return portfolio.lines.flatMap((line) => {
    const { currency, cash, reserved, value } = line
    const qty = cash + reserved
    if (currency === "USDC" || qty === 0n) return []
    const cost = costOf({ qty, value }, byAsset.get(currency) ?? [])
    return [
      {
        asset: currency,
        qty: formatAmount(qty, currency),
        avgCost: cost === null ? null : decimalText(toDecimal(cost, "USDC").div(toDecimal(qty, currency)), 6, halfUp),
        cost: usdcOrNull(cost),
        value: usdcOrNull(value),
        unrealizedPnl: usdcOrNull(value === null || cost === null ? null : value - cost)
      }
    ]
  })
}

const halfUp = MoneyDecimal.ROUND_HALF_UP
const halfEven = MoneyDecimal.ROUND_HALF_EVEN

/**
 * The cost of a quantity, micro-USDC, commission included. Lots also cover lent assets, so they may exceed the quantity; the
 * cost is then the quantity's share. Null when part of the quantity has no lot, or a lot has no known value. A part worth
 * less than a micro-USDC costs zero.
 */
const costOf = (
  holding: Pick<PortfolioLine, "value"> & { readonly qty: bigint },
  lots: ReadonlyArray<Lot>
): bigint | null => {
  const { qty, value } = holding
  let [held, cost] = [0n, 0n]
  for (const lot of lots) {
    const isDust = value !== null && lot.qty * value < qty
    if (lot.cost === 0n && lot.commission === 0n && !isDust) return null
    held += lot.qty
    cost += lot.cost + lot.commission
  }
  if (held < qty || qty < 0n) return null
  if (held === qty) return cost
  return BigInt(decimalText(new MoneyDecimal(`${cost * qty}`).div(`${held}`), 0, halfEven))
}

const stakedOf = (
  { currency, stakedValue }: PortfolioLine,
  asset: StakedAsset | undefined
): ReadonlyArray<StakedWire> => {
  if (asset === undefined) return []
  const amount = (minor: bigint) => formatAmount(minor, currency)
  return [
    {
      asset: currency,
      swaps: asset.swaps,
      notional: amount(asset.notional),
      reward: amount(asset.reward),
      expectedPayout: amount(asset.expectedPayout),
      claim: amount(asset.claims),
      value: usdcOrNull(stakedValue),
      nextMaturityTs: asset.nextMaturityTs
    }
  ]
}

/** Buckets with a positive value: USDC with its reserve, every other currency, and staked assets. */
const allocationOf = ({ lines, cashTotal, reserved, stakedValue }: Portfolio): AccountOverviewWire["allocation"] => {
  const buckets = [
    { bucket: "CASH", value: cashTotal + reserved },
    ...lines.flatMap(({ currency, value }) => (currency === "USDC" ? [] : [{ bucket: currency, value: value ?? 0n }])),
    { bucket: "STAKING", value: stakedValue }
  ].filter(({ value }) => value > 0n)
  const all = buckets.reduce((sum, { value }) => sum + value, 0n)
  return buckets.map(({ bucket, value }) => ({
    bucket,
    value: usdc(value),
    pct: decimalText(new MoneyDecimal(`${100n * value}`).div(`${all}`), 2, halfUp)
  }))
}
