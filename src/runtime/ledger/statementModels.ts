/**
 * That the models of statements still say what they said (STS-17, STS-22): the text in the pieces of each has the hash and the size
 * that it is kept under, and what it says of an account adds up (STS-23). Read a few pieces at a time, so that no model is ever held
 * as a whole.
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

/** Models named at a time, and pieces of one read at a time. */
const pageOfModels = 200
const piecesAtOnce = 4

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

/** Takes the pieces of a model in their order. */
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

/** What is wrong with a model; null: it is as it was. */
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
      return `model ${id} is ${bytes} bytes with the hash ${found}, kept as ${size} with ${sha256}`
    const model = JSON.parse(frames.join("")) as AccountModel
    if (model.kind !== "ACCOUNT") return null
    const proof = new AccountProof(model)
    yield* eachPiece(sql, sealing, id, (piece) => proof.take(piece))
    const wrong = yield* proof.end(sql, clientId)
    return wrong === null ? null : `model ${id}: ${wrong}`
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
