/** Folders of the data directory, for the service and the simulated venue. */
import { existsSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"

/**
 * Creates a folder and its parents, readable only by their owner. Throws the error of the file system. Node's own recursive mkdir never ends on a file system that refuses folders with "no such
 * file" (/proc).
 */
export const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return
  if (dirname(folder) !== folder) makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may start here at the same time: the lock decides between the two.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}
