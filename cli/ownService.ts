/**
 * A temporary sandbox service for one run: a child process with a temporary data directory and a free port. It ends with the
 * command, and its directory is then deleted unless it should be kept (operator surface, sim run).
 */
import { type ChildProcess, spawn } from "node:child_process"
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { OwnProcesses } from "../simulator/scenarios/runner/World.ts"
import { cliFailure, exitStatus } from "./CliIo.ts"

export interface OwnService extends OwnProcesses {
  readonly dataDir: string
  readonly url: string
  /** File of its certificate authority, PEM. */
  readonly ca: string
  /** The key of the service's first ADMIN. */
  readonly operatorKey: string
  /** Sends SIGTERM, then SIGKILL after a timeout. May be called repeatedly. */
  readonly stop: () => Promise<void>
}

const readyMillis = 60_000
const endMillis = 20_000
const launcher = resolve(import.meta.dirname, "../bin/brokerage.mjs")

/** The failure when a signal ended the run, before or after the service was ready. */
export const interrupted = cliFailure(exitStatus.refused, 4092, "The run was interrupted.")

/** Starts the service. Rejects with a CliFailure: `interrupted`, or one with the end of the service's log. */
export const startOwnService = async (keep: boolean, stopped: Promise<void>): Promise<OwnService> => {
  const dataDir = mkdtempSync(join(tmpdir(), "brokerage-scenarios-"))
  let child = spawnService(dataDir, 0)
  let url = ""
  let ca = ""
  let port = 0
  /** The restart in progress; a stop waits for it. */
  let restarting: Promise<void> = Promise.resolve()
  const restart = async () => {
    child.kill("SIGKILL")
    await endOf(child)
    child = spawnService(dataDir, port)
    await firstLine(child)
  }
  const stop = async () => {
    await restarting.catch(() => undefined)
    // A killed service leaves its database running, and only the next service of the directory can stop that properly.
    if (port !== 0 && hasEnded(child)) await restart().catch(() => killDatabase(dataDir))
    await end(child)
    // A service that was killed, or that died while stopping, leaves its database running.
    if (port !== 0 && child.signalCode === "SIGKILL") killDatabase(dataDir)
    if (!keep) rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    const ready = await Promise.race([firstLine(child), stopped.then(() => Promise.reject(interrupted))])
    const line = JSON.parse(ready) as { readonly url: string; readonly caFile: string }
    url = line.url
    ca = line.caFile
    port = Number(new URL(url).port)
  } catch (error) {
    const logEnd = readFileSync(logOf(dataDir), "utf8").slice(-2_000)
    await stop()
    if (error === interrupted) throw error
    throw cliFailure(
      exitStatus.unreachable,
      5030,
      `A service for the run could not be started. The end of its log:\n${logEnd}`
    )
  }
  return {
    dataDir,
    url,
    ca,
    operatorKey: readFileSync(join(dataDir, "operator.key"), "utf8").trim(),
    stop,
    restart: () => (restarting = restart()),
    dieAt: (point, subject) => dieAt(child, dataDir, subject === undefined ? point : `${point} of ${subject}`),
    ended: () => endOf(child),
    killDatabase: () => killDatabase(dataDir)
  }
}

const logOf = (dataDir: string): string => join(dataDir, "service.log")

const spawnService = (dataDir: string, port: number): ChildProcess => {
  const log = openSync(logOf(dataDir), "a", 0o600)
  const place = ["--port", String(port), "--data-dir", dataDir]
  const sandbox = ["serve", "--sandbox", "--allow-webhook-host", "127.0.0.1", "--kill-at", "on-signal"]
  const line = [...sandbox, "--until-stdin-ends", ...place, "--json"]
  try {
    // The service has its own process group: Ctrl-C reaches only the command, which then stops the service properly. The pipe
    // to its stdin closes with the command, so that a killed command leaves no service behind.
    const child = spawn(process.execPath, [launcher, ...line], { stdio: ["pipe", "pipe", log], detached: true })
    return child.once("exit", () => child.stdin?.destroy())
  } finally {
    closeSync(log)
  }
}

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error("not ready in time")), readyMillis)
    const settle = (then: () => void) => {
      clearTimeout(timer)
      then()
    }
    child.once("error", (error) => settle(() => fail(error)))
    child.once("exit", () => settle(() => fail(new Error("ended"))))
    child.stdout?.once("data", (line: Buffer) => settle(() => done(line.toString())))
    // Later output is discarded, so that the pipe does not fill up.
    child.stdout?.resume()
  })

/**
 * Makes the running service kill itself the next time it passes this kill point. Completes once the service has read the
 * `kill-at` file.
 */
const dieAt = async (child: ChildProcess, dataDir: string, point: string): Promise<void> => {
  const file = join(dataDir, "kill-at")
  writeFileSync(file, point)
  child.kill("SIGUSR2")
  for (let polls = 0; existsSync(file); polls++) {
    if (polls === armPolls) throw new Error("the service did not read its kill point")
    await new Promise((next) => setTimeout(next, armMillis))
  }
}
const armPolls = 1_000
const armMillis = 5

/**
 * Sends SIGKILL to the database server of this directory, which its pid file names. A killed server leaves its pid file
 * behind, and the pid may later belong to another process, so each pid file is used only once.
 */
const killDatabase = (dataDir: string): boolean => {
  const cluster = join(dataDir, "postgres", "cluster")
  try {
    const file = readFileSync(join(cluster, "postmaster.pid"), "utf8")
    const [pid = "", directory = "", startedAt = ""] = file.split("\n")
    const server = `${pid} ${startedAt}`
    if (!/^[1-9][0-9]{0,8}$/.test(pid) || directory !== realpathSync(cluster) || killed.get(cluster) === server)
      return false
    killed.set(cluster, server)
    return process.kill(Number(pid), "SIGKILL")
  } catch {
    return false // no server, or it has just ended
  }
}
/** Pid and start time of the last killed server, by cluster. */
const killed = new Map<string, string>()

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const endOf = (child: ChildProcess): Promise<void> =>
  hasEnded(child) ? Promise.resolve() : new Promise((done) => child.once("exit", () => done()))

const end = async (child: ChildProcess): Promise<void> => {
  if (hasEnded(child) || child.pid === undefined) return
  const ended = endOf(child)
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), endMillis)
  await ended
  clearTimeout(timer)
}
