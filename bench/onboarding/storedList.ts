/** A published watch list in the service's own table, as after an import; the next start loads it. */
import { onDatabase } from "../reference/database.ts"
import { markScreened } from "../markScreened.ts"
import { makeEntries } from "../screening/lists.ts"

const seed = 20_260_101
/** The first entry id, far above the ids of the service. */
const firstEntryId = 1_000_000_000
const atOnce = 20_000

export const storeWatchList = (databaseUrl: string, count: number): Promise<void> =>
  onDatabase(databaseUrl, async (client) => {
    const entries = makeEntries(count, seed, firstEntryId)
    for (let from = 0; from < entries.length; from += atOnce) {
      const rows = entries.slice(from, from + atOnce)
      await client.query(
        `INSERT INTO watch_entries (id, list, name, dob, country, source, added_at)
         SELECT id, list, name, dob, country, 'bench-1', $6
           FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) AS e(id, list, name, dob, country)`,
        [
          rows.map((entry) => entry.entryId),
          rows.map((entry) => entry.list),
          rows.map((entry) => entry.name),
          rows.map((entry) => entry.dob),
          rows.map((entry) => entry.country),
          Date.now()
        ]
      )
    }
    await markScreened(client)
    await client.query("ANALYZE watch_entries")
  })
