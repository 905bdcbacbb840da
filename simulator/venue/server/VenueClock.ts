/** The clock of the simulated venue: business time is wall time plus an offset, which only jumps increase (C4). */

export class VenueClock {
  readonly wall: () => number
  private offset: number

  /** `now` is the business time to continue from, Unix ms; `offset` the last stored lead over wall time. */
  constructor(wall: () => number, now: number, offset: number) {
    this.wall = wall
    this.offset = Math.max(offset, now - wall())
  }

  /** Current business time, Unix ms. */
  now(): number {
    return this.wall() + this.offset
  }

  /** Continues from `at`, to which business time has been advanced; an earlier time changes nothing. */
  reached(at: number): void {
    this.offset = Math.max(this.offset, at - this.wall())
  }

  sleep(millis: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, millis).unref())
  }
}
