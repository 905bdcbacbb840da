/**
 * The allowed distance from the mark for orders on a perpetual. It limits the loss in a thin book to the money that the
 * account has behind its orders. Distances are whole basis points of the mark (F9, F13).
 */
import type { Grid } from "../market/Grid.ts"
import { ceilDiv, compared, type Exact, fixedText, floorDiv, type Scaled, scaled, tenTo } from "../shared/Exact.ts"
import { closeOutPct } from "./perpetual.ts"
import type { CloseOutContext } from "./CloseOut.ts"
import { decimalText, MoneyDecimal } from "../shared/Money.ts"

type Side = "BUY" | "SELL"

/** Basis points in one whole. */
const whole = 10_000
/** Distances of the first two close-out orders in a market; the second follows a pause. */
const firstBps = 100
const secondBps = 200
/** The margin level at which an account is closed out, in basis points. */
const closeOutBps = closeOutPct * 100

export interface ReducingMarket {
  /**
   * The highest leverage that the client may choose in the market. A later choice is never higher, so it can't worsen a
   * resting order.
   */
  readonly cap: number
  readonly commissionBps: number
  /** The venue's limit on the distance of any order from the mark. */
  readonly bandBps: number
}

/**
 * The allowed distance of a reduce-only order. An account outside a close-out owns at least the close-out level's share of
 * the initial margin, and this share pays for the distance and the commission. Rounded down, so that the commission is
 * covered even at the worst price.
 */
export const reducingBps = ({ cap, commissionBps, bandBps }: ReducingMarket): number => {
  const paid = Math.floor(((closeOutBps - commissionBps * cap) * whole) / (cap * (whole + commissionBps)))
  return Math.min(Math.max(paid, 0), bandBps)
}

/**
 * The distance of the second step. It is smaller at high leverage, because every account outside a close-out must be
 * able to pay for it.
 */
export const secondStepBps = (market: ReducingMarket): number => Math.min(secondBps, reducingBps(market))

export interface ClosingMarket extends ReducingMarket {
  /**
   * The account's equity less the needs of its other orders and positions, micro-USDC. Null when a mark that these need is
   * unknown.
   */
  readonly equity: bigint | null
  /** The position's value at the mark, always positive. */
  readonly value: Scaled
}

/**
 * The allowed distance of a close-out order from the mark. The first two orders use fixed steps; later ones may cost up to
 * the whole equity, or more where staff widened the distance.
 */
export const closingBps = (
  { tried, widenedBps }: Pick<CloseOutContext, "tried" | "widenedBps">,
  symbol: string,
  market: ClosingMarket
): number => {
  const step = tried[symbol]?.step ?? 0
  const second = secondStepBps(market)
  const usual = step === 0 ? Math.min(firstBps, second) : step === 1 ? second : Math.max(second, payableBps(market))
  return Math.min(Math.max(usual, widenedBps), market.bandBps)
}

/** The distance at which closing the whole position costs the whole equity, commission included. */
const payableBps = ({ equity, value, commissionBps, bandBps }: ClosingMarket): number => {
  if (equity === null || equity <= 0n || value.units <= 0n) return 0
  const share = floorDiv(equity * BigInt(whole) * tenTo(value.places), value.units * tenTo(6))
  const paid = ((share - BigInt(commissionBps)) * BigInt(whole)) / BigInt(whole + commissionBps)
  return paid > BigInt(bandBps) ? bandBps : Math.max(Number(paid), 0)
}

/** The worst price at this distance from a price, on the tick inside the distance. Null when no positive price remains. */
export const boundAt = (side: Side, from: Exact, bps: number, { decimals, step }: Grid): string | null => {
  const { units, places } = scaled(from)
  const moved = units * BigInt(side === "BUY" ? whole + bps : whole - bps) * tenTo(decimals)
  const under = BigInt(whole) * tenTo(places) * BigInt(step)
  const ticks = (side === "BUY" ? floorDiv : ceilDiv)(moved, under)
  return ticks <= 0n ? null : fixedText({ units: ticks * BigInt(step), places: decimals })
}

/** True if a limit allows a worse price than the bound: a higher one for a BUY, a lower one for a SELL. */
export const isBeyond = (side: Side, limit: Exact, bound: Exact): boolean => {
  const worse = compared(scaled(limit), scaled(bound))
  return side === "BUY" ? worse > 0n : worse < 0n
}

/** The bound that allows less: the lower price for a BUY, the higher one for a SELL. */
export const tighterOf = (side: Side, one: string, other: string): string => (isBeyond(side, one, other) ? other : one)

/** The venue's price band: its middle, and its distance to either side. */
export interface VenueBand {
  readonly mark: { readonly price: Exact }
  readonly bandBps: number
}

/**
 * The limit, moved inside the venue's band. A limit that is better than every price of the band moves to the band's near
 * edge.
 */
export const withinBand = (side: Side, limit: string, { mark, bandBps }: VenueBand, tick: Grid): string => {
  const other = side === "BUY" ? "SELL" : "BUY"
  const [far, near] = [boundAt(side, mark.price, bandBps, tick), boundAt(other, mark.price, bandBps, tick)]
  const lifted = near === null ? limit : tighterOf(other, limit, near)
  return far === null ? lifted : tighterOf(side, lifted, far)
}

/** Basis points in percent, for texts that staff and partners read. */
export const percentOf = (bps: number): string => `${decimalText(new MoneyDecimal(bps).div(100), 2)} %`
