/** Sends logs of every process to stderr: stdout is for the ready line (operator surface, Service). */
import { Cause, Effect, Layer, Logger, References } from "effect"
import { standardOutput } from "./runtime/adapters/LineOutput.ts"
import { plural } from "./machines/shared/Text.ts"

const toStderr = Logger.make<unknown, void>((entry) => {
  const line = Logger.formatLogFmt.log
  standardOutput().stderr.write(line(entry), (missing) =>
    line({ ...entry, logLevel: "Warn", cause: Cause.empty, message: ["log lines could not be written", { missing }] })
  )
})

export const layerLogging = Layer.mergeAll(Logger.layer([toStderr]), Layer.succeed(References.MinimumLogLevel, "Info"))

/** Prints lines on stdout: the ready line and the demo. A line that can't be written is counted and logged. */
export const stdoutPrinter: Effect.Effect<(text: string) => void> = Effect.map(
  Effect.context<never>(),
  (context) => (text: string) =>
    standardOutput().stdout.write(
      text,
      (missing) => `(${plural(missing, "line")} could not be written here.)`,
      (code) =>
        void Effect.runForkWith(context)(
          Effect.logWarning("a line could not be written to stdout: it is dropped and counted", { code })
        )
    )
)
