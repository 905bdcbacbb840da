/**
 * Attacks on the embedded PostgreSQL from outside: kill -9 of the postmaster, and SIGSTOP of every process of the
 * server. Only processes that are proved to be the given cluster's are touched.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isPostmasterOf, readPostmasterPid } from "../../src/runtime/adapters/postmasterPid.ts"

export const clusterOf = (dataDir: string): string => join(dataDir, "postgres", "cluster")

/** The pid of a cluster's living postmaster; null if there is none. */
export const livingPostmaster = (cluster: string): number | null => {
  const found = readPostmasterPid(cluster)
  return found !== undefined && isPostmasterOf(found.pid, cluster) ? found.pid : null
}

/** The postmaster once it accepts connections. */
export const readyPostmaster = (cluster: string): number | null => {
  const pid = livingPostmaster(cluster)
  return pid !== null && readPostmasterPid(cluster)?.status === "ready" ? pid : null
}

/** kill -9 of the postmaster; its backends end by themselves. Returns the pid, or null if there was none. */
export const killPostmaster = (cluster: string): number | null => {
  const pid = livingPostmaster(cluster)
  if (pid !== null) send(pid, "SIGKILL")
  return pid
}

/** Stops the postmaster and all its backends. The returned function resumes them. */
export const pausePostgres = (cluster: string): (() => void) => {
  const pid = livingPostmaster(cluster)
  if (pid === null) return () => {}
  send(pid, "SIGSTOP") // The postmaster comes first, because a stopped postmaster starts no further backend.
  const stopped = [...childrenOf(pid), pid]
  for (const each of stopped) send(each, "SIGSTOP")
  return () => {
    for (const each of stopped) send(each, "SIGCONT")
  }
}

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended in the meantime.
  }
}

const childrenOf = (parent: number): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === parent)
    .map(Number)

/** The second field of /proc/PID/stat is a name that may hold spaces and brackets. */
const parentOf = (name: string): number => {
  try {
    const text = readFileSync(`/proc/${name}/stat`, "utf8")
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return -1
  }
}
