/** The handlers of every durable timer of the system, by name. The types reject a missing handler. */
import { Effect } from "effect"
import type { SystemTimer } from "../../../../machines/timerNames.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import { haltHandlers } from "../../market/MarketHalts.ts"
import { nightlyPass, type ScreeningPasses } from "../../clients/screening/ScreeningPasses.ts"

export const systemTimers: Effect.Effect<
  Readonly<Record<SystemTimer, TimerHandler>>,
  never,
  ScreeningPasses
> = Effect.map(nightlyPass, (nightly) => ({ ...nightly, ...haltHandlers }))
