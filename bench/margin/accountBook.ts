/**
 * Accounts with positions in thirty markets, drawn from a seed, for measures without a service: the index beside scans,
 * and a replayed path. An account has two and a half positions on average. Leverages are those that clients choose
 * below the cap of each class.
 */
import { tierLines } from "../../src/machines/margin/riskLines.ts"
import { defaultMarketTerms } from "../../src/machines/market/marketTerms.ts"
import { RiskIndex, type WatchedAccount, type WatchedPosition } from "../../src/runtime/services/margin/RiskIndex.ts"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"

export const marketCount = 30
export const symbolOf = (market: number): string => `M${String(market + 1).padStart(2, "0")}-USDC-PERP`
const mostPositions = 4
const { retail, professional } = defaultMarketTerms.leverage
const classes = Object.values(retail)

/** The highest leverage in a market. */
export const capOf = (market: number, categorization: WatchedAccount["categorization"]): number =>
  categorization === "RETAIL" ? (classes[market % classes.length] as number) : professional

/** The leverage in force for a position. */
export const leverageOf = (position: WatchedPosition, categorization: WatchedAccount["categorization"]): number =>
  Math.min(position.chosen ?? Infinity, capOf(marketOf(position.symbol), categorization))

export const marketOf = (symbol: string): number => Number(symbol.slice(1, 3)) - 1

/** Decimal places of marks. */
const places = 4
export const markText = (price: number): string => price.toFixed(places)

export class AccountBook {
  readonly random: SeededRandom
  /** The marks, each on its market's grid. */
  readonly marks: Float64Array
  readonly index: RiskIndex

  constructor(seed: number) {
    this.random = new SeededRandom(seed)
    this.marks = Float64Array.from({ length: marketCount }, () => Number(markText(10 ** (1 + 3 * this.random.next()))))
    this.index = new RiskIndex({
      tiers: tierLines(defaultMarketTerms.riskTiers),
      capOf: (symbol, categorization) => capOf(marketOf(symbol), categorization),
      markOf: (symbol) => ({ price: this.marks[marketOf(symbol)] as number, live: true })
    })
  }

  /** Draws an account whose equity is between `least` and ten times its margin. */
  draw(clientId: number, least: number): WatchedAccount {
    const { random } = this
    const categorization = random.chance(0.95) ? "RETAIL" : "PROFESSIONAL"
    const first = random.between(0, marketCount - 1)
    const stride = random.pick([1, 7, 11, 13])
    let equity = 0
    let margin = 0
    const positions = Array.from({ length: random.between(1, mostPositions) }, (_, n): WatchedPosition => {
      const market = (first + n * stride) % marketCount
      const mark = this.marks[market] as number
      const size = Math.max(0.0001, 10 ** (2 + 2.5 * random.next()) / mark)
      const qty = (random.chance(0.5) ? size : -size).toFixed(places)
      const entry = markText(mark * (0.99 + 0.02 * random.next()))
      const chosen = random.chance(0.7) ? null : random.between(1, 20)
      const held = { symbol: symbolOf(market), netQty: qty, avgEntry: entry, chosen, notified: 0 }
      const leverage = leverageOf(held, categorization)
      equity += Number(qty) * (mark - Number(entry))
      margin += (Math.abs(Number(qty)) * mark) / leverage
      return { ...held, notified: this.lossOf(held, categorization) }
    })
    const wanted = margin * (least + (10 - least) * random.next())
    const cash = BigInt(Math.ceil((wanted - equity) * 1e6))
    return { clientId, categorization, cash, premiums: 0n, recorded: "NORMAL", positions }
  }

  /**
   * The loss step that a position has reached, in percent of its margin at entry. A loss exactly on a step counts as
   * reached.
   */
  lossOf(held: WatchedPosition, categorization: WatchedAccount["categorization"]): number {
    const [qty, entry] = [Number(held.netQty), Number(held.avgEntry)]
    const profit = qty * ((this.marks[marketOf(held.symbol)] as number) - entry)
    const atEntry = (Math.abs(qty) * entry) / leverageOf(held, categorization)
    return Math.max(0, Math.floor((-10 * profit) / atEntry + 0.001) * 10)
  }
}

/** Combines two draws into one of a normal distribution. */
export const normal = (random: SeededRandom): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
