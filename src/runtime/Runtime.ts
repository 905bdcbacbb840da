/**
 * The runtime: database, journal, mailboxes, projections and the services that several nouns share, over one connection string.
 * The services of a noun come with its feature (http/features.ts), and the workers run over all of them. The runtime does not
 * depend on HTTP.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, type Redacted } from "effect"
import { layerHttpVenueControl } from "./adapters/HttpVenueControl.ts"
import { ActorHost } from "./engine/mailbox/ActorHost.ts"
import { BusinessClock } from "./engine/clock/BusinessClock.ts"
import { Journal } from "./engine/journal/Journal.ts"
import { makeJournalPg } from "./engine/journal/JournalPg.ts"
import type { KeyStore } from "./ports/KeyStore.ts"
import type { Sealing } from "./engine/sealing/Sealing.ts"
import { SealingService } from "./engine/sealing/SealingService.ts"
import { Timers } from "./engine/timers/Timers.ts"
import { Breaks } from "./services/money/breaks/Breaks.ts"
import { clientTimers } from "./services/operations/registries/clientTimers.ts"
import { DocumentContents } from "./ports/DocumentContents.ts"
import { StatementModels } from "./ports/StatementModels.ts"
import { layerRenderThreads } from "./adapters/statements/RenderThreads.ts"
import { Directory } from "./services/partners/Directory.ts"
import { Health } from "./services/operations/system/Health.ts"
import { systemTimers } from "./services/operations/system/systemTimers.ts"
import { KeyRotation } from "./services/operations/operator/KeyRotation.ts"
import { layerListedMarkets } from "./services/market/listedMarkets.ts"
import { MarketHalts } from "./services/market/MarketHalts.ts"
import { KeyUsage } from "./services/partners/KeyUsage.ts"
import { OperatorKeys } from "./services/operations/operator/OperatorKeys.ts"
import { Partners } from "./services/lifecycle/Partners.ts"
import { Questionnaires } from "./services/clients/appropriateness/Questionnaires.ts"
import { dueTimersLayer } from "./store/dueTimers.ts"
import type { ListedMarkets } from "./ports/ListedMarkets.ts"
import { PartnerBooks } from "./ports/PartnerBooks.ts"
import { ExposureReads } from "./ports/ExposureReads.ts"
import { LevelReads } from "./ports/LevelReads.ts"
import { RowReads } from "./ports/RowReads.ts"
import type { VenueConnection } from "./ports/VenueConnection.ts"
import type { VenueControl } from "./ports/VenueControl.ts"
import { layerNoVenueControl } from "./ports/VenueControlMemory.ts"
import type { VenueProgress } from "./ports/VenueProgress.ts"
import { layerVenueProgressMemory } from "./ports/VenueProgressMemory.ts"
import type { Venue } from "./ports/Venue.ts"
import { DailyMarks, layerDailyMarks } from "./services/market/DailyMarks.ts"
import { LastListing } from "./services/market/LastListing.ts"
import { layerLastMarks } from "./services/market/LastMarks.ts"
import { MarketFeed } from "./services/market/MarketFeed.ts"
import { layerPayoutCorrections } from "./services/money/ledger/PayoutCorrections.ts"
import { layerPersonWatch } from "./services/clients/client/PersonWatch.ts"
import { layerSandboxEntries } from "./services/screening/SandboxEntries.ts"
import { Screening } from "./services/screening/Screening.ts"
import { ScreeningPasses } from "./services/clients/screening/ScreeningPasses.ts"
import { Settings, type SettingsShape } from "./Settings.ts"
import { ModelBuilds } from "./services/statements/build/ModelBuilds.ts"
import { layerStatementJobs } from "./services/statements/jobs/StatementJobs.ts"
import { layerAttachedVenue } from "./services/operations/system/VenueAgreement.ts"
import { AnswerStore } from "./store/AnswerStore.ts"
import { layerDatabasePool } from "./store/databasePool.ts"
import { HttpVenue } from "./adapters/venue/HttpVenue.ts"
import { layerOwnControls, layerOwnNames } from "./adapters/venue/ownNames.ts"
import { layerSandboxTime } from "./services/venue/sandboxTime.ts"
import { layerMisfitReads } from "./services/operations/registries/layerMisfitReads.ts"
import { MisfitReads } from "./services/venue/MisfitReads.ts"
import { VenueCalls } from "./services/venue/VenueCalls.ts"
import { VenueEvents } from "./services/venue/VenueEvents.ts"
import { layerNearLevels } from "./services/margin/NearLevels.ts"
import { layerRiskJudgement, layerRiskMonitor } from "./services/margin/RiskMonitor.ts"
import { RiskStates } from "./services/account/RiskStates.ts"
import { RiskWatch } from "./services/margin/RiskWatch.ts"
import { layerAutoAccept } from "./services/trading/rfq/AutoAccept.ts"
import { layerOpeningWatch } from "./services/trading/rfq/OpeningWatch.ts"
import { QuoteBoard } from "./services/trading/rfq/QuoteBoard.ts"
import { layerProtection } from "./services/trading/order/layerProtection.ts"
import { layerOrderResync } from "./services/trading/order/OrderResync.ts"
import { OutOfSync } from "./services/venue/OutOfSync.ts"
import { VenueGateway } from "./services/venue/VenueGateway.ts"
import { venueHandlers } from "./services/operations/registries/VenueHandlers.ts"
import { VenueComparison } from "./services/reconciliation/VenueComparison.ts"
import { VenueLink } from "./services/venue/VenueLink.ts"
import { layerVenueQuarantine } from "./services/venue/venueQuarantine.ts"
import { WebhookAddresses } from "./services/webhooks/WebhookAddresses.ts"
import { layerWebhookWorkers } from "./services/webhooks/webhookWorkers.ts"
import { AnswerSweep } from "./workers/AnswerSweep.ts"
import { ContentSweep } from "./workers/ContentSweep.ts"
import { ModelSweep } from "./workers/ModelSweep.ts"
import { type ResealPace, ResealWorker } from "./workers/ResealWorker.ts"

export interface RuntimeOptions {
  readonly databaseUrl: Redacted.Redacted
  readonly sealing: Sealing
  /** The store of the keys in `sealing`; without it they can't be rotated. */
  readonly keyStore?: KeyStore
  readonly resealPace?: ResealPace
  readonly settings: SettingsShape
  /** The venue for trading; without one every route that needs it answers 503 code 5030. */
  readonly venue?: VenueConnection | null
  /** The name of the database at the venue (`ownNames`); without one it is the venue's only service. */
  readonly venueName?: string
  /** Replaces the controls of `venue` in tests. */
  readonly controls?: Layer.Layer<VenueControl>
  /** The checkpoint of the venue's events; without it nothing waits for them. */
  readonly progress?: Layer.Layer<VenueProgress>
  /** Replaces the connection to a venue in tests and simulations. Without either, no venue is attached. */
  readonly layerVenue?: Layer.Layer<Venue>
  /** Replaces the listed markets of the feed in tests. */
  readonly listed?: Layer.Layer<ListedMarkets>
  /** How far the business clock runs ahead, ms, from the database's stamp. */
  readonly clockOffset: number
  /** Unique name of this process. */
  readonly owner: string
}

