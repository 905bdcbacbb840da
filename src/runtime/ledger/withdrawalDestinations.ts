/**
 * That a withdrawal request still shows the destination it was filed with (doc 3, Withdrawal request; D10). A sealed
 * value is bound to its column, not to its row, so one request's destination could be put into another's. A keyed
 * fingerprint over id and destination, kept in the request and in the audit row of its filing, shows.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { JsonObject } from "../../machines/Effects.ts"
import { filedDestination } from "../../machines/withdrawal/WithdrawalRequest.ts"
import type { Sealing } from "../engine/sealing/Sealing.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { columnList, decodeRow } from "../engine/journal/SubjectLoader.ts"
import { catalogue } from "../store/Catalogue.ts"
import type { TableSpec } from "../store/Table.ts"
import type { WithdrawalRow } from "../store/tables/withdrawal.ts"

/** Only the one who holds the key can make it, and it shows nothing of the destination. None at all has one too. */
export const destinationFingerprint = (
  { fingerprint }: Pick<Sealing, "fingerprint">,
  requestId: number,
  destination: JsonObject | null
): string => fingerprint(`withdrawal:${requestId}:${JSON.stringify(destination)}`)

/** False, too, for a request that has no fingerprint: then nobody can say where it was to be paid. */
export const showsFiledDestination = (sealing: Pick<Sealing, "fingerprint">, row: WithdrawalRow): boolean =>
  row.context.destinationFingerprint === destinationFingerprint(sealing, row.id, row.destination)

/** Requests opened and compared at a time: a few milliseconds, in which the service does nothing else. */
const pageOfRequests = 200

const requestPage = (spec: TableSpec): string => `WITH page AS MATERIALIZED (
    SELECT ${columnList(spec)} FROM withdrawal_requests WHERE id > $1 ORDER BY id LIMIT ${pageOfRequests})
  SELECT page.*, filed.reason AS filed
    FROM page LEFT JOIN LATERAL (
      SELECT reason FROM audit WHERE object = 'withdrawalRequest:' || page.id AND action = 'withdrawal.request'
       ORDER BY id LIMIT 1) filed ON true ORDER BY page.id`

/** A row as it may be in the database: one that does not open is a break, not a failure. */
const decoded = (sealing: Sealing, raw: Readonly<Record<string, unknown>>): WithdrawalRow | null => {
  try {
    return decodeRow(catalogue.withdrawalRequests as TableSpec, raw, sealing) as WithdrawalRow
  } catch {
    return null
  }
}

const judge = (sealing: Sealing, raw: Readonly<Record<string, unknown>>): string | null => {
  const row = decoded(sealing, raw)
  if (row === null) return `request ${raw["id"]} can't be read`
  const { destinationFingerprint: kept } = row.context
  // The audit is sealed: what it says of the filing stands.
  const filed = raw["filed"] ?? null
  if (kept === null) return filed === null ? null : `request ${row.id} has lost the fingerprint it was filed with`
  if (filed !== filedDestination(kept)) return `request ${row.id} shows another fingerprint than its filing`
  return showsFiledDestination(sealing, row)
    ? null
    : `request ${row.id} shows another destination than it was filed with`
}

/**
 * Compares every request with its fingerprint and the audit. None of the three ever changes, so this needs no snapshot.
 * Requests of before the fingerprints have none in both places, and nothing to be compared with.
 */
export const checkDestinations = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const sealing = yield* SealingService
  const text = requestPage(catalogue.withdrawalRequests as TableSpec)
  let after = 0n
  let compared = 0
  while (true) {
    const page = yield* sql.unsafe<Readonly<Record<string, unknown>>>(text, [after])
    for (const raw of page) {
      const detail = judge(sealing, raw)
      if (detail !== null) return { compared, detail }
      compared++
    }
    if (page.length < pageOfRequests) return { compared, detail: null }
    after = BigInt(page.at(-1)?.["id"] as bigint)
  }
})
