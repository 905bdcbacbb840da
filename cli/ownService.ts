/**
 * A sandbox service of the command's own, for one run: a child process on a temporary data directory and a free port. It
 * ends with the command, and so does its directory unless it is to be kept (operator surface, sim run).
 */
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { cliFailure, exitStatus } from "./CliIo.ts"

export interface OwnService {
  readonly dataDir: string
  /** SIGTERM, and SIGKILL when that is not enough. Once is enough, more do no harm. */
  readonly stop: () => Promise<void>
}

const readyMillis = 60_000
const endMillis = 20_000
const launcher = resolve(import.meta.dirname, "../bin/brokerage.mjs")

/** The run was ended by a signal, before or after its service was there. */
export const interrupted = cliFailure(exitStatus.refused, 4092, "The run was interrupted.")

/** Rejects with a CliFailure: `interrupted`, or one that has the end of the service's log. */
export const startOwnService = async (keep: boolean, stopped: Promise<void>): Promise<OwnService> => {
  const dataDir = mkdtempSync(join(tmpdir(), "brokerage-scenarios-"))
  const logFile = join(dataDir, "service.log")
  const log = openSync(logFile, "a", 0o600)
  const line = [
    "serve",
    "--sandbox",
    "--allow-webhook-host",
    "127.0.0.1",
    "--port",
    "0",
    "--data-dir",
    dataDir,
    "--json"
  ]
  // A group of its own: Ctrl-C on the terminal reaches the command alone, which then ends the service in its order.
  const child = spawn(process.execPath, [launcher, ...line], { stdio: ["ignore", "pipe", log], detached: true })
  closeSync(log)
  const stop = async () => {
    await end(child)
    if (!keep) rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await Promise.race([firstLine(child), stopped.then(() => Promise.reject(interrupted))])
    return { dataDir, stop }
  } catch (error) {
    if (error === interrupted) {
      await stop()
      throw error
    }
    const said = readFileSync(logFile, "utf8").slice(-2_000)
    await stop()
    throw cliFailure(
      exitStatus.unreachable,
      5030,
      `A service for the run could not be started. The end of its log:\n${said}`
    )
  }
}

const firstLine = (child: ChildProcess): Promise<void> =>
  new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error("not ready in time")), readyMillis)
    const settle = (then: () => void) => {
      clearTimeout(timer)
      then()
    }
    child.once("error", (error) => settle(() => fail(error)))
    child.once("exit", () => settle(() => fail(new Error("ended"))))
    child.stdout?.once("data", () => settle(done))
    // What it prints later is read by nobody, and must not fill the pipe.
    child.stdout?.resume()
  })

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const end = async (child: ChildProcess): Promise<void> => {
  if (hasEnded(child) || child.pid === undefined) return
  const ended = new Promise<void>((done) => child.once("exit", () => done()))
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), endMillis)
  await ended
  clearTimeout(timer)
}
