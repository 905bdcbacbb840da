/**
 * A keep-alive HTTPS connection for load. It has one request at a time, writes each as one text, and reads the answer
 * by Content-Length into a buffer of its own (`onread`), without Node's streams: a generator on the same machine as the
 * measured service must use little processor time.
 */
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls"

export interface Answer {
  readonly status: number
  /** True for a success of the partner API: code 0 in the envelope, or a bare answer (doc 1, Envelope). */
  readonly success: boolean
  /** The whole answer as received. Valid until the next request. */
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

/** TLS sessions by port: the first connection creates the session, and later connections resume it. */
const sessions = new Map<number, Buffer>()

export class Connection {
  handlers: Handlers = { onAnswer: () => {}, onBroken: () => {} }
  private readonly socket: TLSSocket
  /** The received part of an answer that arrives in several pieces. */
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

  /** Sends one request. `handlers` receive the answer. */
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
