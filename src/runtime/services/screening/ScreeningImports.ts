/**
 * Published lists of sanctions and politically exposed persons, version by version. A file of any length comes in
 * pieces of at most a thousand entries, each one request and one commit:
 *
 * - `begin` announces source, version, number of entries and their hash. For the same file it returns the existing
 *   import with the number of entries received so far. So a crash or a lost reply on either side costs at most one
 *   piece;
 * - `entries` takes the piece at an offset, and acknowledges a piece that it already has without writing. New entries
 *   count at once. Entries that are already on the list keep their ids, and with them the findings of compliance;
 * - `finish` removes the entries that the version did not name, a thousand at a time, and only after all announced
 *   entries have arrived. An aborted import never removes an entry. The client repeats it until the import is DONE. It
 *   refuses if more than a hundred entries and more than a fifth of the source would go, unless the caller allows that.
 *
 * Entries of other sources and those that operators added are never touched (F26).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import {
  cleanPerson,
  type ListedPerson,
  personErrors,
  type RawPerson
} from "../../../machines/screening/ListedPerson.ts"
import type { FileReport } from "../../../machines/screening/WatchImport.ts"
import { invalidFields, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../machines/shared/Text.ts"
import { ActorHost, type DispatchError, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { SealingService } from "../../engine/sealing/SealingService.ts"
import { countNamedBefore, entriesBySource, namedBefore, namesakes } from "../../store/reads/screeningReads.ts"
import type { WatchEntryRow } from "../../tables/screening.ts"
import {
  beginImport,
  finishImport,
  type ImportBody,
  importView,
  type ImportView,
  isComing,
  takeEntries
} from "./importDecisions.ts"
import { type OperatorCaller, systemSubject } from "../shared/OperatorCaller.ts"
import { readThenDecide } from "../shared/readThenDecide.ts"
import { whenAway } from "../../store/whenAway.ts"

/** Entries per piece and per removal: a quarter of a commit's limit, a few milliseconds of the writer. */
export const importPiece = 1_000

export interface SourceView {
  readonly source: string
  /** Null during the first import, and for entries that operators added by hand. */
  readonly version: string | null
  /** The number of live entries of the source. */
  readonly entries: number
  readonly importedAt: number | null
  /** The entries of the current version's file that are not on the list. Null: there is no current version. */
  readonly report: FileReport | null
  /** The version that is being imported; null if there is no running import. */
  readonly importing: ImportView | null
}

export class ScreeningImports extends Context.Service<
  ScreeningImports,
  {
    begin(caller: OperatorCaller, request: ImportBody): Effect.Effect<Verdict<ImportView>, DispatchError>
    entries(
      caller: OperatorCaller,
      importId: number,
      offset: number,
      entries: ReadonlyArray<RawPerson>
    ): Effect.Effect<Verdict<ImportView>, DispatchError>
    /**
     * Removes a limited number of the entries that the new version lacks: repeat the call until the reply is DONE. Without
     * `allowShrink` it is refused if more than 100 entries, and more than a fifth of the source, would be removed.
     */
    finish(
      caller: OperatorCaller,
      importId: number,
      allowShrink: boolean
    ): Effect.Effect<Verdict<ImportView>, DispatchError>
    /** Every source with its current version, by name. */
    readonly sources: Effect.Effect<ReadonlyArray<SourceView>, Unavailable>
  }
>()("brokerage/runtime/services/screening/ScreeningImports") {
  static readonly layer = Layer.effect(
    ScreeningImports,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService

      const none: Effect.Effect<ReadonlyArray<WatchEntryRow>> = Effect.succeed([])

      return ScreeningImports.of({
        begin: (caller, request) =>
          host.dispatch({
            subject: systemSubject,
            by: caller.by,
            decide: (turn) => beginImport(turn, cleanRequest(request))
          }),
        entries: (caller, importId, offset, entries) => {
          const checked = checkedPeople(entries)
          if (!checked.ok) return Effect.succeed(checked)
          const people = checked.value
          return readThenDecide(host, {
            subject: systemSubject,
            by: caller.by,
            read: (state) => {
              const row = state.get("watchImports", String(importId))
              const names = [...new Set(people.map(({ name }) => name))]
              return row === undefined ? none : Effect.catch(namesakes(sql, sealing, row.source, names), whenAway)
            },
            decide: (turn, live) => takeEntries(turn, importId, offset, people, live)
          })
        },
        finish: (caller, importId, allowShrink) =>
          readThenDecide(host, {
            subject: systemSubject,
            by: caller.by,
            read: (state) =>
              Effect.gen(function* () {
                const row = state.get("watchImports", String(importId))
                if (row === undefined) return { stale: [], losses: null }
                // Import ids grow: an entry whose last import has a smaller id is missing from this version.
                const stale = yield* namedBefore(sql, sealing, row.source, importId, importPiece + 1)
                const isLimited = row.state === "OPEN" && !allowShrink
                return { stale, losses: isLimited ? yield* countNamedBefore(sql, row.source, importId) : null }
              }).pipe(Effect.catchTag("SqlError", whenAway)),
            decide: (turn, { stale, losses }) => finishImport(turn, importId, { stale, atOnce: importPiece, losses })
          }),
        sources: Effect.gen(function* () {
          const rows = yield* host.read(systemSubject, (state) => state.all("watchImports"))
          const entries = yield* Effect.catch(entriesBySource(sql), whenAway)
          const names = [...new Set([...entries.keys(), ...rows.map(({ source }) => source)])].toSorted()
          return names.map((source): SourceView => {
            const own = rows.filter((row) => row.source === source)
            const current = own.find(({ state }) => state === "DONE")
            const coming = own.find(isComing)
            return {
              source,
              version: current?.sourceVersion ?? null,
              entries: entries.get(source) ?? 0,
              importedAt: current?.context.endedAt ?? null,
              report: current?.context.report ?? null,
              importing: coming === undefined ? null : importView(coming)
            }
          })
        })
      })
    })
  )
}

const cleanRequest = ({ source, version, hash, ...others }: ImportBody): ImportBody => ({
  ...others,
  source: cleanText(source),
  version: cleanText(version),
  hash: cleanText(hash)
})

/** The cleaned entries, or the errors by entry. */
const checkedPeople = (entries: ReadonlyArray<RawPerson>): Verdict<ReadonlyArray<ListedPerson>> => {
  const errors: Record<string, string> = {}
  const people = entries.map(cleanPerson)
  for (const [index, person] of people.entries()) {
    for (const [field, sentence] of Object.entries(personErrors(person) ?? {})) {
      errors[`entries.${index}.${field}`] = sentence
    }
  }
  if (Object.keys(errors).length > 0) return refuse(invalidFields(errors))
  return { ok: true, value: people as ReadonlyArray<ListedPerson> }
}
