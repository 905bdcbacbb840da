/**
 * A client's holdings by currency and in total, at the marks of one moment. All figures come from the same lines, so that a
 * total always equals the sum of its parts (F23, STS-10).
 */
import type { AccountRisk } from "../margin/accountRisk.ts"
import { type HoldingMark, valueAt } from "../market/holdingMark.ts"
import { type Currency, currencyCodes } from "../shared/Currency.ts"
import type { StakedAsset } from "./stakedSwaps.ts"

/** A balance, in minor units of its currency. */
export interface Held {
  readonly cash: bigint
  readonly reserved: bigint
}

/** One state of an account, and the marks that value it. */
export interface PortfolioState {
  readonly held: ReadonlyMap<Currency, Held>
  readonly staked: ReadonlyMap<Currency, StakedAsset>
  /** The mark that values a currency; null: the value is unknown. */
  readonly markOf: (currency: Currency) => HoldingMark | null
  /** Null for an earlier moment: the risk is known for the present only. */
  readonly risk: AccountRisk | null
}

/** One currency: amounts in its minor units, values in micro-USDC. A value is null when an amount has no known mark. */
export interface PortfolioLine extends Held {
  readonly currency: Currency
  readonly mark: HoldingMark | null
  /** Value of cash and reserve together. */
  readonly value: bigint | null
  readonly staked: bigint
  readonly stakedValue: bigint | null
  readonly claims: bigint
  readonly claimsValue: bigint | null
}

/** Totals in micro-USDC; an amount without a mark counts as zero. */
export interface Portfolio {
  /** USDC first, then every currency that the client has ever held, in the order of the currency table. */
  readonly lines: ReadonlyArray<PortfolioLine>
  readonly cashTotal: bigint
  readonly reserved: bigint
  /** Value of every currency except USDC. */
  readonly holdingsValue: bigint
  readonly stakedValue: bigint
  /** Unrealized PnL of perpetuals and knock-out contracts. */
  readonly unrealizedPnl: bigint
  /** The value of claims. It counts in no total, because claims are unsecured. */
  readonly claimsValue: bigint
  /** True when every holding has a mark. */
  readonly holdingsValued: boolean
  readonly value: bigint
}

const nothing: Held = { cash: 0n, reserved: 0n }

/** Values one state of an account, line by line and in total. */
export const portfolioOf = (state: PortfolioState): Portfolio => {
  const { held, staked, risk } = state
  const lines = currencyCodes
    .filter((currency) => currency === "USDC" || held.has(currency) || staked.has(currency))
    .map((currency) => lineOf(state, currency))
  const { cash: cashTotal, reserved } = held.get("USDC") ?? nothing
  const unrealizedPnl = risk === null ? 0n : risk.unrealizedPnl + risk.barrierUnrealizedPnl
  let [holdingsValue, stakedValue, claimsValue] = [0n, 0n, 0n]
  for (const line of lines) {
    if (line.currency !== "USDC") holdingsValue += line.value ?? 0n
    stakedValue += line.stakedValue ?? 0n
    claimsValue += line.claimsValue ?? 0n
  }
  return {
    lines,
    cashTotal,
    reserved,
    holdingsValue,
    stakedValue,
    unrealizedPnl,
    claimsValue,
    holdingsValued: lines.every(isValued),
    value: cashTotal + reserved + holdingsValue + stakedValue + unrealizedPnl
  }
}

const lineOf = ({ held, staked: live, markOf }: PortfolioState, currency: Currency): PortfolioLine => {
  const { cash, reserved } = held.get(currency) ?? nothing
  const mark = markOf(currency)
  const { staked, claims } = live.get(currency) ?? { staked: 0n, claims: 0n }
  const valueOf = (amount: bigint) => (mark === null ? null : valueAt(currency, amount, mark))
  const valueOrNothing = (amount: bigint) => (amount === 0n ? 0n : valueOf(amount))
  return {
    currency,
    cash,
    reserved,
    mark,
    value: valueOf(cash + reserved),
    staked,
    stakedValue: valueOrNothing(staked),
    claims,
    claimsValue: valueOrNothing(claims)
  }
}

/** Whether every amount of the line has a value; a zero amount needs no mark. */
const isValued = ({ cash, reserved, value, stakedValue, claimsValue }: PortfolioLine): boolean =>
  (value !== null || cash + reserved === 0n) && stakedValue !== null && claimsValue !== null
