/**
 * The service's own watch list (operator surface, screening; F26). Entries are never deleted: a removed one keeps the
 * time of its removal, so that old screening runs stay explainable. The live screener follows the committed rows.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { accept, conflict, refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import { cleanText } from "../../machines/shared/Text.ts"
import { ActorHost, type DispatchError, type Unavailable } from "../engine/ActorHost.ts"
import { applyEffects, type Instance } from "../engine/Interpreter.ts"
import { SealingService } from "../engine/SealingService.ts"
import { columnList, decodeRow } from "../engine/SubjectLoader.ts"
import { catalogue } from "../store/Catalogue.ts"
import type { WatchEntryRow } from "../store/Rows.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "./OperatorKeys.ts"
import type { PageQuery } from "./paging.ts"
import { whenAway } from "./whenAway.ts"

export interface WatchEntryView {
  readonly entryId: number
  readonly list: "SANCTIONS" | "PEP"
  readonly name: string
  readonly dob: string | null
  readonly country: string | null
  readonly source: string
  readonly addedAt: number
  readonly removedAt: number | null
}

export interface WatchEntryRequest {
  readonly name: string
  readonly dob?: string
  readonly country?: string
  readonly list: "SANCTIONS" | "PEP"
}

export interface WatchEntryPage {
  readonly entries: ReadonlyArray<WatchEntryView>
  readonly hasMore: boolean
  readonly nextBefore: number | null
}

export class WatchLists extends Context.Service<
  WatchLists,
  {
    add(caller: OperatorCaller, request: WatchEntryRequest): Effect.Effect<WatchEntryView, DispatchError>
    /** Live entries, newest first. */
    list(query: PageQuery): Effect.Effect<WatchEntryPage, Unavailable>
    remove(caller: OperatorCaller, entryId: number): Effect.Effect<Verdict<WatchEntryView>, DispatchError>
  }
>()("brokerage/runtime/services/WatchLists") {
  static readonly layer = Layer.effect(
    WatchLists,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      // Two removals of one entry read it before either commits: the second finds it here.
      const removed = new Set<number>()
      host.onCommitted("watchEntries", (row) => {
        if (row.removedAt !== null) removed.add(row.id)
      })

      const select = (condition: string, values: ReadonlyArray<bigint>) =>
        sql
          .unsafe<Record<string, unknown>>(
            `SELECT ${columnList(catalogue.watchEntries)} FROM watch_entries WHERE ${condition}`,
            values
          )
          .pipe(
            Effect.map((rows) => rows.map((raw) => decodeRow(catalogue.watchEntries, raw, sealing) as WatchEntryRow)),
            Effect.catch(whenAway)
          )

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
                removedAt: null
              }
              turn.draft.put("watchEntries", row)
              applyEffects(turn, aboutEntry(row), [audit("screening.add", null, row)])
              return entryView(row)
            }
          }),
        list: ({ limit, before }) =>
          Effect.map(
            before === undefined
              ? select("removed_at IS NULL ORDER BY id DESC LIMIT $1", [BigInt(limit + 1)])
              : select("removed_at IS NULL AND id < $2 ORDER BY id DESC LIMIT $1", [BigInt(limit + 1), BigInt(before)]),
            (rows) => {
              const entries = rows.slice(0, limit).map(entryView)
              const hasMore = rows.length > limit
              return { entries, hasMore, nextBefore: hasMore ? (entries.at(-1)?.entryId ?? null) : null }
            }
          ),
        remove: (caller, entryId) =>
          Effect.flatMap(select("id = $1", [BigInt(entryId)]), ([found]) => {
            if (found === undefined) return Effect.succeed(refuse(unknown("Watch list entry")))
            return host.dispatch({
              subject: systemSubject,
              by: caller.by,
              decide: (turn): Verdict<WatchEntryView> => {
                if (found.removedAt !== null || removed.has(entryId)) {
                  return refuse(conflict("This entry is removed already."))
                }
                const row = { ...found, removedAt: turn.now }
                turn.draft.put("watchEntries", row)
                applyEffects(turn, aboutEntry(row), [audit("screening.remove", found, null)])
                return accept(entryView(row))
              }
            })
          })
      })
    })
  )
}

const aboutEntry = ({ id }: WatchEntryRow): Instance => ({ ...systemInstance, object: `watchEntry:${id}` })

/** The entry by id and list: the audit names no person. */
const audit = (action: string, before: WatchEntryRow | null, after: WatchEntryRow | null) => {
  const tell = (row: WatchEntryRow | null) => (row === null ? null : `${row.list} ${row.id}`)
  return { type: "audit", action, before: tell(before), after: tell(after), reason: null } as const
}

const entryView = ({ id, ...row }: WatchEntryRow): WatchEntryView => ({ entryId: id, ...row })
