/**
 * The service's own watch list. Entries are never deleted: a removed one keeps the time of its removal, so that old
 * screening runs stay explainable. The live screener follows the committed rows (F26).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { accept, conflict, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../machines/shared/Text.ts"
import { ActorHost, type DispatchError, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Instance } from "../../effects/Instance.ts"
import { SealingService } from "../../engine/sealing/SealingService.ts"
import { type ListedEntry, listedEntries, listedEntry } from "../../store/reads/screeningReads.ts"
import type { WatchEntryRow } from "../../tables/screening.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../shared/OperatorCaller.ts"
import { cutPage, onePast, type PageEnd, type PageQuery } from "../../store/paging.ts"
import { readThenDecide } from "../shared/readThenDecide.ts"
import { whenAway } from "../../store/whenAway.ts"

export interface WatchEntryView {
  readonly entryId: number
  readonly list: "SANCTIONS" | "PEP"
  readonly name: string
  readonly dob: string | null
  readonly country: string | null
  readonly source: string
  /** The last version of its source that contains the entry; null: an operator added the entry by hand. */
  readonly version: string | null
  readonly addedAt: number
  readonly removedAt: number | null
}

export interface WatchEntryBody {
  readonly name: string
  readonly dob?: string
  readonly country?: string
  readonly list: "SANCTIONS" | "PEP"
}

export interface WatchEntryPage extends PageEnd {
  readonly entries: ReadonlyArray<WatchEntryView>
}

export class WatchLists extends Context.Service<
  WatchLists,
  {
    add(caller: OperatorCaller, request: WatchEntryBody): Effect.Effect<WatchEntryView, DispatchError>
    /** A page of the entries that are not removed, newest first. */
    list(query: PageQuery): Effect.Effect<WatchEntryPage, Unavailable>
    remove(caller: OperatorCaller, entryId: number): Effect.Effect<Verdict<WatchEntryView>, DispatchError>
  }
>()("brokerage/runtime/services/screening/WatchLists") {
  static readonly layer = Layer.effect(
    WatchLists,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService

      return WatchLists.of({
        add: (caller, request) =>
          host.dispatch({
            subject: systemSubject,
            by: caller.by,
            decide: (turn) => {
              const row: WatchEntryRow = {
                id: turn.nextId("watchEntry"),
                list: request.list,
                name: cleanText(request.name),
                dob: request.dob?.trim() ?? null,
                country: request.country?.trim() ?? null,
                source: "OPERATOR",
                addedAt: turn.now,
                removedAt: null,
                importId: null
              }
              turn.draft.put("watchEntries", row)
              applyEffects(turn, aboutEntry(row), [audit("screening.add", null, row)])
              return entryView({ row, version: null })
            }
          }),
        list: (query) =>
          Effect.map(Effect.catch(listedEntries(sql, sealing, onePast(query)), whenAway), (rows) => {
            const { shown, end } = cutPage(rows, query.limit, ({ row }) => row.id)
            return { entries: shown.map(entryView), ...end }
          }),
        remove: (caller, entryId) =>
          readThenDecide(host, {
            subject: systemSubject,
            by: caller.by,
            read: () => Effect.catch(listedEntry(sql, sealing, entryId), whenAway),
            decide: (turn, found): Verdict<WatchEntryView> => {
              if (found === null) return refuse(unknown("Watch list entry"))
              if (found.row.removedAt !== null) return refuse(conflict("ALREADY", "This entry is removed already."))
              const row = { ...found.row, removedAt: turn.now }
              turn.draft.put("watchEntries", row)
              applyEffects(turn, aboutEntry(row), [audit("screening.remove", found.row, null)])
              return accept(entryView({ ...found, row }))
            }
          })
      })
    })
  )
}

const aboutEntry = ({ id }: WatchEntryRow): Instance => ({ ...systemInstance, object: `watchEntry:${id}` })

/** The audit names an entry by id and list, never the person. */
const audit = (action: string, before: WatchEntryRow | null, after: WatchEntryRow | null) => {
  const named = (row: WatchEntryRow | null) => (row === null ? null : `${row.list} ${row.id}`)
  return { type: "audit", action, before: named(before), after: named(after), reason: null } as const
}

const entryView = ({ row, version }: ListedEntry): WatchEntryView => {
  const { id, list, name, dob, country, source, addedAt, removedAt } = row
  return { entryId: id, list, name, dob, country, source, version, addedAt, removedAt }
}
