/**
 * The whole life of orders over HTTP at the simulated venue: placed, filled, protected, cancelled, refused, read (doc
 * 2, Orders; D6, D7; A2-32 to A2-44, A2-49 to A2-51, A2-92, A2-106).
 */
import { assert, describe, it } from "@effect/vitest"
import { get, ofClient, rowCounts } from "../support/Builders.ts"
import { orderSteps, orderVenue, spot } from "../support/orderSteps.ts"
import { perp } from "../support/perpVenue.ts"
import { openScenario } from "../support/Scenario.ts"

const world = orderVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
const { trader, place, placed, limit, cancel, until, read, at, poll, orderOf } = orderSteps(service, key, {
  call,
  report
})

const names = (orderId: number, state: string) => ({ orderId, clOrdId: `O-${orderId}`, state })
const noIds = { orderId: null, clOrdId: null, state: null }

describe("orders on a perpetual", () => {
  it("LIMIT rests, MARKET trades with it: both sides' orders, trades, positions, histories and commissions", async () => {
    const [anna, ben] = [await trader(), await trader()]
    const first = await place(anna, limit("BUY", "0.1", "60000"))
    const { orderId } = first.json
    assert.deepStrictEqual([first.status, first.json], [200, names(orderId, "ACKED")])
    const [open] = (await read(anna, "/orders/open")).data
    assert.deepInclude(open, {
      orderId,
      state: "ACKED",
      qty: "0.1000",
      price: "60000.0",
      tif: "GTC",
      filledQty: "0.0000"
    })
    const taken = await place(ben, { symbol: perp, side: "SELL", type: "MARKET", qty: "0.1" })
    assert.deepStrictEqual([taken.status, taken.json], [200, names(taken.json.orderId, "FILLED")])
    await until(anna, orderId, ({ state }) => state === "FILLED")
    assert.deepStrictEqual((await read(anna, "/orders/open")).data, [])
    const [trade] = (await read(anna, "/trades")).trades
    assert.deepInclude(trade, { orderId, side: "BUY", price: "60000.0", qty: "0.1000", commission: "3.000000" })
    assert.deepInclude((await read(anna, "/positions")).positions[0], { symbol: perp, netQty: "0.1000" })
    assert.deepInclude((await read(ben, "/positions")).positions[0], { symbol: perp, netQty: "-0.1000" })
    assert.deepInclude(await read(anna, "/margin"), { cash: "997.000000", positionMargin: "600.000000", openOrders: 0 })
    // Closed again, with a profit of 100 for one client and a loss of 100 for the other.
    const back = await placed(anna, limit("SELL", "0.1", "61000", { reduceOnly: true }))
    await placed(ben, limit("BUY", "0.1", "61000"))
    await until(anna, back, ({ state }) => state === "FILLED")
    const closed = async (clientId: number) => (await read(clientId, "/position-history")).items[0]
    assert.deepInclude(await closed(anna), { symbol: perp, realizedPnl: "100.000000" })
    assert.deepInclude(await closed(ben), { symbol: perp, realizedPnl: "-100.000000" })
    assert.deepStrictEqual(await read(anna, "/positions"), { positions: [] })
  }, 30_000)

  it("DELETE ends it and releases its margin; again it is 400, another client's or an unknown one 404", async () => {
    const anna = await trader()
    const orderId = await placed(anna, limit("BUY", "0.1", "59000"))
    assert.deepInclude(await read(anna, "/margin"), { openOrders: 1, orderMargin: "590.000000" })
    const other = await trader()
    for (const [clientId, id] of [
      [other, orderId],
      [anna, 999_999],
      [anna, "x"]
    ] as const) {
      assert.deepInclude((await cancel(clientId, id)).json, { code: 4004 })
    }
    const partner = await service.partner()
    const foreign = await service.call("DELETE", `/partner/v1/clients/${anna}/orders/${orderId}`, { key: partner.key })
    assert.strictEqual(foreign.status, 404)
    const ended = await cancel(anna, orderId)
    assert.deepStrictEqual([ended.status, ended.json], [200, { orderId, clOrdId: `O-${orderId}` }])
    assert.deepInclude(await orderOf(anna, orderId), { state: "CANCELLED", filledQty: "0.0000" })
    assert.deepInclude(await read(anna, "/margin"), { openOrders: 0, orderMargin: "0.000000" })
    const again = await cancel(anna, orderId)
    assert.deepStrictEqual([again.status, again.json.code], [400, 4000])
    assert.match(again.json.msg, /CANCELLED/)
  }, 30_000)

  it("A2-92: a DELETE without an answer is repeated, and answers 200 once the venue has confirmed it", async () => {
    const anna = await trader()
    const orderId = await placed(anna, limit("BUY", "0.1", "59000"))
    world.failing((asked, refs) =>
      asked === "cancelOrder" && refs.includes(`O-${orderId}-c1`) ? { lost: "before" } : {}
    )
    const ended = await cancel(anna, orderId).finally(() => world.failing(() => ({})))
    assert.deepStrictEqual([ended.status, ended.json], [200, { orderId, clOrdId: `O-${orderId}` }])
    assert.deepInclude(await orderOf(anna, orderId), { state: "CANCELLED" })
  }, 30_000)

  it("IOC, FOK and POST_ONLY end by their rules, with no hold left", async () => {
    const [anna, ben] = [await trader(), await trader()]
    await placed(ben, limit("SELL", "0.01", "60000"))
    const fok = await placed(anna, limit("BUY", "0.02", "60000", { tif: "FOK" }))
    await until(anna, fok, ({ state, filledQty }) => state === "CANCELLED" && filledQty === "0.0000")
    const crossing = await place(anna, limit("BUY", "0.02", "60000", { tif: "POST_ONLY" }))
    await until(anna, crossing.json.orderId, ({ state }) => state === "REJECTED" || state === "CANCELLED")
    const ioc = await placed(anna, limit("BUY", "0.02", "60000", { tif: "IOC" }))
    await until(anna, ioc, ({ state, filledQty }) => state === "CANCELLED" && filledQty === "0.0100")
    assert.deepInclude(await read(anna, "/margin"), { openOrders: 0, orderMargin: "0.000000" })
    assert.strictEqual((await read(anna, "/trades")).trades.length, 1)
  }, 30_000)

  it("an order that is refused before it is stored has no ids and writes nothing", async () => {
    const anna = await trader("100.00")
    const before = await rowCounts(service)
    for (const [body, word] of [
      [limit("BUY", "0.1", "60000"), /margin/i],
      [limit("BUY", "0.00001", "60000"), /quantity/i],
      [limit("SELL", "0.001", "60000", { reduceOnly: true }), /position/i],
      [limit("BUY", "0.001", "60000.05"), /price/i],
      [{ symbol: perp, side: "BUY", type: "MARKET", qty: "0.001", price: "60000" }, /price/i]
    ] as const) {
      const { status, json, text } = await place(anna, body)
      assert.deepStrictEqual([status, json.code], [400, 4000], text)
      assert.deepInclude(json, noIds)
      assert.match(text, word)
    }
    const hinted = await place(anna, limit("BUY", "0.001", "60000", { leverage: 3 }))
    assert.deepStrictEqual([hinted.status, hinted.json.code], [409, 4091], hinted.text)
    assert.deepInclude(hinted.json.data, { leverageSent: 3, leverageStored: 10 })
    const unknown = await place(anna, limit("BUY", "0.001", "60000", { symbol: "NO-SUCH" }))
    assert.deepStrictEqual([unknown.status, unknown.json.code], [404, 4004], unknown.text)
    assert.deepStrictEqual(await rowCounts(service), before)
    assert.deepStrictEqual((await read(anna, "/orders")).orders, [])
  }, 30_000)
})

