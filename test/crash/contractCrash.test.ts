/**
 * A trader against the real service and the real simulated venue, with kill -9 of one of them or both while requests,
 * accepts and ends of contracts are in flight and answers are lost. Each contract has at most one opening, one
 * commission and one settlement, and in the end both sides agree (A2-26, D4, D5).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { setTimeout as pause } from "node:timers/promises"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { knockOut } from "../support/contractVenue.ts"
import type { RealService } from "../support/RealService.ts"
import { type ContractWorld, makeContractWorld } from "./contractWorld.ts"
import type { Trader } from "./tradeWorld.ts"

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000)
const about = `seed ${seed}`
const rounds = 4

let world: ContractWorld
beforeAll(async () => {
  world = await makeContractWorld("contract-crash")
})
afterAll(() => world.end())

/**
 * Requests with near and far barriers, and requests to close open contracts. A kill of either process may lose their
 * answers.
 */
const trades = async (service: RealService, { id, key }: Trader, random: SeededRandom): Promise<unknown> => {
  const asked = Array.from({ length: 4 }, () => ({
    symbol: knockOut,
    side: "BUY",
    qty: "0.01",
    barrier: { level: String(59_000 - random.between(0, 9) * 50), takeProfit: "61500" },
    expiresInMs: random.pick([2_000, 8_000])
  }))
  const held = await world.query<{ readonly id: bigint }>(
    "SELECT id FROM barrier_contracts WHERE state = 'OPEN' LIMIT 2"
  )
  return Promise.allSettled([
    ...asked.map((body) => service.call(key, "POST", `/clients/${id}/rfq`, body)),
    ...held.map((row) => service.call(key, "POST", `/clients/${id}/barriers/${row.id}/close`, {}))
  ])
}

describe("knock-out contracts over crashes", () => {
  it("A2-26, D5: each is opened once, charged once and settled once", { timeout: 300_000 }, async () => {
    const random = new SeededRandom(seed)
    const { venue } = world
    let service = await world.start()
    await venue.together(service)
    const price = (to: string) => world.price(service, to)
    await price("60000")
    const client = await world.trader(service, await service.partner("TRADE"))
    for (let round = 0; round < rounds; round++) {
      const kind = random.pick(["timeout-after", "timeout-before", "reset", "drop-events", null] as const)
      const route = random.pick(["rfq", "accept"] as const)
      if (kind !== null)
        await service.done(
          "sim",
          "venue",
          "fault",
          kind,
          "--route",
          kind === "drop-events" ? "events" : route,
          "--times",
          "3"
        )
      const trading = trades(service, client, random)
      await pause(random.between(200, 2_500))
      // In every second round the price crosses the barriers during the kill.
      const falls = round % 2 === 1
      const moved = falls ? service.cli("sim", "venue", "price", knockOut, "58000") : Promise.resolve(null)
      const victim = random.pick(["service", "venue", "both"] as const)
      if (victim !== "service") process.kill(await venue.pid(), "SIGKILL")
      if (victim !== "venue") {
        await service.kill("SIGKILL")
        await service.stop()
        service = await world.start()
      }
      await Promise.allSettled([trading, moved])
      await venue.together(service)
      if (falls) {
        await price("58000")
        await price("60000")
      }
    }
    await service.done("sim", "venue", "clear")
    await price("60000")
    await trades(service, client, random)
    assert.isAbove((await world.atRest(about)).length, 0, about)
    // Dropped events are read again once the next event shows the gap.
    const agree = async () => world.hold(venue.client(), [client], await world.atRest(about), about)
    await vi.waitFor(agree, { timeout: 60_000, interval: 500 })
    // The remaining contracts end by one move of the price.
    await price("57000")
    const ended = await vi.waitFor(
      async () => {
        const all = await world.atRest(about)
        assert.notInclude(
          all.map(({ state }) => state),
          "OPEN"
        )
        return all
      },
      { timeout: 60_000, interval: 250 }
    )
    await world.hold(venue.client(), [client], ended, about)
    await world.verify(service, about)
    await service.stop()
  })
})
