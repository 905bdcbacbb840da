/** Where services log in tests: what a test expects (`expectLog`) counts there, the rest is printed and fails it. */
import { Layer, Logger, References } from "effect"
import { isExpected } from "./expectLog.ts"

/** Errors alone, to the expectations of the test that runs; those nobody expects to `others`. */
const layerCatching = (others: Logger.Logger<unknown, void> | null) => {
  const catching = Logger.make<unknown, void>((entry) => {
    if (!isExpected(Logger.formatSimple.log(entry))) others?.log(entry)
  })
  return Layer.mergeAll(Logger.layer([catching]), Layer.succeed(References.MinimumLogLevel, "Error"))
}

/** Errors that no test expects are printed. */
export const layerTestLogs = layerCatching(Logger.defaultLogger)

/** For what is broken on purpose in every way: only the errors that a test expects count, the others go nowhere. */
export const layerProvokedLogs = layerCatching(null)
