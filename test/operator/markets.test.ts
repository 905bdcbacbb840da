/**
 * Trading halts through the command line: their scope, their duration, refusals, and their survival of a restart
 * (operator surface, market; A2-11).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import type { MarketPrices } from "../../src/runtime/ports/ListedMarkets.ts"
import { layerListedMarketsMemory } from "../../src/runtime/ports/ListedMarketsMemory.ts"
import { MarketHalts } from "../../src/runtime/services/market/MarketHalts.ts"
import { query, rowCounts } from "../support/Builders.ts"
import { startService } from "../support/Service.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

const market = (symbol: string, family: MarketPrices["family"], over: Partial<MarketPrices> = {}): MarketPrices => ({
  symbol,
  family,
  last: "60000",
  mark: "60001.5",
  index: "60002",
  fresh: true,
  halted: false,
  delisted: false,
  ...over
})
const listed = [
  market("BTC-USDC-PERP", "PERP"),
  market("ETH-USDC-PERP", "PERP", { halted: true, mark: null, fresh: false }),
  market("BTC-USDC", "SPOT", { delisted: true })
]

let service: OperatorService
let markets: ReadonlyArray<MarketPrices> | null = listed
beforeAll(async () => {
  service = await startOperatorService({ venue: { listed: layerListedMarketsMemory(() => markets) } })
})
afterAll(() => service.stop())
beforeEach(async () => {
  markets = listed
  for (const { scope } of (await list()).halts) await service.done(["market", "resume", scope])
})

const list = () => service.done(["market", "list"], "SUPPORT")
/** Unix ms, this far ahead of the service's clock. */
const ahead = async (millis: number) => String((await service.done(["sim", "clock", "show"])).now + millis)
const halt = (scope: string, ...rest: ReadonlyArray<string>) => [
  "market",
  "halt",
  scope,
  "--message",
  "Upkeep.",
  ...rest
]
const scopesOf = (halts: ReadonlyArray<{ readonly scope: string }>) => halts.map(({ scope }) => scope)
const coveredBy = async () =>
  (await list()).markets
    .filter((row: { readonly haltedByUs: boolean }) => row.haltedByUs)
    .map((row: { readonly symbol: string }) => row.symbol)
const errorsOf = async (line: ReadonlyArray<string>) => {
  const { status, refusal } = await service.cli(line)
  return [status, refusal.code, refusal.data?.errors ?? refusal.msg]
}

