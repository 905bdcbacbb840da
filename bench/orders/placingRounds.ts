/**
 * Measures orders that are accepted and cancelled over HTTP at 64 connections: LIMIT orders far from the book are
 * placed for a window, then all are cancelled. The service and the typical and the tuned reference take turns at the
 * same venue process. After each slice the answered orders are stored, working at the venue, and cancelled, and no
 * others.
 */
import { Effect, Redacted } from "effect"
import { queryVenue } from "../../src/runtime/adapters/queryVenue.ts"
import { checkAgreement } from "../agreement.ts"
import { Child } from "../child.ts"
import { measureSlice, type Used } from "../measureSlice.ts"
import { makeReferenceDatabase, onDatabase } from "../reference/database.ts"
import type { Style } from "../reference/protocol.ts"
import { type Spread, rowOf, type Row, spreadOf } from "../rounds.ts"
import { type Written, writtenEach, writtenTo } from "../written.ts"
import {
  connections,
  countedOrders,
  type OrderWorld,
  patienceMillis,
  processesOf,
  symbol,
  tlsOf,
  workingOrders
} from "./OrderWorld.ts"
import type { OrderResult, OrderServerQuestion, OrderSlice } from "./protocol.ts"

/** With the venue's processor time and the written bytes, both per request. */
export interface OrderSystemRow extends Row {
  readonly venue: Spread
  readonly tableBytes: Spread
  readonly logBytes: Spread
}

export interface PlacingRows {
  readonly service: OrderSystemRow
  readonly typical: OrderSystemRow
  readonly tuned: OrderSystemRow
}

export interface PlacingFindings {
  readonly placed: PlacingRows
  readonly cancelled: PlacingRows
  readonly otherCores: Spread
  /** Orders of the service. Each was found stored as it was answered. */
  readonly orders: number
}

type System = keyof PlacingRows
type Measured = OrderResult & Used & { readonly written: Written }

interface Target {
  readonly system: System
  readonly pid: number
  readonly port: number
  readonly databaseUrl: string
  orders: number
}

/** A price inside the venue's band of a tenth around the mark, and below its ladder. */
const far = { symbol, side: "BUY", qty: "0.0010", price: "55000.0" } as const
const referenceCash = 100_000_000_000n

export class Placing {
  private readonly world: OrderWorld
  private readonly children: Array<Child<OrderServerQuestion, { readonly port: number }>> = []
  private readonly targets: Array<Target> = []
  private readonly slices = new Map<string, Array<Measured>>()
  private readonly otherCores: Array<number> = []

  constructor(world: OrderWorld) {
    this.world = world
  }

  async run(): Promise<PlacingFindings> {
    const { plan } = this.world
    try {
      await this.begin()
      for (let round = 0; round <= plan.rounds; round++) await this.round(round)
      const [service] = this.targets
      const rows = (what: string): PlacingRows => ({
        service: this.rowOf(what, "service"),
        typical: this.rowOf(what, "typical"),
        tuned: this.rowOf(what, "tuned")
      })
      return {
        placed: rows("placed"),
        cancelled: rows("cancelled"),
        otherCores: spreadOf(this.otherCores),
        orders: service?.orders ?? 0
      }
    } finally {
      for (const child of this.children) await child.stop()
    }
  }

  private async begin(): Promise<void> {
    const { service, venue } = this.world
    const { pid, port, databaseUrl } = service
    this.targets.push({ system: "service", pid, port, databaseUrl, orders: 0 })
    for (const style of ["typical", "tuned"] as const) {
      const url = await makeReferenceDatabase(databaseUrl, `reference_orders_${style}`)
      await onDatabase(url, (client) => client.query("UPDATE balances SET cash = $1", [referenceCash]))
      const child = new Child<OrderServerQuestion, { readonly port: number }>("orders/reference.ts")
      this.children.push(child)
      const answer = await child.ask({ style, databaseUrl: url, ...tlsOf(this.world), ...venue })
      this.targets.push({ system: style, pid: child.pid, port: answer.port, databaseUrl: url, orders: 0 })
    }
  }

