/**
 * The watch list in memory: filled from the stored entries at start, kept current by committed ones (F26). Screening
 * is a synchronous read of it; the run and its candidates are stored by whoever asked.
 */
import { Context, Effect, Layer } from "effect"
import { makeScreener, screen, type ScreenedPerson, type ScreeningResult } from "../../machines/screening/screen.ts"
import type { WatchEntry } from "../../machines/screening/WatchList.ts"
import { ActorHost } from "../engine/ActorHost.ts"
import type { WatchEntryRow } from "../store/Rows.ts"
import { RowReads } from "./RowReads.ts"

export class Screening extends Context.Service<
  Screening,
  {
    /** `dispositions`: entries compliance has marked FALSE_POSITIVE for this client. */
    readonly screen: (person: ScreenedPerson, dispositions: ReadonlySet<number>) => ScreeningResult
    /** Version of the list a run is stored with: the time of its last change, Unix ms (0 while empty). */
    readonly version: () => number
    readonly size: () => number
  }
>()("brokerage/runtime/services/Screening") {
  static readonly layer = Layer.effect(
    Screening,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const stored = yield* RowReads
      const entries = yield* Effect.orDie(stored.all("watchEntries"))
      const rows = entries.filter((row) => row.removedAt === null)
      const screener = makeScreener(rows.map(entryOf))
      let version = rows.reduce((latest, row) => Math.max(latest, row.addedAt), 0)
      host.onCommitted("watchEntries", (row) => {
        if (row.removedAt === null) screener.add(entryOf(row))
        else screener.remove(row.id)
        version = Math.max(version, row.removedAt ?? row.addedAt)
      })
      return Screening.of({
        screen: (person, dispositions) => screen(screener, person, dispositions),
        version: () => version,
        size: () => screener.size
      })
    })
  )
}

const entryOf = (row: WatchEntryRow): WatchEntry => ({
  entryId: row.id,
  list: row.list,
  name: row.name,
  dob: row.dob,
  country: row.country,
  source: row.source
})
