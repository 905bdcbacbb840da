/**
 * Knock-out contracts of partners: listed, closed early at a quoted price, ended by the venue (doc 2; D5; F17, F19,
 * A2-29, A2-30).
 */
import { assert, describe, it } from "@effect/vitest"
import { get } from "../support/Builders.ts"
import { heldAt } from "../support/lockTable.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { openScenario } from "../support/Scenario.ts"
import type { Answer } from "../support/Service.ts"

const world = contractVenue()
const { service, key, call, report, cash } = await openScenario({ layerVenue: world.layerVenue })
const { trader, rfqBody, post, until, poll } = contractSteps(service, key, { call, report })

const refusal = ({ status, json }: Answer) => [status, json.code, json.msg]
const listed = async (clientId: number, query = "") =>
  (await get(service, key, `/clients/${clientId}/barriers${query}`)).json.data

/** A client with one contract, entered at 60,000. */
const opened = async () => {
  const clientId = await trader()
  const { rfqId } = (await post(clientId, "/rfq", rfqBody())).json.data
  world.quote(rfqId, "60000")
  const { contractId } = await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")
  return { clientId, contractId: contractId as number, rfqId }
}

const openBarriers = async (): Promise<number> => (await get(service, key, "/summary")).json.data.openBarriers

describe("closing early", () => {
  it("F19: the router closes at the first quote inside the levels and near the mark; the money is paid at once", async () => {
    const { clientId, contractId } = await opened()
    assert.strictEqual(await cash(clientId), "998.800000")
    const { status, json } = await post(clientId, `/barriers/${contractId}/close`, {})
    assert.strictEqual(status, 200)
    const { rfqId } = json.data
    assert.deepInclude(json.data, {
      state: "OPEN",
      closeContractId: contractId,
      contractEntry: "60000.0",
      premium: null,
      commission: null,
      maxLossAtRequest: null,
      autoAccept: true
    })
    world.quote(rfqId, "61000")
    const noted = await until(clientId, rfqId, (rfq) => rfq.autoAcceptNote !== null)
    assert.deepInclude(noted.quotes[0], { acceptable: true, impliedPnl: "100.000000", impliedPremium: null })
    assert.strictEqual(noted.autoAcceptNote, "The quote lies more than 1 percent away from the mark.")
    world.quote(rfqId, "60100")
    const done = await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")
    assert.deepInclude(done, { contractId, entryPrice: "60100.0" })
    const { barriers } = await listed(clientId, "?state=history")
    assert.deepInclude(barriers[0], {
      contractId,
      state: "EARLY_CLOSE",
      closeReason: "earlyClose",
      settlePrice: "60100.0",
      pnl: "10.000000",
      closeRfqId: rfqId,
      mark: null,
      unrealizedPnl: null
    })
    assert.strictEqual(await cash(clientId), "1008.800000")
    assert.deepStrictEqual((await listed(clientId)).barriers, [])
    assert.deepStrictEqual(refusal(await post(clientId, `/barriers/${contractId}/close`, {})), [
      400,
      4000,
      "The contract is not open."
    ])
  })

  it("F19: by hand also far from the mark; one request to close at a time", async () => {
    const { clientId, contractId } = await opened()
    const path = `/barriers/${contractId}/close`
    const { rfqId } = (await post(clientId, path, { autoAccept: false })).json.data
    const second = await post(clientId, path, {})
    assert.deepStrictEqual(refusal(second), [400, 4000, "A request to close this contract is open already."])
    assert.deepStrictEqual(second.json.data, { reason: "CLOSE_REQUEST_OPEN", rfqId })
    const quoteId = world.quote(rfqId, "61000")
    await until(clientId, rfqId, (rfq) => rfq.quotes.length === 1)
    const { status, json } = await post(clientId, `/rfq/${rfqId}/accept`, { quoteId })
    assert.strictEqual(status, 200)
    assert.deepInclude(json.data, {
      contractId,
      settlePrice: "61000.0",
      realizedPnl: "100.000000",
      commission: "0.000000"
    })
    assert.notProperty(json.data, "premium")
  })
})

