/** A TLS client that sends bytes as they are: for requests that no HTTP client would send, or would not send whole. */
import { once } from "node:events"
import { connect, type TLSSocket } from "node:tls"

interface Target {
  readonly port: number
  readonly ca: string
}

/** Characters kept of one connection. */
const most = 32 * 1024 * 1024

/** A connection of one test: what came back so far, and ways to wait for more of it. */
export class RawConnection {
  readonly socket: TLSSocket
  /** Everything the server has sent; of very much, how it began and how it goes on. */
  received = ""

  constructor(socket: TLSSocket) {
    this.socket = socket
    socket.on("data", (chunk: Buffer) => this.take(chunk.toString("utf8")))
    socket.on("error", () => {})
  }

  private take(text: string): void {
    this.received += text
    if (this.received.length > most) this.received = this.received.slice(0, most / 8) + this.received.slice(-most / 8)
  }

  /** Resolves once the server has sent the text. */
  async until(text: string): Promise<void> {
    while (!this.received.includes(text)) await once(this.socket, "data")
  }

  /** Resolves with everything received once the connection is closed. */
  async closed(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, "close")
    return this.received
  }
}

/** A connection whose handshake is done. */
export const openRaw = async ({ port, ca }: Target): Promise<RawConnection> => {
  const connection = new RawConnection(connect({ host: "127.0.0.1", port, ca }))
  await once(connection.socket, "secureConnect")
  return connection
}

/** Sends raw bytes and resolves with everything that comes back until the server closes. */
export const callRaw = async (target: Target, bytes: string): Promise<string> => {
  const connection = await openRaw(target)
  connection.socket.write(bytes)
  return connection.closed()
}

export const statusLine = (text: string): string => text.slice(0, text.indexOf("\r\n"))
export const bodyOf = (text: string): unknown => JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4))
