/**
 * One process of the service in a simulation: the real mailboxes, services, idempotency and delivery worker, with a
 * journal of its own over the shared store. Only time, store and network are replaced. A kill takes effect between two
 * tasks or at a named point of the commit path, as kill -9 does (architecture, Proof).
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Logger, References, Scope } from "effect"
import { ActorHost, Unavailable } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { Journal, type Outcome } from "../../src/runtime/engine/journal/Journal.ts"
import { makeJournalMemory, type MemoryFaults } from "../../src/runtime/engine/journal/JournalMemory.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import { SealingService } from "../../src/runtime/engine/sealing/SealingService.ts"
import { Accounts } from "../../src/runtime/services/account/Accounts.ts"
import { Appropriateness } from "../../src/runtime/services/clients/appropriateness/Appropriateness.ts"
import { Questionnaires } from "../../src/runtime/services/clients/appropriateness/Questionnaires.ts"
import { Documents } from "../../src/runtime/services/clients/document/Documents.ts"
import { Interfirm } from "../../src/runtime/services/money/settlement/Interfirm.ts"
import { Lifecycle } from "../../src/runtime/services/lifecycle/Lifecycle.ts"
import { Payouts } from "../../src/runtime/services/money/ledger/Payouts.ts"
import { CloseOutDesk } from "../../src/runtime/services/margin/CloseOutDesk.ts"
import { Approvals } from "../../src/runtime/services/operations/operator/Approvals.ts"
import { OperatorKeys } from "../../src/runtime/services/operations/operator/OperatorKeys.ts"
import { layerPersonWatch } from "../../src/runtime/services/clients/client/PersonWatch.ts"
import { ScreeningPasses } from "../../src/runtime/services/clients/screening/ScreeningPasses.ts"
import { ScreeningImports } from "../../src/runtime/services/screening/ScreeningImports.ts"
import { WatchLists } from "../../src/runtime/services/screening/WatchLists.ts"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { BulkReports } from "../../src/runtime/services/money/settlement/BulkReports.ts"
import { Breaks } from "../../src/runtime/services/money/breaks/Breaks.ts"
import { Clients } from "../../src/runtime/services/clients/client/Clients.ts"
import { clientTimers } from "../../src/runtime/services/operations/registries/clientTimers.ts"
import { type Facts, noFacts } from "../../src/machines/market/Facts.ts"
import { LastListing } from "../../src/runtime/services/market/LastListing.ts"
import { MarketFeed } from "../../src/runtime/services/market/MarketFeed.ts"
import { MarketHalts } from "../../src/runtime/services/market/MarketHalts.ts"
import { systemTimers } from "../../src/runtime/services/operations/system/systemTimers.ts"
import { CollateralReports } from "../../src/runtime/services/money/collateral/CollateralReports.ts"
import { Compliance } from "../../src/runtime/services/clients/compliance/Compliance.ts"
import { Deposits } from "../../src/runtime/services/money/deposit/Deposits.ts"
import { Directory } from "../../src/runtime/services/partners/Directory.ts"
import { DueTimersMemory } from "../../src/runtime/engine/timers/DueTimersMemory.ts"
import { KycUpdates } from "../../src/runtime/services/clients/kyc/KycUpdates.ts"
import { KeyUsage } from "../../src/runtime/services/partners/KeyUsage.ts"
import { Onboarding } from "../../src/runtime/services/clients/client/Onboarding.ts"
import { Partners } from "../../src/runtime/services/lifecycle/Partners.ts"
import { layerListedMarketsMemory } from "../../src/runtime/ports/ListedMarketsMemory.ts"
import { ExposureReadsMemory } from "../../src/runtime/ports/ExposureReadsMemory.ts"
import { LevelReadsMemory } from "../../src/runtime/ports/LevelReadsMemory.ts"
import { PartnerBooksMemory } from "../../src/runtime/ports/PartnerBooksMemory.ts"
import { RowReads } from "../../src/runtime/ports/RowReads.ts"
import { RowReadsMemory } from "../../src/runtime/ports/RowReadsMemory.ts"
import { Screening } from "../../src/runtime/services/screening/Screening.ts"
import { SettlementItems } from "../../src/runtime/services/money/settlement/SettlementItems.ts"
import { Venue, type VenueShape } from "../../src/runtime/ports/Venue.ts"
import { VenueCalls } from "../../src/runtime/services/venue/VenueCalls.ts"
import { VenueEvents } from "../../src/runtime/services/venue/VenueEvents.ts"
import { layerNearLevels } from "../../src/runtime/services/margin/NearLevels.ts"
import { layerRiskJudgement, layerRiskMonitor } from "../../src/runtime/services/margin/RiskMonitor.ts"
import { RiskStates } from "../../src/runtime/services/account/RiskStates.ts"
import { RiskWatch } from "../../src/runtime/services/margin/RiskWatch.ts"
import { layerAutoAccept } from "../../src/runtime/services/trading/rfq/AutoAccept.ts"
import { layerOpeningWatch } from "../../src/runtime/services/trading/rfq/OpeningWatch.ts"
import { QuoteBoard } from "../../src/runtime/services/trading/rfq/QuoteBoard.ts"
import { layerProtection } from "../../src/runtime/services/trading/order/layerProtection.ts"
import { layerOrderResync } from "../../src/runtime/services/trading/order/OrderResync.ts"
import { Leverages } from "../../src/runtime/services/trading/order/Leverages.ts"
import { OrderReads } from "../../src/runtime/services/trading/order/OrderReads.ts"
import { Orders } from "../../src/runtime/services/trading/order/Orders.ts"
import { Margin } from "../../src/runtime/services/margin/Margin.ts"
import { OutOfSync } from "../../src/runtime/services/venue/OutOfSync.ts"
import { Rfqs } from "../../src/runtime/services/trading/rfq/Rfqs.ts"
import { Contracts } from "../../src/runtime/services/trading/contract/Contracts.ts"
import { VenueGateway } from "../../src/runtime/services/venue/VenueGateway.ts"
import { venueHandlers } from "../../src/runtime/services/operations/registries/VenueHandlers.ts"
import { VenueLink } from "../../src/runtime/services/venue/VenueLink.ts"
import { SwapDesk } from "../../src/runtime/services/trading/swap/SwapDesk.ts"
import { layerStatementWorker } from "../../src/runtime/services/statements/jobs/StatementJobs.ts"
import { Swaps } from "../../src/runtime/services/trading/swap/Swaps.ts"
import { VenueResolutions } from "../../src/runtime/services/operations/registries/VenueResolutions.ts"
import { VenueProbes } from "../../src/runtime/services/venue/VenueProbes.ts"
import { layerMisfitReads } from "../../src/runtime/services/operations/registries/layerMisfitReads.ts"
import { MisfitReads } from "../../src/runtime/services/venue/MisfitReads.ts"
import { layerVenueQuarantine } from "../../src/runtime/services/venue/venueQuarantine.ts"
import { Timers } from "../../src/runtime/engine/timers/Timers.ts"
import { Withdrawals } from "../../src/runtime/services/money/withdrawal/Withdrawals.ts"
import { Webhooks } from "../../src/runtime/services/webhooks/Webhooks.ts"
import { defaultSettings, Settings } from "../../src/runtime/Settings.ts"
import { AnswerStore } from "../../src/runtime/store/AnswerStore.ts"
import { DeliveryFiguresMemory } from "../../src/runtime/ports/DeliveryFiguresMemory.ts"
import { DeliveryStore } from "../../src/runtime/ports/DeliveryStore.ts"
import { DeliveryStoreMemory } from "../../src/runtime/ports/DeliveryStoreMemory.ts"
import { DeliveryWorker } from "../../src/runtime/services/webhooks/DeliveryWorker.ts"
import { FeedSweep } from "../../src/runtime/services/webhooks/FeedSweep.ts"
import { WebhookAddresses } from "../../src/runtime/services/webhooks/WebhookAddresses.ts"
import { WebhookEndpoints } from "../../src/runtime/services/webhooks/WebhookEndpoints.ts"
import type { OutgoingWebhook, WebhookSender } from "../../src/runtime/ports/WebhookSender.ts"
import { Idempotency } from "../../src/http/middleware/idempotency.ts"
import { DocumentContentsMemory } from "../../src/runtime/ports/DocumentContentsMemory.ts"
import { FeedSourceMemory } from "../../src/runtime/ports/FeedSourceMemory.ts"
import { memorySql } from "./MemorySql.ts"
import { layerNightWork } from "./EndOfDayWork.ts"
import { Lane, LaneKilled, type Timeline } from "./Timeline.ts"

const services = [
  ActorHost,
  BusinessClock,
  Directory,
  Onboarding,
  CollateralReports,
  Deposits,
  Withdrawals,
  KycUpdates,
  SettlementItems,
  BulkReports,
  Webhooks,
  Clients,
  Accounts,
  Partners,
  Adjustments,
  Compliance,
  AnswerStore,
  Appropriateness,
  Approvals,
  Breaks,
  Documents,
  Interfirm,
  Lifecycle,
  MarketHalts,
  OperatorKeys,
  Payouts,
  Questionnaires,
  Contracts,
  QuoteBoard,
  OutOfSync,
  VenueGateway,
  Rfqs,
  Orders,
  OrderReads,
  Leverages,
  Margin,
  RowReads,
  ScreeningImports,
  SwapDesk,
  Swaps,
  VenueProbes,
  WatchLists
] as const
export type Services = Context.Service.Identifier<(typeof services)[number]>

/** Parts of a run that a mutation may replace. By default each part stays as it is. */
export interface Seams {
  /** Changes the shared store itself. Called once. */
  readonly storage?: (store: MemoryStore) => void
  readonly journal?: (journal: Journal["Service"], store: MemoryStore) => Journal["Service"]
  /** The store as one process sees it. */
  readonly store?: (store: MemoryStore) => MemoryStore
  readonly deliveries?: (deliveries: DeliveryStore["Service"], store: MemoryStore) => DeliveryStore["Service"]
  /** The venue as one process reaches it. */
  readonly venue?: (venue: VenueShape) => VenueShape
  /** The mailboxes as the services of orders and of venue events use them. */
  readonly trading?: (host: ActorHost["Service"]) => ActorHost["Service"]
  /** The mailboxes as the risk monitor uses them. */
  readonly watching?: (host: ActorHost["Service"]) => ActorHost["Service"]
  /** The mailboxes as the services that show accounts use them. */
  readonly showing?: (host: ActorHost["Service"]) => ActorHost["Service"]
  /** Changes a webhook that leaves the process. */
  readonly outgoing?: (webhook: OutgoingWebhook) => OutgoingWebhook
}

