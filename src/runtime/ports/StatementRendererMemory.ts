/** A renderer that writes the canonical text itself, for tests of what is handed out and when. */
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
