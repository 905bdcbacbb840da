/**
 * Keeps the writer working beside locks of other sessions. The locks that a batch waited for are searched and remembered
 * (HeldLocks), polled every second, and forgotten once they are free. Meanwhile the writer waits only briefly for any lock.
 */
import { Effect, Result } from "effect"
import { PgTypes } from "@effect/sql-pg"
import type { SqlError } from "effect/sql"
import type { BatchDraft } from "../BatchDraft.ts"
import type { Commit } from "../Commit.ts"
import { findHeld, type Findings } from "./findHeld.ts"
import { HeldLocks } from "./HeldLocks.ts"
import { tableOf } from "./lockNeeds.ts"
import type { WriterConnection } from "../WriterConnection.ts"

/** The interval between two polls of the remembered locks, ms; after a slow poll it is a multiple of the poll's duration. */
const queryEveryMillis = 1_000
const pauseFactor = 10

export class LockWatch {
  readonly held = new HeldLocks()
  /** The time of the next poll, by the process's own clock (ms). */
  private nextAt = 0
  private readonly connection: WriterConnection
  private readonly draft: (commits: ReadonlyArray<Commit>) => BatchDraft

  /** `draft` encodes commits as a batch. */
  constructor(connection: WriterConnection, draft: (commits: ReadonlyArray<Commit>) => BatchDraft) {
    this.connection = connection
    this.draft = draft
  }

  /** True if the next poll is due. */
  get due(): boolean {
    return this.held.any && performance.now() >= this.nextAt
  }

  /** Searches the locks of a batch that waited too long. True if another session holds any. */
  search(commits: ReadonlyArray<Commit>): Effect.Effect<boolean, SqlError.SqlError> {
    return Effect.gen({ self: this }, function* () {
      const { held } = yield* this.find(commits)
      yield* this.take(held)
      // If no lock is found, the lock was held only for a moment, and the next attempt may wait as long as usual.
      yield* this.connection.waitForLocks(held.size === 0 ? "usual" : "brief")
      return held.size > 0
    })
  }

  /** Polls the remembered locks, those polled longest ago first, with at most one batch of commits. */
  readonly poll: Effect.Effect<void, SqlError.SqlError> = Effect.gen({ self: this }, function* () {
    const commits = this.held.oldest()
    const { held, unasked } = yield* this.find(commits)
    this.held.dropShownBy(new Set(commits.filter((commit) => !unasked.has(commit))), held)
    yield* this.take(held)
    yield* this.connection.waitForLocks(this.held.any ? "brief" : "usual")
    if (!this.held.any) yield* Effect.logInfo("no other session holds a lock that commits need any more")
  })

  private take(held: Findings["held"]): Effect.Effect<void, SqlError.SqlError> {
    const fresh = this.held.add(held)
    return fresh.length === 0 ? Effect.void : this.report(fresh)
  }

  private find(commits: ReadonlyArray<Commit>): Effect.Effect<Findings, SqlError.SqlError> {
    return Effect.suspend(() => {
      const begun = performance.now()
      const search = this.connection.within((session) => findHeld({ session, draft: this.draft }, commits))
      return Effect.map(search, (found) => {
        const now = performance.now()
        this.nextAt = now + Math.max(queryEveryMillis, (now - begun) * pauseFactor)
        return found
      })
    })
  }

  /** Logs the tables and the sessions that may hold them; never keys, because a key can name a person. */
  private report(names: ReadonlyArray<string>): Effect.Effect<void, SqlError.SqlError> {
    const tables = [...new Set(names.map(tableOf))]
    return Effect.flatMap(
      this.connection.session.query(holdersText, [Result.getOrThrow(PgTypes.array(tables, PgTypes.OID.text))], false),
      ({ rows }) =>
        Effect.annotateLogs(
          Effect.logWarning(
            "another session holds locks that commits need; commits are refused until it releases them"
          ),
          { tables: tables.join(", "), found: names.length, sessions: rows.map(({ session }) => session).join("; ") }
        )
    )
  }
}

/** Other sessions with more than a reader's lock on the tables, the oldest transaction first. */
const holdersText = `SELECT DISTINCT ON (a.xact_start, a.pid) format('pid %s, %s, %s for %s s', a.pid, a.application_name, a.state,
    round(extract(epoch FROM clock_timestamp() - a.xact_start))) AS session
  FROM pg_locks l JOIN pg_stat_activity a USING (pid)
 WHERE l.relation = ANY ($1::text[]::regclass[]) AND l.granted AND l.mode <> 'AccessShareLock' AND a.pid <> pg_backend_pid()
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
 ORDER BY a.xact_start, a.pid LIMIT 4`