export interface ProcessOptions {
  readonly timeline: Timeline
  readonly name: string
  readonly store: MemoryStore
  readonly faults: MemoryFaults
  /** True while the store can't be reached. */
  readonly away: () => boolean
  /** Added to every journal task, ms. */
  readonly jitter: () => number
  readonly seams: Seams
  /** Commands that need the approval of a second operator key. */
  readonly guarded: ReadonlySet<string>
  /** The sender of webhooks. Called once at the start. */
  readonly sender: () => Layer.Layer<WebhookSender>
  /** The connection to the venue. */
  readonly venue: (process: SimProcess) => VenueShape
  /** Receives each line that the process logs at level Error. */
  readonly onDefect: (text: string) => void
  /** Called on each commit whose outcome the caller gets as unknown. */
  readonly onUnknown: () => void
  readonly onReady: (process: SimProcess) => void
  readonly onUsurped: (process: SimProcess) => void
}

export class SimProcess {
  readonly name: string
  readonly lane: Lane
  readonly store: MemoryStore
  /** Null until the process has started. */
  context: Context.Context<Services> | null = null
  /** True once the process knows that another process owns the store. */
  usurped = false
  idempotency: Idempotency | null = null
  journal: Journal["Service"] | null = null
  private readonly options: ProcessOptions
  private facts: () => Facts = () => noFacts
  private readonly heard = new Map<string, number>()
  /** The clock and the logger of all work in this process. */
  private readonly own: Context.Context<never>

