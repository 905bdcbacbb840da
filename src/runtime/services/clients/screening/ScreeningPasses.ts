/**
 * Automatic screening of stored clients. A pass compares them with new entries when an import becomes current or an
 * operator adds an entry. It compares them with the whole list when the rules of comparison have changed, and every
 * night. One pass at a time walks through the clients in the background, page by page with pauses. Its cursor is a row,
 * so it continues after a crash. Each client is decided in its own mailbox (F26).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { PassScope, PassTrigger, ScreeningPassState } from "../../../../machines/screening/ScreeningPass.ts"
import { ActorHost, type DispatchError, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { ScreeningPassRow } from "../../../tables/screening.ts"
import { cutPage, onePast, type PageEnd, type PageQuery } from "../../../store/paging.ts"
import { findingsOf } from "../../../store/reads/screeningReads.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { systemSubject } from "../../shared/OperatorCaller.ts"
import { Directory } from "../../partners/Directory.ts"
import { makeUntilDone } from "../../shared/untilDone.ts"
import { beginNightly, beginPass, byScreening, nightlyTimer, setNightly } from "../../screening/passDecisions.ts"
import { PassDemand } from "./PassDemand.ts"
import { judgeClient, type PassTools, walkPass } from "./passWalk.ts"
import { Screening } from "../../screening/Screening.ts"

export interface PassView {
  readonly passId: number
  readonly trigger: PassTrigger
  readonly scope: PassScope
  readonly status: ScreeningPassState
  /** The version of the rules of comparison. */
  readonly rules: number
  /** Clients screened so far. */
  readonly screened: number
  /** Clients with new candidates: `hits` with a sanctions hit, `possible` without one. */
  readonly hits: number
  readonly possible: number
  readonly startedAt: number
  readonly endedAt: number | null
}

export interface PassPage extends PageEnd {
  readonly passes: ReadonlyArray<PassView>
}

export class ScreeningPasses extends Context.Service<
  ScreeningPasses,
  {
    /** Passes, newest first. */
    list(query: PageQuery): Effect.Effect<PassPage, Unavailable>
    /** The highest id of a watch-list entry; entries that are added later have higher ids. */
    readonly lastEntry: () => number
  }
>()("brokerage/runtime/services/clients/screening/ScreeningPasses") {
  static readonly layer = Layer.effect(
    ScreeningPasses,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const stored = yield* RowReads
      const tools: PassTools = {
        sql,
        stored,
        host: yield* ActorHost,
        directory: yield* Directory,
        screening: yield* Screening,
        sealing: yield* SealingService
      }
      const demand = yield* PassDemand.follow(tools)
      yield* Effect.orDie(ensureNightly(tools))
      yield* Effect.forkScoped(workFor(tools, demand))
      return ScreeningPasses.of({
        list: (query) =>
          Effect.gen(function* () {
            const rows = yield* stored.page("screeningPasses", [], onePast(query))
            const { shown, end } = cutPage(rows, query.limit, ({ id }) => id)
            const counts = yield* Effect.catch(
              findingsOf(
                sql,
                shown.map(({ id }) => id)
              ),
              whenAway
            )
            return { passes: shown.map((row) => passView(row, counts)), ...end }
          }),
        lastEntry: () => demand.last
      })
    })
  )
}

/** The handler of the nightly timer: begins a pass that compares every client with the whole list. */
export const nightlyPass: Effect.Effect<
  Readonly<Record<typeof nightlyTimer, TimerHandler>>,
  never,
  ScreeningPasses
> = Effect.map(ScreeningPasses, ({ lastEntry }) => ({ [nightlyTimer]: (turn) => beginNightly(turn, lastEntry()) }))

/** Sets the timer of the first night; each night then sets the next. */
const ensureNightly = ({ host, stored }: PassTools): Effect.Effect<void, DispatchError> =>
  Effect.gen(function* () {
    const named = [
      { column: "subject", value: systemSubject },
      { column: "name", value: nightlyTimer }
    ]
    const timers = yield* stored.page("timers", named, { limit: 1 })
    if (timers.length === 0)
      yield* host.dispatch({ subject: systemSubject, by: byScreening, lane: "internal", decide: setNightly })
  })

const workFor = (tools: PassTools, demand: PassDemand): Effect.Effect<never> => {
  const { host } = tools
  const round = Effect.gen(function* () {
    demand.wake.closeUnsafe()
    for (const clientId of demand.late) {
      yield* judgeClient(tools, clientId, "LIST", null)
      demand.late.delete(clientId)
    }
    const running = yield* host.read(systemSubject, (state) => state.all("screeningPasses")[0] ?? null)
    if (running !== null) return yield* walkPass(tools, running)
    const plan = yield* demand.plan
    if (plan === null) return yield* demand.wake.await
    yield* host.dispatch({
      subject: systemSubject,
      by: byScreening,
      lane: "internal",
      decide: (turn) => beginPass(turn, plan)
    })
  })
  const untilDone = makeUntilDone("stored clients could not be screened")
  return Effect.forever(untilDone(round))
}

type Findings = ReadonlyMap<string, number>

const passView = (row: ScreeningPassRow, findings: Findings): PassView => {
  const { passId, trigger, scope, rules, screened, startedAt, endedAt } = row.context
  return {
    passId,
    trigger,
    scope,
    status: row.state as ScreeningPassState,
    rules,
    screened,
    hits: findings.get(`${passId} HIT`) ?? 0,
    possible: findings.get(`${passId} POSSIBLE`) ?? 0,
    startedAt,
    endedAt
  }
}
