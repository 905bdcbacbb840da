/**
 * The models of statements, encrypted at rest in pieces of canonical text (STS-22; architecture, At rest). A model is written
 * before the commit of the row that names it, so that megabytes never delay money commits in a batch. The same text is stored
 * once, under its hash; a model that no statement names is swept after a day.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../engine/mailbox/DispatchError.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { withinTime } from "../engine/withinTime.ts"
import { unpacked } from "../engine/sealing/packed.ts"
import type { StatementModelRow, StatementPieceRow } from "../tables/statement.ts"
import { whenAway } from "../store/whenAway.ts"
import {
  dropPieces,
  finishModel,
  modelOf,
  piecesOf,
  type ReadPiece,
  sweepStretch,
  type SweptTo,
  writeModels,
  writePiece
} from "../store/writes/statementWrites.ts"

/** A piece of a model to write. Its text may also be given as UTF-8 bytes. */
export type NewPiece = Omit<StatementPieceRow, "storedAt" | "content"> & { readonly content: string | Uint8Array }
export type NewModel = Omit<StatementModelRow, "storedAt">

/** Limit on the rows that one SQL statement of a sweep scans. */
const sweptAtOnce = 1_000

/** The most pieces in one read: a quarter of a megabyte each. */
const piecesAtOnce = 4

export class StatementModels extends Context.Service<
  StatementModels,
  {
    /** Writes a piece of a model, in order from the first; fails if the model was dropped. */
    write(piece: NewPiece): Effect.Effect<void, Unavailable>
    /**
     * Completes a model and returns its id. If an equal model was stored before, returns that model's id and drops these
     * pieces.
     */
    finish(model: NewModel): Effect.Effect<number, Unavailable>
    /** Removes the pieces of a model that was not completed. */
    drop(modelId: number): Effect.Effect<void, Unavailable>
    /** Writes complete models with all their pieces at once. Returns the id of each by its hash, as `finish` does. */
    writeAll(
      models: ReadonlyArray<NewModel>,
      pieces: ReadonlyArray<NewPiece>
    ): Effect.Effect<ReadonlyMap<string, number>, Unavailable>
    find(modelId: number): Effect.Effect<StatementModelRow | null, Unavailable>
    /** Pieces of a model after the given one, in order, one read at a time; `frames`: only the pieces without rows. */
    pieces(modelId: number, after: number, frames?: "frames"): Effect.Effect<ReadonlyArray<ReadPiece>, Unavailable>
    /** Like `pieces`, but in the packed form of packed.ts, for a thread that unpacks the pieces itself. */
    packedPieces(modelId: number, after: number): Effect.Effect<ReadonlyArray<ReadPiece<Uint8Array>>, Unavailable>
    /**
     * Removes models stored before this time (wall clock, Unix ms) that no statement names, and pieces without a model. Returns
     * the number of models. Continues at the checkpoint of this process's last sweep.
     */
    sweep(before: number): Effect.Effect<number, Unavailable>
  }
>()("brokerage/runtime/ports/StatementModels") {
  static readonly layer = Layer.effect(
    StatementModels,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const run = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
        withinTime(Effect.catch(statement, whenAway), () => new Unavailable({ unknown: false }))
      const drop = (modelId: number) => run(dropPieces(sql, modelId))
      const packedOf = (modelId: number, after: number, frames: boolean) =>
        run(piecesOf(sql, sealing, modelId, { after, limit: piecesAtOnce, frames }))
      const sweptTo: Record<"models" | "pieces", SweptTo> = {
        models: { storedAt: 0, id: 0 },
        pieces: { storedAt: 0, id: 0 }
      }
      const sweep = (what: "models" | "pieces", before: number) =>
        Effect.gen(function* () {
          for (let total = 0; ;) {
            const { gone, last } = yield* run(
              sweepStretch(sql, what, { after: sweptTo[what], before, limit: sweptAtOnce })
            )
            if (last === null) return total
            total += gone
            sweptTo[what] = last
          }
        })
      return StatementModels.of({
        // Wall time: business time may be advanced during a build, and then its model would appear abandoned.
        write: (piece) =>
          Effect.gen(function* () {
            const storedAt = yield* Clock.currentTimeMillis
            if (!(yield* run(writePiece(sql, sealing, { ...piece, storedAt }))))
              yield* new Unavailable({ unknown: false })
          }),
        finish: (model) =>
          Effect.gen(function* () {
            const storedAt = yield* Clock.currentTimeMillis
            const id = yield* run(finishModel(sql, { ...model, storedAt }))
            if (id !== model.id) yield* drop(model.id)
            return id
          }),
        drop,
        writeAll: (written, parts) =>
          Effect.flatMap(Clock.currentTimeMillis, (storedAt) =>
            run(
              writeModels(
                sql,
                sealing,
                written.map((model) => ({ ...model, storedAt })),
                parts.map((piece) => ({ ...piece, storedAt }))
              )
            )
          ),
        find: (modelId) => run(modelOf(sql, modelId)),
        pieces: (modelId, after, frames) =>
          Effect.map(packedOf(modelId, after, frames !== undefined), (found) =>
            found.map((piece) => ({ ...piece, content: unpacked(piece.content) }))
          ),
        packedPieces: (modelId, after) => packedOf(modelId, after, false),
        sweep: (before) =>
          Effect.zipWith(sweep("models", before), sweep("pieces", before), (models, pieces) => models + pieces)
      })
    })
  )
}
