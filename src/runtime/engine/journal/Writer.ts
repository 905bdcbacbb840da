/**
 * The journal's writer on Postgres. The commits that queued during the last flush become one statement on one connection. One
 * flush runs at a time, in order, so that id order is commit order. A failed guard or bad data undoes the batch: the commits at
 * fault are found and answered individually, the others are written again. If the server does not answer, a new connection ends
 * the old backend, raises the epoch and reads the number of the last batch from the writer row. A server that can't write (disk
 * full, read-only) is polled with the refused batch, while all other commits are refused. Commits that need a lock of another
 * session are refused until it is released. A foreign epoch means that another process owns the database: this one stops for
 * good.
 */
import type { PgClient } from "@effect/sql-pg"
import { Cause, Clock, Effect, Exit, Fiber, Latch, type Redacted, Schedule } from "effect"
import { SqlError } from "effect/sql"
import { doubling } from "../Backoff.ts"
import type { BatchDraft, Prepared, Statement } from "./BatchDraft.ts"
import { BatchSizes } from "./BatchSizes.ts"
import { CommitQueue } from "./CommitQueue.ts"
import { findCulprits } from "./findCulprits.ts"
import { journalQueueLimit, type Lane, type Outcome } from "./Journal.ts"
import { LockWatch } from "./locks/LockWatch.ts"
import { passPausePoint } from "../PausePoints.ts"
import type { Sealing } from "../sealing/Sealing.ts"
import { classify, describeFailure, hanging } from "./sqlFailure.ts"
import { type Counters, noCounters } from "./stamp.ts"
import { conclude, concludeLate, type Waiting } from "./takeBatch.ts"
import { withinTime } from "../withinTime.ts"
import { WriterConnection } from "./WriterConnection.ts"

export interface WriterOptions {
  readonly url: Redacted.Redacted
  readonly sql: PgClient.PgClient
  readonly sealing: Sealing
  /** Names this process in the writer row; no two processes share it. */
  readonly owner: string
  /** The longest wait of callers for the outcome of their batch; then they get `Unavailable`. */
  readonly patienceMillis?: number
}

/** Pauses between polls of a server that refused to write: each poll costs the server a little log. */
const pollMillis = [250, 500, 1_000, 2_000]
const longestPause = 5_000

/** The statement that shows whether the server can write, when no batch is at hand. */
const touchWriter: Statement = { sql: "UPDATE writer SET batch = batch WHERE id = 1", params: [] }

export class Writer {
  readonly locks: LockWatch
  readonly sizes = new BatchSizes()
  up = false
  /** Wall time just before the last committed batch was sent. */
  private sentAt = -Infinity
  stop: () => void = () => {}
  private readonly queue: CommitQueue
  private usurped = false
  private busy = false
  /** Commits that are committed, but whose callers have no answer yet: `deliver` answers them. */
  private committed: ReadonlyArray<Waiting> = []
  private batch = 0
  private counters: Counters = noCounters
  /** The statement that the server could not write for lack of space or permission; null while it writes. */
  private refused: Statement | null = null
  /** The number of polls since the refusal. */
  private polls = 0
  private readonly connection: WriterConnection
  private readonly work = Latch.makeUnsafe(false)
  private readonly idle = Latch.makeUnsafe(true)
  private readonly options: WriterOptions

  constructor(options: WriterOptions) {
    this.options = options
    this.queue = new CommitQueue(options.sealing)
    this.connection = new WriterConnection(options.url, options.owner)
    this.locks = new LockWatch(this.connection, (commits) => this.queue.rehearse(commits, this.counters))
  }

  accepting(lane: Lane = "callers"): boolean {
    const hasRoom = lane === "internal" || this.queue.length < journalQueueLimit
    return hasRoom && this.up && this.refused === null && !this.locks.held.stopsAll
  }

  submit(waiting: Waiting): void {
    if (!this.accepting(waiting.lane) || this.locks.held.stops(waiting.commit))
      return conclude(waiting, { _tag: "Unavailable", unknown: false })
    this.queue.push(waiting)
    this.idle.closeUnsafe()
    this.work.openUnsafe()
  }

