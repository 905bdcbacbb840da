/**
 * What the benchmark says to its load generator and gets back. The generator is a process of its own, so that the
 * measured service shares no event loop with it (architecture 11, speed).
 */

/** One closed loop: `connections` requests in flight until `millis` are over, or every client of the list was read once. */
export interface Slice {
  readonly port: number
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string
  readonly partnerKey: string
  readonly kind: "collateral" | "read" | "readOnce"
  readonly clientIds: ReadonlyArray<number>
  readonly connections: number
  readonly millis: number
  /** Keeps references of slices apart: letters and digits. */
  readonly tag: string
}

export interface SliceResult {
  /** Requests answered 2xx inside the window, per second. */
  readonly rate: number
  /** Every request answered 2xx, those that ended after the window included: what the books must hold. */
  readonly acknowledged: number
  readonly p50Millis: number
  readonly p99Millis: number
  readonly maxMillis: number
  readonly errors: number
  /** Status and body of the first answer that was no success; null when there was none. */
  readonly firstError: string | null
  /** Part of one core that the generator itself used inside the window. */
  readonly cpuShare: number
  /** Window on the machine's monotonic clock, microseconds: cuts a CPU profile to the load. */
  readonly fromMicros: number
  readonly toMicros: number
}

/** The percentile of an ascending list by the nearest rank; 0 when it is empty. */
export const percentile = (ascending: ReadonlyArray<number> | Float64Array, part: number): number =>
  ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? 0
