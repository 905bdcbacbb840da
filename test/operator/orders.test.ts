/** Orders and positions as staff read them, and cancels by staff (operator surface, order, position; D6). */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { collateral, query, rowCounts } from "../support/Builders.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { inTurn, putOrder, putPosition } from "../support/orderRows.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

const world = contractVenue()
let service: OperatorService
let clientId: number
let uid: string
beforeAll(async () => {
  service = await startOperatorService({ layerVenue: world.layerVenue })
  const { key } = await service.partner({ code: "ORD", custody: "PARTNER" })
  clientId = await service.client(key)
  // Covers the stored positions: a close-out would cancel the tested orders.
  await collateral(service, key, clientId, { partnerRef: "o-1", direction: "DEPOSIT", amount: "14000" })
  uid = (await service.done(["client", "show", String(clientId)])).clientUid
})
afterAll(() => service.stop())

const shownTo = async (line: ReadonlyArray<string>): Promise<string> =>
  (await runRecorded([...line, ...service.connection("SUPPORT")])).stdout
const idsOf = async (...line: ReadonlyArray<string>): Promise<ReadonlyArray<number>> =>
  (await service.done(["order", "list", ...line], "SUPPORT")).orders.map(
    ({ orderId }: { readonly orderId: number }) => orderId
  )

const looking = async <A>(look: () => Promise<A>, found: (seen: A) => boolean): Promise<A> => {
  for (;;) {
    const seen = await look()
    if (found(seen)) return seen
  }
}

describe("explain order", () => {
  it("A2-91: shows gate by gate how the order would be answered, and writes nothing", async () => {
    const before = await rowCounts(service)
    const line = ["explain", "order", uid, "--symbol", "BTC-USDC-PERP", "--side", "SELL", "--qty", "0.01", "--type"]
    const gatesOf = async (...more: ReadonlyArray<string>) => {
      const { write, outcome, gates } = await service.done([...line, ...more], "SUPPORT")
      const passed = gates.flatMap(({ gate, status }: { readonly gate: string; readonly status: string }) =>
        status === "passed" ? [gate] : []
      )
      return [write, outcome, passed.slice(0, 2)]
    }
    const trigger = ["--trigger-source", "MARK", "--trigger-price", "59000", "--trigger-direction", "AT_OR_BELOW"]
    assert.deepStrictEqual(await gatesOf("STOP_MARKET"), ["order", "REFUSED", []])
    assert.deepStrictEqual(await gatesOf("STOP_MARKET", ...trigger), ["order", "REFUSED", ["fields", "market"]])
    assert.deepStrictEqual(
      await gatesOf("LIMIT", "--price", "61000", "--take-profit", "60000", "--stop-loss", "62000"),
      ["order", "REFUSED", ["fields", "market"]]
    )
    assert.match(await shownTo([...line, "MARKET"]), /^The order would be refused \(\d{4}\): /)
    assert.deepStrictEqual(await rowCounts(service), before)
  })
})

