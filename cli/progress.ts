/**
 * How far a command is that takes its time: one line of the terminal that is written anew, a line of stderr now and then when that
 * is no terminal, nothing with --json (operator surface, rules for every command).
 */
import type { CliIo } from "./CliIo.ts"

/** Between two looks of the terminal's line, ms. */
const redrawMillis = 200
/** Between two lines where nobody looks on, ms; a command that is done by then says nothing. */
const lineMillis = 10_000

export class Progress {
  private readonly io: Pick<CliIo, "progress" | "stderr">
  private readonly silent: boolean
  private readonly now: () => number
  private saidAt: number
  private said = false

  constructor(io: Pick<CliIo, "progress" | "stderr">, json: boolean, now: () => number = Date.now) {
    this.io = io
    this.silent = json
    this.now = now
    this.saidAt = io.progress === null ? now() : Number.NEGATIVE_INFINITY
  }

  /** May be told as often as there is something new. */
  tell(line: string): void {
    if (this.silent) return
    const { progress } = this.io
    const at = this.now()
    if (at - this.saidAt < (progress === null ? lineMillis : redrawMillis)) return
    this.saidAt = at
    this.said = true
    if (progress === null) this.io.stderr(`${line}\n`)
    else progress(line)
  }

  /** Takes the terminal's line away. */
  end(): void {
    if (this.said) this.io.progress?.(null)
    this.said = false
  }
}

export interface Amount {
  readonly done: number
  /** Null: nobody knows. */
  readonly total: number | null
  /** What is counted, such as "entries". */
  readonly unit: string
  /** Since its begin, ms; those that were done before it are not counted for the rate. */
  readonly millis: number
  readonly before?: number
}

/** Such as `12,000 of 48,000 entries (25%), 3,100 a second, 12 s left`. */
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
