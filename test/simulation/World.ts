/**
 * The parts of a simulation: time, one store, processes that start and end over it, partners with their receivers, and
 * the auditor that observes all of them. Chance comes from one seed; each component draws from a generator of its own.
 */
import { Effect, Exit } from "effect"
import { createHash } from "node:crypto"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import type { DispatchError } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import type { BatchFault } from "../../src/runtime/engine/journal/JournalMemory.ts"
import { Accounts } from "../../src/runtime/services/account/Accounts.ts"
import { Auditor } from "./Auditor.ts"
import { ContractAudit } from "./ContractAudit.ts"
import { EpisodeAudit } from "./EpisodeAudit.ts"
import { MarginAudit } from "./MarginAudit.ts"
import { OrderAudit } from "./OrderAudit.ts"
import { FundingAudit } from "./FundingAudit.ts"
import { AccountAudit } from "./AccountAudit.ts"
import { PositionAudit } from "./PositionAudit.ts"
import { StakedAudit } from "./StakedAudit.ts"
import { SwapAudit } from "./SwapAudit.ts"
import { OrderMarginAudit } from "./OrderMarginAudit.ts"
import { answerCall, type PartnerAnswer, type PartnerCall } from "./Doorway.ts"
import type { MarginPath, VenuePath } from "./Coverage.ts"
import { NightAudit } from "./EndOfDayAudit.ts"
import { Network } from "./Network.ts"
import { ObservedStore } from "./ObservedStore.ts"
import { type Seams, type Services, SimProcess } from "./SimProcess.ts"
import { Lane, Timeline } from "./Timeline.ts"
import { VenueAudit } from "./VenueAudit.ts"
import { VenueLane } from "./VenueLane.ts"

/** The terms of a partner. */
export interface PartnerTerms {
  readonly custody: "BROKER" | "PARTNER"
  /** Requests of a sandbox partner to finance are decided at once. */
  readonly sandbox: boolean
  /** The partner sometimes empties its accounts, so that its custody model can change. */
  readonly changesCustody: boolean
  /** Its clients trade knock-out contracts. */
  readonly trades: boolean
  /** Its clients trade perpetuals and spot. */
  readonly orders: boolean
  /** Compliance rejects, pays out, refuses and reopens its clients, and finds them on lists. */
  readonly reviewed: boolean
}

/** A partner as the world outside the service knows it. */
export interface PartnerAccount extends PartnerTerms {
  readonly code: string
  readonly partnerId: number
  /** The secret of the key in use. */
  secret: string
  keyId: number
  readonly url: string
  readonly clients: Array<number>
}

/** 2026-11-20T23:59:30Z: the day ends during the run. */
const start = 1_795_219_170_000
/** Trace lines kept for a report. */
const keptLines = 80
/** Markets leave the range around their start in one of this many runs. */
const fallingIn = 3
/** The time that a caller waits for an answer, ms. */
const callerPatience = 4_000
/** The longest life of a replaced process after it has noticed that, ms. */
const lingerMillis = 2_000

export class World {
  readonly seed: number
  /** True if markets fall and gap in this run. */
  readonly falls: boolean
  readonly timeline = new Timeline(start)
  readonly outside: Lane
  readonly store = new ObservedStore()
  readonly auditor: Auditor
  readonly network: Network
  readonly partners: Array<PartnerAccount> = []
  readonly processes: Array<SimProcess> = []
  /** The time until which the store can't be reached, Unix ms. */
  awayUntil = 0
  /** True after the faults: callers then reach only the owner of the store. */
  calm = false
  /** The fault of the next batch; null: none. */
  batchFault: () => BatchFault | null = () => null
  readonly counts = { deaths: 0, unknown: 0, replayed: 0 }
  readonly venue: VenueLane
  readonly venueAudit: VenueAudit
  readonly contracts: ContractAudit
  readonly orders: OrderAudit
  readonly swaps: SwapAudit
  readonly positions: PositionAudit
  readonly accounts: AccountAudit
  readonly staked: StakedAudit
  readonly nights: NightAudit
  readonly funding: FundingAudit
  readonly orderMargin: OrderMarginAudit
  readonly margin: MarginAudit
  readonly episodes: EpisodeAudit
  private readonly random: SeededRandom
  private readonly seams: Seams
  private readonly guarded: ReadonlySet<string>
  private readonly lines: Array<string> = []
  private readonly digest = createHash("sha256")

