/**
 * `venue resolve` of objects whose misfit stands, the confirmation of prices, and the breaks of excess amounts, through the command
 * line and over HTTP (operator surface; A2-115, A2-116, D8).
 */
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { request } from "node:https"
import { acceptRef } from "../../src/machines/rfq/Rfq.ts"
import { orderRef } from "../../src/machines/order/Order.ts"
import { swapRef } from "../../src/machines/swap/Swap.ts"
import { Venue, VenueUnanswered } from "../../src/runtime/ports/Venue.ts"
import { endMisfit } from "../../src/runtime/services/venue/misfits.ts"
import {
  type ResolveRequest,
  VenueResolutions
} from "../../src/runtime/services/operations/registries/VenueResolutions.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { ofClient } from "../support/Builders.ts"
import { inTurn, putOrder } from "../support/orderRows.ts"
import { perp } from "../support/perpVenue.ts"
import { openOn } from "../support/Scenario.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"
import { reportMisfit } from "../support/standingMisfit.ts"
import { operator } from "../support/Service.ts"
import { expectLog } from "../support/expectLog.ts"
import { startOperatorService } from "./operatorHarness.ts"

const world = stakingVenue()
/** The evidence of these tests contradicts the venue's books. Without an account from the venue no comparison finds that. */
const layerVenue = Layer.effect(
  Venue,
  Effect.map(Venue, (port) =>
    Venue.of({ ...port, account: () => Effect.fail(new VenueUnanswered({ reason: "not compared" })) })
  )
).pipe(Layer.provide(world.layerVenue))
const opened = await openOn(startOperatorService, { layerVenue, clock: world.clock })
const { service, key } = opened
const { lender, taken, offered, take, until } = stakingSteps(service, key, world, opened)
const steps = contractSteps(service, key, opened)
const reason = "the venue's letter of today"

interface Body {
  readonly object: string
  readonly as: string
  readonly tradeId?: number
  readonly price?: string
  readonly qty?: string
  readonly outsideBand?: boolean
}

/** The status, and the errors by field, the sentence of a refusal, or the answer. */
type Answered = readonly [number, unknown]

const overHttp = ({ ...body }: Body): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      `${service.url}/operator/v1/venue/resolve`,
      {
        method: "POST",
        ca: readFileSync(service.caFile),
        agent: false,
        headers: { "content-type": "application/json", authorization: `Bearer ${service.keys.ADMIN}` }
      },
      (incoming) => {
        let text = ""
        incoming.on("data", (chunk) => void (text += String(chunk)))
        incoming.on("end", () => {
          const { code, msg, data } = JSON.parse(text)
          resolve([code, code === 0 ? data : (data?.errors ?? msg)])
        })
      }
    )
    outgoing.on("error", reject)
    outgoing.end(JSON.stringify({ ...body, reason }))
  })

const byCommand = async ({ object, as, tradeId, price, qty, outsideBand = false }: Body): Promise<Answered> => {
  const options = Object.entries({ "--trade-id": tradeId, "--price": price, "--qty": qty })
  const given = options.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]))
  const flags = outsideBand ? ["--outside-band"] : []
  const line = ["venue", "resolve", object, "--as", as, "--reason", reason, ...given, ...flags]
  const { status, json, refusal } = await service.cli(line)
  return status === 0 ? [0, json] : [refusal.code, refusal.data?.errors ?? refusal.msg]
}

const ways = [
  ["over HTTP", overHttp],
  ["by the command line", byCommand]
] as const

const standing = (clientId: number, ref: string): Promise<void> =>
  inTurn(service, clientId, (turn) => reportMisfit(turn, ref))
/** Each standing misfit is an error in the log. */
const expectAlarm = ({ onTestFinished }: Parameters<Parameters<typeof beforeEach>[0]>[0]): void =>
  expectLog(/reports of an object do not fit the request/, onTestFinished)
const misfitsOf = async (clientId: number) =>
  (await ofClient(service, "venueMisfits", clientId)).map(({ state }) => state)
const breaksOf = async (clientId: number) =>
  (await service.done(["break", "list"])).breaks.filter(
    (each: { readonly clientId: number }) => each.clientId === clientId
  )

const contractOf = async (clientId: number): Promise<{ readonly rfqId: number; readonly contractId: number }> => {
  const rfqId = (await steps.post(clientId, "/rfq", steps.rfqBody())).json.data.rfqId as number
  world.quote(rfqId, "60000")
  const { contractId } = await steps.until(clientId, rfqId, ({ state }) => state === "ACCEPTED")
  return { rfqId, contractId }
}
const misfitContract = async (clientId: number): Promise<string> => {
  const { rfqId, contractId } = await contractOf(clientId)
  const [row] = (await ofClient(service, "barrierContracts", clientId)).filter(({ id }) => id === contractId)
  await standing(clientId, acceptRef(rfqId, row?.context.quoteId ?? 0))
  return `contract:${contractId}`
}
const misfitOrder = async (clientId: number, input = {}): Promise<string> => {
  const plain = { symbol: perp, venuePrice: "60000.0", ...input }
  const id = await inTurn(service, clientId, (turn) => putOrder(turn, { context: { ...plain, lastTradeId: 0 } }))
  await standing(clientId, orderRef(id))
  return `order:${id}`
}