  /** Flushes for ever, one batch at a time. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.work.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        if (this.refused !== null) return this.poll(this.refused)
        if (this.queue.length === 0 || this.locks.due) this.deliver()
        if (this.locks.due) return this.queryLocks
        if (this.queue.length === 0) {
          this.work.closeUnsafe()
          this.idle.openUnsafe()
          return Effect.void
        }
        const batch = this.leaveOutHeld(this.queue.take())
        this.sizes.push(batch.length)
        this.busy = true
        return this.write(batch, 1).pipe(
          // A defect in this program. The callers get an unknown outcome, and the host reads their subjects again.
          Effect.tapCause(() => Effect.sync(() => this.answer(batch, { _tag: "Unavailable", unknown: true }))),
          Effect.ensuring(Effect.sync(() => (this.busy = false)))
        )
      })
    ),
    Effect.catchCause((cause) => Effect.logError("a batch failed: callers get 503, their rows are read again", cause)),
    Effect.forever({ disableYield: true })
  )

  readonly drain: Effect.Effect<void> = Effect.suspend(() =>
    this.queue.length === 0 && !this.busy && this.committed.length === 0
      ? Effect.void
      : Effect.andThen(
          this.idle.await,
          Effect.suspend(() => this.drain)
        )
  )

  /** Writes a batch until every commit of it has its outcome. */
  private write(batch: ReadonlyArray<Waiting>, attempt: number): Effect.Effect<void> {
    if (batch.length === 0) return Effect.void
    if (this.refused !== null) return Effect.sync(() => this.answer(batch, { _tag: "Unavailable", unknown: false }))
    let draft: BatchDraft
    try {
      draft = this.queue.encode(batch, this.counters)
    } catch (cause) {
      return this.bisect(batch, cause) // The batch holds a value that no column can hold.
    }
    this.batch += 1
    const prepared = draft.finish(this.connection.epoch, this.batch)
    const subjects = () => batch.flatMap(({ commit: { fence } }) => fence?.subject ?? [])
    passPausePoint("before-commit", subjects)
    return Effect.flatMap(
      Effect.zip(Clock.currentTimeMillis, Effect.exit(this.send(prepared.statement))),
      ([sentAt, exit]) => {
        if (Exit.isSuccess(exit)) {
          this.sentAt = sentAt
          this.counters = prepared.counters
          this.queue.written(draft)
          passPausePoint("after-commit", subjects)
          this.committed = batch
          return Effect.void
        }
        return this.afterFailure(batch, attempt, prepared, exit.cause)
      }
    )
  }

  private send({ sql, params }: Statement): Effect.Effect<unknown, SqlError.SqlError> {
    const sent = Effect.suspend(() => this.connection.session.queryValues(sql, params))
    // The statement runs in its own fiber, because an interrupt would wait for the server. The end of the connection stops the
    // statement at once.
    return Effect.flatMap(Effect.forkDetach(sent, { startImmediately: true }), (running) => {
      this.deliver()
      return Fiber.join(running)
    })
  }

  /** Answers the last batch while the server works on the next one. */
  private deliver(): void {
    const batch = this.committed
    this.committed = []
    this.answer(batch, { _tag: "Committed" })
  }

  private afterFailure(
    batch: ReadonlyArray<Waiting>,
    attempt: number,
    prepared: Prepared,
    cause: Cause.Cause<unknown>
  ): Effect.Effect<void> {
    const failure = classify(cause)
    switch (failure._tag) {
      case "Guard":
        return failure.guard === "epoch"
          ? this.resolve(batch, attempt, prepared, cause, false)
          : this.exclude(batch, attempt, prepared)
      case "Data":
        return this.bisect(batch, failure.cause)
      case "Busy":
        if (failure.locked) return this.waited(batch, attempt, prepared)
        return attempt < 3
          ? Effect.andThen(Effect.sleep(20 * attempt), this.write(batch, attempt + 1))
          : Effect.andThen(
              Effect.logWarning("the database can't write: this batch gets 503", describeFailure(failure.cause)),
              Effect.sync(() => {
                if (failure.standstill) this.standStill(prepared.statement)
                this.answer(batch, { _tag: "Unavailable", unknown: false })
              })
            )
      case "Lost":
        // If the send fails repeatedly while the connection is up, the batch holds a value that the driver can't encode.
        return attempt >= 3 && batch.length >= 1 && this.up && !SqlError.isSqlError(failure.cause)
          ? this.bisect(batch, failure.cause)
          : this.resolve(batch, attempt, prepared, failure.cause)
    }
  }

