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
    /**
     * All entries with a score at or above their threshold. A name that can't be compared is a result too. `resultOf`
     * derives the outcome.
     */
    readonly find: (person: ScreenedPerson) => ReadonlyArray<Found>
    readonly lists: () => ListVersions
    readonly size: () => number
    /** Like `find`, restricted to these entries. */
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
      // An entry committed during the load of the stored entries is newer than the page that holds it.
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
      // A published sandbox name matches its entry by the last name alone. All other entries are compared with the name
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

/** Entries per page: one or two megabytes, which even a busy machine reads within the statement timeout. */
const pageSize = 5_000

/** Entries indexed in one step of some milliseconds, after which the event loop runs other work. */
const pieceSize = 500

/** Passes all entries ever stored to `pass`, page by page. Memory holds the index and one page of rows. */
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

/** Versions by source. They are computed once per change of an import, and all runs in between share the result. */
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
