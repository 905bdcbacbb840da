/**
 * A market of the simulated venue. Prices are whole ticks and quantities whole lots, both safe integers, so that books compare
 * numbers and values are exact: a tick times a lot is a whole number of micro-USDC. This arithmetic shares no code with the
 * service's, so that comparing the two is meaningful.
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
  /** Decimal places of a tick and a lot; together at most six, those of USDC. */
  readonly tickDecimals: number
  readonly lotDecimals: number
  /** In lots. */
  readonly minQty: number
  readonly maxQty: number
  /** In micro-USDC. */
  readonly minNotional: bigint
  /** Largest distance of a limit price from the mark, in basis points of the mark. */
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

/** A decimal text in units of a decimal place; null if it is malformed, off the grid or no safe integer. */
export const unitsOf = (text: string, decimals: number): number | null => {
  const match = decimalText.exec(text)
  if (match === null) return null
  const fraction = (match[2] ?? "").replace(/0+$/, "")
  if (fraction.length > decimals) return null
  const units = Number(`${match[1]}${fraction.padEnd(decimals, "0")}`)
  return Number.isSafeInteger(units) ? units : null
}

/** The prices within this distance of a mark, in ticks, bounds included. */
export const around = (mark: number, bps: number): { readonly low: number; readonly high: number } => ({
  low: Math.ceil((mark * (10_000 - bps)) / 10_000),
  high: Math.floor((mark * (10_000 + bps)) / 10_000)
})