  private async round(round: number): Promise<void> {
    const { plan, custodian } = this.world
    const millis = round === 0 ? plan.warmMillis : plan.sliceMillis
    const figures: Array<string> = []
    for (const target of this.targets) {
      const { clientIds } = custodian
      const placed = await this.slice(target, { kind: "place", clientIds, order: far, count: null, millis })
      target.orders += placed.acknowledged
      await this.check(target, placed.acknowledged)
      const orders = await workingOrders(target.databaseUrl)
      const cancelled = await this.slice(target, { kind: "cancel", orders, millis: patienceMillis })
      if (cancelled.acknowledged !== orders.length) throw new Error("not every order was cancelled")
      await this.check(target, 0)
      if (round > 0) {
        this.keep("placed", target, placed)
        this.keep("cancelled", target, cancelled)
      }
      figures.push(
        `${target.system} ${placed.rate.toFixed(0)}/s p99 ${placed.p99Millis.toFixed(0)} ms, ${cancelled.rate.toFixed(0)}/s`
      )
    }
    plan.progress(`orders and cancels, ${round === 0 ? "warm-up" : `round ${round}`}: ${figures.join(" | ")}`)
  }

  private async slice(
    target: Target,
    asked: DistributiveOmit<OrderSlice, "port" | "ca" | "partnerKey" | "connections">
  ): Promise<Measured> {
    const { service, custodian, load } = this.world
    const before = await writtenTo(target.databaseUrl)
    const { partnerKey } = custodian.partner
    const { measured, otherCores } = await measureSlice(processesOf(this.world, target.pid), () =>
      load.ask({ ...asked, port: target.port, ca: service.ca, partnerKey, connections })
    )
    const after = await writtenTo(target.databaseUrl)
    this.otherCores.push(otherCores)
    return { ...measured, written: writtenEach(before, after, measured.acknowledged) }
  }

  /** Checks that exactly this number of orders is working, here and at the venue, and that all others are cancelled. */
  private async check(target: Target, working: number): Promise<void> {
    if (target.system === "service") await checkAgreement(this.world.service)
    else await this.checkVenue(target.system, target.databaseUrl, working)
    const { ACKED = 0, CANCELLED = 0, fills, calls, ...others } = await countedOrders(target.databaseUrl)
    const done = target.orders - working
    if (ACKED !== working || CANCELLED !== done || fills !== 0 || calls !== 0 || Object.keys(others).length > 0)
      throw new Error(
        `${target.system}: ${ACKED} orders work and ${CANCELLED} are cancelled, not ${working} and ${done}; ${calls} calls, ${fills} trades, others ${JSON.stringify(others)}.`
      )
  }

  /** Counts a reference's working orders at the venue, account by account. */
  private async checkVenue(style: Style, databaseUrl: string, working: number): Promise<void> {
    const { venue } = this.world
    const connection = { url: venue.venueUrl, key: Redacted.make(venue.venueKey), ca: null }
    // Reads only clients with an order, because the others have no account at the venue.
    const uids = await onDatabase(databaseUrl, async (client) => {
      const { rows } = await client.query<{ readonly uid: string }>(
        "SELECT uid FROM clients c WHERE EXISTS (SELECT 1 FROM orders WHERE client_id = c.id)"
      )
      return rows.map(({ uid }) => uid)
    })
    let found = 0
    for (const uid of uids) {
      const account = await Effect.runPromise(
        queryVenue(connection, `/venue/v1/accounts/${style}-${uid}`, { timeoutMillis: 10_000 })
      )
      found += (account as { readonly orders: ReadonlyArray<unknown> }).orders.length
    }
    if (found !== working)
      throw new Error(`${found} orders of the ${style} reference work at the venue, not ${working}`)
  }

  private keep(what: string, { system }: Target, measured: Measured): void {
    if (measured.rate === 0) throw new Error(`${system} has answered nothing within the window`)
    const key = `${what} ${system}`
    this.slices.set(key, [...(this.slices.get(key) ?? []), measured])
  }

  private rowOf(what: string, system: System): OrderSystemRow {
    const slices = this.slices.get(`${what} ${system}`) ?? []
    return {
      ...rowOf(system === "service" ? "service" : `Fastify + pg, ${system}`, slices),
      venue: spreadOf(slices.map(({ venueMicros }) => venueMicros)),
      tableBytes: spreadOf(slices.map(({ written }) => written.tableBytes)),
      logBytes: spreadOf(slices.map(({ written }) => written.logBytes))
    }
  }
}

type DistributiveOmit<A, K extends PropertyKey> = A extends unknown ? Omit<A, K> : never