const hasVenue = ({ venue, layerVenue }: RuntimeOptions): boolean =>
  layerVenue !== undefined || (venue !== null && venue !== undefined)

/** The connections for everything but the journal, which has its own. More are slower (architecture section 8). */
const poolSize = 8

/** The pool of connections for everything but the journal. */
export const layerDatabase = (url: Redacted.Redacted) =>
  layerDatabasePool({ url, maxConnections: poolSize, applicationName: "brokerage" })

export const layerRuntime = (options: RuntimeOptions) => {
  const journal = Layer.effect(
    Journal,
    Effect.flatMap(PgClient.PgClient, (sql) =>
      makeJournalPg({ url: options.databaseUrl, sql, sealing: options.sealing, owner: options.owner })
    )
  )
  const base = Layer.mergeAll(
    SealingService.layer(options.sealing),
    Settings.layer(options.settings),
    venueOf(options),
    journal
  ).pipe(
    Layer.provideMerge(Layer.merge(BusinessClock.layer(options.clockOffset), VenueLink.layer)),
    Layer.provideMerge(layerDatabase(options.databaseUrl))
  )
  const feed = hasVenue(options)
    ? MarketFeed.layer.pipe(Layer.merge(layerAttachedVenue), Layer.provide(layerVenueQuarantine))
    : MarketFeed.none
  const host = Layer.unwrap(
    Effect.map(MarketFeed, ({ facts }) => ActorHost.layer({ residentLimit: options.settings.residentClients, facts }))
  )
  const engine = Layer.mergeAll(host, LevelReads.layer, ExposureReads.layer, PartnerBooks.layer).pipe(
    Layer.provideMerge(feed),
    Layer.provideMerge(LastListing.layer),
    Layer.provideMerge(RowReads.layer),
    Layer.provideMerge(base)
  )
  const valued = Layer.merge(layerLastMarks, LastListing.layerKept).pipe(Layer.provideMerge(engine))
  const views = Layer.mergeAll(
    Directory.layer,
    Screening.layer,
    Questionnaires.layer,
    WebhookAddresses.layer(),
    QuoteBoard.layer,
    MisfitReads.layer.pipe(Layer.provideMerge(OutOfSync.layer)),
    RiskStates.layer,
    RiskWatch.layer,
    MarketHalts.layer.pipe(Layer.provide(options.listed ?? layerListedMarkets))
  ).pipe(
    (views) => Layer.mergeAll(layerProtection, layerRiskJudgement, VenueGateway.layer).pipe(Layer.provideMerge(views)),
    Layer.provideMerge(valued)
  )
  const progress =
    options.progress ?? (hasVenue(options) ? VenueEvents.layer(venueHandlers) : layerVenueProgressMemory())
  return Layer.mergeAll(
    Breaks.layer,
    DocumentContents.layer,
    StatementModels.layer,
    layerRenderThreads(),
    ModelBuilds.layer(options.databaseUrl),
    AnswerStore.layer,
    Health.layer,
    ScreeningPasses.layer,
    controlsOf(options),
    progress,
    KeyRotation.layer(options.keyStore ?? null),
    OperatorKeys.layer,
    Partners.layer,
    VenueCalls.layer(venueHandlers),
    hasVenue(options) ? VenueComparison.layer.pipe(Layer.provide(progress)) : VenueComparison.none
  ).pipe(Layer.provideMerge(KeyUsage.layer), Layer.provideMerge(views))
}

