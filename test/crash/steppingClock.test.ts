/**
 * A jump of the sandbox's clock steps through due times: each payment is booked at its own time, and all in order. A
 * kill and a SIGTERM during the jump lose nothing and do nothing twice, and the next start completes the jump (C4).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { isDeep } from "../support/every.ts"
import { perp } from "../support/perpVenue.ts"
import { dataOf, type RealService } from "../support/RealService.ts"
import { makeTradeWorld, type Trader } from "./tradeWorld.ts"

const hour = 3_600_000
const day = 24 * hour
const stampEvery = 8 * hour

let world: Awaited<ReturnType<typeof makeTradeWorld>>
let service: RealService
let trader: Trader
beforeAll(async () => {
  world = await makeTradeWorld("stepping")
  service = await world.start({ killAt: { point: "on-signal", times: 1 } })
  trader = await world.trader(service, await service.partner("STEPS"))
  const order = { symbol: perp, side: "BUY", type: "MARKET", qty: "0.05" }
  assert.strictEqual((await world.post(service, trader, "/orders", order)).status, 200)
}, 120_000)
afterAll(() => world.end(), 120_000)

interface Posting {
  readonly type: string
  readonly ts: number
  readonly venueTs: number | null
  readonly refs: { readonly settledAt?: number; readonly symbol?: string }
}
interface Priced {
  readonly symbol: string
  readonly mark: string | null
}
interface Due {
  readonly name: string
  readonly subject: string
  readonly dueAt: number
  readonly count: number
}

/** The client's postings since a time, in the order of booking. */
const postings = async (since: number): Promise<ReadonlyArray<Posting>> => {
  const found: Array<Posting> = []
  for (let before = ""; ;) {
    const page = dataOf(await service.call(trader.key, "GET", `/clients/${trader.id}/ledger?limit=500${before}`))
    found.unshift(...(page.postings as ReadonlyArray<Posting>).toReversed())
    if (page.nextBefore === null || page.nextBefore === undefined) break
    before = `&before=${page.nextBefore}`
  }
  return found.filter(({ ts }) => ts >= since)
}
const clock = () => service.done("sim", "clock", "show")
const stampsIn = (from: number, to: number): ReadonlyArray<number> =>
  Array.from(
    { length: Math.floor(to / stampEvery) - Math.floor(from / stampEvery) },
    (_, n) => (Math.floor(from / stampEvery) + n + 1) * stampEvery
  )
const inOrder = (times: ReadonlyArray<number>, about: string): void =>
  assert.deepStrictEqual(
    times,
    times.toSorted((one, other) => one - other),
    about
  )

/** Checks that each stamp of the interval is booked once for each market, in order, and not before its time. */
const checkStamps = async (from: number, to: number, symbols: ReadonlyArray<string> = [perp]): Promise<void> => {
  const booked = await postings(from)
  const funding = booked.filter(({ type }) => type === "FUNDING")
  for (const symbol of symbols) {
    assert.deepStrictEqual(
      funding.filter(({ refs }) => refs.symbol === symbol).map(({ refs }) => refs.settledAt),
      [...stampsIn(from, to)],
      symbol
    )
  }
  for (const { ts, refs } of funding) assert.isAtLeast(ts, refs.settledAt as number)
  inOrder(
    booked.map(({ ts }) => ts),
    "the dates of the postings"
  )
}
const jumpsAudited = async (): Promise<number> => {
  const [row] = await world.query<{ readonly n: number }>(
    "SELECT count(*)::int AS n FROM audit WHERE action = 'clock.advance'"
  )
  return row?.n ?? 0
}

