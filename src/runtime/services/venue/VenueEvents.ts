/**
 * Takes the venue's numbered events: one reader with a cursor that is a low-water mark of committed events; those of an
 * account go to its client's mailbox, in their order, to the handler of the object that they name (A2-95, A2-96). A gap in
 * an account's sequence is fetched before what follows, what comes again is dropped by it. What can't be read, lies more than
 * 5 s ahead, is off its market's grid or names no object of ours is set aside and passed: one bad event never stops
 * everybody's money (A2-115). The stream is connected again by itself.
 */
import { Clock, Context, Effect, Latch, Layer, type Scope, Semaphore, Stream } from "effect"
import type { VenueEvent } from "../../../machines/venue/VenueEvent.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { Journal } from "../../engine/journal/Journal.ts"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { type UnreadableLine, Venue, VenueUnanswered } from "../../ports/Venue.ts"
import { VenueProgress } from "../../ports/VenueProgress.ts"
import { AccountEvents } from "./AccountEvents.ts"
import { EventCursor } from "./EventCursor.ts"
import type { VenueHandlers } from "./VenueHandlers.ts"
import { VenueLink } from "./VenueLink.ts"
import { type SetAside, setAsideApart } from "./venueQuarantine.ts"

/** Events on their way to mailboxes at once; the stream waits for the rest. */
const eventsAtOnce = 256
/** Pauses before the stream is connected again, ms; the last one again and again. */
const pauses = [100, 250, 500, 1_000, 2_000, 5_000]
/** How long a missing number may come late, ms. */
const holePatience = 1_000
/** Between two writings of the cursor, ms. */
const cursorPause = 250

export class VenueEvents extends Context.Service<
  VenueEvents,
  { readonly figures: () => { readonly mark: number; readonly reconnects: number } }
>()("brokerage/runtime/services/venue/VenueEvents") {
  static readonly layer = <R>(makeHandlers: Effect.Effect<VenueHandlers, never, R>) =>
    Layer.effectContext(
      Effect.gen(function* () {
        const stored = yield* RowReads
        const venue = yield* Venue
        const [row] = yield* Effect.orDie(stored.all("venueCursor"))
        const parts = { host: yield* ActorHost, journal: yield* Journal, clock: yield* BusinessClock, venue, stored }
        const intake = new Intake({
          ...parts,
          wall: yield* Clock.Clock,
          link: yield* VenueLink,
          room: yield* Semaphore.make(eventsAtOnce),
          scope: yield* Effect.scope,
          accounts: new AccountEvents({ ...parts, handlers: yield* makeHandlers }),
          mark: row?.number ?? 0
        })
        yield* Effect.forkScoped(intake.read)
        yield* Effect.forkScoped(intake.keepMark)
        yield* Effect.forkScoped(intake.watchHoles)
        return Context.make(
          VenueEvents,
          VenueEvents.of({ figures: () => ({ mark: intake.cursor.mark, reconnects: intake.reconnects }) })
        ).pipe(Context.add(VenueProgress, VenueProgress.of({ reached: (number) => intake.reached(number) })))
      })
    )
}

interface IntakeParts {
  readonly host: ActorHost["Service"]
  readonly journal: Journal["Service"]
  readonly clock: BusinessClock["Service"]
  readonly venue: Venue["Service"]
  readonly wall: Clock.Clock
  readonly link: VenueLink["Service"]
  readonly room: Semaphore.Semaphore
  /** Events on their way end with it. */
  readonly scope: Scope.Scope
  readonly accounts: AccountEvents
  readonly mark: number
}

type Line = Stream.Success<ReturnType<Venue["Service"]["events"]>>

class Intake {
  cursor: EventCursor
  reconnects = 0
  private readonly parts: IntakeParts
  private readonly moved = Latch.makeUnsafe(false)
  /** Opened to end the present connection. */
  private readonly cut = Latch.makeUnsafe(false)
  private failures = 0

  constructor(parts: IntakeParts) {
    this.parts = parts
    this.cursor = new EventCursor(parts.mark)
  }

  /** Done when every event up to this number is taken or set aside. */
  reached(number: number): Effect.Effect<void> {
    const look: Effect.Effect<void> = Effect.suspend(() =>
      this.cursor.mark >= number ? Effect.void : Effect.delay(look, "20 millis")
    )
    return look
  }

  /** One connection after the other, for ever. */
  readonly read: Effect.Effect<never> = Effect.suspend(() => {
    this.cut.closeUnsafe()
    this.cursor.again()
    return Effect.raceFirst(
      Stream.runForEach(this.parts.venue.events(this.cursor.mark), (line) => this.take(line)),
      this.cut.await
    )
  }).pipe(
    Effect.catchTag("VenueEventsGone", () => this.gone),
    Effect.catchTag("VenueUnanswered", ({ reason }: VenueUnanswered) => this.lost(reason)),
    Effect.catchDefect((defect) => Effect.logError("the venue's events could not be read", defect)),
    Effect.andThen(Effect.suspend(() => this.pause)),
    Effect.forever({ disableYield: true })
  )

  private readonly pause = Effect.suspend(() => {
    const { link, wall } = this.parts
    if (link.state().connected) link.set({ connected: false, since: wall.currentTimeMillisUnsafe() })
    this.reconnects++
    return Effect.sleep(pauses[this.failures++] ?? (pauses.at(-1) as number))
  })

