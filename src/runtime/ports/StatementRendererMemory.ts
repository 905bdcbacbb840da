/** A renderer that returns the canonical text, for tests of downloads. */
import { Effect, Layer, Option, Stream } from "effect"
import { StatementRenderer } from "./StatementRenderer.ts"

export const layerStatementRendererMemory = (): Layer.Layer<StatementRenderer> =>
  Layer.succeed(
    StatementRenderer,
    StatementRenderer.of({
      render: ({ pieces }) =>
        Stream.paginate(-1, (after: number) =>
          Effect.map(pieces(after), (page) => {
            const last = page.at(-1)
            return [
              page.map(({ content }): Uint8Array => Buffer.from(content)),
              last === undefined ? Option.none<number>() : Option.some(last.number)
            ] as const
          })
        )
    })
  )
