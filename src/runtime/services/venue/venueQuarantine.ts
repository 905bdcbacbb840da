/**
 * Quarantine of venue messages that can't be applied: stored with their bytes, counted and alarmed, never applied. The
 * rows are written without a mailbox, because mailboxes depend on the market feed, which also quarantines messages
 * (A2-115).
 */
import { Effect, Layer, Option, Schema } from "effect"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Attribution, Turn } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { type CommitBuilder, CommitBuilder as Builder } from "../../engine/journal/Commit.ts"
import { Journal } from "../../engine/journal/Journal.ts"
import type { IdKind } from "../../tables/Catalogue.ts"
import type { VenueQuarantineRow } from "../../tables/venue.ts"
import { Quarantine } from "../../ports/Quarantine.ts"
import { KindRate } from "../market/KindRate.ts"

/** The most characters of a message that are stored. */
const keptChars = 4_096

export interface QuarantineEntry {
  readonly bytes: string
  readonly reason: string
  readonly number: number | null
  readonly account: string | null
}

/** The quarantine reason of events that the service skipped unread; `bytes` of the row has their numbers. `sim verify` searches for it. */
export const eventsLost = "the venue does not give these events: the reader has gone on after them"

/**
 * The reasons for a loss of events of one account: the venue has published the events, but does not provide them. The
 * bytes name the events (`MissingOfAccount`).
 */
export const eventsNotKept = "the venue does not keep what it said"
export const eventsNotGiven = "the venue does not say what is missing of an account"

const MissingOfAccount = Schema.Struct({
  account: Schema.String,
  /** `after`: the sequence of the last event before the loss. `to`: that of the last event that may be lost. */
  after: Schema.Int,
  to: Schema.Int
})
export type MissingOfAccount = typeof MissingOfAccount.Type

const readLost = Schema.decodeUnknownOption(Schema.fromJsonString(MissingOfAccount))

/** The number of newest quarantined rows of an account that are searched for a loss of events. */
export const lossesRead = 64

/** The lost events that a row is about. Null: the row is not about a loss. */
export const missingIn = ({ reason, bytes }: Pick<QuarantineEntry, "reason" | "bytes">): MissingOfAccount | null =>
  reason === eventsNotKept || reason === eventsNotGiven ? Option.getOrNull(readLost(bytes)) : null

/** The loss as a sentence for staff. Null: the row is not about a loss. */
export const lossIn = (row: Pick<QuarantineEntry, "reason" | "bytes">): string | null => {
  const missing = missingIn(row)
  return missing === null ? null : lossSentence(missing)
}
export const lossSentence = ({ account, after, to }: MissingOfAccount): string =>
  `The venue no longer gives all of the events ${after + 1} to ${to} of account ${account}.`

export const byVenue: Attribution = { role: "SYSTEM", keyLabel: "venue", requestId: "venue", actor: "system:venue" }

interface Writing {
  readonly now: number
  readonly draft: CommitBuilder
  readonly nextId: (kind: IdKind) => number
}

let setAside = 0
/** Messages that this process has quarantined, for metrics. */
export const quarantinedCount = (): number => setAside

/** Adds the row and its alarm to a draft, and returns the row. A claim of the event's number prevents a second row. */
export const putQuarantined = (
  { now, draft, nextId }: Writing,
  { bytes, reason, number, account }: QuarantineEntry,
  of: { readonly partnerId: number | null; readonly clientId: number | null } = { partnerId: null, clientId: null }
): VenueQuarantineRow => {
  const id = nextId("venueQuarantine")
  const row: VenueQuarantineRow = {
    id,
    at: now,
    number,
    account,
    reason,
    // Postgres text can hold every character except U+0000.
    bytes: bytes.slice(0, keptChars).replaceAll("\u0000", "\ufffd"),
    droppedAt: null
  }
  draft.put("venueQuarantine", row)
  draft.put("audit", {
    id: nextId("audit"),
    ts: now,
    role: byVenue.role,
    keyLabel: byVenue.keyLabel,
    requestId: byVenue.requestId,
    ...of,
    object: `quarantinedEvent:${id}`,
    action: "venue.setAside",
    before: null,
    after: null,
    reason
  })
  return row
}

