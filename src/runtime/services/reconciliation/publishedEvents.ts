/**
 * The reads that a comparison needs: the venue's snapshot of the account, and the events up to it. A published event that the
 * service has not applied looks like a difference, so nothing counts without it (A2-103).
 */
import { Effect, Schedule } from "effect"
import { firstOf } from "../../../machines/shared/Text.ts"
import type { VenueAccount } from "../../../machines/venue/venueObjects.ts"
import type { DispatchError } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import { type VenueShape, VenueUnanswered } from "../../ports/Venue.ts"
import type { VenueProgress } from "../../ports/VenueProgress.ts"
import type { ClientRow } from "../../tables/client.ts"

/** The longest wait for the events of one account, ms. */
const eventsMost = 10_000

/**
 * Comparisons in a row that wait for the events of an account; the next one compares it without them. The same number of
 * comparisons without an answer of the venue is an alarm.
 */
export const waitsMost = 10
/** Limit on accounts whose waits are counted. An account beyond it is compared at once without its events. */
const countedMost = 10_000

/**
 * The accounts whose events could not be applied, so that their comparison waits. A venue that withholds the events of an account
 * for ever must not hide a difference for ever.
 */
export class WaitingAccounts {
  private readonly waits = new Map<number, number>()

  /** Counts a comparison without the account's events. False: the account has waited long enough. */
  mayWait(clientId: number): boolean {
    const waits = this.waits.get(clientId) ?? 0
    if (waits >= waitsMost || (waits === 0 && this.waits.size >= countedMost)) return false
    this.waits.set(clientId, waits + 1)
    return true
  }

  /** Counts a comparison that the venue did not answer in full. The last wait is an alarm. */
  wait({ id, uid }: ClientRow): Effect.Effect<void> {
    const isLast = this.mayWait(id) && this.waits.get(id) === waitsMost
    return isLast ? Effect.annotateLogs(Effect.logError(tenTimes), { uid }) : Effect.void
  }

  /** The account's events are applied, or the venue has answered all of its reads. */
  end(clientId: number): void {
    this.waits.delete(clientId)
  }
}

const tenTimes =
  "an account could not be compared in full ten times in a row, because the venue did not answer: it is compared again each minute; check the venue, and run brokerage venue reconcile for the client"

/** Unanswered reads in a row after which a group of accounts is compared without further reads. */
const unansweredMost = 8

/**
 * The reads of one kind for accounts that are compared together. Each unanswered read takes up to 10 s, so a silent
 * venue would hold a slice of 500 accounts for ten minutes. After 8 in a row the other accounts wait for a minute without a read.
 */
export class GroupReads {
  private readonly kind: string
  private unanswered = 0

  constructor(kind: string) {
    this.kind = kind
  }

  get areStopped(): boolean {
    return this.unanswered >= unansweredMost
  }

  /** Counts a read. */
  count(isAnswered: boolean): Effect.Effect<void> {
    if (this.areStopped) return Effect.void
    this.unanswered = isAnswered ? 0 : this.unanswered + 1
    return this.areStopped
      ? Effect.logWarning(
          `the venue answers no reads of ${this.kind}: the remaining accounts of this slice wait a minute without a read`
        )
      : Effect.void
  }
}

/** The reads for accounts that are compared together. */
export class ComparedReads {
  readonly snapshots = new GroupReads("accounts")
  readonly events = new GroupReads("published events")
}

/** Reads the venue's snapshot of an account; null: the venue has no such account. */
export const snapshotOf = (
  venue: VenueShape,
  uid: string,
  { snapshots }: ComparedReads
): Effect.Effect<VenueAccount | null, VenueUnanswered> =>
  snapshots.areStopped
    ? Effect.fail(new VenueUnanswered({ reason: "earlier reads of accounts were not answered" }))
    : venue.account(uid).pipe(
        Effect.tap(() => snapshots.count(true)),
        Effect.tapError(() => snapshots.count(false))
      )

/** The most accounts that a sentence names. */
const namedMost = 5

/** A sentence that names accounts whose snapshot the venue did not give, and counts further ones. */
export const snapshotsUnanswered = (uids: ReadonlyArray<string>): ReadonlyArray<string> =>
  uids.length === 0 ? [] : [`The venue has not answered reads of accounts; not compared: ${firstOf(uids, namedMost)}.`]

interface Sources {
  readonly stored: RowReads["Service"]
  readonly progress: VenueProgress["Service"]
}

/**
 * Applies the events of an account up to the sequence of a snapshot. Reads them from the venue, because its stream may be slow,
 * silent or disconnected. False: they could not be read and applied in time, or the reads are stopped.
 */
export const eventsApplied = (
  { stored, progress }: Sources,
  { id, uid }: ClientRow,
  sequence: number,
  { events }: ComparedReads
): Effect.Effect<boolean, DispatchError | VenueUnanswered> =>
  Effect.gen(function* () {
    const [row] = yield* stored.among("venueAccounts", [id])
    if ((row?.sequence ?? 0) >= sequence) return true
    if (events.areStopped) return false
    const reached = yield* progress
      .readAccount(uid, sequence)
      .pipe(
        Effect.retry({ while: ({ _tag }) => _tag === "VenueUnanswered", schedule: Schedule.spaced("1 second") }),
        Effect.timeoutOrElse({ duration: eventsMost, orElse: () => Effect.succeed(null) })
      )
    yield* events.count(reached !== null)
    return reached !== null && reached >= sequence
  })

/** Logs that an account has waited for its events too often. */
export const comparedWithout = (uid: string): Effect.Effect<void> =>
  Effect.annotateLogs(
    Effect.logError(
      "published events of an account could still not be read: the account is compared without them, so missing events may cause a break; check the venue and brokerage venue quarantine"
    ),
    { uid }
  )

/** Logs that an account waits for these events, and returns a sentence. */
export const notCompared = (uid: string, { events }: ComparedReads): Effect.Effect<string> =>
  Effect.as(
    // The log line of `GroupReads.count` covers all accounts that wait without a read.
    events.areStopped
      ? Effect.void
      : Effect.annotateLogs(
          Effect.logWarning(
            "published events of an account could not be applied: the account is compared again in a minute"
          ),
          { uid }
        ),
    `The venue has published events of ${uid} that could not be applied yet: the account was not compared.`
  )
