/**
 * Runs one closed-loop slice: connects, sends until the window is over, and waits for the last answers. It has no
 * warm-up.
 */
import { type Answer, Connection } from "./Connection.ts"
import { percentile, type Slice, type SliceResult } from "./protocol.ts"

/** The target, the connections and the duration of a slice. */
type Window = Pick<Slice, "port" | "ca" | "connections" | "millis">

const nowMicros = (): number => Number(process.hrtime.bigint() / 1_000n)

/** Opens a few connections at a time, because a server with 256 concurrent handshakes completes no handshake in time. */
const openConnections = async (slice: Window): Promise<ReadonlyArray<Connection>> => {
  const connections: Array<Connection> = []
  while (connections.length < slice.connections) {
    const batch = Array.from({ length: Math.min(16, slice.connections - connections.length) }, () =>
      Connection.open(slice.port, slice.ca)
    )
    connections.push(...(await Promise.all(batch)))
  }
  return connections
}

/**
 * Sends the requests of `next` until the end of the slice. Fails only if it can't connect; failed requests are counted.
 * `byList`: the slice ends when `next` has no more requests, whatever the window.
 */
export const runSlice = async (
  slice: Window,
  next: () => string | null,
  onSuccess: (answer: Answer) => void,
  byList: boolean
): Promise<SliceResult> => {
  const connections = await openConnections(slice)
  const latencies: Array<number> = []
  let acknowledged = 0
  let errors = 0
  let firstError: string | null = null
  const failed = (what: string): void => {
    errors++
    firstError ??= what.slice(0, 500)
  }
  const cpu = process.cpuUsage()
  const fromMicros = nowMicros()
  const deadline = fromMicros + slice.millis * 1_000
  let lastMicros = fromMicros
  let used: NodeJS.CpuUsage | null = null
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          let sentAt = 0
          const more = (now: number): void => {
            if (now >= deadline) used ??= process.cpuUsage(cpu)
            const request = now < deadline ? next() : null
            if (request === null) return resolve()
            sentAt = now
            connection.send(request)
          }
          connection.handlers = {
            onAnswer: (answer) => {
              const now = nowMicros()
              if (!answer.success) failed(answer.text())
              else {
                acknowledged++
                onSuccess(answer)
                if (now <= deadline) {
                  latencies.push(now - sentAt)
                  lastMicros = now
                }
              }
              more(now)
            },
            onBroken: (reason) => {
              failed(reason)
              resolve()
            }
          }
          more(nowMicros())
        })
    )
  )
  const spent: NodeJS.CpuUsage = used ?? process.cpuUsage(cpu)
  for (const connection of connections) connection.close()
  // A slice with a list ends with its last answer.
  const toMicros = byList ? lastMicros : deadline
  const ascending = Float64Array.from(latencies).sort()
  return {
    rate: (latencies.length / Math.max(1, toMicros - fromMicros)) * 1e6,
    acknowledged,
    p50Millis: percentile(ascending, 0.5) / 1_000,
    p99Millis: percentile(ascending, 0.99) / 1_000,
    maxMillis: (ascending.at(-1) ?? 0) / 1_000,
    errors,
    firstError,
    cpuShare: (spent.user + spent.system) / Math.max(1, toMicros - fromMicros),
    fromMicros,
    toMicros
  }
}
