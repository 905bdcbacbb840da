/**
 * The watch-list entries behind candidates, for the officer who compares the client with them (operator surface, case
 * show and kyc show). Entries are never deleted, so those of an old screening are available as well (F26).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import { entriesWithIds } from "../../store/reads/screeningReads.ts"
import type { WatchEntryRow } from "../../tables/screening.ts"
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
  const ids = [...new Set(entryIds)]
  if (ids.length === 0) return Effect.succeed([])
  return entriesWithIds(sql, sealing, ids).pipe(
    Effect.map((rows) => rows.map(entryOf)),
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
