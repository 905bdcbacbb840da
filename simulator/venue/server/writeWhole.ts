/** A small file that is written whole or not at all, and is on the disk then; readable by its owner alone. */
import { renameSync, rmSync, writeFileSync } from "node:fs"

export const writeWhole = (path: string, text: string): void => {
  const draft = `${path}.new`
  rmSync(draft, { force: true })
  try {
    writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: "wx", flush: true })
    renameSync(draft, path)
  } catch (error) {
    // A disk that is full needs what there is of it.
    rmSync(draft, { force: true })
    throw error
  }
}
