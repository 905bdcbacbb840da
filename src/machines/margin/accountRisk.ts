/**
 * The risk of a whole account, and the only source of margin figures: money gates, requests for quotes, balances, the margin
 * picture, orders and the risk monitor all use it. Money is micro-USDC. An account that holds only money has its cash as
 * equity and no margin in use; negative cash alone means CLOSE_OUT (doc 2, Leverage view; F4, F7, F6, F13, F23, A1-12, F3,
 * A3-08, F1, A2-10, A2-88, A2-50).
 */
import { formatAmount } from "../shared/Money.ts"
import type { MarginAfter } from "../shared/Refusal.ts"
import { pnlAt, requirementOf } from "../contract/contractFigures.ts"
import type { ContractTerms } from "../contract/ContractTerms.ts"
import { type Facts, isFresh } from "../market/Facts.ts"
import type { AssetClass, MarketTerms } from "../market/marketTerms.ts"
import { floorDiv, magnitude } from "../shared/Exact.ts"
import { closeOutPct, marginCallPct } from "./perpetual.ts"
import { holds, type PerpHolding, type PerpRisk, perpRisk, usesMark } from "./perpRisk.ts"

/** An account's cash by currency, without its reserves, in minor units. */
export type CashOf = (currency: string) => bigint

/**
 * An accept that the venue has not answered, with the premium and the commission that its execution at the quote's price
 * would cost.
 */
export interface PendingAccept {
  readonly premium: bigint
  readonly commission: bigint
}

/** The part of an account that determines its risk. */
export interface AccountState {
  readonly cashOf: CashOf
  readonly contracts: Iterable<ContractTerms>
  readonly accepts: Iterable<PendingAccept>
  /** Each perpetual market with a position or working orders, exactly once. */
  readonly perpetuals: Iterable<PerpHolding>
}

export type RiskState = "NORMAL" | "MARGIN_CALL" | "CLOSE_OUT"

export interface AccountRisk {
  /** Cash plus all unrealized PnL, micro-USDC; may be negative. */
  readonly equity: bigint
  /** Equity without the profits of open contracts; the margin is compared with this figure. */
  readonly closeOutEquity: bigint
  /** Unrealized PnL of perpetual positions at the last known marks, micro-USDC. */
  readonly unrealizedPnl: bigint
  readonly barrierUnrealizedPnl: bigint
  /** Margin of perpetual positions, micro-USDC. */
  readonly positionMargin: bigint
  /** Margin that working orders on perpetuals need beyond the margin of the positions. */
  readonly orderMargin: bigint
  readonly barrierMargin: bigint
  readonly pendingAcceptMargin: bigint
  /** All margin in use: of positions, orders, contracts and accepts in flight. */
  readonly initialMargin: bigint
  readonly maintenanceMargin: bigint
  /** The margin by which the margin level divides. The risk state compares `closeOutEquity` with it. */
  readonly marginBase: bigint
  /** Percent, two places, rounded down; null without a base. */
  readonly marginLevel: string | null
  readonly freeMargin: bigint
  /** The highest cost that working orders on perpetuals could cause beyond their margin. */
  readonly orderLoss: bigint
  /** The smaller of cash and free margin, less `orderLoss`; may be negative. */
  readonly free: bigint
  /** The risk state by the marks of these facts, which money gates compare with the recorded one. */
  readonly riskState: RiskState
  /** True when every used mark is fresh; an unknown mark is not fresh. */
  readonly marksFresh: boolean
  readonly barrierMarksFresh: boolean
  /** True when at least one used mark is fresh. */
  readonly anyMarkFresh: boolean
  /** True when the value of an open item depends on a mark. */
  readonly anyExposure: boolean
  /** The parts of the perpetual markets, in the order of the account's state. */
  readonly perps: ReadonlyArray<PerpRisk>
}

const marginCallShare = BigInt(marginCallPct)
const closeOutShare = BigInt(closeOutPct)

/** The account's figures, from its state and the facts of one moment. */
export const accountRisk = ({ cashOf, contracts, accepts, perpetuals }: AccountState, facts: Facts): AccountRisk =>
  riskOf({
    cash: cashOf("USDC"),
    contracts: contractRisk(contracts, facts),
    perps: Array.from(perpetuals, (holding) => perpRisk(holding, facts)),
    pendingAcceptMargin: pendingOf(accepts)
  })

