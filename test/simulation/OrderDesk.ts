/**
 * The requests of clients that trade perpetuals and spot: orders of every type near the price and away from it, with
 * protection, as protection and in groups; cancels of working and of ended orders; choices of leverage; previews.
 */
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { workingStates } from "../../src/machines/order/Order.ts"
import type { OrderRow } from "../../src/runtime/tables/order.ts"
import type { Trade } from "./TraderDesk.ts"
import { ticksInOne } from "./VenueDesk.ts"
import type { PartnerAccount, World } from "./World.ts"

export const perpetual = "BTC-USDC-PERP"
export const spot = "BTC-USDC"
/** A client with less cash deposits money first, micro-USDC. */
const least = 100_000_000n
/**
 * The largest quantity, lots: mostly some hundred USDC, sometimes more than any client has, or than the book contains.
 */
const lots = [100, 100, 200, 20_000] as const

type Asked = Readonly<Record<string, unknown>>

export class OrderDesk {
  private readonly world: World
  private readonly random: SeededRandom
  private readonly papers: ReadonlyArray<(clientId: number) => Trade>

  /** `papers`: the calls that raise a client to the level at which it may trade. */
  constructor(world: World, papers: ReadonlyArray<(clientId: number) => Trade>) {
    this.world = world
    this.papers = papers
    this.random = world.fork()
  }

  /** The next request of a client. "money in": it deposits; "money": it deposits or withdraws. */
  next(_: PartnerAccount, clientId: number): Trade | "money in" | "money" {
    const { random, world } = this
    const on = `/partner/v1/clients/${clientId}`
    const { cash, review } = world.auditor.commits
    if (review.levels.get(clientId) !== "MICA_MIFID" && random.chance(0.95)) return random.pick(this.papers)(clientId)
    const held = cash.get(clientId)?.at(-1)?.cash ?? 0n
    if (held < least && random.chance(0.5)) return "money in"
    const isClosedOut = world.falls && world.episodes.live(clientId) !== undefined
    if (isClosedOut && random.chance(0.4)) return "money in"
    const draw = random.next()
    if (draw < 0.15) return this.cancel(on, clientId) ?? this.placing(on, this.opening())
    if (draw < 0.4) return this.placing(on, this.reducing(clientId) ?? this.opening())
    if (draw < 0.48) return "money"
    if (draw < 0.52) return this.leverage(on)
    if (draw < 0.56) return { method: "POST", path: `${on}/margin/preview`, body: this.opening(), keyed: false }
    if (draw < 0.7) return this.placing(on, this.exchange())
    return this.placing(on, this.opening())
  }

  private placing(on: string, body: Asked): Trade {
    return { method: "POST", path: `${on}/orders`, body, keyed: true }
  }

  /** A price at this distance from the market, basis points. */
  private off(bps: number): string {
    const { price } = this.world.venue.desk
    return (Math.round(price + (price * bps) / 10_000) / ticksInOne).toFixed(1)
  }

  private qty(): string {
    const { random } = this
    return (random.between(1, random.pick(lots)) / 10_000).toFixed(4)
  }

  /** An order on the perpetual: at the market, marketable, resting, or conditional. */
  private opening(): Asked {
    const { random } = this
    const side = random.pick(["BUY", "SELL"] as const)
    const up = side === "BUY" ? 1 : -1
    const order = { symbol: perpetual, side, qty: this.qty() }
    if (random.chance(0.12)) return { ...order, type: "STOP_MARKET", trigger: this.trigger(up * random.between(1, 40)) }
    const attach = random.chance(0.35) ? { attach: this.attached(up) } : {}
    if (random.chance(0.4)) return { ...order, type: "MARKET", ...attach, ...this.inForce(["IOC", "FOK"]) }
    const price = this.off(up * random.pick([-60, -3, 0, 0, 0, 1, 20]))
    return { ...order, type: "LIMIT", price, ...attach, ...this.inForce(["GTC", "IOC", "FOK", "POST_ONLY"]) }
  }

  /** A reduction of the position: at once, resting, or as part of a group; null without a position. */
  private reducing(clientId: number): Asked | null {
    const { random, world } = this
    const held = world.store
      .rows("positions")
      .find((row) => row.clientId === clientId && row.symbol === perpetual && row.state === "OPEN")
    if (held === undefined) return null
    const isLong = !held.netQty.startsWith("-")
    const up = isLong ? -1 : 1
    const qty = random.chance(0.5) ? held.netQty.replace("-", "") : this.qty()
    const order = { symbol: perpetual, side: isLong ? "SELL" : "BUY", qty, reduceOnly: true }
    const draw = random.next()
    if (draw < 0.4) return { ...order, type: "MARKET" }
    if (draw < 0.6) return { ...order, type: "LIMIT", price: this.off(-up * random.between(0, 40)) }
    const group = random.chance(0.7) ? { ocoGroup: random.pick(["exit", "other"]) } : {}
    const rises = random.chance(0.5)
    const type = rises === isLong ? "TAKE_PROFIT_MARKET" : "STOP_MARKET"
    return { ...order, type, ...group, trigger: this.trigger((rises ? 1 : -1) * random.between(1, 60)) }
  }

  private exchange(): Asked {
    const { random } = this
    const side = random.pick(["BUY", "BUY", "SELL"] as const)
    const order = { symbol: spot, side, qty: this.qty() }
    if (random.chance(0.5)) return { ...order, type: "MARKET", ...this.inForce(["IOC", "FOK"]) }
    const price = this.off((side === "BUY" ? 1 : -1) * random.pick([-60, -3, 1, 20]))
    return { ...order, type: "LIMIT", price, ...this.inForce(["GTC", "IOC", "FOK", "POST_ONLY"]) }
  }

  private trigger(bps: number): Asked {
    const { random } = this
    const source = random.pick(["LAST", "MARK", "INDEX"])
    return { source, price: this.off(bps), direction: bps > 0 ? "AT_OR_ABOVE" : "AT_OR_BELOW" }
  }

  private attached(up: number): Asked {
    const { random } = this
    const near = random.between(2, 60)
    const takeProfit = random.chance(0.7) ? { takeProfit: { price: this.off(up * near) } } : {}
    const isBare = !("takeProfit" in takeProfit)
    const stopLoss = isBare || random.chance(0.7) ? { stopLoss: { price: this.off(-up * random.between(2, 60)) } } : {}
    return { ...takeProfit, ...stopLoss }
  }

  private inForce(tifs: ReadonlyArray<string>): Asked {
    return this.random.chance(0.5) ? {} : { tif: this.random.pick(tifs) }
  }

  private leverage(on: string): Trade {
    const { random } = this
    const force = random.chance(0.3) ? { force: true } : {}
    const body = { symbol: perpetual, leverage: random.between(1, 3), ...force }
    return { method: "PUT", path: `${on}/leverage`, body, keyed: true }
  }

  /** A cancel, mostly of a working order. */
  private cancel(on: string, clientId: number): Trade | null {
    const { random, world } = this
    const own = [...world.orders.orders.values()].filter((row) => row.clientId === clientId)
    const working = own.filter(works)
    const among = working.length > 0 && random.chance(0.9) ? working : own
    if (among.length === 0) return null
    return { method: "DELETE", path: `${on}/orders/${random.pick(among).id}`, body: null, keyed: false }
  }
}

const works = ({ state }: OrderRow): boolean => (workingStates as ReadonlyArray<string>).includes(state)
