/** What the benchmark asks of its screening process and gets back. */

export interface ScreeningQuestion {
  readonly entries: number
  /** Clients screened in one round, each timed on its own. */
  readonly clients: number
  /** Clients of a round that the plain scan judges, too. */
  readonly scanned: number
  readonly rounds: number
  readonly seed: number
}

export interface ScreeningAnswer {
  readonly buildMillis: number
  /** The longest of the pieces that the index was built in. */
  readonly pieceMillis: number
  /** Heap of the index with its entries, and of the entries alone, in MB. */
  readonly indexMegabytes: number
  readonly entriesMegabytes: number
  /** By round, microseconds. */
  readonly p50Micros: ReadonlyArray<number>
  readonly p99Micros: ReadonlyArray<number>
  readonly scanMicros: ReadonlyArray<number>
  /** Processor time of this thread for one client on average: other programs do not show in it. */
  readonly cpuMicros: ReadonlyArray<number>
  /** For one client on average: names seen by their patterns, those compared letter by letter, entries at a threshold. */
  readonly seen: number
  readonly comparedNames: number
  readonly matched: number
  /** Clients screened, those whose answer was not CLEAR, and those whose answer a scan confirmed. */
  readonly screened: number
  readonly found: number
  readonly compared: number
}
