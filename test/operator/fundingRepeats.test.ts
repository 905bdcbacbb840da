/**
 * A funding stamp that the venue reports again under a new sequence, with the same or with other figures: the first
 * report stays, each other one is quarantined under its own reason, and no failure of the service is logged (F14,
 * A2-115).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { VenueMemory } from "../../src/runtime/ports/VenueMemory.ts"
import { query } from "../support/Builders.ts"
import { expectLog } from "../support/expectLog.ts"
import { perp } from "../support/perpVenue.ts"
import { sampleRows } from "../runtime/engine/fixtures.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const venue = new VenueMemory({ now: () => Date.now() })
let service: OperatorService
let clientId: number
let uid: string
beforeAll(async () => {
  service = await startOperatorService({ layerVenue: venue.layer() })
  const partner = await service.partner({ code: "REPEAT" })
  clientId = await service.client(partner.key)
  uid = (await service.done(["client", "show", String(clientId)])).clientUid
  const paid = ["--currency", "USDC", "--amount", "1000", "--reason", "test"]
  await service.done(["ledger", "adjust", String(clientId), ...paid])
})
afterAll(() => service.stop())

/** Sets the position of the account that earlier trades would have left. */
const holds = (netQty: string) => {
  const by = { role: "SYSTEM", keyLabel: "test", requestId: "test", actor: "system:venue" }
  const { positions } = sampleRows(clientId)
  const row = {
    ...positions,
    id: 1,
    partnerId: 1,
    clientId,
    symbol: perp,
    state: "OPEN",
    netQty,
    updatedAt: 0
  } as const
  return service.run(
    Effect.flatMap(ActorHost, (host) =>
      host.dispatch({ subject: `client:${clientId}`, by, decide: (turn) => turn.draft.put("positions", row) })
    )
  )
}

const settledAt = Date.now() - (Date.now() % 28_800_000)
const stamped = (change: object = {}) => {
  const funding = { symbol: perp, settledAt, mark: "60000", rate: "0.0001", netQty: "0.01", amount: "-0.060000" }
  return venue.publish(uid, (at) => ({ type: "funding", ...at, funding: { ...funding, ...change } }))
}

/** The account's quarantined events, once this number of its events is processed. */
const asideAfter = ({ fact }: ReturnType<typeof stamped>): Promise<ReadonlyArray<string>> =>
  vi.waitFor(
    async () => {
      const [row] = await query<{ readonly sequence: bigint }>(service, "SELECT sequence FROM venue_accounts")
      assert.strictEqual(Number(row?.sequence), "sequence" in fact ? fact.sequence : 0)
      const { events } = await service.done(["venue", "quarantine", "list"])
      return events.map(({ reason }: { readonly reason: string }) => reason)
    },
    { timeout: 10_000, interval: 20 }
  )
const postings = () =>
  query(
    service,
    `SELECT t.key, p.amount FROM ledger_transactions t JOIN postings p USING (tx_id)
     WHERE t.type = 'FUNDING' AND p.account <> 'venue' ORDER BY t.key`
  )

describe("F14: a stamp that is reported again under a new sequence", () => {
  it("is posted once; each other report of it is quarantined with its reason", async () => {
    const once = [{ key: `funding:${perp}:${settledAt}:${clientId}`, amount: -60_000n }]
    await holds("0.01")
    assert.deepStrictEqual(await asideAfter(stamped()), [])
    assert.deepStrictEqual(await postings(), once)
    expectLog(/a message of the venue is quarantined[^]*its stamp of funding is posted already/)
    const posted = "its stamp of funding is posted already"
    assert.deepStrictEqual(await asideAfter(stamped()), [posted])
    assert.deepStrictEqual(await asideAfter(stamped({ mark: "61000", amount: "-0.061000" })), [posted, posted])
    assert.deepStrictEqual(await asideAfter(stamped({ netQty: "0.02", amount: "-0.120000" })), [posted, posted, posted])
    assert.deepStrictEqual(await postings(), once)
    assert.deepStrictEqual(await query(service, "SELECT id FROM open_fundings WHERE live"), [])
    const { balances } = await service.done(["client", "show", String(clientId)])
    const usdc = balances.find(({ currency }: { readonly currency: string }) => currency === "USDC")
    assert.strictEqual(usdc.cash, "999.940000")
  })
})
