/**
 * `sim verify`: service and venue agree, and nothing is in flight between them; otherwise the first difference, or the
 * calls that are still in flight after 10 s (operator surface, Developers and QA).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import {
  compareHoldings,
  differenceSentence,
  type Holding,
  venueHoldings
} from "../../src/machines/reconciliation/holdings.ts"
import type { VenueSwap } from "../../src/machines/venue/swapAtVenue.ts"
import type { VenueAccount } from "../../src/machines/venue/venueObjects.ts"
import { Venue, VenueUnanswered } from "../../src/runtime/ports/Venue.ts"
import { VenueMemory } from "../../src/runtime/ports/VenueMemory.ts"
import { query } from "../support/Builders.ts"
import { expectLog } from "../support/expectLog.ts"
import { progressOn, quickClock } from "../support/quickClock.ts"
import { openOperator, openOperatorScenario } from "./operatorScenario.ts"

const position = (name: string, figure: string): Holding => ({ kind: "position", name, figure })

describe("holdings of an account", () => {
  const side = { account: "CL-1", sequence: 1, orders: [], money: [] }

  it("flat positions, ended contracts and paid swaps are held no more", () => {
    const contract = {
      id: 5,
      ref: "A-1-2",
      account: "CL-1",
      symbol: "BTC-USDC-KO",
      side: "BUY",
      qty: "0.5",
      entry: "60000",
      barrier: "59000",
      takeProfit: null,
      expiryAt: 2,
      strict: false,
      premiumBps: 10,
      tradeId: 3,
      openedAt: 1,
      state: "OPEN",
      settlePrice: null,
      endedAt: null
    } as const satisfies VenueAccount["contracts"][number]
    const swap = {
      id: 8,
      ref: "S-1",
      account: "CL-1",
      symbol: "BTC-SWAP",
      offerId: 1,
      tradeId: 4,
      notional: "2",
      rateBps: 100,
      tenorDays: 7,
      reward: "0.01",
      fee: "0",
      openedAt: 1,
      maturityAt: 2,
      corrections: [],
      payments: [],
      short: false,
      end: null
    } as const satisfies VenueSwap
    const account: VenueAccount = {
      ...side,
      positions: [
        { symbol: "BTC-USDC-PERP", netQty: "-0.25" },
        { symbol: "ETH-USDC-PERP", netQty: "0.000" }
      ],
      contracts: [contract, { ...contract, id: 6, state: "KNOCKED_OUT" }],
      swaps: [swap, { ...swap, id: 9, end: "PAID" }]
    }
    assert.deepStrictEqual(venueHoldings(account), [
      position("BTC-USDC-PERP", "-0.25"),
      { kind: "contract", name: "5", figure: "0.5" },
      { kind: "swap", name: "8", figure: "2" }
    ])
  })

  it("differences in the order of the kinds and names; trailing zeros are none", () => {
    const service = [position("ETH-USDC-PERP", "1.50"), position("BTC-USDC-PERP", "2"), position("SOL-USDC-PERP", "10")]
    const venue: ReadonlyArray<Holding> = [
      { kind: "contract", name: "5", figure: "1" },
      position("SOL-USDC-PERP", "1"),
      position("ETH-USDC-PERP", "1.5")
    ]
    assert.deepStrictEqual(compareHoldings("CL-1", service, venue).map(differenceSentence), [
      "position BTC-USDC-PERP of CL-1: the service has 2, the venue none",
      "position SOL-USDC-PERP of CL-1: the service has 10, the venue 1",
      "contract 5 of CL-1: the service has none, the venue 1"
    ])
    assert.deepStrictEqual(compareHoldings("CL-1", service, service), [])
  })
})

const venue = new VenueMemory({ now: () => Date.now() })
const accounts = new Map<string, VenueAccount["positions"]>()
/** The venue's record of every account's money. */
let money: VenueAccount["money"] = []
let away = false
/** The number of events that the venue reports in addition to those that it has sent. */
let unsent = 0
const layerVenue = Layer.effect(
  Venue,
  Effect.map(Venue, (port) =>
    Venue.of({
      ...port,
      events: (after) => {
        // Each stream keeps the state of its beginning, so the service's own, older stream is unchanged.
        const more = unsent
        return Stream.map(port.events(after), (line) =>
          "heartbeat" in line ? { ...line, number: line.number + more } : line
        )
      },
      account: (account) =>
        away
          ? Effect.fail(new VenueUnanswered({ reason: "no answer in time" }))
          : Effect.succeed({
              account,
              sequence: 0,
              positions: accounts.get(account) ?? [],
              orders: [],
              contracts: [],
              swaps: [],
              money
            })
    })
  )
).pipe(Layer.provide(venue.layer()))

