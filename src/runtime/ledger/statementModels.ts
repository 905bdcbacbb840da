/**
 * The check that models of statements are unchanged (STS-17, STS-22): the pieces of each have the hash and the size of its row,
 * and an account's model adds up (STS-23). A few pieces are read at a time, so that no model is held in memory as a whole.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import type { StatementModelRow } from "../tables/statement.ts"
import type { Sealing } from "../engine/sealing/Sealing.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { type AccountModel, AccountProof } from "./accountProof.ts"
import { unpacked } from "../engine/sealing/packed.ts"
import { modelsAfter, piecesOf, type ReadPiece } from "../store/writes/statementWrites.ts"

/** The number of models in one page, and of pieces in one read. */
const pageOfModels = 200
const piecesAtOnce = 4

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

/** Passes the pieces of a model in order. */
const eachPiece = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  id: number,
  take: (piece: ReadPiece) => void
): Reading<void> =>
  Effect.gen(function* () {
    for (let after = -1; ;) {
      const pieces = yield* piecesOf(sql, sealing, id, { after, limit: piecesAtOnce, frames: false })
      for (const piece of pieces) take({ ...piece, content: unpacked(piece.content) })
      const last = pieces.at(-1)
      if (last === undefined || pieces.length < piecesAtOnce) return
      after = last.number
    }
  })

/** The fault of a model; null if it is unchanged. */
const judge = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  { id, clientId, sha256, size }: StatementModelRow
): Reading<string | null> =>
  Effect.gen(function* () {
    const hash = createHash("sha256")
    const frames: Array<string> = []
    let bytes = 0
    yield* eachPiece(sql, sealing, id, ({ section, content }) => {
      hash.update(content)
      bytes += Buffer.byteLength(content)
      if (section === -1) frames.push(content)
    })
    const found = hash.digest("hex")
    if (found !== sha256 || bytes !== size)
      return `model ${id} has ${bytes} bytes and the hash ${found}, but ${size} bytes and the hash ${sha256} are stored`
    const model = JSON.parse(frames.join("")) as AccountModel
    if (model.kind !== "ACCOUNT") return null
    const proof = new AccountProof(model)
    yield* eachPiece(sql, sealing, id, (piece) => proof.take(piece))
    const wrong = yield* proof.end(sql, clientId)
    return wrong === null ? null : `model ${id}: ${wrong}`
  })

/**
 * Compares every model with its hash. Neither ever changes, so this needs no snapshot; a model that is swept meanwhile is
 * skipped.
 */
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
