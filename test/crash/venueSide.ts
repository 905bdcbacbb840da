/** The simulated venue beside a real service: its process, and its answers. */
import { assert, vi } from "@effect/vitest"
import { readFileSync } from "node:fs"
import type { RealService } from "../support/RealService.ts"
import { VenueClient } from "../venue/venueClient.ts"
import { venueFile, venuePid } from "./venueSeat.ts"

/** The venue that a service on this data directory has started. */
export const venueSide = (dataDir: string) => ({
  pid: (): Promise<number> => venuePid(dataDir),
  /** Waits until service and venue are connected. */
  together: (service: RealService): Promise<void> =>
    vi.waitFor(async () => assert.strictEqual((await service.cli("sim", "venue", "show")).status, 0), {
      timeout: 60_000,
      interval: 100
    }),
  client: () => new VenueClient(venueFile(dataDir).url, readFileSync(venueFile(dataDir).keyFile, "utf8").trim())
})
