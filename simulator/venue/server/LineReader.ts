/**
 * A stream to one reader: lines of JSON on an open response. The backlog is limited. The venue cuts a reader over the limit,
 * and one that stalls; the reader then reconnects with its position.
 */
import type { ServerResponse } from "node:http"

export interface LineReaderLimits {
  /** Limit on the bytes that wait for this reader; a reader over it is cut. */
  readonly backlogBytes: number
  /** How long a reader may leave its full buffer unread, wall ms; a reader that stalls longer is cut. */
  readonly stallMillis: number
}

export const usualReaderLimits: LineReaderLimits = { backlogBytes: 4 * 1024 * 1024, stallMillis: 15_000 }

export class LineReader {
  private readonly response: ServerResponse
  private readonly limits: LineReaderLimits
  /** Lines that faults delay, by the timer that will write them, oldest first. */
  private readonly held = new Map<NodeJS.Timeout, ReadonlyArray<Buffer>>()
  private stalled: NodeJS.Timeout | null = null

  constructor(response: ServerResponse, limits: LineReaderLimits, onDrain: () => void) {
    this.response = response
    this.limits = limits
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" })
    response.flushHeaders()
    response.on("drain", () => {
      this.settle()
      onDrain()
    })
    response.on("close", () => this.settle())
    // The reader disconnected during a write: its `close` event follows.
    response.on("error", () => this.cut())
  }

  /** True while lines for this reader need not wait. */
  get ready(): boolean {
    return !this.response.writableNeedDrain && !this.response.destroyed
  }

  write(line: Buffer): void {
    const { response, limits } = this
    if (response.destroyed || response.writableEnded) return
    if (!response.write(line) && this.stalled === null) {
      this.stalled = setTimeout(() => this.cut(), limits.stallMillis).unref()
    }
    if (response.writableLength > limits.backlogBytes) this.cut()
  }

  /** Writes lines later. Over a thousand delayed writes, the oldest are sent at once. */
  writeLater(lines: ReadonlyArray<Buffer>, delayMillis: number): void {
    const timer = setTimeout(() => this.release(timer), delayMillis).unref()
    this.held.set(timer, lines)
    const [oldest] = this.held.keys()
    if (this.held.size > 1_000 && oldest !== undefined) this.release(oldest)
  }

  /** Breaks the connection without the end of the stream, as a fault of the network would. */
  cut(): void {
    this.settle()
    this.response.destroy()
  }

  end(): void {
    this.settle()
    this.response.end()
  }

  private release(timer: NodeJS.Timeout): void {
    clearTimeout(timer)
    const lines = this.held.get(timer) ?? []
    this.held.delete(timer)
    for (const line of lines) this.write(line)
  }

  private settle(): void {
    if (this.stalled !== null) clearTimeout(this.stalled)
    this.stalled = null
    if (!this.response.destroyed && !this.response.writableEnded) return
    for (const timer of this.held.keys()) clearTimeout(timer)
    this.held.clear()
  }
}
