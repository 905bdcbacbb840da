/**
 * The simulator's random source: a small seeded generator (mulberry32), so that a printed seed repeats every choice of a run.
 * Not for secrets.
 */
export class SeededRandom {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** The present position in the sequence: a new generator with this number as its seed continues the sequence. */
  get position(): number {
    return this.state
  }

  /** A number in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number from `low` to `high`, both inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of the values; the list must not be empty. */
  pick<A>(values: ReadonlyArray<A>): A {
    return values[this.between(0, values.length - 1)] as A
  }

  /** An independent generator, so that one component's choices do not shift another's. */
  fork(): SeededRandom {
    return new SeededRandom(this.between(0, 4_294_967_295))
  }
}
