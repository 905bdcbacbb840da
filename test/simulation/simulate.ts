/**
 * One deterministic run: set-up without faults, work under faults, and the end of the faults, after which all work must
 * finish, every caller be served and every invariant hold (architecture, Proof). The seed decides all of it; the run is
 * one synchronous call.
 */
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { Chaos } from "./Chaos.ts"
import { ClaimsDesk } from "./ClaimsDesk.ts"
import type { Coverage } from "./Coverage.ts"
import { Falls } from "./Falls.ts"
import { finalChecks } from "./finalChecks.ts"
import type { Finding } from "./Findings.ts"
import type { Seams } from "./SimProcess.ts"
import { actedOnMillis } from "./MarginAudit.ts"
import { inVirtualTime } from "./Timeline.ts"
import { Workload } from "./Workload.ts"
import { type PartnerTerms, World } from "./World.ts"

export interface Run {
  readonly seed: number
  /** The first breach; null: all invariants held. */
  readonly finding: Finding | null
  /** SHA-256 over the whole trace; equal runs have equal digests. */
  readonly digest: string
  /** The last steps, oldest first, with ms since the start. */
  readonly steps: ReadonlyArray<string>
  /** Rows written, by machine and state. */
  readonly coverage: Coverage
  readonly figures: {
    readonly commits: number
    readonly processes: number
    readonly reports: number
    /** Deposit notices and withdrawal requests that have ended. */
    readonly decided: number
    /** Revisions of KYC packages beyond the first. */
    readonly revisions: number
    /** Changes of custody model. */
    readonly custodyChanges: number
    /** Durable timers that have fired. */
    readonly fired: number
    /** Deliveries that reached a receiver, repeats included. */
    readonly arrivals: number
    /** Processes killed. */
    readonly deaths: number
    /** Commits whose outcome a caller got as unknown. */
    readonly unknown: number
    /** Answers that were replayed from the store or from memory. */
    readonly replayed: number
    readonly virtualMillis: number
  }
}

/** Longer than the interval of the sweep of notification feeds. */
const sweepMillis = 6_000
const dayMillis = 86_400_000
/** The service queries differing orders again within this time; a difference that is left then is a finding. */
const agreeMillis = 60_000
/** The longest part of a run, virtual ms; healthy runs are far shorter. */
const limitMillis = 3_600_000

/**
 * Runs one seed. `seams` changes the system, to prove that the auditor notices it; `frames`: the number of an error's
 * stack frames that are kept, for the reader of a single run.
 */
export const simulate = (seed: number, seams: Seams = {}, frames = 0): Run => {
  const world = new World(seed, seams)
  const chance = new SeededRandom(seed ^ 0x5bd1e995)
  const begun = world.timeline.now
  const outside = {
    frames,
    chance: () => chance.next(),
    print: (text: string) => world.auditor.defect("a process", text)
  }
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
      coverage: world.auditor.commits.coverage,
      figures: {
        commits: world.auditor.commits.count,
        processes: world.processes.length,
        reports: world.store.rows("collateralReports").length,
        decided: [...world.store.rows("depositNotices"), ...world.store.rows("withdrawalRequests")].filter(
          ({ state }) => state !== "PENDING" && state !== "REQUESTED" && state !== "APPROVED"
        ).length,
        revisions: world.auditor.commits.changes.revisions,
        custodyChanges: world.auditor.commits.changes.changes,
        fired: world.auditor.commits.timers.fired,
        arrivals: world.auditor.arrivals.length,
        ...world.counts,
        virtualMillis: world.timeline.now - begun
      }
    }
  })
}