describe.each(ways)("venue resolve of an object whose misfit stands, %s", (_, resolve) => {
  beforeEach(expectAlarm)

  it("a contract is closed at the price of the evidence, though the venue knows it", async () => {
    const clientId = await steps.trader("5000.00")
    const object = await misfitContract(clientId)
    assert.deepInclude((await resolve({ object, as: "closed", price: "60100.0" }))[1], {
      state: "CLOSED",
      breakId: null
    })
    assert.deepStrictEqual(await misfitsOf(clientId), ["ENDED"])
    const [code, sentence] = await resolve({ object, as: "void" })
    assert.deepStrictEqual(
      [code, sentence],
      [4092, "No misfit of the contract stands: no report of it is to be voided."]
    )
  })

  it("void leaves the contract open, and books nothing", async () => {
    const clientId = await steps.trader("5000.00")
    const object = await misfitContract(clientId)
    assert.deepInclude((await resolve({ object, as: "void" }))[1], { state: "OPEN", breakId: null })
    assert.deepStrictEqual(await misfitsOf(clientId), ["ENDED"])
  })

  it("a swap gets the payment of the evidence, and no more than is outstanding without a break", async () => {
    const clientId = await lender({ usdc: "5000.00" })
    const { swapId } = await taken(clientId, "USDC-SWAP", "1000", { qty: "1000" })
    const object = `swap:${swapId}`
    await standing(clientId, swapRef(swapId))
    assert.deepInclude((await resolve({ object, as: "executed", tradeId: 9_001, qty: "400" }))[1], {
      state: "OPEN",
      breakId: null
    })
    await until(clientId, swapId, ({ paid }) => Number(paid) === 400)
    assert.deepStrictEqual(await misfitsOf(clientId), ["ENDED"])
    await standing(clientId, swapRef(swapId))
    assert.deepStrictEqual(await resolve({ object, as: "executed", tradeId: 9_001, qty: "400" }), [
      4000,
      { tradeId: "Payment 9001 is booked already." }
    ])
    const [, done] = await resolve({ object, as: "executed", tradeId: 9_002, qty: "700" })
    assert.deepInclude(done, { state: "MATURED" })
    const broken = (await breaksOf(clientId)).find(
      ({ breakId }: { readonly breakId: number }) => breakId === (done as { readonly breakId: number }).breakId
    )
    assert.match(broken.reason, /^Payment 9002 of swap [0-9]+ brings 9[0-9.]+ USDC beyond what was expected\.$/)
  })

  it("void leaves the swap as it is", async () => {
    const clientId = await lender({ usdc: "5000.00" })
    const { swapId } = await taken(clientId, "USDC-SWAP", "1000", { qty: "1000" })
    await standing(clientId, swapRef(swapId))
    assert.deepInclude((await resolve({ object: `swap:${swapId}`, as: "void" }))[1], { state: "OPEN", breakId: null })
    assert.deepStrictEqual(await misfitsOf(clientId), ["ENDED"])
  })

  it("a take that the venue has refused and executed is taken over, or its report is void", async () => {
    const clientId = await lender({ usdc: "5000.00" })
    for (const as of ["void", "executed"]) {
      const offerId = await offered("USDC-SWAP", { qty: "1000" })
      world.failing((asked) => (asked === "takeOffer" ? { refused: "the offer is gone" } : {}))
      const { json } = await take(clientId, offerId, "1000")
      world.failing(() => ({}))
      const { swapId } = json.data
      await standing(clientId, swapRef(swapId))
      const evidence = as === "void" ? {} : { tradeId: 9_003, qty: "1000" }
      const [, done] = await resolve({ object: `swap:${swapId}`, as, ...evidence })
      assert.deepInclude(done, { state: as === "void" ? "REJECTED" : "OPEN" })
    }
  })
})

