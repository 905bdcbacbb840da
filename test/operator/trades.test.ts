/**
 * Staff's reads of requests, contracts, margin and close-outs, and their resolutions with the venue's evidence, through
 * the command line (operator surface, rfq, contract, margin, closeout, venue resolve, explain rfq; A2-110, A2-116, D5).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { RequestFault } from "../../simulator/venue/InProcessVenue.ts"
import { accept, conflict, invalidFields, refuse } from "../../src/machines/shared/Refusal.ts"
import { RowReads } from "../../src/runtime/ports/RowReads.ts"
import {
  type ResolveRequest,
  VenueResolutions
} from "../../src/runtime/services/operations/registries/VenueResolutions.ts"
import { query, rowCounts } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue } from "../support/contractVenue.ts"
import { operator } from "../support/Service.ts"
import { stepsOf } from "../support/steps.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

const world = contractVenue()
const sound = (): RequestFault => ({})
let service: OperatorService
let steps: ReturnType<typeof contractSteps>
let clientId: number
let uid: string
beforeAll(async () => {
  service = await startOperatorService({ layerVenue: world.layerVenue })
  const { key } = await service.partner({ code: "TRD", custody: "PARTNER" })
  steps = contractSteps(service, key, stepsOf(service, key))
  clientId = await steps.trader("5000.00")
  uid = (await service.done(["client", "show", String(clientId)])).clientUid
})
afterAll(() => service.stop())
beforeEach(() => world.failing(sound))

const request = async (of = clientId, paths: object = {}): Promise<number> =>
  (await steps.post(of, "/rfq", steps.rfqBody({ ...paths }))).json.data.rfqId as number
const opened = async (of = clientId): Promise<{ readonly rfqId: number; readonly contractId: number }> => {
  const rfqId = await request(of)
  world.quote(rfqId, "60000")
  const { contractId } = await steps.until(of, rfqId, ({ state }) => state === "ACCEPTED")
  return { rfqId, contractId }
}
const refused = async (line: ReadonlyArray<string>) => {
  const { status, refusal } = await service.cli(line)
  return [status, refusal.code, refusal.data?.errors ?? refusal.msg]
}
const shownTo = async (line: ReadonlyArray<string>): Promise<string> =>
  (await runRecorded([...line, ...service.connection("SUPPORT")])).stdout

describe("requests and contracts as staff read them", () => {
  it("lists, newest first, of one client and state, page by page; one of them with its quotes", async () => {
    const { rfqId, contractId } = await opened()
    const waiting = await request(clientId, { autoAccept: false })
    const all = await service.done(["rfq", "list", "--client", uid, "--limit", "1"], "SUPPORT")
    assert.deepStrictEqual([all.rfqs[0].rfqId, all.hasMore, all.nextBefore], [waiting, true, waiting])
    const rest = await service.done(["rfq", "list", "--client", String(clientId), "--before", String(waiting)])
    assert.deepStrictEqual(
      [rest.rfqs[0].rfqId, rest.rfqs[0].state, rest.rfqs[0].contractId],
      [rfqId, "ACCEPTED", contractId]
    )
    const accepted = await service.done(["rfq", "list", "--state", "ACCEPTED"])
    assert.isTrue(accepted.rfqs.every(({ state }: { readonly state: string }) => state === "ACCEPTED"))
    world.quote(waiting, "61000")
    const [quote] = (
      await steps.poll(
        () => service.done(["rfq", "show", String(waiting)]),
        ({ quotes }) => quotes.length === 1
      )
    ).quotes
    assert.deepInclude(quote, { price: "61000.0", acceptable: true })
    assert.match(await shownTo(["rfq", "show", String(waiting)]), /QUOTE +PRICE/)
    await steps.post(clientId, `/rfq/${waiting}/cancel`, {})
    const shown = await service.done(["contract", "show", String(contractId)], "SUPPORT")
    assert.deepInclude(shown, { contractId, clientId, clientUid: uid, state: "OPEN", premium: "190.000000", rfqId })
    const contracts = await service.done(["contract", "list", "--client", uid, "--state", "OPEN"])
    assert.include(
      contracts.contracts.map(({ contractId: id }: { readonly contractId: number }) => id),
      contractId
    )
    assert.match(await shownTo(["contract", "list"]), /ID +CLIENT +MARKET/)
  })

  it("the margin picture, and a close-out from its beginning to its end", async () => {
    const short = await steps.trader("200.00")
    const { contractId } = await opened(short)
    assert.deepInclude(await service.done(["margin", "show", String(short)], "SUPPORT"), {
      clientId: short,
      barriers: 1,
      riskState: "NORMAL"
    })
    assert.deepStrictEqual((await service.done(["closeout", "list"])).closeouts, [])
    await service.done(["ledger", "adjust", String(short), "--currency", "USDC", "--amount", "-190", "--reason", "r"])
    const { closeouts } = await steps.poll(
      () => service.done(["closeout", "list"]),
      (page) => page.closeouts.some(({ endedAt }: { readonly endedAt: number | null }) => endedAt !== null)
    )
    const episode = closeouts.at(-1)
    assert.deepInclude(episode, { clientId: short, state: "DONE", contracts: 1 })
    const shown = await service.done(["closeout", "show", `CO-${episode.closeOutId}`])
    assert.deepInclude(shown, { ...episode, step: null, waits: [], closingOrders: [] })
    assert.deepInclude(shown.tornContracts[0], { contractId, state: "TORN_UP", tearUps: 1 })
    assert.deepInclude(shown.account, { riskState: "NORMAL", marginBase: "0.000000" })
    const inspected = await service.done(["machine", "inspect", "closeout", `CO-${episode.closeOutId}`], "SUPPORT")
    assert.deepInclude(inspected, { kind: "closeOut", state: "DONE" })
    const said = inspected.history.map(
      ({ action, reason }: { action: string; reason: string }) => `${action} ${reason}`
    )
    assert.include(said, `closeout.tearUp contract ${contractId}`)
    assert.deepStrictEqual((await service.done(["closeout", "list", "--open"])).closeouts, [])
    const ofShort = ["closeout", "list", "--partner", "TRD", "--client", String(short)]
    assert.deepStrictEqual((await service.done(ofShort)).closeouts, [episode])
    assert.strictEqual((await service.done(["contract", "show", String(contractId)])).state, "TORN_UP")
    assert.match(await shownTo(["closeout", "list"]), /WRITTEN OFF/)
  })

  it("lists of one partner, or of one client of it", async () => {
    await service.partner({ code: "TRE", custody: "PARTNER" })
    const { rfqId, contractId } = await opened()
    const whose = (...of: ReadonlyArray<string>) =>
      Promise.all(
        [
          ["rfq", "rfqs", "rfqId"],
          ["contract", "contracts", "contractId"],
          ["closeout", "closeouts", "clientId"]
        ].map(async ([noun = "", plural = "", id = ""]) =>
          (await service.done([noun, "list", ...of]))[plural].map((row: Readonly<Record<string, unknown>>) => row[id])
        )
      )
    const [rfqs, contracts] = await whose("--partner", "TRD")
    assert.deepStrictEqual([rfqs[0], contracts[0]], [rfqId, contractId])
    assert.deepStrictEqual(await whose("--partner", "TRE"), [[], [], []])
    assert.deepStrictEqual(await whose("--partner", "TRE", "--client", uid), [[], [], []])
    const [ownRfqs, ownContracts, ownCloseOuts] = await whose("--partner", "TRD", "--client", uid)
    assert.deepStrictEqual([ownRfqs[0], ownContracts[0], ownCloseOuts], [rfqId, contractId, []])
    for (const noun of ["rfq", "contract", "closeout"]) {
      assert.strictEqual((await refused([noun, "list", "--partner", "NONE"]))[1], 4004)
      assert.strictEqual((await refused([noun, "list", "--client", "999999"]))[1], 4004)
    }
  })

  it("an unknown object is not found, and an unknown state is refused", async () => {
    for (const what of ["rfq", "contract", "closeout"]) {
      for (const id of ["999999", "9223372036854775808"]) {
        assert.strictEqual((await refused([what, "show", id]))[1], 4004, `${what} ${id}`)
      }
    }
    assert.strictEqual((await refused(["margin", "show", "999999"]))[1], 4004)
    assert.strictEqual((await service.cli(["rfq", "list", "--state", "DONE"])).status, 2)
  })
})

describe("explain rfq", () => {
  it("A2-110: shows gate by gate how the request would be answered, and writes nothing", async () => {
    const before = await rowCounts(service)
    const line = ["explain", "rfq", uid, "--symbol", "BTC-USDC-KO", "--side", "BUY", "--qty", "0.1", "--barrier"]
    const fine = await service.done([...line, "58000"], "SUPPORT")
    assert.deepInclude(fine, { write: "rfq", outcome: "ACCEPTED" })
    assert.isTrue(fine.gates.every(({ status }: { readonly status: string }) => status === "passed"))
    const wrong = await service.done([...line, "61000"])
    assert.deepInclude(wrong, { outcome: "REFUSED", code: 4000 })
    const asked = await steps.post(clientId, "/rfq", steps.rfqBody({ "barrier.level": "61000" }))
    assert.strictEqual(asked.json.msg, wrong.sentence)
    assert.match(await shownTo([...line, "61000"]), /^The rfq would be refused \(4000\): /)
    assert.deepStrictEqual(await rowCounts(service), before)
  })
})

describe("venue resolve", () => {
  const reason = ["--reason", "the venue's letter of today"]
  /** A request with an unanswered accept. */
  const hanging = async (): Promise<number> => {
    const rfqId = await request()
    const lost = ["acceptQuote", "lookup", "voidRefs"]
    world.failing((asked) => (lost.includes(asked) ? { lost: "before" } : {}))
    world.quote(rfqId, "60000")
    await steps.until(clientId, rfqId, ({ accepting }) => accepting)
    return rfqId
  }

  it("A2-116: void releases the hold, and the request stays open; it is recorded with the evidence", async () => {
    const rfqId = await hanging()
    assert.deepStrictEqual(await service.done(["venue", "resolve", `rfq:${rfqId}`, "--as", "void", ...reason]), {
      object: `rfq:${rfqId}`,
      as: "void",
      state: "OPEN",
      breakId: null
    })
    const { entries } = await service.done(["audit", "tail", "--limit", "50"])
    assert.isTrue(
      entries.some(
        ({ action, object, reason: why }: { action: string; object: string; reason: string }) =>
          action === "venue.resolve" && object === `rfq:${rfqId}` && why === reason[1]
      )
    )
    assert.strictEqual((await refused(["venue", "resolve", `rfq:${rfqId}`, "--as", "void", ...reason]))[1], 4092)
  })

  it("A2-116: executed opens the contract by the venue's evidence", async () => {
    const rfqId = await hanging()
    const evidence = ["--trade-id", "77", "--price", "60000.0", "--qty", "0.1"]
    const line = ["venue", "resolve", `rfq:${rfqId}`, "--as", "executed", ...evidence, ...reason]
    const counts = await rowCounts(service)
    assert.strictEqual((await service.cli([...line, "--dry-run"])).status, 0)
    assert.deepStrictEqual(await rowCounts(service), counts)
    assert.deepInclude(await service.done(line), { state: "ACCEPTED", breakId: null })
    const { contractId } = await service.done(["rfq", "show", String(rfqId)])
    const [row] = await query<{ readonly n: bigint }>(
      service,
      `SELECT count(*) AS n FROM ledger_transactions WHERE key = 'commission:contract:${contractId}'`
    )
    assert.strictEqual(row?.n, 1n)
    world.failing(sound)
    assert.deepInclude(await service.done(closing(contractId)), {
      object: `barrierContract:${contractId}`,
      state: "CLOSED"
    })
    assert.deepInclude(await service.done(["contract", "show", String(contractId)]), {
      closeReason: "finalSettlement",
      pnl: "10.000000"
    })
    assert.strictEqual((await refused(closing(contractId)))[1], 4092)
  })

  /** A contract that the venue does not know. */
  const unheardOf = async (): Promise<number> => {
    const rfqId = await hanging()
    const evidence = ["--trade-id", "78", "--price", "60000.0", "--qty", "0.1"]
    await service.done(["venue", "resolve", `rfq:${rfqId}`, "--as", "executed", ...evidence, ...reason])
    world.failing(sound)
    return (await service.done(["rfq", "show", String(rfqId)])).contractId
  }
  const closing = (contractId: number) =>
    ["venue", "resolve", `contract:${contractId}`, "--as", "closed", "--price", "60100.0"].concat(reason)

  it("D5: a contract that ends between the read and the turn has one settlement", async () => {
    const contractId = await unheardOf()
    // Another resolution comes in between.
    const overtaken = Layer.effect(
      RowReads,
      Effect.map(RowReads, (stored) =>
        RowReads.of({
          ...stored,
          page: (table, conditions, page) =>
            Effect.tap(stored.page(table, conditions, page), () =>
              Effect.promise(() => service.done(closing(contractId)))
            )
        })
      )
    )
    const request = { object: `contract:${contractId}`, as: "closed" as const, price: "60200.0", reason: "r" }
    const late = await service.run(
      Effect.provide(
        Effect.flatMap(VenueResolutions, (resolutions) => resolutions.resolve(operator, request)),
        VenueResolutions.layer.pipe(Layer.provide(overtaken))
      )
    )
    assert.deepStrictEqual(late, refuse(conflict("ALREADY", "The contract is CLOSED already.")))
    assert.strictEqual((await service.done(["contract", "show", String(contractId)])).pnl, "10.000000")
  })

  it("D5: a contract that the venue knows, or does not answer for now, is not closed by hand", async () => {
    const { contractId } = await opened()
    assert.deepStrictEqual(await refused(closing(contractId)), [
      1,
      4092,
      "The venue knows the contract: it ends by the venue's word."
    ])
    world.failing((asked) => (asked === "lookup" ? { lost: "before" } : {}))
    assert.strictEqual((await refused(closing(contractId)))[1], 5020)
    assert.strictEqual((await service.done(["contract", "show", String(contractId)])).state, "OPEN")
  })

  it("Four eyes: a command that could not run is refused before an approval is requested", async () => {
    const resolutions = <A, E>(ask: (of: VenueResolutions["Service"]) => Effect.Effect<A, E>): Promise<A> =>
      service.run(Effect.provide(Effect.flatMap(VenueResolutions, ask), VenueResolutions.layer))
    const check = (request: ResolveRequest) => resolutions((of) => of.check(request))
    const { rfqId } = await opened()
    const object = `rfq:${rfqId}`
    const asked = { object, as: "void", reason: "r" } as const
    const nothing = refuse(conflict("NOTHING_IN_FLIGHT", "Nothing of this request is in flight at the venue."))
    assert.deepStrictEqual(await check(asked), nothing)
    const hung = await hanging()
    const waiting = { ...asked, object: `rfq:${hung}` }
    const inFlight = await check(waiting)
    const ref = inFlight.ok ? (inFlight.value.ref ?? "") : ""
    assert.match(ref, new RegExp(`^A-${hung}-[0-9]+$`))
    // The granter sees the owner.
    const { clientUid } = await service.done(["client", "show", String(clientId)])
    assert.deepStrictEqual(inFlight, accept({ ...waiting, ref, clientUid, evidenceOf: "rfq" }))
    // The evidence of one accept does not apply to the next accept.
    const ofEarlier = { ...waiting, ref: `A-${hung}-999999` }
    assert.deepStrictEqual(
      await resolutions((of) => of.resolve(operator, ofEarlier)),
      refuse(
        conflict(
          "NOTHING_IN_FLIGHT",
          "Another call of this request is in flight by now: the evidence is not of this one."
        )
      )
    )
    const contractId = await unheardOf()
    const close = { ...asked, object: `contract:${contractId}`, as: "closed", price: "60100.0" } as const
    const known = `barrierContract:${contractId}`
    assert.deepStrictEqual(
      await check(close),
      accept({ ...close, object: known, clientUid, evidenceOf: "barrierContract" })
    )
    await service.done(closing(contractId))
    assert.deepStrictEqual(await check(close), refuse(conflict("ALREADY", "The contract is CLOSED already.")))
    assert.deepStrictEqual(
      await check({ ...close, object: "client:1" }),
      refuse(invalidFields({ object: "The object must be rfq:ID, order:ID, swap:ID or contract:ID." }))
    )
  })

  it("accepts the options of the outcome and no others", async () => {
    const { rfqId, contractId } = await opened()
    const resolve = (object: string, ...rest: ReadonlyArray<string>) =>
      refused(["venue", "resolve", object, ...rest, ...reason])
    assert.strictEqual((await resolve("rfq:999999", "--as", "void"))[1], 4004)
    assert.deepStrictEqual((await resolve(`rfq:${rfqId}`, "--as", "executed"))[2], {
      tradeId: "The trade id is required.",
      price: "The price is required.",
      qty: "The quantity is required."
    })
    assert.deepStrictEqual((await resolve(`rfq:${rfqId}`, "--as", "void", "--price", "1"))[2], {
      price: "The price does not go with void."
    })
    const [, , wrongEnd] = await resolve(`contract:${contractId}`, "--as", "executed")
    assert.strictEqual(wrongEnd.as, "A contract is resolved as closed or void.")
    assert.deepStrictEqual((await resolve(`contract:${contractId}`, "--as", "closed", "--price", "60000.123"))[2], {
      price: "The price must be a positive decimal with at most 1 places."
    })
    assert.strictEqual((await resolve(`rfq:${rfqId}`, "--as", "void"))[1], 4092, "nothing of it is in flight")
    const { status } = await service.cli(["venue", "resolve", `rfq:${rfqId}`, "--as", "void", ...reason], "FINANCE")
    assert.strictEqual(status, 1)
  })
})

describe("without a venue", () => {
  it("a read that needs prices answers 5030, and stored data are read", async () => {
    const alone = await startOperatorService({})
    try {
      const { key } = await alone.partner({ code: "TRF", custody: "PARTNER" })
      const client = String(await alone.client(key))
      const { status, refusal } = await alone.cli(["margin", "show", client], "SUPPORT")
      assert.deepStrictEqual([status, refusal.code, refusal.msg], [1, 5030, "No venue is attached to this service."])
      const asked = ["--symbol", "BTC-USDC-KO", "--side", "BUY", "--qty", "0.1", "--barrier", "58000"]
      const explained = await alone.done(["explain", "rfq", client, ...asked])
      assert.deepInclude(explained, {
        outcome: "REFUSED",
        code: 5030,
        sentence: "No venue is attached to this service."
      })
      assert.deepStrictEqual((await alone.done(["rfq", "list"])).rfqs, [])
      assert.deepStrictEqual((await alone.done(["contract", "list", "--client", client])).contracts, [])
    } finally {
      await alone.stop()
    }
  })
})
