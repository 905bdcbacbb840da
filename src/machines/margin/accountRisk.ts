/**
 * The risk of a whole account, the one place that margin figures come from: money gates, requests for quotes, balances, the
 * margin picture and the risk monitor all ask here (F4, F7). Money is micro-USDC. An account that holds nothing but money has
 * its cash for equity and nothing tied up; negative cash alone means CLOSE_OUT.
 */
import { pnlAt, requirementOf } from "../barrier/barrierFigures.ts"
import type { ContractTerms } from "../barrier/ContractTerms.ts"
import { type Facts, isFresh } from "../market/Facts.ts"

/** An account's cash by currency, without what is reserved, in minor units. */
export type CashOf = (currency: string) => bigint

/** An accept that the venue has not answered: what it costs if it is executed, at its quote's price. */
export interface PendingAccept {
  readonly premium: bigint
  readonly commission: bigint
}

/** What of an account its risk is judged on. */
export interface AccountState {
  readonly cashOf: CashOf
  /** The open knock-out contracts. */
  readonly contracts: Iterable<ContractTerms>
  readonly accepts: Iterable<PendingAccept>
}

export type RiskState = "NORMAL" | "MARGIN_CALL" | "CLOSE_OUT"

export interface AccountRisk {
  /** May be negative. */
  readonly equity: bigint
  /** Equity without the profits of open contracts: what is held against the margin. */
  readonly closeOutEquity: bigint
  /** Of perpetuals. */
  readonly unrealizedPnl: bigint
  readonly barrierUnrealizedPnl: bigint
  readonly barrierMargin: bigint
  readonly pendingAcceptMargin: bigint
  /** All that is tied up. */
  readonly initialMargin: bigint
  readonly maintenanceMargin: bigint
  /** What the level and the state are measured against. */
  readonly marginBase: bigint
  /** Percent, two places, rounded down; null without a base. */
  readonly marginLevel: string | null
  readonly freeMargin: bigint
  /** The lesser of cash and free margin (F23); may be negative. */
  readonly free: bigint
  /** On the marks of the facts: what money gates ask (A1-12). */
  readonly riskState: RiskState
  /** All used marks are fresh; a mark that is not known is not (F3). */
  readonly marksFresh: boolean
  readonly barrierMarksFresh: boolean
  /** At least one of them is. */
  readonly anyMarkFresh: boolean
  /** Something is open whose worth follows a mark. */
  readonly anyExposure: boolean
}

/** The margin levels, in percent, below which an account is called and is closed out (A2-88). */
export const marginCallPct = 100
export const closeOutPct = 50
const marginCallShare = BigInt(marginCallPct)
const closeOutShare = BigInt(closeOutPct)

/** The account's figures, as its state and the facts of one moment have them. */
export const accountRisk = ({ cashOf, contracts, accepts }: AccountState, facts: Facts): AccountRisk => {
  const cash = cashOf("USDC")
  const barriers = barrierRisk(contracts, facts)
  let pendingAcceptMargin = 0n
  for (const { premium, commission } of accepts) pendingAcceptMargin += premium + commission
  const closeOutEquity = cash + barriers.loss
  const initialMargin = barriers.margin + pendingAcceptMargin
  const freeMargin = closeOutEquity - initialMargin
  const riskState = riskStateOf(closeOutEquity, barriers.margin)
  return {
    equity: cash + barriers.pnl,
    closeOutEquity,
    unrealizedPnl: 0n,
    barrierUnrealizedPnl: barriers.pnl,
    barrierMargin: barriers.margin,
    pendingAcceptMargin,
    initialMargin,
    maintenanceMargin: maintenanceOf(barriers.margin),
    marginBase: barriers.margin,
    marginLevel: marginLevelOf(closeOutEquity, barriers.margin),
    freeMargin,
    free: cash < freeMargin ? cash : freeMargin,
    riskState,
    marksFresh: barriers.fresh,
    barrierMarksFresh: barriers.fresh,
    anyMarkFresh: barriers.anyFresh,
    anyExposure: barriers.any
  }
}

/** By exact comparison, strictly less: exactly half of the base is not yet closed out (F7). */
export const riskStateOf = (closeOutEquity: bigint, marginBase: bigint): RiskState => {
  if (marginBase === 0n) return closeOutEquity < 0n ? "CLOSE_OUT" : "NORMAL"
  const held = closeOutEquity * 100n
  if (held < closeOutShare * marginBase) return "CLOSE_OUT"
  return held < marginCallShare * marginBase ? "MARGIN_CALL" : "NORMAL"
}

const gravity: { readonly [S in RiskState]: number } = { NORMAL: 0, MARGIN_CALL: 1, CLOSE_OUT: 2 }

/** The graver of two: of what live marks imply and what is recorded, money gates ask both (A1-12, A3-08). */
export const graverOf = (one: RiskState, other: RiskState): RiskState => (gravity[one] < gravity[other] ? other : one)

/** Percent of the base, rounded down, so that it never shows a border that it is below (F1, F7); null without a base. */
export const marginLevelOf = (closeOutEquity: bigint, marginBase: bigint): string | null => {
  if (marginBase === 0n) return null
  const scaled = closeOutEquity * 10_000n
  const towardsZero = scaled / marginBase
  const floored = scaled < 0n && towardsZero * marginBase !== scaled ? towardsZero - 1n : towardsZero
  const digits = (floored < 0n ? -floored : floored).toString().padStart(3, "0")
  return `${floored < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

const maintenanceOf = (marginBase: bigint): bigint =>
  marginBase === 0n ? 0n : (marginBase * closeOutShare + 99n) / 100n

interface BarrierRisk {
  readonly any: boolean
  readonly pnl: bigint
  /** The losses alone, negative. */
  readonly loss: bigint
  readonly margin: bigint
  readonly fresh: boolean
  readonly anyFresh: boolean
}

/**
 * Contracts at the last mark known of their markets, however old (F3). One whose market never had a mark counts neither
 * profit nor loss and as stale: its whole premium stays tied up, so the free margin is what it is at any losing mark, and
 * money out waits; a close-out does not begin for what nobody knows.
 */
const barrierRisk = (contracts: Iterable<ContractTerms>, { marks, takenAt }: Facts): BarrierRisk => {
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