  /** The batch timed out on a lock: refuses the commits that need a held lock, and writes the remaining ones again. */
  private waited(batch: ReadonlyArray<Waiting>, attempt: number, prepared: Prepared): Effect.Effect<void> {
    return Effect.matchCauseEffect(
      Effect.suspend(() => this.locks.search(batch.map(({ commit }) => commit))),
      {
        onFailure: (cause) => this.resolve(batch, attempt, prepared, cause),
        onSuccess: (found) => {
          if (found) return this.write(this.leaveOutHeld(batch), 1)
          if (attempt < 3) return this.write(batch, attempt + 1)
          // The batch timed out repeatedly, but each search found no lock: the commits at fault are unknown.
          this.standStill(prepared.statement)
          return Effect.andThen(
            Effect.logWarning("a batch waits for an unknown lock: commits get 503 until the database writes again"),
            Effect.sync(() => this.answer(batch, { _tag: "Unavailable", unknown: false }))
          )
        }
      }
    )
  }

  /** Refuses the commits that need a lock of another session. Returns the remaining commits. */
  private leaveOutHeld(batch: ReadonlyArray<Waiting>): ReadonlyArray<Waiting> {
    const { held } = this.locks
    if (!held.any) return batch
    return batch.filter((waiting) => {
      const stopped = held.stops(waiting.commit)
      if (stopped) conclude(waiting, { _tag: "Unavailable", unknown: false })
      return !stopped
    })
  }

  private readonly queryLocks: Effect.Effect<void> = Effect.catchCause(
    Effect.suspend(() => this.locks.poll),
    (cause) => this.resolve([], 1, { statement: touchWriter, counters: this.counters }, cause)
  )

  /** Held locks are polled every second, even if no waiting commit needs them. */
  readonly watchLocks: Effect.Effect<void> = Effect.sync(() => {
    if (this.locks.due) this.work.openUnsafe()
  }).pipe(Effect.repeat(Schedule.spaced("200 millis")), Effect.asVoid)

  /** The server can write nothing: waiting and new commits are refused until `poll` succeeds. */
  private standStill(statement: Statement): void {
    this.refused = statement
    this.polls = 0
    this.refuseQueue()
  }

  private refuseQueue(): void {
    this.answer(this.queue.clear(), { _tag: "Unavailable", unknown: false })
  }

  /** Polls whether the server can write the refused statement. Any result other than the same refusal means that it can. */
  private poll(statement: Statement): Effect.Effect<void> {
    this.idle.openUnsafe()
    return Effect.sleep(pollMillis[this.polls++] ?? longestPause).pipe(
      Effect.andThen(Effect.suspend(() => this.connection.rehearse(statement.sql, statement.params))),
      Effect.flatMap((exit) => {
        const failure = Exit.isSuccess(exit) ? null : classify(exit.cause)
        if (failure?._tag === "Busy") return Effect.void
        if (failure?._tag === "Lost") return this.resolve([], 1, { statement, counters: this.counters }, failure.cause)
        this.refused = null
        return Effect.logInfo("the database writes again")
      })
    )
  }

  private answer(batch: ReadonlyArray<Waiting>, outcome: Outcome): void {
    for (const waiting of batch) conclude(waiting, outcome)
  }

  /** A guard failed: answers the commits at fault and writes the remaining commits again. */
  private exclude(batch: ReadonlyArray<Waiting>, attempt: number, prepared: Prepared): Effect.Effect<void> {
    return this.connection
      .within((session) => findCulprits(session, batch))
      .pipe(
        Effect.flatMap((verdicts) => {
          for (const [waiting, outcome] of verdicts) conclude(waiting, outcome)
          const rest = batch.filter((waiting) => !verdicts.has(waiting))
          // No culprit means that the cause is gone: write again, but only a few times.
          return verdicts.size === 0 && attempt >= 3
            ? this.bisect(rest, "a guard failed without a culprit")
            : this.write(rest, verdicts.size === 0 ? attempt + 1 : 1)
        }),
        Effect.catchCause((cause) => this.resolve(batch, attempt, prepared, cause))
      )
  }

