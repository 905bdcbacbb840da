/**
 * ACCOUNT statements of very many postings: model, CSV and PDF of one at a time, beside Fastify, pg, JSON.stringify and pdfkit as they
 * come; what each adds to the memory of a process that has made a small one; and what another partner's callers notice of four builds
 * with their PDFs at once.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Child } from "../child.ts"
import type { PacedLoadQuestion, PacedResult } from "../contracts/protocol.ts"
import { besideOthers, paced, tradePattern } from "../margin/MarginWorld.ts"
import { peakMegabytes, residentMegabytes, resetPeak } from "../processFacts.ts"
import { makeReferenceDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner, onboardClients, reportCollateral } from "../setup.ts"
import { storeClients } from "../storedClients.ts"
import { makeTrader } from "../traders.ts"
import { storeTrades } from "./preparedTrades.ts"
import type { StatementServerQuestion } from "./protocol.ts"
import { makeAccount, saveFile, type StatementSide } from "./statementCalls.ts"

export interface FilePlan {
  readonly dataDirectory: string
  readonly postings: number
  /** Of the statement that warms a process up. */
  readonly few: number
  readonly rounds: number
  /** Clients of the other partner. */
  readonly others: number
  readonly progress: (line: string) => void
}

export const steps = ["model", "csv", "pdf"] as const
export type Step = (typeof steps)[number]
type Sides<A> = { readonly service: A; readonly reference: A }

export interface StepFindings {
  /** Rows a second. */
  readonly rate: Sides<Spread>
  /** MB of the process at its peak, more than before. */
  readonly memory: Sides<number>
  /** Bytes of the file; of a model none. */
  readonly bytes: Sides<number>
}

export interface FileFindings {
  readonly postings: number
  readonly of: { readonly [S in Step]: StepFindings }
  readonly beside: PacedResult
  readonly without: PacedResult
}

const cash = "1000000.00"
const atOnce = 4
const hour = 3_600_000
const days = 30 * 24 * hour

interface World {
  readonly plan: FilePlan
  readonly partner: BenchPartner
  readonly other: BenchPartner & { readonly clientIds: ReadonlyArray<number> }
  /** With few postings. */
  readonly small: number
  /** One whose memory is measured, one for each round, then those of four builds at once. */
  readonly large: ReadonlyArray<number>
  readonly period: { readonly from: number; readonly to: number }
  readonly ownUrl: string
}

const makeWorld = async (plan: FilePlan): Promise<World> => {
  const service = await startService(plan.dataDirectory)
  try {
    const partner = await createPartner(service, "FILES")
    const other = await createPartner(service, "OTHER")
    const [pattern] = (await onboardClients(service, partner, 1, "files")).clientIds as [number]
    await makeTrader(service, partner, pattern, { custody: "PARTNER", cash })
    await tradePattern(service, partner, pattern)
    const others = (await onboardClients(service, other, plan.others, "other")).clientIds
    const ownUrl = await makeReferenceDatabase(service.databaseUrl, "reference_statements")
    const clientIds = await storeClients(service.databaseUrl, pattern, 1 + 1 + plan.rounds + atOnce)
    const to = Date.now() - hour
    const period = { from: to - days, to }
    const [small, ...large] = clientIds as [number, ...Array<number>]
    await storeTrades(service.databaseUrl, pattern, { clientIds: [small], each: plan.few, ...period })
    await storeTrades(service.databaseUrl, pattern, { clientIds: large, each: plan.postings, ...period })
    plan.progress(`${large.length} clients with ${plan.postings} postings each stored`)
    return { plan, partner, other: { ...other, clientIds: others }, small, large, period, ownUrl }
  } finally {
    await service.stop()
  }
}

/** A service, or the reference, that has just begun and has made a small statement with its files. */
interface Running {
  readonly side: StatementSide
  readonly pid: number
  readonly end: () => Promise<void>
}

const warmed = async ({ small, period }: World, running: Running): Promise<Running> => {
  const made = await makeAccount(running.side, { clientId: small, ...period })
  for (const form of ["csv", "pdf"] as const) await saveFile(running.side, small, made, form)
  return running
}

const beginService = async (world: World): Promise<Running & { readonly service: RunningService }> => {
  const { plan, partner, other } = world
  const service = await startService(plan.dataDirectory)
  const { port, ca, pid } = service
  // Its seal holds all postings before it: the copies have none.
  await reportCollateral(service, other, other.clientIds[0] as number, `seal-${Date.now()}`)
  const side = { port, ca, partnerKey: partner.partnerKey }
  return { ...(await warmed(world, { side, pid, end: service.stop })), service }
}

const beginReference = async (world: World, service: RunningService): Promise<Running> => {
  const { plan, partner, ownUrl } = world
  const file = (name: string) => readFileSync(join(plan.dataDirectory, "tls", name), "utf8")
  const child = new Child<StatementServerQuestion, { readonly port: number }>("statements/reference.ts")
  const tls = { certificate: file("server.pem"), key: file("server.key") }
  const { port } = await child.ask({ databaseUrl: service.databaseUrl, ownUrl, ...tls })
  const side = { port, ca: service.ca, partnerKey: partner.partnerKey }
  return warmed(world, { side, pid: child.pid, end: () => child.stop() })
}

