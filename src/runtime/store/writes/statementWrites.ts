/** Models of statements, written in pieces before the commit of the row that names them (STS-22). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { byteas, int8s, texts } from "../arrays.ts"
import { placeOf } from "../../engine/journal/columnValues.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import { packed } from "../../engine/sealing/packed.ts"
import type { StatementModelRow, StatementPieceRow } from "../../tables/statement.ts"
import { inTransaction } from "../transactions.ts"

type Writing<A> = Effect.Effect<A, SqlError.SqlError>

const place = placeOf("statement_pieces", "content")

/** A piece to write: its text may be given as bytes. */
type WrittenPiece = Omit<StatementPieceRow, "content"> & { readonly content: string | Uint8Array }

/**
 * Writes a piece; false, and no write, if its model has been dropped. A later piece locks the first piece until it is
 * committed, and a drop locks the first piece too. So no piece is left without a first piece, by which the sweep finds a model.
 */
export const writePiece = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  { modelId, number, partnerId, clientId, section, content, storedAt }: WrittenPiece
): Writing<boolean> =>
  Effect.suspend(() =>
    Effect.map(
      sql.unsafe(
        `INSERT INTO statement_pieces (model_id, number, partner_id, client_id, section, content, stored_at)
         SELECT $1::int8, $2::int8, $3::int8, $4::int8, $5::int8, $6::bytea, $7::int8 ${number === 0 ? "" : `FROM ${firstPiece} FOR KEY SHARE`} RETURNING number`,
        [
          BigInt(modelId),
          BigInt(number),
          BigInt(partnerId),
          BigInt(clientId),
          BigInt(section),
          sealing.seal(packed(content), place),
          BigInt(storedAt)
        ]
      ),
      ({ length }) => length === 1
    )
  )

const firstPiece = "statement_pieces WHERE model_id = $1 AND number = 0"

/** Completes a model. Returns the id of the model with its hash: another id if the same model was stored before. */
export const finishModel = (
  sql: PgClient.PgClient,
  { id, partnerId, clientId, sha256, size, pieces, counts, storedAt }: StatementModelRow
): Writing<number> =>
  Effect.gen(function* () {
    yield* sql.unsafe(
      `INSERT INTO statement_models (id, partner_id, client_id, sha256, size, pieces, counts, stored_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (sha256) DO UPDATE SET stored_at = greatest(statement_models.stored_at, EXCLUDED.stored_at)`,
      [
        BigInt(id),
        BigInt(partnerId),
        BigInt(clientId),
        sha256,
        BigInt(size),
        BigInt(pieces),
        JSON.stringify(counts),
        BigInt(storedAt)
      ]
    )
    const [row] = yield* sql.unsafe<{ readonly id: bigint }>("SELECT id FROM statement_models WHERE sha256 = $1", [
      sha256
    ])
    return Number(row?.id ?? id)
  })

/**
 * Writes many complete models at once. Returns the id of each by its hash: another id if the same model was stored before, whose
 * pieces are then kept instead.
 */
export const writeModels = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  models: ReadonlyArray<StatementModelRow>,
  pieces: ReadonlyArray<WrittenPiece>
): Writing<ReadonlyMap<string, number>> =>
  Effect.suspend(() =>
    Effect.map(
      sql.unsafe<{ readonly id: bigint; readonly sha256: string }>(
        `WITH m AS (
           INSERT INTO statement_models (id, partner_id, client_id, sha256, size, pieces, counts, stored_at)
           SELECT id, partner, client, sha256, size, pieces, counts::json, stored
             FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::text[], $5::int8[], $6::int8[], $7::text[], $8::int8[])
               AS v(id, partner, client, sha256, size, pieces, counts, stored)
           ON CONFLICT (sha256) DO UPDATE SET stored_at = greatest(statement_models.stored_at, EXCLUDED.stored_at)
           RETURNING id, sha256),
         p AS (
           INSERT INTO statement_pieces (model_id, number, partner_id, client_id, section, content, stored_at)
           SELECT v.model, v.number, v.partner, v.client, v.section, v.content, v.stored
             FROM unnest($9::int8[], $10::int8[], $11::int8[], $12::int8[], $13::int8[], $14::bytea[], $15::int8[])
               AS v(model, number, partner, client, section, content, stored)
            WHERE v.model IN (SELECT id FROM m))
         SELECT id, sha256 FROM m`,
        [
          ...[models.map(({ id }) => id), models.map((row) => row.partnerId), models.map((row) => row.clientId)].map(
            int8s
          ),
          texts(models.map(({ sha256 }) => sha256)),
          int8s(models.map(({ size }) => size)),
          int8s(models.map((row) => row.pieces)),
          texts(models.map(({ counts }) => JSON.stringify(counts))),
          int8s(models.map(({ storedAt }) => storedAt)),
          int8s(pieces.map(({ modelId }) => modelId)),
          int8s(pieces.map(({ number }) => number)),
          int8s(pieces.map(({ partnerId }) => partnerId)),
          int8s(pieces.map(({ clientId }) => clientId)),
          int8s(pieces.map(({ section }) => section)),
          byteas(pieces.map(({ content }) => sealing.seal(packed(content), place))),
          int8s(pieces.map(({ storedAt }) => storedAt))
        ]
      ),
      (rows) => new Map(rows.map(({ id, sha256 }) => [sha256, Number(id)]))
    )
  )

