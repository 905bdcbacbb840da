/**
 * The walk of a screening pass. It compares a page of clients, decides those with a candidate in their mailboxes, and
 * then moves the cursor to the end of the page. A repeated page finds the rows of the first attempt, and writes nothing
 * (F26).
 */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect } from "effect"
import type { PassTrigger } from "../../../../machines/screening/ScreeningPass.ts"
import { resultOf, type ScreenedPerson, type Settled } from "../../../../machines/screening/screen.ts"
import { yieldToEventLoop } from "../../../engine/yieldToEventLoop.ts"
import { passPausePoint } from "../../../engine/PausePoints.ts"
import type { ActorHost, DispatchError, Turn, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { Sealing } from "../../../engine/sealing/Sealing.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import type { ScreeningPassRow, WatchEntryRow } from "../../../tables/screening.ts"
import { personsAfter, type StoredPerson } from "../../../store/storedPersons.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { clientSubject, instanceOf } from "../../account/clientState.ts"
import { systemSubject } from "../../shared/OperatorCaller.ts"
import type { Directory } from "../../partners/Directory.ts"
import { readThenDecide } from "../../shared/readThenDecide.ts"
import { identityText } from "../../screening/dispositions.ts"
import { byScreening, movePass } from "../../screening/passDecisions.ts"
import { rescreenClient } from "./rescreenClient.ts"
import { screenedPerson } from "./rescreening.ts"
import type { Screening } from "../../screening/Screening.ts"

export interface PassTools {
  readonly host: ActorHost["Service"]
  readonly stored: RowReads["Service"]
  readonly directory: Directory["Service"]
  readonly screening: Screening["Service"]
  readonly sealing: Sealing
  readonly sql: PgClient.PgClient
}

/**
 * The number of clients in a page, and in one step of it. A step takes about a millisecond; then the event loop runs other
 * work.
 */
const pageSize = 128
const stretch = 3
/** The least pause between two pages. After a slow page the pause is as long as the page took. */
const pauseMillis = 20
/** Limit on the clients that are decided in their mailboxes at the same time. */
const judgedAtOnce = 2

/** Continues a pass until no client is left, or another pass has replaced it. */
export const walkPass = (tools: PassTools, pass: ScreeningPassRow): Effect.Effect<void, DispatchError> =>
  Effect.gen(function* () {
    const { passId, trigger, scope, fromEntry, toEntry } = pass.context
    const { host, screening, sealing, sql } = tools
    const changed = scope === "ALL" ? null : yield* entriesBetween(tools, fromEntry, toEntry)
    const find = changed === null ? screening.find : screening.among(changed)
    let after = pass.context.after
    while (true) {
      const began = yield* Clock.currentTimeMillis
      const persons =
        changed?.length === 0 ? [] : yield* Effect.catch(personsAfter(sql, sealing, after, pageSize), whenAway)
      const suspects = yield* suspectsAmong(persons, find)
      yield* Effect.forEach(suspects, (clientId) => judgeClient(tools, clientId, trigger, passId), {
        concurrency: judgedAtOnce,
        discard: true
      })
      if (persons.length > 0) passPausePoint("clients-judged")
      const moved = yield* host.dispatch({
        subject: systemSubject,
        by: byScreening,
        lane: "internal",
        decide: (turn) => moveBehind(turn, passId, persons)
      })
      if (moved?.state !== "RUNNING") return
      after = moved.context.after
      yield* Effect.sleep(Math.max(pauseMillis, (yield* Clock.currentTimeMillis) - began))
    }
  })

const moveBehind = (turn: Turn, passId: number, persons: ReadonlyArray<StoredPerson>): ScreeningPassRow | null => {
  const last = persons.at(-1)
  return movePass(
    turn,
    passId,
    last === undefined
      ? { type: "FINISH", at: turn.now }
      : { type: "ADVANCE", at: turn.now, after: last.clientId, screened: persons.length }
  )
}

/** The most new entries that get an index of their own. Above this number every client is compared with the whole list. */
const changedLimit = 20_000
const entriesPage = 1_000

/** The live entries with ids above `from` and up to `to`, which are new since the last pass. Null above `changedLimit`. */
const entriesBetween = (
  { stored }: PassTools,
  from: number,
  to: number
): Effect.Effect<ReadonlyArray<WatchEntryRow> | null, Unavailable> =>
  Effect.gen(function* () {
    const entries: Array<WatchEntryRow> = []
    for (let before: number | null = to + 1; before !== null;) {
      const beyond = [{ column: "id", value: from + 1, comparison: ">=" }] as const
      const rows: ReadonlyArray<WatchEntryRow> = yield* stored.page("watchEntries", beyond, {
        limit: entriesPage,
        before
      })
      entries.push(...rows.filter(({ removedAt }) => removedAt === null))
      if (entries.length > changedLimit) return null
      before = rows.length < entriesPage ? null : (rows.at(-1)?.id ?? null)
      yield* yieldToEventLoop
    }
    return entries
  })

const nothing: Settled = { has: () => false }

/**
 * The clients that need a decision in their mailbox: those with any candidate, even one that compliance has already judged.
 */
const suspectsAmong = (persons: ReadonlyArray<StoredPerson>, find: (person: ScreenedPerson) => Found) =>
  Effect.gen(function* () {
    const suspects: Array<number> = []
    for (const [index, { clientId, personalInfo }] of persons.entries()) {
      if (index % stretch === 0) yield* yieldToEventLoop
      if (resultOf(find(screenedPerson(personalInfo)), nothing).outcome !== "CLEAR") suspects.push(clientId)
    }
    return suspects
  })

type Found = ReturnType<Screening["Service"]["find"]>

/**
 * The tables that show whether a client's identity has changed: every commit that changes it writes a row of one of them.
 * Findings of compliance are read in the turn itself.
 */
const identityRestsOn = ["kycPackages", "verificationBlocks"] as const

/**
 * Screens one client against the whole list, and decides in its mailbox. If this fails for one client, the pass
 * continues with the others.
 */
export const judgeClient = (
  { host, directory, screening, sealing, stored }: PassTools,
  clientId: number,
  trigger: PassTrigger,
  passId: number | null
): Effect.Effect<void, DispatchError> =>
  readThenDecide(host, {
    subject: clientSubject(clientId),
    by: byScreening,
    restsOn: identityRestsOn,
    read: () =>
      Effect.map(
        stored.page(
          "blockPayloads",
          [
            { column: "client_id", value: clientId },
            { column: "code", value: "PERSONAL_INFO" }
          ],
          { limit: 1 }
        ),
        ([payload]) => {
          if (payload === undefined) return null
          const person = screenedPerson(payload.data)
          const identityKey = sealing.fingerprint(identityText(person))
          return { found: screening.find(person), identityKey, lists: screening.lists(), trigger, passId }
        }
      ),
    decide: (turn, finding) => {
      const client = turn.state.one("clients")
      const partner = client === undefined ? null : directory.partner(client.partnerId)
      if (client === undefined || partner === null || finding === null) return
      rescreenClient({ turn, instance: instanceOf(client, partner), by: "SYSTEM" }, client, finding)
    }
  }).pipe(
    Effect.catchTag("CommitRejected", ({ cause }) => leave(clientId, cause)),
    Effect.catchDefect((defect) => leave(clientId, defect))
  )

const leave = (clientId: number, why: unknown) =>
  Effect.annotateLogs(
    Effect.logError(
      "a client could not be screened again: the pass continues without this client, and the next pass screens it",
      why
    ),
    { clientId }
  )