/** Plays the parts of the run in order, until the end or a finding. */
const play = (world: World, chaos: Chaos): void => {
  const workload = new Workload(world)
  if (!during(world, setUp(world, workload))) return
  const falls = new Falls(world)
  chaos.start()
  workload.start()
  falls.start()
  if (!during(world, () => workload.idle)) return
  chaos.stop()
  falls.stop()
  if (!during(world, ending(world, workload))) return
  if (!during(world, night(world, chaos))) return
  if (!during(world, morning(world, workload))) return
  if (!during(world, lastMove(world))) return
  finalChecks(world.auditor, world.store, world.venueAudit)
  world.orders.checkEnd()
  world.positions.checkEnd(world.store)
  world.margin.checkEnd()
  world.episodes.checkEnd()
}

/** Runs until `over` is true. Returns false if a finding or the time limit came first. */
const during = (world: World, over: () => boolean): boolean => {
  const { findings } = world.auditor
  const until = world.timeline.now + limitMillis
  let reached = false
  world.timeline.run(until, () => findings.all.length > 0 || (reached = over()))
  if (findings.all.length === 0 && !reached)
    findings.add("liveness", `a part of the run does not come to its end: ${standstill(world)}`)
  return findings.all.length === 0
}

/** The objects that are left when no work proceeds, for the report. */
const standstill = ({ processes, store, venueAudit }: World): string => {
  const alive = processes
    .filter(({ lane }) => lane.alive)
    .map(({ name, ready }) => (ready ? name : `${name} (starting)`))
  const unsent = store.rows("webhookDeliveries").filter(({ state }) => state !== "SENT")
  const deliveries = unsent.map(({ id, state, partnerId }) => `${id} ${state} of partner ${partnerId}`)
  const due = store.rows("timers").map(({ subject, name, dueAt }) => `${name} of ${subject} at ${dueAt}`)
  return `alive ${alive.join(", ")}; owner ${store.owner}; unsent deliveries ${deliveries.join(", ") || "none"}; timers ${due.join(", ") || "none"}; of the venue's events ${venueAudit.behind()}`
}

/**
 * Six partners, under both custody models over the seeds: one that holds its clients' collateral, one whose clients'
 * money the broker holds, one that changes its custody model, one whose clients compliance reviews, one whose clients
 * trade contracts, and one whose clients place orders.
 */
const firmsOf = (seed: number): ReadonlyArray<readonly [code: string, terms: PartnerTerms]> => {
  const plain = { changesCustody: false, reviewed: false, trades: false, orders: false }
  return [
    ["ALPHA", { ...plain, custody: "PARTNER", sandbox: true }],
    ["BRAVO", { ...plain, custody: seed % 4 < 2 ? "PARTNER" : "BROKER", sandbox: true, trades: true }],
    ["CEDAR", { ...plain, custody: "BROKER", sandbox: false }],
    ["DELTA", { ...plain, custody: "BROKER", sandbox: true, changesCustody: true }],
    ["ECHO", { ...plain, custody: seed % 2 === 0 ? "PARTNER" : "BROKER", sandbox: true, reviewed: true }],
    ["FERRY", { ...plain, custody: seed % 4 < 2 ? "BROKER" : "PARTNER", sandbox: true, orders: true }]
  ]
}

/** Creates the partners, and clients that may trade, before any fault. */
const setUp = (world: World, workload: Workload): (() => boolean) => {
  const { desk } = workload
  let ready = false
  const process = world.launch()
  const firms = firmsOf(world.seed)
  const next = (index: number): void => {
    const firm = firms[index]
    if (firm === undefined) workload.setUpTraders(0, () => (ready = true))
    else desk.setUp(...firm, () => next(index + 1))
  }
  const wait = (): void => void world.outside.after(1, () => (process.ready ? desk.setUpKeys(() => next(0)) : wait()))
  wait()
  return () => ready
}

