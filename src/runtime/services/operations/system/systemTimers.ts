/** A handler for every durable timer of the system, by name: a missing one does not compile. */
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
