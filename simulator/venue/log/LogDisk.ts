/** The disk operations of a log as an interface, so that a test can make each of them fail. */
import { readFileSync } from "node:fs"
import { open, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"

/** An append-only file. */
export interface LogFile {
  /** Writes at a position and waits until the bytes are on disk. */
  readonly write: (position: number, bytes: Buffer) => Promise<void>
  /** Truncates the file to a length, on disk too. */
  readonly cut: (length: number) => Promise<void>
  readonly close: () => Promise<void>
}

export interface LogDisk {
  readonly list: (directory: string) => Promise<ReadonlyArray<string>>
  /** Synchronous: the books are not in use while they are read again. */
  readonly read: (path: string) => Buffer
  /** Opens a file and creates a missing one; its name is on disk on return. */
  readonly open: (path: string) => Promise<LogFile>
  /** Writes a file of lines atomically. */
  readonly replace: (path: string, lines: Iterable<string>) => Promise<void>
  /** Removes a file, so that the removal survives a loss of power. */
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
        // A nearly full disk may write only a part, so the loop writes the rest.
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
      // The draft is removed, because a full disk needs its space.
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