/** Removes the pieces of a model that was not completed; waits for a piece that is being written. */
export const dropPieces = (sql: PgClient.PgClient, modelId: number): Writing<void> =>
  Effect.asVoid(
    inTransaction(
      sql,
      Effect.andThen(
        sql.unsafe(`SELECT FROM ${firstPiece} FOR UPDATE`, [BigInt(modelId)]),
        sql.unsafe(
          `DELETE FROM statement_pieces p WHERE p.model_id = $1
             AND NOT EXISTS (SELECT 1 FROM statement_models m WHERE m.id = p.model_id)`,
          [BigInt(modelId)]
        )
      )
    )
  )

const modelColumns = "id, partner_id, client_id, sha256, size, pieces, counts, stored_at"

interface RawModel {
  readonly id: bigint
  readonly partner_id: bigint
  readonly client_id: bigint
  readonly sha256: string
  readonly size: bigint
  readonly pieces: bigint
  readonly counts: ReadonlyArray<number>
  readonly stored_at: bigint
}

const modelRow = (row: RawModel): StatementModelRow => ({
  id: Number(row.id),
  partnerId: Number(row.partner_id),
  clientId: Number(row.client_id),
  sha256: row.sha256,
  size: Number(row.size),
  pieces: Number(row.pieces),
  counts: row.counts,
  storedAt: Number(row.stored_at)
})

export const modelOf = (sql: PgClient.PgClient, modelId: number): Writing<StatementModelRow | null> =>
  Effect.map(
    sql.unsafe<RawModel>(`SELECT ${modelColumns} FROM statement_models WHERE id = $1`, [BigInt(modelId)]),
    ([row]) => (row === undefined ? null : modelRow(row))
  )

/** Models with an id above `after`, in the order of their ids, at most `limit`. */
export const modelsAfter = (
  sql: PgClient.PgClient,
  after: number,
  limit: number
): Writing<ReadonlyArray<StatementModelRow>> =>
  Effect.map(
    sql.unsafe<RawModel>(`SELECT ${modelColumns} FROM statement_models WHERE id > $1 ORDER BY id LIMIT $2`, [
      BigInt(after),
      BigInt(limit)
    ]),
    (rows) => rows.map(modelRow)
  )

/** A piece as it is read: its text, or its bytes in the packed form of packed.ts. */
export interface ReadPiece<Content = string> {
  readonly number: number
  readonly section: number
  readonly content: Content
}

/** At most `limit` pieces of a model with numbers above `after`, by number; `frames`: only those that hold no statement rows. */
export const piecesOf = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  modelId: number,
  { after, limit, frames }: { readonly after: number; readonly limit: number; readonly frames: boolean }
): Writing<ReadonlyArray<ReadPiece<Buffer>>> =>
  Effect.map(
    sql.unsafe<{ readonly number: bigint; readonly section: bigint; readonly content: Uint8Array }>(
      `SELECT number, section, content FROM statement_pieces
        WHERE model_id = $1 AND number > $2 ${frames ? "AND section = -1" : ""} ORDER BY number LIMIT $3`,
      [BigInt(modelId), BigInt(after), BigInt(limit)]
    ),
    (rows) =>
      rows.map(({ number, section, content }) => ({
        number: Number(number),
        section: Number(section),
        content: sealing.openBytes(content, place)
      }))
  )

/** The position up to which a sweep has scanned. Rows are scanned in the order of `storedAt` (wall clock, Unix ms). */
export interface SweptTo {
  readonly storedAt: number
  readonly id: number
}

/** The tables that a sweep scans, with the condition of an abandoned row. */
const swept = {
  models: {
    page: "SELECT id, stored_at FROM statement_models WHERE true",
    gone: `DELETE FROM statement_models m USING page WHERE m.id = page.id
              AND NOT EXISTS (SELECT 1 FROM statements s WHERE s.model_id = m.id) RETURNING m.id`
  },
  pieces: {
    page: "SELECT * FROM (SELECT model_id AS id, stored_at FROM statement_pieces WHERE number = 0) first WHERE true",
    gone: "SELECT id FROM page WHERE NOT EXISTS (SELECT 1 FROM statement_models m WHERE m.id = page.id)"
  }
} as const

/**
 * Removes abandoned rows among the next `limit` rows stored before `before`: models that no statement names, or pieces of
 * incomplete models. `last`: the end of this range; null if it was empty. One range at a time, because the tables are as large
 * as all statements.
 */
export const sweepStretch = (
  sql: PgClient.PgClient,
  what: keyof typeof swept,
  { after, before, limit }: { readonly after: SweptTo; readonly before: number; readonly limit: number }
): Writing<{ readonly gone: number; readonly last: SweptTo | null }> =>
  Effect.map(
    sql.unsafe<{ readonly stored_at: bigint; readonly id: bigint; readonly gone: bigint }>(
      `WITH page AS (
         ${swept[what].page} AND stored_at >= $1 AND stored_at < $3 AND (stored_at > $1 OR id > $2)
         ORDER BY stored_at, id LIMIT $4),
       gone AS (${swept[what].gone}),
       dropped AS (DELETE FROM statement_pieces p USING gone WHERE p.model_id = gone.id)
       SELECT stored_at, id, (SELECT count(*) FROM gone) AS gone FROM page ORDER BY stored_at DESC, id DESC LIMIT 1`,
      [BigInt(after.storedAt), BigInt(after.id), BigInt(before), BigInt(limit)]
    ),
    ([row]) => ({
      gone: Number(row?.gone ?? 0),
      last: row === undefined ? null : { storedAt: Number(row.stored_at), id: Number(row.id) }
    })
  )
