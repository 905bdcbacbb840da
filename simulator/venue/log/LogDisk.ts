/** The few things that a log asks of a disk, so that a test can break each of them. */
import { readFileSync } from "node:fs"
import { open, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"

/** A file that grows at its end. */
export interface LogFile {
  /** Writes at a place and waits until it is on the disk. */
  readonly write: (position: number, bytes: Buffer) => Promise<void>
  /** Cuts the file to a length, on the disk too. */
  readonly cut: (length: number) => Promise<void>
  readonly close: () => Promise<void>
}

export interface LogDisk {
  readonly list: (directory: string) => Promise<ReadonlyArray<string>>
  /** At once: nobody sees the books while they are read again. */
  readonly read: (path: string) => Buffer
  /** Opens a file, made when it is not there; its name is on the disk when this answers. */
  readonly open: (path: string) => Promise<LogFile>
  /** Writes a file of lines whole or not at all. */
  readonly replace: (path: string, lines: Iterable<string>) => Promise<void>
  /** Gone for good: no loss of power brings it back. */
  readonly remove: (path: string) => Promise<void>
}

const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export const realDisk: LogDisk = {
  list: (directory) => readdir(directory),
  read: (path) => readFileSync(path),
  open: async (path) => {
    const handle = await open(path, "a+").then(async (made) => {
      await made.close()
      return open(path, "r+")
    })
    await syncDirectory(join(path, ".."))
    return {
      write: async (position, bytes) => {
        // A disk that is nearly full takes a part.
        for (let done = 0; done < bytes.length;) {
          const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
          done += bytesWritten
        }
        await handle.datasync()
      },
      cut: async (length) => {
        await handle.truncate(length)
        await handle.sync()
      },
      close: () => handle.close()
    }
  },
  replace: async (path, lines) => {
    const draft = `${path}.new`
    try {
      const handle = await open(draft, "w")
      try {
        await handle.writeFile(lines)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(draft, path)
    } catch (error) {
      // A disk that is full needs what there is of it.
      await rm(draft, { force: true })
      throw error
    }
    await syncDirectory(join(path, ".."))
  },
  remove: async (path) => {
    await rm(path, { force: true })
    await syncDirectory(join(path, ".."))
  }
}
