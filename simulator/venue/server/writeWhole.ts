/** Writes a small file atomically and durably; readable by its owner alone. */
import { renameSync, rmSync, writeFileSync } from "node:fs"

export const writeWhole = (path: string, text: string): void => {
  const draft = `${path}.new`
  rmSync(draft, { force: true })
  try {
    writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: "wx", flush: true })
    renameSync(draft, path)
  } catch (error) {
    // A failed write may come from a full disk, so the draft is removed to free its space.
    rmSync(draft, { force: true })
    throw error
  }
}
