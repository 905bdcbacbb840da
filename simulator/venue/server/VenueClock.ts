/** Time at the simulated venue: business time is wall time and an offset that a jump makes larger, never smaller (C4). */

export class VenueClock {
  readonly wall: () => number
  private offset: number

  /** `now` is the business time to go on from, Unix ms; `offset` what it was ahead of wall time when it was last kept. */
  constructor(wall: () => number, now: number, offset: number) {
    this.wall = wall
    this.offset = Math.max(offset, now - wall())
  }

  /** Business time as it should be by now, Unix ms. */
  now(): number {
    return this.wall() + this.offset
  }

  /** Business time has come to `at`: it goes on from there, if that is ahead. */
  reached(at: number): void {
    this.offset = Math.max(this.offset, at - this.wall())
  }

  sleep(millis: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, millis).unref())
  }
}
