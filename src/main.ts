/**
 * The composition root of `brokerage serve`: starts all parts, from the data directory to the listening socket, and stops them
 * in order. The only file that imports all layers.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Deferred, Effect, Exit, Layer, Option, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { hostname } from "node:os"
import { type Demo, prepareDemo } from "./demo.ts"
import { demoScreen } from "./demoScreen.ts"
import { serveEdge } from "./edgeMain.ts"
import { directFeatures, partnerFeatures } from "./http/features.ts"
import { HttpServer } from "./http/HttpServer.ts"
import { layerService } from "./http/layerService.ts"
import { usualFourEyes } from "./http/api/operator/commands.ts"
import { operatorServices } from "./http/operator/operatorFeatures.ts"
import { makeOperatorApp } from "./http/operator/OperatorServer.ts"
import { armKillPoint, armWhenReady } from "./killPoint.ts"
import { layerLogging, stdoutPrinter } from "./layerLogging.ts"
import {
  type DataFiles,
  openDataDirectory,
  readIfThere,
  removeFile,
  type ServiceFile
} from "./runtime/adapters/dataDirectory.ts"
import { checkDurability, EmbeddedPostgres } from "./runtime/adapters/EmbeddedPostgres.ts"
import { keyFileStore, loadKeyFile } from "./runtime/adapters/keyFile.ts"
import { LocalAuthority } from "./runtime/adapters/LocalAuthority.ts"
import { writeWhole } from "./runtime/adapters/writeWhole.ts"
import { leverageProfiles } from "./machines/market/marketTerms.ts"
import { BusinessClock } from "./runtime/engine/clock/BusinessClock.ts"
import { ActorHost } from "./runtime/engine/mailbox/ActorHost.ts"
import { Journal } from "./runtime/engine/journal/Journal.ts"
import { makeSealing, type SealingKeys } from "./runtime/engine/sealing/Sealing.ts"
import { migrate as migrateDatabase } from "./runtime/migrations/migrate.ts"
import { OperatorKeys } from "./runtime/services/operations/operator/OperatorKeys.ts"
import { SandboxReset } from "./runtime/services/operations/system/SandboxReset.ts"
import { defaultSettings } from "./runtime/Settings.ts"
import { layerDatabasePool } from "./runtime/store/databasePool.ts"
import { workAtVenue } from "./runtime/store/reads/venueWork.ts"
import { resetDatabase, resetStamp } from "./runtime/store/SandboxResets.ts"
import { stampDatabase, stampVenueName } from "./runtime/store/ServiceStamp.ts"
import { onOwnConnection } from "./runtime/store/transactions.ts"
import { DeliveryWorker } from "./runtime/services/webhooks/DeliveryWorker.ts"
import { ServeError } from "./ServeError.ts"
import { drawVenueName, meetVenue, startVenue, type StartingVenue } from "./serviceVenue.ts"
import { type ServeOptions, unreadEdgeHost } from "./serveOptions.ts"
import { serverCertificate, urlHost } from "./serverCertificate.ts"
import { explainDatabase, explainListening, explained } from "./startFailure.ts"
import { avoidPretenuring } from "./noPretenuring.ts"

/** How the service ended: stopped, or replaced by a newer process on the same database. */
export type Ending = "stopped" | "usurped"

/** The facts that `serve` passes to its caller once it listens. */
export interface Ready {
  readonly service: ServiceFile
  readonly demo: Demo | null
  /** Prints a line on stdout; a line that can't be written is dropped and counted. */
  readonly print: (text: string) => void
}

/**
 * Limits of an orderly stop, which ends within 15 s even if the database does not respond. Requests, mailboxes and journal get
 * `drainMillis`. The pool, the embedded database and the simulated venue get `stopMillis`, of which the last `venueStopMillis`
 * are reserved for the venue.
 */
const drainMillis = 9_500
const stopMillis = 12_500
const venueStopMillis = 1_500

/**
 * Runs the service until `stop` completes or another process takes over the database. All its resources are released on return.
 * `whenReady` runs beside it from the moment it listens, and ends with it; an edge never calls it.
 */
