/**
 * One deterministic run: set-up without faults, then work under faults, then the faults end and everything must come to
 * rest, served again and true (architecture, Proof). The seed decides all of it; the run is one synchronous call.
 */
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { Chaos } from "./Chaos.ts"
import { finalChecks } from "./finalChecks.ts"
import type { Finding } from "./Findings.ts"
import type { Seams } from "./SimProcess.ts"
import { inVirtualTime } from "./Timeline.ts"
import { Workload } from "./Workload.ts"
import { World } from "./World.ts"

export interface Run {
  readonly seed: number
  /** The first breach; null: all invariants held. */
  readonly finding: Finding | null
  /** SHA-256 over the whole trace: equal for equal runs. */
  readonly digest: string
  /** The last steps, oldest first, with ms since the start. */
  readonly steps: ReadonlyArray<string>
  readonly figures: {
    readonly commits: number
    readonly processes: number
    readonly reports: number
    /** Deliveries that reached a receiver, repeats included. */
    readonly arrivals: number
    /** Processes killed. */
    readonly deaths: number
    /** Commits of which a caller was told that nobody knows. */
    readonly unknown: number
    /** Answers that were replayed from the store or memory. */
    readonly replayed: number
    readonly virtualMillis: number
  }
}

/** Longest part of a run, virtual ms; nothing healthy comes near it. */
const limitMillis = 3_600_000

/** Runs one seed. `seams` bends the system, for the proof that the auditor notices. */
export const simulate = (seed: number, seams: Seams = {}): Run => {
  const world = new World(seed, seams)
  const chance = new SeededRandom(seed ^ 0x5bd1e995)
  const begun = world.timeline.now
  const outside = { chance: () => chance.next(), print: (text: string) => world.auditor.defect("a process", text) }
  return inVirtualTime(world.timeline, outside, () => {
    const chaos = new Chaos(world)
    try {
      play(world, chaos)
    } finally {
      chaos.release()
    }
    const { digest, lines } = world.trace
    return {
      seed,
      finding: world.auditor.findings.all[0] ?? null,
      digest,
      steps: [...lines],
      figures: {
        commits: world.auditor.commits.count,
        processes: world.processes.length,
        reports: world.store.rows("collateralReports").length,
        arrivals: world.auditor.arrivals.length,
        ...world.counts,
        virtualMillis: world.timeline.now - begun
      }
    }
  })
}

/** The run's parts one after the other, until one of them ends it with a finding. */
const play = (world: World, chaos: Chaos): void => {
  const workload = new Workload(world)
  if (!during(world, setUp(world, workload))) return
  chaos.start()
  workload.start()
  if (!during(world, () => workload.idle)) return
  chaos.stop()
  if (!during(world, ending(world, workload))) return
  finalChecks(world.auditor, world.store)
}

/** Runs until `over`; false when a finding, or the end of all patience, came first. */
const during = (world: World, over: () => boolean): boolean => {
  const { findings } = world.auditor
  const until = world.timeline.now + limitMillis
  let reached = false
  world.timeline.run(until, () => findings.all.length > 0 || (reached = over()))
  if (findings.all.length === 0 && !reached)
    findings.add("liveness", `a part of the run does not come to its end: ${standstill(world)}`)
  return findings.all.length === 0
}

/** What is still there when nothing moves any more. */
const standstill = ({ processes, store }: World): string => {
  const alive = processes
    .filter(({ lane }) => lane.alive)
    .map(({ name, ready }) => (ready ? name : `${name} (starting)`))
  const unsent = store.rows("webhookDeliveries").filter(({ state }) => state !== "SENT")
  const deliveries = unsent.map(({ id, state, partnerId }) => `${id} ${state} of partner ${partnerId}`)
  return `alive ${alive.join(", ")}; owner ${store.owner}; unsent deliveries ${deliveries.join(", ") || "none"}`
}

/** Two partners, before any fault. */
const setUp = (world: World, { desk }: Workload): (() => boolean) => {
  let ready = false
  const process = world.launch()
  const wait = (): void =>
    void world.outside.after(1, () => {
      if (!process.ready) return wait()
      desk.setUp("ALPHA", () => desk.setUp("BRAVO", () => (ready = true)))
    })
  wait()
  return () => ready
}

/** Everybody is let in again, every open call is answered, every client can be served, every delivery arrives. */
const ending = (world: World, workload: Workload): (() => boolean) => {
  let open = 0
  const task = (start: (done: () => void) => void): void => {
    open++
    start(() => open--)
  }
  const serve = (): void => {
    task((done) => workload.reconcile(done))
    for (const partner of world.partners) task((done) => workload.probe(partner, done))
  }
  task((done) =>
    world.outside.after(1_000, () => {
      for (const { code } of world.partners) {
        task((end) => workload.desk.settle(workload.desk.status(code, "ACTIVE"), end))
      }
      // Long enough for a sweep of the notification feeds.
      world.outside.after(6_000, () => {
        serve()
        done()
      })
    })
  )
  const delivered = (): boolean => {
    const active = world.store.rows("webhookEndpoints").filter(({ state }) => state === "ACTIVE")
    const mine = new Set(active.map(({ partnerId }) => partnerId))
    return world.store.rows("webhookDeliveries").every((row) => !mine.has(row.partnerId) || row.state === "SENT")
  }
  let lookAt = 0
  return () => {
    if (open > 0 || world.timeline.now < lookAt) return false
    lookAt = world.timeline.now + 1_000
    // A call that was still on its way when the faults ended has given up only now.
    if (workload.unanswered.length > 0) {
      task((done) => workload.reconcile(done))
      return false
    }
    // A process that was replaced stops by itself, however late it wakes.
    return delivered() && world.processes.every(({ name, lane }) => !lane.alive || name === world.store.owner)
  }
}
