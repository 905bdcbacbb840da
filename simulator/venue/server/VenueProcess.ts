/**
 * A running simulated venue: its books from the log, time and dealers on wall time, the listener, and the order of its shutdown.
 * Each directory has one venue.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { VenueEvent } from "../../../src/machines/venue/VenueEvent.ts"
import { makeFolder } from "../../../src/venue/makeFolder.ts"
import { seatVersion } from "../../../src/venue/seatAnswer.ts"
import { eventsKept } from "../core/EventLine.ts"
import { type Books, type BooksOptions, openBooks } from "./books.ts"
import { CallSessions } from "./CallSessions.ts"
import { Dealers } from "./Dealers.ts"
import { EventFeed } from "./EventFeed.ts"
import { Faults } from "./Faults.ts"
import { usualReaderLimits } from "./LineReader.ts"
import { MarketFeed } from "./MarketFeed.ts"
import { type Seat, seatName, takeSeat } from "./seat.ts"
import { VenueClock } from "./VenueClock.ts"
import { VenueDesk } from "./VenueDesk.ts"
import { ensureKey } from "./venueKey.ts"
import { listen } from "./VenueServer.ts"
import { VenueWriter } from "./VenueWriter.ts"
import { writeWhole } from "./writeWhole.ts"

export interface VenueProcessOptions extends BooksOptions {
  /** The port; 0: the last port if it is free, otherwise any. */
  readonly port: number
  /** The venue ends itself after this time without requests, wall ms; null: never. */
  readonly idleMillis: number | null
}

export interface RunningVenue {
  readonly url: string
  readonly keyFile: string
  /** Completes when the venue wants to end: restart ordered, directory gone, or idle. */
  readonly wantsToEnd: Promise<string>
  /** Finishes accepted inputs, writes a snapshot, and releases all resources. */
  readonly stop: () => Promise<void>
}

const beatMillis = 1_000

/** The reason of an end with a restart. */
export const restartOrdered = "A restart was ordered."

/** Starts the venue of a directory. Throws a sentence if it can't. */
export const startVenue = async (options: VenueProcessOptions): Promise<RunningVenue> => {
  try {
    makeFolder(options.directory)
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new Error(`The folder ${options.directory} can not be made (${code}): name another data directory.`, {
      cause: error
    })
  }
  const seat = await takeSeat(options.directory)
  if (seat === null)
    throw new Error(
      `A simulated venue runs in ${options.directory} already (its socket ${seatName(options.directory)} is taken).`
    )
  try {
    return await seatedVenue(options, seat)
  } catch (error) {
    await seat.release()
    throw isFull(error)
      ? new Error(
          `There is no room on the disk of ${options.directory} (${error.message}): make some, and start again.`
        )
      : error
  }
}

const isFull = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT")

interface Feeds {
  events: EventFeed | null
  markets: MarketFeed | null
  dealers: Dealers | null
}

const seatedVenue = async (options: VenueProcessOptions, seat: Seat): Promise<RunningVenue> => {
  const faults = new Faults(() => Date.now())
  const feeds: Feeds = { events: null, markets: null, dealers: null }
  const books = await openBooks(options, {
    event: (event) => {
      feeds.events?.happened(event)
      feeds.dealers?.happened(event)
      if (isDefault(event)) faults.strike(["writer-default"], { route: "take", symbol: null })
    },
    market: (message) => feeds.markets?.happened(message)
  })
  try {
    return await openedVenue(options, { seat, books, faults, feeds })
  } catch (error) {
    await books.log.close()
    throw error
  }
}

interface Opened {
  readonly seat: Seat
  readonly books: Books
  readonly faults: Faults
  readonly feeds: Feeds
}

