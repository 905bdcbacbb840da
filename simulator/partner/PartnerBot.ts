/**
 * A partner firm that onboards clients and reports their collateral at a given rate, retrying as a careful partner does
 * (operator surface, `sim partner run`; simulator: keyed client, idempotent retries). It sends some requests twice at
 * once and files some reports again under a new key, because a careful service has to bear both (SC-ONB-17, SC-ONB-18).
 * One request a client at a time, so that every balance answered can be checked to the last unit.
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
  /** Keeps runs on one database apart: letters and digits, at most 20. */
  readonly tag: string
  /** Clients to onboard. */
  readonly clients: number
  /** Requests a second over all workers. */
  readonly rate: number
  /** Requests under way at the most. */
  readonly workers: number
}

/** Shares of the traffic. */
const withdrawalShare = 0.25
const onboardingShare = 0.3
const twinShare = 0.05
const repeatShare = 0.03
/** Largest single report and most a client ever deposits, micro-USDC: under the 15,000 USDC source-of-wealth line. */
const largestReport = 20_000_000
const lifetimeLimit = 14_000_000_000n
const idlePauseMillis = 5

interface Slot {
  readonly number: number
  reports: Array<{ readonly plan: CollateralPlan; readonly reportId: number }>
}

/** Earlier reports remembered a client, to be filed again. */
const rememberedReports = 5

export class PartnerBot {
  readonly journal = new AcknowledgedJournal()
  readonly tally = makeTally()
  /** Planned and not yet acknowledged. */
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

  /** No new requests from now on; those under way are retried until acknowledged. */
  stopPlanning(): void {
    this.stopped = true
  }

  /** Raises the number of clients to onboard. */
  addClients(count: number): void {
    this.target += count
  }

  /** Works until asked to stop and everything planned is acknowledged; interruption leaves the rest in `open`. */
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
        // An even pace without catching up: a service that was away is not flooded when it comes back.
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
      // Of twins one is a replay in any case.
      const foundAgain = twin === undefined && first.replayed
      this.journal.acknowledge(request, first, { at: yield* Clock.currentTimeMillis, foundAgain })
      this.open.delete(request.index)
      this.release(request, slot)
    })
  }

  /** The client may be used again, unless it was never onboarded or can neither deposit nor withdraw any more. */
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

/** The request on the wire, the same for every attempt. */
export const callOf = (request: PartnerRequest): PartnerCall => ({
  method: "POST",
  path: request.path,
  body: request.body,
  idempotencyKey: request.idempotencyKey
})

export const sameAnswer = (one: { status: number; body: Buffer }, other: { status: number; body: Buffer }): boolean =>
  one.status === other.status && one.body.equals(other.body)
