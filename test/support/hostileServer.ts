/** A server on this machine that answers as the test has it; one at a time, gone after the test that opened it. */
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

/** Its address; the one before it is gone. */
export const listening = (listener: RequestListener): Promise<string> =>
  new Promise((resolve) => {
    end()
    onTestFinished(end)
    const opened = createServer(listener).listen(0, "127.0.0.1", () =>
      resolve(`http://127.0.0.1:${(opened.address() as AddressInfo).port}`)
    )
    server = opened
  })

/** Takes no connection any more. */
export const stopListening = (): Promise<void> => new Promise((resolve) => void server?.close(() => resolve()))

export const connectionTo = (url: string): VenueConnection => ({ url, key: Redacted.make("vnk_test"), ca: null })
