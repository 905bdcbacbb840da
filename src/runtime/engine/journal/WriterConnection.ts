/**
 * The journal's one connection. It keeps the epoch of the writer row, and the backend that wrote (or may still be writing) the
 * last batch. After a loss it ends that backend first, so that the number of the last batch is final when it is read
 * (architecture, Engine, Journal: unknown outcome).
 */
import { PgConnection, PgTypes } from "@effect/sql-pg"
import type { Socket } from "node:net"
import { Cause, Effect, Exit, type Redacted, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { deadline } from "../deadline.ts"
import { textsKept } from "./batchStatement.ts"
import { columnTypes } from "./ColumnArray.ts"
import { classify, hanging } from "./sqlFailure.ts"
import { catalogue } from "../../tables/Catalogue.ts"
import { socketTo } from "../databaseSockets.ts"
import type { SealRow } from "../../tables/engine.ts"
import { nothingSecret, sealGenesis } from "../sealing/seal.ts"
import type { Counters } from "./stamp.ts"
import { decodeRow } from "./SubjectLoader.ts"
import { answerMillis, applicationName, lockPatience, writerSession, type WriterSession } from "./writerSession.ts"

/** The result of a reconnection. `writable` false: the server answers, but can't write now. */
export type Return =
  | { readonly _tag: "Usurped" }
  | { readonly _tag: "Back"; readonly batch: number; readonly writable: boolean }

/** The most raises of the epoch that this process attempts on one connection. Another raise may come first each time. */
const mostRaises = 3

export class WriterConnection {
  epoch = 0
  /** Process ids of two server backends: the one that wrote last, and the one that last raised the epoch; 0 for none. */
  private backend = 0
  private raising = 0
  /** The present lock timeout of the session; null before one is set. */
  private patience: keyof typeof lockPatience | null = null
  private open: { readonly scope: Scope.Closeable; readonly session: WriterSession; readonly socket: Socket } | null =
    null
  private readonly url: Redacted.Redacted
  private readonly owner: string

  /** `owner` names this process in the writer row; no two processes share it. */
  constructor(url: Redacted.Redacted, owner: string) {
    this.url = url
    this.owner = owner
  }

  get session(): WriterSession {
    if (this.open === null) throw new Error("the journal has no connection")
    return this.open.session
  }

  /** At start: fences out the previous owner of the database. Returns the position of the last batch. */
  readonly takeOver: Effect.Effect<{ readonly batch: number; readonly counters: Counters }, SqlError.SqlError> =
    Effect.gen({ self: this }, function* () {
      const session = yield* this.connect
      const batch = yield* this.raise(session, () => true)
      if (batch === null) return yield* Effect.die(new Error("the writer row is missing: run the migrations"))
      yield* this.adopt(session)
      const seqs = yield* session.query(
        "SELECT p.id, (SELECT max(seq) FROM events e WHERE e.partner_id = p.id) AS seq FROM partners p"
      )
      const last = (yield* session.query("SELECT * FROM seals ORDER BY number DESC LIMIT 1")).rows[0]
      return {
        batch,
        counters: {
          seqs: new Map(seqs.rows.map((entry) => [Number(entry.id), Number(entry.seq ?? 0)])),
          seal: last === undefined ? sealGenesis : (decodeRow(catalogue.seals, last, nothingSecret) as SealRow)
        }
      }
    })

  /**
   * Connects, ends the old backends and raises the epoch if the row still names this process. Fails while the outcome is unknown.
   */
  readonly comeBack: Effect.Effect<Return, SqlError.SqlError> = Effect.gen({ self: this }, function* () {
    yield* this.disconnect
    const session = yield* this.connect
    yield* session.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid IN ($1, $2) AND pid <> pg_backend_pid() AND application_name = '${applicationName}'`,
      [PgTypes.int4(this.backend), PgTypes.int4(this.raising)]
    )
    const raised = yield* Effect.exit(this.raise(session, (owner) => owner === this.owner))
    if (Exit.isFailure(raised)) return yield* this.backUnwritable(session, raised.cause)
    if (raised.value === null) return { _tag: "Usurped" }
    yield* this.adopt(session)
    return { _tag: "Back", batch: raised.value, writable: true }
  })

  /**
   * Raises the epoch for this process and returns the number of the last batch; null if `isFree` is false for the row's owner.
   * The raise names the epoch that it ends, because a raise of an abandoned connection may still reach the server and must then
   * change nothing. A higher epoch in this process's own name comes from such a late raise.
   */
  private raise(
    session: WriterSession,
    isFree: (owner: string) => boolean
  ): Effect.Effect<number | null, SqlError.SqlError> {
    return Effect.gen({ self: this }, function* () {
      this.raising = session.processId
      for (let raises = 0; raises < mostRaises; raises++) {
        const [raised] = (yield* session.query(
          "UPDATE writer SET epoch = epoch + 1, owner = $1 WHERE id = 1 AND epoch = $2 RETURNING epoch, batch",
          [this.owner, BigInt(this.epoch)]
        )).rows
        if (raised !== undefined) {
          this.epoch = Number(raised.epoch)
          return Number(raised.batch)
        }
        const [found] = (yield* session.query("SELECT epoch, owner FROM writer WHERE id = 1")).rows
        if (found === undefined || !isFree(found.owner as string)) return null
        this.epoch = Number(found.epoch)
      }
      return yield* Effect.fail(hanging)
    })
  }

  /** Makes the session the one that writes batches. It may be idle while there are no commits. */
  private adopt(session: WriterSession): Effect.Effect<void, SqlError.SqlError> {
    this.backend = session.processId
    return Effect.andThen(session.query("SET idle_session_timeout = 0"), this.waitForLocks("usual"))
  }

  /** A server that refuses every write can't raise the epoch. Once the old backend has ended, a raise is not needed. */
  private backUnwritable(
    session: WriterSession,
    cause: Cause.Cause<SqlError.SqlError>
  ): Effect.Effect<Return, SqlError.SqlError> {
    const failure = classify(cause)
    if (failure._tag !== "Busy" || !failure.standstill) return Effect.failCause(cause)
    return Effect.gen({ self: this }, function* () {
      const found = yield* session.query(
        `SELECT epoch, batch, owner, EXISTS (SELECT FROM pg_stat_activity
           WHERE pid = $1 AND pid <> pg_backend_pid() AND application_name = '${applicationName}') AS alive
           FROM writer WHERE id = 1`,
        [PgTypes.int4(this.backend)]
      )
      const row = found.rows[0]
      if (row === undefined || row.owner !== this.owner) return { _tag: "Usurped" }
      if (row.alive === true) return yield* Effect.failCause(cause)
      this.epoch = Number(row.epoch)
      yield* this.adopt(session)
      return { _tag: "Back", batch: Number(row.batch), writable: false }
    })
  }

  /** Executes a statement and rolls it back, which shows whether the server could write it now. */
  rehearse(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<Exit.Exit<unknown, SqlError.SqlError>> {
    return this.within((session) =>
      Effect.gen(function* () {
        const tried = yield* Effect.exit(Effect.andThen(session.query("BEGIN"), session.queryValues(sql, params)))
        const undone = yield* Effect.exit(session.query("ROLLBACK"))
        return Exit.isFailure(undone) ? undone : tried
      })
    )
  }

  /**
   * Runs several statements within the time limit of one. After a timeout the connection is destroyed, and the statements fail
   * as lost.
   */
  within<A, E>(work: (session: WriterSession) => Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      if (this.open === null) throw new Error("the journal has no connection")
      return this.inTime(this.open.socket, work(this.open.session))
    })
  }

  /** Sets the lock timeout of later statements. */
  waitForLocks(patience: keyof typeof lockPatience): Effect.Effect<void, SqlError.SqlError> {
    return Effect.suspend(() =>
      this.patience === patience
        ? Effect.void
        : Effect.map(this.session.query(`SET lock_timeout = ${lockPatience[patience]}`), () => {
            this.patience = patience
          })
    )
  }

  readonly cut: Effect.Effect<void> = Effect.sync(() => void this.open?.socket.destroy())

  readonly disconnect: Effect.Effect<void> = Effect.suspend(() => {
    const { open } = this
    this.open = null
    if (open === null) return Effect.void
    // A silent network path delivers no end of the connection, and a wait for that end would keep the process alive.
    return Effect.ensuring(
      Scope.close(open.scope, Exit.void),
      Effect.sync(() => open.socket.destroySoon())
    )
  })

  private readonly connect: Effect.Effect<WriterSession, SqlError.SqlError> = Effect.gen({ self: this }, function* () {
    const scope = yield* Scope.make()
    /** The sockets of this connection. Requests to cancel a statement use sockets of their own. */
    const sockets: Array<Socket> = []
    const connection = yield* PgConnection.make({
      url: this.url,
      stream: () => {
        const socket = socketTo(this.url)
        if (sockets.length === 0) sockets.push(socket)
        return socket
      },
      applicationName,
      connectTimeout: 3_000,
      startupParameters: writerSession,
      types: columnTypes(),
      // The cache holds the texts of batches, and those of the few statements of a takeover or a search for culprits.
      preparedStatementCacheSize: textsKept + 16
    }).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
    const [socket] = sockets
    if (socket === undefined) return yield* Effect.die(new Error("the driver has opened no socket"))
    const session: WriterSession = {
      processId: connection.processId,
      query: (...statement) => this.inTime(socket, connection.query(...statement)),
      queryValues: (...statement) => this.inTime(socket, connection.queryValues(...statement))
    }
    this.open = { scope, session, socket }
    this.patience = null
    return session
  })

  private inTime<A, E>(socket: Socket, statement: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const millis = this.patience === null ? answerMillis.takeOver : answerMillis.batch
      const answered = deadline(millis, () => socket.destroy(new Error("the server hangs")))
      return Effect.ensuring(statement, Effect.sync(answered))
    })
  }
}
