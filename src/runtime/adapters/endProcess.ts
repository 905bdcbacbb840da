/**
 * Ends a server process that this service started, by one signal after the other, from the most orderly to SIGKILL. Each signal
 * gets its usual time, or less if the stop of the service has little time left.
 */
import { Effect } from "effect"
import { isRunning } from "./postmasterPid.ts"

/** The least time that each signal gets, wall ms. */
const leastMillis = 400

export interface Ending {
  /** The id of the current process; 0 if none runs. */
  readonly pid: () => number
  /** The signals in their order, each with its usual time, wall ms. */
  readonly signals: ReadonlyArray<readonly [signal: NodeJS.Signals, millis: number]>
  /** The time that the stop of the service still has, wall ms. */
  readonly left: () => number
}

export const endProcess = ({ pid, signals, left }: Ending): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const [index, [signal, millis]] of signals.entries()) {
      const target = pid()
      if (target === 0 || !isRunning(target)) return
      signalProcess(target, signal)
      const later = signals.length - 1 - index
      const patience = Math.max(leastMillis, Math.min(millis, left() - later * leastMillis))
      yield* Effect.timeoutOption(gone(target), patience)
    }
  })

const signalProcess = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // The process ended between the check and the signal, as wanted.
  }
}

const gone = (pid: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (isRunning(pid)) yield* Effect.sleep("15 millis")
  })
