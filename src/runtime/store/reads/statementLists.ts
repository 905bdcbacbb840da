/** Database queries for the generation of statements, other than their content (A2-72, A2-75, STS-26). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { placeOf } from "../../engine/journal/columnValues.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"

type Reading<A> = Effect.Effect<A, SqlError.SqlError>

/** The times after a moment (Unix ms) at which statements of a client were generated on request. */
export const buildsSince = (sql: PgClient.PgClient, clientId: number, since: number): Reading<ReadonlyArray<number>> =>
  Effect.map(
    sql.unsafe<{ readonly at: bigint }>(
      `SELECT generated_at AS at FROM statements
        WHERE client_id = $1 AND generated_at > $2 AND context->>'generatedBy' <> 'SYSTEM' ORDER BY id DESC LIMIT 30`,
      [BigInt(clientId), BigInt(since)]
    ),
    (rows) => rows.map(({ at }) => Number(at))
  )

interface Residencies {
  readonly taxResidency?: { readonly tax_residencies?: ReadonlyArray<{ readonly country?: string }> }
}

/** The most revisions that are searched for the one with the tax residence; a revision holds only the submitted fields. */
const revisionsRead = 100

/** The countries of tax residence in the KYC data accepted at a moment (Unix ms); empty if none was accepted yet (A2-72). */
export const taxResidenciesAt = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  clientId: number,
  moment: number
): Reading<ReadonlyArray<string>> =>
  Effect.map(
    sql.unsafe<{ readonly payload: Uint8Array }>(
      `WITH package AS (SELECT id FROM kyc_packages WHERE client_id = $1),
            written AS (SELECT a.id, a.ts, a.after FROM audit a, package p
                         WHERE a.object = 'kycPackage:' || p.id AND a.action LIKE 'kyc.%' AND a.ts <= $2),
            accepted AS (SELECT max(id) AS id FROM written WHERE after = 'ACCEPTED'),
            -- A revision that arrived with the step that ended the acceptance was not accepted.
            ended AS (SELECT min(w.ts) AS ts FROM written w, accepted a WHERE w.id > a.id)
       SELECT r.payload FROM package p JOIN kyc_revisions r ON r.package_id = p.id, accepted a, ended e
        WHERE a.id IS NOT NULL AND r.received_at <= $2 AND (e.ts IS NULL OR r.received_at < e.ts)
        ORDER BY r.revision DESC LIMIT $3`,
      [BigInt(clientId), BigInt(moment), BigInt(revisionsRead)]
    ),
    (rows) => {
      for (const { payload } of rows) {
        const text = sealing.open(payload, placeOf("kyc_revisions", "payload"))
        const list = (JSON.parse(text) as Residencies).taxResidency?.tax_residencies
        if (list !== undefined) return list.flatMap(({ country }) => (country === undefined ? [] : [country]))
      }
      return []
    }
  )

/** The hash of the ledger's seal with this number; null if there is none. */
export const sealNumbered = (sql: PgClient.PgClient, number: number): Reading<string | null> =>
  Effect.map(
    sql.unsafe<{ readonly hash: string }>("SELECT hash FROM seals WHERE number = $1", [BigInt(number)]),
    ([row]) => row?.hash ?? null
  )
