/** Processor time and memory of other processes, from /proc (Linux); zero where there is no /proc. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"

/** The kernel counts processor time in ticks of 10 ms on every Linux that Node runs on. */
const tickMicros = 10_000

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return "" // The process has ended in the meantime, or the system is not Linux.
  }
}

/** Fields of /proc/PID/stat after the command name, which may hold spaces. */
const statFields = (pid: number): ReadonlyArray<string> => {
  const text = read(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(")") + 2).split(" ")
}

/** User and system time of a process so far, in microseconds. */
export const cpuMicros = (pid: number): number => {
  const fields = statFields(pid)
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tickMicros
}

/** Processor time so far of every process of a PostgreSQL server by pid, in microseconds. */
export const serverCpuMicros = (postmaster: number): ReadonlyMap<number, number> => {
  const pids = readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && statFields(Number(name))[1] === String(postmaster)
  )
  return new Map([postmaster, ...pids.map(Number)].map((pid) => [pid, cpuMicros(pid)]))
}

/**
 * Processor time used between two readings. Processes that ended in between are left out, and new ones count from their
 * start.
 */
export const usedBetween = (before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number =>
  [...after].reduce((sum, [pid, micros]) => sum + Math.max(0, micros - (before.get(pid) ?? 0)), 0)

/** Resident memory of a process in MB. */
export const residentMegabytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1_024

/** The most memory that a process has had resident since `resetPeak`, in MB. */
export const peakMegabytes = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1_024

/** Restarts the measure of a process's peak memory. */
export const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5")

/** Processor time that all processes of the machine have used so far, microseconds. */
export const machineCpuMicros = (): number => {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (
    /^cpu +(.*)$/m.exec(read("/proc/stat"))?.[1] ?? ""
  )
    .split(" ")
    .map(Number)
  return (user + nice + system + irq + softirq) * tickMicros
}
