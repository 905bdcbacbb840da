/**
 * postmasterPid: reads PostgreSQL's own `postmaster.pid` and verifies the process in it. A pid alone proves nothing (pids are
 * reused after a reboot or in a restarted container), so a postmaster is accepted only if its process runs PostgreSQL inside this
 * data directory. The service never deletes the file: PostgreSQL checks shared memory before it replaces it. A lock of the
 * service beside it names the brokerage process by the same proof. Source: architecture, Start-up (adopt or stop, never delete
 * the pid file).
 */
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { linkSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"

/** The contents of `postmaster.pid`. `startedAt` is Unix ms; `port` and `status` are missing while the server starts. */
export interface PostmasterPid {
  readonly pid: number
  readonly dataDirectory: string
  readonly startedAt: number
  readonly port: number | undefined
  readonly status: string | undefined
}

/**
 * Parses the lines of `postmaster.pid`; undefined for a file that is not a postmaster's (empty, incomplete, single-user backend).
 */
export const parsePostmasterPid = (text: string): PostmasterPid | undefined => {
  const lines = text.split("\n").map((line) => line.trim())
  const pid = wholeNumber(lines[0])
  const startedSeconds = wholeNumber(lines[2])
  if (pid === undefined || pid === 0 || startedSeconds === undefined || lines[1] === undefined) return undefined
  return {
    pid,
    dataDirectory: lines[1],
    startedAt: startedSeconds * 1000,
    port: wholeNumber(lines[3]),
    status: lines[7] === "" ? undefined : lines[7]
  }
}

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined

/** The pid file of a cluster; undefined if there is no such file or it can't be read. */
export const readPostmasterPid = (cluster: string): PostmasterPid | undefined => {
  const text = readText(join(cluster, "postmaster.pid"))
  return text === undefined ? undefined : parsePostmasterPid(text)
}

/** True if the process lives; false for a zombie (ended, not yet collected). */
export const isRunning = (pid: number): boolean => {
  if (pid <= 0) return false // the system reads 0 and below as groups of processes
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false
  }
  const state = procStat(pid)?.[0]
  return state !== "Z" && state !== "X"
}

/**
 * True if the process is a living PostgreSQL server of this cluster. Linux shows its executable and its working directory,
 * which is the data directory of a postmaster. Elsewhere the command line is compared; on Windows only the later password
 * check decides.
 */
export const isPostmasterOf = (pid: number, cluster: string): boolean => {
  if (!isRunning(pid)) return false
  if (process.platform === "win32") return true
  if (process.platform !== "linux") {
    const command = commandLine(pid)
    return command.includes("postgres") && command.includes(`-D ${cluster}`)
  }
  try {
    // After an upgrade of the package the path of the running file ends with "(deleted)", but the server is the same.
    const program = basename(readlinkSync(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, "")
    return program === "postgres" && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch {
    return false
  }
}

/** Distinguishes two processes that had the same pid: boot id and start tick. Empty if the system has neither. */
export const processStamp = (pid: number): string => {
  const ticks = procStat(pid)?.[19]
  if (ticks !== undefined) return `${(readText("/proc/sys/kernel/random/boot_id") ?? "").trim()}:${ticks}`
  return process.platform === "darwin" ? commandLine(pid, "lstart=") : ""
}

/** Fields of /proc/PID/stat from the third (state) on; the second is a name that may hold spaces and brackets. */
const procStat = (pid: number): ReadonlyArray<string> | undefined => {
  if (process.platform !== "linux") return undefined
  const text = readText(`/proc/${pid}/stat`)
  return text?.slice(text.lastIndexOf(")") + 2).split(" ")
}

const commandLine = (pid: number, field = "command="): string => {
  try {
    return execFileSync("ps", ["-ww", "-o", field, "-p", String(pid)], { encoding: "utf8" }).trim()
  } catch {
    return ""
  }
}

/** The text of a file; undefined if it can't be read. */
export const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

/**
 * Takes `supervisor.lock` of a folder for this process: one brokerage process per data directory. The lock of a dead holder (kill
 * -9) is replaced. The file is linked into place complete, so no process reads a part of it. Returns the release, or undefined
 * while another holder lives (also if that is this process).
 */
export const lockDirectory = (folder: string): (() => void) | undefined => {
  const path = join(folder, "supervisor.lock")
  const mine = JSON.stringify({ pid: process.pid, stamp: processStamp(process.pid), token: token() })
  for (let round = 0; round < 5; round++) {
    if (linkNew(path, mine)) return () => void (readText(path) === mine && rmSync(path))
    const found = readText(path)
    if (found !== undefined && holderLives(found)) return undefined
    // Moves the dead holder's file away; a process that moved a living holder's file by mistake (a race) puts it back.
    const aside = `${path}.${token()}`
    try {
      renameSync(path, aside)
    } catch {
      continue
    }
    if (readText(aside) === found) rmSync(aside)
    else renameSync(aside, path)
  }
  return undefined
}

const linkNew = (path: string, text: string): boolean => {
  const draft = `${path}.${token()}`
  writeFileSync(draft, text, { mode: 0o600 })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return false
  } finally {
    rmSync(draft)
  }
}

const holderLives = (text: string): boolean => {
  const holder = /^\{"pid":(\d+),"stamp":"([^"]*)"/.exec(text)
  const pid = Number(holder?.[1] ?? 0)
  return pid > 0 && isRunning(pid) && processStamp(pid) === holder?.[2]
}

const token = () => randomBytes(8).toString("hex")