describe("operator surface, market halt and resume", () => {
  it.each([
    ["ALL", ["BTC-USDC-PERP", "ETH-USDC-PERP", "BTC-USDC"]],
    ["PERP", ["BTC-USDC-PERP", "ETH-USDC-PERP"]],
    ["BTC-USDC-PERP", ["BTC-USDC-PERP"]],
    ["STAKING", []]
  ])("A2-11: a halt of %s covers %j, until it is resumed", async (scope, covered) => {
    const halted = await service.done(halt(scope))
    assert.deepInclude(halted, { scope, message: "Upkeep.", until: null, status: "ACTIVE", endedAt: null })
    const { haltId: _, status: __, endedAt: ___, ...shown } = halted
    assert.deepStrictEqual((await list()).halts, [shown])
    assert.deepStrictEqual(await coveredBy(), covered)
    const resumed = await service.done(["market", "resume", scope])
    assert.deepInclude(resumed, { haltId: halted.haltId, status: "ENDED" })
    assert.isNumber(resumed.endedAt)
    assert.deepStrictEqual([(await list()).halts, await coveredBy()], [[], []])
  })

  it("a symbol may be short, as with sim venue: BTC-PERP is BTC-USDC-PERP", async () => {
    assert.deepInclude(await service.done(halt("BTC-PERP")), { scope: "BTC-USDC-PERP", status: "ACTIVE" })
    assert.deepStrictEqual(await coveredBy(), ["BTC-USDC-PERP"])
    assert.deepInclude(await service.done(["market", "resume", "BTC-PERP"]), {
      scope: "BTC-USDC-PERP",
      status: "ENDED"
    })
    const [, , unlisted] = await errorsOf(halt("SOL-PERP"))
    assert.deepStrictEqual(Object.keys(unlisted), ["scope"])
  })

  it("A2-11: halts of several scopes run beside each other; resuming one leaves the others", async () => {
    for (const scope of ["ALL", "SPOT", "BTC-USDC-PERP"]) await service.done(halt(scope))
    await service.done(["market", "resume", "ALL"])
    assert.deepStrictEqual(scopesOf((await list()).halts), ["SPOT", "BTC-USDC-PERP"])
  })

  it("halting a scope that is halted gives its halt the new message and end, without a moment between", async () => {
    const first = await service.done(halt("PERP"))
    const until = Number(await ahead(3_600_000))
    const second = await service.done(["market", "halt", "PERP", "--message", "Longer.", "--until", String(until)])
    assert.deepStrictEqual(second, { ...first, message: "Longer.", until })
    const { entries } = await service.done(["audit", "tail", "--object", `tradingHalt:${first.haltId}`])
    assert.deepStrictEqual(
      entries.map((row: Record<string, unknown>) => [row.action, row.before, row.after, row.reason]),
      [
        ["market.halt", null, "PERP", "Upkeep."],
        ["market.halt", "PERP", `PERP until ${until}`, "Longer."]
      ]
    )
  })

  it("A2-11: a halt ends by itself at its end, and not before; a resumed or changed halt does not end then", async () => {
    const until = await ahead(3_600_000)
    const ends = await service.done(halt("SPOT", "--until", until))
    const changed = await service.done(halt("PERP", "--until", until))
    await service.done(halt("PERP"))
    const resumed = await service.done(halt("BARRIER", "--until", until))
    await service.done(["market", "resume", "BARRIER"])
    await service.done(["sim", "clock", "advance", "59m"])
    assert.deepStrictEqual(scopesOf((await list()).halts), ["SPOT", "PERP"])
    await service.done(["sim", "clock", "advance", "2m"])
    await vi.waitFor(async () => assert.deepStrictEqual(scopesOf((await list()).halts), ["PERP"]), { timeout: 10_000 })
    const rows = await query<{ readonly id: bigint; readonly state: string; readonly ended: string | null }>(
      service,
      "SELECT id, state, context->>'endedAt' AS ended FROM trading_halts WHERE id IN ($1, $2, $3) ORDER BY id",
      [ends, changed, resumed].map(({ haltId }) => BigInt(haltId))
    )
    assert.deepStrictEqual(
      rows.map(({ state }) => state),
      ["ENDED", "ACTIVE", "ENDED"]
    )
    assert.isAtLeast(Number(rows[0]?.ended), Number(until))
    assert.isBelow(Number(rows[2]?.ended), Number(until))
  })

  it("an impossible halt is refused with a sentence, and nothing is written", async () => {
    const before = await rowCounts(service)
    const forms = "It must be ALL, a family (PERP, SPOT, BARRIER, STAKING) or the symbol of a listed market."
    for (const scope of ["BTC-PREP", "perp", "all", "FUTURES"]) {
      assert.deepStrictEqual(await errorsOf(halt(scope)), [1, 4000, { scope: forms }])
    }
    for (const until of ["0", String(Date.now() - 1)]) {
      assert.deepStrictEqual(await errorsOf(halt("ALL", "--until", until)), [
        1,
        4000,
        { until: "It must be ahead of now, Unix ms." }
      ])
    }
    assert.deepStrictEqual(await errorsOf(halt("ALL", "--until", String(Date.UTC(2100, 0, 1)))), [
      1,
      4000,
      { until: "It must be before the year 2100." }
    ])
    const [, , long] = await errorsOf(["market", "halt", "ALL", "--message", "x".repeat(257)])
    assert.deepStrictEqual(long, { message: "The message must be at most 256 characters." })
    const [, , blank] = await errorsOf(["market", "halt", "ALL", "--message", " "])
    assert.deepStrictEqual(Object.keys(blank), ["message"])
    assert.deepStrictEqual(await rowCounts(service), before)
  })

  it.each([
    ["no message", ["market", "halt", "ALL"]],
    ["an end that is no time", ["market", "halt", "ALL", "--message", "m", "--until", "tomorrow"]],
    ["no scope", ["market", "resume"]]
  ])("%s is wrong usage", async (_, line) => assert.strictEqual((await service.cli(line)).status, 2))

  it("resume of a scope without a halt of its own names the running ones", async () => {
    assert.deepStrictEqual(await errorsOf(["market", "resume", "BTC-USDC-PERP"]), [
      1,
      4092,
      "BTC-USDC-PERP has no halt of ours; none is running."
    ])
    await service.done(halt("ALL"))
    await service.done(halt("PERP"))
    assert.deepStrictEqual(await errorsOf(["market", "resume", "BTC-USDC-PERP"]), [
      1,
      4092,
      "BTC-USDC-PERP has no halt of ours. Running: ALL, PERP."
    ])
  })

  it("without a list of markets ALL and families can be halted, and a symbol's halt can still be resumed", async () => {
    await service.done(halt("BTC-USDC-PERP"))
    markets = null
    assert.deepStrictEqual(await errorsOf(halt("ETH-USDC-PERP")), [
      1,
      4000,
      { scope: "No list of markets has come from a venue: it must be ALL or a family (PERP, SPOT, BARRIER, STAKING)." }
    ])
    await service.done(halt("BARRIER"))
    await service.done(["market", "resume", "BTC-USDC-PERP"])
    assert.deepStrictEqual(scopesOf((await list()).halts), ["BARRIER"])
  })

  it("two halts of one scope at once are one halt", async () => {
    const both = await Promise.all([service.done(halt("SPOT")), service.done(halt("SPOT"))])
    assert.strictEqual(both[0].haltId, both[1].haltId)
  })

  it("a dry run shows the effect, and writes nothing", async () => {
    const before = await rowCounts(service)
    const { answer, would } = await service.done(halt("ALL", "--until", await ahead(60_000), "--dry-run"))
    assert.deepInclude(answer, { scope: "ALL", status: "ACTIVE" })
    assert.deepStrictEqual(would.rows, { trading_halts: 1, timers: 1, audit: 1 })
    assert.deepStrictEqual([await rowCounts(service), (await list()).halts], [before, []])
  })
})

