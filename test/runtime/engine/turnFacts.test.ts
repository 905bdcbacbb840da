/** The market facts of a turn: taken once, from one moment, and again for each decision. */
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Facts, noFacts } from "../../../src/machines/market/Facts.ts"
import { defaultMarketTerms } from "../../../src/machines/market/marketTerms.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import type { Command } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { CurrentDryRun, DryRun } from "../../../src/runtime/engine/mailbox/dryRun.ts"
import { balance, clientCommit } from "./fixtures.ts"
import { by, type HostBench, increment, openHost } from "./hostBench.ts"

/** The market at its n-th read. */
const marketAt = (n: number): Facts => ({
  ...noFacts,
  takenAt: n,
  marks: new Map([["BTC-USDC-PERP", { price: new MoneyDecimal(60_000 + n), places: 1, at: n, current: true }]]),
  instruments: new Map(),
  terms: defaultMarketTerms
})

let bench: HostBench
let asked: number
beforeEach(async () => {
  bench = await openHost()
  asked = 0
  bench.market = () => marketAt(++asked)
  return () => bench.close()
})

const run = <A>(command: Command<A>): Promise<A> => Effect.runPromise(bench.host.dispatch(command))

/** Adds one to the client's cash, and records each time at which the decision read the market. */
const looking = (times: number): { readonly command: Command<bigint>; readonly moments: Array<number | null> } => {
  const moments: Array<number | null> = []
  const inner = increment(1)
  const decide: Command<bigint>["decide"] = (turn) => {
    for (let time = 0; time < times; time++) moments.push(turn.facts.takenAt)
    return inner.decide(turn)
  }
  return { command: { ...inner, decide }, moments }
}

describe("facts of a turn", () => {
  it("are of one time, however often the turn reads them", async () => {
    const { command, moments } = looking(3)
    await run(command)
    assert.deepStrictEqual(moments, [1, 1, 1])
    assert.strictEqual(asked, 1)
  })

  it("a turn that is decided again sees the market of that time", async () => {
    await run(increment(1))
    bench.store.apply(clientCommit(1, 1, { rows: { balances: [balance(1, 50n)] } }))
    const { command, moments } = looking(1)
    assert.strictEqual(await run(command), 51n)
    assert.deepStrictEqual(moments, [2, 3])
  })

  it("a dry run sees them too", async () => {
    const { command, moments } = looking(1)
    const dryRun = new DryRun(() => Effect.succeed([]))
    await Effect.runPromise(Effect.provideService(bench.host.dispatch(command), CurrentDryRun, dryRun))
    assert.deepStrictEqual(moments, [1])
    assert.strictEqual(bench.submitted.length, 0)
  })

  it("readers see them beside the state, of a subject in memory and of one that has to be read first", async () => {
    const price = Effect.runPromise(
      bench.host.read("client:1", (_, { marks }) => marks.get("BTC-USDC-PERP")?.price.toString())
    )
    assert.strictEqual(await price, "60001")
    await run(increment(1))
    const moment = Effect.runPromise(bench.host.read("client:1", (_, facts) => facts.takenAt))
    assert.strictEqual(await moment, 3)
  })

  it("without a market a turn sees that none is attached", async () => {
    bench.market = () => noFacts
    const seen = await run({ subject: "client:1", by, decide: ({ facts }) => facts })
    assert.deepStrictEqual(seen, noFacts)
  })
})
