/**
 * Writes a file atomically and durably: after a crash or a power cut the old file or the new one exists. Keys and passwords are
 * written here, so it never writes into a file that another process has opened.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs"
import { randomBytes } from "node:crypto"
import { dirname } from "node:path"

/** `mode` of the new file; by default only its owner can read it. Throws the errors of the file system. */
export const writeWhole = (path: string, text: string, mode = 0o600): void => {
  const draft = `${path}.${randomBytes(8).toString("hex")}`
  const file = openSync(draft, "wx", mode)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
  syncFolder(dirname(path))
}

/** A rename survives a power cut only if its folder is flushed too (impossible and unnecessary on Windows). */
export const syncFolder = (folder: string): void => {
  if (process.platform === "win32") return
  const handle = openSync(folder, "r")
  fsyncSync(handle)
  closeSync(handle)
}
