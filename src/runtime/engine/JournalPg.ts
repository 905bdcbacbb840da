/**
 * The journal on Postgres: whatever queued while the last flush ran becomes one statement on one connection. One flush at
 * a time, first in first out, so that id order is commit order. A failed guard or bad data undoes the batch: the commits at
 * fault are found and answered on their own, the rest is written again. When the server does not answer, a new connection
 * ends the old backend, raises the epoch and reads the number of the last batch from the writer row: it says whether the
 * batch is in. A foreign epoch means that another process owns the database: this one stops for good.
 */
import { type PgClient, PgConnection, PgTypes } from "@effect/sql-pg"
import { Cause, Effect, Exit, Latch, Redacted, Schedule, Scope } from "effect"
import { SqlError } from "effect/sql"
import { batchStatement, type Statement } from "./batchStatement.ts"
import type { Commit } from "./Commit.ts"
import { findCulprits } from "./findCulprits.ts"
import { idSequenceOf, makeIdBlocks } from "./IdBlocks.ts"
import { type IdKind, Journal, journalQueueLimit, JournalUnavailable, type Outcome } from "./Journal.ts"
import { passPausePoint } from "./PausePoints.ts"
import type { Sealing } from "./Sealing.ts"
import { classify, describeFailure, hanging } from "./sqlFailure.ts"
import { auditGenesis, type Counters, stampBatch } from "./stamp.ts"
import { makeSubjectLoader } from "./SubjectLoader.ts"
import { takeBatch, tell, tellLate, type Waiting } from "./takeBatch.ts"
import { withinTime } from "./withinTime.ts"
import { applicationName, hangLimit, writerSession } from "./writerSession.ts"

export interface JournalPgOptions {
  readonly url: Redacted.Redacted
  readonly sql: PgClient.PgClient
  readonly sealing: Sealing
  /** Names this process in the writer row; no two processes share it. */
  readonly owner: string
  /** How long callers wait for the fate of their batch before they get `Unavailable`. */
  readonly patienceMillis?: number
}

/** Starts the journal in the current scope: takes the database over (raises the epoch) and begins to flush. */
export const makeJournalPg = (
  options: JournalPgOptions
): Effect.Effect<Journal["Service"], SqlError.SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const writer = new Writer(options)
    // Added first, so it runs last: the flushing fibers must be gone before their connection is.
    yield* Scope.addFinalizer(scope, writer.close)
    yield* writer.takeOver
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const ids = makeIdBlocks(writer.reserveIds, (refill) => void fork(refill))
    yield* Effect.mapError(ids.fill, (error) => error as SqlError.SqlError)
    yield* Effect.forkIn(writer.run, scope)
    yield* Effect.forkIn(writer.watchEpoch, scope)
    const load = makeSubjectLoader(options.sql, options.sealing)
    return Journal.of({
      submit: (commit, done) => writer.submit({ commit, done }),
      accepting: () => writer.accepting,
      load: (subjects) =>
        writer.up
          ? Effect.mapError(load(subjects), (error) => new JournalUnavailable({ reason: error.message }))
          : Effect.fail(new JournalUnavailable({ reason: "the database is away" })),
      nextId: ids.next,
      idsRefilled: ids.refilled,
      drain: writer.drain,
      onUsurped: (stop) => (writer.stop = stop),
      batchSizes: () => writer.sizes
    })
  })

class Writer {
  readonly queue: Array<Waiting> = []
  readonly sizes: Array<number> = []
  up = false
  stop: () => void = () => {}
  private usurped = false
  private busy = false
  /** In, but not answered yet: see `deliver`. */
  private committed: ReadonlyArray<Waiting> = []
  private epoch = 0
  /** The backend that wrote (or may still be writing) our last batch. */
  private backend = 0
  private batch = 0
  private counters: Counters = { seqs: new Map(), auditHash: auditGenesis }
  private connection: { readonly scope: Scope.Closeable; readonly session: PgConnection.PgConnection } | null = null
  private readonly work = Latch.makeUnsafe(false)
  private readonly idle = Latch.makeUnsafe(true)
  private readonly options: JournalPgOptions

