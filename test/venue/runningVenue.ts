/** A simulated venue in this process, with a real socket and real files. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { LogDisk } from "../../simulator/venue/log/LogDisk.ts"
import { startVenue } from "../../simulator/venue/server/VenueProcess.ts"
import { VenueClient } from "./venueClient.ts"

export const runVenue = async (
  over: { readonly directory?: string; readonly idleMillis?: number; readonly disk?: LogDisk } = {}
) => {
  const directory = over.directory ?? mkdtempSync(join(tmpdir(), "brokerage-venue-"))
  const printed: Array<string> = []
  const running = await startVenue({
    directory,
    port: 0,
    seed: 7,
    markets: null,
    idleMillis: over.idleMillis ?? null,
    ...(over.disk === undefined ? {} : { disk: over.disk }),
    print: (line) => void printed.push(line)
  })
  const key = readFileSync(running.keyFile, "utf8").trim()
  return {
    ...running,
    directory,
    printed,
    client: new VenueClient(running.url, key),
    end: async () => {
      await running.stop()
      if (over.directory === undefined) rmSync(directory, { recursive: true, force: true })
    }
  }
}

export type TestVenue = Awaited<ReturnType<typeof runVenue>>

/** A limit order so far from the mark that it rests. */
export const restingOrder = (ref: string, over: Readonly<Record<string, unknown>> = {}) => ({
  ref,
  account: "CL1",
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  price: "58000",
  qty: "0.1",
  tif: "GTC",
  reduceOnly: false,
  trigger: null,
  group: null,
  ...over
})

/** A request for quotes on a knock-out contract below the mark. */
export const quoteRequest = (ref: string, now: number, over: Readonly<Record<string, unknown>> = {}) => ({
  ref,
  account: "CL1",
  symbol: "BTC-USDC-KO",
  side: "BUY",
  qty: "0.1",
  barrier: "50000",
  takeProfit: null,
  expiryAt: now + 30 * 86_400_000,
  strict: false,
  premiumBps: 10_000,
  windowEndsAt: now + 60_000,
  ...over
})
