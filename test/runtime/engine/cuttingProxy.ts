/**
 * A TCP proxy in front of PostgreSQL that cuts connections at a chosen moment: before a request reaches the server, or
 * after the server has done the work but before its answer reaches us.
 */
import { Redacted } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface CuttingProxy {
  /** The same database, reached through the proxy. */
  readonly url: Redacted.Redacted
  /**
   * Cuts a connection at its next request (not forwarded) or its next answer (not passed on): the first one that talks,
   * or the first of the application named.
   */
  readonly cutNext: (what: "request" | "answer", application?: string) => void
  /** While false, new connections are refused. */
  readonly letIn: (open: boolean) => void
  /** Connections cut so far. */
  readonly cuts: () => number
  readonly close: () => Promise<void>
}

export const openProxy = async (target: Redacted.Redacted): Promise<CuttingProxy> => {
  const server = new URL(Redacted.value(target))
  const open = new Set<Socket>()
  let armed: { readonly what: "request" | "answer"; readonly application: string } | null = null
  let admitting = true
  let cuts = 0
  const proxy = createServer((client) => {
    if (!admitting) return void client.destroy()
    const upstream = connect(Number(server.port), server.hostname)
    const cut = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on("error", cut)
      socket.on("close", () => {
        open.delete(socket)
        cut()
      })
    }
    // The first message of a connection names its application.
    let startup = ""
    const pass = (from: Socket, to: Socket, what: "request" | "answer") =>
      from.on("data", (bytes) => {
        if (startup === "") startup = bytes.toString("latin1")
        if (armed?.what !== what || !startup.includes(armed.application)) return void to.write(bytes)
        armed = null
        cuts++
        cut()
      })
    pass(client, upstream, "request")
    pass(upstream, client, "answer")
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  const url = new URL(server)
  url.hostname = "127.0.0.1"
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: Redacted.make(url.href),
    cutNext: (what, application = "") => (armed = { what, application }),
    letIn: (admit) => (admitting = admit),
    cuts: () => cuts,
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => proxy.close(() => resolve()))
    }
  }
}