  private lost(reason: string): Effect.Effect<void> {
    return this.failures === 0
      ? Effect.logWarning("the connection to the venue's events is lost", reason)
      : Effect.logDebug("the venue's events can still not be read", reason)
  }

  private take(line: Line): Effect.Effect<void> {
    const { link, wall } = this.parts
    if ("heartbeat" in line) {
      const now = wall.currentTimeMillisUnsafe()
      link.set({
        heardAt: now,
        number: line.number,
        ...(link.state().connected ? {} : { connected: true, since: now })
      })
      this.failures = 0
      this.cursor.heard(line.number)
      return Effect.void
    }
    if ("foreign" in line) return Effect.sync(() => this.pass(line.number))
    return "unreadable" in line ? this.takeUnreadable(line) : this.takeEvent(line)
  }

  /** What is of another service counts as taken. */
  private pass(number: number | null): void {
    if (number !== null && this.cursor.begin(number)) this.done(number)
  }

  private takeUnreadable({ unreadable, reason, number, account }: UnreadableLine): Effect.Effect<void> {
    if (number !== null && !this.cursor.begin(number)) return Effect.void
    const what: SetAside = { bytes: unreadable, reason, number, account }
    return this.insistently(what).pipe(
      // What it said of an account of ours is read again: the account's sequence shows what is missing.
      Effect.andThen(account === null ? Effect.void : this.parts.accounts.readAgain(account)),
      Effect.andThen(Effect.sync(() => (number === null ? undefined : this.done(number))))
    )
  }

  private insistently(what: SetAside): Effect.Effect<void> {
    const { journal, clock } = this.parts
    return Effect.flatMap(setAsideApart(journal, clock, what), (kept) =>
      kept
        ? Effect.void
        : Effect.delay(
            Effect.suspend(() => this.insistently(what)),
            "250 millis"
          )
    )
  }

  private takeEvent(event: VenueEvent): Effect.Effect<void> {
    const { number, fact } = event
    if (!this.cursor.begin(number)) return Effect.void
    if (!("account" in fact)) return Effect.sync(() => this.done(number))
    const { room, accounts, scope } = this.parts
    return Effect.andThen(
      room.take(1),
      Effect.forkIn(
        accounts
          .take({ ...event, fact }, (what) => this.insistently(what))
          .pipe(Effect.andThen(Effect.sync(() => this.done(number))), Effect.ensuring(room.release(1))),
        scope,
        { startImmediately: true }
      )
    )
  }

  private done(number: number): void {
    const { mark } = this.cursor
    this.cursor.done(number)
    if (this.cursor.mark !== mark) this.moved.openUnsafe()
  }

  /** Stores the mark, now and then, once it has moved. */
  readonly keepMark: Effect.Effect<never> = Effect.suspend(() => this.moved.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        this.moved.closeUnsafe()
        const number = this.cursor.mark
        return Effect.catch(this.parts.host.record({ venueCursor: [{ id: 1, number }] }), () =>
          Effect.sync(() => this.moved.openUnsafe())
        )
      })
    ),
    Effect.andThen(Effect.sleep(cursorPause)),
    Effect.forever({ disableYield: true })
  )

  /** A number that does not come is asked for again, on a new connection. */
  readonly watchHoles: Effect.Effect<never> = Effect.suspend(() => {
    const { mark, hole } = this.cursor
    return Effect.andThen(
      Effect.sleep(holePatience),
      Effect.suspend(() => {
        if (!this.cursor.full && !(hole && this.cursor.hole && this.cursor.mark === mark)) return Effect.void
        this.cut.openUnsafe()
        return Effect.logInfo("the venue's events have a hole: they are read again", { after: mark })
      })
    )
  }).pipe(Effect.forever({ disableYield: true }))

  /** The venue keeps nothing so far back: goes on from now. What is in flight is asked for anyway, accounts fetch their gaps. */
  private readonly gone: Effect.Effect<void> = Effect.suspend(() =>
    Effect.matchEffect(presentNumber(this.parts.venue), {
      onFailure: () => this.lost("it keeps no events so far back, and does not say how far it is"),
      onSuccess: (number) => {
        const { mark } = this.cursor
        this.cursor = new EventCursor(number)
        this.moved.openUnsafe()
        return Effect.logError(
          "the venue does not keep the events that were read last: going on from its present one",
          {
            after: mark,
            number
          }
        )
      }
    })
  )
}

/** The number of the venue's last event, as its market data says it with every heartbeat. */
const presentNumber = (venue: Venue["Service"]): Effect.Effect<number, VenueUnanswered> =>
  Effect.gen(function* () {
    const { markets } = yield* venue.listing
    const subscriptions = markets.slice(0, 1).map(({ symbol }) => ({ channel: "ticker" as const, symbol }))
    const lines = yield* venue.marketData(subscriptions).pipe(
      Stream.filter((line) => "heartbeat" in line),
      Stream.take(1),
      Stream.runCollect,
      Effect.timeoutOrElse({
        duration: "5 seconds",
        orElse: () => Effect.fail(new VenueUnanswered({ reason: "no heartbeat" }))
      })
    )
    const [line] = lines
    return line !== undefined && "heartbeat" in line
      ? line.number
      : yield* new VenueUnanswered({ reason: "no heartbeat" })
  })
