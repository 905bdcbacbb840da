/**
 * Sets up the orders part: a service with its simulated venue, partners of both custodies, their clients, a load
 * generator.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Child } from "../child.ts"
import { operator } from "../operator.ts"
import { onDatabase } from "../reference/database.ts"
import { postmasterPid, type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner } from "../setup.ts"
import { onboardTraders } from "../traders.ts"
import { venueSeat, type VenueSeat } from "../venueSeat.ts"
import type { OrderResult, OrderSlice, WorkingOrder } from "./protocol.ts"

export interface OrderPlan {
  readonly dataDirectory: string
  /** Clients of each partner. */
  readonly clients: number
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  /** Orders of each client that one price fills. */
  readonly filledEach: number
  /** Clients with five positions and ten orders. */
  readonly holders: number
  readonly progress: (line: string) => void
}

export interface Traders {
  readonly partner: BenchPartner
  readonly clientIds: ReadonlyArray<number>
}

export interface OrderWorld {
  readonly plan: OrderPlan
  readonly service: RunningService
  readonly venue: VenueSeat
  readonly load: Child<OrderSlice, OrderResult>
  readonly custodian: Traders
  readonly broker: Traders
}

export const symbol = "BTC-USDC-PERP"
export const markPrice = "60000"
const cash = "100000.00"
/** Quantity of each level of the venue's own book: enough that one price move fills every order that it reaches. */
const bookSize = "100"
/** Timeout of every request of a slice with a list, ms. */
export const patienceMillis = 300_000
export const connections = 64

export const holdMark = (service: RunningService, of: string, price: string) =>
  operator(service, "POST", "/sim/venue/price", { symbol: of, price })

/** Makes a partner with this number of clients that may trade. */
export const makeTraders = async (
  service: RunningService,
  code: string,
  custody: "BROKER" | "PARTNER",
  clients: number
): Promise<Traders> => {
  const partner = await createPartner(service, code, custody)
  return { partner, clientIds: await onboardTraders(service, partner, clients, { custody, cash }, code) }
}

export const makeWorld = async (plan: OrderPlan): Promise<OrderWorld> => {
  const service = await startService(plan.dataDirectory)
  await holdMark(service, symbol, markPrice)
  await operator(service, "POST", "/sim/venue/book", { symbol, size: bookSize })
  const custodian = await makeTraders(service, "ORDERP", "PARTNER", plan.clients)
  const broker = await makeTraders(service, "ORDERB", "BROKER", plan.clients)
  plan.progress(`${2 * plan.clients} clients may trade`)
  const venue = await venueSeat(plan.dataDirectory)
  return { plan, service, venue, load: new Child("orders/load.ts"), custodian, broker }
}

/** The processes whose processor time is measured in a slice; the service's unless another program is named. */
export const processesOf = ({ plan, service, venue, load }: OrderWorld, app = service.pid) => ({
  app,
  postmaster: postmasterPid(plan.dataDirectory),
  generator: load.pid,
  venue: venue.pid
})

/** The service's certificate, which the references also use. */
export const tlsOf = ({ plan }: OrderWorld) => {
  const file = (name: string) => readFileSync(join(plan.dataDirectory, "tls", name), "utf8")
  return { certificate: file("server.pem"), key: file("server.key") }
}

/** Orders of a database that are working in the venue's book, by ascending id. */
export const workingOrders = (databaseUrl: string): Promise<ReadonlyArray<WorkingOrder>> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly client_id: string; readonly id: string }>(
      "SELECT client_id, id FROM orders WHERE state = 'ACKED' ORDER BY id"
    )
    return rows.map(({ client_id, id }) => [Number(client_id), Number(id)] as const)
  })

/** The number of orders in each state, and the number of trades. */
export const countedOrders = (databaseUrl: string): Promise<Readonly<Record<string, number>>> =>
  onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ readonly state: string; readonly n: string }>(
      `SELECT state, count(*) AS n FROM orders GROUP BY state UNION ALL SELECT 'fills', count(*) FROM fills
       UNION ALL SELECT 'calls', count(*) FROM venue_calls`
    )
    return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]))
  })