export const serve = (
  options: ServeOptions,
  stop: Effect.Effect<void>,
  whenReady: (ready: Ready) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<Ending, ServeError> =>
  Effect.suspend((): Effect.Effect<Ending, unknown> => {
    const unread = unreadEdgeHost(options)
    if (unread !== null) return Effect.fail(new ServeError({ sentence: unread }))
    avoidPretenuring()
    return options.role === "edge" ? serveEdge(options, stop) : serveLives(options, stop, whenReady)
  }).pipe(explained, Effect.provide(layerLogging))

/** Runs one life after the other: after a sandbox reset the service restarts at the same address (sim reset). */
const serveLives = (
  options: ServeOptions,
  stop: Effect.Effect<void>,
  whenReady: (ready: Ready) => Effect.Effect<void>
): Effect.Effect<Ending, unknown> =>
  Effect.flatMap(serveWhole(options, stop, whenReady), ({ ending, port }) =>
    // The kill point was armed for this process at its start and stays armed: the next life must not arm it again.
    ending === "reset" ? serveLives({ ...options, port, killAt: null }, stop, whenReady) : Effect.succeed(ending)
  )

/** How one life of the service ended, and its address. */
interface Ended {
  readonly ending: Ending | "reset"
  readonly port: number
}

/** One life of the service. A stop ends it at any point, also during the start. */
const serveWhole = (
  options: ServeOptions,
  stop: Effect.Effect<void>,
  whenReady: (ready: Ready) => Effect.Effect<void>
): Effect.Effect<Ended, unknown> =>
  Effect.scoped(
    Effect.gen(function* () {
      const ended = yield* Deferred.make<Ended["ending"]>()
      yield* Effect.forkScoped(Effect.andThen(stop, Deferred.succeed(ended, "stopped")))
      let stopBy = Infinity
      const left = (): number => stopBy - performance.now()
      const starting = Effect.asSome(start(options, ended, whenReady, left))
      const started = yield* Effect.raceFirst(starting, Effect.as(Deferred.await(ended), Option.none()))
      const ending = yield* Deferred.await(ended)
      stopBy = performance.now() + stopMillis
      yield* Effect.logInfo(endings[ending])
      if (Option.isNone(started)) return { ending, port: options.port }
      yield* started.value.drain
      return { ending, port: started.value.port }
    })
  )

/**
 * Starts all parts, from the data directory to the listening socket; the scope closes them. `left`: the time left of a stop, wall
 * ms.
 */
const start = (
  options: ServeOptions,
  ended: Deferred.Deferred<Ended["ending"]>,
  whenReady: (ready: Ready) => Effect.Effect<void>,
  left: () => number
) =>
  Effect.gen(function* () {
    const files = yield* openDataDirectory(options.dataDir)
    if (options.killAt !== null) yield* armKillPoint(options, options.killAt)
    // The venue starts in parallel with the database. The service waits for the venue when it compares the clocks.
    const locked = yield* Deferred.make<void>()
    const starting = yield* startVenue(options, files, Deferred.await(locked), left)
    const url = yield* databaseUrl(options, files, Deferred.succeed(locked, undefined), () => left() - venueStopMillis)
    const keyStore = keyFileStore(files.root)
    const sealing = makeSealing(yield* encryptionKeys(files), keyStore.read)
    const exemption = yield* webhookExemption(options, files)
    const stamp = yield* explainDatabase(options)(prepareDatabase(url, options.sandbox, sealing, starting, files))
    const runtime = yield* Layer.build(
      operatorServices.pipe(
        Layer.provideMerge(
          layerService({
            databaseUrl: url,
            sealing,
            keyStore,
            settings: {
              ...defaultSettings,
              sandbox: options.sandbox,
              namedVenue: options.venueUrl !== null,
              blockedJurisdictions:
                options.blockedJurisdictions === null
                  ? defaultSettings.blockedJurisdictions
                  : new Set(options.blockedJurisdictions),
              marketTerms: {
                ...defaultSettings.marketTerms,
                leverage: leverageProfiles[options.leverageProfile]
              },
              identityProviders: options.identityProviders ?? defaultSettings.identityProviders,
              firm: { ...defaultSettings.firm, ...options.firm },
              fourEyes: new Set(options.fourEyes ?? (options.sandbox ? [] : usualFourEyes)),
              ...exemption
            },
            venue: stamp.venue,
            venueName: stamp.venueName,
            clockOffset: stamp.clockOffset,
            owner: `${hostname()}:${process.pid}:${randomBytes(6).toString("hex")}`
          })
        )
      )
    )
    return yield* Effect.gen(function* () {
      const journal = yield* Journal
      const host = yield* ActorHost
      journal.onUsurped(() => Deferred.doneUnsafe(ended, Effect.succeed<Ended["ending"]>("usurped")))
      yield* keepFirstOperatorKey(files)
      const reset = yield* SandboxReset
      yield* reset.report
      const http = yield* Scope.fork(yield* Effect.scope)
      const tls = yield* serverCertificate(options, files)
      const operatorApp = yield* makeOperatorApp
      const bound = yield* HttpServer.start({
        features: partnerFeatures,
        direct: directFeatures,
        host: options.host,
        port: options.port,
        tls,
        edgeHosts: options.edgeHosts,
        behindEdge: options.role === "router",
        sandbox: options.sandbox,
        operatorApp
      }).pipe(Scope.provide(http), explainListening(options))
      const service: ServiceFile = {
        url: `https://${urlHost(options.host)}:${bound.port}`,
        pid: process.pid,
        caFile: tls.caFile,
        operatorKeyFile: files.operatorKey
      }
      const serviceText = `${JSON.stringify(service)}\n`
      writeWhole(files.service, serviceText)
      const forget = Effect.sync(() => {
        // A file with another text belongs to a newer service on the same directory, so it stays.
        if (readIfThere(files.service) === serviceText) removeFile(files.service)
      })
      yield* Scope.addFinalizer(http, forget)
      const demo = options.demo ? yield* prepareDemo(files, service.caFile) : null
      if (options.killAt !== null) armWhenReady(options.killAt)
      const print = yield* stdoutPrinter
      const { offset } = yield* BusinessClock
      print(announcement(options, service, demo === null ? null : demoScreen(demo, service, options.dataDir, offset())))
      yield* Effect.forkScoped(whenReady({ service, demo, print }))
      yield* Effect.forkScoped(Effect.andThen(reset.requested, Deferred.succeed(ended, "reset")))
      const deliveries = yield* DeliveryWorker
      const drain = Effect.gen(function* () {
        const drainedBy = (yield* Clock.currentTimeMillis) + drainMillis
        // The deliveries stop in parallel with the last requests, because both must end within the time of the stop.
        yield* Effect.forkScoped(deliveries.stop)
        yield* Scope.close(http, Exit.void)
        const left = Math.max(1_000, drainedBy - (yield* Clock.currentTimeMillis))
        yield* Effect.timeoutOption(Effect.andThen(host.drain, journal.drain), left)
      })
      return { drain, port: bound.port }
    }).pipe(Effect.provideContext(runtime))
  })

const endings: Readonly<Record<Ended["ending"], string>> = {
  stopped: "the service stops: it finishes the accepted requests first",
  usurped: "another process has taken over this database: the service stops",
  reset: "the sandbox is reset: the service finishes the accepted requests first"
}

/** The address of the database; an embedded one is started. `whenLocked` runs once no other service can use the data directory. */
const databaseUrl = (options: ServeOptions, files: DataFiles, whenLocked: Effect.Effect<unknown>, left: () => number) =>
  options.databaseUrl === null
    ? Effect.map(EmbeddedPostgres.start({ dataDirectory: files.postgres, whenLocked, left }), ({ url }) => url)
    : Effect.as(whenLocked, Redacted.make(options.databaseUrl))

const encryptionKeys = (files: DataFiles): Effect.Effect<SealingKeys, ServeError> =>
  Effect.try({
    try: () => loadKeyFile(files.root),
    catch: (error) =>
      new ServeError({
        sentence: `The encryption keys can not be used (${error instanceof Error ? error.message : String(error)}): restore encryption.keys of the data directory from its backup.`
      })
  })

const migrate = Effect.catchTag(migrateDatabase, "SchemaTooOld", ({ message }) => new ServeError({ sentence: message }))

/** Checks, migrates and stamps the database over separate connections, and aligns the clocks of a sandbox. */
const prepareDatabase = (
  url: Redacted.Redacted,
  sandbox: boolean,
  sealing: ReturnType<typeof makeSealing>,
  starting: StartingVenue,
  files: DataFiles
) =>
  Effect.gen(function* () {
    yield* checkDurability
    yield* onOwnConnection(migrate)
    yield* stampDatabase(sandbox, sealing)
    if ((yield* resetStamp(yield* PgClient.PgClient)).requested) {
      // The venue's data is removed before the old database, so that a start after a crash in between repeats this step.
      yield* starting.emptied
      removeFile(files.demo)
      removeFile(files.demoCurl)
      yield* onOwnConnection(resetDatabase(sealing, migrate))
    }
    const { clockOffset } = yield* stampDatabase(sandbox, sealing)
    const venue = yield* starting.connection
    if (venue === null) yield* refuseOpenWork
    const venueName = venue === null ? "" : yield* stampVenueName(drawVenueName())
    if (!sandbox || venue === null) return { venue, venueName, clockOffset }
    return { venue, venueName, clockOffset: yield* meetVenue(yield* PgClient.PgClient, venue, clockOffset) }
  }).pipe(Effect.provide(layerDatabasePool({ url, maxConnections: 1, applicationName: "brokerage-start" })))

/** Refuses to start without a venue while orders or contracts are open that only a venue can end. */
const refuseOpenWork = Effect.flatMap(workAtVenue, (open) =>
  open.length === 0
    ? Effect.void
    : new ServeError({
        sentence: `This database has open work at a venue (${open.join(", ")}): name the venue with --venue-url.`
      })
)

/**
 * The webhook hosts of a sandbox that need not be public, and the authority trusted for them. The demo's receiver uses it. Fails
 * outside a sandbox.
 */
const webhookExemption = (options: ServeOptions, files: DataFiles) =>
  Effect.gen(function* () {
    const webhookHosts = new Set([...options.allowWebhookHosts, ...(options.demo ? ["127.0.0.1"] : [])])
    if (webhookHosts.size === 0) return { webhookHosts, webhookAuthority: null }
    if (!options.sandbox) return yield* new ServeError({ sentence: "--allow-webhook-host and --demo need --sandbox." })
    // The host of the service's own certificate, so that the authority does not issue another one.
    const host = options.tls === null ? { host: options.host } : {}
    const { ca } = yield* LocalAuthority.ensure({ dataDirectory: files.root, ...host })
    return { webhookHosts, webhookAuthority: ca }
  })

/** Writes an ADMIN key to DATA_DIR/operator.key at the first start, readable by its owner alone. */
const keepFirstOperatorKey = (files: DataFiles) =>
  Effect.gen(function* () {
    const first = yield* (yield* OperatorKeys).ensureFirst({
      read: () => readIfThere(files.operatorKey),
      write: (key) => writeWhole(files.operatorKey, `${key}\n`)
    })
    if (first === "missing") {
      yield* Effect.logWarning(
        "operator.key is not in the data directory: commands need one of the live ADMIN keys, given with --operator-key."
      )
    }
  })

const announcement = (options: ServeOptions, service: ServiceFile, demo: string | null): string => {
  if (options.json) return JSON.stringify({ ready: true, ...service })
  if (demo !== null) return demo
  const lines = [
    `The brokerage is listening on ${service.url}${options.sandbox ? " (sandbox)" : ""}`,
    service.caFile === null ? null : `  CA file       ${service.caFile}`,
    `  operator key  ${service.operatorKeyFile}`,
    options.role === "router" ? null : `  API reference ${service.url}/docs`
  ]
  return lines.filter((line) => line !== null).join("\n")
}