  constructor(seed: number, seams: Seams) {
    this.seed = seed
    this.falls = seed % fallingIn === 0
    this.seams = seams
    seams.storage?.(this.store)
    this.random = new SeededRandom(seed)
    this.outside = new Lane(this.timeline, "outside")
    // In every other run corrections need a second key. Without it, more corrections come to be settled.
    this.guarded = new Set(seed % 2 === 0 ? ["break close"] : ["break close", "ledger adjust"])
    this.auditor = new Auditor(this.store, this.guarded)
    this.network = new Network({
      outside: this.outside,
      random: this.random.fork(),
      onArrival: (arrival) => {
        this.note(`delivery ${arrival.deliveryId} arrives from ${arrival.process}: ${arrival.answered}`)
        this.auditor.arrived(arrival)
      }
    })
    const { findings, commits } = this.auditor
    const took = (path: VenuePath) => commits.coverage.took(path)
    this.venue = new VenueLane({
      seed,
      timeline: this.timeline,
      outside: this.outside,
      random: this.random.fork(),
      took,
      called: (refs) => this.venueAudit.called(refs),
      note: (line) => this.note(line)
    })
    const cash = (clientId: number) => commits.cash.get(clientId)?.at(-1)?.cash ?? 0n
    this.contracts = new ContractAudit({
      findings,
      venue: this.venue,
      cash,
      holdsPositions: (clientId) => this.orders.isExposed(clientId),
      stepped: (kind, before, after) => commits.coverage.stepped(kind, before, after)
    })
    this.orders = new OrderAudit({
      findings,
      venue: this.venue,
      stepped: (kind, before, after) => commits.coverage.stepped(kind, before, after)
    })
    this.positions = new PositionAudit(findings, this.venue)
    this.accounts = new AccountAudit(findings)
    this.staked = new StakedAudit(findings)
    this.nights = new NightAudit(findings)
    this.swaps = new SwapAudit({ findings, venue: this.venue })
    this.orderMargin = new OrderMarginAudit({
      findings,
      taken: (clientId) => this.swaps.held(clientId),
      orders: this.orders,
      contracts: this.contracts,
      cash,
      prices: () => this.venue.desk.lately
    })
    const margins = {
      findings,
      contracts: this.contracts,
      orders: this.orders,
      cash,
      came: (path: MarginPath) => commits.coverage.came(path)
    }
    this.margin = new MarginAudit({
      ...margins,
      knowsMarkFor: (symbol) => this.process(this.timeline.current?.name)?.knowsMarkFor(symbol) ?? Infinity,
      prices: (millis) => (millis === undefined ? this.venue.desk.lately : this.venue.desk.since(millis))
    })
    this.episodes = new EpisodeAudit(margins)
    commits.trading = {
      // Gains of positions cover the holds of contracts first.
      tied: (clientId) => {
        const left = this.contracts.tied(clientId) - this.orders.gained(clientId, this.venue.desk.lately)
        return left > 0n ? left : 0n
      },
      isExposed: (clientId) => this.contracts.isExposed(clientId) || this.orders.isExposed(clientId)
    }
    this.funding = new FundingAudit({ findings, store: this.store, venue: this.venue })
    this.venueAudit = new VenueAudit({
      findings,
      funding: this.funding,
      store: this.store,
      venue: this.venue,
      contracts: this.contracts,
      orders: this.orders,
      swaps: this.swaps,
      took
    })
    this.store.onCommit = (commit) => {
      const writer = this.timeline.current?.name ?? "nobody"
      this.note(`${writer} commits ${commit.fence?.subject ?? "-"} ${Object.keys(commit.rows).join()}`)
      // Before the auditor of statement versions, which reads the same rows.
      this.nights.take(commit)
      this.auditor.committed(commit, this.timeline.now, writer)
      this.contracts.take(commit)
      this.orders.take(commit)
      this.swaps.take(commit)
      this.positions.take(commit)
      this.accounts.take(commit)
      this.staked.take(commit, this.timeline.now)
      this.funding.take(commit)
      this.orderMargin.take(commit)
      this.episodes.take(commit)
      this.margin.take(commit)
      this.venueAudit.take(commit)
    }
  }

  /** A random generator for one component. */
  fork(): SeededRandom {
    return this.random.fork()
  }

  /** Adds a line to the trace. Equal digests prove that two runs were equal. */
  note(line: string): void {
    const text = `${this.timeline.now - start} ${line}`
    this.digest.update(`${text}\n`)
    this.lines.push(text)
    if (this.lines.length > keptLines) this.lines.shift()
  }

  get trace(): { readonly digest: string; readonly lines: ReadonlyArray<string> } {
    return { digest: this.digest.copy().digest("hex"), lines: this.lines }
  }

