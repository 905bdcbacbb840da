/** A random life in a separate database, and its statements. */
import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { StatementKind } from "../../../src/machines/statement/statementTokens.ts"
import type { Period } from "../../../src/machines/statement/statementPeriod.ts"
import { StatementModels } from "../../../src/runtime/ports/StatementModels.ts"
import { layerStatementModelsMemory } from "../../../src/runtime/ports/StatementModelsMemory.ts"
import { buildModel, factsOf } from "../../../src/runtime/services/statements/model/buildStatement.ts"
import { submit, testSealing } from "../engine/fixtures.ts"
import type { PgBench } from "../engine/pgBench.ts"
import { clients } from "../rfq/rfqTurns.ts"
import type { StatedLife } from "./StatementLife.ts"

// oxlint-disable-next-line typescript/no-explicit-any
export type Model = any

/** A life in a separate database. */
export class Stated {
  readonly life: StatedLife
  readonly bench: PgBench
  constructor(life: StatedLife, bench: PgBench) {
    this.life = life
    this.bench = bench
  }

  /** The model of a period, whose text has the stored hash. */
  model(kind: StatementKind, { from, to }: Period, isBritish = false): Promise<Model> {
    const client = {
      clientId: clients.id,
      partnerId: clients.partnerId,
      clientUid: clients.uid,
      createdAt: this.life.createdAt
    }
    const firm = { name: "F", legalEntity: "F Ltd", venue: "V" } as never
    const period = { kind, from, to, cutFrom: null, taxYear: null, isBritish }
    return Effect.runPromise(
      Effect.gen({ self: this }, function* () {
        const sql = yield* PgClient.PgClient
        const models = yield* StatementModels
        const tools = { sql, sealing: testSealing, firm }
        const partner = { code: "ACM", custodyModel: "PARTNER" }
        const facts = yield* factsOf(tools, client, partner, period, this.life.now)
        const built = yield* buildModel(models, 1, facts)
        if (!built.ok) return assert.fail(JSON.stringify(built.refusal))
        let text = ""
        for (let after = -1; ;) {
          const pieces = yield* models.pieces(1, after)
          if (pieces.length === 0) break
          text += pieces.map(({ content }) => content).join("")
          after = pieces.at(-1)?.number ?? after
        }
        assert.strictEqual(createHash("sha256").update(text).digest("hex"), built.model.sha256)
        const model = JSON.parse(text) as Model
        const rows = model.sections.reduce((sum: number, section: Model) => sum + section.rows.length, 0)
        assert.strictEqual(rows, built.model.rows)
        return model
      }).pipe(
        Effect.provide(layerStatementModelsMemory()),
        Effect.provide(PgClient.layer({ url: this.bench.url, maxConnections: 2 }))
      )
    )
  }
}

/** A life in a database. */
export const stored = async (life: StatedLife, bench: PgBench): Promise<Stated> => {
  for (const commit of life.commits) assert.strictEqual((await submit(bench.journal, commit))._tag, "Committed")
  const rows = [...life.dailyMarks].flatMap(([day, marks]) =>
    [...marks].map(([symbol, price]) => `(${day}, '${symbol}', '${price}', ${day})`)
  )
  if (rows.length > 0) await bench.query(`INSERT INTO daily_marks VALUES ${rows.join(", ")}`)
  return new Stated(life, bench)
}
