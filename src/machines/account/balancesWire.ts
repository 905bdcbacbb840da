/** GET .../balances from a portfolio (doc 2, Balances; A2-12, F23). */
import type { AccountRisk } from "../margin/accountRisk.ts"
import { currencyFacts } from "../shared/Currency.ts"
import { formatAmount } from "../shared/Money.ts"
import type { BalanceLine, BalancesWire } from "./AccountWire.ts"
import type { Portfolio, PortfolioLine } from "./portfolio.ts"

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")
const usdcOrNull = (minor: bigint | null): string | null => (minor === null ? null : usdc(minor))

/**
 * The body of GET .../balances. `risk` is null for an earlier moment: the response then has cash figures only, because live
 * marks and open positions are known for the present only.
 */
export const balancesWireOf = (portfolio: Portfolio, risk: AccountRisk | null): BalancesWire => ({
  balances: portfolio.lines.map((line) => lineOf(line, line.currency === "USDC" ? risk : null, risk !== null)),
  portfolioValue: usdc(portfolio.value),
  portfolioCurrency: "USDC",
  portfolio: {
    cashTotal: usdc(portfolio.cashTotal),
    reserved: usdc(portfolio.reserved),
    holdingsValue: usdc(portfolio.holdingsValue),
    stakedValue: usdc(portfolio.stakedValue),
    unrealizedPnl: usdc(portfolio.unrealizedPnl),
    claimsValue: usdc(portfolio.claimsValue),
    holdingsValued: portfolio.holdingsValued,
    currency: "USDC"
  }
})

/** One currency's line. `risk` is given for the USDC line of the present only. */
const lineOf = (line: PortfolioLine, risk: AccountRisk | null, isNow: boolean): BalanceLine => {
  const { currency, cash, reserved, mark } = line
  const { kind, displayDecimals } = currencyFacts[currency]
  const text = (minor: bigint) => formatAmount(minor, currency)
  const free = risk?.free ?? cash
  return {
    currency,
    kind,
    cash: text(cash),
    reserved: text(reserved),
    total: text(cash + reserved),
    free: text(currency === "USDC" && free < 0n ? 0n : free),
    displayDecimals,
    venueAsset: currency,
    equity: usdcOrNull(risk === null ? null : risk.equity),
    unrealizedPnl: usdcOrNull(risk === null ? null : risk.unrealizedPnl),
    freeMargin: usdcOrNull(risk === null ? null : risk.freeMargin),
    mark: mark?.text ?? null,
    markFresh: isNow && mark?.fresh === true,
    value: usdcOrNull(line.value),
    valueCurrency: "USDC",
    staked: text(line.staked),
    swapClaims: text(line.claims),
    stakedValue: usdcOrNull(line.stakedValue),
    claimsValue: usdcOrNull(line.claimsValue)
  }
}