  constructor(options: ProcessOptions) {
    this.options = options
    this.name = options.name
    this.lane = new Lane(options.timeline, options.name)
    this.store = options.seams.store?.(options.store) ?? options.store
    const logger = Logger.make(({ logLevel, message, cause }) => {
      if (logLevel === "Error" || logLevel === "Fatal") options.onDefect(`${String(message)} ${String(cause)}`)
    })
    this.own = Context.empty().pipe(
      Context.add(Clock.Clock, this.lane.clock),
      Context.add(References.CurrentLoggers, new Set([logger]))
    ) as Context.Context<never>
    this.lane.after(0, () => this.start())
  }

  /** True if the process accepts calls. */
  get ready(): boolean {
    return this.lane.alive && this.context !== null
  }

  /** Runs an effect in this process, and then `done` in the same process. A dead process runs neither. */
  run<A, E>(effect: Effect.Effect<A, E, Services>, done: (exit: Exit.Exit<A, E>) => void): void {
    const { context } = this
    if (context === null) throw new Error("the process has not started")
    this.fork(context, effect, done)
  }

  /** The time since this process first received a mark of the market, ms; 0 if this call notices it first. */
  knowsMarkFor(symbol: string): number {
    if (!this.facts().marks.has(symbol)) return 0
    const { now } = this.options.timeline
    const since = this.heard.get(symbol) ?? now
    this.heard.set(symbol, since)
    return now - since
  }

