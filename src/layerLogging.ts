/** Logs of every kind of process go to stderr: stdout belongs to the ready line (operator surface, Service). */
import { Layer, Logger, References } from "effect"

export const layerLogging = Layer.mergeAll(
  Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]),
  Layer.succeed(References.MinimumLogLevel, "Info")
)