  constructor(options: JournalPgOptions) {
    this.options = options
  }

  get accepting(): boolean {
    return this.up && this.queue.length < journalQueueLimit
  }

  submit(waiting: Waiting): void {
    if (!this.accepting) return tell(waiting, { _tag: "Unavailable", unknown: false })
    this.queue.push(waiting)
    this.idle.closeUnsafe()
    this.work.openUnsafe()
  }

  /** Flushes for ever; one batch at a time. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.work.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        if (this.queue.length === 0) this.deliver()
        if (this.queue.length === 0) {
          this.work.closeUnsafe()
          this.idle.openUnsafe()
          return Effect.void
        }
        const batch = takeBatch(this.queue)
        this.sizes.push(batch.length)
        if (this.sizes.length > 1_024) this.sizes.shift()
        this.busy = true
        return this.write(batch, 1).pipe(
          // A defect of ours: nobody is left waiting, and memory is read again.
          Effect.tapCause(() => Effect.sync(() => this.answer(batch, { _tag: "Unavailable", unknown: true }))),
          Effect.ensuring(Effect.sync(() => (this.busy = false)))
        )
      })
    ),
    Effect.catchCause((cause) => Effect.logError("journal flush failed", cause)),
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
    let prepared: { readonly statement: Statement; readonly counters: Counters }
    try {
      prepared = this.prepare(batch.map((waiting) => waiting.commit))
    } catch (cause) {
      return this.bisect(batch, cause) // a value that no column can hold
    }
    passPausePoint("before-commit")
    return Effect.flatMap(Effect.exit(this.send(prepared.statement)), (exit) => {
      if (Exit.isSuccess(exit)) {
        this.counters = prepared.counters
        passPausePoint("after-commit")
        this.committed = batch
        return Effect.void
      }
      return this.afterFailure(batch, attempt, prepared.counters, exit.cause)
    })
  }

  private prepare(commits: ReadonlyArray<Commit>): { readonly statement: Statement; readonly counters: Counters } {
    const stamped = stampBatch(commits, this.counters)
    this.batch += 1
    const { epoch, batch } = this
    return {
      statement: batchStatement({ epoch, batch, commits, stamped, sealing: this.options.sealing }),
      counters: stamped.counters
    }
  }

  /** A server that hangs without closing the connection counts as lost; closing that connection ends the statement. */
  private send(statement: Statement): Effect.Effect<unknown, SqlError.SqlError> {
    return Effect.suspend(() => {
      const { session } = this.connection as NonNullable<typeof this.connection>
      return withinTime(
        session.queryValues(statement.sql, statement.params),
        () => hanging,
        hangLimit,
        () => this.deliver()
      )
    })
  }

  /** Answers the last batch while the server works on the next one: neither waits for the other. */
  private deliver(): void {
    const batch = this.committed
    this.committed = []
    this.answer(batch, { _tag: "Committed" })
  }

  private afterFailure(
    batch: ReadonlyArray<Waiting>,
    attempt: number,
    counters: Counters,
    cause: Cause.Cause<unknown>
  ): Effect.Effect<void> {
    const failure = classify(cause)
    switch (failure._tag) {
      case "Guard":
        return failure.guard === "epoch" ? this.usurp(batch) : this.exclude(batch, attempt)
      case "Data":
        return this.bisect(batch, failure.cause)
      case "Busy":
        return attempt < 3
          ? Effect.andThen(Effect.sleep(20 * attempt), this.write(batch, attempt + 1))
          : Effect.andThen(
              Effect.logWarning("the database refuses to write", describeFailure(failure.cause)),
              Effect.sync(() => this.answer(batch, { _tag: "Unavailable", unknown: false }))
            )
      case "Lost":
        // A statement that can't even be sent twice in a row is a value the driver can't carry.
        return attempt >= 3 && batch.length >= 1 && this.up && !SqlError.isSqlError(failure.cause)
          ? this.bisect(batch, failure.cause)
          : this.resolve(batch, attempt, counters, failure.cause)
    }
  }

