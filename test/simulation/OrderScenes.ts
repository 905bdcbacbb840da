/**
 * Planned interactions of clients in one market, which chance alone rarely causes: two orders at once for the last
 * margin of an account; one order that fills orders of several clients, so that both sides of each trade are the
 * service's clients; a spot order that is filled trade by trade. A scene is a list of waves: the requests of a wave are
 * sent at once, and the next wave follows after all answers.
 */
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import type { Trade } from "./TraderDesk.ts"
import { ticksInOne } from "./VenueDesk.ts"
import { perpetual, spot } from "./OrderDesk.ts"
import type { PartnerAccount, World } from "./World.ts"

export interface Line {
  readonly clientId: number
  readonly trade: Trade
}
export type Scene = ReadonlyArray<ReadonlyArray<Line>>

/** The leverage of a retail client on this perpetual if the client has chosen none. */
const usualLeverage = 2
const lotsInOne = 10_000
const microInOne = 1_000_000

export class OrderScenes {
  private readonly world: World
  private readonly random: SeededRandom

  constructor(world: World) {
    this.world = world
    this.random = world.fork()
  }

  /** The next scene; null if no client has the money for one. */
  next({ clients }: PartnerAccount): Scene | null {
    const rich = clients.filter((clientId) => this.cash(clientId) > 100)
    const [one, other] = rich
    if (one === undefined) return null
    const draw = this.random.next()
    if (other === undefined || draw < 0.35) return [this.rush(this.random.pick(rich))]
    return draw < 0.65 ? this.cross(rich) : this.partials(one, other)
  }

  /** Two orders, each of which takes most of the account's free margin. */
  private rush(clientId: number): ReadonlyArray<Line> {
    const { random } = this
    const share = random.pick([0.6, 0.75, 0.9, 0.97])
    const own = this.world.store.rows("leverages").find((row) => row.clientId === clientId && row.symbol === perpetual)
    const worth = this.cash(clientId) * share * (own?.leverage ?? usualLeverage)
    const qty = this.lots(worth)
    const side = random.pick(["BUY", "SELL"] as const)
    const resting = { type: "LIMIT", price: this.price() }
    const kinds = [random.pick([{ type: "MARKET" }, resting]), resting]
    return kinds.map((kind) => this.line(clientId, { symbol: perpetual, side, qty, ...kind }))
  }

  /** One order trades with the orders of all other clients, which rest at the best price. */
  private cross(clients: ReadonlyArray<number>): Scene {
    const { random } = this
    const taker = random.pick(clients)
    const makers = clients.filter((clientId) => clientId !== taker)
    const side = random.pick(["BUY", "SELL"] as const)
    const size = random.between(5, 15)
    const price = this.price()
    const resting = makers.map((clientId) =>
      this.line(clientId, { symbol: perpetual, side, qty: lotsText(size), type: "LIMIT", price })
    )
    const taking = { symbol: perpetual, side: side === "BUY" ? "SELL" : "BUY", qty: lotsText(size * makers.length) }
    return [resting, [this.line(taker, { ...taking, type: "MARKET" })]]
  }

  /** A buyer rests at the best price, and a holder of the asset sells to it in parts. */
  private partials(buyer: number, seller: number): Scene {
    const { random } = this
    const part = random.between(3, 15)
    const symbol = spot
    const price = this.price()
    const sale = this.line(seller, { symbol, side: "SELL", qty: lotsText(part), type: "MARKET" })
    return [
      [this.line(seller, { symbol, side: "BUY", qty: lotsText(3 * part), type: "MARKET" })],
      [this.line(buyer, { symbol, side: "BUY", qty: lotsText(3 * part + 1), type: "LIMIT", price })],
      [sale],
      [sale]
    ]
  }

  private line(clientId: number, body: object): Line {
    return { clientId, trade: { method: "POST", path: `/partner/v1/clients/${clientId}/orders`, body, keyed: true } }
  }

  /** A client's committed cash, USDC. */
  private cash(clientId: number): number {
    return Number(this.world.auditor.commits.cash.get(clientId)?.at(-1)?.cash ?? 0n) / microInOne
  }

  /** A price between the venue's own bid and offer. */
  private price(): string {
    return (this.world.venue.desk.price / ticksInOne).toFixed(1)
  }

  /** The quantity for an amount of USDC. */
  private lots(worth: number): string {
    return lotsText(Math.max(1, Math.floor((worth * lotsInOne * ticksInOne) / this.world.venue.desk.price)))
  }
}

const lotsText = (lots: number): string => (lots / lotsInOne).toFixed(4)