const openedVenue = async (
  options: VenueProcessOptions,
  { seat, books, faults, feeds }: Opened
): Promise<RunningVenue> => {
  const { directory, print } = options
  const keyFile = join(directory, "venue.key")
  const key = ensureKey(keyFile)
  const wall = () => Date.now()
  const startedAt = wall()
  const { venue } = books
  const events = (feeds.events = new EventFeed(venue, faults, usualReaderLimits))
  const markets = (feeds.markets = new MarketFeed(venue, faults, usualReaderLimits))
  const clock = new VenueClock(wall, venue.now, books.offset)
  const writer = new VenueWriter(books, clock, {
    applied: () => {
      // Marks go first, because the service checks events against them.
      markets.flush()
      events.flush()
    },
    trouble: (trouble) =>
      print(trouble === null ? "The venue's log can be written again." : `${trouble} What is to be written is refused.`)
  })
  const dealers = (feeds.dealers = new Dealers(venue, writer, venue.options.seed))
  // Requests that were open at the last shutdown get quotes again.
  for (const event of venue.eventsAfter(Math.max(0, venue.number - eventsKept)) ?? []) dealers.happened(event)
  const ending = Promise.withResolvers<string>()
  const restart = () => ending.resolve(restartOrdered)
  const desk = new VenueDesk({ venue, writer, clock, faults, events, markets, dealers, startedAt, restart })
  // Advances over the downtime before the first reader connects.
  await writer.offer({ type: "time", to: clock.now() })
  const life = new Life(options, startedAt, ending.resolve)
  const sessions = new CallSessions(desk, () => life.requested())
  const server = await listen({
    port: options.port,
    lastPort: lastPort(directory),
    key,
    desk,
    events,
    markets,
    sessions,
    onRequest: () => life.requested()
  })
  try {
    const file = join(directory, "venue.json")
    const text = JSON.stringify({ seat: seat.path, keyFile, url: server.url })
    // The file is written only if it changed, because a full disk must not prevent a start.
    if (!existsSync(file) || readFileSync(file, "utf8") !== `${text}\n`) writeWhole(file, text)
  } catch (error) {
    await server.close()
    throw error
  }
  seat.announce({ pid: process.pid, url: server.url, version: seatVersion }, key)
  const beat = setInterval(() => {
    events.beat()
    markets.beat()
    sessions.beat()
    life.check(events.size + markets.size > 0)
  }, beatMillis)
  const ticks = new Ticks(() => {
    if (writer.idle) void writer.offer({ type: "time", to: clock.now() })
    return venue.tickMillis
  })
  return {
    url: server.url,
    keyFile,
    wantsToEnd: ending.promise,
    stop: async () => {
      clearInterval(beat)
      ticks.stop()
      dealers.stop()
      // Closes the requests first, then the writer of their inputs, then the log.
      await server.close()
      await writer.end()
      await books.log.close()
      await seat.release()
    }
  }
}

/** Whether a writer paid nothing at its swap's maturity. */
const isDefault = ({ fact }: VenueEvent): boolean =>
  fact.type === "swap" && fact.swap.short && fact.swap.payments.length === 0

/** Calls repeatedly, each time after the delay that the last call returned. */
class Ticks {
  private timer: NodeJS.Timeout

  constructor(tick: () => number) {
    const next = (): void => {
      const millis = tick()
      this.timer = setTimeout(next, millis)
    }
    this.timer = setTimeout(next, 0)
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}

/** Ends a venue that is no longer used. */
class Life {
  private readonly options: VenueProcessOptions
  private readonly end: (why: string) => void
  private requestedAt: number

  constructor(options: VenueProcessOptions, startedAt: number, end: (why: string) => void) {
    this.options = options
    this.end = end
    this.requestedAt = startedAt
  }

  requested(): void {
    this.requestedAt = Date.now()
  }

  check(isRead: boolean): void {
    const { directory, idleMillis } = this.options
    if (isRead) this.requested()
    if (!existsSync(join(directory, "venue.key"))) this.end("Its directory is gone.")
    if (idleMillis !== null && Date.now() - this.requestedAt >= idleMillis) {
      this.end(`Nobody has asked for ${Math.round(idleMillis / 1_000)} s.`)
    }
  }
}

/** Last port of a simulator of this directory, 0 for none. */
const lastPort = (directory: string): number => {
  try {
    const { url } = JSON.parse(readFileSync(join(directory, "venue.json"), "utf8")) as { readonly url: string }
    return Number(new URL(url).port)
  } catch {
    // No file, or an unreadable one: any port will do.
    return 0
  }
}