  private answer(batch: ReadonlyArray<Waiting>, outcome: Outcome): void {
    for (const waiting of batch) tell(waiting, outcome)
  }

  /** A guard failed: answer the commits at fault, write the others again. */
  private exclude(batch: ReadonlyArray<Waiting>, attempt: number): Effect.Effect<void> {
    return Effect.suspend(() =>
      findCulprits((this.connection as NonNullable<typeof this.connection>).session, batch)
    ).pipe(
      Effect.flatMap((verdicts) => {
        for (const [waiting, outcome] of verdicts) tell(waiting, outcome)
        const rest = batch.filter((waiting) => !verdicts.has(waiting))
        // No culprit means that the cause has gone meanwhile: write again, but not for ever.
        return verdicts.size === 0 && attempt >= 3
          ? this.bisect(rest, "a guard failed without a culprit")
          : this.write(rest, verdicts.size === 0 ? attempt + 1 : 1)
      }),
      Effect.catchCause((cause) => this.resolve(batch, attempt, this.counters, cause))
    )
  }

  private bisect(batch: ReadonlyArray<Waiting>, cause: unknown): Effect.Effect<void> {
    if (batch.length <= 1) {
      return Effect.andThen(
        Effect.logError("a commit was refused by the database", describeFailure(cause)),
        Effect.sync(() => this.answer(batch, { _tag: "Rejected", cause: describeFailure(cause) }))
      )
    }
    const middle = batch.length >> 1
    return Effect.andThen(
      this.write(batch.slice(0, middle), 1),
      Effect.suspend(() => this.write(batch.slice(middle), 1))
    )
  }

  /** `unknown`: the new owner came before this one could learn whether the batch is in. */
  private usurp(batch: ReadonlyArray<Waiting>, unknown = false): Effect.Effect<void> {
    return Effect.sync(() => {
      this.up = false
      this.answer(batch, { _tag: "Unavailable", unknown })
      this.answer(this.queue.splice(0), { _tag: "Unavailable", unknown: false })
      if (!this.usurped) this.stop()
      this.usurped = true
    })
  }

  /** The server went away with the batch: find out on a new connection whether the batch is in. */
  private resolve(
    batch: ReadonlyArray<Waiting>,
    attempt: number,
    counters: Counters,
    cause: unknown
  ): Effect.Effect<void> {
    let told = false
    const giveUpWaiting = Effect.sync(() => {
      told = true
      this.answer(batch, { _tag: "Unavailable", unknown: true })
      this.answer(this.queue.splice(0), { _tag: "Unavailable", unknown: false })
    })
    return Effect.gen({ self: this }, function* () {
      yield* Effect.logWarning(
        "lost the database in the middle of a batch; looking for its fate",
        describeFailure(cause)
      )
      this.up = false
      const patience = yield* Effect.forkChild(Effect.delay(giveUpWaiting, this.options.patienceMillis ?? 3_000))
      const last = yield* this.reconnect.pipe(
        Effect.tapError((error) => Effect.logDebug("database still away", describeFailure(error))),
        Effect.retry(Schedule.min([Schedule.exponential(50), Schedule.spaced(500)])),
        Effect.orDie
      )
      yield* Effect.sync(() => patience.interruptUnsafe())
      if (last === null) return yield* this.usurp(told ? [] : batch, true)
      const committed = last === this.batch
      yield* Effect.logInfo(committed ? "the lost batch is in" : "the lost batch is not in")
      if (committed) this.counters = counters
      if (told && committed) tellLate(batch)
      this.up = true
      if (told) return
      if (committed) this.answer(batch, { _tag: "Committed" })
      else yield* this.write(batch, attempt + 1)
    })
  }

