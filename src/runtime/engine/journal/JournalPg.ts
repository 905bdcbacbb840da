/** The journal on Postgres: one writer (Writer) with its own connection, ids in blocks, and subjects read through the pool. */
import { Effect, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { makeDefectLog } from "../DefectLog.ts"
import type { IdKind } from "../../tables/Catalogue.ts"
import { idSequenceOf, makeIdBlocks } from "./IdBlocks.ts"
import { Journal, JournalUnavailable } from "./Journal.ts"
import { makeSubjectLoader } from "./SubjectLoader.ts"
import { Writer, type WriterOptions } from "./Writer.ts"

export type JournalPgOptions = WriterOptions

/** Starts the journal in the current scope: takes the database over (raises the epoch) and begins to flush. */
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
    yield* Effect.mapError(ids.fill, (error) => error as SqlError.SqlError)
    yield* Effect.forkIn(writer.run, scope)
    yield* Effect.forkIn(writer.watchOwner, scope)
    yield* Effect.forkIn(writer.watchLocks, scope)
    yield* Scope.addFinalizer(scope, writer.cut)
    const load = makeSubjectLoader(options.sql, options.sealing)
    return Journal.of({
      submit: (commit, done, lane) => writer.submit({ commit, done, defects, lane }),
      accepting: (lane) => writer.accepting(lane),
      certain: () => writer.up,
      owns: writer.owns,
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
