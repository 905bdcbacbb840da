/**
 * A keep-alive HTTPS connection for load: one request at a time, written as one text, the answer read by
 * Content-Length. It reads into a buffer of its own (`onread`), past Node's streams: a generator that shares the
 * machine with what it measures has to be light.
 */
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls"

export interface Answer {
  readonly status: number
  /** A success of the partner API: its envelope says code 0, or the answer is bare (doc 1, Envelope). */
  readonly success: boolean
  /** The whole answer as it came; only read it before the next request. */
  readonly text: () => string
}

export interface Handlers {
  readonly onAnswer: (answer: Answer) => void
  readonly onBroken: (reason: string) => void
}

const readSize = 16_384
const headEnd = Buffer.from("\r\n\r\n")
const successStart = '{"code":0,'
const envelopeStart = '{"code":'
const lengthHeader = /\r\ncontent-length: *(\d+)/i

/** TLS sessions by port: connections after the first resume it. */
const sessions = new Map<number, Buffer>()

export class Connection {
  handlers: Handlers = { onAnswer: () => {}, onBroken: () => {} }
  private readonly socket: TLSSocket
  /** The part of an answer that came so far, when it came in pieces. */
  private partial: Buffer | null = null

  private constructor(port: number, ca: string, ready: (outcome: Connection | Error) => void) {
    const buffer = Buffer.allocUnsafe(readSize)
    const session = sessions.get(port)
    const options: ConnectionOptions & { readonly onread: object } = {
      host: "127.0.0.1",
      port,
      ca,
      ...(session === undefined ? {} : { session }),
      onread: {
        buffer,
        callback: (size: number) => {
          this.receive(buffer.subarray(0, size))
          return true
        }
      }
    }
    this.socket = connect(options, () => ready(this))
    this.socket.setNoDelay(true)
    this.socket.on("session", (ticket: Buffer) => sessions.set(port, ticket))
    this.socket.on("error", (error) => {
      ready(error)
      this.handlers.onBroken(error.message)
    })
    this.socket.on("close", () => this.handlers.onBroken("the connection was closed"))
  }

  /** Connects and finishes the TLS handshake. */
  static open(port: number, ca: string): Promise<Connection> {
    return new Promise((resolve, reject) => {
      // oxlint-disable-next-line no-new -- the connection hands itself over when it is ready
      new Connection(port, ca, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)))
    })
  }

  /** Sends one request; its answer comes to `handlers`. */
  send(request: string): void {
    this.socket.write(request, "latin1")
  }

  close(): void {
    this.handlers = { onAnswer: () => {}, onBroken: () => {} }
    this.socket.destroy()
  }

  private receive(chunk: Buffer): void {
    const bytes = this.partial === null ? chunk : Buffer.concat([this.partial, chunk])
    const end = bytes.indexOf(headEnd)
    if (end >= 0) {
      const length = lengthHeader.exec(bytes.toString("latin1", 0, end + 2))?.[1]
      if (length === undefined) return this.handlers.onBroken("an answer came without Content-Length")
      if (bytes.length >= end + 4 + Number(length)) {
        this.partial = null
        const status = Number(bytes.toString("latin1", 9, 12))
        const start = bytes.toString("latin1", end + 4, end + 4 + successStart.length)
        return this.handlers.onAnswer({
          status,
          success: status >= 200 && status < 300 && (start === successStart || !start.startsWith(envelopeStart)),
          text: () => bytes.toString("utf8")
        })
      }
    }
    // The chunk's memory is used again by the next read.
    this.partial = this.partial === null ? Buffer.from(chunk) : bytes
  }
}
