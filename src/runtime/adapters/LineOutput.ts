/**
 * The lines of a service on a standard stream. A reader may end (a closed pipe), have no space (a full disk) or stall; the
 * service goes on in each case. A line that can't be written is dropped and counted, and a notice before the next written line
 * gives the number of missing lines.
 */

/** The required members of process.stdout and process.stderr, which stay open after any failure. */
export interface LineStream {
  /** Bytes that this process still buffers for the stream. */
  readonly writableLength: number
  write(text: string, done: (error?: Error | null) => void): unknown
  on(event: "error", listener: () => void): unknown
}

/**
 * Limit on the bytes that wait for a stalled reader. Further lines are dropped, because a full pipe buffers in this
 * process.
 */
const mostWaiting = 1024 * 1024

/** Makes the notice that `missing` lines were dropped, in the format of the stream's other lines. */
export type Notice = (missing: number) => string

export class LineOutput {
  private readonly stream: LineStream
  private missing = 0
  private total = 0

  constructor(stream: LineStream) {
    this.stream = stream
    // Each write receives its own failure; without a listener the stream's error would end the process.
    stream.on("error", () => undefined)
  }

  /** Lines dropped since the process started. */
  get dropped(): number {
    return this.total
  }

  /** Writes one line, or lines that belong together; `failed` receives the error code if they are dropped. */
  write(line: string, notice: Notice, failed: (code: string) => void = () => undefined): void {
    const reported = this.missing
    const drop = (code: string): void => {
      this.missing += reported + 1
      this.total += 1
      failed(code)
    }
    this.missing = 0
    if (this.stream.writableLength > mostWaiting) return drop("EAGAIN")
    // After a disk has filled up in the middle of a line, the rest of that line is lost, so the notice begins on a new
    // line.
    const text = reported === 0 ? `${line}\n` : `\n${notice(reported)}\n${line}\n`
    this.stream.write(text, (error) => {
      if (error) drop((error as NodeJS.ErrnoException).code ?? error.message)
    })
  }
}

/** The output on stdout and on stderr. Each stream has only one writer, so that dropped lines are counted once. */
let opened: { readonly stdout: LineOutput; readonly stderr: LineOutput } | null = null

/** The output of a service, which drops lines that can't be written. Commands must not use it: they report failed writes. */
export const standardOutput = () =>
  (opened ??= { stdout: new LineOutput(process.stdout), stderr: new LineOutput(process.stderr) })

/** The number of lines dropped on each stream since the process started (metrics). */
export const droppedLines = (): Readonly<Record<"stdout" | "stderr", number>> => ({
  stdout: opened?.stdout.dropped ?? 0,
  stderr: opened?.stderr.dropped ?? 0
})
