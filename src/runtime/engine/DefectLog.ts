/**
 * A log for errors that the engine's callbacks throw. Callbacks run outside any fiber, so they use the loggers of the fiber that
 * started the engine.
 */
import { Effect } from "effect"

/** Logs a sentence and the cause as an error. Never throws. */
export type DefectLog = (sentence: string, cause: unknown) => void

/** A log through the loggers of the fiber that runs this effect. */
export const makeDefectLog: Effect.Effect<DefectLog> = Effect.map(Effect.context<never>(), (context) => {
  const fork = Effect.runForkWith(context)
  return (sentence, cause) => void fork(Effect.logError(sentence, cause))
})
