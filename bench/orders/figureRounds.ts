/**
 * Margin reads and previews over HTTP at 64 connections, of clients with five positions and ten orders each.
 */
import { checkAgreement } from "../agreement.ts"
import { measureSlice, type Used } from "../measureSlice.ts"
import { onDatabase } from "../reference/database.ts"
import { type Row, rowOf } from "../rounds.ts"
import { createPartner } from "../setup.ts"
import { onboardTraders } from "../traders.ts"
import { connections, holdMark, type OrderWorld, patienceMillis, processesOf, type Traders } from "./OrderWorld.ts"
import type { OrderResult } from "./protocol.ts"

export interface FigureFindings {
  readonly previews: Row
  readonly reads: Row
}

interface Market {
  readonly symbol: string
  readonly price: string
  readonly qty: string
  /** A limit price at which an order trades at once, and one at which it rests. */
  readonly taking: string
  readonly resting: string
}

const market = (base: string, price: string, qty: string, taking: string, resting: string): Market => ({
  symbol: `${base}-USDC-PERP`,
  price,
  qty,
  taking,
  resting
})

const held: ReadonlyArray<Market> = [
  market("BTC", "60000", "0.0010", "60600.0", "57000.0"),
  market("ETH", "3000", "0.020", "3030.00", "2850.00"),
  market("SOL", "150", "1.00", "151.500", "142.500"),
  market("BNB", "600", "0.100", "606.00", "570.00"),
  market("XRP", "0.6", "100", "0.6060", "0.5700")
]
const restingEach = 2
const cash = "100000.00"
type Kind = "margin" | "preview"
type Measured = OrderResult & Used

class Figures {
  private readonly world: OrderWorld
  private readonly holders: Traders

  constructor(world: OrderWorld, holders: Traders) {
    this.world = world
    this.holders = holders
  }

  async run(): Promise<FigureFindings> {
    await this.hold()
    const reads = await this.rounds("margin")
    return { reads, previews: await this.rounds("preview") }
  }

  /** Gives each client five positions and ten orders. */
  private async hold(): Promise<void> {
    const { service, plan } = this.world
    for (const { symbol, price, qty, taking, resting } of held) {
      await holdMark(service, symbol, price)
      for (const limit of [taking, ...Array.from({ length: restingEach }, () => resting)])
        await this.place({ symbol, side: "BUY", qty, price: limit })
    }
    await checkAgreement(service)
    const { clientIds } = this.holders
    const [positions, orders] = await onDatabase(service.databaseUrl, async (client) => {
      const { rows } = await client.query<{ readonly positions: string; readonly orders: string }>(
        `SELECT (SELECT count(*) FROM positions WHERE client_id = ANY($1) AND state = 'OPEN') AS positions,
                (SELECT count(*) FROM orders WHERE client_id = ANY($1) AND state = 'ACKED') AS orders`,
        [clientIds]
      )
      return [Number(rows[0]?.positions), Number(rows[0]?.orders)] as const
    })
    const wanted = clientIds.length * held.length
    if (positions !== wanted || orders !== wanted * restingEach)
      throw new Error(`${clientIds.length} clients have ${positions} positions and ${orders} orders`)
    plan.progress(`${clientIds.length} clients hold ${positions} positions and ${orders} orders`)
  }

  private async place(order: { symbol: string; side: "BUY"; qty: string; price: string }): Promise<void> {
    const { clientIds } = this.holders
    const count = clientIds.length
    const { errors, firstError } = await this.world.load.ask({
      kind: "place",
      ...this.window(this.world.service.port, patienceMillis),
      clientIds,
      order,
      count
    })
    if (errors > 0) throw new Error(`${errors} orders failed, the first one with: ${firstError}`)
  }

  private window(port: number, millis: number) {
    const { service } = this.world
    return { port, ca: service.ca, partnerKey: this.holders.partner.partnerKey, connections, millis }
  }

  private get previewed() {
    const [{ symbol, qty, resting }] = held as readonly [Market, ...Array<Market>]
    return { symbol, side: "BUY", qty, price: resting } as const
  }

  private async slice(kind: Kind, millis: number): Promise<Measured> {
    const { clientIds } = this.holders
    const { port, pid } = this.world.service
    const { measured } = await measureSlice(processesOf(this.world, pid), () =>
      this.world.load.ask({ kind, ...this.window(port, millis), clientIds, order: this.previewed })
    )
    return measured
  }

  private async rounds(kind: Kind): Promise<Row> {
    const { plan } = this.world
    const slices: Array<Measured> = []
    for (let round = 0; round <= plan.rounds; round++) {
      const slice = await this.slice(kind, round === 0 ? plan.warmMillis : plan.sliceMillis)
      plan.progress(`${kind}, ${round === 0 ? "warm-up" : `round ${round}`}: ${slice.rate.toFixed(0)}/s`)
      slices.push(slice)
    }
    return rowOf("service", slices.slice(1))
  }
}

export const measureFigures = async (world: OrderWorld): Promise<FigureFindings> => {
  const { service, plan } = world
  const partner = await createPartner(service, "ORDERF")
  const clientIds = await onboardTraders(service, partner, plan.holders, { custody: "PARTNER", cash }, "ORDERF")
  return new Figures(world, { partner, clientIds }).run()
}
