/**
 * That the models of statements still say what they said (STS-17, STS-22): the text in the pieces of each has the hash and the size
 * that it is kept under. Read a few pieces at a time, so that no model is ever held as a whole.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { StatementModelRow } from "../store/tables/statement.ts"
import type { Sealing } from "../engine/sealing/Sealing.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { modelsAfter, piecesOf } from "../store/writes/statementWrites.ts"

/** Models named at a time, and pieces of one read at a time. */
const pageOfModels = 200
const piecesAtOnce = 4

/** What is wrong with a model; null: it is as it was. */
const judge = (sql: PgClient.PgClient, sealing: Sealing, { id, sha256, size }: StatementModelRow) =>
  Effect.gen(function* () {
    const hash = createHash("sha256")
    let bytes = 0
    let after = -1
    while (true) {
      const pieces = yield* piecesOf(sql, sealing, id, { after, limit: piecesAtOnce, frames: false })
      for (const { content } of pieces) {
        hash.update(content)
        bytes += Buffer.byteLength(content)
      }
      const last = pieces.at(-1)
      if (last === undefined || pieces.length < piecesAtOnce) break
      after = last.number
    }
    const found = hash.digest("hex")
    if (found === sha256 && bytes === size) return null
    return `model ${id} is ${bytes} bytes with the hash ${found}, kept as ${size} with ${sha256}`
  })

/** Compares every model with its hash. Neither ever changes, so this needs no snapshot; one that is swept meanwhile is none. */
export const checkModels = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const sealing = yield* SealingService
  let compared = 0
  let after = 0
  while (true) {
    const page = yield* modelsAfter(sql, after, pageOfModels)
    for (const model of page) {
      const detail = yield* judge(sql, sealing, model)
      if (detail !== null && (yield* modelsAfter(sql, model.id - 1, 1))[0]?.id === model.id) return { compared, detail }
      compared++
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageOfModels) return { compared, detail: null }
    after = last.id
  }
})
