/**
 * The one writer of the venue: inputs go to the log in the order in which they came, as many at once as came while the last
 * ones were written, and are applied when the disk has them. So nothing that leaves the venue, and nothing that is read from
 * it, can be lost. While the log can't be written, inputs are refused and the books stay as they are.
 */
import type { Venue } from "../core/Venue.ts"
import type { Applied, VenueInput } from "../core/VenueInput.ts"

/** Where inputs are kept. */
export interface InputLog {
  /** Writes inputs, in order; they are on disk when it completes. A failure has left nothing of them. */
  append(inputs: ReadonlyArray<VenueInput>): Promise<void>
}

/** The venue takes no input now; nothing was done. */
export class WriterClosed extends Error {}

interface Waiting {
  readonly input: VenueInput
  readonly resolve: (applied: Applied) => void
  readonly reject: (error: WriterClosed) => void
}

/** Inputs that may wait at once, and that one write takes. */
const waitingLimit = 20_000
const batchLimit = 1_000

export class VenueWriter {
  private readonly venue: Pick<Venue, "apply" | "now">
  private readonly log: InputLog
  private readonly now: () => number
  private readonly onApplied: () => void
  private waiting: Array<Waiting> = []
  private running: Promise<void> | null = null
  private ended = false
  /** Why the last write failed, in words; null when it did not. */
  trouble: string | null = null

  /** `now` is the business time that inputs come at; `onApplied` is called after each group of them that was applied. */
  constructor(venue: Pick<Venue, "apply" | "now">, log: InputLog, now: () => number, onApplied: () => void) {
    this.venue = venue
    this.log = log
    this.now = now
    this.onApplied = onApplied
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
      if (!(error instanceof WriterClosed)) throw error
    }
  }

  /** Nothing is waiting: a tick that comes now does not queue behind another. */
  get idle(): boolean {
    return this.running === null
  }

  /** Takes no more; completes when what was taken is done. */
  async end(): Promise<void> {
    this.ended = true
    await this.running
  }

  private async run(): Promise<void> {
    // Whatever comes in this turn of the loop is written together.
    await Promise.resolve()
    while (this.waiting.length > 0) await this.write(this.waiting.splice(0, batchLimit))
    this.running = null
  }

  private async write(batch: ReadonlyArray<Waiting>): Promise<void> {
    const time = this.timeOf(batch)
    try {
      await this.log.append([...time, ...batch.map(({ input }) => input)])
      this.trouble = null
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error)
      const closed = new WriterClosed(`The log can not be written (${this.trouble}).`)
      for (const { reject } of batch) reject(closed)
      return
    }
    for (const input of time) this.venue.apply(input)
    const answers = batch.map(({ input }) => this.venue.apply(input))
    this.onApplied()
    for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Applied)
  }

  /** Time first: what comes now happens now. */
  private timeOf(batch: ReadonlyArray<Waiting>): ReadonlyArray<VenueInput> {
    const to = this.now()
    const needed = to > this.venue.now && batch.some(({ input }) => input.type !== "time")
    return needed ? [{ type: "time", to }] : []
  }
}
