/** The journal on Postgres: one writer (Writer) with its own connection, ids in blocks, and subjects read through the pool. */
import { Effect, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { makeDefectLog } from "../DefectLog.ts"
import type { IdKind } from "../../tables/Catalogue.ts"
import { idSequenceOf, makeIdBlocks } from "./IdBlocks.ts"
import { Journal, JournalUnavailable } from "./Journal.ts"
import { describeFailure, hanging } from "./sqlFailure.ts"
import { makeSubjectLoader } from "./SubjectLoader.ts"
import { withinTime } from "../withinTime.ts"
import { Writer, type WriterOptions } from "./Writer.ts"

export type JournalPgOptions = WriterOptions

/** The longest wait for the return of unused ids: a part of the time that a clean stop has. */
const returnLimit = "1 second"

/**
 * Sets each sequence that stands at this process's newest block back to the first unused id. The lock on the writer row orders
 * the return before any takeover: after one, the row names another owner, and a late return changes nothing. The select list is
 * evaluated after the lock is taken.
 */
const returnText = `WITH own AS MATERIALIZED (SELECT 1 FROM writer WHERE id = 1 AND owner = $1 FOR UPDATE)
  SELECT CASE WHEN pg_sequence_last_value(name::regclass) = last THEN setval(name::regclass, next, false) END
    FROM own, jsonb_to_recordset($2::text::jsonb) AS unused (name text, last int8, next int8)`

/**
 * Starts the journal in the current scope: takes the database over (raises the epoch) and begins to flush. The end of the scope
 * returns the unused ids, so that the next process continues with them.
 */
export const makeJournalPg = (
  options: JournalPgOptions
): Effect.Effect<Journal["Service"], SqlError.SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const writer = new Writer(options)
    // Added first, so it runs last: the flushing fibers must end before their connection does.
    yield* Scope.addFinalizer(scope, writer.close)
    yield* writer.takeOver
    const defects = yield* makeDefectLog
    const reserveIds = (kind: IdKind): Effect.Effect<number, SqlError.SqlError> =>
      Effect.map(
        options.sql.unsafe<{ readonly id: bigint }>("SELECT nextval($1::text::regclass) AS id", [idSequenceOf(kind)]),
        (rows) => Number(rows[0]?.id)
      )
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const ids = makeIdBlocks(reserveIds, (refill) => void fork(refill))
    const returnIds = Effect.flatMap(ids.close, (unused) => {
      const sequences = unused.map(({ kind, ...stand }) => ({ name: idSequenceOf(kind), ...stand }))
      return writer.up
        ? options.sql.unsafe(returnText, [options.owner, JSON.stringify(sequences)])
        : Effect.fail(hanging)
    })
    yield* Effect.mapError(ids.fill, (error) => error as SqlError.SqlError)
    yield* Effect.forkIn(writer.run, scope)
    yield* Effect.forkIn(writer.watchOwner, scope)
    yield* Effect.forkIn(writer.watchLocks, scope)
    yield* Scope.addFinalizer(scope, writer.cut)
    yield* Effect.addFinalizer(() =>
      Effect.catch(
        withinTime(returnIds, () => hanging, returnLimit),
        (error) =>
          Effect.logWarning("the unused ids are not returned: the next start leaves them out", describeFailure(error))
      )
    )
    const load = makeSubjectLoader(options.sql, options.sealing)
    return Journal.of({
      submit: (commit, done, lane) => writer.submit({ commit, done, defects, lane }),
      accepting: (lane) => writer.accepting(lane),
      certain: () => writer.up,
      owns: writer.owns,
      owner: options.owner,
      ownedAt: () => writer.ownedAt,
      held: () => writer.locks.held.counts(),
      load: (subjects) =>
        writer.up
          ? Effect.mapError(load(subjects), (error) => new JournalUnavailable({ reason: error.message }))
          : Effect.fail(new JournalUnavailable({ reason: "the database is away" })),
      nextId: ids.next,
      idsRefilled: ids.refilled,
      drain: writer.drain,
      onUsurped: (stop) => (writer.stop = stop),
      batchSizes: () => writer.sizes.recent,
      batches: () => writer.sizes
    })
  })
