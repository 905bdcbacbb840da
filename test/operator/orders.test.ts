/** Orders and positions as staff read them, and cancelling one (operator surface, order, position; D6). */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { query } from "../support/Builders.ts"
import { barrierVenue } from "../support/barrierVenue.ts"
import { inTurn, putOrder, putPosition } from "../support/orderRows.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

const world = barrierVenue()
let service: OperatorService
let clientId: number
let uid: string
beforeAll(async () => {
  service = await startOperatorService({ layerVenue: world.layerVenue })
  const { key } = await service.partner({ code: "ORD", custody: "PARTNER" })
  clientId = await service.client(key)
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

describe("orders as staff read them", () => {
  it("of one client, newest first, page by page, or those that work alone", async () => {
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
      ["order", "show", "x"],
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

  it("D6: cancelling one asks the venue, says who to its client and why to the audit; an ended one is refused", async () => {
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

  it("machine inspect tells since when a call is in flight, how often it was asked for, and what was found", async () => {
    const id = await inTurn(service, clientId, (turn) => putOrder(turn))
    const inspect = () => service.done(["machine", "inspect", "order", String(id)], "SUPPORT")
    assert.deepStrictEqual((await inspect()).calls, [])
    world.failing((asked) => (asked === "cancelOrder" || asked === "voidRefs" ? { lost: "before" } : {}))
    await service.done(["order", "cancel", String(id), "--reason", "r", "--yes"])
    const { calls, history } = await looking(inspect, (shown) => shown.calls[0]?.asked > 0)
    world.failing(() => ({}))
    assert.deepInclude(calls[0], { ref: `O-${id}-c1`, call: "cancelOrder", found: "NOTHING" })
    assert.strictEqual(calls.length, 1)
    assert.deepStrictEqual(
      history.map(({ action }: { readonly action: string }) => action),
      ["order.cancel", "order.cancelByOperator"]
    )
    assert.match(await shownTo(["machine", "inspect", "order", String(id)]), /CALL +REF +IN FLIGHT SINCE|no pending/)
  })
})