/** The venue under this service's own name; in a sandbox its clock may be moved. */
const venueOf = ({ venue = null, venueName = "", layerVenue, settings }: RuntimeOptions) => {
  const named = layerOwnNames(venueName, layerVenue ?? HttpVenue.layer(venue))
  return settings.sandbox ? layerSandboxTime(named) : named
}

const controlsOf = ({ venue = null, venueName = "", controls }: RuntimeOptions): Layer.Layer<VenueControl> =>
  layerOwnControls(venueName, controls ?? (venue === null ? layerNoVenueControl : layerHttpVenueControl(venue)))

/** The workers that run over all services. */
export const layerWorkers = (options: RuntimeOptions) =>
  Layer.mergeAll(
    Timers.layer(
      Effect.map(Effect.all([clientTimers, systemTimers]), ([ofClients, ofSystem]) => ({ ...ofClients, ...ofSystem }))
    ).pipe(Layer.provide(dueTimersLayer)),
    layerSandboxEntries,
    layerPersonWatch,
    layerPayoutCorrections,
    layerStatementJobs.pipe(Layer.provide(hasVenue(options) ? layerDailyMarks : DailyMarks.none)),
    hasVenue(options)
      ? Layer.mergeAll(
          layerAutoAccept,
          layerOpeningWatch,
          layerNearLevels,
          layerMisfitReads,
          layerOrderResync,
          layerRiskMonitor
        )
      : Layer.empty,
    AnswerSweep.layer,
    ContentSweep.layer,
    ModelSweep.layer,
    ResealWorker.layer({
      databaseUrl: options.databaseUrl,
      owner: options.owner,
      ...(options.resealPace === undefined ? {} : { pace: options.resealPace })
    }),
    layerWebhookWorkers({ name: options.owner })
  )