/** Restores every partner, gets an answer for every open call, serves every client, and waits for every delivery. */
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
  // In some runs every contract is settled at once.
  if (world.seed % 5 === 0) world.venue.desk.delist()
  task((done) =>
    world.outside.after(1_000, () => {
      for (const { code } of world.partners) {
        task((end) => workload.desk.settle(workload.desk.status(code, "ACTIVE"), end))
        task((end) => workload.desk.settle(workload.desk.reliance(code, "APPROVED"), end))
      }
      world.outside.after(sweepMillis, () => {
        serve()
        done()
      })
    })
  )
  const isQuiet = rest(world)
  let lookAt = 0
  return () => {
    if (open > 0 || world.timeline.now < lookAt) return false
    lookAt = world.timeline.now + 1_000
    // A call that was in flight at the end of the faults was abandoned only now.
    if (workload.unanswered.length > 0) {
      task((done) => workload.reconcile(done))
      return false
    }
    return isQuiet()
  }
}

/** True if no work is left. */
const rest = (world: World) => {
  const patientUntil = world.timeline.now + agreeMillis
  return (): boolean => isAtRest(world, patientUntil)
}

const isAtRest = (world: World, patientUntil: number): boolean => {
  const { store, timeline, orders } = world
  const active = store.rows("webhookEndpoints").filter(({ state }) => state === "ACTIVE")
  const mine = new Set(active.map(({ partnerId }) => partnerId))
  return (
    // A timer stays due only if its command was refused.
    store.rows("timers").every(({ dueAt }) => dueAt > timeline.now) &&
    store.rows("venueCalls").length === 0 &&
    (orders.differences().length === 0 || timeline.now > patientUntil) &&
    world.venueAudit.caughtUp &&
    world.nights.isOver(timeline.now) &&
    store.rows("screeningPasses").every(({ state }) => state !== "RUNNING") &&
    // The sweep has forwarded the notifications of late timers and passes.
    store.rows("notifications").every(({ writtenAt }) => timeline.now - writtenAt > sweepMillis) &&
    store.rows("webhookDeliveries").every((row) => !mine.has(row.partnerId) || row.state === "SENT") &&
    // A replaced process stops by itself, even if it wakes late.
    world.processes.every(({ name, lane }) => !lane.alive || name === store.owner)
  )
}

/** The markets gap once more at rest: the service follows accounts of idle clients too (F9). */
const lastMove = (world: World): (() => boolean) => {
  if (!world.falls) return () => true
  const isQuiet = rest(world)
  world.venue.desk.gap(world.seed % 2 === 0 ? 0.72 : 1.35)
  let lookAt = world.timeline.now + actedOnMillis
  return () => {
    if (world.timeline.now < lookAt) return false
    lookAt = world.timeline.now + 1_000
    return world.episodes.goOn === 0 && isQuiet()
  }
}

/**
 * Advances a day, for changes that only time brings: cooling periods and documents end, every client is screened again,
 * and two end-of-day runs happen, during which the process dies in some runs.
 */
const night = (world: World, chaos: Chaos): (() => boolean) => {
  const passes = (): number =>
    world.store.rows("screeningPasses").filter(({ context }) => context.trigger === "NIGHTLY").length
  const before = passes()
  const isQuiet = rest(world)
  // In every other run, writers default on swaps that mature in the night.
  if (world.seed % 2 === 0) world.venue.desk.defaultNext(3)
  world.timeline.leap(dayMillis + 3 * 3_600_000)
  chaos.disturbNight()
  let lookAt = world.timeline.now + 1_000
  return () => {
    if (world.timeline.now < lookAt) return false
    lookAt = world.timeline.now + 1_000
    return passes() > before && isQuiet()
  }
}

/** Works on the claims of the last night. */
const morning = (world: World, { desk }: Workload): (() => boolean) => {
  const claims = new ClaimsDesk(world, desk)
  const isQuiet = rest(world)
  world.outside.after(0, () => claims.start())
  let lookAt = world.timeline.now + 1_000
  return () => {
    if (!claims.idle || world.timeline.now < lookAt) return false
    lookAt = world.timeline.now + 1_000
    return isQuiet()
  }
}
