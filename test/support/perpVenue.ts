/** A venue that lists perpetuals and publishes their marks, for scenarios of leverage. It executes no orders. */
import { setTimeout as pause } from "node:timers/promises"
import { get } from "./Builders.ts"
import { market, ScriptedVenue, ticker } from "./ScriptedVenue.ts"
import type { Service } from "./Service.ts"

export const perp = "BTC-USDC-PERP"
export const gold = "XAU-USDC-PERP"

export const perpVenue = () => {
  const venue = new ScriptedVenue()
  venue.listing = {
    ...venue.listing,
    markets: [
      market(perp),
      market(gold, { assetClass: "metal" }),
      market("BTC-USDC", { family: "SPOT" }),
      market("BTC-USDC-KO", { family: "BARRIER" })
    ]
  }
  let mark = "60000"
  let age = 0
  let seq = 0
  const say = (): void => {
    const now = Date.now()
    venue.at = now
    seq++
    venue.greeting = [ticker(perp, seq, now - age, { mark }), ticker(gold, seq, now, { mark: "4000" })]
    venue.publish(venue.beat(), ...venue.greeting)
  }
  const saying = setInterval(say, 200)
  saying.unref()
  say()
  return {
    layerVenue: venue.layer,
    /** Sets the mark from now on, and its age at its publication, ms. */
    price: (next: string, old = 0): void => {
      mark = next
      age = old
      say()
    }
  }
}

/** Reads a client's margin until `found` is true; the test's time limit ends it. */
export const marginUntil = async (
  service: Service,
  key: string,
  clientId: number,
  // oxlint-disable-next-line typescript/no-explicit-any
  found: (picture: any) => boolean
) => {
  for (;;) {
    const { json } = await get(service, key, `/clients/${clientId}/margin`)
    if (found(json)) return json
    await pause(5)
  }
}
