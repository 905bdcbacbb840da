/**
 * The listing that the service trusts. A market whose new listing is impossible keeps its last possible state, and so does a
 * family whose markets all disappear at once. All other markets are as the venue lists them (A2-114, A2-115).
 */
import { gridOf } from "./Grid.ts"
import { isLess, scaled } from "../shared/Exact.ts"
import type { VenueListing, VenueMarket, VenueStakingMarket } from "../venue/VenueMarket.ts"

/** A listing as read, with the rows that could not be read. */
export interface ReadListing extends VenueListing {
  readonly unreadable?: ReadonlyArray<string>
}

export interface BelievedListing {
  readonly listing: VenueListing
  /** A sentence for each impossible part of the readable rows. */
  readonly faults: ReadonlyArray<string>
  /** The number of markets that keep their last possible state. */
  readonly kept: number
}

/** Basis points in one whole. */
const whole = 10_000

const nothing = scaled("0")

interface Sized {
  readonly qtyStep: string
  readonly minQty: string
  readonly maxQty: string
}

const sizeFault = ({ qtyStep, minQty, maxQty }: Sized): string | null => {
  if (gridOf(qtyStep) === null) return `a step of ${qtyStep}`
  if (isLess(scaled(minQty), nothing)) return `a least quantity of ${minQty}`
  if (!isLess(nothing, scaled(maxQty))) return `a largest quantity of ${maxQty}`
  if (isLess(scaled(maxQty), scaled(qtyStep))) return `a step above the largest quantity, ${qtyStep} and ${maxQty}`
  return isLess(scaled(maxQty), scaled(minQty)) ? `a least quantity above the largest, ${minQty} and ${maxQty}` : null
}

/** Members that may never change in a listed market: positions and their leverage depend on them. */
const frozen = [
  ["family", "family"],
  ["base", "asset"],
  ["assetClass", "asset class"]
] as const

/** A sentence for the first impossible part of a market; null when all is possible. `before`: the market's last listing. */
const marketFault = (market: VenueMarket, before: VenueMarket | undefined): string | null => {
  const { priceTick, bandBps, minNotional } = market
  if (gridOf(priceTick) === null) return `a tick of ${priceTick}`
  if (bandBps < 1) return `a price band of ${bandBps} basis points`
  if (isLess(scaled(minNotional), nothing)) return `a least notional of ${minNotional}`
  for (const [member, called] of frozen) {
    const [now, was] = [market[member], before?.[member] ?? market[member]]
    if (now !== was) return `the ${called} ${now} instead of ${was}`
  }
  return sizeFault(market)
}

/** A sentence for the first impossible part of a staking market, or null. */
const stakingMarketFault = (market: VenueStakingMarket): string | null => {
  const { minTenorDays, maxTenorDays, maxRateBps, takerFeeBps } = market
  if (minTenorDays < 1 || maxTenorDays < minTenorDays) return `tenors from ${minTenorDays} to ${maxTenorDays} days`
  if (maxRateBps < 0) return `a highest rate of ${maxRateBps} basis points`
  if (takerFeeBps < 0 || takerFeeBps >= whole) return `a taker fee of ${takerFeeBps} basis points`
  return sizeFault(market)
}

/** The listing to trust, from the last trusted one (null: none) and the one just read. */
export const believedListing = (before: VenueListing | null, read: ReadListing): BelievedListing => {
  const faults: Array<string> = []
  const keepsMissing = (read.unreadable ?? []).length > 0
  const counted = { kept: 0 }
  const merged = <M extends Market>(kind: Kind<M>): ReadonlyArray<M> =>
    merge({ ...kind, faults, counted, keepsMissing })
  const { markets: known = [], stakingMarkets: knownStaking = [] } = before ?? {}
  const markets = merged({ known, listed: read.markets, faultOf: marketFault, kindOf: ({ family }) => family })
  const stakingMarkets = merged({
    known: knownStaking,
    listed: read.stakingMarkets,
    faultOf: stakingMarketFault,
    kindOf: () => "STAKING"
  })
  if (markets.length === 0 && stakingMarkets.length === 0) faults.push("no market is listed")
  return { listing: { version: read.version, at: read.at, markets, stakingMarkets }, faults, ...counted }
}

type Market = VenueMarket | VenueStakingMarket

interface Kind<M extends Market> {
  readonly known: ReadonlyArray<M>
  readonly listed: ReadonlyArray<M>
  readonly faultOf: (market: M, before: M | undefined) => string | null
  readonly kindOf: (market: M) => string
}

interface Merging<M extends Market> extends Kind<M> {
  readonly faults: Array<string>
  readonly counted: { kept: number }
  /** True when a row could not be read. A missing market may be that row, so missing markets are kept. */
  readonly keepsMissing: boolean
}

/** The markets of one list, each once. Known markets come first, so that their order never changes. */
const merge = <M extends Market>(merging: Merging<M>): ReadonlyArray<M> => {
  const { known, listed, faultOf, kindOf, faults, counted, keepsMissing } = merging
  const before = new Map(known.map((market) => [market.symbol, market]))
  const taken = new Map<string, M>()
  const refused = new Set<string>()
  for (const market of listed) {
    const { symbol, delisted } = market
    const fault = taken.has(symbol) ? "a second row" : delisted ? null : faultOf(market, before.get(symbol))
    if (fault === null) taken.set(symbol, market)
    else {
      refused.add(symbol)
      faults.push(`the market ${symbol} is listed with ${fault}`)
    }
  }
  const kinds = new Set(listed.map(kindOf))
  const gone = new Set<string>()
  const result: Array<M> = []
  for (const market of known) {
    const now = taken.get(market.symbol)
    taken.delete(market.symbol)
    const kind = kindOf(market)
    const stays = refused.has(market.symbol) || keepsMissing || !kinds.has(kind)
    if (now === undefined && (market.delisted || !stays)) continue
    if (now === undefined) {
      counted.kept++
      if (!kinds.has(kind) && !refused.has(market.symbol)) gone.add(kind)
    }
    result.push(now ?? market)
  }
  for (const kind of gone) faults.push(`no ${kind} market is listed any more`)
  return [...result, ...taken.values()]
}
