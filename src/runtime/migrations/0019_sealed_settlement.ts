/**
 * Payments between the firms and changes of custody models join the chain of seals (engine/seal; A3-45): the summary and
 * the proofs of the books rest on them. What was written before is sealed as it stands, by a seal of its own.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { nothingSecret, sealGenesis, sealRows } from "../engine/sealing/seal.ts"
import { columnList, decodeRow } from "../engine/journal/SubjectLoader.ts"
import { catalogue } from "../store/Catalogue.ts"
import type { TableSpec } from "../store/Table.ts"
import type { CustodyChangeRow } from "../store/tables/partner.ts"
import type { SealRow } from "../store/tables/engine.ts"
import type { InterfirmRow } from "../store/tables/settlement.ts"

export const m0019 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE seals
    ADD COLUMN interfirm_to bigint NOT NULL DEFAULT 0,
    ADD COLUMN custody_to bigint NOT NULL DEFAULT 0`
  // The columns of a sealed table never change, so the list of today is that of then.
  const rowsOf = (spec: TableSpec): Effect.Effect<ReadonlyArray<object>, unknown> =>
    Effect.map(
      sql.unsafe<Record<string, unknown>>(`SELECT ${columnList(spec)} FROM ${spec.sqlName} ORDER BY id`),
      (found) => found.map((raw) => decodeRow(spec, raw, nothingSecret))
    )
  const interfirmRecords = (yield* rowsOf(catalogue.interfirmRecords)) as ReadonlyArray<InterfirmRow>
  const custodyChanges = (yield* rowsOf(catalogue.custodyChanges)) as ReadonlyArray<CustodyChangeRow>
  const before = yield* lastSeal
  const seal = sealRows(before, { interfirmRecords, custodyChanges })
  if (seal === before) return
  const numbers = [
    seal.number,
    seal.auditTo,
    seal.decisionTo,
    seal.transactionTo,
    seal.postingTo,
    seal.interfirmTo,
    seal.custodyTo
  ].map(BigInt)
  yield* sql.unsafe(
    `INSERT INTO seals (hash, number, audit_to, decision_to, transaction_to, posting_to, interfirm_to, custody_to)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [seal.hash, ...numbers]
  )
})

const lastSeal = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [last] = yield* sql.unsafe<Readonly<Record<string, unknown>>>(
    "SELECT number, hash, audit_to, decision_to, transaction_to, posting_to FROM seals ORDER BY number DESC LIMIT 1"
  )
  if (last === undefined) return sealGenesis
  return {
    ...sealGenesis,
    number: Number(last["number"]),
    hash: String(last["hash"]),
    auditTo: Number(last["audit_to"]),
    decisionTo: Number(last["decision_to"]),
    transactionTo: Number(last["transaction_to"]),
    postingTo: Number(last["posting_to"])
  } satisfies SealRow
})
