/**
 * Takes over HTTP at 64 connections. The service and the typical and the tuned reference take turns at the same venue
 * process. After each slice exactly the answered takes are stored as open, cost their notional once, and are open at
 * the venue.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { checkAgreement } from "../agreement.ts"
import { Child } from "../child.ts"
import type { SliceResult } from "../load/protocol.ts"
import { measureSlice, type Used } from "../measureSlice.ts"
import { makeReferenceDatabase, onDatabase } from "../reference/database.ts"
import { type Row, rowOf, type Spread, spreadOf } from "../rounds.ts"
import { postmasterPid, type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner } from "../setup.ts"
import { onboardTraders } from "../traders.ts"
import { venueSeat, type VenueSeat } from "../venueSeat.ts"
import { type Written, writtenEach, writtenTo } from "../written.ts"
import { putOffer } from "./boardOffer.ts"
import type { HeldOffer, StakingSlice, TakeServerQuestion } from "./protocol.ts"

export interface TakePlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  readonly progress: (line: string) => void
}

/** With the venue's processor time and the written bytes, both per take. */
export interface TakeRow extends Row {
  readonly venue: Spread
  readonly tableBytes: Spread
  readonly logBytes: Spread
}

type System = "service" | "typical" | "tuned"

export interface TakeFindings {
  readonly rows: { readonly [S in System]: TakeRow }
  readonly otherCores: Spread
  /** Takes of the service. Each was found stored as it was answered. */
  readonly takes: number
}

type Measured = SliceResult & Used & { readonly written: Written }

interface Target {
  readonly system: System
  readonly pid: number
  readonly port: number
  readonly databaseUrl: string
  takes: number
}

const connections = 64
const cash = "10000000.00"
const referenceCash = 10_000_000_000_000n
const qty = "10"
const notional = 10_000_000n
const offered = "100000000"
const terms = { rateBps: 400, tenorDays: 30 } as const

class Takes {
  private readonly plan: TakePlan
  private readonly service: RunningService
  private readonly partner: BenchPartner
  private readonly clientIds: ReadonlyArray<number>
  private readonly venue: VenueSeat
  private readonly load = new Child<StakingSlice, SliceResult>("staking/load.ts")
  private readonly children: Array<Child<TakeServerQuestion, { readonly port: number }>> = []
  private readonly targets: Array<Target> = []
  private readonly slices = new Map<System, Array<Measured>>()
  private readonly otherCores: Array<number> = []

  constructor(
    plan: TakePlan,
    service: RunningService,
    partner: BenchPartner,
    clientIds: ReadonlyArray<number>,
    venue: VenueSeat
  ) {
    this.plan = plan
    this.service = service
    this.partner = partner
    this.clientIds = clientIds
    this.venue = venue
  }

  async run(): Promise<TakeFindings> {
    try {
      const offerId = await putOffer(this.service, this.partner, { ...terms, qty: offered })
      await this.begin({ offerId, ...terms })
      for (let round = 0; round <= this.plan.rounds; round++) await this.round(round, offerId)
      return {
        rows: { service: this.rowOf("service"), typical: this.rowOf("typical"), tuned: this.rowOf("tuned") },
        otherCores: spreadOf(this.otherCores),
        takes: this.targets[0]?.takes ?? 0
      }
    } finally {
      await this.load.stop()
      for (const child of this.children) await child.stop()
    }
  }

  private async begin(offer: HeldOffer): Promise<void> {
    const { pid, port, databaseUrl } = this.service
    this.targets.push({ system: "service", pid, port, databaseUrl, takes: 0 })
    const file = (name: string) => readFileSync(join(this.plan.dataDirectory, "tls", name), "utf8")
    const tls = { certificate: file("server.pem"), key: file("server.key") }
    for (const style of ["typical", "tuned"] as const) {
      const url = await makeReferenceDatabase(databaseUrl, `reference_takes_${style}`)
      await onDatabase(url, (client) => client.query("UPDATE balances SET cash = $1", [referenceCash]))
      const child = new Child<TakeServerQuestion, { readonly port: number }>("staking/takeReference.ts")
      this.children.push(child)
      const answer = await child.ask({ style, databaseUrl: url, offer, ...tls, ...this.venue })
      this.targets.push({ system: style, pid: child.pid, port: answer.port, databaseUrl: url, takes: 0 })
    }
  }

