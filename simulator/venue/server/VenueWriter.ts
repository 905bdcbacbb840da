/**
 * The venue's single writer. It logs inputs in order of arrival, all that arrived during the last write at once, and applies
 * them after the write. So published or readable data are never lost. While the log can't be written, inputs are refused and
 * the books stay unchanged.
 */
import type { Venue } from "../core/Venue.ts"
import type { Applied, VenueInput } from "../core/VenueInput.ts"
import { VenueLogError } from "../log/VenueLog.ts"

/** The log that stores inputs before they are applied. */
export interface InputLog {
  /** Writes inputs in order; they are on disk on completion. */
  append(inputs: ReadonlyArray<VenueInput>): Promise<void>
  /** Applies the inputs of the last append to the venue. The result of each is in the same place. */
  play(inputs: ReadonlyArray<VenueInput>): ReadonlyArray<Applied>
  /** Saves the venue's state, so that earlier inputs are not replayed again. */
  snapshot(): Promise<void>
}

/** The log, and the venue that it applies to. */
export interface WriterBooks {
  readonly venue: Pick<Venue, "now">
  readonly log: InputLog
  /** The time that a start would take to replay the log, estimated, wall ms. */
  readonly replayMillis: number
}

export interface WriterListeners {
  /** Called after each group of inputs is applied, to publish its events. */
  readonly applied: () => void
  /** Called with a sentence if the log can't be written, and with null once it can. */
  readonly trouble: (sentence: string | null) => void
}

/** The error of an input that was not applied, because the venue takes no input now. */
export class WriterClosed extends Error {}

interface Waiting {
  readonly input: VenueInput
  readonly resolve: (applied: Applied) => void
  readonly reject: (error: unknown) => void
}

/**
 * Estimated replay time, wall ms, from which a snapshot is written. For books whose snapshots take long the interval grows, so
 * that snapshots take a fifth of the time at most.
 */
const replayLimit = 500
const snapshotShare = 4
/** Limit on waiting inputs, and on inputs of one write. */
const waitingLimit = 20_000
const batchLimit = 1_000

export class VenueWriter {
  private readonly books: WriterBooks
  private readonly clock: { readonly now: () => number }
  private readonly on: WriterListeners
  private replayMillis: number
  /** Duration of the last snapshot, wall ms. */
  private snapshotMillis = 0
  private waiting: Array<Waiting> = []
  private running: Promise<void> | null = null
  private ended = false
  /** Why the last write failed; null if it did not. */
  trouble: string | null = null

  /** `clock`: supplies the business time at which inputs are applied. */
  constructor(books: WriterBooks, clock: { readonly now: () => number }, on: WriterListeners) {
    this.books = books
    this.clock = clock
    this.replayMillis = books.replayMillis
    this.on = on
  }

  /** Logs an input and applies it. Rejects with WriterClosed if it was not applied. */
  submit(input: VenueInput): Promise<Applied> {
    if (this.ended) return Promise.reject(new WriterClosed("The venue ends."))
    if (this.waiting.length >= waitingLimit) return Promise.reject(new WriterClosed("Too much is waiting."))
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, resolve, reject })
      this.running ??= this.run()
    })
  }

  /** Like `submit`, for an input that the venue can do without: after a refusal it is dropped and not reported. */
  async offer(input: VenueInput): Promise<void> {
    try {
      await this.submit(input)
    } catch (error) {
      if (!(error instanceof WriterClosed || error instanceof VenueLogError)) throw error
    }
  }

  /** True when no input waits or is being written. The clock adds a tick only then, so that ticks never queue up. */
  get idle(): boolean {
    return this.running === null
  }

  /** Refuses new inputs; completes after the accepted ones are applied and a snapshot is written. */
  async end(): Promise<void> {
    this.ended = true
    await this.running
    await this.books.log.snapshot()
  }

  private async run(): Promise<void> {
    // Waiting one turn of the event loop collects all inputs of this turn into one write.
    await Promise.resolve()
    while (this.waiting.length > 0) await this.write(this.waiting.splice(0, batchLimit))
    this.running = null
  }

  private async write(batch: ReadonlyArray<Waiting>): Promise<void> {
    const inputs = [...this.timeOf(batch), ...batch.map(({ input }) => input)]
    try {
      await this.books.log.append(inputs)
      this.turn(null)
    } catch (error) {
      const trouble = error instanceof Error ? error.message : String(error)
      this.turn(trouble)
      const refusal = isCertain(error) ? new WriterClosed(trouble) : error
      for (const { reject } of batch) reject(refusal)
      return
    }
    const before = performance.now()
    const answers = this.books.log.play(inputs).slice(-batch.length)
    this.on.applied()
    for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Applied)
    this.replayMillis += performance.now() - before
    if (this.replayMillis <= Math.max(replayLimit, this.snapshotMillis * snapshotShare)) return
    this.replayMillis = 0
    const began = performance.now()
    await this.books.log.snapshot()
    this.snapshotMillis = performance.now() - began
  }

  private turn(trouble: string | null): void {
    if ((trouble === null) !== (this.trouble === null)) this.on.trouble(trouble)
    this.trouble = trouble
  }

  /** Adds an input that advances the venue's time to the present, so that the batch is executed at its own time. */
  private timeOf(batch: ReadonlyArray<Waiting>): ReadonlyArray<VenueInput> {
    const to = this.clock.now()
    const needed = to > this.books.venue.now && batch.some(({ input }) => input.type !== "time")
    return needed ? [{ type: "time", to }] : []
  }
}

/** Whether the refused inputs are certainly not on disk: a write that may have succeeded is no refusal. */
const isCertain = (error: unknown): boolean => !(error instanceof VenueLogError) || error.certain
