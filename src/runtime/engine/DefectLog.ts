/**
 * Where the engine's callbacks log what they throw. They run outside any fiber, so the loggers are those of the fiber that
 * started the engine.
 */
import { Effect } from "effect"

/** Logs, as an error, what a callback threw: a sentence and the cause. Never throws. */
export type DefectLog = (sentence: string, cause: unknown) => void

/** Through the loggers of the fiber that runs this. */
export const makeDefectLog: Effect.Effect<DefectLog> = Effect.map(Effect.context<never>(), (context) => {
  const fork = Effect.runForkWith(context)
  return (sentence, cause) => void fork(Effect.logError(sentence, cause))
})
