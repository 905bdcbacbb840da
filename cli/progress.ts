/**
 * Progress of a long command: one updated line on a terminal, occasional lines when stderr is no terminal, none with --json
 * (operator surface, rules for every command).
 */
import type { CliIo } from "./CliIo.ts"

/** Refresh interval of the terminal's line, ms. */
const redrawMillis = 200
/** Interval of the lines without a terminal, ms; a command that ends earlier prints none. */
const lineMillis = 10_000

export class Progress {
  private readonly io: Pick<CliIo, "progress" | "stderr">
  private readonly silent: boolean
  private readonly now: () => number
  private shownAt: number
  private hasShown = false

  constructor(io: Pick<CliIo, "progress" | "stderr">, json: boolean, now: () => number = Date.now) {
    this.io = io
    this.silent = json
    this.now = now
    this.shownAt = io.progress === null ? now() : Number.NEGATIVE_INFINITY
  }

  /** Updates the progress. Calls may be frequent: the interval of the output limits how many lines are shown. */
  report(line: string): void {
    if (this.silent) return
    const { progress } = this.io
    const at = this.now()
    if (at - this.shownAt < (progress === null ? lineMillis : redrawMillis)) return
    this.shownAt = at
    this.hasShown = true
    if (progress === null) this.io.stderr(`${line}\n`)
    else progress(line)
  }

  /** Clears the terminal's line at the end of the command, so that later output starts on an empty line. */
  end(): void {
    if (this.hasShown) this.io.progress?.(null)
    this.hasShown = false
  }
}

export interface Amount {
  readonly done: number
  /** The total number of units; null when unknown. */
  readonly total: number | null
  /** The counted unit, such as "entries". */
  readonly unit: string
  /** Time since the start, ms. `before`: units that were done before the start, which do not count for the rate. */
  readonly millis: number
  readonly before?: number
}

/** The progress as text, such as `12,000 of 48,000 entries (25%), 3,100 a second, 12 s left`. */
export const amountLine = ({ done, total, unit, millis, before = 0 }: Amount): string => {
  const seconds = millis / 1_000
  const rate = seconds > 0 ? (done - before) / seconds : 0
  const shown = total === null ? `${grouped(done)} ${unit}` : `${grouped(done)} of ${grouped(total)} ${unit}`
  const percent = total === null || total === 0 ? "" : ` (${Math.floor((Math.min(done, total) / total) * 100)}%)`
  const speed = rate < 1 ? "" : `, ${grouped(Math.round(rate))} a second`
  const left = total === null || rate <= 0 || done >= total ? "" : `, ${Math.ceil((total - done) / rate)} s left`
  return `${shown}${percent}${speed}${left}`
}

const grouped = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",")
