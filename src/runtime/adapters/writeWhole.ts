/**
 * A file written whole or not at all, and there for good once written: a crash or a power cut leaves the old one or the
 * new one. Keys and passwords go through here, so it also never writes into a file somebody else has opened.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs"
import { randomBytes } from "node:crypto"
import { dirname } from "node:path"

/** `mode` of the new file; readable by its owner alone by default. Throws what the file system throws. */
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

/** A rename survives a power cut only when its folder is flushed, too (Windows can not and need not). */
export const syncFolder = (folder: string): void => {
  if (process.platform === "win32") return
  const handle = openSync(folder, "r")
  fsyncSync(handle)
  closeSync(handle)
}
