/**
 * Compares stored clients with persons refused for good, in the background. After an upgrade it writes the person keys
 * of clients again, first those of clients that were ever refused. The rows themselves show which keys are missing, so
 * a new process continues after a kill. A client that matches a refused person is restricted and gets a case.
 *
 * Onboarding and revisions search for the person before their commit, so they miss a refusal between the search and the
 * commit. This watch finds it in the committed rows. After a crash, the walk at the start searches once for every
 * refused person (A1-28).
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Latch, Layer } from "effect"
import { yieldToEventLoop } from "../../../engine/yieldToEventLoop.ts"
import { ActorHost, type Attribution, type DispatchError } from "../../../engine/mailbox/ActorHost.ts"
import { passPausePoint } from "../../../engine/PausePoints.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { clientsRefused, clientsToKey } from "../../../store/reads/clientReads.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { Directory } from "../../partners/Directory.ts"
import { makeUntilDone } from "../../shared/untilDone.ts"
import { readThenDecide } from "../../shared/readThenDecide.ts"
import { clientSubject, instanceOf } from "../../account/clientState.ts"
import { subscribe } from "../../../subscriptions.ts"
import { personFindings, settlePerson } from "./settlePerson.ts"

/** Clients per page. The pause after a page lasts as long as the page took, and at least `pauseMillis`. */
const pageSize = 128
const pauseMillis = 20
/** Limit on clients that match one refused person and are decided concurrently. */
const settledAtOnce = 2
/**
 * The most clients in a queue, and the most keys of recently refused persons. If more clients wait, the walk over all
 * refused persons begins again.
 */
const waitingLimit = 10_000
/** Retries of a client's decision when another client takes a claim in between. */
const claimTries = 8

const byPersons: Attribution = {
  role: "SYSTEM",
  keyLabel: "persons",
  requestId: "persons",
  actor: "system:persons"
}

/** Runs until the service ends. A client that can't be decided does not block the others. */
export const layerPersonWatch: Layer.Layer<
  never,
  never,
  ActorHost | Directory | PgClient.PgClient | RowReads | SealingService
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const host = yield* ActorHost
    const directory = yield* Directory
    const sql = yield* PgClient.PgClient
    const stored = yield* RowReads
    const sealing = yield* SealingService
    const waiting = new WaitingPersons()
    subscribe(host, "PersonWatch", { clients: (row) => waiting.follow(row) })

    const settle = (clientId: number, tries = claimTries): Effect.Effect<void, DispatchError> =>
      readThenDecide(host, {
        subject: clientSubject(clientId),
        by: byPersons,
        restsOn: ["clients", "kycPackages", "verificationBlocks", "cases"],
        read: (state) => personFindings({ stored, sealing }, state.one("clients")),
        decide: (turn, found) => {
          const client = turn.state.one("clients")
          const partner = client === undefined ? null : directory.partner(client.partnerId)
          if (client === undefined || partner === null || found === null) return
          settlePerson({ turn, instance: instanceOf(client, partner), by: "SYSTEM" }, client, found)
        }
      }).pipe(
        Effect.catchTag("ClaimLost", (lost) => (tries === 0 ? Effect.fail(lost) : settle(clientId, tries - 1))),
        Effect.catchTag("CommitRejected", ({ cause }) => leave(clientId, cause)),
        Effect.catchDefect((defect) => leave(clientId, defect))
      )

    const settleAll = (ids: ReadonlyArray<number>): Effect.Effect<void, DispatchError> =>
      Effect.forEach(ids, (id) => settle(id), { concurrency: settledAtOnce, discard: true })

    /** Decides on every open client that shares a key with the refused client. */
    const meet = (refusedId: number): Effect.Effect<void, DispatchError> =>
      Effect.gen(function* () {
        const refused = yield* host.read(clientSubject(refusedId), (state) => state.one("clients") ?? null)
        if (refused === null) return
        waiting.note(refused)
        for (let before: number | undefined; ;) {
          const rows: ReadonlyArray<ClientRow> = yield* stored.persons(refused.personKey, {
            limit: pageSize,
            ...(before === undefined ? {} : { before })
          })
          yield* settleAll(rows.filter(isOpen).map(({ id }) => id))
          before = rows.at(-1)?.id
          if (rows.length < pageSize) return
          yield* yieldToEventLoop
        }
      })

    /**
     * Walks through pages of clients in the order of their ids. Of two clients that are the same person, the later one is the
     * duplicate. The caller keeps the cursor, so that the walk continues after a failure.
     */
    const walk = (
      cursor: Cursor,
      pageAfter: typeof clientsToKey,
      each: (id: number) => Effect.Effect<void, DispatchError>
    ) =>
      Effect.gen(function* () {
        while (!cursor.done) {
          const began = yield* Clock.currentTimeMillis
          const ids = yield* Effect.catch(pageAfter(sql, cursor.after, pageSize), whenAway)
          yield* Effect.forEach(ids, each, { discard: true })
          if (ids.length > 0) passPausePoint("persons-keyed")
          cursor.after = ids.at(-1) ?? cursor.after
          cursor.done = ids.length < pageSize
          if (!cursor.done) yield* Effect.sleep(Math.max(pauseMillis, (yield* Clock.currentTimeMillis) - began))
        }
      })

    const round = Effect.gen(function* () {
      waiting.wake.closeUnsafe()
      yield* walk(waiting.refusedWalk, clientsRefused, (id) => Effect.andThen(settle(id), meet(id)))
      yield* walk(waiting.keyWalk, clientsToKey, settle)
      for (const id of waiting.refused) {
        yield* meet(id)
        waiting.refused.delete(id)
      }
      for (const id of waiting.due) {
        waiting.due.delete(id)
        yield* Effect.tapError(settle(id), () => Effect.sync(() => waiting.due.add(id)))
      }
      if (waiting.isIdle) yield* waiting.wake.await
    })
    yield* Effect.forkScoped(Effect.forever(makeUntilDone("clients could not be compared with refused persons")(round)))
  })
)

