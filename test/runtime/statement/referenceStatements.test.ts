/**
 * Reference statements of each kind: model, PDF and CSV have the stored hashes of each renderer, today and in ten years
 * (STS-17, STS-18). A renderer with other bytes gets a new number, whose hashes the first run writes (`vitest run -u`
 * rewrites them before its first use); the hashes of the old one stay.
 */
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { currentRenderer, renderers } from "../../../src/machines/statement/Statement.ts"
import { type StatementKind, statementKinds } from "../../../src/machines/statement/statementTokens.ts"
import type { Rendering } from "../../../src/runtime/adapters/statements/protocol.ts"
import { renderCsv } from "../../../src/runtime/adapters/statements/renderCsv.ts"
import { renderPdf } from "../../../src/runtime/adapters/statements/renderPdf.ts"
import { StatementModels } from "../../../src/runtime/ports/StatementModels.ts"
import { layerStatementModelsMemory } from "../../../src/runtime/ports/StatementModelsMemory.ts"
import { skeletonOf } from "../../../src/runtime/services/statements/model/modelText.ts"
import type { ReadPiece } from "../../../src/runtime/store/writes/statementWrites.ts"
import { writeModel } from "../../../src/runtime/services/statements/model/ModelWriter.ts"
import { type ReferenceForm, referenceForms, referenceStatement } from "../../fixtures/referenceStatements.ts"

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex")

interface Hashes {
  readonly model: string
  readonly pdf: string
  readonly csv: string
}

/** The stored model, and the file that the renderer makes of its pieces. */
const rendered = (kind: StatementKind, form: ReferenceForm, renderer: number = currentRenderer): Promise<Hashes> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { head, sections } = referenceStatement(kind, form)
      const models = yield* StatementModels
      const written = yield* writeModel(
        { models, modelId: 1, partnerId: 1, clientId: 1, mostRows: 1_000 },
        head,
        sections.map(({ facts, rows }) => ({ facts, rows: (emit) => emit(rows) }))
      )
      const pieces: Array<ReadPiece> = []
      for (let after = -1; ;) {
        const found = yield* models.pieces(1, after)
        if (found.length === 0) break
        pieces.push(...found)
        after = found.at(-1)?.number ?? after
      }
      assert.strictEqual(sha256(pieces.map(({ content }) => content).join("")), written.sha256)
      const skeleton = skeletonOf(pieces.filter(({ section }) => section < 0).map(({ content }) => content))
      const counts = (yield* models.find(1))?.counts ?? []
      const version = {
        statementId: 12,
        version: 2,
        supersedes: { statementId: 9, version: 1, sha256: "ab".repeat(32) }
      }
      const bytes = (name: "pdf" | "csv", render: (rendering: Rendering) => Promise<void>) =>
        Effect.promise(async () => {
          const queue = [...pieces]
          const chunks: Array<Uint8Array> = []
          await render({
            head: { form: name, renderer, version, sha256: written.sha256, skeleton, counts },
            next: () => Promise.resolve(queue.shift() ?? null),
            write: (chunk) => Promise.resolve(void chunks.push(chunk))
          })
          return sha256(Buffer.concat(chunks))
        })
      return { model: written.sha256, pdf: yield* bytes("pdf", renderPdf), csv: yield* bytes("csv", renderCsv) }
    }).pipe(Effect.provide(layerStatementModelsMemory()))
  )

describe("reference statements", () => {
  it.each(renderers)("STS-18: model, PDF and CSV of each kind have the hashes of renderer %s", async (renderer) => {
    const found: Record<string, Hashes> = {}
    for (const kind of statementKinds)
      for (const form of referenceForms) found[`${kind} ${form}`] = await rendered(kind, form, renderer)
    const kept = `../../fixtures/referenceHashes.${renderer}.json`
    await expect(`${JSON.stringify(found, null, 2)}\n`).toMatchFileSnapshot(kept)
  })

  it("STS-17: two builds give the same bytes, at any place and time", async () => {
    const [zone, locale] = [process.env["TZ"], process.env["LANG"]]
    const before = await rendered("ACCOUNT", "widest")
    process.env["TZ"] = "Pacific/Kiritimati"
    process.env["LANG"] = "ar_EG.UTF-8"
    const after = await rendered("ACCOUNT", "widest").finally(() => {
      for (const [name, value] of [
        ["TZ", zone],
        ["LANG", locale]
      ] as const)
        if (value === undefined) Reflect.deleteProperty(process.env, name)
        else process.env[name] = value
    })
    assert.deepStrictEqual(after, before)
  })
})
