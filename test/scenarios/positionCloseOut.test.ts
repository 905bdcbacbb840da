/**
 * Accounts with positions and too little money (F9, F10; D23): the mark falls, the position is closed by an order of the service,
 * and the client is NORMAL again, or what it lost beyond its money is written off.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MarketHalts } from "../../src/runtime/services/market/MarketHalts.ts"
import type { VenueCommand } from "../../src/venue/VenueCommand.ts"
import { get, ofClient } from "../support/Builders.ts"
import { barrierSteps } from "../support/barrierSteps.ts"
import { barrierVenue } from "../support/barrierVenue.ts"
import { openScenario } from "../support/Scenario.ts"
import { operator } from "../support/Service.ts"

const perp = "BTC-USDC-PERP"
const world = barrierVenue()
const { service, key, call, report, cash, rowOf } = await openScenario({ layerVenue: world.layerVenue })
const { trader, post, looking } = barrierSteps(service, key, { call, report })

const venue = (command: VenueCommand) => void world.venue.apply({ type: "command", command })
/** Holds index, mark and last of the perpetual. */
const price = (mark: string) => venue({ type: "price", symbol: perp, price: mark, only: null })

const picture = async (clientId: number) => (await get(service, key, `/clients/${clientId}/margin`)).json
const orders = async (clientId: number) => (await get(service, key, `/clients/${clientId}/orders`)).json.orders
const positions = async (clientId: number) => (await get(service, key, `/clients/${clientId}/positions`)).json.positions
const kinds = async (clientId: number): Promise<ReadonlyArray<string>> =>
  (await get(service, key, `/clients/${clientId}/notifications`)).json.data.items.map(
    ({ kind }: { readonly kind: string }) => kind
  )

/** A client with 700 USDC that is long 0.1 from about 60,000, at ten times. */
const holder = async (): Promise<number> => {
  price("60000")
  const clientId = await trader("700.00")
  await looking(
    () => get(service, key, `/ticker?symbol=${perp}`),
    ({ json }) => json.data?.markPrice === "60000.0"
  )
  const bought = await post(clientId, "/orders", { symbol: perp, side: "BUY", type: "MARKET", qty: "0.1" })
  assert.deepInclude(bought.json, { state: "FILLED" }, bought.text)
  return clientId
}
const closedOut = (clientId: number) =>
  looking(
    () => rowOf(clientId),
    ({ lifecycleState, riskState }) => lifecycleState === "ACTIVE" && riskState === "NORMAL"
  )

describe("an account with a position", () => {
  it("SC-MRG-01, F9: the mark falls, the position is closed, and the client is NORMAL with what is left", async () => {
    const clientId = await holder()
    price("55000")
    await looking(
      () => positions(clientId),
      (open) => open.length === 0
    )
    await closedOut(clientId)
    const all = await orders(clientId)
    const closing = all.find(({ origin }: { readonly origin: string }) => origin === "CLOSE_OUT")
    assert.deepInclude(closing, {
      side: "SELL",
      type: "MARKET",
      state: "FILLED",
      reduceOnly: true,
      filledQty: "0.1000"
    })
    assert.match(closing.note, /^CO-[1-9][0-9]*$/)
    const refused = await call("DELETE", clientId, `/orders/${closing.orderId}`, {})
    assert.strictEqual(refused.status, 400)
    const left = await cash(clientId)
    assert.match(left, /^1[0-9]{2}\.[0-9]{6}$/, "700 less 500 and what trading has cost")
    assert.deepInclude(await picture(clientId), { riskState: "NORMAL", positions: [], cash: left, marginLevel: null })
    const said = await kinds(clientId)
    for (const kind of ["CLOSE_OUT", "RESTRICTION_SET", "RESTRICTION_LIFTED"]) assert.include(said, kind)
    const [episode, ...others] = await ofClient(service, "closeOuts", clientId)
    assert.deepStrictEqual([episode?.state, others], ["DONE", []])
    assert.deepInclude(episode?.context, { orders: 1, contracts: 0, writtenOff: "0.000000" })
  })

  it("F9, A2-90: a halt of the venue is waited for, one of ours is not", async () => {
    const [clientId, halts] = [await holder(), await service.run(MarketHalts.use((live) => Effect.succeed(live)))]
    const { ok } = await service.run(halts.halt(operator, { scope: perp, message: "Upkeep.", until: null }))
    assert.isTrue(ok)
    venue({ type: "halt", symbol: perp })
    await looking(
      () => get(service, key, "/trading-status"),
      ({ json }) => json.data.halts.length === 2
    )
    price("55000")
    await looking(
      () => ofClient(service, "closeOuts", clientId),
      ([episode]) => episode?.state === "WAITING_MARKET"
    )
    assert.lengthOf(await positions(clientId), 1)
    venue({ type: "resume", symbol: perp })
    await looking(
      () => positions(clientId),
      (open) => open.length === 0
    )
    await closedOut(clientId)
    // Ours still stands: what opens is refused.
    const { status } = await post(clientId, "/orders", { symbol: perp, side: "BUY", type: "MARKET", qty: "0.001" })
    assert.strictEqual(status, 400)
    assert.deepStrictEqual(
      halts.active().map(({ scope }) => scope),
      [perp]
    )
    await service.run(halts.resume(operator, perp))
  })

  it("SC-MRG-05, F10: through zero, what is missing is written off, once", async () => {
    const clientId = await holder()
    price("52000")
    await looking(
      () => positions(clientId),
      (open) => open.length === 0
    )
    await closedOut(clientId)
    assert.strictEqual(await cash(clientId), "0.000000")
    const { postings } = (await get(service, key, `/clients/${clientId}/ledger?limit=50`)).json.data
    const [writeOff, ...others] = postings.filter(({ type }: { readonly type: string }) => type === "NBP_WRITEOFF")
    assert.deepStrictEqual(others, [])
    const [episode] = await ofClient(service, "closeOuts", clientId)
    assert.deepInclude(episode?.context, { orders: 1, writtenOff: writeOff.amount })
    assert.strictEqual(writeOff.refs.episodeId, `CO-${episode?.id}`)
  })
})