// The tests of this file add rows beside the venue's own tables on purpose.
const clock = quickClock()
const { service, client } = await openOperatorScenario({
  layerVenue,
  damaged: true,
  venue: { progress: progressOn(clock) }
})
const verify = (...words: ReadonlyArray<string>) => service.cli(["sim", "verify", ...words])
/** Skips the 100 ms pauses between the 100 comparisons of a verification that finds a difference. */
const verifyInVain = () => clock.during(100, verify)

describe("sim verify", () => {
  it("accounts that the venue has spoken of are compared; the first difference fails it", async () => {
    assert.deepStrictEqual((await verify()).json, {
      ok: true,
      first: null,
      venue: true,
      accounts: 0,
      compared: { position: 0, order: 0, trade: 0, contract: 0, request: 0, swap: 0, money: 0 },
      withoutMoney: 0,
      inFlight: [],
      eventsBehind: 0,
      eventsLost: [],
      differences: []
    })
    const clientId = await client()
    const [{ uid } = { uid: "" }] = await query<{ readonly uid: string }>(
      service,
      "SELECT uid FROM clients WHERE id = $1",
      [BigInt(clientId)]
    )
    await query(service, "INSERT INTO venue_accounts (client_id, sequence) VALUES ($1, 0)", [BigInt(clientId)])
    const same = await verify()
    assert.deepStrictEqual([same.status, same.json.accounts, same.json.ok], [0, 1, true])
    accounts.set(uid, [{ symbol: "BTC-USDC-PERP", netQty: "0.5" }])
    const differs = await verify()
    const sentence = `position BTC-USDC-PERP of ${uid}: the service has none, the venue 0.5`
    assert.deepStrictEqual(
      [differs.status, differs.json.first, differs.refusal.msg],
      [1, sentence, `First difference: ${sentence}.`]
    )
    assert.deepStrictEqual(differs.json.differences, [
      { account: uid, kind: "position", name: "BTC-USDC-PERP", service: null, venue: "0.5" }
    ])
    accounts.clear()
  })

  it("A2-103: the venue's money is compared; an account older than the venue's records of it is reported", async () => {
    const [{ client_id: clientId, uid }] = (await query<{ readonly client_id: bigint; readonly uid: string }>(
      service,
      "SELECT client_id, uid FROM venue_accounts JOIN clients ON id = client_id"
    )) as [{ readonly client_id: bigint; readonly uid: string }]
    money = [
      { kind: "trades", asset: "USDC", amount: "-500" },
      { kind: "fees", asset: "USDC", amount: "-1" }
    ]
    const differs = await verify()
    assert.deepStrictEqual(
      [differs.status, differs.json.first, differs.json.differences],
      [
        1,
        `money USDC of ${uid}: the service has none, the venue -500`,
        [{ account: uid, kind: "money", name: "USDC", service: null, venue: "-500" }]
      ]
    )
    // A purchase for 500, and posted results of 40, which the venue counts within its trades.
    await query(
      service,
      `INSERT INTO balances (client_id, currency, partner_id, cash, reserved, deposited, from_venue)
       VALUES ($1, 'USDC', 1, 0, 0, 0, 40000000) ON CONFLICT (client_id, currency) DO UPDATE SET from_venue = 40000000`,
      [clientId]
    )
    await query(
      service,
      `INSERT INTO account_totals (client_id, partner_id, fills, fills_pnl, spot_pnl, barrier_pnl, fills_commission,
         barrier_commission, contracts, perp_flow) VALUES ($1, 1, 3, 40000000, 0, 0, 0, 0, 0, -500000000)`,
      [clientId]
    )
    const same = await verify()
    assert.deepStrictEqual([same.status, same.json.compared.money, same.json.withoutMoney], [0, 1, 0])
    money = null
    const older = await verify()
    assert.deepStrictEqual([older.status, older.json.compared.money, older.json.withoutMoney], [0, 0, 1])
    money = []
    await query(service, "UPDATE balances SET from_venue = 0")
    await query(service, "DELETE FROM account_totals")
  })

  it("a venue that does not answer is the first difference", async () => {
    away = true
    const { status, refusal } = await verify()
    away = false
    assert.deepStrictEqual(
      [status, refusal.msg],
      [1, "First difference: the venue does not answer: no answer in time."]
    )
  })

  it("a call without its outcome fails it after 10 s, by its ref", async () => {
    await query(
      service,
      "INSERT INTO venue_calls (ref, partner_id, client_id, call, request, at) VALUES ('P-1', 1, 1, 'placeOrder', '{}', 1)"
    )
    const { status, json } = await verifyInVain()
    await query(service, "DELETE FROM venue_calls")
    assert.deepStrictEqual([status, json.first, json.inFlight], [1, "the call P-1 is still in flight", ["P-1"]])
    assert.strictEqual((await verify()).status, 0)
  })

  it("events of the venue that the service has not taken fail it after 10 s, by their number", async () => {
    unsent = 3
    const behind = await verifyInVain()
    unsent = 0
    assert.deepStrictEqual(
      [behind.status, behind.json.first, behind.json.eventsBehind, behind.json.inFlight],
      [1, "the service has not yet applied 3 events of the venue", 3, []]
    )
    const caughtUp = await verify()
    assert.deepStrictEqual([caughtUp.status, caughtUp.json.eventsBehind], [0, 0])
  })

  it("events that the venue no longer has fail it until the service has continued, and are reported from then on", async () => {
    for (let number = 1; number <= 5; number++) {
      const fact = { type: "listing", version: 1, symbol: "BTC-USDC-PERP" } as const
      venue.events.push({ number, at: Date.now(), fact })
    }
    // The service's own stream is still open and does not report the lost events; a new stream can't begin so far back.
    venue.forgotten = 4
    const behind = await verifyInVain()
    const sentence = "the venue does not keep the events after 0, and the service has not gone on yet"
    assert.deepStrictEqual([behind.status, behind.json.first, behind.json.eventsLost], [1, sentence, []])
    expectLog(/the venue no longer keeps the next events: the service skips them, and reads every account again/)
    venue.disconnect()
    const after = await verify()
    assert.deepStrictEqual(
      [after.status, after.json.ok, after.json.eventsBehind, after.json.eventsLost],
      [0, true, 0, [{ after: 0, to: 5 }]]
    )
    const [{ quarantineId }] = (await service.cli(["venue", "quarantine", "list"])).json.events
    await service.cli(["venue", "quarantine", "drop", String(quarantineId)])
    assert.deepStrictEqual((await verify()).json.eventsLost, [])
  })
})

