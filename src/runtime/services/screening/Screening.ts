/**
 * The watch list in memory: filled from the stored entries at start, kept current by committed ones (F26). Screening
 * is a synchronous read of it; the run and its candidates are stored by whoever asked. Nothing is screened before the
 * whole list is in: this layer stands before the listener, so a start that can't read it answers nobody, and
 * SCREENING_UNAVAILABLE (D1, failure) is for a screening that lives elsewhere.
 */
import { Context, Effect, Layer } from "effect"
import { sandboxPerson } from "../../../machines/sandbox/sandboxNames.ts"
import {
  findAll,
  findUnderNames,
  type Found,
  makeScreener,
  type ScreenedPerson,
  type Screener
} from "../../../machines/screening/screen.ts"
import type { WatchEntry } from "../../../machines/screening/WatchList.ts"
import { ActorHost, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { breathe } from "../../engine/breathe.ts"
import type { WatchEntryRow, WatchImportRow } from "../../tables/screening.ts"
import { Settings } from "../../Settings.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { subscribe } from "../../subscriptions.ts"

/** What a run is stored with: which lists it saw. */
export interface ListVersions {
  /** Time of the last change of any entry, Unix ms (0 while there is none). */
  readonly listVersion: number
  /** The current version of each imported source; while one is coming in, both are named. */
  readonly listVersions: Readonly<Record<string, string>>
}

export class Screening extends Context.Service<
  Screening,
  {
    /** Every entry at or over a threshold, and a name that can't be compared. `resultOf` makes the outcome of it. */
    readonly find: (person: ScreenedPerson) => ReadonlyArray<Found>
    readonly lists: () => ListVersions
    readonly size: () => number
    /** `find` among these entries alone. */
    readonly among: (entries: ReadonlyArray<WatchEntryRow>) => (person: ScreenedPerson) => ReturnType<typeof findAll>
  }
>()("brokerage/runtime/services/screening/Screening") {
  static readonly layer = Layer.effect(
    Screening,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const stored = yield* RowReads
      const { sandbox } = yield* Settings
      let listVersion = 0
      const note = (row: WatchEntryRow): void => {
        listVersion = Math.max(listVersion, row.removedAt ?? row.addedAt)
      }
      const screener = makeScreener([])
      const follow = (row: WatchEntryRow): void => {
        if (row.removedAt === null) screener.add(entryOf(row))
        else screener.remove(row.id)
        note(row)
      }
      // What is committed while the stored entries come in is newer than what the pages say of it.
      const committed = new Set<number>()
      let isLoading = true
      const sources = new Sources(yield* Effect.orDie(stored.all("watchImports")))
      subscribe(host, "Screening", {
        watchEntries: (row) => {
          if (isLoading) committed.add(row.id)
          follow(row)
        },
        watchImports: (row) => sources.follow(row)
      })
      yield* Effect.orDie(storedEntries(stored, (row) => (committed.has(row.id) ? undefined : follow(row))))
      isLoading = false
      committed.clear()
      // A published name meets its entry by the last name alone, every other entry under the name as it was sent.
      const findIn = (entries: Screener, person: ScreenedPerson) => {
        const published = sandbox ? sandboxPerson(person) : person
        return published === person ? findAll(entries, person) : findUnderNames(entries, [person, published])
      }
      return Screening.of({
        find: (person) => findIn(screener, person),
        among: (rows) => {
          const few = makeScreener(rows.map(entryOf))
          return (person) => findIn(few, person)
        },
        lists: () => ({ listVersion, listVersions: sources.versions }),
        size: () => screener.size
      })
    })
  )
}

/** Entries read at once: a megabyte or two, and read in time on a busy machine. */
const pageSize = 5_000

/** Entries indexed at a stretch: some milliseconds, then whoever else waits for this thread has its turn. */
const pieceSize = 500

/** Passes on all entries ever stored, page by page: beside the index only one page of rows is in memory. */
const storedEntries = (
  stored: RowReads["Service"],
  pass: (row: WatchEntryRow) => void
): Effect.Effect<void, Unavailable> =>
  Effect.gen(function* () {
    for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null;) {
      const rows: ReadonlyArray<WatchEntryRow> = yield* stored.page("watchEntries", [], { limit: pageSize, before })
      for (let from = 0; from < rows.length; from += pieceSize) {
        for (const row of rows.slice(from, from + pieceSize)) pass(row)
        yield* breathe
      }
      before = rows.length < pageSize ? null : (rows.at(-1)?.id ?? null)
    }
  })

/** Versions by source, worked out when an import moves and shared by all runs until the next one does. */
class Sources {
  #current = new Map<string, string>()
  #coming = new Map<string, string>()
  versions: Readonly<Record<string, string>> = {}

  constructor(rows: ReadonlyArray<WatchImportRow>) {
    for (const row of rows.toSorted((a, b) => a.id - b.id)) this.#note(row)
    this.#work()
  }

  follow(row: WatchImportRow): void {
    this.#note(row)
    this.#work()
  }

  #note({ source, sourceVersion, state }: WatchImportRow): void {
    if (state === "DONE") this.#current.set(source, sourceVersion)
    if (state === "OPEN" || state === "REMOVING") this.#coming.set(source, sourceVersion)
    else if (state !== "REPLACED") this.#coming.delete(source)
  }

  #work(): void {
    const named = [...new Set([...this.#current.keys(), ...this.#coming.keys()])].toSorted().map((source) => {
      const coming = this.#coming.get(source)
      const parts = [this.#current.get(source), ...(coming === undefined ? [] : [`importing ${coming}`])]
      return [source, parts.filter((part) => part !== undefined).join(", ")] as const
    })
    this.versions = Object.fromEntries(named)
  }
}

const entryOf = (row: WatchEntryRow): WatchEntry => ({
  entryId: row.id,
  list: row.list,
  name: row.name,
  dob: row.dob,
  country: row.country,
  source: row.source
})
