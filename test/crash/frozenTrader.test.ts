/**
 * Two services on one database, at one venue. The older one is frozen (SIGSTOP) in the middle of an accept: before the
 * call is sent, while the venue answers, and with the answer decided but not committed. The younger one takes over and
 * continues to trade. The older one is resumed and finds that it no longer owns the database. There is one contract and
 * one commission, and the books of both sides agree (A2-26, D4).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { copyFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import type { VenueContract } from "../../src/machines/venue/venueObjects.ts"
import { knockOut } from "../support/contractVenue.ts"
import { played } from "../support/every.ts"
import { dataOf, type RealService } from "../support/RealService.ts"
import { runVenue, type TestVenue } from "../venue/runningVenue.ts"
import { type ContractWorld, makeContractWorld } from "./contractWorld.ts"

const body = { symbol: knockOut, side: "BUY", qty: "0.01", barrier: { level: "58000" }, autoAccept: false }

let world: ContractWorld
let venue: TestVenue
let partner: string
/** The service that owns the database. */
let service: RealService
let folders = 0

/** A service on the same database and venue with a folder of its own, which can freeze at its points. */
const next = async (): Promise<RealService> => {
  const before = join(world.folder, `life-${folders}`)
  const dataDir = join(world.folder, `life-${++folders}`)
  if (folders > 1) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    for (const file of ["encryption.keys", "operator.key"]) copyFileSync(join(before, file), join(dataDir, file))
  }
  const { url, keyFile } = venue
  return world.start({ dataDir, venue: { url, keyFile }, killAt: { point: "on-signal", times: 1 } })
}

beforeAll(async () => {
  world = await makeContractWorld("frozen-trader")
  venue = await runVenue()
  service = await next()
  await world.venue.together(service)
  await world.price(service, "60000")
  partner = await service.partner("FROZEN")
}, 120_000)
afterAll(async () => {
  await world.end()
  await venue.end()
}, 120_000)

/** Contracts that the venue has opened for a client. */
const there = async (uid: string): Promise<ReadonlyArray<VenueContract>> => {
  const [stamp] = await world.query<{ readonly venue_name: string }>("SELECT venue_name FROM service_stamp")
  const { json } = await venue.client.ask(`/venue/v1/accounts/${stamp?.venue_name}:${uid}`)
  return json.contracts as ReadonlyArray<VenueContract>
}

const slowAccepts = { type: "fault", kind: "slow", route: "accept", symbol: null, forMillis: null, times: 1 } as const

/**
 * The ways to freeze the older service in an accept, and whether the venue has executed the accept by then: `npm test`
 * plays the second.
 */
const frozenAt = [
  {
    when: "before the call leaves",
    executed: false,
    arm: (older: RealService) => older.arm("before-call", "stop"),
    stop: (older: RealService) => world.frozen(older, 30_000)
  },
  {
    when: "while the venue answers",
    executed: true,
    arm: async () => {
      const { status } = await venue.client.ask("/venue/v1/control", { ...slowAccepts, delayMillis: 3_000 })
      assert.strictEqual(status, 200)
    },
    stop: async (older: RealService, uid: string) => {
      await vi.waitFor(async () => assert.lengthOf([...(await there(uid))], 1), { timeout: 20_000, interval: 10 })
      older.signal("SIGSTOP")
    }
  },
  {
    when: "with the answer decided and not committed",
    executed: true,
    arm: (older: RealService) => older.arm("before-result", "stop"),
    stop: (older: RealService) => world.frozen(older, 30_000)
  }
] as const

describe("a trader's service that is frozen during a call and resumed after a takeover", () => {
  it.each(played({ usual: frozenAt.slice(1, 2), deep: frozenAt }))(
    "A2-26, A1-53: $when: one contract, one commission",
    async ({ when, executed, arm, stop }) => {
      const older = service
      const trader = await world.trader(older, partner)
      const { rfqId, quoteId } = await world.quoted(older, trader, body)
      const waiting = await world.quoted(older, trader, body)
      const accept = (of: RealService, on: { readonly rfqId: number; readonly quoteId: number }) =>
        world.post(
          of,
          trader,
          `/rfq/${on.rfqId}/accept`,
          { quoteId: on.quoteId },
          { "idempotency-key": `a-${on.rfqId}` }
        )
      await arm(older)
      const lost = accept(older, { rfqId, quoteId }).catch(() => null)
      await stop(older, trader.uid)
      service = await next()
      await world.venue.together(service)
      const first = await accept(service, { rfqId, quoteId })
      assert.strictEqual(first.status, executed ? 200 : 502, first.text)
      const second = await world.quoteOf(service, trader, waiting.rfqId)
      const traded = dataOf(await accept(service, { rfqId: waiting.rfqId, quoteId: second }))
      older.signal("SIGCONT")
      const { code, signal } = await older.ended()
      assert.deepStrictEqual([signal, code === 0], [null, false], "the older one ends by itself, and says so")
      const told = await lost
      if (told !== null) assert.oneOf(told.status, [first.status, 503], told.text)
      const rows = await world.atRest(when, true)
      const mine = rows.filter(({ client_id }) => client_id === BigInt(trader.id))
      assert.strictEqual(mine.length, executed ? 2 : 1, when)
      assert.include(
        mine.map(({ id }) => Number(id)),
        traded.contractId
      )
      await world.hold(venue.client, [trader], rows, when)
      assert.strictEqual((await accept(service, { rfqId, quoteId })).text, first.text)
      await world.verify(service, when)
    },
    120_000
  )
})
