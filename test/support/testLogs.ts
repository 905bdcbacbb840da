/**
 * The loggers of services in tests. Lines that a test expects (`expectLog`) count; other errors are printed, which
 * fails the test.
 */
import { Layer, Logger, References } from "effect"
import { isExpected } from "./expectLog.ts"

/** Passes errors to the expectations of the running test, and unexpected ones to `others`. */
const layerCatching = (others: Logger.Logger<unknown, void> | null) => {
  const catching = Logger.make<unknown, void>((entry) => {
    if (!isExpected(Logger.formatSimple.log(entry))) others?.log(entry)
  })
  return Layer.mergeAll(Logger.layer([catching]), Layer.succeed(References.MinimumLogLevel, "Error"))
}

/** Errors that no test expects are printed. */
export const layerTestLogs = layerCatching(Logger.defaultLogger)

/** For systems with deliberate faults of every kind: expected errors count, and all others are dropped. */
export const layerProvokedLogs = layerCatching(null)
