/**
 * ACCOUNT statements of very many postings: model, CSV and PDF of one statement at a time; the memory that each adds to
 * a process that has made a small one; and the latency of another partner's callers beside four concurrent builds with
 * their PDFs.
 */
import { setTimeout as pause } from "node:timers/promises"
import { Child } from "../child.ts"
import type { PacedLoadQuestion, PacedResult } from "../contracts/protocol.ts"
import { besideOthers, paced, tradePattern } from "../margin/MarginWorld.ts"
import { peakMegabytes, residentMegabytes, resetPeak } from "../processFacts.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner, onboardClients, reportCollateral } from "../setup.ts"
import { storeClients } from "../storedClients.ts"
import { makeTrader } from "../traders.ts"
import { storeTrades } from "./preparedTrades.ts"
import { makeAccount, saveFile, type StatementSide } from "./statementCalls.ts"

export interface FilePlan {
  readonly dataDirectory: string
  readonly postings: number
  /** Postings of the statement that warms up a process. */
  readonly few: number
  readonly rounds: number
  /** The number of the other partner's clients. */
  readonly others: number
  readonly progress: (line: string) => void
}

export const steps = ["model", "csv", "pdf"] as const
export type Step = (typeof steps)[number]

export interface StepFindings {
  /** Rows per second. */
  readonly rate: Spread
  /** The increase of the process's peak memory, MB. */
  readonly memory: number
  /** Bytes of the file; zero for a model. */
  readonly bytes: number
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
  /** The client with few postings. */
  readonly small: number
  /** Clients with many postings: one for each round of the memory measure, then those of the four concurrent builds. */
  readonly large: ReadonlyArray<number>
  readonly period: { readonly from: number; readonly to: number }
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
    const clientIds = await storeClients(service.databaseUrl, pattern, 1 + 1 + plan.rounds + atOnce)
    const to = Date.now() - hour
    const period = { from: to - days, to }
    const [small, ...large] = clientIds as [number, ...Array<number>]
    await storeTrades(service.databaseUrl, pattern, { clientIds: [small], each: plan.few, ...period })
    await storeTrades(service.databaseUrl, pattern, { clientIds: large, each: plan.postings, ...period })
    plan.progress(`${large.length} clients with ${plan.postings} postings each stored`)
    return { plan, partner, other: { ...other, clientIds: others }, small, large, period }
  } finally {
    await service.stop()
  }
}

/** A service that has just started and has made a small statement with its files. */
interface Running {
  readonly side: StatementSide
  readonly service: RunningService
}

const beginService = async ({ plan, partner, other, small, period }: World): Promise<Running> => {
  const service = await startService(plan.dataDirectory)
  const { port, ca } = service
  // This report's seal covers all postings before it. The copies have no seals.
  await reportCollateral(service, other, other.clientIds[0] as number, `seal-${Date.now()}`)
  const side = { port, ca, partnerKey: partner.partnerKey }
  const made = await makeAccount(side, { clientId: small, ...period })
  for (const form of ["csv", "pdf"] as const) await saveFile(side, small, made, form)
  return { side, service }
}

interface Measured {
  readonly seconds: number
  readonly bytes: number
  readonly memory: number
}

/** Runs one step for one client's statement. Returns its duration, and the increase of the process's peak memory. */
const measureStep = async (
  world: World,
  { side, service }: Running,
  clientId: number,
  step: Step
): Promise<Measured> => {
  const { pid } = service
  const asked = { clientId, ...world.period }
  // The statement of a file exists before its file is rendered.
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

/** Measures memory: each step in a process of its own, for the statement of the first large client. */
const measureMemory = async (world: World): Promise<Record<Step, number>> => {
  const found = { model: 0, csv: 0, pdf: 0 }
  const [clientId] = world.large as readonly [number]
  for (const step of steps) {
    const running = await beginService(world)
    try {
      found[step] = (await measureStep(world, running, clientId, step)).memory
    } finally {
      await running.service.stop()
    }
    world.plan.progress(`${step}: ${found[step].toFixed(0)} MB more`)
  }
  return found
}

const measureRates = async (world: World, running: Running): Promise<Found> => {
  const found = nothing()
  for (const clientId of world.large.slice(1, 1 + world.plan.rounds)) {
    for (const step of steps) found[step].push(await measureStep(world, running, clientId, step))
    const last = steps.map((step) => `${step} ${(found[step].at(-1)?.seconds ?? 0).toFixed(1)} s`).join(", ")
    world.plan.progress(`statements: ${last}`)
  }
  return found
}

/**
 * The time in which each of the other partner's clients is called twice, so that their accounts are in memory both with
 * the builds and without them, ms.
 */
const warmMillis = ({ others }: FilePlan): number =>
  (2 * others * 1_000) / (paced.readsPerSecond + paced.reportsPerSecond)

/**
 * Measures the other partner's calls beside four concurrent builds with their PDFs, and for the same time without
 * builds.
 */
const measureBeside = async (world: World, { service, side }: Running) => {
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
  const running = await beginService(world)
  try {
    const rates = await measureRates(world, running)
    const { beside, without } = await measureBeside(world, running)
    const of = (step: Step): StepFindings => ({
      rate: spreadOf(rates[step].map(({ seconds }) => plan.postings / seconds)),
      memory: memory[step],
      bytes: rates[step][0]?.bytes ?? 0
    })
    return { postings: plan.postings, of: { model: of("model"), csv: of("csv"), pdf: of("pdf") }, beside, without }
  } finally {
    await running.service.stop()
  }
}