  private fork<A, E, R>(
    context: Context.Context<R>,
    effect: Effect.Effect<A, E, R>,
    done: (exit: Exit.Exit<A, E>) => void
  ): void {
    const { lane } = this
    const fiber = Effect.runForkWith(context)(effect, { scheduler: lane.scheduler })
    fiber.addObserver((exit) => {
      if (lane.alive) done(exit)
    })
  }

  private start(): void {
    const { away, faults, jitter, seams } = this.options
    if (away()) return void this.lane.after(startAgainMillis, () => this.start())
    const journal = makeJournalMemory({
      store: this.store,
      owner: this.name,
      faults,
      defects: refuseDefect,
      patienceMillis: journalPatience,
      wall: () => this.lane.clock.currentTimeMillisUnsafe(),
      schedule: (task, delay) => void this.lane.after(delay + jitter(), task)
    })
    const counted: Journal["Service"] = {
      ...journal,
      submit: (commit, done, lane) => {
        const heard = (outcome: Outcome): void => {
          if (outcome._tag === "Unavailable" && outcome.unknown) this.options.onUnknown()
          done(outcome)
        }
        journal.submit(commit, heard, lane)
      }
    }
    this.journal = seams.journal?.(counted, this.store) ?? counted
    this.journal.onUsurped(() => {
      this.usurped = true
      this.options.onUsurped(this)
    })
    const build = Layer.buildWithScope(this.layer(this.journal), Scope.makeUnsafe())
    this.fork(this.own, build, (exit) => {
      if (Exit.isFailure(exit)) {
        // The store became unavailable meanwhile: the supervisor starts the process again.
        if (Cause.squash(exit.cause) instanceof Unavailable)
          return void this.lane.after(startAgainMillis, () => this.start())
        throw new Error(`${this.name} does not start`, { cause: exit.cause })
      }
      this.context = Context.merge(exit.value, this.own)
      this.idempotency = new Idempotency({
        answers: Context.get(exit.value, AnswerStore),
        clock: Context.get(exit.value, BusinessClock)
      })
      this.options.onReady(this)
    })
  }

