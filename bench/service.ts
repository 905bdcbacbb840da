/**
 * The service under test as its own process, started as an operator starts it (`brokerage serve --json`): its ready
 * message, address, database and stop (operator surface, serve).
 */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { get } from "node:https"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { isPostmasterOf, isRunning, readPostmasterPid } from "../src/runtime/adapters/postmasterPid.ts"

export interface RunningService {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Ms from the start of the process to its first answer. */
  readonly readyMillis: number
  /** PEM of the local authority. */
  readonly ca: string
  readonly operatorKey: string
  readonly databaseUrl: string
  /** Sends SIGTERM and waits for the end. Throws if the exit status is not 0. */
  readonly stop: () => Promise<void>
  /** Sends SIGKILL and waits until the process has ended. Its database and its venue continue. */
  readonly kill: () => Promise<void>
}

interface ReadyLine {
  readonly ready: true
  readonly url: string
  readonly pid: number
  readonly operatorKeyFile: string
  readonly caFile: string
}

const root = join(import.meta.dirname, "..")

const services = new Set<RunningService>()

/** Ends the service and its PostgreSQL server after a benchmark has failed. */
export const stopServices = async (dataDirectory: string): Promise<void> => {
  for (const service of services) await service.stop().catch(() => undefined)
  const cluster = join(dataDirectory, "postgres", "cluster")
  const server = readPostmasterPid(cluster)
  if (server === undefined || !isPostmasterOf(server.pid, cluster)) return
  process.kill(server.pid, "SIGQUIT")
  while (isRunning(server.pid)) await pause(20)
}

/** Starts the service on a data directory. `nodeOptions`: options for a run under the CPU profiler. */
export const startService = async (
  dataDirectory: string,
  nodeOptions = "",
  more: ReadonlyArray<string> = []
): Promise<RunningService> => {
  const startedAt = performance.now()
  const child = spawn(
    process.execPath,
    [
      join(root, "bin", "brokerage.mjs"),
      "serve",
      "--sandbox",
      "--port",
      "0",
      "--data-dir",
      dataDirectory,
      "--json",
      ...more
    ],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_OPTIONS: nodeOptions } }
  )
  const ended = new Promise<number | null>((resolve) => void child.once("exit", (code) => resolve(code)))
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve)
    void ended.then((code) => reject(new Error(`the service ended with ${code} before it was ready`)))
  })
  child.stdout.resume()
  const ready = JSON.parse(line) as ReadyLine
  const ca = readFileSync(ready.caFile, "utf8")
  await answers(`${ready.url}/healthz`, ca)
  const readyMillis = performance.now() - startedAt
  const service: RunningService = {
    url: ready.url,
    port: Number(new URL(ready.url).port),
    pid: ready.pid,
    readyMillis,
    ca,
    operatorKey: readFileSync(ready.operatorKeyFile, "utf8").trim(),
    databaseUrl: embeddedDatabaseUrl(dataDirectory),
    kill: async () => {
      services.delete(service)
      process.kill(ready.pid, "SIGKILL")
      await ended
    },
    stop: async () => {
      // A killed service needs no stop.
      if (!services.delete(service)) return
      if (child.exitCode === null && child.signalCode === null) process.kill(ready.pid, "SIGTERM")
      const code = await ended
      if (code !== 0) throw new Error(`the service ended with ${code} after SIGTERM`)
    }
  }
  services.add(service)
  return service
}

const answers = (url: string, ca: string): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { ca, agent: false }, (answer) => {
      answer.resume()
      if (answer.statusCode === 200) resolve()
      else reject(new Error(`${url} answered ${answer.statusCode}`))
    }).once("error", reject)
  })

/** The connection string of the service's embedded PostgreSQL. Password and port are in files of the data directory. */
const embeddedDatabaseUrl = (dataDirectory: string): string => {
  const home = join(dataDirectory, "postgres")
  const password = readFileSync(join(home, "password"), "utf8").trim()
  const port = readFileSync(join(home, "port"), "utf8").trim()
  return `postgres://brokerage:${password}@127.0.0.1:${port}/brokerage`
}

/** Pid of the embedded PostgreSQL's postmaster. */
export const postmasterPid = (dataDirectory: string): number =>
  Number(readFileSync(join(dataDirectory, "postgres", "cluster", "postmaster.pid"), "utf8").split("\n", 1)[0])
