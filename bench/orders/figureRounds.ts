/**
 * Margin reads and previews over HTTP at 64 connections, of clients with five positions and ten orders each, beside a service of
 * Fastify and pg with the same formulas, which has to answer the same to the last figure.
 */
import { Agent } from "node:https"
import { checkAgreement } from "../agreement.ts"
import { Child } from "../child.ts"
import { measureSlice, type Used } from "../measureSlice.ts"
import { columnsOf, makeReferenceDatabase, onDatabase } from "../reference/database.ts"
import { rowOf, type Rows } from "../rounds.ts"
import { createPartner } from "../setup.ts"
import { textOf } from "../textOf.ts"
import { onboardTraders } from "../traders.ts"
import {
  connections,
  holdMark,
  type OrderWorld,
  patienceMillis,
  processesOf,
  tlsOf,
  type Traders
} from "./OrderWorld.ts"
import type { FigureServerQuestion, HeldMark, OrderResult } from "./protocol.ts"

export interface FigureFindings {
  readonly previews: Rows
  readonly reads: Rows
}

interface Market extends HeldMark {
  readonly qty: string
  /** A limit that buys at once, and one that rests. */
  readonly taking: string
  readonly resting: string
}

const market = (
  base: string,
  price: string,
  [priceDecimals, qtyDecimals]: readonly [number, number],
  [qty, taking, resting]: readonly [string, string, string]
): Market => ({
  symbol: `${base}-USDC-PERP`,
  price,
  priceTick: (1 / 10 ** priceDecimals).toFixed(priceDecimals),
  priceDecimals,
  qtyDecimals,
  qty,
  taking,
  resting
})

const held: ReadonlyArray<Market> = [
  market("BTC", "60000", [1, 4], ["0.0010", "60600.0", "57000.0"]),
  market("ETH", "3000", [2, 3], ["0.020", "3030.00", "2850.00"]),
  market("SOL", "150", [3, 2], ["1.00", "151.500", "142.500"]),
  market("BNB", "600", [2, 3], ["0.100", "606.00", "570.00"]),
  market("XRP", "0.6", [4, 0], ["100", "0.6060", "0.5700"])
]
const restingEach = 2
const cash = "100000.00"
const copied = ["positions", "orders"] as const
const kinds = ["margin", "preview"] as const
type Kind = (typeof kinds)[number]
type Measured = OrderResult & Used

class Figures {
  private readonly world: OrderWorld
  private readonly holders: Traders
  private readonly reference: Child<FigureServerQuestion, { readonly port: number }>

  constructor(world: OrderWorld, holders: Traders, reference: Figures["reference"]) {
    this.world = world
    this.holders = holders
    this.reference = reference
  }

  async run(): Promise<FigureFindings> {
    await this.hold()
    const { port } = await this.serveReference()
    for (const kind of kinds) await this.compare(kind, port)
    const found = { margin: await this.rounds("margin", port), preview: await this.rounds("preview", port) }
    return { previews: found.preview, reads: found.margin }
  }

  /** Five positions and ten orders of each client. */
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

  /** The reference with the rows of these clients. */
  private async serveReference(): Promise<{ readonly port: number }> {
    const { service } = this.world
    const databaseUrl = await makeReferenceDatabase(service.databaseUrl, "reference_figures")
    await onDatabase(service.databaseUrl, (from) =>
      onDatabase(databaseUrl, async (to) => {
        for (const table of [...copied, "balances"]) {
          const { rows } = await from.query<{ readonly all: string | null }>(
            `SELECT json_agg(t)::text AS all FROM ${table} t WHERE client_id = ANY($1)`,
            [this.holders.clientIds]
          )
          if (table === "balances")
            await to.query("DELETE FROM balances WHERE client_id = ANY($1)", [this.holders.clientIds])
          const columns = await columnsOf(to, table)
          await to.query(
            `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`,
            [rows[0]?.all ?? "[]"]
          )
        }
        await to.query("VACUUM ANALYZE")
      })
    )
    return this.reference.ask({ databaseUrl, ...tlsOf(this.world), marks: held })
  }

  /** Both sides answer the same. */
  private async compare(kind: Kind, referencePort: number): Promise<void> {
    const { service } = this.world
    const [clientId] = this.holders.clientIds
    const asked = (url: string) => {
      const agent = new Agent({ ca: service.ca })
      const key = this.holders.partner.partnerKey
      const path = `/partner/v1/clients/${clientId}/margin${kind === "margin" ? "" : "/preview"}`
      const body = kind === "margin" ? undefined : { ...this.previewed, type: "LIMIT" }
      return textOf({ ...service, url }, agent, {
        method: kind === "margin" ? "GET" : "POST",
        path,
        key,
        body
      }).finally(() => agent.destroy())
    }
    const [ours, theirs] = [await asked(service.url), await asked(`https://127.0.0.1:${referencePort}`)]
    if (ours !== theirs) throw new Error(`service and reference answer differently: ${ours} ${theirs}`)
  }

  private get previewed() {
    const [{ symbol, qty, resting }] = held as readonly [Market, ...Array<Market>]
    return { symbol, side: "BUY", qty, price: resting } as const
  }

  private async slice(kind: Kind, port: number, pid: number, millis: number): Promise<Measured> {
    const { clientIds } = this.holders
    const { measured } = await measureSlice(processesOf(this.world, pid), () =>
      this.world.load.ask({ kind, ...this.window(port, millis), clientIds, order: this.previewed })
    )
    return measured
  }

  private async rounds(kind: Kind, referencePort: number): Promise<Rows> {
    const { plan, service } = this.world
    const ours: Array<Measured> = []
    const theirs: Array<Measured> = []
    for (let round = 0; round <= plan.rounds; round++) {
      const millis = round === 0 ? plan.warmMillis : plan.sliceMillis
      const own = await this.slice(kind, service.port, service.pid, millis)
      const other = await this.slice(kind, referencePort, this.reference.pid, millis)
      plan.progress(
        `${kind}, ${round === 0 ? "warm-up" : `round ${round}`}: service ${own.rate.toFixed(0)}/s, reference ${other.rate.toFixed(0)}/s`
      )
      if (round === 0) continue
      ours.push(own)
      theirs.push(other)
    }
    return { service: rowOf("service", ours), typical: null, tuned: rowOf("Fastify + pg", theirs), plain: null }
  }
}

export const measureFigures = async (world: OrderWorld): Promise<FigureFindings> => {
  const { service, plan } = world
  const partner = await createPartner(service, "ORDERF")
  const clientIds = await onboardTraders(service, partner, plan.holders, { custody: "PARTNER", cash }, "ORDERF")
  const reference: Figures["reference"] = new Child("orders/figureReference.ts")
  try {
    return await new Figures(world, { partner, clientIds }, reference).run()
  } finally {
    await reference.stop()
  }
}
