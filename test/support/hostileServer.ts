/**
 * A server on this machine with the answers of the test. One exists at a time, and it ends with the test that opened
 * it.
 */
import { Redacted } from "effect"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import type { VenueConnection } from "../../src/runtime/ports/VenueConnection.ts"

let server: Server | null = null
const end = (): void => {
  server?.closeAllConnections()
  server?.close()
  server = null
}

/** Starts the server and returns its address. Stops the previous one. */
export const listening = (listener: RequestListener): Promise<string> =>
  new Promise((resolve) => {
    end()
    onTestFinished(end)
    const opened = createServer(listener).listen(0, "127.0.0.1", () =>
      resolve(`http://127.0.0.1:${(opened.address() as AddressInfo).port}`)
    )
    server = opened
  })

/** Stops accepting connections. */
export const stopListening = (): Promise<void> => new Promise((resolve) => void server?.close(() => resolve()))

export const connectionTo = (url: string): VenueConnection => ({ url, key: Redacted.make("vnk_test"), ca: null })
