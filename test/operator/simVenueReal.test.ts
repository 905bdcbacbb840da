/**
 * `sim venue`, `market list` and `sim clock` against the real simulator in a process of its own, through a real
 * service: the market shows the effect of a tester's commands (operator surface, sim venue; C1, C4).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedVenue } from "../../src/runtime/adapters/EmbeddedVenue.ts"
import { expectLog } from "../support/expectLog.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-simvenue-"))
const scope = Effect.runSync(Scope.make())
let service: OperatorService
let client: string
beforeAll(async () => {
  const { connection } = await Effect.runPromise(
    EmbeddedVenue.start({ dataDirectory: join(folder, "venue") }).pipe(Scope.provide(scope))
  )
  service = await startOperatorService({ venue: { venue: connection } })
  const partner = await service.partner({ code: "REAL" })
  client = String(await service.client(partner.key))
}, 60_000)
afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const venue = (...words: ReadonlyArray<string>) => service.done(["sim", "venue", ...words])
const marketOf = async (symbol: string) =>
  (await service.done(["market", "list"])).markets.find((row: { readonly symbol: string }) => row.symbol === symbol)
const shownOf = async (symbol: string) =>
  (await venue("show")).markets.find((row: { readonly symbol: string }) => row.symbol === symbol)
const eventually = (assertion: () => Promise<void>) => vi.waitFor(assertion, { timeout: 15_000, interval: 20 })

describe("sim venue on the real simulator", { timeout: 60_000 }, () => {
  it("a price that is set is the market's, held until clear", async () => {
    assert.deepInclude(await venue("price", "BTC-USDC-PERP", "61234"), {
      to: "61234",
      held: ["index", "mark", "last"],
      filled: { count: 0, first: [] }
    })
    await eventually(async () =>
      assert.deepInclude(await marketOf("BTC-USDC-PERP"), {
        family: "PERP",
        fresh: true,
        halted: false,
        delisted: false
      })
    )
    await eventually(async () => assert.strictEqual(Number((await marketOf("BTC-USDC-PERP")).mark), 61_234))
    assert.sameMembers((await shownOf("BTC-USDC-PERP")).held, ["last", "mark", "index"])
    await venue("clear")
    assert.deepStrictEqual((await shownOf("BTC-USDC-PERP")).held, [])
  })

  it("a path is played, a book and a funding rate are set, dealers fall silent", async () => {
    const file = join(folder, "path.csv")
    writeFileSync(file, "offsetMs,price\n0,61000\n3600000,61500\n")
    await venue("path", "BTC-USDC-PERP", file)
    assert.isTrue((await shownOf("BTC-USDC-PERP")).path)
    await venue("book", "BTC-USDC-PERP", "--size", "0.5", "--levels", "3")
    await venue("funding", "BTC-USDC-PERP", "-0.0001")
    await venue("dealers", "silent")
    const { dealers } = await venue("show")
    assert.deepStrictEqual([...new Set(dealers.map((row: { readonly mood: string }) => row.mood))], ["silent"])
    await venue("clear")
    assert.isFalse((await shownOf("BTC-USDC-PERP")).path)
  })

  it("a halt of the venue and one of the service are distinguished", async () => {
    await venue("halt", "BTC-USDC-PERP")
    await service.done(["market", "halt", "BTC-USDC-PERP", "--message", "Upkeep."])
    await eventually(async () =>
      assert.deepInclude(await marketOf("BTC-USDC-PERP"), { halted: true, haltedByUs: true })
    )
    await venue("resume", "BTC-USDC-PERP")
    await eventually(async () =>
      assert.deepInclude(await marketOf("BTC-USDC-PERP"), { halted: false, haltedByUs: true })
    )
    await service.done(["market", "resume", "BTC-USDC-PERP"])
    assert.deepInclude(await marketOf("BTC-USDC-PERP"), { halted: false, haltedByUs: false })
  })

  it("faults are shown with their remaining uses", async () => {
    await venue("fault", "slow", "--route", "rfq", "--times", "2")
    assert.deepInclude((await venue("show")).faults[0], { kind: "slow", route: "rfq", timesLeft: 2, until: null })
    await venue("clear")
    assert.deepStrictEqual((await venue("show")).faults, [])
  })

  it("a refusal of the venue has the venue's sentence", async () => {
    const ran = await service.cli(["sim", "venue", "price", "NO-USDC-PERP", "1"])
    assert.deepStrictEqual([ran.status, ran.refusal.code], [1, 4000])
    assert.match(ran.refusal.msg, /^The venue refuses this: .*NO-USDC-PERP/)
  })

  it("an offer on the board answers with its id", async () => {
    const { markets } = await service.done(["market", "list"])
    const staking = markets.find((row: { readonly family: string }) => row.family === "STAKING")
    const made = await venue("offer", staking.symbol, "--rate-bps", "300", "--tenor-days", "30", "--qty", "10")
    assert.isAbove(made.id, 0)
  })

  it("C1: restart starts another process with the same books and held prices", async () => {
    await venue("price", "BTC-USDC-PERP", "62000")
    const before = await venue("show")
    expectLog(/the simulated venue/)
    const back = await venue("restart")
    const after = await venue("show")
    assert.isAbove(after.startedAt, before.startedAt)
    assert.isAtLeast(back.number, before.number)
    assert.sameMembers((await shownOf("BTC-USDC-PERP")).held, ["last", "mark", "index"])
  })

  it("C4: a jump moves both clocks, and market data continues there", async () => {
    const before = await service.done(["sim", "clock", "show"])
    const moved = await service.done(["sim", "clock", "advance", "8h"])
    assert.isFalse(moved.behind)
    assert.isAtLeast(moved.venueNow, before.now + 8 * 3_600_000)
    assert.isBelow(Math.abs(moved.venueNow - moved.now), 2_000)
    await eventually(async () => assert.isTrue((await marketOf("BTC-USDC-PERP")).fresh))
  })

  it("A2-97: a trade of the venue itself only reduces: a larger one is quarantined, and the comparison reports the difference", async () => {
    expectLog(/it does not fit the request: the venue's own SELL does not reduce a position of 0/)
    expectLog(/service and venue differ/)
    const { number } = await venue("show")
    const done = await venue("execute", client, "BTC-USDC-PERP", "-0.01", "--reason", "liquidation")
    assert.isAbove(done.number, number)
    await eventually(async () => {
      const { events } = await service.done(["venue", "quarantine", "list"])
      assert.match(events[0]?.reason, /the venue's own SELL does not reduce a position of 0$/)
    })
    await eventually(async () => {
      await service.done(["venue", "reconcile", client])
      const { breaks } = await service.done(["break", "list"])
      const reasons = breaks.map(({ reason }: { readonly reason: string }) => reason)
      assert.include(reasons.join("\n"), "The position in BTC-USDC-PERP is 0 here and -0.01")
    })
    assert.deepStrictEqual((await service.done(["order", "list", client])).orders, [])
  })

  it("a market that is delisted stays in the list, and stays delisted after clear", async () => {
    await venue("delist", "ETH-USDC-PERP")
    await venue("clear")
    await eventually(async () => assert.deepInclude(await marketOf("ETH-USDC-PERP"), { delisted: true }))
  })
})
