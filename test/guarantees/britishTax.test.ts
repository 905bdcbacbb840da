/**
 * The tax statement of a British year is made twice (A2-68, STS-26): on 7 April, and on 6 May, when no later
 * acquisition can change the cost of a disposal. The second run makes a new version only if the content differs.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { advance, get, rowsOf } from "../support/Builders.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { openScenario } from "../support/Scenario.ts"

const day = 86_400_000
const symbol = "BTC-USDC"
const world = contractVenue()
const { service, key, onboarded, report, call, now, sectionsOf } = await openScenario({ layerVenue: world.layerVenue })

const taxedIn = (country: string) => ({
  "kyc.taxResidency.tax_residencies": [{ country, has_tin: true, tin: country === "GB" ? "QQ123456C" : "10000000001" }]
})

/** A client with money that is a tax resident of this country. */
const residentOf = async (country: string) => {
  const client = await onboarded(taxedIn(country))
  assert.strictEqual((await report(client.clientId, { amount: "5000" })).status, 201)
  return client
}
const resident = async (country: string): Promise<number> => (await residentOf(country)).clientId

const traded = async (clientId: number, side: "BUY" | "SELL"): Promise<void> => {
  // After a clock move the market has no live price for a moment; a refusal writes nothing.
  const order = { symbol, side, type: "MARKET", qty: "0.01" }
  const placed = await vi.waitFor(
    async () => {
      const { status, text, json } = await call("POST", clientId, "/orders", order)
      assert.strictEqual(status, 200, text)
      return json
    },
    { timeout: 20_000, interval: 100 }
  )
  await vi.waitFor(
    async () => {
      const { orders } = (await get(service, key, `/clients/${clientId}/orders?limit=1`)).json
      assert.deepInclude(orders[0], { orderId: placed.orderId, state: "FILLED" })
    },
    { timeout: 20_000 }
  )
}

/** Moves the clock to a moment, and waits for the named job that is due by then. */
const until = async (moment: number, job?: string): Promise<void> => {
  const ahead = moment - (await now())
  world.leap(ahead)
  await advance(service, ahead)
  if (job === undefined) return
  await vi.waitFor(
    async () => {
      const jobs = await rowsOf(service, "statementJobs", "name = $1", [job])
      assert.isTrue(jobs.some(({ dueAt, endedAt }) => endedAt !== null && dueAt > moment - 7 * day))
    },
    { timeout: 60_000, interval: 100 }
  )
}

const taxOf = async (clientId: number) => {
  const rows = await rowsOf(service, "statements", "client_id = $1 AND kind = 'TAX'", [BigInt(clientId)])
  return Promise.all(
    rows.map(async ({ id, state, number, periodFrom, periodTo }) => {
      const { model } = (await get(service, key, `/clients/${clientId}/statements/${id}`)).json
      const rowsIn = (name: string) => model.sections.find((each: { readonly name: string }) => each.name === name).rows
      return { state, number, periodFrom, periodTo, disposals: rowsIn("DISPOSALS") }
    })
  )
}

describe("tax of a British year", () => {
  it("STS-26: provisional on 7 April, final on 6 May; only changed statements get a new version; other residents have the calendar year", async () => {
    const start = await now()
    const year = new Date(start).getUTCFullYear() + (start < Date.UTC(new Date(start).getUTCFullYear(), 2, 1) ? 0 : 1)
    await until(Date.UTC(year, 2, 10, 12))
    const [seller, holder, german] = [await resident("GB"), await resident("GB"), await resident("DE")]
    const mover = await residentOf("GB")
    for (const each of [seller, german]) await traded(each, "BUY")
    await until(Date.UTC(year, 2, 20, 12))
    for (const each of [seller, german]) await traded(each, "SELL")
    await until(Date.UTC(year, 3, 7, 12), "TAX_GB")
    const [first, ...none] = await taxOf(seller)
    assert.lengthOf(none, 0)
    assert.deepInclude(first, {
      state: "GENERATED",
      number: 1,
      periodFrom: Date.UTC(year - 1, 3, 5, 23),
      periodTo: Date.UTC(year, 3, 5, 23)
    })
    assert.deepInclude(first?.disposals[0], { asset: "BTC", method: "S104", provisional: true })
    assert.lengthOf(await taxOf(holder), 1)
    assert.lengthOf(await taxOf(german), 0, "a calendar year that has not ended")

    // A purchase within thirty days changes the cost of the disposal.
    await until(Date.UTC(year, 3, 12, 12))
    await traded(seller, "BUY")
    await until(Date.UTC(year, 4, 6, 12), "TAX_GB_FINAL")
    const [superseded, second] = await taxOf(seller)
    assert.deepInclude(superseded, { state: "SUPERSEDED", number: 1 })
    assert.deepInclude(second, { state: "GENERATED", number: 2 })
    assert.deepInclude(second?.disposals[0], { asset: "BTC", method: "THIRTY_DAY", provisional: false })
    assert.deepStrictEqual(
      (await taxOf(holder)).map(({ number, state }) => [number, state]),
      [[1, "GENERATED"]],
      "what says the same is not made again"
    )
    assert.lengthOf(await taxOf(german), 0)

    // A tax resident of another country from May on: the calendar year begins where the British one ends.
    const moved = await service.call("PUT", `/partner/v1/clients/${mover.clientId}/kyc`, {
      key,
      body: sectionsOf(mover.n, ["taxResidency"], taxedIn("DE"))
    })
    assert.strictEqual(moved.status, 200, moved.text)
    await until(Date.UTC(year + 1, 0, 5, 12), "TAX")
    const [april, newYear] = [Date.UTC(year, 3, 5, 23), Date.UTC(year + 1, 0, 1)]
    const periodsOf = async (clientId: number) =>
      (await taxOf(clientId)).map(({ periodFrom, periodTo }) => [periodFrom, periodTo])
    assert.deepStrictEqual(await periodsOf(mover.clientId), [
      [Date.UTC(year - 1, 3, 5, 23), april],
      [april, newYear]
    ])
    assert.deepStrictEqual(await periodsOf(german), [[Date.UTC(year, 0, 1), newYear]])
    assert.lengthOf(await taxOf(holder), 1)
    // A request for this statement returns the same row.
    const asked = await call("POST", mover.clientId, "/statements", { kind: "TAX", taxYear: year })
    assert.deepInclude(asked.json, { periodFrom: april, periodTo: newYear, version: 1 })
    const { model } = (await get(service, key, `/clients/${mover.clientId}/statements/${asked.json.statementId}`)).json
    assert.isTrue(model.notes.some((note: string) => note.startsWith("It is of a part of a tax year")))
  }, 240_000)
})
