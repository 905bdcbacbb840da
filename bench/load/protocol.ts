/**
 * The messages between the benchmark and its load generator. The generator is a separate process, so that it shares no
 * event loop with the measured service (architecture 11, speed).
 */

/** One closed loop: `connections` requests in flight for `millis`, or until every client of the list was read once. */
export interface Slice {
  readonly port: number
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string
  readonly partnerKey: string
  readonly kind: "collateral" | "read" | "readOnce"
  readonly clientIds: ReadonlyArray<number>
  readonly connections: number
  readonly millis: number
  /** Separates the references of slices: letters and digits. */
  readonly tag: string
}

export interface SliceResult {
  /** Requests answered 2xx inside the window, per second. */
  readonly rate: number
  /** All requests answered with 2xx, including those that ended after the window. The books must hold exactly these. */
  readonly acknowledged: number
  readonly p50Millis: number
  readonly p99Millis: number
  readonly maxMillis: number
  readonly errors: number
  /** Status and body of the first answer that was no success; null when there was none. */
  readonly firstError: string | null
  /** The share of one core that the generator used inside the window. */
  readonly cpuShare: number
  /** The window on the machine's monotonic clock, microseconds. A CPU profile is limited to this window. */
  readonly fromMicros: number
  readonly toMicros: number
}

/** The percentile of an ascending list by the nearest rank; 0 when it is empty. */
export const percentile = (ascending: ReadonlyArray<number> | Float64Array, part: number): number =>
  ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? 0
