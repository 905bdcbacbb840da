/**
 * The lines of a service on a standard stream. Whoever reads them may go away (a closed pipe), have no room (a full disk)
 * or stand still: none of it is worth the service. A line that can't be written is dropped and counted, and the first one
 * that is taken again says how many are missing.
 */

/** What is needed of process.stdout and process.stderr, which stay open whatever fails. */
export interface LineStream {
  /** Bytes that wait in this process. */
  readonly writableLength: number
  write(text: string, done: (error?: Error | null) => void): unknown
  on(event: "error", listener: () => void): unknown
}

/** Bytes that may wait for a reader that stands still; a pipe keeps them in this process. */
const mostWaiting = 1024 * 1024

/** Says in the form of the stream that lines are missing before this one. */
export type Notice = (missing: number) => string

export class LineOutput {
  private readonly stream: LineStream
  private missing = 0
  private total = 0

  constructor(stream: LineStream) {
    this.stream = stream
    // Each write learns of its own failure; without a listener the stream's error would end the process.
    stream.on("error", () => undefined)
  }

  /** Lines dropped since the process started. */
  get dropped(): number {
    return this.total
  }

  /** Writes one line, or lines that belong together; `failed` hears that they were dropped, and by which error code. */
  write(line: string, notice: Notice, failed: (code: string) => void = () => undefined): void {
    const said = this.missing
    const drop = (code: string): void => {
      this.missing += said + 1
      this.total += 1
      failed(code)
    }
    this.missing = 0
    if (this.stream.writableLength > mostWaiting) return drop("EAGAIN")
    // A disk that fills up in the middle of a line leaves half of it: the notice begins a line of its own.
    const text = said === 0 ? `${line}\n` : `\n${notice(said)}\n${line}\n`
    this.stream.write(text, (error) => {
      if (error) drop((error as NodeJS.ErrnoException).code ?? error.message)
    })
  }
}

/** The two streams of this process, each with one place that writes into it and counts. */
let opened: { readonly stdout: LineOutput; readonly stderr: LineOutput } | null = null

/** Only a service opens them: a command is to notice that its answer could not be written. */
export const standardOutput = () =>
  (opened ??= { stdout: new LineOutput(process.stdout), stderr: new LineOutput(process.stderr) })

/** By stream (metrics). */
export const droppedLines = (): Readonly<Record<"stdout" | "stderr", number>> => ({
  stdout: opened?.stdout.dropped ?? 0,
  stderr: opened?.stderr.dropped ?? 0
})
