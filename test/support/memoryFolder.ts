/**
 * Temporary files of a test run in memory, where there is room for them. Tests make and drop some thousand databases of a thousand
 * files each, and a file system without a journal looks long for a file number that was not freed in the last seconds: a sixth of
 * the processors' time. What is killed loses nothing there: only the machine would have to end for that.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"
import { isRunning } from "../../src/runtime/adapters/postmasterPid.ts"

const memory = "/dev/shm"
const prefix = "brokerage-run-"
/** Bytes: several times as much as a run has ever held at a moment. */
const wanted = 12 * 1024 ** 3

/** From now on temporary folders are made in memory, unless the caller has chosen a place; gives back what ends that. */
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
