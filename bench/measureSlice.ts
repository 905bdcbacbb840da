/** A slice of load with the processor time that each side used for it. */
import type { SliceResult } from "./load/protocol.ts"
import { cpuMicros, machineCpuMicros, serverCpuMicros, usedBetween } from "./processFacts.ts"

/** The processor time of each side per acknowledged request, microseconds. */
export interface Used {
  readonly appMicros: number
  readonly databaseMicros: number
  /** Zero if no venue takes part. */
  readonly venueMicros: number
}

export interface MeasuredSlice<Result extends SliceResult> {
  readonly measured: Result & Used
  /** Cores that programs outside of the benchmark kept busy during the slice. */
  readonly otherCores: number
}

export interface MeasuredProcesses {
  readonly app: number
  readonly postmaster: number
  readonly generator: number
  /** The pid of the simulated venue, if one takes part. */
  readonly venue?: number
}

/** Runs the slice. A failed request fails the run. */
export const measureSlice = async <Result extends SliceResult>(
  { app, postmaster, generator, venue }: MeasuredProcesses,
  run: () => Promise<Result>
): Promise<MeasuredSlice<Result>> => {
  const look = () => ({
    app: cpuMicros(app),
    server: serverCpuMicros(postmaster),
    generator: cpuMicros(generator),
    venue: venue === undefined ? 0 : cpuMicros(venue),
    machine: machineCpuMicros()
  })
  const before = look()
  const begun = performance.now()
  const result = await run()
  const elapsedMicros = (performance.now() - begun) * 1_000
  const after = look()
  const program = after.app - before.app
  const database = usedBetween(before.server, after.server)
  const simulated = after.venue - before.venue
  const others = after.machine - before.machine - program - database - simulated - (after.generator - before.generator)
  if (result.errors > 0) throw new Error(`${result.errors} requests failed, the first one with: ${result.firstError}`)
  const requests = Math.max(1, result.acknowledged)
  return {
    measured: {
      ...result,
      appMicros: program / requests,
      databaseMicros: database / requests,
      venueMicros: simulated / requests
    },
    otherCores: Math.max(0, others) / elapsedMicros
  }
}
