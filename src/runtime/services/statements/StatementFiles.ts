/**
 * The files of a statement: its model as stored, and its PDF and CSV. PDF and CSV are rendered for each download,
 * always with the same bytes (STS-18, STS-22, STS-32).
 */
import { Context, Effect, Layer, Option, Stream } from "effect"
import { statementRowOf } from "../../../machines/statement/Statement.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { StatementModels } from "../../ports/StatementModels.ts"
import { StatementRenderer } from "../../ports/StatementRenderer.ts"
import type { Skeleton } from "../../../machines/statement/StatementModel.ts"
import type { StatementRow } from "../../tables/statement.ts"
import { skeletonOf } from "./model/modelText.ts"

type Bytes = Stream.Stream<Uint8Array, Unavailable>

export class StatementFiles extends Context.Service<
  StatementFiles,
  {
    /** The canonical text of the statement's model. */
    model(row: StatementRow): Bytes
    /** The row and its model as one JSON object. */
    detail(row: StatementRow): Bytes
    file(row: StatementRow, form: "pdf" | "csv"): Bytes
    /** The model without the rows of its sections. */
    skeleton(row: StatementRow): Effect.Effect<Skeleton, Unavailable>
  }
>()("brokerage/runtime/services/statements/StatementFiles") {
  static readonly layer = Layer.effect(
    StatementFiles,
    Effect.gen(function* () {
      const models = yield* StatementModels
      const renderer = yield* StatementRenderer

      const model = ({ modelId }: StatementRow): Bytes =>
        Stream.paginate(-1, (after: number) =>
          Effect.map(models.pieces(modelId, after), (pieces) => {
            const last = pieces.at(-1)
            return [
              pieces.map(({ content }) => Buffer.from(content) as Uint8Array),
              last === undefined ? Option.none<number>() : Option.some(last.number)
            ] as const
          })
        )

      /** All frames of a model: the texts before, between and after the rows of its sections. */
      const framesOf = (modelId: number): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
        Effect.gen(function* () {
          const frames: Array<string> = []
          for (let after = -1; ;) {
            const page = yield* models.pieces(modelId, after, "frames")
            const last = page.at(-1)
            if (last === undefined) return frames
            frames.push(...page.map(({ content }) => content))
            after = last.number
          }
        })

      return StatementFiles.of({
        model,
        skeleton: ({ modelId }) => Effect.map(framesOf(modelId), skeletonOf),
        detail: (row) => {
          const opened = `${JSON.stringify(statementRowOf(row.state, row.context)).slice(0, -1)},"model":`
          return Stream.make<ReadonlyArray<Uint8Array>>(Buffer.from(opened)).pipe(
            Stream.concat(model(row)),
            Stream.concat(Stream.make<ReadonlyArray<Uint8Array>>(Buffer.from("}")))
          )
        },
        file: (row, form) =>
          Stream.unwrap(
            Effect.gen(function* () {
              const found = yield* models.find(row.modelId)
              if (found === null) return yield* Effect.die(new Error(`statement ${row.id} has no model`))
              const { context } = row
              return renderer.render({
                partnerId: row.partnerId,
                form,
                renderer: context.renderer,
                version: {
                  statementId: context.statementId,
                  version: context.version,
                  supersedes: context.supersedes
                },
                sha256: context.sha256,
                skeleton: skeletonOf(yield* framesOf(row.modelId)),
                counts: found.counts,
                pieces: (after) => models.packedPieces(row.modelId, after)
              })
            })
          )
      })
    })
  )
}
