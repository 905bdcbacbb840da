/**
 * Documents of clients: their facts and, apart, their sealed contents (doc 1, Document; A1-37, A1-38). Encrypted bytes
 * don't compress, so the server is told not to try.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0009 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf("document")} AS bigint INCREMENT BY ${idBlockSize("document")} START 1`
  )
  yield* sql`CREATE TABLE documents (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    shard bigint NOT NULL,
    type text NOT NULL,
    purpose text NOT NULL,
    side text,
    filename bytea NOT NULL,
    mime_type text NOT NULL,
    size_bytes bigint NOT NULL,
    source text NOT NULL,
    uploaded_at bigint NOT NULL,
    deleted_at bigint)`
  yield* sql`CREATE INDEX documents_client ON documents (client_id, id DESC)`
  yield* sql`CREATE TABLE document_contents (
    document_id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    stored_at bigint NOT NULL,
    content bytea NOT NULL)`
  yield* sql`ALTER TABLE document_contents ALTER COLUMN content SET STORAGE EXTERNAL`
  yield* sql`CREATE INDEX document_contents_stored ON document_contents (stored_at)`
})
