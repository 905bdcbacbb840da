/**
 * `sim reset`: returns a sandbox to its beginning. The request is stored before the reply. Then the process shuts this
 * run of the service down in order. The next run begins with an empty database and an empty venue, also after a crash
 * (decision 30).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Deferred, Effect, Layer } from "effect"
import { accept, conflict, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { ActorHost, type DispatchError, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { currentDryRun } from "../../../engine/mailbox/dryRun.ts"
import { passPausePoint } from "../../../engine/PausePoints.ts"
import { Settings } from "../../../Settings.ts"
import {
  requestReset,
  countForReset,
  foreignTables,
  type ResetCounts,
  type ResetMade,
  resetStamp,
  reportedReset,
  unreportedReset
} from "../../../store/SandboxResets.ts"
import { whenAway, whenUnsure } from "../../../store/whenAway.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../../shared/OperatorCaller.ts"
import { plural } from "../../../../machines/shared/Text.ts"

export interface ResetState {
  /** False: this service has nothing to reset. */
  readonly sandbox: boolean
  /** Resets so far; the next run has one more. */
  readonly resets: number
  /** True while a reset is in progress. */
  readonly resetting: boolean
  /** Creation time of the present database, wall Unix ms. */
  readonly since: number
}

export interface ResetView extends ResetState {
  /** The numbers of rows that the reset deletes. */
  readonly goes: typeof ResetCounts.Type
  /** Present in a dry run only. */
  readonly dryRun?: true
}

const sandboxOnly = refuse(conflict("SANDBOX_ONLY", "Only a sandbox can be reset."))
const namedVenue = refuse(
  conflict(
    "VENUE_NOT_OWN",
    "The venue of --venue-url would keep the accounts and the time of this sandbox: reset one that runs its own venue."
  )
)

export class SandboxReset extends Context.Service<
  SandboxReset,
  {
    readonly show: Effect.Effect<ResetState, Unavailable>
    /** Stores the request. This process resets after the accepted work has ended; after a crash the next start does. */
    reset(caller: OperatorCaller): Effect.Effect<Verdict<ResetView>, DispatchError>
    /** Completes when a reset is requested: the process then ends this run of the service. */
    readonly requested: Effect.Effect<void>
    /** In a run that a reset began: writes the first audit row. In other runs: nothing. */
    readonly report: Effect.Effect<void, DispatchError>
  }
>()("brokerage/runtime/services/operations/system/SandboxReset") {
  static readonly layer = Layer.effect(
    SandboxReset,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const { sandbox, namedVenue: hasNamedVenue } = yield* Settings
      const requested = yield* Deferred.make<void>()
      const show = Effect.catch(resetStamp(sql), whenAway).pipe(
        Effect.map(({ resets, requested: resetting, since }) => ({ sandbox, resets, resetting, since }))
      )
      const reset = (caller: OperatorCaller) =>
        Effect.gen(function* () {
          if (!sandbox) return sandboxOnly
          if (hasNamedVenue) return namedVenue
          const others = yield* Effect.catch(foreignTables(sql), whenAway)
          if (others.length > 0) return refuse(foreign(others))
          const state = yield* show
          const goes = yield* Effect.catch(countForReset(sql), whenAway)
          if (currentDryRun() !== null) return accept<ResetView>({ ...state, goes, dryRun: true })
          const { role, keyLabel, requestId } = caller.by
          yield* Effect.catch(requestReset(sql, { role, keyLabel, requestId, at: clock.now() }), whenUnsure)
          passPausePoint("reset-asked")
          yield* Effect.logInfo("a reset of this sandbox is requested: the service restarts on an empty database", {
            by: keyLabel
          })
          Deferred.doneUnsafe(requested, Effect.void)
          return accept<ResetView>({ ...state, resetting: true, goes })
        })
      const report = Effect.gen(function* () {
        const made = yield* Effect.catch(unreportedReset(sql), whenAway)
        if (made === null) return
        const { number, by } = made
        yield* host
          .dispatch({
            subject: systemSubject,
            by: { role: by.role, keyLabel: by.keyLabel, requestId: by.requestId, actor: by.role },
            lane: "internal",
            decide: (turn) => {
              turn.draft.claim(`sandboxReset:${number}`, 0)
              const entry = { before: endOf(made), after: `reset ${number}`, reason: null }
              applyEffects(turn, systemInstance, [{ type: "audit", action: "sandbox.reset", ...entry }])
            }
          })
          // A start that crashed after this commit has already written the row, so a lost claim is no fault.
          .pipe(Effect.catchTag("ClaimLost", () => Effect.void))
        yield* Effect.catch(reportedReset(sql), whenUnsure)
      })
      return SandboxReset.of({ show, reset, requested: Deferred.await(requested), report })
    })
  )
}

const foreign = (tables: ReadonlyArray<string>) =>
  conflict(
    "FOREIGN_TABLES",
    `The database holds what is not this service's (${tables.slice(0, 5).join(", ")}): a reset would take it away. Give the sandbox a database of its own.`
  )

/** A summary of the deleted data, with the last hash of its chain, which identifies a backup of it. */
const endOf = ({ ended, seal }: ResetMade): string => {
  const { ledgerTransactions, auditEntries, clients } = ended
  const chain = seal === null ? "not sealed yet" : `last seal ${seal}`
  return `${plural(clients, "client")}, ${plural(ledgerTransactions, "ledger transaction")}, ${plural(auditEntries, "audit entry")}, ${chain}`
}
