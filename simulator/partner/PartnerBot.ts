/**
 * A simulated partner that onboards clients and reports their collateral at a given rate, with idempotent retries. It sends
 * some requests twice at once and files some reports again under a new key, which the service must tolerate. It sends one
 * request a client at a time, so that every answered balance can be checked to the last unit (operator surface, `sim partner
 * run`; SC-ONB-17, SC-ONB-18).
 */
import { Clock, Effect } from "effect"
import { AcknowledgedJournal } from "./AcknowledgedJournal.ts"
import type { PartnerAnswer, PartnerCall, PartnerClient } from "./PartnerClient.ts"
import {
  type CollateralPlan,
  type PartnerRequest,
  planCollateral,
  planOnboarding,
  planRepeat
} from "./PartnerRequest.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import { makeTally, sendUntilAcknowledged } from "./sendUntilAcknowledged.ts"

export interface PartnerBotOptions {
  readonly client: PartnerClient
  readonly random: SeededRandom
  /** Separates runs on one database: letters and digits, at most 20. */
  readonly tag: string
  /** Clients to onboard. */
  readonly clients: number
  /** Requests a second over all workers. */
  readonly rate: number
  /** Limit on requests in flight. */
  readonly workers: number
}

const withdrawalShare = 0.25
const onboardingShare = 0.3
const twinShare = 0.05
const repeatShare = 0.03
/** The largest report and the most that a client deposits, micro-USDC: under the source-of-wealth limit of 15,000 USDC. */
const largestReport = 20_000_000
const lifetimeLimit = 14_000_000_000n
const idlePauseMillis = 5

interface Slot {
  readonly number: number
  reports: Array<{ readonly plan: CollateralPlan; readonly reportId: number }>
}

/** Limit on the earlier reports of a client that the bot may file again. */
const rememberedReports = 5

export class PartnerBot {
  readonly journal = new AcknowledgedJournal()
  readonly tally = makeTally()
  /** Planned requests without an acknowledgement. */
  readonly open = new Map<number, PartnerRequest>()
  private readonly options: PartnerBotOptions
  private readonly idle: Array<Slot> = []
  private target: number
  private planned = 0
  private plannedClients = 0
  private stopped = false
  private nextAt = 0

  constructor(options: PartnerBotOptions) {
    this.options = options
    this.target = options.clients
  }

  get acknowledged(): number {
    return this.journal.entries.length
  }

  /** Plans no new requests; those in flight are retried until acknowledged. */
  stopPlanning(): void {
    this.stopped = true
  }

  /** Raises the number of clients to onboard. */
  addClients(count: number): void {
    this.target += count
  }

  /** Runs until it is stopped and every planned request is acknowledged; an interruption leaves the rest in `open`. */
  readonly work: Effect.Effect<void> = Effect.suspend(() => {
    this.stopped = false
    return Effect.forEach(Array.from({ length: this.options.workers }), () => Effect.suspend(() => this.worker()), {
      concurrency: this.options.workers,
      discard: true
    })
  })

  private worker(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (!this.stopped) {
        const now = yield* Clock.currentTimeMillis
        // A steady rate without catching up: a recovered service is not flooded.
        this.nextAt = Math.max(now, this.nextAt + 1_000 / this.options.rate)
        if (this.nextAt > now) yield* Effect.sleep(this.nextAt - now)
        if (this.stopped) return
        const next = this.plan(yield* Clock.currentTimeMillis)
        if (next === null) yield* Effect.sleep(idlePauseMillis)
        else yield* this.perform(next.request, next.slot)
      }
    })
  }

  private perform(request: PartnerRequest, slot: Slot): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { random } = this.options
      this.open.set(request.index, request)
      const once = Effect.suspend(() => sendUntilAcknowledged(this.options.client, callOf(request), random, this.tally))
      const answers = random.chance(twinShare) ? yield* Effect.all([once, once], { concurrency: 2 }) : [yield* once]
      const [first, twin] = answers as [PartnerAnswer, PartnerAnswer?]
      if (twin !== undefined && !sameAnswer(first, twin))
        this.journal.contradict(`request ${request.idempotencyKey}: two answers for one key.`)
      // If a request is sent twice at once, one of the two answers is always a replay. Such a replay is no sign of an earlier
      // attempt.
      const foundAgain = twin === undefined && first.replayed
      this.journal.acknowledge(request, first, { at: yield* Clock.currentTimeMillis, foundAgain })
      this.open.delete(request.index)
      this.release(request, slot)
    })
  }

  /** Frees the client for further requests, unless it was never onboarded or can neither deposit nor withdraw. */
  private release(request: PartnerRequest, slot: Slot): void {
    const known = this.journal.clients.get(slot.number)
    if (known === undefined) return
    if (request.kind === "collateral" && request.repeats === null) {
      const report = this.journal.reports.get(request.partnerRef)
      if (report !== undefined) slot.reports = [...slot.reports, report].slice(-rememberedReports)
    }
    if (known.deposited < lifetimeLimit || known.cash > 0n) this.idle.push(slot)
  }

  private plan(now: number): { readonly request: PartnerRequest; readonly slot: Slot } | null {
    const { random, tag } = this.options
    const mayOnboard = this.plannedClients < this.target
    if (mayOnboard && (this.idle.length === 0 || random.chance(onboardingShare))) {
      const slot: Slot = { number: this.plannedClients++, reports: [] }
      return { request: planOnboarding(tag, this.planned++, slot.number, now), slot }
    }
    if (this.idle.length === 0) return null
    const [slot] = this.idle.splice(random.between(0, this.idle.length - 1), 1) as [Slot]
    return { request: this.planReport(slot), slot }
  }

  private planReport(slot: Slot): CollateralPlan {
    const { random, tag } = this.options
    const known = this.journal.clients.get(slot.number)
    if (known === undefined) throw new Error("an idle client is not onboarded")
    if (slot.reports.length > 0 && random.chance(repeatShare)) {
      const { plan, reportId } = random.pick(slot.reports)
      return planRepeat(tag, this.planned++, plan, reportId)
    }
    const room = lifetimeLimit - known.deposited
    const withdraw = known.cash > 0n && (room <= 0n || random.chance(withdrawalShare))
    const most = withdraw ? known.cash : room
    const amount = BigInt(random.between(1, most < BigInt(largestReport) ? Number(most) : largestReport))
    const intent = {
      client: slot.number,
      clientId: known.clientId,
      direction: withdraw ? "WITHDRAWAL" : "DEPOSIT",
      amount
    } as const
    return planCollateral(tag, this.planned++, intent)
  }
}

/** The request on the wire, equal for every attempt. */
export const callOf = (request: PartnerRequest): PartnerCall => ({
  method: "POST",
  path: request.path,
  body: request.body,
  idempotencyKey: request.idempotencyKey
})

export const sameAnswer = (one: { status: number; body: Buffer }, other: { status: number; body: Buffer }): boolean =>
  one.status === other.status && one.body.equals(other.body)
