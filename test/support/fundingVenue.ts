/**
 * The simulated venue shortly before a stamp, and a service whose business time follows it, for scenarios of funding.
 */
import { Effect } from "effect"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { ofClient } from "./Builders.ts"
import { orderVenue } from "./orderSteps.ts"
import { perp } from "./perpVenue.ts"
import type { Service } from "./Service.ts"

export const stampEvery = 8 * 3_600_000

/** The funding postings of a client, micro-USDC, by key. */
export const fundingOf = async (service: Service, clientId: number): Promise<ReadonlyMap<string, bigint>> => {
  const rows = (await ofClient(service, "ledgerTransactions", clientId)).filter(({ type }) => type === "FUNDING")
  const legs = await ofClient(service, "postings", clientId)
  return new Map(rows.map(({ key, txId }) => [key, legs.find((leg) => leg.txId === txId)?.amount ?? 0n]))
}

export const fundingVenue = () => {
  const world = orderVenue()
  return {
    ...world,
    rate: (rate: string): void => world.command({ type: "funding", symbol: perp, rate }),
    /** Advances both clocks over the next `count` stamps. Returns the times of the stamps. */
    passStamps: async (service: Service, count: number): Promise<ReadonlyArray<number>> => {
      const first = (Math.floor(world.venue.now / stampEvery) + 1) * stampEvery
      const more = count * stampEvery
      await service.run(Effect.map(BusinessClock, (clock) => clock.setOffset(clock.offset() + more)))
      world.leap(more)
      return Array.from({ length: count }, (_, n) => first + n * stampEvery)
    }
  }
}