  /** Starts a process, which takes over the store from the previous one. */
  launch(): SimProcess {
    const jitter = this.random.fork()
    const process: SimProcess = new SimProcess({
      timeline: this.timeline,
      name: `p${this.processes.length + 1}`,
      store: this.store,
      faults: { batch: () => this.batchFault(), away: () => this.away },
      away: () => this.away,
      jitter: () => jitter.between(0, 3),
      seams: this.seams,
      guarded: this.guarded,
      sender: () =>
        this.network.senderOf(process, (given) => {
          const webhook = this.seams.outgoing?.(given) ?? given
          const partner = this.partners.find(({ url }) => url === webhook.url)
          if (partner !== undefined) this.auditor.signed(process, partner.partnerId, webhook.secret)
          return webhook
        }),
      venue: ({ lane }) => this.venue.port(lane),
      onDefect: (text) => {
        // The output of a dead process reaches no one.
        if (process.lane.alive && !this.venue.excuses(text)) this.auditor.defect(process.name, text)
      },
      onUnknown: () => this.counts.unknown++,
      onReady: () => this.note(`${process.name} is ready`),
      onUsurped: () => {
        this.note(`${process.name} is told that it was replaced`)
        this.outside.after(jitter.between(0, lingerMillis), () => process.lane.kill())
      }
    })
    this.note(`${process.name} is launched`)
    this.processes.push(process)
    return process
  }

  private process(name: string | undefined): SimProcess | undefined {
    return this.processes.findLast((process) => process.name === name)
  }

  private get away(): boolean {
    return this.timeline.now < this.awayUntil
  }

  /** The process that a caller's connection reaches: mostly the newest ready one. */
  private route(random: SeededRandom): SimProcess | null {
    const ready = this.processes.filter((process) => process.ready)
    if (this.calm) return ready.find(({ name }) => name === this.store.owner) ?? null
    const newest = ready.at(-1)
    return newest !== undefined && random.chance(0.15) ? random.pick(ready) : (newest ?? null)
  }

  /** Sends a call. `onAnswer` receives null if the process died or the caller's timeout passed. */
  send(
    partner: PartnerAccount,
    call: PartnerCall,
    random: SeededRandom,
    onAnswer: (answer: PartnerAnswer | null) => void
  ): void {
    const answered = this.once(call.id, onAnswer)
    const process = this.route(random)
    if (process === null) return void this.outside.after(20, () => answered(null))
    process.lane.after(random.between(0, 5), () =>
      answerCall(process, partner.secret, call, (answer) => {
        if (answer.replayed) this.counts.replayed++
        this.note(`${process.name} answers ${call.id}: ${answer.status}${answer.replayed ? " again" : ""}`)
        this.auditor.answered(process, call, partner.partnerId, answer)
        this.outside.after(random.between(0, 5), () => answered(answer))
      })
    )
  }

  /** Runs an operator's command in some process. The result is null without an answer, or with an unknown outcome. */
  operate<A>(
    name: string,
    random: SeededRandom,
    command: Effect.Effect<A, DispatchError, Services>,
    onAnswer: (value: A | null) => void
  ): void {
    const answered = this.once(name, onAnswer)
    const process = this.route(random)
    if (process === null) return void this.outside.after(20, () => answered(null))
    process.lane.after(random.between(0, 5), () =>
      process.run(command, (exit) => {
        this.note(`${process.name} ends ${name}: ${exit._tag}`)
        if (Exit.isFailure(exit) && Exit.hasDies(exit))
          this.auditor.defect(process.name, `${name} ${String(exit.cause)}`)
        this.outside.after(1, () => answered(Exit.isSuccess(exit) ? exit.value : null))
      })
    )
  }

  /** Reads a client's cash, which the auditor then checks. */
  read(partner: PartnerAccount, clientId: number, random: SeededRandom, onAnswer: (served: boolean) => void): void {
    const from = this.timeline.now
    const process = this.route(random)
    if (process === null) return void this.outside.after(20, () => onAnswer(false))
    const answered = this.once(`read of ${clientId}`, (value: true | null) => onAnswer(value === true))
    const read = Effect.flatMap(Accounts, (accounts) => accounts.balances(partner.partnerId, clientId))
    process.lane.after(random.between(0, 5), () =>
      process.run(read, (exit) => {
        const shown = Exit.isSuccess(exit) ? exit.value : null
        const cash = shown?.balances[0]?.cash
        if (shown !== null) this.accounts.checkShown(clientId, shown)
        // A replaced process does not know the commits of its successor.
        if (shown !== null && cash !== undefined && this.store.owner === process.name) {
          this.auditor.read(clientId, cash, from, this.timeline.now)
          this.staked.checkShown(clientId, shown, from, this.timeline.now)
        }
        this.outside.after(1, () => answered(cash === undefined ? null : true))
      })
    )
  }

  /** Passes on the first value only; null after the caller's timeout. */
  private once<A>(name: string, onAnswer: (value: A | null) => void): (value: A | null) => void {
    let told = false
    const answered = (value: A | null) => {
      if (told) return
      told = true
      onAnswer(value)
    }
    this.outside.after(callerPatience, () => {
      if (!told) this.note(`nobody answers ${name}`)
      answered(null)
    })
    return answered
  }
}