  private layer(journal: Journal["Service"]): Layer.Layer<Services> {
    const { away, seams } = this.options
    const { store } = this
    const base = Layer.mergeAll(
      SealingService.layer(sealing),
      Settings.layer({ ...defaultSettings, sandbox: true, fourEyes: this.options.guarded }),
      BusinessClock.layer(0),
      Layer.succeed(Journal, journal),
      RowReadsMemory.layer({ store, away }),
      LevelReadsMemory.layer({ store, away }),
      ExposureReadsMemory.layer({ store, away }),
      PartnerBooksMemory.layer({ store, away }),
      answersOf(store),
      memorySql({ store, sealing, away }),
      DocumentContentsMemory.layer({ store, away }),
      noKeyUsage,
      Layer.succeed(Venue, seams.venue?.(this.options.venue(this)) ?? this.options.venue(this)),
      DeliveryFiguresMemory.layer({ store, away }),
      everywherePublic
    )
    const feed = MarketFeed.layer.pipe(
      Layer.provide(layerVenueQuarantine),
      Layer.provideMerge(LastListing.layer),
      Layer.provideMerge(base)
    )
    const engine = Layer.unwrap(
      Effect.map(MarketFeed, ({ facts }) => {
        this.facts = facts
        return ActorHost.layer({ residentLimit: residentClients, facts })
      })
    ).pipe(Layer.provideMerge(Layer.merge(feed, VenueLink.layer)))
    const halts = MarketHalts.layer.pipe(Layer.provide(layerListedMarketsMemory()))
    const views = Layer.mergeAll(
      Directory.layer,
      Screening.layer,
      QuoteBoard.layer,
      MisfitReads.layer.pipe(Layer.provideMerge(OutOfSync.layer)),
      RiskStates.layer,
      RiskWatch.layer.pipe(Layer.provide(seenAs(seams.watching))),
      halts
    ).pipe(
      (all) =>
        Layer.mergeAll(
          layerProtection,
          layerRiskJudgement,
          VenueGateway.layer.pipe(Layer.provide(seenAs(seams.trading)))
        ).pipe(Layer.provideMerge(all)),
      Layer.provideMerge(engine)
    )
    const workers = Layer.mergeAll(DeliveryWorker.layer({ name: this.name }), FeedSweep.layer).pipe(
      Layer.provide([
        WebhookEndpoints.layer,
        this.options.sender(),
        deliveriesOf(store, this.options),
        FeedSourceMemory.layer({ store, away })
      ])
    )
    const handlers = Effect.map(Effect.all([clientTimers, systemTimers]), ([ofClients, ofSystem]) => ({
      ...ofClients,
      ...ofSystem
    }))
    const timers = Timers.layer(handlers).pipe(
      Layer.provide([DueTimersMemory.layer({ store, away }), ScreeningPasses.layer])
    )
    const trading = Layer.mergeAll(
      VenueProbes.layer,
      Contracts.layer,
      layerAutoAccept,
      layerOpeningWatch,
      layerOrderResync,
      layerMisfitReads,
      layerNearLevels,
      layerPersonWatch,
      layerRiskMonitor.pipe(Layer.provide(seenAs(seams.watching))),
      Orders.layer.pipe(Layer.provide(seenAs(seams.trading))),
      Swaps.layer.pipe(Layer.provide(seenAs(seams.trading))),
      OrderReads.layer,
      Leverages.layer,
      Margin.layer
    ).pipe(Layer.provideMerge(Rfqs.layer), Layer.provideMerge(VenueCalls.layer(venueHandlers)))
    const operator = Approvals.layer.pipe(
      Layer.provideMerge(Interfirm.layer),
      Layer.provideMerge(
        Layer.mergeAll(
          Partners.layer,
          Adjustments.layer,
          CloseOutDesk.layer,
          Payouts.layer,
          OperatorKeys.layer,
          Withdrawals.layer,
          VenueResolutions.layer,
          SwapDesk.layer
        )
      ),
      Layer.provideMerge(Breaks.layer)
    )
    const nights = layerStatementWorker.pipe(Layer.provide(layerNightWork(this.options)))
    return Layer.mergeAll(
      workers,
      timers,
      nights,
      operator,
      Onboarding.layer,
      CollateralReports.layer,
      Deposits.layer,
      KycUpdates.layer,
      SettlementItems.layer,
      BulkReports.layer,
      Webhooks.layer,
      Clients.layer,
      Accounts.layer.pipe(Layer.provide(seenAs(seams.showing))),
      Compliance.layer,
      Documents.layer,
      Lifecycle.layer,
      ScreeningImports.layer,
      WatchLists.layer,
      VenueEvents.layer(venueHandlers).pipe(Layer.provide(seenAs(seams.trading))),
      trading,
      Appropriateness.layer.pipe(Layer.provideMerge(Questionnaires.layer))
    ).pipe(Layer.provideMerge(views))
  }
}

