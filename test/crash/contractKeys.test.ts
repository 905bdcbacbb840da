/**
 * An Idempotency-Key whose request dies with the service, between the commit that claims the key and the commit that
 * stores the answer. The retry gets the outcome, whatever the gates decide by then. Another request under the key is a
 * conflict that is not stored, and a key without a retry is free after 24 hours (A1-51..A1-53).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import type { CallPoint } from "../../src/runtime/engine/PausePoints.ts"
import { knockOut } from "../support/contractVenue.ts"
import { isDeep } from "../support/every.ts"
import { dataOf, type RealService } from "../support/RealService.ts"
import { type ContractWorld, makeContractWorld } from "./contractWorld.ts"
import type { Trader } from "./tradeWorld.ts"

const armed = { killAt: { point: "on-signal", times: 1 } }
const body = { symbol: knockOut, side: "BUY", qty: "0.01", barrier: { level: "59000" }, autoAccept: false }

let world: ContractWorld
let service: RealService
let trader: Trader
beforeAll(async () => {
  world = await makeContractWorld("keys")
  service = await world.start(armed)
  await world.venue.together(service)
  await world.price(service, "60000")
  trader = await world.trader(service, await service.partner("KEYS"))
})
afterAll(() => world.end())

const post = (path: string, sent: object, key?: string) =>
  world.post(service, trader, path, sent, key === undefined ? {} : { "idempotency-key": key })

/** Sends a request whose service is killed with -9 at a point of its call, and starts the next service. */
const dies = async (point: CallPoint, path: string, sent: object, key: string): Promise<void> => {
  await service.arm(point, "kill")
  await post(path, sent, key).then(
    ({ text }) => assert.fail(`answered, not killed at ${point}: ${text}`),
    () => undefined
  )
  assert.strictEqual((await service.ended()).signal, "SIGKILL")
  service = await world.start(armed)
}

/**
 * Like `dies`, but the answer has arrived and is not processed. The venue publishes no event of its own for this call,
 * so no event can store the outcome earlier.
 */
const diesAnswered = async (path: string, sent: object, key: string): Promise<void> => {
  await service.done("sim", "venue", "fault", "silent", "--route", "rfq", "--times", "1")
  await dies("after-call", path, sent, key)
}

const conflict = "This Idempotency-Key was used for another request."
const messageOf = ({ text }: { readonly text: string }): string => (JSON.parse(text) as { readonly msg: string }).msg
const rfqs = async (): Promise<number> =>
  Number((await world.query<{ readonly n: bigint }>("SELECT count(*) AS n FROM rfqs"))[0]?.n)

/** Another request under the key is refused. The same request gets its outcome, with the same bytes each time. */
const answered = async (path: string, sent: object, other: object, key: string) => {
  const made = await rfqs()
  const refused = await post(path, other, key)
  assert.deepStrictEqual([refused.status, messageOf(refused)], [409, conflict])
  const first = await post(path, sent, key)
  assert.strictEqual(first.headers["idempotency-replayed"], undefined, first.text)
  const again = await post(path, sent, key)
  assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
  assert.strictEqual(again.headers["idempotency-replayed"], "true")
  assert.deepStrictEqual(await world.query("SELECT name FROM claims WHERE name LIKE 'request:%'"), [])
  assert.strictEqual(await rfqs(), made, "nothing was made anew")
  return first
}

describe("A1-53: a key whose request died with the service", () => {
  it.runIf(isDeep)(
    "a request whose expiry has passed by its retry is answered with the venue's result",
    async () => {
      const sent = { ...body, barrier: { level: "59000", expiryTs: Date.now() + 1_500 } }
      await diesAnswered("/rfq", sent, "create")
      await vi.waitFor(() => assert.isAbove(Date.now(), sent.barrier.expiryTs), { timeout: 20_000, interval: 10 })
      const { venueRfqId, state } = dataOf(await answered("/rfq", sent, body, "create"))
      assert.isNumber(venueRfqId)
      assert.include(["OPEN", "EXPIRED"], state)
    },
    60_000
  )

  it("A2-26: a request that never reached the venue answers 502: nothing was executed", async () => {
    await dies("before-call", "/rfq", body, "void")
    const { status, text } = await answered("/rfq", body, { ...body, qty: "0.02" }, "void")
    assert.strictEqual(status, 502)
    assert.include(text, "The venue was not reached: nothing was executed.")
  }, 60_000)

  it.runIf(isDeep)(
    "an accept and a request to close are answered with the contract and the request that they made",
    async () => {
      const { rfqId, quoteId } = await world.quoted(service, trader, body)
      const path = `/rfq/${rfqId}/accept`
      await dies("before-result", path, { quoteId }, "accept")
      const { contractId } = dataOf(await answered(path, { quoteId }, { quoteId: quoteId + 1 }, "accept"))
      const close = `/barriers/${contractId}/close`
      await diesAnswered(close, { autoAccept: false }, "close")
      const { closeContractId } = dataOf(await answered(close, { autoAccept: false }, {}, "close"))
      assert.strictEqual(closeContractId, contractId)
      assert.strictEqual((await world.query("SELECT id FROM barrier_contracts")).length, 1)
    },
    60_000
  )

  it.runIf(isDeep)(
    "A1-52: a request without a retry holds its key for 24 hours, and no longer",
    async () => {
      await diesAnswered("/rfq", body, "never")
      const other = { ...body, qty: "0.02" }
      assert.strictEqual(messageOf(await post("/rfq", other, "never")), conflict)
      await service.done("sim", "clock", "advance", "23h")
      assert.strictEqual(messageOf(await post("/rfq", other, "never")), conflict)
      await service.done("sim", "clock", "advance", "2h")
      await service.kill("SIGTERM")
      service = await world.start(armed)
      await world.venue.together(service)
      const free = await vi.waitFor(
        async () => {
          const answer = await post("/rfq", other, "never")
          dataOf(answer)
          return answer
        },
        { timeout: 20_000, interval: 100 }
      )
      assert.strictEqual(dataOf(free).qty, "0.0200")
      await world.verify(service, "after all keys")
    },
    90_000
  )
})
