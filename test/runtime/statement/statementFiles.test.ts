/** The files of a stored statement: its model's text, and files made from the stored model alone (STS-17, STS-22). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { layerStatementModelsMemory } from "../../../src/runtime/ports/StatementModelsMemory.ts"
import { StatementModels } from "../../../src/runtime/ports/StatementModels.ts"
import { layerStatementRendererMemory } from "../../../src/runtime/ports/StatementRendererMemory.ts"
import { StatementFiles } from "../../../src/runtime/services/statements/StatementFiles.ts"
import { statementInput } from "../../../src/machines/statement/statementSamples.ts"
import type { StatementRow } from "../../../src/runtime/tables/statement.ts"

const row = {
  id: 1,
  modelId: 7,
  state: "GENERATED",
  context: { ...statementInput, generatedAt: 5, generatedBy: "PARTNER", supersededBy: null }
} as StatementRow
const frames = ['{"sections":[{"rows":[', "]}]}"]

const layer = StatementFiles.layer.pipe(
  Layer.provideMerge(Layer.merge(layerStatementModelsMemory(), layerStatementRendererMemory()))
)
const textOf = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => Buffer.concat([...chunks]).toString("utf8"))

describe("StatementFiles", () => {
  it.effect("STS-22: gives the model as it was stored, inside its row, and a file of it", () =>
    Effect.gen(function* () {
      const models = yield* StatementModels
      const piece = { modelId: 7, partnerId: 1, clientId: 1 }
      yield* models.write({ ...piece, number: 0, section: -1, content: frames[0] ?? "" })
      for (let number = 1; number < 9; number++)
        yield* models.write({ ...piece, number, section: 0, content: `${number === 1 ? "" : ","}{"n":${number}}` })
      yield* models.write({ ...piece, number: 9, section: -1, content: frames[1] ?? "" })
      yield* models.finish({ ...piece, id: 7, sha256: "a", size: 1, pieces: 10, counts: [8] })
      const files = yield* StatementFiles
      const text = yield* textOf(files.model(row))
      assert.deepStrictEqual(JSON.parse(text), { sections: [{ rows: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ n })) }] })
      assert.isTrue((yield* textOf(files.detail(row))).endsWith(`,"model":${text}}`))
      assert.strictEqual(yield* textOf(files.file(row, "pdf")), text)
    }).pipe(Effect.provide(layer))
  )
})
