/**
 * One deterministic run: set-up without faults, then work under faults, then the faults end and everything must come to
 * rest, served again and true (architecture, Proof). The seed decides all of it; the run is one synchronous call.
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
  /** SHA-256 over the whole trace: equal for equal runs. */
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
    /** Commits of which a caller was answered that nobody knows. */
    readonly unknown: number
    /** Answers that were replayed from the store or memory. */
    readonly replayed: number
    readonly virtualMillis: number
  }
}

/** Long enough for a sweep of the notification feeds. */
const sweepMillis = 6_000
const dayMillis = 86_400_000
/** Orders that differ are asked for again in this time; what is left then is told as what differs. */
const agreeMillis = 60_000
/** Longest part of a run, virtual ms; nothing healthy comes near it. */
const limitMillis = 3_600_000

/**
 * Runs one seed. `seams` bends the system, for the proof that the auditor notices; `frames` of an error's stack are kept for
 * a reader who looks at one run.
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

/** The run's parts one after the other, until one of them ends it with a finding. */
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
 * A partner that holds its clients' collateral, one whose clients' money the broker holds, one that goes over, one whose
 * clients compliance is after, one whose clients trade contracts, and one whose clients place orders, all under either model.
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

/** The partners, and clients that may trade, before any fault. */
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
  // A settlement of every contract at once, in some runs.
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
    // A call that was still on its way when the faults ended has given up only now.
    if (workload.unanswered.length > 0) {
      task((done) => workload.reconcile(done))
      return false
    }
    return isQuiet()
  }
}

/** Whether nothing is on its way any more. */
const rest = (world: World) => {
  const patientUntil = world.timeline.now + agreeMillis
  return (): boolean => isAtRest(world, patientUntil)
}

const isAtRest = (world: World, patientUntil: number): boolean => {
  const { store, timeline, orders } = world
  const active = store.rows("webhookEndpoints").filter(({ state }) => state === "ACTIVE")
  const mine = new Set(active.map(({ partnerId }) => partnerId))
  return (
    // A timer is due again only when what it did was refused.
    store.rows("timers").every(({ dueAt }) => dueAt > timeline.now) &&
    store.rows("venueCalls").length === 0 &&
    (orders.differences().length === 0 || timeline.now > patientUntil) &&
    world.venueAudit.caughtUp &&
    world.nights.isOver(timeline.now) &&
    store.rows("screeningPasses").every(({ state }) => state !== "RUNNING") &&
    // What a late timer or pass told the clients' feeds has had its sweep.
    store.rows("notifications").every(({ writtenAt }) => timeline.now - writtenAt > sweepMillis) &&
    store.rows("webhookDeliveries").every((row) => !mine.has(row.partnerId) || row.state === "SENT") &&
    // A process that was replaced stops by itself, however late it wakes.
    world.processes.every(({ name, lane }) => !lane.alive || name === store.owner)
  )
}

/** The markets gap once more while everything rests: whoever is not asked any more is followed all the same (F9). */
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
 * A day later: what only time brings has come. Cooling periods and documents end, every client is screened anew, two days are stated,
 * while in some runs the process dies at it.
 */
const night = (world: World, chaos: Chaos): (() => boolean) => {
  const passes = (): number =>
    world.store.rows("screeningPasses").filter(({ context }) => context.trigger === "NIGHTLY").length
  const before = passes()
  const isQuiet = rest(world)
  // In every other run what matures in the night is a claim in the morning.
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

/** What writers have not paid in the night is followed up. */
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
