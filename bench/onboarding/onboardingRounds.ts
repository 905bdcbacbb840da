/**
 * Measures onboardings and revisions per second beside a typical Fastify + pg handler: with few stored clients, with
 * many, and onboardings with a long watch list. Slices of the two sides alternate, after a warm-up of each.
 */
import { mkdirSync } from "node:fs"
import { residentMegabytes } from "../processFacts.ts"
import { rowOf, type Rows, type Spread, spreadOf } from "../rounds.ts"
import type { OnboardingSlice } from "./protocol.ts"
import { type Measured, Sides } from "./Sides.ts"

export interface OnboardingRows {
  readonly what: OnboardingSlice["kind"]
  readonly connections: number
  /** Clients stored when the first slice began, copies included. */
  readonly stored: number
  readonly rows: Rows
  /** The share of the service's onboardings that ended in a review. */
  readonly reviewed: number
  /** The share of the service's revisions that changed the identity. */
  readonly identityChanged: number
}

export interface OnboardingFindings {
  readonly few: ReadonlyArray<OnboardingRows>
  readonly many: ReadonlyArray<OnboardingRows>
  /** Onboardings with the long watch list; null if a request failed, which fails the run but keeps its other figures. */
  readonly listed: OnboardingRows | null
  readonly listedFailure: string | null
  readonly entries: number
  /** The duration of the start with the list until ready, and the memory after it. */
  readonly listReadyMillis: number
  readonly listMegabytes: number
  /** Answers of the service. Each was found stored once. */
  readonly onboarded: number
  /** True if the service answers PUT .../kyc. */
  readonly revisions: boolean
  readonly otherCores: Spread
}

export interface OnboardingPlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly storedClients: number
  readonly entries: number
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  readonly progress: (line: string) => void
}

const names = { onboard: "onboardings", revise: "revisions" } as const

const partOf = (slices: ReadonlyArray<Measured>, count: (slice: Measured) => number): number =>
  slices.reduce((sum, slice) => sum + count(slice), 0) /
  Math.max(
    1,
    slices.reduce((sum, slice) => sum + slice.acknowledged, 0)
  )

const measureRows = async (
  sides: Sides,
  plan: OnboardingPlan,
  what: OnboardingSlice["kind"],
  connections: number,
  copies: number
): Promise<OnboardingRows> => {
  const stored = sides.onboarded + copies
  const service: Array<Measured> = []
  const reference: Array<Measured> = []
  for (let round = 0; round <= plan.rounds; round++) {
    const millis = round === 0 ? plan.warmMillis : plan.sliceMillis
    service.push(await sides.run("service", what, connections, millis))
    reference.push(await sides.run("reference", what, connections, millis))
    const figures = [service, reference].map((column) => {
      const last = column.at(-1) as Measured
      return `${last.rate.toFixed(0)}/s p99 ${last.p99Millis.toFixed(1)} ms`
    })
    plan.progress(
      `${names[what]}, ${connections} connections, ${stored} stored, ${round === 0 ? "warm-up" : `round ${round}`}: ${figures.join(" | ")}`
    )
  }
  await sides.verify()
  const counted = service.slice(1)
  return {
    what,
    connections,
    stored,
    rows: {
      service: rowOf("service", counted),
      typical: null,
      tuned: rowOf("typical Fastify + pg", reference.slice(1))
    },
    reviewed: what === "onboard" ? partOf(counted, (slice) => slice.reviews) : 0,
    identityChanged: partOf(counted, (slice) => slice.identityChanges)
  }
}

/** Runs the whole onboarding part on a data directory of its own. */
export const measureOnboarding = async (plan: OnboardingPlan): Promise<OnboardingFindings> => {
  mkdirSync(plan.dataDirectory, { recursive: true })
  const sides = new Sides(plan.dataDirectory)
  try {
    await sides.begin(plan.clients)
    const revisions = await sides.canRevise()
    if (revisions) await sides.beginRevisions()
    else plan.progress("the service does not answer PUT .../kyc: revisions are left out")
    const measure = (what: OnboardingSlice["kind"], connections: number, copies: number) =>
      measureRows(sides, plan, what, connections, copies)
    // Revisions add no clients, and the row with 64 connections shows growth, so both are measured first.
    const few = [
      ...(revisions ? [await measure("revise", 64, 0)] : []),
      await measure("onboard", 64, 0),
      await measure("onboard", 16, 0)
    ]
    await sides.restart("clients", plan.storedClients)
    plan.progress(`${plan.storedClients} clients stored on both sides`)
    const many = [
      ...(revisions ? [await measure("revise", 64, plan.storedClients)] : []),
      await measure("onboard", 64, plan.storedClients),
      await measure("onboard", 16, plan.storedClients)
    ]
    await sides.restart("list", plan.entries)
    const { readyMillis, pid } = sides.service
    const listMegabytes = residentMegabytes(pid)
    plan.progress(`start with ${plan.entries} list entries: ready after ${readyMillis.toFixed(0)} ms`)
    // A screening blocks the event loop, so 64 concurrent ones would mostly measure the wait for each other.
    const outcome = await measure("onboard", 16, plan.storedClients).catch((error: unknown) => String(error))
    return {
      few,
      many,
      listed: typeof outcome === "string" ? null : outcome,
      listedFailure: typeof outcome === "string" ? outcome : null,
      entries: plan.entries,
      listReadyMillis: readyMillis,
      listMegabytes,
      onboarded: sides.onboarded,
      revisions,
      otherCores: spreadOf(sides.otherCores)
    }
  } finally {
    await sides.stop()
  }
}