describe("evidence that waits for a second key", () => {
  beforeEach(expectAlarm)
  /** Resolves like a grant: with the request that the check has stored. */
  const granted = (request: ResolveRequest) =>
    service.run(
      Effect.provide(
        VenueResolutions.use((all) => all.resolve(operator, request)),
        VenueResolutions.layer
      )
    )
  const filed = async (body: Body): Promise<ResolveRequest> => {
    const request = { ...body, reason } as ResolveRequest
    const checked = await service.run(
      Effect.provide(
        VenueResolutions.use((all) => all.check(request)),
        VenueResolutions.layer
      )
    )
    return checked.ok ? checked.value : assert.fail(JSON.stringify(checked))
  }
  const isOther = (verdict: unknown): void =>
    assert.match(
      JSON.stringify(verdict),
      /"ok":false.*The report that the evidence is of was resolved, or another one stands/
    )

  it("of a take is never booked as a payment, and ends the misfit that it was filed for", async () => {
    const clientId = await lender({ usdc: "5000.00" })
    const offerId = await offered("USDC-SWAP", { qty: "1000" })
    world.failing((asked) => (asked === "takeOffer" ? { refused: "the offer is gone" } : {}))
    const { swapId } = (await take(clientId, offerId, "1000")).json.data
    world.failing(() => ({}))
    await standing(clientId, swapRef(swapId))
    const body = { object: `swap:${swapId}`, as: "executed", tradeId: 9_004, qty: "1000" }
    const [first, second] = [await filed(body), await filed(body)]
    assert.isTrue((await granted(first)).ok)
    await standing(clientId, swapRef(swapId))
    isOther(await granted(second))
    assert.deepStrictEqual(await overHttp(body), [4000, { tradeId: "Trade 9004 is the take, no payment." }])
    const payment = await filed({ ...body, tradeId: 9_005, qty: "100" })
    assert.match(payment.evidenceOf ?? "", /^payment, misfit [0-9]+$/)
    assert.isTrue((await granted(payment)).ok)
  })

  it.each(["contract", "order"] as const)("of one report of %s does not end another one", async (kind) => {
    const clientId = await steps.trader("50000.00")
    const object = await (kind === "order" ? misfitOrder(clientId) : misfitContract(clientId))
    const request = await filed({ object, as: "void" })
    const [ref = ""] = (await ofClient(service, "venueMisfits", clientId)).map((row) => row.ref)
    await inTurn(service, clientId, (turn) => {
      endMisfit(turn, ref)
      reportMisfit(turn, ref)
    })
    isOther(await granted(request))
    assert.isTrue((await granted(await filed({ object, as: "void" }))).ok)
  })
})

describe.each(ways)("a price that staff have to confirm, %s", (_, resolve) => {
  beforeEach(expectAlarm)

  it.each([
    [
      "beyond the order's bound",
      { price: "60000.1" },
      {},
      "The price is beyond the order's bound: --outside-band takes it."
    ],
    [
      "outside the band of the marks",
      { price: "30000.0" },
      {},
      "The price is outside the band of the marks of now: --outside-band takes it."
    ],
    [
      "that no mark can check",
      { price: "59999.0" },
      { symbol: "GONE-USDC-PERP" },
      "The marks of GONE-USDC-PERP are unknown, so that nothing checks the price: --outside-band takes it."
    ],
    [
      "beyond the bound where no mark is known",
      { price: "60000.1" },
      { symbol: "GONE-USDC-PERP" },
      "The price is beyond the order's bound: --outside-band takes it."
    ]
  ])("of an order, %s", async (_case, evidence, input, sentence) => {
    const clientId = await steps.trader("50000.00")
    const object = await misfitOrder(clientId, input)
    const body = { object, as: "executed", tradeId: 9_100, qty: "0.1", ...evidence }
    assert.deepStrictEqual(await resolve(body), [4000, { price: sentence }])
    const [code, done] = await resolve({ ...body, outsideBand: true })
    assert.deepStrictEqual([code, (done as { readonly state: string }).state], [0, "FILLED"])
    const { breakId } = done as { readonly breakId: number | null }
    assert.strictEqual(breakId !== null, evidence.price === "60000.1", "the part beyond the bound is a break")
  })

  it("of a contract", async () => {
    const clientId = await steps.trader("5000.00")
    const object = await misfitContract(clientId)
    const body = { object, as: "closed", price: "600000.0" }
    const sentence = "The price is outside the band of the marks of now: --outside-band takes it."
    assert.deepStrictEqual(await resolve(body), [4000, { price: sentence }])
    assert.deepInclude((await resolve({ ...body, outsideBand: true }))[1], { state: "CLOSED" })
  })
})

describe("D8: an excess amount of the venue is booked, with a break", () => {
  it("a payment beyond the outstanding amount, and a corrected fee above the listed rate", async () => {
    const clientId = await lender({ usdc: "5000.00" })
    const { swapId, contractId } = await taken(clientId, "USDC-SWAP", "1000", { qty: "1000" })
    world.correctFee(contractId, "50")
    await until(clientId, swapId, ({ fee }) => Number(fee) === 50)
    world.pay(contractId, "2000")
    await until(clientId, swapId, ({ paid }) => Number(paid) === 2_000)
    const found = (await breaksOf(clientId)) as ReadonlyArray<{
      readonly reason: string
      readonly pausesMoneyOut: boolean
    }>
    assert.deepStrictEqual(
      found.map(({ pausesMoneyOut }) => pausesMoneyOut),
      [true, true]
    )
    const [beyond, fee] = found.map(({ reason: why }) => why)
    assert.match(fee ?? "", /^The fee of swap [0-9]+ is 50\.000000 USDC, by the listed rate /)
    assert.match(beyond ?? "", /^Payment [0-9]+ of swap [0-9]+ brings 999\.[0-9]+ USDC beyond what was expected\.$/)
  })
})