/** The account's parts. All its figures are sums over them. */
export interface RiskParts {
  /** USDC cash without reserves, micro-USDC. */
  readonly cash: bigint
  readonly contracts: ContractRisk
  readonly perps: ReadonlyArray<PerpRisk>
  readonly pendingAcceptMargin: bigint
}

/**
 * The free margin that new risk and withdrawals may use, micro-USDC: the free margin less the possible loss of working
 * orders.
 */
export const spendableOf = ({ freeMargin, orderLoss }: Pick<AccountRisk, "freeMargin" | "orderLoss">): bigint =>
  freeMargin - orderLoss

/** The account's figures as sums over their parts. */
export const riskOf = ({ cash, contracts, perps, pendingAcceptMargin }: RiskParts): AccountRisk => {
  const sums = sumsOf(perps)
  const closeOutEquity = cash + sums.pnl + contracts.loss
  const marginBase = sums.margin + contracts.margin
  const initialMargin = marginBase + sums.orderMargin + pendingAcceptMargin
  const freeMargin = closeOutEquity - initialMargin
  const spendable = spendableOf({ freeMargin, orderLoss: sums.orderLoss })
  return {
    equity: cash + sums.pnl + contracts.pnl,
    closeOutEquity,
    unrealizedPnl: sums.pnl,
    barrierUnrealizedPnl: contracts.pnl,
    positionMargin: sums.margin,
    orderMargin: sums.orderMargin,
    barrierMargin: contracts.margin,
    pendingAcceptMargin,
    initialMargin,
    maintenanceMargin: maintenanceOf(marginBase),
    marginBase,
    marginLevel: marginLevelOf(closeOutEquity, marginBase),
    freeMargin,
    orderLoss: sums.orderLoss,
    free: cash < spendable ? cash : spendable,
    riskState: riskStateOf(closeOutEquity, marginBase),
    marksFresh: contracts.fresh && sums.fresh,
    barrierMarksFresh: contracts.fresh,
    anyMarkFresh: contracts.anyFresh || sums.anyFresh,
    anyExposure: contracts.any || sums.any,
    perps
  }
}

/** The margin that accepts in flight need: premium and commission of each, micro-USDC. */
export const pendingOf = (accepts: Iterable<PendingAccept>): bigint => {
  let sum = 0n
  for (const { premium, commission } of accepts) sum += premium + commission
  return sum
}

/** The figures that `riskWith` computes for an account after a change in one market. */
export type RiskAfter = Pick<
  AccountRisk,
  "equity" | "closeOutEquity" | "marginBase" | "initialMargin" | "freeMargin" | "orderLoss"
>

/**
 * The account's figures after one market's part is replaced and `paid` USDC is added. Every figure is a sum of parts, so no
 * other market is computed again.
 */
export const riskWith = (risk: AccountRisk, before: PerpRisk | null, after: PerpRisk, paid = 0n): RiskAfter => {
  const pnl = after.unrealizedPnl - (before?.unrealizedPnl ?? 0n)
  const margin = after.initialMargin - (before?.initialMargin ?? 0n)
  const closeOutEquity = risk.closeOutEquity + pnl + paid
  const initialMargin = risk.initialMargin + margin + after.orderMargin - (before?.orderMargin ?? 0n)
  return {
    equity: risk.equity + pnl + paid,
    closeOutEquity,
    marginBase: risk.marginBase + margin,
    initialMargin,
    freeMargin: closeOutEquity - initialMargin,
    orderLoss: risk.orderLoss + after.orderLoss - (before?.orderLoss ?? 0n)
  }
}

/**
 * The risk state by exact comparison. A close-out begins strictly below half of the base: exactly half is not yet a
 * close-out.
 */
export const riskStateOf = (closeOutEquity: bigint, marginBase: bigint): RiskState => {
  if (marginBase === 0n) return closeOutEquity < 0n ? "CLOSE_OUT" : "NORMAL"
  const held = closeOutEquity * 100n
  if (held < closeOutShare * marginBase) return "CLOSE_OUT"
  return held < marginCallShare * marginBase ? "MARGIN_CALL" : "NORMAL"
}

const gravity: { readonly [S in RiskState]: number } = { NORMAL: 0, MARGIN_CALL: 1, CLOSE_OUT: 2 }

/** The graver of two states. Money gates compare the state that live marks imply with the recorded one. */
export const graverOf = (one: RiskState, other: RiskState): RiskState => (gravity[one] < gravity[other] ? other : one)

/**
 * The margin level in percent of the base; null without a base. Rounded down, so that an account below a limit never shows
 * the limit.
 */