  private async round(round: number, offerId: number): Promise<void> {
    const { plan } = this
    const figures: Array<string> = []
    for (const target of this.targets) {
      const measured = await this.slice(target, offerId, round === 0 ? plan.warmMillis : plan.sliceMillis)
      target.takes += measured.acknowledged
      await this.check(target)
      const { system } = target
      if (measured.rate === 0) throw new Error(`${system} has answered nothing within the window`)
      if (round > 0) this.slices.set(system, [...(this.slices.get(system) ?? []), measured])
      figures.push(`${system} ${measured.rate.toFixed(0)}/s p99 ${measured.p99Millis.toFixed(0)} ms`)
    }
    plan.progress(`takes, ${round === 0 ? "warm-up" : `round ${round}`}: ${figures.join(" | ")}`)
  }

  private async slice({ port, pid, databaseUrl }: Target, offerId: number, millis: number): Promise<Measured> {
    const { plan, service, partner, load, venue, clientIds } = this
    const postmaster = postmasterPid(plan.dataDirectory)
    const processes = { app: pid, postmaster, generator: load.pid, venue: venue.pid }
    const window = { port, ca: service.ca, partnerKey: partner.partnerKey, connections, millis, clientIds }
    const before = await writtenTo(databaseUrl)
    const { measured, otherCores } = await measureSlice(processes, () =>
      load.ask({ kind: "take", ...window, offerId, qty, count: null })
    )
    this.otherCores.push(otherCores)
    return { ...measured, written: writtenEach(before, await writtenTo(databaseUrl), measured.acknowledged) }
  }

  /** Checks that exactly this number of swaps is open, each with its principal posted once and with all its rows. */
  private async check({ system, databaseUrl, takes }: Target): Promise<void> {
    if (system === "service") await checkAgreement(this.service)
    const [found, cost] = await onDatabase(databaseUrl, async (client) => {
      const { rows } = await client.query<
        Readonly<Record<"open" | "others" | "calls" | "items" | "events" | "lent", string>>
      >(
        `SELECT count(*) FILTER (WHERE state = 'OPEN') AS open, count(*) FILTER (WHERE state <> 'OPEN') AS others,
                (SELECT count(*) FROM venue_calls) AS calls,
                (SELECT count(*) FROM settlement_items WHERE type = 'SWAP_PRINCIPAL') AS items,
                (SELECT count(*) FROM events WHERE data ->> 'type' = 'SWAP_PRINCIPAL') AS events,
                (SELECT coalesce(sum(amount), 0) FROM postings WHERE client_id IS NOT NULL
                    AND tx_id IN (SELECT tx_id FROM ledger_transactions WHERE type LIKE 'SWAP%')) AS lent
           FROM swaps`
      )
      const { open, others, calls, items, events, lent } = rows[0] as (typeof rows)[number]
      return [[open, others, calls, items, events].join(), lent]
    })
    if (found !== [takes, 0, 0, takes, takes].join() || BigInt(cost ?? 0) !== -notional * BigInt(takes))
      throw new Error(`${system}: open, others, calls, items, events are ${found}, lent is ${cost}, of ${takes} takes`)
  }

  private rowOf(system: System): TakeRow {
    const slices = this.slices.get(system) ?? []
    return {
      ...rowOf(system === "service" ? "service" : `Fastify + pg, ${system}`, slices),
      venue: spreadOf(slices.map(({ venueMicros }) => venueMicros)),
      tableBytes: spreadOf(slices.map(({ written }) => written.tableBytes)),
      logBytes: spreadOf(slices.map(({ written }) => written.logBytes))
    }
  }
}

export const measureTakes = async (plan: TakePlan): Promise<TakeFindings> => {
  const service = await startService(plan.dataDirectory)
  try {
    const partner = await createPartner(service, "TAKES")
    const clientIds = await onboardTraders(service, partner, plan.clients, { custody: "PARTNER", cash }, "TAKES")
    plan.progress(`${clientIds.length} clients may take`)
    return await new Takes(plan, service, partner, clientIds, await venueSeat(plan.dataDirectory)).run()
  } finally {
    await service.stop()
  }
}
