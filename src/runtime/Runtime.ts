/**
 * The runtime as one layer: database, journal, mailboxes, services and workers over one connection string. The HTTP
 * surfaces, tests and tools build on it; nothing here knows HTTP.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, type Redacted } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { ActorHost } from "./engine/ActorHost.ts"
import { BusinessClock } from "./engine/BusinessClock.ts"
import { Journal } from "./engine/Journal.ts"
import { makeJournalPg } from "./engine/JournalPg.ts"
import type { KeyStore } from "./engine/KeyStore.ts"
import type { Sealing } from "./engine/Sealing.ts"
import { SealingService } from "./engine/SealingService.ts"
import { Timers } from "./engine/Timers.ts"
import { Accounts } from "./services/Accounts.ts"
import { Appropriateness } from "./services/Appropriateness.ts"
import { Breaks } from "./services/Breaks.ts"
import { BulkReports } from "./services/BulkReports.ts"
import { Clients } from "./services/Clients.ts"
import { clientTimers } from "./services/clientTimers.ts"
import { CollateralReports } from "./services/CollateralReports.ts"
import { Deposits } from "./services/Deposits.ts"
import { DocumentContents } from "./services/DocumentContents.ts"
import { Documents } from "./services/Documents.ts"
import { Directory } from "./services/Directory.ts"
import { Explain } from "./services/Explain.ts"
import { Health } from "./services/Health.ts"
import { KeyRotation } from "./services/KeyRotation.ts"
import { KycUpdates } from "./services/KycUpdates.ts"
import { KeyUsage } from "./services/KeyUsage.ts"
import { Onboarding } from "./services/Onboarding.ts"
import { OperatorKeys } from "./services/OperatorKeys.ts"
import { Partners } from "./services/Partners.ts"
import { Questionnaires } from "./services/Questionnaires.ts"
import { RowReads } from "./services/RowReads.ts"
import { layerSandboxList } from "./services/SandboxList.ts"
import { Screening } from "./services/Screening.ts"
import { SettlementItems } from "./services/SettlementItems.ts"
import { SettlementReports } from "./services/SettlementReports.ts"
import { Summary } from "./services/Summary.ts"
import { Webhooks } from "./services/Webhooks.ts"
import { Withdrawals } from "./services/Withdrawals.ts"
import { Settings, type SettingsShape } from "./Settings.ts"
import { AnswerStore } from "./store/AnswerStore.ts"
import { DeliveryFigures } from "./webhooks/DeliveryFigures.ts"
import { WebhookAddresses } from "./webhooks/WebhookAddresses.ts"
import { layerWebhookWorkers } from "./webhooks/webhookWorkers.ts"
import { AnswerSweep } from "./workers/AnswerSweep.ts"
import { ContentSweep } from "./workers/ContentSweep.ts"
import { type ResealPace, ResealWorker } from "./workers/ResealWorker.ts"

export interface RuntimeOptions {
  readonly databaseUrl: Redacted.Redacted
  readonly sealing: Sealing
  /** Where the keys of `sealing` are kept; without it they can't be rotated. */
  readonly keyStore?: KeyStore
  readonly resealPace?: ResealPace
  readonly settings: SettingsShape
  /** Ms the business clock runs ahead, from the database's stamp. */
  readonly clockOffset: number
  /** Unique name of this process. */
  readonly owner: string
}

/** Connections for everything but the journal, which has its own. More are slower (architecture section 8). */
const poolSize = 8

/** The pool all reads use. */
export const layerDatabase = (
  url: Redacted.Redacted
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
  PgClient.layer({
    url,
    maxConnections: poolSize,
    applicationName: "brokerage",
    connectTimeout: "5 seconds",
    startupParameters: {
      statement_timeout: "30000",
      lock_timeout: "5000",
      idle_in_transaction_session_timeout: "60000"
    }
  })

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
    BusinessClock.layer(options.clockOffset),
    journal
  ).pipe(Layer.provideMerge(layerDatabase(options.databaseUrl)))
  const engine = Layer.merge(ActorHost.layer({ residentLimit: options.settings.residentClients }), RowReads.layer).pipe(
    Layer.provideMerge(base)
  )
  const views = Layer.mergeAll(Directory.layer, Screening.layer, Questionnaires.layer, WebhookAddresses.layer()).pipe(
    Layer.provideMerge(engine)
  )
  const services = Layer.mergeAll(
    Onboarding.layer,
    KycUpdates.layer,
    CollateralReports.layer,
    Deposits.layer,
    Withdrawals.layer.pipe(Layer.provideMerge(Breaks.layer)),
    SettlementItems.layer,
    BulkReports.layer,
    SettlementReports.layer,
    Appropriateness.layer,
    Documents.layer.pipe(Layer.provideMerge(DocumentContents.layer)),
    Webhooks.layer.pipe(Layer.provide(DeliveryFigures.layer)),
    Clients.layer,
    Accounts.layer,
    Summary.layer,
    AnswerStore.layer,
    Health.layer,
    Explain.layer,
    KeyRotation.layer(options.keyStore ?? null),
    OperatorKeys.layer,
    Partners.layer
  ).pipe(Layer.provideMerge(KeyUsage.layer), Layer.provideMerge(views))
  const workers = Layer.mergeAll(
    Timers.layer(clientTimers),
    layerSandboxList,
    AnswerSweep.layer,
    ContentSweep.layer,
    ResealWorker.layer({
      databaseUrl: options.databaseUrl,
      owner: options.owner,
      ...(options.resealPace === undefined ? {} : { pace: options.resealPace })
    }),
    layerWebhookWorkers({ name: options.owner })
  )
  return workers.pipe(Layer.provideMerge(services))
}