describe("a jump of the clock", { timeout: 240_000 }, () => {
  it("C4: books each payment at its own time, and lists payments in that order", async () => {
    const before = await clock()
    const stamp = stampsIn(before.now, before.now + day)[0] as number
    assert.deepInclude(before.next, { name: "venue.funding", subject: `market:${perp}`, dueAt: stamp })
    const moved = await service.done("sim", "clock", "advance", "1d")
    assert.deepInclude(moved, { behind: false, movingTo: null, offsetMillis: before.offsetMillis + day })
    await checkStamps(before.now, before.now + day)
    for (const { ts, refs } of (await postings(before.now)).filter(({ type }) => type === "FUNDING")) {
      assert.isBelow(ts, (refs.settledAt as number) + 60_000)
    }
    const became = moved.became as ReadonlyArray<Due>
    inOrder(
      became.map(({ dueAt }) => dueAt),
      "what became due"
    )
    assert.deepStrictEqual(
      became.filter(({ name }) => name === "venue.funding").map(({ dueAt }) => dueAt),
      stampsIn(before.now, before.now + day)
    )
    for (const name of ["statement.EQUITIES", "statement.TRANSACTIONS", "screening.nightly"]) {
      assert.strictEqual(became.filter((each) => each.name === name).length, 1, name)
    }
    for (const { dueAt } of moved.next) assert.isAbove(dueAt, moved.now)
  })

  it("C4: --until-next reaches the next due time of the list, and removes it from the list", async () => {
    for (let n = 0; n < 3; n++) {
      const { next } = await clock()
      const moved = await service.done("sim", "clock", "advance", "--until-next")
      const due = (next as ReadonlyArray<Due>).filter(({ dueAt }) => dueAt <= moved.now)
      assert.isNotEmpty(due)
      for (const { name, subject, dueAt } of due) {
        if (name === "webhook.delivery") continue
        assert.include(
          (moved.became as ReadonlyArray<Due>).map((each) => `${each.name} ${each.subject} ${each.dueAt}`),
          `${name} ${subject} ${dueAt}`
        )
      }
      assert.isTrue(
        (moved.became as ReadonlyArray<Due>).every((each) =>
          (next as ReadonlyArray<Due>).some(({ name }) => name === each.name)
        )
      )
      for (const { dueAt } of moved.next) assert.isAbove(dueAt, moved.now)
    }
  })

  const ends = isDeep ? "a kill -9 and a SIGTERM" : "a kill -9"
  it(`C4: ${ends} during the jump: nothing is lost or done twice; the next start continues`, async () => {
    const [before, audited] = [await clock(), await jumpsAudited()]
    /** Waits until the jump is under way, beyond its first steps. */
    const underWay = (): Promise<void> =>
      vi.waitFor(async () => assert.isAbove((await clock()).offsetMillis, before.offsetMillis + hour), {
        timeout: 30_000,
        interval: 5
      })
    const jump = service.cli("sim", "clock", "advance", "20d")
    await underWay()
    await service.arm("clock-stepped", "kill")
    await service.ended()
    await jump
    service = await world.start()
    if (isDeep) {
      await underWay()
      assert.deepStrictEqual(await service.kill("SIGTERM"), { code: 0, signal: null })
      service = await world.start()
    }
    await vi.waitFor(async () => assert.deepInclude(await clock(), { movingTo: null, behind: false }), {
      timeout: 60_000,
      interval: 50
    })
    const after = await clock()
    assert.strictEqual(after.offsetMillis, before.offsetMillis + 20 * day)
    await checkStamps(before.now, before.now + 20 * day)
    assert.strictEqual(await jumpsAudited(), audited + 1)
    await world.verify(service, "after the jump")
  })

  it.skipIf(!isDeep)("C4: books every stamp of nine positions in a jump of 400 days", async () => {
    const others = { ETH: "0.1", SOL: "1", BNB: "0.5", XRP: "100", US500: "0.1", XAU: "0.1", WTI: "10", EURUSD: "100" }
    const symbols = [perp, ...Object.keys(others).map((asset) => `${asset}-USDC-PERP`)]
    for (const [asset, qty] of Object.entries(others)) {
      const order = { symbol: `${asset}-USDC-PERP`, side: "BUY", type: "MARKET", qty }
      assert.strictEqual((await world.post(service, trader, "/orders", order)).status, 200, asset)
    }
    const { markets } = (await service.done("market", "list")) as unknown as { readonly markets: ReadonlyArray<Priced> }
    for (const { symbol, mark } of markets.filter((each) => symbols.includes(each.symbol)))
      await service.done("sim", "venue", "price", symbol, String(mark))
    const before = await clock()
    await service.done("sim", "clock", "advance", "400d")
    await vi.waitFor(async () => assert.deepInclude(await clock(), { movingTo: null, behind: false }), {
      timeout: 180_000,
      interval: 250
    })
    await checkStamps(before.now, before.now + 400 * day, symbols)
    await world.verify(service, "after 400 days")
  })
})
