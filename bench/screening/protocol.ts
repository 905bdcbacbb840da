/** The messages between the benchmark and its screening process. */

export interface ScreeningQuestion {
  readonly entries: number
  /** Clients screened in one round, each measured individually. */
  readonly clients: number
  /** Clients of a round that the plain scan also judges. */
  readonly scanned: number
  readonly rounds: number
  readonly seed: number
}

export interface ScreeningAnswer {
  readonly buildMillis: number
  /** The longest of the pieces in which the index was built, ms. */
  readonly pieceMillis: number
  /** Heap of the index with its entries, and of the entries alone, in MB. */
  readonly indexMegabytes: number
  readonly entriesMegabytes: number
  /** Microseconds for one client, one figure per round. */
  readonly p50Micros: ReadonlyArray<number>
  readonly p99Micros: ReadonlyArray<number>
  readonly scanMicros: ReadonlyArray<number>
  /** Processor time of this thread for one client on average, which other programs do not affect. */
  readonly cpuMicros: ReadonlyArray<number>
  /**
   * For one client on average: names compared by their patterns, names compared letter by letter, and entries at a
   * threshold.
   */
  readonly seen: number
  readonly comparedNames: number
  readonly matched: number
  /** Clients screened, clients with a result other than CLEAR, and clients whose result a scan confirmed. */
  readonly screened: number
  readonly found: number
  readonly compared: number
}
