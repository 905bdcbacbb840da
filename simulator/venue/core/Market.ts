/**
 * A market of the simulated venue. Prices are whole ticks and quantities whole lots, both safe integers, so that books
 * compare numbers and value is exact: a tick times a lot is a whole number of micro-USDC. This arithmetic is the venue's own
 * and shares nothing with the service's, so that comparing the two proves something.
 */

export type Family = "PERP" | "SPOT" | "BARRIER"
export type AssetClass = "crypto" | "fx" | "index" | "metal" | "energy"

export interface Market {
  /** Such as BTC-USDC-PERP. */
  readonly symbol: string
  readonly family: Family
  readonly base: string
  readonly assetClass: AssetClass
  readonly displayName: string
  /** A tick is one unit of this decimal place, a lot likewise; together at most six places, those of USDC. */
  readonly tickDecimals: number
  readonly lotDecimals: number
  /** In lots. */
  readonly minQty: number
  readonly maxQty: number
  /** In micro-USDC. */
  readonly minNotional: bigint
  /** How far from the mark a limit price may lie, in basis points of it. */
  readonly bandBps: number
}

/** The decimal places of USDC. */
const moneyDecimals = 6

/** Micro-USDC of one lot at one tick. */
const unitValue = ({ tickDecimals, lotDecimals }: Market): bigint =>
  10n ** BigInt(moneyDecimals - tickDecimals - lotDecimals)

/** Exact value of a signed quantity at a price, in micro-USDC. */
export const valueOf = (market: Market, ticks: number, lots: number): bigint => {
  const product = ticks * lots
  return (Number.isSafeInteger(product) ? BigInt(product) : BigInt(ticks) * BigInt(lots)) * unitValue(market)
}

const decimalText = /^(0|[1-9][0-9]{0,14})(?:\.([0-9]{1,12}))?$/

/** A decimal text as whole units of a decimal place; null when it is none, lies between two or leaves exact integers. */
export const unitsOf = (text: string, decimals: number): number | null => {
  const match = decimalText.exec(text)
  if (match === null) return null
  const fraction = (match[2] ?? "").replace(/0+$/, "")
  if (fraction.length > decimals) return null
  const units = Number(`${match[1]}${fraction.padEnd(decimals, "0")}`)
  return Number.isSafeInteger(units) ? units : null
}

/** The prices that lie this far around a mark, in ticks. Both ends belong to the range. */
export const around = (mark: number, bps: number): { readonly low: number; readonly high: number } => ({
  low: Math.ceil((mark * (10_000 - bps)) / 10_000),
  high: Math.floor((mark * (10_000 + bps)) / 10_000)
})
