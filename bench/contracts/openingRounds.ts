/**
 * Measures the time from a request for quotes to an open contract, over HTTP at 16 connections. The service is compared
 * with the reference handlers at the same venue, whose dealers answer without latency. Previews are compared with
 * client reads.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Child } from "../child.ts"
import { makeReferenceDatabase, onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import type { Slice, SliceResult } from "../load/protocol.ts"
import { type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner } from "../setup.ts"
import { onboardTraders } from "../traders.ts"
import { venueSeat } from "../venueSeat.ts"
import { operator } from "../operator.ts"
import { checkHouse, holdPrice } from "./house.ts"
import type { OpeningQuestion, OpeningResult, OpeningServerQuestion } from "./openingProtocol.ts"

export interface OpeningPlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  readonly progress: (line: string) => void
}

interface Side {
  readonly rate: Spread
  readonly p99: Spread
}

export interface OpeningFindings {
  /** Contracts opened per second. */
  readonly service: Side
  readonly typical: Side
  readonly previews: Side
  readonly reads: Side
}

const openers = 16
const readers = 64
const cash = "100000.00"
const quick =
  "dealers:\n  - { name: alpha, latencyMillis: 0, validityMillis: 15000, spreadBps: 8, size: 1, withdrawal: 0, lastLookRefusal: 0, silence: 0 }\n"

interface World {
  readonly service: RunningService
  readonly partner: BenchPartner
  readonly clientIds: ReadonlyArray<number>
  readonly load: Child<OpeningQuestion, OpeningResult>
  readonly reading: Child<Slice, SliceResult>
  readonly reference: Child<OpeningServerQuestion, { readonly port: number }>
  readonly referenceUrl: string
  readonly referencePort: number
  slices: number
  openedHere: number
  openedThere: number
}

const startReference = async ({ dataDirectory }: OpeningPlan, service: RunningService, child: World["reference"]) => {
  const databaseUrl = await makeReferenceDatabase(service.databaseUrl, "reference_openings")
  await onDatabase(databaseUrl, async (client) => {
    await client.query("UPDATE balances SET cash = 100000000000, deposited = 100000000000")
    await client.query("INSERT INTO house_balances (account, amount) VALUES ('commission', 0)")
    await client.query("DROP TRIGGER IF EXISTS settlement_items_totals ON settlement_items")
  })
  const file = (name: string) => readFileSync(join(dataDirectory, "tls", name), "utf8")
  const tls = { certificate: file("server.pem"), key: file("server.key") }
  const { port } = await child.ask({ databaseUrl, ...tls, ...(await venueSeat(dataDirectory)) })
  return { databaseUrl, port }
}

const openings = async (world: World, port: number, millis: number): Promise<OpeningResult> => {
  const { service, partner, clientIds, load } = world
  const { ca } = service
  const { partnerKey } = partner
  return load.ask({ kind: "open", port, ca, partnerKey, clientIds, connections: openers, millis })
}

/** Checks that every answered contract is stored with its commission, and that no other contract is stored. */
const checkReference = (world: World) =>
  onDatabase(world.referenceUrl, async (client) => {
    const { rows } = await client.query<{ readonly contracts: string; readonly charged: string; readonly sum: string }>(
      `SELECT (SELECT count(*) FROM barrier_contracts) AS contracts,
              (SELECT count(*) FROM ledger_transactions WHERE type = 'COMMISSION') AS charged,
              (SELECT coalesce(sum(amount), 0) FROM postings) AS sum`
    )
    const { contracts, charged, sum } = rows[0] as (typeof rows)[number]
    if (Number(contracts) !== world.openedThere || contracts !== charged || sum !== "0") {
      throw new Error(
        `The reference has ${contracts} contracts and ${charged} commissions, ${world.openedThere} were answered.`
      )
    }
  })

const sideOf = (results: ReadonlyArray<Pick<OpeningResult, "rate" | "p99Millis">>): Side => ({
  rate: spreadOf(results.map(({ rate }) => rate)),
  p99: spreadOf(results.map(({ p99Millis }) => p99Millis))
})

const measure = async (world: World, plan: OpeningPlan): Promise<OpeningFindings> => {
  const { service, partner, clientIds, load, reading } = world
  const results = { service: [], typical: [], previews: [], reads: [] } as {
    readonly [K in keyof OpeningFindings]: Array<Pick<OpeningResult, "rate" | "p99Millis">>
  }
  const common = { port: service.port, ca: service.ca, partnerKey: partner.partnerKey, clientIds, connections: readers }
  for (let round = 0; round <= plan.rounds; round++) {
    const millis = round === 0 ? plan.warmMillis : plan.sliceMillis
    const ours = await openings(world, service.port, millis)
    world.openedHere += ours.done
    await checkHouse(service, { open: world.openedHere, ended: 0 })
    const theirs = await openings(world, world.referencePort, millis)
    world.openedThere += theirs.done
    await checkReference(world)
    const previews = await load.ask({ ...common, kind: "preview", millis })
    const reads = await reading.ask({ ...common, kind: "read", millis, tag: `o${++world.slices}` })
    plan.progress(
      `openings: service ${ours.rate.toFixed(0)}/s, typical ${theirs.rate.toFixed(0)}/s; previews ${previews.rate.toFixed(0)}/s, reads ${reads.rate.toFixed(0)}/s`
    )
    if (round === 0) continue
    results.service.push(ours)
    results.typical.push(theirs)
    results.previews.push(previews)
    results.reads.push(reads)
  }
  return {
    service: sideOf(results.service),
    typical: sideOf(results.typical),
    previews: sideOf(results.previews),
    reads: sideOf(results.reads)
  }
}

export const measureOpenings = async (plan: OpeningPlan): Promise<OpeningFindings> => {
  const service = await startService(plan.dataDirectory)
  const load: World["load"] = new Child("contracts/openingLoad.ts")
  const reading: World["reading"] = new Child("load/main.ts")
  const reference: World["reference"] = new Child("contracts/openingReference.ts")
  try {
    const partner = await createPartner(service)
    await holdPrice(service, "60000")
    await operator(service, "POST", "/sim/venue/set", { knobs: quick })
    const clientIds = await onboardTraders(service, partner, plan.clients, { custody: "PARTNER", cash })
    const { databaseUrl: referenceUrl, port: referencePort } = await startReference(plan, service, reference)
    const world = { service, partner, clientIds, load, reading, reference, referenceUrl, referencePort }
    return await measure({ ...world, slices: 0, openedHere: 0, openedThere: 0 }, plan)
  } finally {
    for (const child of [load, reading, reference]) await child.stop()
    await service.stop()
  }
}