export const marginLevelOf = (closeOutEquity: bigint, marginBase: bigint): string | null => {
  if (marginBase === 0n) return null
  const floored = floorDiv(closeOutEquity * 10_000n, marginBase)
  const digits = magnitude(floored).toString().padStart(3, "0")
  return `${floored < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

const maintenanceOf = (marginBase: bigint): bigint =>
  marginBase === 0n ? 0n : (marginBase * closeOutShare + 99n) / 100n

/** The sums over an account's knock-out contracts; money is micro-USDC. */
export interface ContractRisk {
  readonly any: boolean
  readonly pnl: bigint
  /**
   * The sum of the losing contracts alone, zero or negative: the profit of open contracts never supports other positions.
   */
  readonly loss: bigint
  readonly margin: bigint
  readonly fresh: boolean
  readonly anyFresh: boolean
}

/**
 * Values contracts at the last known mark of their markets, however old. A contract whose market never had a mark has neither
 * profit nor loss and counts as stale. Its whole premium stays in use, as at any losing mark, and withdrawals wait. An
 * unknown price never begins a close-out.
 */
export const contractRisk = (
  contracts: Iterable<ContractTerms>,
  { marks, takenAt }: Pick<Facts, "marks" | "takenAt">
): ContractRisk => {
  let any = false
  let fresh = true
  let anyFresh = false
  let pnl = 0n
  let loss = 0n
  let margin = 0n
  for (const contract of contracts) {
    any = true
    const mark = marks.get(contract.symbol)
    const unrealized = mark === undefined ? 0n : pnlAt(contract, mark.price)
    const isLive = mark !== undefined && takenAt !== null && isFresh(mark, takenAt)
    fresh &&= isLive
    anyFresh ||= isLive
    pnl += unrealized
    if (unrealized < 0n) loss += unrealized
    margin += requirementOf(contract, unrealized)
  }
  return { any, pnl, loss, margin, fresh, anyFresh }
}

interface PerpSums {
  readonly pnl: bigint
  readonly margin: bigint
  readonly orderMargin: bigint
  readonly orderLoss: bigint
  /** True when every mark that a figure uses is fresh. */
  readonly fresh: boolean
  readonly anyFresh: boolean
  /** True when the account has a perpetual position. */
  readonly any: boolean
}

const sumsOf = (perps: ReadonlyArray<PerpRisk>): PerpSums => {
  let fresh = true
  let anyFresh = false
  let any = false
  let pnl = 0n
  let margin = 0n
  let orderMargin = 0n
  let orderLoss = 0n
  for (const part of perps) {
    pnl += part.unrealizedPnl
    margin += part.initialMargin
    orderMargin += part.orderMargin
    orderLoss += part.orderLoss
    any ||= holds(part.holding)
    if (!usesMark(part)) continue
    fresh &&= part.markFresh
    anyFresh ||= part.markFresh
  }
  return { pnl, margin, orderMargin, orderLoss, fresh, anyFresh, any }
}

export interface LeverageTerms {
  readonly categorization: "RETAIL" | "PROFESSIONAL"
  readonly assetClass: AssetClass
  readonly terms: MarketTerms
}

/** The highest leverage that the schedule allows a client on a perpetual. */
export const leverageCap = ({ categorization, assetClass, terms }: LeverageTerms): number =>
  categorization === "RETAIL" ? terms.leverage.retail[assetClass] : terms.leverage.professional

/**
 * The leverage for the margin of a client's perpetuals: the client's choice, or else the cap. A choice above the cap, left
 * over from a higher schedule or another categorization, counts as the cap.
 */
export const leverageInForce = (of: LeverageTerms & { readonly chosen: number | null }): number => {
  const cap = leverageCap(of)
  return of.chosen === null ? cap : Math.min(of.chosen, cap)
}

/** True if an account has positions and not all of their marks are fresh: its equity is unknown, so no money may leave it. */
export const unjudged = ({ anyExposure, marksFresh }: Pick<AccountRisk, "anyExposure" | "marksFresh">): boolean =>
  anyExposure && !marksFresh

/** The figures of an account after a change, formatted for a refusal. */
export const marginAfter = (risk: AccountRisk): MarginAfter => ({
  initialMarginAfter: formatAmount(risk.initialMargin, "USDC"),
  maintenanceMarginAfter: formatAmount(risk.maintenanceMargin, "USDC"),
  freeMarginAfter: formatAmount(risk.freeMargin, "USDC"),
  marginLevelAfter: risk.marginLevel,
  riskStateAfter: risk.riskState
})
