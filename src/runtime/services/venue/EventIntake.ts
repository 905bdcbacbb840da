/**
 * The single reader of the venue's events (VenueEvents). It connects, processes each line, stores the checkpoint, and
 * reads missing events again (A2-115).
 */
import { type Clock, Effect, Latch, type Scope, type Semaphore, Stream } from "effect"
import type { VenueEvent, VenueHeartbeat } from "../../../machines/venue/VenueEvent.ts"
import type { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import type { Journal } from "../../engine/journal/Journal.ts"
import type { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { Backoff } from "../../engine/Backoff.ts"
import { passPausePoint } from "../../engine/PausePoints.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { UnreadableLine, Venue, VenueUnanswered } from "../../ports/Venue.ts"
import { KindRate } from "../market/KindRate.ts"
import type { AccountEvents, EventSource } from "./AccountEvents.ts"
import { CatchUp } from "./CatchUp.ts"
import { EventCursor } from "./EventCursor.ts"
import { inTime } from "./sandboxTime.ts"
import { presentNumber } from "./presentNumber.ts"
import { TakenTime } from "./TakenTime.ts"
import type { VenueLink } from "./VenueLink.ts"
import { type QuarantineAlarms, eventsLost, type QuarantineEntry, quarantineApart } from "./venueQuarantine.ts"

/** The time within which a missing event may still arrive, and the interval of checks for holes, ms. */
const holePatience = 1_000
/** The longest pause between two connections for the same missing event, and the time after which it is skipped, ms. */
const longestPatience = 60_000
/** The shortest interval of checkpoint writes, ms. */
const cursorPause = 250
/** The interval of log lines about suppressed alarms, ms. */
const settlePause = 10_000
/** The number of leading characters by which a message without an event number is recognised when it repeats. */
const kindChars = 512

export interface EventFigures {
  /** The checkpoint: every event up to this number is applied or quarantined. */
  readonly mark: number
  /** Number of events above the checkpoint that are done or in progress. */
  readonly held: number
  readonly reconnects: number
}

export interface EventIntakeParts {
  readonly host: ActorHost["Service"]
  readonly journal: Journal["Service"]
  readonly clock: BusinessClock["Service"]
  readonly venue: Venue["Service"]
  readonly wall: Clock.Clock
  readonly link: VenueLink["Service"]
  /** Limits how many quarantine entries are written at the same time. */
  readonly room: Semaphore.Semaphore
  /** The scope in which events are applied. Its end interrupts events in progress. */
  readonly scope: Scope.Scope
  readonly accounts: AccountEvents
  readonly stored: RowReads["Service"]
  readonly alarms: QuarantineAlarms
  /** Called when events were lost whose accounts are not known, so that every account has to be read again. */
  readonly lost: () => void
  readonly mark: number
}

type Line = Stream.Success<ReturnType<Venue["Service"]["events"]>>

/** A hole in the event numbers: later events have arrived, but not the one after `after`. */
interface Hole {
  readonly after: number
  /** Wall time at which the hole was found, Unix ms. */
  readonly since: number
  /** Wall time at which the next connection is opened to read the missing event, Unix ms. */
  readonly readAt: number
}

export class EventIntake {
  private cursor: EventCursor
  private reconnects = 0
  private readonly parts: EventIntakeParts
  private readonly moved = Latch.makeUnsafe(false)
  /** Opened to end the present connection, so that the next one reads from the checkpoint again. */
  private readonly cut = Latch.makeUnsafe(false)
  /** Opens when the checkpoint advances, which may free capacity. */
  private readonly freed = Latch.makeUnsafe(false)
  /** The pauses before a new connection, ms: after a failure, and for a missing event. */
  private readonly backoff = new Backoff(100, 5_000)
  private readonly holeBackoff = new Backoff(holePatience, longestPatience)
  private hole: Hole | null = null
  /** Limits the quarantine of a message without a number to once a minute. */
  private readonly rate: KindRate
  private readonly catchUp: CatchUp
  private readonly takenTime = new TakenTime()
  /** For each account that is to be read again, the numbers of the unreadable lines that wait for it. */
  private readonly rereads = new Map<string, Set<number | null>>()

  constructor(parts: EventIntakeParts) {
    this.parts = parts
    this.cursor = new EventCursor(parts.mark)
    this.rate = new KindRate(() => this.now)
    const { stored, accounts } = parts
    this.catchUp = new CatchUp({
      stored,
      accounts,
      apart: this.aside,
      caughtUp: () => {
        this.moved.openUnsafe()
        this.noteTaken()
      }
    })
  }

  figures(): EventFigures {
    const { cursor, reconnects } = this
    return { mark: cursor.mark, held: cursor.held, reconnects }
  }

  /** True if every event up to this number is applied or quarantined, and no read after a loss is pending. */
  isAt(number: number): boolean {
    return this.cursor.mark >= number && this.catchUp.done
  }

  /** Waits until `isAt` is true for the number. */
  reached(number: number): Effect.Effect<void> {
    const check: Effect.Effect<void> = Effect.suspend(() =>
      this.isAt(number) ? Effect.void : Effect.delay(check, "20 millis")
    )
    return check
  }

  private noteTaken(): void {
    const { link } = this.parts
    const at = this.takenTime.reached((number) => this.isAt(number))
    if (at !== null) link.set({ takenTo: Math.max(link.state().takenTo ?? 0, at) })
  }

  private get now(): number {
    return this.parts.wall.currentTimeMillisUnsafe()
  }

  /** Endless loops that run concurrently. A failed round ends no loop. */
  get works(): ReadonlyArray<Effect.Effect<never>> {
    return [
      forEver("the venue's events could not be read", this.read),
      forEver("the checkpoint of the venue's events could not be stored", this.keepMark),
      forEver("gaps of the venue's events could not be checked", this.watchHoles),
      forEver("accounts of the venue could not be read again", this.catchUp.round),
      forEver("the clients of venue accounts could not be read", this.parts.accounts.finding),
      forEver("quarantined messages could not be logged", Effect.delay(this.parts.alarms.settle, settlePause))
    ]
  }

  /** Reads the events over one connection, until it ends. */
  private readonly read: Effect.Effect<void> = Effect.suspend(() => {
    this.cut.closeUnsafe()
    this.cursor.again()
    this.takenTime.forget()
    return Effect.raceFirst(
      Stream.runForEach(this.parts.venue.events(this.cursor.mark), (line) => this.take(line)),
      this.cut.await
    )
  }).pipe(
    Effect.catchTag("VenueEventsGone", () => this.gone),
    Effect.catchTag("VenueUnanswered", ({ reason }: VenueUnanswered) => this.lost(reason)),
    Effect.catchDefect((defect) => Effect.logError("the venue's events can't be read: the stream reconnects", defect)),
    Effect.andThen(Effect.suspend(() => this.pause))
  )

  private readonly pause = Effect.suspend(() => {
    const { link } = this.parts
    if (link.state().connected) link.set({ connected: false, since: this.now })
    this.reconnects++
    return this.backoff.pause
  })

  private lost(reason: string): Effect.Effect<void> {
    return this.backoff.isRunning
      ? Effect.logDebug("the venue's events can still not be read: the service connects again", reason)
      : Effect.logWarning("the connection to the venue's events is lost: the service connects again", reason)
  }

  private take(line: Line): Effect.Effect<void> {
    if ("heartbeat" in line) return this.takeHeartbeat(line)
    const { number } = line
    const believed = number !== null && this.cursor.believes(number)
    if (believed && !this.cursor.hasRoom(number)) {
      this.freed.closeUnsafe()
      return Effect.andThen(
        this.freed.await,
        Effect.suspend(() => this.take(line))
      )
    }
    // An event of another service's account needs no work, so it counts as done.
    if ("foreign" in line) return Effect.sync(() => believed && this.cursor.begin(number) && this.done([number]))
    if ("unreadable" in line) return this.takeUnreadable(believed ? line : { ...line, number: null })
    if (believed) return inTime(this.parts.clock, this.cursor, line, this.takeEvent)
    const account = "account" in line.fact ? line.fact.account : null
    const reason = "its number lies far beyond what the venue has"
    return this.takeUnreadable({ unreadable: JSON.stringify(line), reason, number: null, account })
  }

  private takeHeartbeat(line: VenueHeartbeat): Effect.Effect<void> {
    const { link } = this.parts
    const { now } = this
    const believed = this.cursor.heartbeat(line.number)
    link.set({
      receivedAt: now,
      ...(believed ? { number: line.number } : {}),
      ...(link.state().connected ? {} : { connected: true, since: now })
    })
    this.backoff.reset()
    if (believed) {
      this.takenTime.heartbeat(line)
      this.noteTaken()
      return Effect.void
    }
    const reason = "a heartbeat's number lies far beyond what the venue has"
    if (this.rate.pass(reason) === null) return Effect.void
    return this.insistently({ bytes: JSON.stringify(line), reason, number: null, account: null })
  }

  private takeUnreadable({ unreadable, reason, number, account }: UnreadableLine): Effect.Effect<void> {
    const what = { bytes: unreadable, reason, number, account }
    if (number === null ? !this.isNews(what) : !this.cursor.begin(number)) return Effect.void
    const kept = this.insistently(what)
    const taken = Effect.sync(() => (number === null ? undefined : this.done([number])))
    return this.apart(number, Effect.andThen(kept, account === null ? taken : this.readAgain(account, number)))
  }

  /**
   * Reads an account's events again after an unreadable line: the account's sequence shows which are missing. One read covers
   * all unreadable lines of the account so far, so an account that can't be read occupies one slot of the intake.
   */
  private readAgain(account: string, number: number | null): Effect.Effect<void> {
    return Effect.suspend(() => {
      const waiting = this.rereads.get(account)
      this.rereads.set(account, (waiting ?? new Set()).add(number))
      return waiting === undefined ? this.reread(account) : Effect.void
    })
  }

  private reread(account: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const numbers = this.rereads.get(account) ?? new Set()
      this.rereads.set(account, new Set())
      return Effect.flatMap(this.parts.accounts.readAgain(account, this.aside), () => {
        this.done([...numbers].filter((number) => number !== null))
        if (this.rereads.get(account)?.size !== 0) return this.reread(account)
        this.rereads.delete(account)
        return Effect.void
      })
    })
  }

  /** True if a message is quarantined now. A message that repeats on each connection passes at most once a minute. */
  private isNews({ reason, bytes }: QuarantineEntry): boolean {
    return this.rate.pass(`${reason} ${bytes.slice(0, kindChars)}`) !== null
  }

  /** Quarantines a message that its account can't apply. */
  readonly aside = (what: QuarantineEntry): Effect.Effect<void> =>
    Effect.suspend(() => (what.number !== null || this.isNews(what) ? this.insistently(what) : Effect.void))

  private readonly source: EventSource = {
    apart: this.aside,
    done: (numbers) => this.done(numbers),
    // The work starts after all lines received so far are processed, so that events of one account share a commit.
    beside: (work) => Effect.asVoid(Effect.forkIn(work, this.parts.scope))
  }

  /** Writes the quarantine entry, with retries until it succeeds. */
  private insistently(what: QuarantineEntry, alarm = this.parts.alarms.alarm(what)): Effect.Effect<void> {
    const { journal, clock } = this.parts
    return Effect.flatMap(quarantineApart(journal, clock, what, alarm), (kept) =>
      kept
        ? Effect.void
        : Effect.delay(
            Effect.suspend(() => this.insistently(what, alarm)),
            "250 millis"
          )
    )
  }

  private readonly takeEvent = (event: VenueEvent): Effect.Effect<void> => {
    const { number, fact } = event
    if (!this.cursor.begin(number)) return Effect.void
    if (!("account" in fact)) return Effect.sync(() => this.done([number]))
    return this.parts.accounts.accept({ ...event, fact }, this.source)
  }

  /** Forks work once `room` has a free permit. If the connection ends first, the next one delivers the line again. */
  private apart(number: number | null, work: Effect.Effect<void>): Effect.Effect<void> {
    const { room, scope } = this.parts
    const forget = Effect.sync(() => (number === null ? undefined : this.cursor.forget(number)))
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(
        Effect.onInterrupt(restore(room.take(1)), () => forget),
        Effect.forkIn(Effect.ensuring(Effect.interruptible(work), room.release(1)), scope, { startImmediately: true })
      )
    )
  }

  private done(numbers: ReadonlyArray<number>): void {
    const { mark } = this.cursor
    for (const number of numbers) this.cursor.done(number)
    if (this.cursor.mark === mark) return
    this.moved.openUnsafe()
    this.freed.openUnsafe()
    this.noteTaken()
  }

  /** Stores an advanced checkpoint at intervals, but never beyond an unrepaired loss. */
  private readonly keepMark: Effect.Effect<void> = Effect.suspend(() => this.moved.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        this.moved.closeUnsafe()
        if (!this.catchUp.done) return Effect.void
        const number = this.cursor.mark
        passPausePoint("before-cursor")
        return Effect.onError(this.parts.host.record({ venueCursor: [{ id: 1, number }] }, "internal"), () =>
          Effect.sync(() => this.moved.openUnsafe())
        )
      })
    ),
    Effect.catch(() => Effect.void),
    Effect.andThen(Effect.sleep(cursorPause))
  )

  /** Reads for a missing event over a new connection. The pauses double until the event arrives. */
  private readonly watchHoles: Effect.Effect<void> = Effect.suspend(() => {
    const { mark, hole } = this.cursor
    const { now } = this
    if (!hole) this.hole = null
    else if (this.hole?.after !== mark) {
      this.holeBackoff.reset()
      return this.readLater({ after: mark, since: now })
    } else if (now - this.hole.since >= longestPatience && this.isReading && this.cursor.afterHole !== null) {
      return this.passHole(mark, this.cursor.afterHole)
    } else if (now >= this.hole.readAt) {
      this.cut.openUnsafe()
      const logged = Effect.logInfo("the venue's events have a gap: the reader reads them again", { after: mark })
      return Effect.andThen(logged, this.readLater(this.hole))
    }
    return Effect.void
  }).pipe(Effect.andThen(Effect.sleep(holePatience)))

  private readLater({ after, since }: Omit<Hole, "readAt">): Effect.Effect<void> {
    return Effect.map(this.holeBackoff.next, (pause) => void (this.hole = { after, since, readAt: this.now + pause }))
  }

  /** Whether this connection has existed long enough to deliver the missing event. */
  private get isReading(): boolean {
    const { connected, since } = this.parts.link.state()
    return connected && since !== null && this.now - since >= holePatience
  }

  /** Skips events that the venue withholds for a minute while it delivers later ones, so that they block no account. */
  private passHole(after: number, next: number): Effect.Effect<void> {
    const log = Effect.logError("the venue withholds events: the service skips them, and reads every account again")
    return Effect.andThen(
      this.lose(after, next - 1, log),
      Effect.sync(() => {
        // The missing event may have arrived while the quarantine was written, and then nothing is skipped.
        if (this.cursor.mark !== after || !this.cursor.hole) return
        this.cursor.pass(next)
        this.moved.openUnsafe()
        this.freed.openUnsafe()
      })
    )
  }

  /** Continues from the venue's last event if the next one is no longer kept. The loss queries calls and accounts. */
  private readonly gone: Effect.Effect<void> = Effect.suspend(() =>
    Effect.matchEffect(presentNumber(this.parts.venue), {
      onFailure: () => this.lost("it keeps no events so far back, and does not say how far it is"),
      onSuccess: (number) => {
        const log = Effect.logError(
          "the venue no longer keeps the next events: the service skips them, and reads every account again"
        )
        return Effect.andThen(
          this.lose(this.cursor.mark, number, log),
          Effect.sync(() => {
            this.cursor = new EventCursor(number)
            this.moved.openUnsafe()
          })
        )
      }
    })
  )

  /** Records that the events after `after` up to `to` are skipped, and requests a read of every account. */
  private lose(after: number, to: number, log: Effect.Effect<void>): Effect.Effect<void> {
    this.catchUp.request()
    this.parts.lost()
    const what = { bytes: JSON.stringify({ after, to }), reason: eventsLost, number: null, account: null }
    return this.insistently(what, Effect.annotateLogs(log, { after, to }))
  }
}

const forEver = (fault: string, round: Effect.Effect<void>): Effect.Effect<never> =>
  round.pipe(
    Effect.catchDefect((defect) => Effect.andThen(Effect.logError(`${fault}: retried`, defect), Effect.sleep(1_000))),
    Effect.forever({ disableYield: true })
  )
