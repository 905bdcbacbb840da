/** Models of statements in memory, for tests: the guarantees of the stored ones, except encryption. */
import { Clock, Effect, Layer } from "effect"
import { packed } from "../engine/sealing/packed.ts"
import type { StatementModelRow, StatementPieceRow } from "../tables/statement.ts"
import { type NewModel, type NewPiece, StatementModels } from "./StatementModels.ts"

const piecesAtOnce = 4

export const layerStatementModelsMemory = (): Layer.Layer<StatementModels> =>
  Layer.sync(StatementModels, () => {
    const models = new Map<number, StatementModelRow>()
    const pieces = new Map<number, Array<StatementPieceRow>>()
    const drop = (modelId: number) => Effect.sync(() => void (models.has(modelId) ? undefined : pieces.delete(modelId)))
    const write = (piece: NewPiece) =>
      Effect.map(Clock.currentTimeMillis, (storedAt) => {
        const known = pieces.get(piece.modelId) ?? []
        const content = Buffer.from(piece.content).toString()
        pieces.set(piece.modelId, [...known, { ...piece, content, storedAt }])
      })
    const finish = (model: NewModel) =>
      Effect.gen(function* () {
        const storedAt = yield* Clock.currentTimeMillis
        const same = [...models.values()].find(({ sha256 }) => sha256 === model.sha256)
        if (same === undefined) models.set(model.id, { ...model, storedAt })
        else yield* drop(model.id)
        return same?.id ?? model.id
      })
    const page = (modelId: number, after: number, frames: boolean) =>
      (pieces.get(modelId) ?? [])
        .filter(({ number, section }) => number > after && (!frames || section === -1))
        .slice(0, piecesAtOnce)
    return StatementModels.of({
      write,
      finish,
      drop,
      writeAll: (written, parts) =>
        Effect.gen(function* () {
          yield* Effect.forEach(parts, write, { discard: true })
          const ids = yield* Effect.forEach(written, (model) =>
            Effect.map(finish(model), (id) => [model.sha256, id] as const)
          )
          return new Map(ids)
        }),
      find: (modelId) => Effect.sync(() => models.get(modelId) ?? null),
      pieces: (modelId, after, frames) => Effect.sync(() => page(modelId, after, frames !== undefined)),
      packedPieces: (modelId, after) =>
        Effect.sync(() =>
          page(modelId, after, false).map((piece) => ({ ...piece, content: packed(Buffer.from(piece.content)) }))
        ),
      sweep: () => Effect.succeed(0)
    })
  })