describe("what foretells an order", () => {
  it("preview and explain predict the result of placing, and change nothing", async () => {
    const anna = await trader()
    const preview = async (body: object) => (await call("POST", anna, "/margin/preview", body)).json
    const explained = async (body: object) => (await call("POST", anna, "/orders/explain", body)).json.data
    const fits = limit("BUY", "0.1", "60000")
    assert.deepInclude(await preview(fits), { accepted: true, marginRequired: "600.000000", leverage: 10 })
    assert.deepInclude(await preview({ ...fits, leverage: 5 }), { accepted: false, marginRequired: "1200.000000" })
    assert.deepInclude(await explained(fits), { outcome: "ACCEPTED" })
    assert.deepInclude(await explained(limit("BUY", "0.2", "60000")), { outcome: "REFUSED" })
    assert.deepStrictEqual((await ofClient(service, "orders", anna)).length, 0)
  })

  it("leverage is read, put and posted, and determines the margin of the next order", async () => {
    const anna = await trader()
    const leverage = async () => read(anna, `/leverage?symbol=${perp}`)
    assert.deepInclude(await leverage(), { leverage: 10, chosen: null })
    assert.deepInclude((await call("PUT", anna, "/leverage", { symbol: perp, leverage: 5 })).json, { chosen: 5 })
    const orderId = await placed(anna, limit("BUY", "0.05", "60000", { leverage: 5 }))
    assert.deepInclude(await read(anna, "/margin"), { orderMargin: "600.000000" })
    assert.deepInclude((await call("POST", anna, "/leverage", { symbol: perp, leverage: 6 })).json, { chosen: 6 })
    assert.deepInclude(await read(anna, "/margin"), { orderMargin: "500.000000" })
    assert.strictEqual((await cancel(anna, orderId)).status, 200)
  })
})