describe("operator surface, market list", () => {
  it("shows a person each market with its prices and who halts it", async () => {
    await service.done(halt("BTC-USDC-PERP", "--until", String(Date.UTC(2090, 0, 1))))
    const { stdout } = await runRecorded(["market", "list", ...service.connection("FINANCE")])
    const lines = stdout.split("\n").map((line) => line.split(/ {2,}/).join(" | ").trim())
    assert.deepStrictEqual(lines.slice(0, 4), [
      "SYMBOL | FAMILY | LAST | MARK | INDEX | FRESH | HALTED BY | DELISTED",
      "BTC-USDC-PERP | PERP | 60000 | 60001.5 | 60002 | yes | us",
      "ETH-USDC-PERP | PERP | 60000 | 60002 | no | venue",
      "BTC-USDC | SPOT | 60000 | 60001.5 | 60002 | yes | yes"
    ])
    assert.match(lines[5] ?? "", /^HALT OF \| SINCE \| UNTIL \| MESSAGE$/)
    assert.match(lines[6] ?? "", /^BTC-USDC-PERP \| .* \| 2090-01-01 00:00:00Z \| Upkeep\.$/)
    markets = null
    const none = await runRecorded(["market", "list", ...service.connection("SUPPORT")])
    assert.include(none.stdout, "no markets: no venue has sent a list")
  })

  it("a start forgets no halt", async () => {
    await service.done(halt("STAKING"))
    const second = await startService({ database: service.database })
    const active = await second.run(Effect.map(MarketHalts, (halts) => halts.active()))
    assert.deepStrictEqual(scopesOf(active), ["STAKING"])
    await second.stop()
  })
})
