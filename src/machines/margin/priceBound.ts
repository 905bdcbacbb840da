/**
 * How far from the mark an order on a perpetual may trade (F9, F13): no thin book takes more from an account than what stands
 * behind its orders. Distances are whole basis points of the mark.
 */
import type { Grid } from "../market/Grid.ts"
import { ceilDiv, compared, type Exact, fixedText, floorDiv, type Scaled, scaled, tenTo } from "../shared/Exact.ts"
import { closeOutPct } from "./accountRisk.ts"
import type { CloseOutContext } from "./CloseOut.ts"
import { decimalText, MoneyDecimal } from "../shared/Money.ts"

type Side = "BUY" | "SELL"

/** Basis points of a whole. */
const whole = 10_000
/** Of a close-out: its first order in a market, and the next one behind a pause. */
const firstBps = 100
export const secondBps = 200
/** What an account is closed out at, basis points of its margin. */
const closeOutBps = closeOutPct * 100

export interface ReducingMarket {
  /** The most leverage that the client may choose in the market: no later choice makes a resting order a worse one. */
  readonly cap: number
  readonly commissionBps: number
  /** Of the venue: how far from the mark any limit may lie. */
  readonly bandBps: number
}

/**
 * How far an order may trade that only reduces: the part of the market's initial margin that every account outside a close-out
 * has, less commission. Rounded down, so the commission on the worst price is paid too.
 */
export const reducingBps = ({ cap, commissionBps, bandBps }: ReducingMarket): number => {
  const paid = Math.floor(((closeOutBps - commissionBps * cap) * whole) / (cap * (whole + commissionBps)))
  return Math.min(Math.max(paid, 0), bandBps)
}

export interface ClosingMarket extends Pick<ReducingMarket, "commissionBps" | "bandBps"> {
  /** Micro-USDC that no other order of the account may cost it. */
  readonly equity: bigint
  /** Of the position, without sign, at the mark. */
  readonly value: Scaled
}

/** How far an order may trade in a close-out: by its steps, at last as far as the equity pays, further where staff widened it. */
export const closingBps = (
  { tried, widenedBps }: Pick<CloseOutContext, "tried" | "widenedBps">,
  symbol: string,
  market: ClosingMarket
): number => {
  const step = tried[symbol]?.step ?? 0
  const usual = step === 0 ? firstBps : step === 1 ? secondBps : Math.max(secondBps, payableBps(market))
  return Math.min(Math.max(usual, widenedBps), market.bandBps)
}

/** The distance at which closing all of a position costs the equity, commission included. */
const payableBps = ({ equity, value, commissionBps, bandBps }: ClosingMarket): number => {
  if (equity <= 0n || value.units <= 0n) return 0
  const share = floorDiv(equity * BigInt(whole) * tenTo(value.places), value.units * tenTo(6))
  const paid = ((share - BigInt(commissionBps)) * BigInt(whole)) / BigInt(whole + commissionBps)
  return paid > BigInt(bandBps) ? bandBps : Math.max(Number(paid), 0)
}

/** The worst price of an order that may trade so far from a price, on the tick and not beyond it; null: none is left. */
export const boundAt = (side: Side, from: Exact, bps: number, { decimals, step }: Grid): string | null => {
  const { units, places } = scaled(from)
  const moved = units * BigInt(side === "BUY" ? whole + bps : whole - bps) * tenTo(decimals)
  const under = BigInt(whole) * tenTo(places) * BigInt(step)
  const ticks = (side === "BUY" ? floorDiv : ceilDiv)(moved, under)
  return ticks <= 0n ? null : fixedText({ units: ticks * BigInt(step), places: decimals })
}

/** Whether a limit lets an order trade at a worse price than the bound. */
export const isBeyond = (side: Side, limit: Exact, bound: Exact): boolean => {
  const worse = compared(scaled(limit), scaled(bound))
  return side === "BUY" ? worse > 0n : worse < 0n
}

/** The tighter of two bounds. */
export const tighterOf = (side: Side, one: string, other: string): string => (isBeyond(side, one, other) ? other : one)

/** Basis points as staff and partners read them, in percent. */
export const percentOf = (bps: number): string => `${decimalText(new MoneyDecimal(bps).div(100), 2)} %`
