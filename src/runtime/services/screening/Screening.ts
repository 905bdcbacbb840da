/**
 * The watch list in memory: filled from the stored entries at start, kept current by committed ones. Screening is a
 * synchronous read of it; the caller stores the run and its candidates. The whole list is loaded before the first
 * screening: this layer comes before the listener, so a service that can't read it does not start serving.
 * SCREENING_UNAVAILABLE is reserved for a remote screening (F26, D1).
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
import { yieldToEventLoop } from "../../engine/yieldToEventLoop.ts"
import type { WatchEntryRow, WatchImportRow } from "../../tables/screening.ts"
import { Settings } from "../../Settings.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { subscribe } from "../../subscriptions.ts"

/** The versions of the lists that a run has used; stored with it. */
export interface ListVersions {
  /** Time of the last change of any entry, Unix ms (0: there is no entry yet). */
  readonly listVersion: number
  /** The current version of each imported source; during an import, both versions. */
  readonly listVersions: Readonly<Record<string, string>>
}

export class Screening extends Context.Service<
  Screening,
  {
    /** Every entry at or above a threshold, and a name that can't be compared. `resultOf` derives the outcome. */
    readonly find: (person: ScreenedPerson) => ReadonlyArray<Found>
    readonly lists: () => ListVersions
    readonly size: () => number
    /** `find` restricted to these entries. */
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
      // An entry committed while the stored entries load is newer than the page that holds it.
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
      // A published sandbox name meets its entry by the last name alone; all other entries are compared with the name
      // as sent.
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

/** Entries per page: a megabyte or two, which a busy machine still reads in time. */
const pageSize = 5_000

/** Entries indexed in one step: some milliseconds, then the event loop runs other work. */
const pieceSize = 500

/** Passes on all entries ever stored, page by page: memory holds the index and one page of rows. */
const storedEntries = (
  stored: RowReads["Service"],
  pass: (row: WatchEntryRow) => void
): Effect.Effect<void, Unavailable> =>
  Effect.gen(function* () {
    for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null;) {
      const rows: ReadonlyArray<WatchEntryRow> = yield* stored.page("watchEntries", [], { limit: pageSize, before })
      for (let from = 0; from < rows.length; from += pieceSize) {
        for (const row of rows.slice(from, from + pieceSize)) pass(row)
        yield* yieldToEventLoop
      }
      before = rows.length < pageSize ? null : (rows.at(-1)?.id ?? null)
    }
  })

/** Versions by source, computed when an import moves and shared by all runs until the next one moves. */
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
