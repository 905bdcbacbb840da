/**
 * Compares the systems by interleaved slices (service, typical, tuned, repeatedly) after a warm-up of each, with
 * medians over the rounds. By the interleaving, faster and slower moments of the machine affect all systems alike.
 */
import { percentile } from "./load/protocol.ts"
import type { Measured, Systems } from "./Systems.ts"

/** The median with the smallest and the largest value. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface Row {
  readonly system: string
  readonly rate: Spread
  readonly p50: Spread
  readonly p99: Spread
  /** Processor time per request, microseconds; null if it was not measured. */
  readonly app: Spread | null
  readonly database: Spread | null
  readonly generator: Spread | null
}

export interface Rows {
  readonly service: Row
  readonly typical: Row | null
  readonly tuned: Row
}

export interface RoundOptions {
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  readonly progress: (line: string) => void
}

export const spreadOf = (values: ReadonlyArray<number>): Spread => {
  const ascending = values.toSorted((a, b) => a - b)
  const middle = ascending.length >> 1
  const upper = ascending[middle] ?? 0
  return {
    median: ascending.length % 2 === 1 ? upper : ((ascending[middle - 1] ?? 0) + upper) / 2,
    min: ascending[0] ?? 0,
    max: ascending.at(-1) ?? 0
  }
}

export const rowOf = (system: string, slices: ReadonlyArray<Measured>): Row => ({
  system,
  rate: spreadOf(slices.map((slice) => slice.rate)),
  p50: spreadOf(slices.map((slice) => slice.p50Millis)),
  p99: spreadOf(slices.map((slice) => slice.p99Millis)),
  app: spreadOf(slices.map((slice) => slice.appMicros)),
  database: spreadOf(slices.map((slice) => slice.databaseMicros)),
  generator: spreadOf(slices.map((slice) => (slice.cpuShare * 1e6) / Math.max(1, slice.rate)))
})

/** Measures reports at `connections`. Also returns the batch sizes. */
export const runReports = async (
  systems: Systems,
  connections: number,
  options: RoundOptions
): Promise<{ readonly rows: Rows; readonly batches: BatchSizes }> => {
  const service: Array<Measured> = []
  const typical: Array<Measured> = []
  const tuned: Array<Measured> = []
  let sizes: ReadonlyArray<number> = []
  for (let round = 0; round <= options.rounds; round++) {
    const millis = round === 0 ? options.warmMillis : options.sliceMillis
    const after = await systems.lastReport()
    service.push(await systems.runService("collateral", connections, millis))
    sizes = await systems.batchSizesSince(after)
    typical.push(await systems.runReference("typical", "collateral", connections, millis))
    tuned.push(await systems.runReference("tuned", "collateral", connections, millis))
    options.progress(roundLine(`reports, ${connections} connections`, round, [service, typical, tuned]))
  }
  return {
    rows: {
      service: rowOf("service", service.slice(1)),
      typical: rowOf("(a) typical", typical.slice(1)),
      tuned: rowOf("(b) tuned", tuned.slice(1))
    },
    batches: {
      transactions: sizes.length,
      median: percentile(sizes, 0.5),
      p99: percentile(sizes, 0.99),
      max: sizes.at(-1) ?? 0
    }
  }
}

/** The number of reports in one transaction of the service, over the last slice. */
export interface BatchSizes {
  readonly transactions: number
  readonly median: number
  readonly p99: number
  readonly max: number
}

/** Measures client reads at `connections`, beside the tuned reference (a prepared SELECT). */
export const runReads = async (systems: Systems, connections: number, options: RoundOptions): Promise<Rows> => {
  const service: Array<Measured> = []
  const tuned: Array<Measured> = []
  for (let round = 0; round <= options.rounds; round++) {
    const millis = round === 0 ? options.warmMillis : options.sliceMillis
    service.push(await systems.runService("read", connections, millis))
    tuned.push(await systems.runReference("tuned", "read", connections, millis))
    options.progress(roundLine(`reads, ${connections} connections`, round, [service, tuned]))
  }
  return {
    service: rowOf("service", service.slice(1)),
    typical: null,
    tuned: rowOf("Fastify + pg", tuned.slice(1))
  }
}

const roundLine = (
  what: string,
  round: number,
  columns: ReadonlyArray<ReadonlyArray<{ readonly rate: number; readonly p99Millis: number }>>
): string => {
  const figures = columns.flatMap((column) => {
    const last = column.at(-1)
    return last === undefined ? [] : [`${last.rate.toFixed(0)}/s p99 ${last.p99Millis.toFixed(1)} ms`]
  })
  return `${what}, ${round === 0 ? "warm-up" : `round ${round}`}: ${figures.join(" | ")}`
}
