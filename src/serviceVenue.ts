/**
 * The venue of a service: the venue of --venue-url if given, otherwise a simulated one in a sandbox, and none elsewhere. Also
 * aligns the business clocks of a sandbox and its venue (operator surface, Service; C4).
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Fiber, Redacted, Exit, Schema, Scope } from "effect"
import { randomInt } from "node:crypto"
import { readFileSync, rmSync } from "node:fs"
import { queryVenue, VenueAway } from "./runtime/adapters/queryVenue.ts"
import type { DataFiles } from "./runtime/adapters/dataDirectory.ts"
import { EmbeddedVenue, type EmbeddedVenueError } from "./runtime/adapters/EmbeddedVenue.ts"
import { passPausePoint } from "./runtime/engine/PausePoints.ts"
import type { VenueConnection } from "./runtime/ports/VenueConnection.ts"
import { clockEnd } from "./runtime/services/shared/clockEnd.ts"
import { together } from "./runtime/services/operations/system/ClockWalk.ts"
import { raiseClock } from "./runtime/store/ServiceStamp.ts"
import { ServeError } from "./ServeError.ts"
import type { ServeOptions } from "./serveOptions.ts"

/** The characters of a venue name, without the digits 0 and 1, which look like letters in print. */
const nameAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789"

/** Draws a random name for a service's database at a venue, out of 1.5 billion names. */
export const drawVenueName = (): string =>
  Array.from({ length: 6 }, () => nameAlphabet[randomInt(nameAlphabet.length)]).join("")

/** The connection to the service's venue; null without a venue. A simulated venue runs until the scope closes. */
export const serviceVenue = (
  options: ServeOptions,
  files: DataFiles,
  left: () => number
): Effect.Effect<VenueConnection | null, ServeError | EmbeddedVenueError, Scope.Scope> => {
  if (options.venueUrl !== null) return namedVenue(options, options.venueUrl)
  if (!options.sandbox) return Effect.succeed(null)
  return Effect.map(EmbeddedVenue.start({ dataDirectory: files.venue, left }), ({ connection }) => connection)
}

export type StartingVenue = Effect.Success<ReturnType<typeof startVenue>>

/**
 * Starts the venue in parallel with the database. `locked` completes once this process holds the data directory: a service that is
 * refused there must not adopt, and then end, the venue of the running one. `left`: the time that a simulated venue has for its
 * stop, wall ms.
 */
export const startVenue = (options: ServeOptions, files: DataFiles, locked: Effect.Effect<void>, left: () => number) =>
  Effect.gen(function* () {
    const outer = yield* Effect.scope
    const begin = Effect.gen(function* () {
      const scope = yield* Scope.fork(outer)
      const venue = Effect.andThen(locked, serviceVenue(options, files, left))
      const starting = yield* Effect.forkIn(Scope.provide(venue, scope), scope, { startImmediately: true })
      return { scope, starting }
    })
    let life = yield* begin
    return {
      /** Waits until the venue has started, and returns its connection; null for a service without a venue. */
      connection: Effect.suspend(() => Fiber.join(life.starting)),
      /** Stops the simulated venue of the data directory, deletes its data, and starts it again (sim reset). */
      emptied: Effect.gen(function* () {
        yield* Fiber.join(life.starting)
        yield* Scope.close(life.scope, Exit.void)
        yield* Effect.try({
          try: () => rmSync(files.venue, { recursive: true, force: true }),
          catch: () =>
            new ServeError({ sentence: `The reset of this sandbox can not end: ${files.venue} can not be taken away.` })
        })
        passPausePoint("venue-emptied")
        life = yield* begin
      })
    }
  })

const namedVenue = ({ venueKeyFile, venueCa }: ServeOptions, url: string): Effect.Effect<VenueConnection, ServeError> =>
  Effect.gen(function* () {
    const key = venueKeyFile === null ? "" : (yield* textOf(venueKeyFile, "--venue-key-file")).trim()
    if (venueKeyFile !== null && !/^[\x21-\x7e]{1,1024}$/.test(key)) {
      return yield* new ServeError({ sentence: "The file of --venue-key-file must hold one key and nothing else." })
    }
    const ca = venueCa === null ? null : yield* textOf(venueCa, "--venue-ca")
    return { url: url.replace(/\/$/, ""), key: Redacted.make(key), ca }
  })

const textOf = (file: string, option: string): Effect.Effect<string, ServeError> =>
  Effect.try({
    try: () => readFileSync(file, "utf8"),
    catch: () => new ServeError({ sentence: `The file of ${option} can not be read.` })
  })

const Time = Schema.Struct({ now: Schema.Int })
const decodeTime = Schema.decodeUnknownEffect(Time)

const answerMillis = 2_000
/** Timeout of a clock jump at the venue, wall ms. */
const jumpMillis = 60_000

/** Moves the venue's clock forward to the service's clock. Returns how far the service's clock has to move in turn, ms. */
const compareClocks = (venue: VenueConnection, offset: number): Effect.Effect<number, VenueAway> =>
  Effect.gen(function* () {
    const answer = yield* queryVenue(venue, "/venue/v1/clock", { timeoutMillis: answerMillis })
    const { now } = yield* Effect.mapError(decodeTime(answer), () => new VenueAway({ reason: "it shows no time" }))
    const at = (yield* Clock.currentTimeMillis) + offset
    if (now > at + together) return now - at
    if (now < at - together) {
      yield* Effect.logInfo("the venue's clock moved forward to the service's time", { millis: at - now })
      const body = { type: "advance", to: at }
      yield* queryVenue(venue, "/venue/v1/control", { body, timeoutMillis: jumpMillis })
    }
    return 0
  })

/** The business offset at start after the clocks are aligned; unchanged if the venue does not respond yet. */
export const meetVenue = (sql: PgClient.PgClient, venue: VenueConnection, offset: number) =>
  Effect.gen(function* () {
    const ahead = yield* compareClocks(venue, offset)
    if (ahead === 0) return offset
    yield* Effect.logInfo("the service's clock moved forward to the venue's time", { millis: ahead })
    const met = offset + ahead
    return met < clockEnd - (yield* Clock.currentTimeMillis) ? ((yield* raiseClock(sql, met, null)) ?? met) : offset
  }).pipe(Effect.catchTag("VenueAway", ({ reason }) => Effect.as(Effect.logWarning(notYet, { reason }), offset)))

const notYet = "the venue does not answer yet; the service aligns the clocks when it does"