/** Marks a quarantined message as dropped, with its audit row, and returns the row. */
export const putDropped = (
  turn: Turn,
  row: VenueQuarantineRow,
  reason: string,
  of: { readonly partnerId: number | null; readonly clientId: number | null } = { partnerId: null, clientId: null }
): VenueQuarantineRow => {
  const dropped = { ...row, droppedAt: turn.now }
  turn.draft.put("venueQuarantine", dropped)
  applyEffects(turn, { ...of, object: `quarantinedEvent:${row.id}` }, [
    { type: "audit", action: "venue.drop", before: "KEPT", after: "DROPPED", reason }
  ])
  return dropped
}

/** Counts and logs a quarantined message. `more`: the number of similar messages whose log lines were suppressed. */
const alarmQuarantined = ({ reason, number, account }: QuarantineEntry, more = 0): Effect.Effect<void> =>
  Effect.suspend(() => {
    setAside++
    return Effect.annotateLogs(
      Effect.logError("a message of the venue is quarantined; venue quarantine list shows it"),
      {
        reason,
        ...(number === null ? {} : { number }),
        ...(account === null ? {} : { account }),
        ...(more === 0 ? {} : { more })
      }
    )
  })

const notApplied = "an event of the venue could not be applied: it is quarantined"
/** The most log lines for one reason in a minute. */
const mostLogged = 10

/**
 * Counts and logs quarantined events. For each reason and minute, it logs the first `mostLogged` events, and then the
 * number of the rest.
 */
export class QuarantineAlarms {
  private readonly rate: KindRate

  /** `now`: wall time, ms. */
  constructor(now: () => number) {
    this.rate = new KindRate(now, mostLogged)
  }

  alarm(what: QuarantineEntry): Effect.Effect<void> {
    return Effect.suspend(() => {
      const more = this.rate.pass(what.reason)
      if (more !== null) return alarmQuarantined(what, more)
      setAside++
      return Effect.void
    })
  }

  /** Logs the fault because of which an event is quarantined, within the limits of log lines. */
  broken(cause: unknown): Effect.Effect<void> {
    return Effect.suspend(() => {
      const more = this.rate.pass(notApplied)
      return more === null ? Effect.void : Effect.logError(notApplied, ...(more === 0 ? [] : [{ more }]), cause)
    })
  }

  /** Logs the numbers of lines that were suppressed more than a minute ago. */
  readonly settle: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach(
      this.rate.settle(),
      ({ kind, more }) =>
        Effect.annotateLogs(
          Effect.logError(`${more} more messages of this kind were quarantined; venue quarantine list shows them`),
          { reason: kind }
        ),
      { discard: true }
    )
  )
}

/** Quarantines a message that belongs to no client. True: the row is stored. False: the row can't be written now. */
export const quarantineApart = (
  journal: Journal["Service"],
  clock: BusinessClock["Service"],
  what: QuarantineEntry,
  alarm: Effect.Effect<void>
): Effect.Effect<boolean> =>
  Effect.callback<"written" | "known" | "later">((resume) => {
    const draft = new Builder()
    try {
      putQuarantined({ now: clock.now(), draft, nextId: journal.nextId }, what)
    } catch {
      // No ids are reserved yet; the next attempt will have them.
      return resume(Effect.as(journal.idsRefilled, "later" as const))
    }
    if (what.number !== null) draft.claim(`venueEvent:${what.number}`, what.number)
    journal.submit(
      draft.build(null, null),
      ({ _tag: tag }) =>
        resume(Effect.succeed(tag === "Committed" ? "written" : tag === "ClaimLost" ? "known" : "later")),
      "internal"
    )
  }).pipe(
    Effect.tap((done) => (done === "written" ? alarm : Effect.void)),
    Effect.map((done) => done !== "later")
  )

/** The quarantine port of the market feed. A message that can't be stored now is only logged. */
export const layerVenueQuarantine: Layer.Layer<Quarantine, never, Journal | BusinessClock> = Layer.effect(
  Quarantine,
  Effect.gen(function* () {
    const journal = yield* Journal
    const clock = yield* BusinessClock
    return {
      add: (bytes: string, reason: string) => {
        const what: QuarantineEntry = { bytes, reason, number: null, account: null }
        // QuarantineRate passes each kind of message at most once a minute, so every message here raises an alarm.
        const alarm = alarmQuarantined(what)
        return Effect.flatMap(quarantineApart(journal, clock, what, alarm), (kept) => (kept ? Effect.void : alarm))
      }
    }
  })
)
