/**
 * Decisions of a screening import in the system mailbox: the import that a file belongs to, the entries of a piece
 * that are already on the list, and the entries that are removed at the end (F26).
 */
import { createHash } from "node:crypto"
import type { Json, JsonObject } from "../../../machines/shared/Json.ts"
import { isOlderVersion, type ListedPerson, personLine } from "../../../machines/screening/ListedPerson.ts"
import type { FileReport, WatchImportState } from "../../../machines/screening/WatchImport.ts"
import { accept, conflict, type Refusal, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { WatchEntryRow, WatchImportRow } from "../../tables/screening.ts"
import { advance, start } from "../../effects/advance.ts"

export interface ImportBody {
  readonly source: string
  readonly version: string
  readonly count: number
  readonly hash: string
  readonly report?: FileReport
}

export interface ImportView {
  readonly importId: number
  readonly source: string
  readonly version: string
  readonly status: WatchImportState
  readonly count: number
  /** Number of entries received so far, which is also the position at which the next piece starts. */
  readonly received: number
  readonly added: number
  readonly kept: number
  readonly removed: number
  readonly report: FileReport
  readonly startedAt: number
  readonly endedAt: number | null
}

export const importView = (row: WatchImportRow): ImportView => {
  const { importId, source, sourceVersion, count, received, added, kept, removed, report, startedAt, endedAt } =
    row.context
  const status = row.state
  return {
    importId,
    source,
    version: sourceVersion,
    status,
    count,
    received,
    added,
    kept,
    removed,
    report,
    startedAt,
    endedAt
  }
}

/** The running hash of a file after one more entry. It depends on the order of the entries. */
export const chainOf = (chain: string, person: ListedPerson): string =>
  createHash("sha256")
    .update(`${chain}\n${personLine(person)}`)
    .digest("hex")

export const isComing = ({ state }: WatchImportRow): boolean => state === "OPEN" || state === "REMOVING"

/** Begins an import, or returns the existing import of this file, which continues where it stopped. */
export const beginImport = (turn: Turn, request: ImportBody): Verdict<ImportView> => {
  const rows = turn.state.all("watchImports").filter(({ source }) => source === request.source)
  const coming = rows.find(isComing)
  const current = rows.find(({ state }) => state === "DONE")
  if (coming !== undefined && isSame(coming, request)) return accept(importView(coming))
  if (current !== undefined) {
    if (isOlderVersion(request.version, current.sourceVersion)) {
      return refuse(
        conflict(
          "VERSION_OLDER",
          `Version ${current.sourceVersion} of ${request.source} is current: this one is older.`
        )
      )
    }
    if (current.sourceVersion === request.version && !isSame(current, request)) {
      return refuse(
        conflict(
          "VERSION_TAKEN",
          `Version ${request.version} of ${request.source} is there with other entries: name a later version.`
        )
      )
    }
    // An unfinished import of another version may have removed entries, so the current version is imported again.
    if (isSame(current, request) && coming === undefined) return accept(importView(current))
  }
  if (coming !== undefined)
    advance(turn, "watchImports", coming, { type: "SUPERSEDE", at: turn.now, by: request.version })
  return accept(importView(newImport(turn, request)))
}

const isSame = (row: WatchImportRow, { version, count, hash }: ImportBody): boolean => {
  const context = row.context
  return row.sourceVersion === version && context.count === count && context.hash === hash
}

const newImport = (turn: Turn, { source, version, ...file }: ImportBody): WatchImportRow => {
  const importId = turn.nextId("watchImport")
  return start(turn, "watchImports", {
    input: { importId, source, sourceVersion: version, ...file, startedAt: turn.now },
    columns: { id: importId, source, sourceVersion: version, startedAt: turn.now }
  })
}

/** Adds a piece of the file to the list. `live`: the source's live entries that have a name of this piece. */
export const takeEntries = (
  turn: Turn,
  importId: number,
  offset: number,
  people: ReadonlyArray<ListedPerson>,
  live: ReadonlyArray<WatchEntryRow>
): Verdict<ImportView> => {
  const row = turn.state.get("watchImports", String(importId))
  if (row === undefined)
    return refuse(conflict("IMPORT_ENDED", "This import is not under way any more: begin it again."))
  const context = row.context
  // The whole piece was received before: its sender lost the answer and sends it again.
  if (offset + people.length <= context.received) return accept(importView(row))
  let chain = context.chain
  for (const person of people) chain = chainOf(chain, person)
  const known = Map.groupBy(live, personLine)
  const named = new Set<string>()
  let added = 0
  const fresh: Array<ListedPerson> = []
  for (const person of people) {
    const line = personLine(person)
    if (!known.has(line) && !named.has(line)) {
      fresh.push(person)
      added += 1
    }
    named.add(line)
  }
  const next = advance(turn, "watchImports", row, {
    type: "ENTRIES",
    at: turn.now,
    offset,
    added,
    kept: people.length - added,
    chain
  })
  if (next === null) {
    return refuse(
      conflict("IMPORT_OUT_OF_ORDER", `The next entry of this import is number ${context.received}.`, importFacts(row))
    )
  }
  for (const line of named) {
    for (const entry of known.get(line) ?? []) {
      if (entry.importId !== importId) turn.draft.put("watchEntries", { ...entry, importId })
    }
  }
  for (const { list, name, dob, country } of fresh) {
    const id = turn.nextId("watchEntry")
    const entry = { id, list, name, dob, country, source: row.source, addedAt: turn.now, removedAt: null, importId }
    turn.draft.put("watchEntries", entry)
  }
  return accept(importView(next))
}

/** `live`: the live entries of a source. `unnamed`: those that this import has not named and will remove. */
export interface ImportLosses {
  readonly live: number
  readonly unnamed: number
}

/** Removals that need no confirmation: up to `freeLosses` entries, or up to one entry in `freeShare` of the source. */
const freeLosses = 100
const freeShare = 5

/** Refuses large removals: a truncated file, or a file of another list, must not empty a source unnoticed. */
const shrinkRefusal = (row: WatchImportRow, { live, unnamed }: ImportLosses): Refusal | null => {
  const { received, count, added } = row.context
  const before = live - added
  if (row.state !== "OPEN" || received !== count || unnamed <= freeLosses || unnamed * freeShare <= before) return null
  return conflict(
    "IMPORT_SHRINKS",
    `${unnamed} of the ${before} entries of ${row.source} are not in version ${row.sourceVersion}: allow the shrinking if that is right.`,
    { entries: before, removed: unnamed }
  )
}

export interface Finish {
  /**
   * Live entries of the source that this import has not named, at most one more than a round removes (`atOnce`). The
   * one more shows that a further round is needed.
   */
  readonly stale: ReadonlyArray<WatchEntryRow>
  readonly atOnce: number
  /** The number of entries that the import removes, for the check of large removals. Null allows every removal. */
  readonly losses: ImportLosses | null
}

export const finishImport = (turn: Turn, importId: number, { stale, atOnce, losses }: Finish): Verdict<ImportView> => {
  const row = turn.state.get("watchImports", String(importId))
  if (row === undefined)
    return refuse(conflict("IMPORT_ENDED", "This import is not under way any more: begin it again."))
  if (row.state === "DONE") return accept(importView(row))
  const shrinks = losses === null ? null : shrinkRefusal(row, losses)
  if (shrinks !== null) return refuse(shrinks)
  const gone = stale.slice(0, atOnce)
  const last = stale.length <= atOnce
  const next = advance(turn, "watchImports", row, { type: "REMOVE", at: turn.now, removed: gone.length, last })
  if (next === null) {
    return refuse(
      conflict("IMPORT_DIFFERS", "The entries that arrived are not the ones that were announced.", importFacts(row))
    )
  }
  for (const entry of gone) turn.draft.put("watchEntries", { ...entry, removedAt: turn.now })
  if (last) {
    for (const before of turn.state.all("watchImports")) {
      if (before.state === "DONE" && before.source === row.source) {
        advance(turn, "watchImports", before, { type: "SUPERSEDE", at: turn.now, by: row.sourceVersion })
      }
    }
  }
  return accept(importView(next))
}

const importFacts = (row: WatchImportRow): JsonObject => {
  const { received, count } = row.context
  return { received, count } satisfies Readonly<Record<string, Json>>
}