describe("orders as staff read them", () => {
  it("of one client, newest first, page by page, or the working ones alone", async () => {
    const [first, second, third] = await inTurn(service, clientId, (turn) => [
      putOrder(turn),
      putOrder(turn, { state: "CANCELLED", context: { note: "not filled at once" } }),
      putOrder(turn, { state: "PARTIAL", context: { filledQty: "0.0400" } })
    ])
    assert.deepStrictEqual(await idsOf(uid, "--limit", "2"), [third, second])
    assert.deepStrictEqual(await idsOf(String(clientId), "--before", String(second)), [first])
    assert.deepStrictEqual(await idsOf(uid, "--open"), [third, first])
    const shown = await service.done(["order", "show", `O-${third}`], "SUPPORT")
    assert.deepInclude(shown, { orderId: third, clientId, clientUid: uid, state: "PARTIAL", leverage: 10 })
    assert.deepStrictEqual(await service.done(["order", "show", String(third)]), shown)
    assert.match(await shownTo(["order", "list", uid]), /ID +MARKET +SIDE/)
    for (const line of [
      ["order", "show", "999999"],
      ["order", "list", "NO-00000001"],
      ["position", "list", "999999"]
    ]) {
      const { status, refusal } = await service.cli(line)
      assert.deepStrictEqual([status, refusal.code], [1, 4004], line.join(" "))
    }
  })

  it("open positions of one client", async () => {
    await inTurn(service, clientId, (turn) => {
      putPosition(turn)
      putPosition(turn, { symbol: "BTC-USDC", state: "SPOT", netQty: "1" })
    })
    const { positions } = await service.done(["position", "list", uid], "SUPPORT")
    assert.deepStrictEqual(
      positions.map(({ symbol, netQty }: { readonly symbol: string; readonly netQty: string }) => [symbol, netQty]),
      [["BTC-USDC-PERP", "0.1000"]]
    )
    assert.match(await shownTo(["position", "list", uid]), /MARKET +QTY +AVERAGE ENTRY/)
  })

  it("D6: a cancel is sent to the venue, its actor is shown to the client and its reason in the audit; an ended order is refused", async () => {
    const [id, ended] = await inTurn(service, clientId, (turn) => [
      putOrder(turn),
      putOrder(turn, { state: "FILLED", context: { filledQty: "0.1000" } })
    ])
    const cancel = (order: unknown) => ["order", "cancel", String(order), "--reason", "the client's call", "--yes"]
    const asked = await service.cli([...cancel(id), "--dry-run"])
    assert.deepInclude(asked.json.answer, { orderId: id, state: "PENDING_CANCEL" })
    assert.strictEqual((await service.done(["order", "show", String(id)])).state, "ACKED")
    assert.deepInclude(await service.done(cancel(id)), { orderId: id, state: "PENDING_CANCEL", note: "operator" })
    const audit = await query(
      service,
      `SELECT action, role, reason FROM audit WHERE object = 'order:${id}' AND action = 'order.cancelByOperator'`
    )
    assert.deepStrictEqual(audit, [{ action: "order.cancelByOperator", role: "ADMIN", reason: "the client's call" }])
    const over = await service.cli(cancel(ended))
    assert.deepStrictEqual([over.status, over.refusal.code], [1, 4092])
    assert.strictEqual((await service.cli(cancel(999_999))).refusal.code, 4004)
    const finance = await service.cli(cancel(id), "FINANCE")
    assert.strictEqual(finance.refusal.code, 4034)
  })

  it("machine inspect shows the start of a call in flight, the number of queries, and the last answer", async () => {
    const id = await inTurn(service, clientId, (turn) => putOrder(turn))
    const inspect = () => service.done(["machine", "inspect", "order", String(id)], "SUPPORT")
    assert.deepStrictEqual((await inspect()).calls, [])
    world.failing((asked) => (asked === "cancelOrder" || asked === "voidRefs" ? { lost: "before" } : {}))
    await service.done(["order", "cancel", String(id), "--reason", "r", "--yes"])
    const { calls, history } = await looking(inspect, (shown) => shown.calls[0]?.asked > 0)
    assert.deepInclude(calls[0], { ref: `O-${id}-c1`, call: "cancelOrder", found: "NO_ANSWER" })
    assert.strictEqual(calls.length, 1)
    assert.deepStrictEqual(
      history.map(({ action }: { readonly action: string }) => action),
      ["order.cancel", "order.cancelByOperator"]
    )
    const line = ["machine", "inspect", "order", String(id)]
    assert.match(
      await shownTo(line),
      new RegExp(`CALL +REF +IN FLIGHT SINCE +QUERIES +FOUND\\n.*cancelOrder +O-${id}-c1 .* NO_ANSWER`)
    )
    world.failing(() => ({}))
    await looking(inspect, (shown) => shown.calls.length === 0)
    assert.notMatch(await shownTo(line), /IN FLIGHT SINCE/)
  })
})

describe("venue resolve order", () => {
  const resolve = async (object: string, as: string, ...more: ReadonlyArray<string>) => {
    const { refusal } = await service.cli(["venue", "resolve", object, "--as", as, "--reason", "r", "--yes", ...more])
    return [refusal.code, refusal.data?.errors ?? refusal.msg]
  }

  it("A2-116: an order that the venue has answered, an unknown one, and invalid evidence are refused", async () => {
    const id = await inTurn(service, clientId, (turn) => putOrder(turn))
    const answered = "The venue has answered this order: nothing of it is unknown."
    assert.deepStrictEqual(await resolve(`order:${id}`, "void"), [4092, answered])
    assert.strictEqual((await resolve("order:999999", "void"))[0], 4004)
    const wrong = { as: "An order is resolved as executed or void." }
    assert.deepStrictEqual(await resolve(`order:${id}`, "closed", "--price", "60000.0"), [4000, wrong])
    const [, errors] = await resolve(
      `order:${id}`,
      "executed",
      "--trade-id",
      "7",
      "--price",
      "60000.01",
      "--qty",
      "0.1"
    )
    assert.deepStrictEqual(Object.keys(errors), ["price"])
  })
})
