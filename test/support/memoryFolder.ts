/**
 * Keeps the temporary files of a test run in memory if there is room. Tests create and drop thousands of databases with
 * a thousand files each, and a file system without a journal searches long for a file number that was not freed in the
 * last seconds: this takes a sixth of the processor time. Files in memory survive killed processes; only a crash of the
 * machine loses them.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"
import { isRunning } from "../../src/runtime/adapters/postmasterPid.ts"

const memory = "/dev/shm"
const prefix = "brokerage-run-"
/** The required free memory, bytes: several times the largest use of a run. */
const wanted = 12 * 1024 ** 3

/**
 * Creates temporary folders in memory from now on, unless the caller has set TMPDIR. Returns a function that ends this.
 */
export const useMemory = (): (() => void) => {
  if (process.env.TMPDIR !== undefined || !existsSync(memory)) return () => {}
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize < wanted) return () => {}
  const folder = join(memory, `${prefix}${process.pid}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  process.env.TMPDIR = folder
  return () => {
    delete process.env.TMPDIR
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Folders of runs that were killed. */
export const leftInMemory = (): ReadonlyArray<string> =>
  existsSync(memory)
    ? readdirSync(memory)
        .filter((name) => name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length))))
        .map((name) => join(memory, name))
    : []