interface Measured {
  readonly seconds: number
  readonly bytes: number
  readonly memory: number
}

/** One step of one client's statement; what it took, and what it added to the process at its peak. */
const measureStep = async (world: World, { side, pid }: Running, clientId: number, step: Step): Promise<Measured> => {
  const asked = { clientId, ...world.period }
  // The statement of a file is there before.
  const before = step === "model" ? null : await makeAccount(side, asked)
  const resident = residentMegabytes(pid)
  resetPeak(pid)
  const began = performance.now()
  const made = before ?? (await makeAccount(side, asked))
  const bytes = step === "model" ? 0 : await saveFile(side, clientId, made, step)
  const seconds = (performance.now() - began) / 1_000
  if (made.rows !== world.plan.postings) throw new Error(`the statement has ${made.rows} rows`)
  return { seconds, bytes, memory: peakMegabytes(pid) - resident }
}

type Found = { readonly [S in Step]: Array<Measured> }
const nothing = (): Found => ({ model: [], csv: [], pdf: [] })

/** Memory: each step in a process of its own, the statement of the first large client. */
const measureMemory = async (world: World): Promise<Sides<Record<Step, number>>> => {
  const found = { service: { model: 0, csv: 0, pdf: 0 }, reference: { model: 0, csv: 0, pdf: 0 } }
  for (const step of steps) {
    const service = await beginService(world)
    const reference = await beginReference(world, service.service)
    try {
      const [clientId] = world.large as readonly [number]
      found.service[step] = (await measureStep(world, service, clientId, step)).memory
      found.reference[step] = (await measureStep(world, reference, clientId, step)).memory
    } finally {
      await reference.end()
      await service.end()
    }
    const { service: own, reference: theirs } = found
    world.plan.progress(
      `${step}: ${own[step].toFixed(0)} MB more in the service, ${theirs[step].toFixed(0)} MB in the reference`
    )
  }
  return found
}

const measureRates = async (world: World, service: Running, reference: Running): Promise<Sides<Found>> => {
  const found = { service: nothing(), reference: nothing() }
  for (const clientId of world.large.slice(1, 1 + world.plan.rounds)) {
    for (const step of steps) {
      for (const [name, running] of [
        ["service", service],
        ["reference", reference]
      ] as const)
        found[name][step].push(await measureStep(world, running, clientId, step))
    }
    const last = (name: keyof typeof found) =>
      steps.map((step) => `${step} ${(found[name][step].at(-1)?.seconds ?? 0).toFixed(1)} s`).join(", ")
    world.plan.progress(`statements: service ${last("service")}; reference ${last("reference")}`)
  }
  return found
}

/** So long every one of the other partner's clients is called, twice: their accounts are in memory then, with the builds and without. */
const warmMillis = ({ others }: FilePlan): number =>
  (2 * others * 1_000) / (paced.readsPerSecond + paced.reportsPerSecond)

/** Four builds with their PDFs at once, and as long without. */
const measureBeside = async (world: World, { service, side }: Running & { readonly service: RunningService }) => {
  const load = new Child<PacedLoadQuestion, PacedResult>("contracts/pacedLoad.ts")
  const watched = { load, other: world.other }
  try {
    await besideOthers(watched, service, "warm", () => pause(warmMillis(world.plan)))
    const began = performance.now()
    const { beside } = await besideOthers(watched, service, "builds", () =>
      Promise.all(
        world.large.slice(-atOnce).map(async (clientId) => {
          const made = await makeAccount(side, { clientId, ...world.period })
          await saveFile(side, clientId, made, "pdf")
        })
      )
    )
    const millis = performance.now() - began
    const { beside: without } = await besideOthers(watched, service, "calm", () => pause(millis))
    return { beside, without }
  } finally {
    await load.stop()
  }
}

export const measureFiles = async (plan: FilePlan): Promise<FileFindings> => {
  const world = await makeWorld(plan)
  const memory = await measureMemory(world)
  const service = await beginService(world)
  const reference = await beginReference(world, service.service)
  try {
    const rates = await measureRates(world, service, reference)
    await reference.end()
    const { beside, without } = await measureBeside(world, service)
    const ratesOf = (all: Found, step: Step) => spreadOf(all[step].map(({ seconds }) => plan.postings / seconds))
    const of = (step: Step): StepFindings => ({
      rate: { service: ratesOf(rates.service, step), reference: ratesOf(rates.reference, step) },
      memory: { service: memory.service[step], reference: memory.reference[step] },
      bytes: { service: rates.service[step][0]?.bytes ?? 0, reference: rates.reference[step][0]?.bytes ?? 0 }
    })
    return { postings: plan.postings, of: { model: of("model"), csv: of("csv"), pdf: of("pdf") }, beside, without }
  } finally {
    await reference.end()
    await service.end()
  }
}
