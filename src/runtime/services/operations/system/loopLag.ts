/**
 * Event loop delay per minute, for metrics. All readers get the figures of the last whole minute, so that no reader
 * resets the figures of another. During the first minute they get its figures so far.
 */
import { Effect, type Scope } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"

const windowMillis = 60_000

/** Event loop delays in seconds. */
export interface LagFigures {
  readonly mean: number
  readonly p99: number
  readonly max: number
}

/** The measured delays in nanoseconds, as Node gives them. */
type Histogram = Pick<ReturnType<typeof monitorEventLoopDelay>, "mean" | "max" | "percentile" | "reset">

export class LagWindows {
  private whole: LagFigures | null = null
  private readonly histogram: Histogram

  constructor(histogram: Histogram) {
    this.histogram = histogram
  }

  /** Ends the current minute: its figures are shown from now on, and the measurement starts again. */
  roll(): void {
    this.whole = figuresOf(this.histogram)
    this.histogram.reset()
  }

  figures(): LagFigures {
    return this.whole ?? figuresOf(this.histogram)
  }
}

/** The mean of an empty histogram is NaN, which the metrics can't show, so it counts as 0. */
const figuresOf = (histogram: Histogram): LagFigures => {
  const seconds = (nanos: number): number => (Number.isFinite(nanos) ? nanos / 1e9 : 0)
  return { mean: seconds(histogram.mean), p99: seconds(histogram.percentile(99)), max: seconds(histogram.max) }
}

/** Measures the event loop's delay for as long as the scope is open. */
export const loopLag: Effect.Effect<LagWindows, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution: 20 })
      histogram.enable()
      const windows = new LagWindows(histogram)
      const timer = setInterval(() => windows.roll(), windowMillis).unref()
      return { histogram, windows, timer }
    }),
    ({ histogram, timer }) =>
      Effect.sync(() => {
        clearInterval(timer)
        histogram.disable()
      })
  ),
  ({ windows }) => windows
)