const outside = await openOperator({ settings: { sandbox: false } })
const alone = await openOperator({ settings: { namedVenue: true } })

describe("sim verify, where there is nothing to compare", () => {
  it("without a venue nothing can differ; outside a sandbox it is refused", async () => {
    const without = await alone.cli(["sim", "verify"])
    assert.deepStrictEqual([without.status, without.json.ok, without.json.venue], [0, true, false])
    const { status, refusal } = await outside.cli(["sim", "verify"])
    assert.deepStrictEqual(
      [status, refusal.code, refusal.msg],
      [1, 4092, "Service and venue can be compared in a sandbox service only."]
    )
  })

  it("sim reset: outside a sandbox it is wrong usage, and beside a named venue it is refused", async () => {
    const { status, refusal } = await outside.cli(["sim", "reset"])
    assert.deepStrictEqual(
      [status, refusal.code, refusal.msg],
      [2, 4000, "Only a sandbox can be reset, and this service is not a sandbox. Nothing was done."]
    )
    for (const dry of [[], ["--dry-run"]]) {
      const named = await alone.cli(["sim", "reset", ...dry])
      assert.deepStrictEqual([named.status, named.refusal.code, named.refusal.data.reason], [1, 4092, "VENUE_NOT_OWN"])
    }
  })
})
