/**
 * Time travel of the sandbox: the business clock moves forward and stays there after a restart (operator surface, sim
 * clock; architecture, Time and chance).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { accept, conflict, invalidFields, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { currentDryRun } from "../../engine/mailbox/dryRun.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import { Settings } from "../../Settings.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../operator/OperatorKeys.ts"
import { moveClock } from "../../store/ServiceStamp.ts"
import { whenUnsure } from "../../store/whenAway.ts"

export interface ClockView {
  /** Business time, Unix ms. */
  readonly now: number
  readonly wallNow: number
  /** How far business time runs ahead. */
  readonly offsetMillis: number
}

/** 1 January 2100, 00:00 UTC: the dates in the rules end there, so business time stays before it. Unix ms. */
export const clockEnd = Date.UTC(2100, 0, 1)
const tooFar = "The clock can't be moved into the year 2100 or later."

const sandboxOnly = refuse(conflict("The clock can be seen and moved in a sandbox service only."))

export class SimClock extends Context.Service<
  SimClock,
  {
    readonly show: Effect.Effect<Verdict<ClockView>>
    advance(caller: OperatorCaller, millis: number): Effect.Effect<Verdict<ClockView>, DispatchError>
  }
>()("brokerage/runtime/services/system/SimClock") {
  static readonly layer = Layer.effect(
    SimClock,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const settings = yield* Settings
      const sql = yield* PgClient.PgClient
      const view = (): ClockView => {
        const now = clock.now()
        return { now, wallNow: now - clock.offset(), offsetMillis: clock.offset() }
      }

      /** The offset is stored before anybody sees it. Null: it would pass the end. */
      const store = (millis: number) =>
        Effect.suspend(() =>
          Effect.catch(moveClock(sql, millis, clockEnd - view().wallNow, currentDryRun() !== null), whenUnsure)
        )

      return SimClock.of({
        show: Effect.sync(() => (settings.sandbox ? accept(view()) : sandboxOnly)),
        advance: (caller, millis) =>
          !settings.sandbox
            ? Effect.succeed(sandboxOnly)
            : Effect.gen(function* () {
                const before = clock.offset()
                const offset = yield* store(millis)
                if (offset === null) return refuse(invalidFields({ advanceMillis: tooFar }))
                const dry = currentDryRun() !== null
                if (!dry) clock.setOffset(Math.max(offset, clock.offset()))
                const audited = host.dispatch({
                  subject: systemSubject,
                  by: caller.by,
                  decide: (turn) =>
                    applyEffects(turn, systemInstance, [
                      {
                        type: "audit",
                        action: "clock.advance",
                        before: `${before} ms ahead`,
                        after: `${offset} ms ahead`,
                        reason: null
                      }
                    ])
                })
                // The clock has moved: whatever becomes of the audit row, no answer may ask for another try.
                yield* Effect.mapError(audited, (error) =>
                  error._tag === "Unavailable" ? new Unavailable({ unknown: true }) : error
                )
                const now = view()
                return accept(dry ? { ...now, now: now.wallNow + offset, offsetMillis: offset } : now)
              }).pipe(Effect.uninterruptible)
      })
    })
  )
}