describe("ended by the venue", () => {
  it("F17: the mark falls through the barrier: the premium is lost, and the request to close ends with it", async () => {
    const { clientId, contractId } = await opened()
    const { rfqId } = (await post(clientId, `/barriers/${contractId}/close`, { autoAccept: false })).json.data
    world.price("57000")
    await poll(
      () => listed(clientId, "?state=history"),
      ({ barriers }) => barriers.length === 1
    ).finally(() => world.price("60000"))
    const { barriers } = await listed(clientId, "?state=history")
    assert.deepInclude(barriers[0], {
      state: "KNOCKED_OUT",
      closeReason: "knockOut",
      settlePrice: "58000.0",
      pnl: "-190.000000"
    })
    const closing = await until(clientId, rfqId, (rfq) => rfq.state !== "OPEN")
    assert.deepInclude(closing, { state: "CANCELLED", rejectReason: "contract ended" })
    assert.strictEqual(await cash(clientId), "808.800000")
  })

  it("A1-13: the partner's summary counts the contracts that are open", async () => {
    const before = await openBarriers()
    await opened()
    assert.strictEqual(await openBarriers(), before + 1)
    world.price("57000")
    await poll(openBarriers, (now) => now === 0).finally(() => world.price("60000"))
  })

  it("D5: a request to close that arrives while the knock-out is being written finds the contract ended", async () => {
    const { clientId, contractId } = await opened()
    const knockedOut = async () => {
      world.price("57000")
      await poll(
        () => cash(clientId),
        (held) => held === "808.800000"
      )
    }
    const requestClose = async () => {
      const closing = post(clientId, `/barriers/${contractId}/close`, {})
      // Answered after the request to close has found the contract.
      for (let n = 0; n < 3; n++) assert.strictEqual(await cash(clientId), "998.800000")
      return { closing }
    }
    const closing: Array<Awaited<ReturnType<typeof requestClose>>["closing"]> = []
    await heldAt(service, "barrier_contracts", knockedOut, async () => {
      closing.push((await requestClose()).closing)
    }).finally(() => world.price("60000"))
    const answers = await Promise.all(closing)
    assert.deepStrictEqual(answers.map(refusal), [[400, 4000, "The contract is not open."]])
    assert.deepStrictEqual((await listed(clientId)).barriers, [])
    assert.strictEqual(await cash(clientId), "808.800000")
  })

  it("A2-30: pages continue by keys, newest first; another partner's contract is not found", async () => {
    const first = await opened()
    const { clientId } = first
    const { rfqId } = (await post(clientId, "/rfq", rfqBody())).json.data
    world.quote(rfqId, "60000")
    const { contractId } = await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")
    const page = await listed(clientId, "?limit=1")
    assert.deepInclude(page, { hasMore: true, nextBefore: contractId })
    const rest = await listed(clientId, `?limit=1&before=${contractId}`)
    assert.deepInclude(rest, { hasMore: false, nextBefore: null })
    assert.strictEqual(rest.barriers[0].contractId, first.contractId)
    const other = await service.partner()
    assert.strictEqual((await get(service, other.key, `/clients/${clientId}/barriers`)).status, 404)
    for (const id of ["9223372036854775808", "0", "1000000"]) {
      assert.strictEqual((await post(clientId, `/barriers/${id}/close`, {})).status, 404, id)
    }
  })

  it("A2-110: a close judges the body's shape before the contract", async () => {
    const clientId = await trader()
    const close = async (raw: string) => {
      const path = `/partner/v1/clients/${clientId}/barriers/1000000/close`
      const { status, json } = await service.call("POST", path, { key, raw })
      return [status, json.code]
    }
    for (const raw of ["[]", "{", "7", `{"autoAccept":7}`, `{"expiresInMs":"soon"}`])
      assert.deepStrictEqual(await close(raw), [400, 4000], raw)
    assert.deepStrictEqual(await close("{}"), [404, 4004])
  })
})
