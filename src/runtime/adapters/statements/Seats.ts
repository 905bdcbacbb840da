/**
 * Who has the rendering threads: jobs that run or wait are bounded as a whole and for each partner, and the readers of one partner
 * don't keep all threads from the others (STS-31). A thread that is free goes to the partner that has the fewest; and where others
 * wait, of a partner that has several the one that is held up by its reader is cut, so that slow readers hold one at most.
 */
import { Deferred, Effect, Option } from "effect"

export interface SeatsOptions {
  /** Threads at a time. */
  readonly threads: number
  /** Jobs that wait for one, and how long each may, milliseconds. */
  readonly waiting: number
  readonly waitMillis: number
  /** How long one waits before a slow reader of another partner is cut for it, milliseconds. */
  readonly shareMillis: number
  /** Jobs of one partner that run or wait. */
  readonly ofPartner: number
}

/** A job's place. */
export interface Seat {
  readonly partnerId: number
  readonly granted: Deferred.Deferred<void>
  state: "waiting" | "running" | "left"
  /** Whether what it made waits for its reader. */
  isHeldUp: () => boolean
  /** Ends it, and tells its reader with the next word. */
  cut: () => void
}

export class Seats {
  private readonly options: SeatsOptions
  /** In the order in which they came. */
  private readonly seats = new Set<Seat>()

  constructor(options: SeatsOptions) {
    this.options = options
  }

  /** A place, running or waiting; null: there is no room. */
  enter(partnerId: number): Seat | null {
    const { threads, waiting, ofPartner } = this.options
    const own = [...this.seats].filter((seat) => seat.partnerId === partnerId)
    if (this.seats.size >= threads + waiting || own.length >= ofPartner) return null
    const seat: Seat = {
      partnerId,
      granted: Deferred.makeUnsafe<void>(),
      state: "waiting",
      isHeldUp: () => false,
      cut: () => {}
    }
    this.seats.add(seat)
    this.grant()
    return seat
  }

  leave(seat: Seat): void {
    seat.state = "left"
    this.seats.delete(seat)
    this.grant()
  }

  /** Waits for a thread; false: for longer than anybody should. */
  granted(seat: Seat): Effect.Effect<boolean> {
    const { waitMillis, shareMillis } = this.options
    return Effect.gen({ self: this }, function* () {
      for (let left = waitMillis; left > 0; left -= shareMillis) {
        const granted = yield* Effect.timeoutOption(Deferred.await(seat.granted), Math.min(left, shareMillis))
        if (Option.isSome(granted)) return true
        this.makeRoom(seat)
      }
      return seat.state === "running"
    })
  }

  private running(partnerId?: number): ReadonlyArray<Seat> {
    return [...this.seats].filter(
      (seat) => seat.state === "running" && (partnerId === undefined || seat.partnerId === partnerId)
    )
  }

  /** Threads that are free go to whoever has the fewest, of those to who came first. */
  private grant(): void {
    while (this.running().length < this.options.threads) {
      const waiting = [...this.seats].filter(({ state }) => state === "waiting")
      const next = waiting.toSorted(
        (one, other) => this.running(one.partnerId).length - this.running(other.partnerId).length
      )[0]
      if (next === undefined) return
      next.state = "running"
      Deferred.doneUnsafe(next.granted, Effect.void)
    }
  }

  /** Cuts a slow reader, the last that came, of a partner that has more threads than whoever waits would have. */
  private makeRoom({ partnerId }: Seat): void {
    const fair = this.running(partnerId).length + 1
    const slow = this.running().findLast((seat) => this.running(seat.partnerId).length > fair && seat.isHeldUp())
    if (slow === undefined) return
    slow.cut()
    this.leave(slow)
  }
}
