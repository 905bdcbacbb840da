/** Models of statements kept in memory, for tests: the same promises as the stored ones, but for encryption. */
import { Clock, Effect, Layer } from "effect"
import type { StatementModelRow, StatementPieceRow } from "../store/tables/statement.ts"
import { StatementModels } from "./StatementModels.ts"

const piecesAtOnce = 4

export const layerStatementModelsMemory = (): Layer.Layer<StatementModels> =>
  Layer.sync(StatementModels, () => {
    const models = new Map<number, StatementModelRow>()
    const pieces = new Map<number, Array<StatementPieceRow>>()
    const drop = (modelId: number) => Effect.sync(() => void (models.has(modelId) ? undefined : pieces.delete(modelId)))
    return StatementModels.of({
      write: (piece) =>
        Effect.map(Clock.currentTimeMillis, (storedAt) => {
          const known = pieces.get(piece.modelId) ?? []
          pieces.set(piece.modelId, [...known, { ...piece, storedAt }])
        }),
      finish: (model) =>
        Effect.gen(function* () {
          const storedAt = yield* Clock.currentTimeMillis
          const same = [...models.values()].find(({ sha256 }) => sha256 === model.sha256)
          if (same === undefined) models.set(model.id, { ...model, storedAt })
          else yield* drop(model.id)
          return same?.id ?? model.id
        }),
      drop,
      find: (modelId) => Effect.sync(() => models.get(modelId) ?? null),
      pieces: (modelId, after, frames) =>
        Effect.sync(() =>
          (pieces.get(modelId) ?? [])
            .filter(({ number, section }) => number > after && (frames === undefined || section === -1))
            .slice(0, piecesAtOnce)
        ),
      sweep: () => Effect.succeed(0)
    })
  })
