/**
 * Published lists of sanctions and politically exposed persons, version by version (F26; operator surface, screening
 * import). A file of any length comes in pieces of at most a thousand entries, each one request and one commit:
 *
 * - `begin` announces source, version, number of entries and their hash; the same file again finds its import and
 *   gets how much of it is in, so a crash or a lost answer on either side costs at most one piece;
 * - `entries` takes the piece at an offset, and answers a piece that is in already without writing. New entries count
 *   at once; those that stand on the list keep their ids, and with them what compliance found for them;
 * - `finish` takes off what the version did not name, a thousand at a time, only after everything announced has
 *   arrived: a broken-off import never loses an entry. It is called until the import is DONE. When more than a hundred
 *   entries and more than a fifth of the source would go, it refuses unless that is allowed.
 *
 * Entries of other sources and those that operators added are never touched.
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
import { decideUnmoved } from "../shared/unmoved.ts"
import { whenAway } from "../../store/whenAway.ts"

/** Entries of one piece and of one removal: a quarter of what a commit holds, a few milliseconds of the writer. */
export const importPiece = 1_000

export interface SourceView {
  readonly source: string
  /** Null while the first import is under way, and for what operators added by hand. */
  readonly version: string | null
  /** Live entries. */
  readonly entries: number
  readonly importedAt: number | null
  /** The parts of the current version's file that are not on the list. Null: there is no current version. */
  readonly report: FileReport | null
  /** The version that is coming in. */
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
    /** One round of removals; again until the answer is DONE. More than a fifth of a source goes only if allowed. */
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
          return decideUnmoved(host, {
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
          decideUnmoved(host, {
            subject: systemSubject,
            by: caller.by,
            read: (state) =>
              Effect.gen(function* () {
                const row = state.get("watchImports", String(importId))
                if (row === undefined) return { stale: [], losses: null }
                // Import ids grow: what an earlier one named last is what this one did not name.
                const stale = yield* namedBefore(sql, sealing, row.source, importId, importPiece + 1)
                const asked = row.state === "OPEN" && !allowShrink
                return { stale, losses: asked ? yield* countNamedBefore(sql, row.source, importId) : null }
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

/** The clean entries, or what is wrong with which of them. */
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
