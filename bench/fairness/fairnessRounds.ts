/**
 * Measures the orders of one partner while neighbours read large lists. Each neighbour keeps 64 connections busy with the largest
 * page of a client's orders. The slices alternate: no neighbour, one neighbour, four neighbours.
 */
import { Child } from "../child.ts"
import { startService } from "../service.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import type { SliceResult } from "../load/protocol.ts"
import {
  connections,
  holdMark,
  makeTraders,
  markPrice,
  patienceMillis,
  symbol,
  type Traders,
  workingOrders
} from "../orders/OrderWorld.ts"
import type { OrderResult, OrderSlice } from "../orders/protocol.ts"

export interface FairnessPlan {
  readonly dataDirectory: string
  readonly rounds: number
  readonly sliceMillis: number
  /** The number of stored orders of a neighbour's client. At least one full page. */
  readonly stored: number
  readonly progress: (line: string) => void
}

/** The figures of the measured partner in one setting. */
export interface FairnessRow {
  readonly neighbours: number
  readonly p50: Spread
  readonly p99: Spread
  readonly rate: Spread
  /** Pages per second that all neighbours together read. */
  readonly pages: Spread
}

export type FairnessFindings = ReadonlyArray<FairnessRow>

const settings = [0, 1, 4] as const
/** The price lies inside the venue's band and below its ladder, so that the orders rest. */
const far = { symbol, side: "BUY", qty: "0.0010", price: "55000.0" } as const
/** The most working orders of a client. */
const atOnce = 100
const traders = 50

type Load = Child<OrderSlice, OrderResult>
interface Slice {
  readonly orders: SliceResult
  readonly pages: number
}

export const measureFairness = async (plan: FairnessPlan): Promise<FairnessFindings> => {
  const service = await startService(plan.dataDirectory)
  const loads: Array<Load> = []
  const load = (): Load => {
    const made: Load = new Child("orders/load.ts")
    loads.push(made)
    return made
  }
  const window = ({ partner }: Traders, connectionsOf: number, millis: number) => ({
    port: service.port,
    ca: service.ca,
    partnerKey: partner.partnerKey,
    connections: connectionsOf,
    millis
  })
  const cancelAll = async (by: Load, whose: Traders): Promise<void> => {
    const orders = await workingOrders(service.databaseUrl)
    const { acknowledged } = await by.ask({ ...window(whose, 16, patienceMillis), kind: "cancel", orders })
    if (acknowledged !== orders.length) throw new Error("not every order was cancelled")
  }
  try {
    await holdMark(service, symbol, markPrice)
    const own = await makeTraders(service, "FAIR", "PARTNER", traders)
    const ownLoad = load()
    const neighbours: Array<{ readonly whose: Traders; readonly load: Load }> = []
    for (let n = 1; n <= 4; n++) {
      const neighbour = { whose: await makeTraders(service, `NEXT${n}`, "PARTNER", 1), load: load() }
      neighbours.push(neighbour)
      const { clientIds } = neighbour.whose
      for (let stored = 0; stored < plan.stored; stored += atOnce) {
        const place = window(neighbour.whose, 16, patienceMillis)
        await neighbour.load.ask({ ...place, kind: "place", clientIds, order: far, count: atOnce })
        await cancelAll(neighbour.load, neighbour.whose)
      }
    }
    plan.progress(`${traders} clients may trade, four neighbours have ${plan.stored} orders each`)
    const slices = settings.map((): Array<Slice> => [])
    for (let round = 0; round <= plan.rounds; round++) {
      for (const [at, count] of settings.entries()) {
        const reading = neighbours
          .slice(0, count)
          .map(({ whose, load: by }) =>
            by.ask({ ...window(whose, connections, plan.sliceMillis), kind: "list", clientIds: whose.clientIds })
          )
        const { clientIds } = own
        const place = {
          ...window(own, 1, plan.sliceMillis),
          kind: "place",
          clientIds,
          order: far,
          count: null
        } as const
        const orders = await ownLoad.ask(place)
        const pages = (await Promise.all(reading)).reduce((sum, { rate }) => sum + rate, 0)
        if (orders.errors > 0) throw new Error(`${orders.errors} orders failed: ${orders.firstError}`)
        await cancelAll(ownLoad, own)
        plan.progress(
          `orders beside ${count} neighbours: ${orders.rate.toFixed(0)}/s, p50 ${orders.p50Millis.toFixed(1)} ms, p99 ${orders.p99Millis.toFixed(1)} ms, ${pages.toFixed(0)} pages/s`
        )
        if (round > 0) slices[at]?.push({ orders, pages })
      }
    }
    return slices.map((of, at) => ({
      neighbours: settings[at] ?? 0,
      p50: spreadOf(of.map(({ orders }) => orders.p50Millis)),
      p99: spreadOf(of.map(({ orders }) => orders.p99Millis)),
      rate: spreadOf(of.map(({ orders }) => orders.rate)),
      pages: spreadOf(of.map(({ pages }) => pages))
    }))
  } finally {
    for (const each of loads) await each.stop()
    await service.stop()
  }
}
