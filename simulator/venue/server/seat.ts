/**
 * Ensures one simulator for each directory. It holds the directory's seat, a local socket that the system releases with the
 * process. A process that connects gets its pid and address with a proof of the directory's key (`seatAnswer`). So a killed
 * simulator leaves no stale lock, and one that survived its service can prove its identity.
 */
import { createHash, createHmac } from "node:crypto"
import { realpathSync, rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { longestSeatText, provedText, type SeatHolder } from "../../../src/venue/seatAnswer.ts"

export interface Seat {
  /** Path of the seat's socket, in the form of `node:net`. */
  readonly path: string
  /** Answers waiting and later connections with the holder. */
  announce(holder: SeatHolder, key: string): void
  release(): Promise<void>
}

/** Takes the seat of a directory; null while another process holds it. */
export const takeSeat = async (directory: string): Promise<Seat | null> => {
  const path = pathOf(directory)
  const seat = await tryTake(path)
  if (seat !== null || process.platform === "linux" || process.platform === "win32") return seat
  // On systems other than Linux and Windows, the socket is a file, which a killed process leaves behind.
  if (await answers(path)) return null
  rmSync(path, { force: true })
  return tryTake(path)
}

/** The socket's name as text for people. */
export const seatName = (directory: string): string => pathOf(directory).replace("\0", "@")

const pathOf = (directory: string): string => {
  const name = `brokerage-venue-${createHash("sha256").update(realpathSync(directory)).digest("hex").slice(0, 32)}`
  if (process.platform === "linux") return `\0${name}`
  return process.platform === "win32" ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`)
}

/** Limits of the seat: connections at a time, and the silence or wait of one connection in ms. */
const askersAtOnce = 32
const askerPatience = 10_000

const tryTake = (path: string): Promise<Seat | null> =>
  new Promise((resolve, reject) => {
    const announced = Promise.withResolvers<(nonce: string) => string>()
    const askers = new Set<Socket>()
    const server = createServer((socket) => {
      askers.add(socket)
      socket.on("close", () => askers.delete(socket))
      // A connection that fails is dropped.
      socket.on("error", () => socket.destroy())
      socket.setTimeout(askerPatience, () => socket.destroy())
      let text = ""
      socket.on("data", (piece: Buffer) => {
        text += piece.toString("utf8")
        const end = text.indexOf("\n")
        if (end === -1 && text.length > longestSeatText) socket.destroy()
        if (end === -1) return
        socket.pause()
        void announced.promise.then((answer) => socket.end(answer(text.slice(0, end))))
      })
    })
    server.maxConnections = askersAtOnce
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(null) : reject(error)
    )
    server.listen(path, () => {
      server.unref()
      resolve({
        path,
        announce: (holder, key) =>
          announced.resolve((nonce) => {
            const proof = createHmac("sha256", key).update(provedText(nonce, holder)).digest("hex")
            return JSON.stringify({ ...holder, proof })
          }),
        release: () =>
          new Promise((done) => {
            server.close(() => done())
            for (const asker of askers) asker.destroy()
          })
      })
    })
  })

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => resolve(true))
    socket.on("error", () => resolve(false))
    socket.on("connect", () => socket.destroy())
  })