  private bisect(batch: ReadonlyArray<Waiting>, cause: unknown): Effect.Effect<void> {
    if (batch.length <= 1) {
      return Effect.andThen(
        Effect.logError("a commit was refused by the database: nothing of it is written", describeFailure(cause)),
        Effect.sync(() => this.answer(batch, { _tag: "Rejected", cause: describeFailure(cause) }))
      )
    }
    const middle = batch.length >> 1
    return Effect.andThen(
      this.write(batch.slice(0, middle), 1),
      Effect.suspend(() => this.write(batch.slice(middle), 1))
    )
  }

  /** Ends this writer. `unknown`: the new owner came before this process could read whether the batch is committed. */
  private usurp(batch: ReadonlyArray<Waiting>, unknown: boolean): Effect.Effect<void> {
    return Effect.sync(() => {
      this.up = false
      this.answer(batch, { _tag: "Unavailable", unknown })
      this.refuseQueue()
      if (!this.usurped) this.stop()
      this.usurped = true
    })
  }

  /** Reconnects and reads whether an unconfirmed batch is committed; if not, writes it again. `unknown`: it may be committed. */
  private resolve(
    batch: ReadonlyArray<Waiting>,
    attempt: number,
    { statement, counters }: Prepared,
    cause: unknown,
    unknown = true
  ): Effect.Effect<void> {
    let concluded = false
    const giveUpWaiting = Effect.sync(() => {
      concluded = true
      this.answer(batch, { _tag: "Unavailable", unknown })
      this.refuseQueue()
    })
    return Effect.gen({ self: this }, function* () {
      yield* Effect.logWarning("a batch was not confirmed: the service reads its outcome", describeFailure(cause))
      this.up = false
      const patience = yield* Effect.forkChild(Effect.delay(giveUpWaiting, this.options.patienceMillis ?? 3_000))
      const back = yield* this.connection.comeBack.pipe(
        Effect.tapError((error) => Effect.logDebug("the database is still away: retried", describeFailure(error))),
        Effect.retry(doubling(50, 500)),
        Effect.orDie
      )
      yield* Effect.sync(() => patience.interruptUnsafe())
      if (back._tag === "Usurped") return yield* this.usurp(concluded ? [] : batch, unknown)
      const committed = back.batch === this.batch
      yield* Effect.logInfo(committed ? "the unconfirmed batch is committed" : "the unconfirmed batch is not committed")
      if (committed) this.counters = counters
      if (concluded && committed) concludeLate(batch)
      this.refused = null
      if (!back.writable) this.standStill(statement)
      this.up = true
      if (concluded) return
      if (committed) this.answer(batch, { _tag: "Committed" })
      else yield* this.write(batch, attempt + 1)
    })
  }

  /** At the start, makes this process the only writer: the previous owner's commits are refused from then on. */
  readonly takeOver: Effect.Effect<void, SqlError.SqlError> = Effect.suspend(() => this.connection.takeOver).pipe(
    Effect.map(({ batch, counters }) => {
      this.batch = batch
      this.counters = counters
      this.up = true
    })
  )

  private readonly storedOwner = Effect.suspend(() =>
    this.options.sql.unsafe<{ readonly owner: string }>("SELECT owner FROM writer WHERE id = 1")
  )

  readonly owns: Effect.Effect<boolean> = Effect.suspend(() => withinTime(this.storedOwner, () => hanging)).pipe(
    Effect.map(([found]) => this.up && found?.owner === this.options.owner),
    Effect.catch((error) => Effect.as(Effect.logDebug("the owner can't be read", describeFailure(error)), false))
  )

  get ownedAt(): number {
    return this.up ? this.sentAt : -Infinity
  }

  /** Reads the owner each second while no batch is written, because an idle process must notice its replacement too. */
  readonly watchOwner: Effect.Effect<void> = Effect.suspend(() =>
    this.up && !this.busy ? withinTime(this.storedOwner, () => hanging) : Effect.succeed([])
  ).pipe(
    Effect.flatMap(([found]) =>
      found !== undefined && this.up && found.owner !== this.options.owner ? this.usurp([], false) : Effect.void
    ),
    Effect.catchCause((cause) => Effect.logDebug("the owner can't be read", describeFailure(Cause.squash(cause)))),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.asVoid
  )

  /** Ends the statement in flight. An interrupt would wait for a server that may never answer. */
  readonly cut: Effect.Effect<void> = Effect.suspend(() => {
    this.up = false
    return this.connection.cut
  })

  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.up = false
    return this.connection.disconnect
  })
}
