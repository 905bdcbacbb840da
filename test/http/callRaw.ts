/** A TLS client that sends raw bytes: for requests that no HTTP client would send, or not completely. */
import { once } from "node:events"
import { connect, type TLSSocket } from "node:tls"

interface Target {
  readonly port: number
  readonly ca: string
}

/** Limit on the stored characters of one connection. */
const most = 32 * 1024 * 1024

/** A connection of one test: the received data, and waits for more of it. */
export class RawConnection {
  readonly socket: TLSSocket
  /** All data that the server has sent; for very long data, the beginning and the newest part. */
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

  /** Resolves with all received data once the connection is closed. */
  async closed(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, "close")
    return this.received
  }
}

/** A connection after its handshake. */
export const openRaw = async ({ port, ca }: Target): Promise<RawConnection> => {
  const connection = new RawConnection(connect({ host: "127.0.0.1", port, ca }))
  await once(connection.socket, "secureConnect")
  return connection
}

/** Sends raw bytes. Resolves with all received data once the server closes. */
export const callRaw = async (target: Target, bytes: string): Promise<string> => {
  const connection = await openRaw(target)
  connection.socket.write(bytes)
  return connection.closed()
}

export const statusLine = (text: string): string => text.slice(0, text.indexOf("\r\n"))
export const bodyOf = (text: string): unknown => JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4))
