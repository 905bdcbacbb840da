/**
 * One simulator a directory. Who holds the directory's seat, a socket of this machine that the system gives up with the
 * process, is its simulator; whoever connects is given its pid and address. So one that was killed leaves nothing stale
 * behind, and one that survived its service proves itself.
 */
import { createHash } from "node:crypto"
import { realpathSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Seat {
  /** Its socket's path, as `node:net` takes it. */
  readonly path: string
  /** From now on whoever connects is given this text. */
  announce(text: string): void
  release(): Promise<void>
}

/** Takes the seat of a directory; null while another process holds it. */
export const takeSeat = async (directory: string): Promise<Seat | null> => {
  const path = pathOf(directory)
  const seat = await tryTake(path)
  if (seat !== null || process.platform === "linux" || process.platform === "win32") return seat
  // Elsewhere the socket is a file, which a killed process leaves behind.
  if (await answers(path)) return null
  rmSync(path, { force: true })
  return tryTake(path)
}

const pathOf = (directory: string): string => {
  const name = `brokerage-venue-${createHash("sha256").update(realpathSync(directory)).digest("hex").slice(0, 32)}`
  if (process.platform === "linux") return `\0${name}`
  return process.platform === "win32" ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`)
}

const tryTake = (path: string): Promise<Seat | null> =>
  new Promise((resolve, reject) => {
    let text = ""
    const server = createServer((socket) => {
      // Whoever asks and goes away is not waited for.
      socket.on("error", () => socket.destroy())
      socket.end(text)
    })
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(null) : reject(error)
    )
    server.listen(path, () => {
      server.unref()
      resolve({
        path,
        announce: (next) => void (text = next),
        release: () => new Promise((done) => server.close(() => done()))
      })
    })
  })

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => resolve(true))
    socket.on("error", () => resolve(false))
    socket.on("connect", () => socket.destroy())
  })
