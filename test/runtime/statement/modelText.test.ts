/** The canonical text of models, and its pieces (STS-17, STS-22; RFC 8785, JCS golden case). */
import { assert, describe, it } from "@effect/vitest"
import canonicalize from "canonicalize"
import { Effect } from "effect"
import * as fc from "fast-check"
import { createHash } from "node:crypto"
import type { ModelRow, Skeleton } from "../../../src/machines/statement/StatementModel.ts"
import { Unavailable } from "../../../src/runtime/engine/mailbox/DispatchError.ts"
import { StatementModels } from "../../../src/runtime/ports/StatementModels.ts"
import { layerStatementModelsMemory } from "../../../src/runtime/ports/StatementModelsMemory.ts"
import {
  canonicalText,
  framesOf,
  rowText,
  skeletonOf
} from "../../../src/runtime/services/statements/model/modelText.ts"
import {
  type PlannedSection,
  TooManyRows,
  writeModel
} from "../../../src/runtime/services/statements/model/ModelWriter.ts"

const head = {
  schema: "account/1",
  kind: "ACCOUNT",
  firm: { name: "F", legalEntity: 'F "rows":[] Ltd' },
  partner: "P",
  clientUid: "P-00000001",
  custodyModel: "BROKER",
  currency: "USDC",
  periodFrom: 0,
  periodTo: 1,
  timeZone: "UTC",
  cut: { postingId: 1, fillId: 0, contractId: 0, swapId: 0 },
  ledgerSeal: null,
  notes: ["a note"]
}
const rowsOf = (count: number): ReadonlyArray<ModelRow> =>
  Array.from({ length: count }, (_, n) => ({
    postingId: n,
    amount: "-1.000000",
    refs: { b: n, a: "é☃" },
    venueTs: null
  }))
const planned = (name: string, rows: ReadonlyArray<ModelRow>): PlannedSection<Unavailable | TooManyRows> => ({
  facts: { name, totals: [{ type: "X", amount: "1" }] },
  rows: (emit) => Effect.forEach([rows.slice(0, 700), rows.slice(700)], emit, { discard: true })
})
const target = { modelId: 1, partnerId: 1, clientId: 1, mostRows: 5_000 }
const withModels = <A, E>(work: (models: StatementModels["Service"]) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(StatementModels, work), layerStatementModelsMemory())

describe("canonical text", () => {
  it("JCS-001: the sample of RFC 8785", () =>
    assert.strictEqual(
      canonicalText(
        JSON.parse(
          '{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],"string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals": [null, true, false]}'
        )
      ),
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    ))

  it("STS-22: a row is written as RFC 8785 demands, whatever it holds", () => {
    const value = fc.oneof(fc.integer(), fc.constant(null), fc.boolean(), fc.string({ unit: "grapheme" }))
    const row = fc.dictionary(
      fc.stringMatching(/^[a-z][A-Za-z]{0,8}$/),
      fc.oneof(value, fc.dictionary(fc.string({ unit: "grapheme" }), value))
    )
    fc.assert(fc.property(row, (given) => assert.strictEqual(rowText(given as ModelRow), canonicalize(given))))
  })

  it("STS-22: frames are the text around its rows", () => {
    const skeleton = {
      ...head,
      sections: [
        { name: "A", rows: [] },
        { name: "B", z: 1, rows: [] }
      ]
    } as Skeleton
    const frames = framesOf(skeleton)
    assert.lengthOf(frames, 3)
    assert.deepStrictEqual(skeletonOf(frames), JSON.parse(canonicalize(skeleton) ?? "") as Skeleton)
    assert.isTrue(frames[0]?.endsWith('"rows":['))
    assert.isTrue(frames[1]?.startsWith("]"))
  })
})

describe("ModelWriter", () => {
  it.effect("STS-22: the pieces are the canonical text of the whole, and the hash is its hash", () =>
    withModels((models) =>
      Effect.gen(function* () {
        const [many, few] = [rowsOf(1_500), rowsOf(3)]
        const written = yield* writeModel({ models, ...target }, head, [
          planned("A", many),
          planned("B", few),
          planned("C", [])
        ])
        const model = {
          ...head,
          sections: [
            { name: "A", rows: many },
            { name: "B", rows: few },
            { name: "C", rows: [] }
          ].map((section) => ({ ...section, totals: [{ type: "X", amount: "1" }] }))
        }
        let text = ""
        for (
          let after = -1, found = yield* models.pieces(1, after);
          found.length > 0;
          found = yield* models.pieces(1, after)
        ) {
          text += found.map(({ content }) => content).join("")
          after = found.at(-1)?.number ?? after
        }
        assert.strictEqual(text, canonicalize(model))
        assert.strictEqual(written.sha256, createHash("sha256").update(text).digest("hex"))
        assert.deepInclude(written, { modelId: 1, rows: 1_503 })
        assert.deepInclude(yield* models.find(1), { counts: [1_500, 3, 0], size: Buffer.byteLength(text) })
      })
    )
  )

  it.effect("STS-22: the same text is stored once", () =>
    withModels((models) =>
      Effect.gen(function* () {
        yield* writeModel({ models, ...target }, head, [planned("A", rowsOf(2))])
        const again = yield* writeModel({ models, ...target, modelId: 2 }, head, [planned("A", rowsOf(2))])
        assert.strictEqual(again.modelId, 1)
        assert.deepStrictEqual(yield* models.pieces(2, -1), [])
      })
    )
  )

  it.effect("STS-15: a model that exceeds its limit, or can't be read, leaves nothing", () =>
    withModels((models) =>
      Effect.gen(function* () {
        const tooMany = yield* Effect.flip(
          writeModel({ models, ...target, mostRows: 4 }, head, [planned("A", rowsOf(5))])
        )
        assert.instanceOf(tooMany, TooManyRows)
        const away = { facts: { name: "A" }, rows: () => Effect.fail(new Unavailable({ unknown: false })) }
        const lost = yield* Effect.flip(
          writeModel({ models, ...target, modelId: 2 }, head, [planned("Z", rowsOf(2)), away])
        )
        assert.instanceOf(lost, Unavailable)
        assert.deepStrictEqual([yield* models.pieces(1, -1), yield* models.pieces(2, -1)], [[], []])
      })
    )
  )
})
