/**
 * The entries of the watch list behind candidates, for the officer who compares the client with them (operator surface,
 * case show and kyc show; F26). Entries are never deleted, so those of an old screening are there as well.
 */
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import { catalogue } from "../../store/Catalogue.ts"
import type { WatchEntryRow } from "../../store/tables/screening.ts"
import { whenAway } from "../../store/whenAway.ts"

export interface CandidateEntry {
  readonly entryId: number
  readonly list: WatchEntryRow["list"]
  readonly name: string
  readonly dob: string | null
  readonly country: string | null
  readonly source: string
  readonly removedAt: number | null
}

/** The entries with these ids, by id. */
export const candidateEntries = (
  sql: PgClient.PgClient,
  sealing: Sealing,
  entryIds: Iterable<number>
): Effect.Effect<ReadonlyArray<CandidateEntry>, Unavailable> => {
  const ids = [...new Set(entryIds)].map(BigInt)
  if (ids.length === 0) return Effect.succeed([])
  return sql
    .unsafe<Record<string, unknown>>(
      `SELECT ${columnList(catalogue.watchEntries)} FROM watch_entries WHERE id = ANY($1::int8[]) ORDER BY id`,
      [Result.getOrThrow(PgTypes.array(ids, PgTypes.OID.int8))]
    )
    .pipe(
      Effect.map((rows) =>
        rows.map((raw) => entryOf(decodeRow(catalogue.watchEntries, raw, sealing) as WatchEntryRow))
      ),
      Effect.catch(whenAway)
    )
}

const entryOf = ({ id, list, name, dob, country, source, removedAt }: WatchEntryRow): CandidateEntry => ({
  entryId: id,
  list,
  name,
  dob,
  country,
  source,
  removedAt
})