/** The mailboxes as one group of services uses them; `bend` changes them. */
const seenAs = (bend: ((host: ActorHost["Service"]) => ActorHost["Service"]) | undefined) =>
  Layer.effect(
    ActorHost,
    Effect.map(ActorHost, (host) => bend?.(host) ?? host)
  )

/** The time that callers wait while the outcome of their batch is unknown, ms. */
const journalPatience = 800
/** The pause before a process that found no store at its start tries again, ms. */
const startAgainMillis = 100
/** The limit on clients in memory: so low that subjects are dropped and read again. */
const residentClients = 6

/** One key for all processes: the person fingerprint must be the same in each. */
export const sealing = makeSealing({ current: 1, keys: new Map([[1, Buffer.alloc(32, 7)]]) })

const noKeyUsage = Layer.succeed(KeyUsage, KeyUsage.of({ touch: () => null, lastUsedAt: () => null }))

const everywherePublic = Layer.succeed(
  WebhookAddresses,
  WebhookAddresses.of({
    check: () => Effect.succeed([{ address: "8.8.8.8", family: 4 }]),
    isExempt: () => false,
    isPublic: () => true
  })
)

const answersOf = (store: MemoryStore): Layer.Layer<AnswerStore> =>
  Layer.succeed(
    AnswerStore,
    AnswerStore.of({
      find: (principal, key) =>
        Effect.sync(() => store.rows("answers").find((row) => row.principal === principal && row.key === key) ?? null),
      // A run is shorter than the 24 hours for which answers are stored.
      discardExpired: () => Effect.die(new Error("no answer expires in a simulation")),
      sweep: () => Effect.succeed(0),
      sweepBegun: () => Effect.succeed(0),
      sweepParts: () => Effect.succeed(0)
    })
  )

/** The memory store's deliveries with the delays of a database. */
const deliveriesOf = (store: MemoryStore, { away, jitter, seams }: ProcessOptions): Layer.Layer<DeliveryStore> => {
  const later = <A, E>(work: Effect.Effect<A, E>) =>
    Effect.suspend(() =>
      Effect.andThen(
        Effect.sleep(jitter()),
        Effect.tap(work, () => Effect.sleep(jitter()))
      )
    )
  const slow = Effect.map(DeliveryStore, (inner) => {
    const bent = seams.deliveries?.(inner, store) ?? inner
    return DeliveryStore.of({
      lease: (request) => later(bent.lease(request)),
      finish: (changes) => later(bent.finish(changes)),
      read: (ids) => later(bent.read(ids))
    })
  })
  return Layer.effect(DeliveryStore, slow).pipe(Layer.provide(DeliveryStoreMemory.layer({ store, away })))
}

/** The simulation itself kills a process during an answer. Any other error of a callback ends the run. */
const refuseDefect = (sentence: string, cause: unknown): void => {
  if (!(cause instanceof LaneKilled)) throw new Error(sentence, { cause })
}
