/**
 * The one writer of the venue: inputs go to the log in the order in which they came, as many at once as came while the last
 * ones were written, and are applied when the disk has them. So nothing that leaves the venue, and nothing that is read from
 * it, can be lost. While the log can't be written, inputs are refused and the books stay as they are.
 */
import type { Venue } from "../core/Venue.ts"
import type { Applied, VenueInput } from "../core/VenueInput.ts"
import { VenueLogError } from "../log/VenueLog.ts"

/** Where inputs are kept. */
export interface InputLog {
  /** Writes inputs, in order; they are on disk when it completes. */
  append(inputs: ReadonlyArray<VenueInput>): Promise<void>
  /** Plays the inputs that were appended last, each done or refused. */
  play(inputs: ReadonlyArray<VenueInput>): ReadonlyArray<Applied>
  /** Keeps the venue as it is, so that nothing before is replayed again. */
  snapshot(): Promise<void>
}

/** What is written to, and the venue that it plays on. */
export interface WriterBooks {
  readonly venue: Pick<Venue, "now">
  readonly log: InputLog
  /** Wall ms that a start would need to replay the log. */
  readonly replayMillis: number
}

export interface WriterListeners {
  /** Called after each group of inputs that was applied. */
  readonly applied: () => void
  /** The log can't be written, in a sentence, or can be again: null. */
  readonly trouble: (sentence: string | null) => void
}

/** The venue takes no input now; nothing was done. */
export class WriterClosed extends Error {}

interface Waiting {
  readonly input: VenueInput
  readonly resolve: (applied: Applied) => void
  readonly reject: (error: unknown) => void
}

/**
 * A start that would replay for longer than this, wall ms, gets a snapshot to begin from; where the books are so large that
 * one takes long, so much later that snapshots take a fifth of the time at most.
 */
const replayLimit = 500
const snapshotShare = 4
/** Inputs that may wait at once, and that one write takes. */
const waitingLimit = 20_000
const batchLimit = 1_000

export class VenueWriter {
  private readonly books: WriterBooks
  private readonly clock: { readonly now: () => number }
  private readonly on: WriterListeners
  private replayMillis: number
  /** Wall ms that the last snapshot took. */
  private snapshotMillis = 0
  private waiting: Array<Waiting> = []
  private running: Promise<void> | null = null
  private ended = false
  /** Why the last write failed, in words; null when it did not. */
  trouble: string | null = null

  /** The clock shows the business time that inputs come at. */
  constructor(books: WriterBooks, clock: { readonly now: () => number }, on: WriterListeners) {
    this.books = books
    this.clock = clock
    this.replayMillis = books.replayMillis
    this.on = on
  }

  /** Logs an input and applies it. Rejects with WriterClosed when it was not. */
  submit(input: VenueInput): Promise<Applied> {
    if (this.ended) return Promise.reject(new WriterClosed("The venue ends."))
    if (this.waiting.length >= waitingLimit) return Promise.reject(new WriterClosed("Too much is waiting."))
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, resolve, reject })
      this.running ??= this.run()
    })
  }

  /** As `submit`, for what need not happen: one that is not taken changes nothing. */
  async offer(input: VenueInput): Promise<void> {
    try {
      await this.submit(input)
    } catch (error) {
      if (!(error instanceof WriterClosed || error instanceof VenueLogError)) throw error
    }
  }

  /** Nothing is waiting: a tick that comes now does not queue behind another. */
  get idle(): boolean {
    return this.running === null
  }

  /** Takes no more; completes when what was taken is done and a snapshot is kept. */
  async end(): Promise<void> {
    this.ended = true
    await this.running
    await this.books.log.snapshot()
  }

  private async run(): Promise<void> {
    // Whatever comes in this turn of the loop is written together.
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

  /** Time first: what comes now happens now. */
  private timeOf(batch: ReadonlyArray<Waiting>): ReadonlyArray<VenueInput> {
    const to = this.clock.now()
    const needed = to > this.books.venue.now && batch.some(({ input }) => input.type !== "time")
    return needed ? [{ type: "time", to }] : []
  }
}

/** Whether nothing of the refused inputs is there: a write that may have come through is no refusal. */
const isCertain = (error: unknown): boolean => !(error instanceof VenueLogError) || error.certain
