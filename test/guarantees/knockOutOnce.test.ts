/**
 * A contract ends once, with one settlement, however the venue reports the end: twice, out of order, or while an accept
 * of a closing quote is in flight (D5, F19).
 */
import { assert, describe, it } from "@effect/vitest"
import { get, query } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { openScenario } from "../support/Scenario.ts"

const world = contractVenue()
const { service, key, call, report } = await openScenario({ layerVenue: world.layerVenue })
const { trader, rfqBody, post, until, poll } = contractSteps(service, key, { call, report })

const traders = 8

interface Opened {
  readonly clientId: number
  readonly contractId: number
}

const opened = async (): Promise<Opened> => {
  const clientId = await trader()
  const { rfqId } = (await post(clientId, "/rfq", rfqBody())).json.data
  world.quote(rfqId, "60000")
  const { contractId } = await until(clientId, rfqId, ({ state }) => state === "ACCEPTED")
  return { clientId, contractId }
}
const manyOpened = async (): Promise<ReadonlyArray<Opened>> => {
  const all: Array<Opened> = []
  for (let n = 0; n < traders; n++) all.push(await opened())
  return all
}

/** The states of the contracts, once each has ended and no call is in flight. */
const ends = async (all: ReadonlyArray<Opened>): Promise<ReadonlyArray<string>> => {
  const rows = () =>
    query<{ readonly state: string }>(
      service,
      `SELECT state FROM barrier_contracts WHERE id IN (${all.map(({ contractId }) => contractId).join()}) AND state <> 'OPEN'
          AND NOT EXISTS (SELECT 1 FROM venue_calls) ORDER BY id`
    )
  return (await poll(rows, ({ length }) => length === all.length)).map(({ state }) => state)
}

/** The types of the bookings for the client's contract, oldest first. */
const booked = async ({ clientId }: Opened): Promise<ReadonlyArray<string>> =>
  (await get(service, key, `/clients/${clientId}/ledger`)).json.data.postings
    .map(({ type }: { readonly type: string }) => type)
    .filter((type: string) => type === "COMMISSION" || type === "BARRIER_SETTLE")
    .toSorted()

const once = async (all: ReadonlyArray<Opened>): Promise<void> => {
  for (const each of all) assert.deepStrictEqual(await booked(each), ["BARRIER_SETTLE", "COMMISSION"])
}

let said = 0
/** Delays below `limit` ms, in random order. */
const scattered = (limit: number): number => (++said * 97) % limit

describe("D5: one end a contract", () => {
  it.each([
    ["twice", () => [0, 20]],
    ["late and out of order", () => [scattered(300)]],
    ["twice, out of order", () => [scattered(200), scattered(400)]]
  ] as const)(
    "the venue's messages arrive %s: one settlement each",
    async (_, deliveries) => {
      const all = await manyOpened()
      world.delivering(deliveries)
      world.price("57900")
      const states = await ends(all)
      world.delivering(() => [0])
      world.price("60000")
      assert.deepStrictEqual(new Set(states), new Set(["KNOCKED_OUT"]))
      await once(all)
    },
    60_000
  )

  it("F19: a barrier that is touched while accepts close contracts: one end each, and the books balance", async () => {
    const all = await manyOpened()
    const accepts = await Promise.all(
      all.map(async ({ clientId, contractId }) => {
        const closing = await post(clientId, `/barriers/${contractId}/close`, { autoAccept: false })
        const { rfqId } = closing.json.data
        const quoteId = world.quote(rfqId, "60100")
        await until(clientId, rfqId, (rfq) => rfq.quotes.length === 1)
        return () => post(clientId, `/rfq/${rfqId}/accept`, { quoteId })
      })
    )
    // Half of the accepts are in flight when the price falls.
    const early = accepts.slice(0, traders / 2).map((accept) => accept())
    await Promise.race(early)
    world.price("57900")
    const late = accepts.slice(traders / 2).map((accept) => accept())
    const answers = await Promise.all([...early, ...late])
    const states = await ends(all)
    world.price("60000")
    for (const [at, { status, text }] of answers.entries()) {
      // A client that got 200 has the quote's price. Every other accept was refused, or the venue's end came first.
      if (status === 200) assert.strictEqual(states[at], "EARLY_CLOSE", text)
      else assert.include([400, 502], status, text)
    }
    await once(all)
  }, 60_000)
})