describe("what waits for a price", () => {
  it("a stop and a take profit in one OCO group: one triggers, the other is cancelled, the position is flat", async () => {
    const [anna, ben] = [await trader(), await trader()]
    await placed(ben, limit("SELL", "0.05", "60000"))
    const long = await placed(anna, limit("BUY", "0.05", "60000"))
    await until(anna, long, ({ state }) => state === "FILLED")
    const exit = (type: string, price: string, direction: string) => ({
      symbol: perp,
      side: "SELL",
      type,
      qty: "0.05",
      reduceOnly: true,
      ocoGroup: "exit",
      trigger: { source: "MARK", price, direction }
    })
    const stop = await place(anna, exit("STOP_MARKET", "59000", "AT_OR_BELOW"))
    assert.strictEqual(stop.json.state, "PENDING_TRIGGER", stop.text)
    const profit = await placed(anna, exit("TAKE_PROFIT_MARKET", "62000", "AT_OR_ABOVE"))
    await placed(ben, limit("BUY", "0.05", "58900"))
    world.price("58950")
    await until(anna, stop.json.orderId, ({ state }) => state === "FILLED")
    await until(anna, profit, ({ state }) => state === "CANCELLED")
    await poll(
      () => read(anna, "/positions"),
      ({ positions }) => positions.length === 0
    )
    world.price("60000")
    const joining = await place(anna, exit("STOP_MARKET", "59000", "AT_OR_BELOW"))
    assert.strictEqual(joining.status, 400, joining.text)
  }, 30_000)

  it("attached levels are placed once the order fills, and leave with the position", async () => {
    const [anna, ben] = [await trader(), await trader()]
    const attach = { takeProfit: { price: "62000" }, stopLoss: { price: "59000" } }
    const parent = await placed(anna, limit("BUY", "0.05", "60000", { attach }))
    assert.lengthOf((await read(anna, "/orders/open")).data, 1)
    await placed(ben, limit("SELL", "0.05", "60000"))
    const legs = async () =>
      (await read(anna, "/orders/open")).data.filter(
        ({ parentOrderId, state }: { readonly parentOrderId: number | null; readonly state: string }) =>
          parentOrderId === parent && state === "PENDING_TRIGGER"
      )
    const two = await poll(legs, ({ length }) => length === 2)
    for (const leg of two) {
      assert.deepInclude(leg, { origin: "ATTACHED", reduceOnly: true, side: "SELL", qty: "0.0500" })
      assert.match(leg.ocoGroup, /^att:/)
    }
    await placed(ben, limit("BUY", "0.05", "60000"))
    await placed(anna, { symbol: perp, side: "SELL", type: "MARKET", qty: "0.05", reduceOnly: true })
    await poll(
      async () => (await read(anna, "/orders/open")).data,
      ({ length }) => length === 0
    )
    assert.deepStrictEqual(await read(anna, "/positions"), { positions: [] })
  }, 30_000)
})

describe("orders on a spot market", () => {
  it("a purchase reserves, pays and releases the rest; a sale needs the asset; neither creates a position", async () => {
    const [anna, ben] = [await trader("7000.00"), await trader("7000.00")]
    const of = (side: "BUY" | "SELL", qty: string, price: string) => limit(side, qty, price, { symbol: spot })
    const short = await place(anna, of("SELL", "0.01", "60000"))
    assert.deepInclude(short.json, noIds)
    world.book(spot, "1")
    await poll(
      () => get(service, key, `/ticker?symbol=${spot}`),
      ({ json }) => json.bestAsk !== null
    )
    const bought = await placed(anna, { symbol: spot, side: "BUY", type: "MARKET", qty: "0.01" })
    const done = await until(anna, bought, ({ state }) => state === "FILLED")
    world.book(spot, "0")
    assert.strictEqual(
      Number(done.reservation.consumed) + Number(done.reservation.released),
      Number(done.reservation.amount)
    )
    const balanceOf = async (clientId: number, currency: string) =>
      (await read(clientId, "/balances")).balances.find(
        (line: { readonly currency: string }) => line.currency === currency
      )
    assert.deepInclude(await balanceOf(anna, "BTC"), { cash: "0.01000000", reserved: "0.00000000" })
    const rest = await placed(ben, of("BUY", "0.004", "59990"))
    const held = await balanceOf(ben, "USDC")
    assert.isAbove(Number(held.reserved), 239.96)
    const sale = await placed(anna, of("SELL", "0.01", "59990"))
    await until(ben, rest, ({ state }) => state === "FILLED")
    await until(anna, sale, ({ filledQty }) => Number(filledQty) === 0.004)
    assert.deepInclude(await balanceOf(anna, "BTC"), { cash: "0.00000000", reserved: "0.00600000" })
    assert.strictEqual((await cancel(anna, sale)).status, 200)
    assert.deepInclude(await balanceOf(anna, "BTC"), { cash: "0.00600000", reserved: "0.00000000" })
    assert.deepInclude(await balanceOf(ben, "USDC"), { reserved: "0.000000" })
    assert.deepStrictEqual(await read(anna, "/positions"), { positions: [] })
  }, 30_000)
})

describe("orders without a client", () => {
  it("every read of another partner's client is 404", async () => {
    const anna = await trader()
    const partner = await service.partner()
    for (const path of [
      "/orders",
      "/orders/open",
      "/positions",
      "/trades",
      "/position-history",
      `/leverage?symbol=${perp}`
    ]) {
      const { status } = await service.call("GET", `/partner/v1/clients/${anna}${path}`, { key: partner.key })
      assert.strictEqual(status, 404, path)
      assert.strictEqual((await at(anna, path)).status, 200, path)
    }
  })
})