  /** New connection, end of the old backend, epoch raised if it is still ours. The last batch in, or null if usurped. */
  private readonly reconnect: Effect.Effect<number | null, SqlError.SqlError> = Effect.gen(
    { self: this },
    function* () {
      yield* this.disconnect
      const session = yield* this.connect
      yield* session.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name = '${applicationName}'`,
        [PgTypes.int4(this.backend)]
      )
      const raised = yield* session.query(
        "UPDATE writer SET epoch = epoch + 1 WHERE id = 1 AND owner = $1 RETURNING epoch, batch",
        [this.options.owner]
      )
      const row = raised.rows[0]
      if (row === undefined) return null
      this.epoch = Number(row.epoch)
      this.backend = session.processId
      return Number(row.batch)
    }
  )

  private readonly disconnect: Effect.Effect<void> = Effect.suspend(() => {
    const connection = this.connection
    this.connection = null
    return connection === null ? Effect.void : Scope.close(connection.scope, Exit.void)
  })

  private readonly connect: Effect.Effect<PgConnection.PgConnection, SqlError.SqlError> = Effect.gen(
    { self: this },
    function* () {
      const scope = yield* Scope.make()
      const session = yield* PgConnection.make({
        url: this.options.url,
        applicationName,
        connectTimeout: 3_000,
        startupParameters: writerSession
      }).pipe(
        Scope.provide(scope),
        Effect.onError(() => Scope.close(scope, Exit.void))
      )
      this.connection = { scope, session }
      return session
    }
  )

  /** Start: whoever owned the database before is fenced out from here on. */
  readonly takeOver: Effect.Effect<void, SqlError.SqlError> = Effect.gen({ self: this }, function* () {
    const session = yield* this.connect
    const row = (yield* session.query(
      "UPDATE writer SET epoch = epoch + 1, owner = $1 WHERE id = 1 RETURNING epoch, batch",
      [this.options.owner]
    )).rows[0]
    if (row === undefined) return yield* Effect.die(new Error("the writer row is missing: run the migrations"))
    this.epoch = Number(row.epoch)
    this.batch = Number(row.batch)
    this.backend = session.processId
    const seqs = yield* session.query(
      "SELECT p.id, (SELECT max(seq) FROM events e WHERE e.partner_id = p.id) AS seq FROM partners p"
    )
    const last = (yield* session.query("SELECT hash FROM audit ORDER BY id DESC LIMIT 1")).rows[0]
    this.counters = {
      seqs: new Map(seqs.rows.map((entry) => [Number(entry.id), Number(entry.seq ?? 0)])),
      auditHash: (last?.hash as string | undefined) ?? auditGenesis
    }
    this.up = true
  })

  readonly reserveIds = (kind: IdKind): Effect.Effect<number, SqlError.SqlError> =>
    Effect.map(
      this.options.sql.unsafe<{ readonly id: bigint }>("SELECT nextval($1::text::regclass) AS id", [
        idSequenceOf(kind)
      ]),
      (rows) => Number(rows[0]?.id)
    )

  /** An idle process also has to notice that it was replaced. */
  readonly watchEpoch: Effect.Effect<void> = Effect.suspend(() =>
    this.up && !this.busy
      ? this.options.sql.unsafe<{ readonly epoch: bigint }>("SELECT epoch FROM writer WHERE id = 1")
      : Effect.succeed([])
  ).pipe(
    Effect.flatMap((rows) => {
      const found = rows[0]
      return found !== undefined && this.up && Number(found.epoch) > this.epoch ? this.usurp([]) : Effect.void
    }),
    Effect.catchCause((cause) => Effect.logDebug("the epoch could not be read", describeFailure(Cause.squash(cause)))),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.asVoid
  )

  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.up = false
    return this.disconnect
  })
}