interface Cursor {
  after: number
  done: boolean
}

const isOpen = ({ state }: ClientRow): boolean => state !== "CLOSED" && state !== "KYC_REJECTED"

/** The clients and persons that committed rows require the watch to compare. */
class WaitingPersons {
  readonly wake = Latch.makeUnsafe(true)
  /**
   * `refused`: persons refused since the start, who are compared with open clients. `due`: clients that may match one
   * of them.
   */
  readonly refused = new Set<number>()
  readonly due = new Set<number>()
  refusedWalk: Cursor = { after: 0, done: false }
  readonly keyWalk: Cursor = { after: 0, done: false }
  /**
   * Keys of refused persons that this process has handled, oldest first; the oldest are dropped. A search that began
   * before a dropped refusal has committed long ago.
   */
  readonly #lately = new Set<string>()

  get isIdle(): boolean {
    return this.refused.size === 0 && this.due.size === 0 && this.refusedWalk.done
  }

  follow(row: ClientRow): void {
    if (row.state === "KYC_REJECTED") {
      this.note(row)
      this.#wait(this.refused, row.id)
    } else if (isOpen(row) && row.personKey.split(" ").some((key) => this.#lately.has(key))) {
      this.#wait(this.due, row.id)
    }
  }

  /** Keeps the keys of a refused person. A client that searched before the refusal may commit after it. */
  note({ personKey }: ClientRow): void {
    for (const key of personKey.split(" ")) {
      this.#lately.delete(key)
      this.#lately.add(key)
    }
    for (const key of this.#lately) {
      if (this.#lately.size <= waitingLimit) break
      this.#lately.delete(key)
    }
  }

  #wait(list: Set<number>, clientId: number): void {
    if (list.size < waitingLimit) list.add(clientId)
    else this.refusedWalk = { after: 0, done: false }
    this.wake.openUnsafe()
  }
}

const leave = (clientId: number, why: unknown) =>
  Effect.annotateLogs(
    Effect.logError("a client could not be compared with other clients: the watch continues with the next client", why),
    { clientId }
  )
