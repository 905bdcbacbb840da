/**
 * Requests for quotes, from the request to the contract, against the simulated venue's books (doc 2, RFQ; D4; F15, F18;
 * A2-21..A2-28, A2-110).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch, Layer } from "effect"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { Venue } from "../../src/runtime/ports/Venue.ts"
import { advance, get, notReached, ofClient, partners, rowCounts } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { contractVenue, knockOut } from "../support/contractVenue.ts"
import { heldAt } from "../support/lockTable.ts"
import { answerWithin, progressOn, quickClock } from "../support/quickClock.ts"
import { openScenario } from "../support/Scenario.ts"
import { type Answer, operator } from "../support/Service.ts"
import { stepsOf } from "../support/steps.ts"

const world = contractVenue()
/** While it is closed, the venue answers no requests. */
const answering = Latch.makeUnsafe(true)
const layerVenue = Layer.effect(
  Venue,
  Effect.map(Venue, (port) =>
    Venue.of({
      ...port,
      write: (name, request) =>
        name === "requestQuotes"
          ? Effect.andThen(answering.await, port.write(name, request))
          : port.write(name, request)
    })
  )
).pipe(Layer.provide(world.layerVenue))
/** The clocks of the venue's feed, and of routes and workers. */
const [clock, routes] = [quickClock(), quickClock()]
/** The interval at which the feed reads the listing, and at which the router checks paused requests, ms. */
const checkEvery = 1_000
const { service, partner, key, call, report, restrict, reject } = await openScenario({
  layerVenue,
  clock,
  venue: { progress: progressOn(routes) }
})
const { trader, rfqBody, post, until, poll, rfqOf } = contractSteps(service, key, { call, report })

/** Moves both clocks by this time, and lets the router check paused requests. */
const later = async (millis: number): Promise<void> => {
  world.leap(millis)
  await advance(service, millis)
  routes.end(checkEvery)
}
/** Repeats the read until it returns the value, while the feed reads the listing repeatedly. */
const listed = <A>(look: () => Promise<A>, found: (seen: A) => boolean): Promise<A> =>
  poll(() => {
    clock.end(checkEvery)
    return look()
  }, found)

const refusal = ({ status, json }: Answer) => [status, json.code, json.msg]

describe("asking for quotes", () => {
  it("A2-23: preview predicts the request; the venue has the request before its answer", async () => {
    const clientId = await trader()
    const preview = (await post(clientId, "/rfq/preview", rfqBody())).json.data
    assert.deepInclude(preview, {
      accepted: true,
      reason: null,
      mark: "60000.0",
      premium: "190.000000",
      estimatedCommission: "1.200000",
      requiredFreeMargin: "191.200000",
      freeMarginBefore: "1000.000000",
      freeMarginAfter: "808.800000",
      impliedLeverage: "31.58"
    })
    const { status, json } = await post(clientId, "/rfq", rfqBody({ autoAccept: false }))
    assert.strictEqual(status, 200)
    assert.deepInclude(json.data, {
      clientId,
      state: "OPEN",
      direction: "LONG",
      premium: null,
      maxLossAtRequest: preview.premium,
      commission: preview.estimatedCommission,
      clOrdId: `R-${json.data.rfqId}`,
      quotes: []
    })
    assert.isNumber(json.data.venueRfqId)
    const { rfqs } = (await get(service, key, `/clients/${clientId}/rfq`)).json.data
    assert.deepStrictEqual(
      rfqs.map(({ rfqId }: { readonly rfqId: number }) => rfqId),
      [json.data.rfqId]
    )
  })

  it("F15: a quote is received, accepted by hand once, and a contract opens with its premium frozen", async () => {
    const clientId = await trader()
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
    const quoteId = world.quote(rfqId, "60010")
    const { quotes } = await until(clientId, rfqId, (rfq) => rfq.quotes.length === 1)
    assert.deepInclude(quotes[0], {
      quoteId,
      price: "60010.0",
      impliedPremium: "190.950000",
      state: "LIVE",
      acceptable: true,
      notAcceptableReason: null
    })
    const headers = { "Idempotency-Key": `accept-${rfqId}` }
    const first = await call("POST", clientId, `/rfq/${rfqId}/accept`, { quoteId }, headers)
    assert.strictEqual(first.status, 200, first.text)
    assert.deepInclude(first.json.data, { rfqId, quoteId, entry: "60010.0", premium: "190.950000", direction: "LONG" })
    const again = await call("POST", clientId, `/rfq/${rfqId}/accept`, { quoteId }, headers)
    assert.strictEqual(again.text, first.text)
    const { contractId } = first.json.data
    assert.deepInclude(await rfqOf(clientId, rfqId), { state: "ACCEPTED", contractId, premium: "190.950000" })
    const { barriers } = (await get(service, key, `/clients/${clientId}/barriers`)).json.data
    assert.deepInclude(barriers[0], { contractId, state: "OPEN", mark: "60000.0", unrealizedPnl: "-1.000000" })
    const picture = (await get(service, key, `/clients/${clientId}/margin`)).json
    assert.deepInclude(picture, { barriers: 1, barrierUnrealizedPnl: "-1.000000", riskState: "NORMAL" })
  })

  it("F18: the router accepts the earliest acceptable quote, not the best", async () => {
    const clientId = await trader()
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ premium: "190.5" }))).json.data
    world.quote(rfqId, "60020")
    const noted = await until(clientId, rfqId, (rfq) => rfq.autoAcceptNote !== null)
    assert.deepInclude(noted, {
      state: "OPEN",
      autoAcceptNote: "The premium at this quote exceeds the request's budget."
    })
    const quoteId = world.quote(rfqId, "60004", { dealer: "beta" })
    const done = await until(clientId, rfqId, (rfq) => rfq.state === "ACCEPTED")
    assert.deepInclude(done, { acceptedQuoteId: quoteId, entryPrice: "60004.0", accepting: false })
    const states = done.quotes.map(({ state }: { readonly state: string }) => state)
    assert.deepStrictEqual(states, ["ACCEPTED", "SUPERSEDED"])
  })

  it("F18: after three quotes that the venue did not execute the router rests before the next, longer each time", async () => {
    const clientId = await trader()
    const business = await service.run(BusinessClock)
    const tries: Array<number> = []
    world.failing((name) => {
      if (name !== "acceptQuote") return {}
      tries.push(business.now())
      return { refused: "out of order" }
    })
    const { rfqId } = (await post(clientId, "/rfq", rfqBody())).json.data
    for (const dealer of ["a", "b", "c", "d", "e"]) world.quote(rfqId, "60000", { dealer })
    await poll(
      () => Promise.resolve(tries),
      ({ length }) => length === 3
    )
    await poll(
      async () => {
        await later(100)
        return tries
      },
      ({ length }) => length === 5
    )
    world.failing(() => ({}))
    const pauses = tries.map((at, n) => at - (tries[n - 1] ?? at))
    assert.deepStrictEqual(
      pauses.map((pause, n) => (n < 3 ? pause < 1_500 : pause >= 1_000 * 2 ** (n - 2))),
      [true, true, true, true, true],
      pauses.join()
    )
  }, 30_000)

  it("F18, A2-22: the router's reason to accept no quote is still shown when the quote and the request have ended", async () => {
    const clientId = await trader()
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ premium: "190.5", expiresInMs: 30_000 }))).json.data
    const quoteId = world.quote(rfqId, "60020")
    const autoAcceptNote = "The premium at this quote exceeds the request's budget."
    await until(clientId, rfqId, (rfq) => rfq.autoAcceptNote === autoAcceptNote)
    world.withdraw(rfqId, quoteId)
    const gone = await until(clientId, rfqId, (rfq) => rfq.quotes[0].state === "WITHDRAWN")
    assert.strictEqual(gone.autoAcceptNote, autoAcceptNote)
    // The service's clock moves first, because the venue's own end of the request would bring another reason.
    await advance(service, 30_000)
    const ended = await until(clientId, rfqId, ({ state }) => state === "EXPIRED")
    world.leap(30_000)
    for (const rfq of [ended, await rfqOf(clientId, rfqId)]) {
      assert.deepInclude(rfq, { autoAcceptNote, rejectReason: null })
      assert.deepInclude(rfq.quotes[0], { quoteId, state: "WITHDRAWN", acceptable: false })
    }
  }, 20_000)

  it("A2-27: fifty accepts at once open one contract", async () => {
    const clientId = await trader()
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
    const quoteId = world.quote(rfqId, "60000")
    await until(clientId, rfqId, (rfq) => rfq.quotes.length === 1)
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => post(clientId, `/rfq/${rfqId}/accept`, { quoteId }))
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [
      200,
      ...Array.from({ length: 49 }, () => 400)
    ])
    const { barriers } = (await get(service, key, `/clients/${clientId}/barriers`)).json.data
    assert.strictEqual(barriers.length, 1)
  })
})

describe("A2-101: what ends the right to open risk ends requests to open", () => {
  it("a restriction cancels the request to open, which shows the reason, and leaves the one to close", async () => {
    const clientId = await trader()
    const first = (await post(clientId, "/rfq", rfqBody())).json.data
    world.quote(first.rfqId, "60000")
    const { contractId } = await until(clientId, first.rfqId, (rfq) => rfq.state === "ACCEPTED")
    const closing = (await post(clientId, `/barriers/${contractId}/close`, { autoAccept: false })).json.data
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
    await restrict(clientId, "NO_NEW_RISK")
    const ended = await until(clientId, rfqId, (rfq) => rfq.state !== "OPEN")
    assert.strictEqual(ended.state, "CANCELLED")
    const again = await post(clientId, "/rfq", rfqBody())
    assert.deepStrictEqual([again.status, again.json.msg], [400, ended.rejectReason])
    assert.strictEqual((await rfqOf(clientId, closing.rfqId)).state, "OPEN")
  })

  it("A1-50: without the partner's reliance onboarded clients trade on; a suspended partner's, and a rejected client's, end", async () => {
    const clients = await Promise.all([trader(), trader()])
    const [kept, rejected] = await Promise.all(
      clients.map(async (id) => (await post(id, "/rfq", rfqBody({ autoAccept: false }))).json.data)
    )
    const second = await service.partner()
    const own = contractSteps(service, second.key, stepsOf(service, second.key))
    const other = await own.trader()
    assert.strictEqual((await own.post(other, "/rfq", rfqBody({ autoAccept: false }))).status, 200)
    const reliance = async (to: "SUSPENDED" | "REVOKED" | "REQUESTED" | "APPROVED") =>
      assert.isTrue((await partners(service, (all) => all.reliance(operator, partner.code, to, "the agreement"))).ok)
    for (const to of ["SUSPENDED", "REVOKED"] as const) await reliance(to)
    await reject(rejected.clientId)
    await partners(service, (commands) => commands.status(operator, second.code, "SUSPENDED", "a look"))
    const [dropped] = await poll(
      () => ofClient(service, "rfqs", other),
      ([row]) => row?.state === "CANCELLED"
    )
    assert.strictEqual(dropped?.context.rejectReason, "The partner is SUSPENDED: new positions may not be opened.")
    assert.deepInclude(await rfqOf(rejected.clientId, rejected.rfqId), {
      state: "CANCELLED",
      rejectReason: "The account is under review, so new positions may not be opened."
    })
    // If the watch ended the first request, its end would be in the mailbox before this accept.
    const quoteId = world.quote(kept.rfqId, "60000")
    await until(kept.clientId, kept.rfqId, (rfq) => rfq.quotes.length === 1)
    const answer = await post(kept.clientId, `/rfq/${kept.rfqId}/accept`, { quoteId })
    assert.strictEqual(answer.status, 200, answer.text)
    assert.strictEqual((await post(kept.clientId, "/rfq", rfqBody({ autoAccept: false }))).status, 200)
    for (const to of ["REQUESTED", "APPROVED"] as const) await reliance(to)
  }, 20_000)

  it("D4: a halt of the venue cancels it too", async () => {
    const clientId = await trader()
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
    world.venue.apply({ type: "command", command: { type: "halt", symbol: knockOut } })
    const ended = await listed(
      () => rfqOf(clientId, rfqId),
      (rfq) => rfq.state !== "OPEN"
    )
    world.venue.apply({ type: "command", command: { type: "resume", symbol: knockOut } })
    assert.strictEqual(ended.state, "CANCELLED")
    assert.match(ended.rejectReason, /halt/i)
    await listed(
      async () => (await post(clientId, "/rfq/preview", rfqBody())).json.data,
      ({ accepted }) => accepted === true
    )
  }, 20_000)
})

describe("taking back and refusals", () => {
  it("of an unknown client every request is refused as of an unknown client", async () => {
    const known = await trader()
    for (const [clientId, thing] of [
      [999_999, "Client"],
      [known, null]
    ] as const) {
      const answers = [
        [await get(service, key, `/clients/${clientId}/rfq/1000000`), thing ?? "Request"],
        [await post(clientId, "/rfq/1000000/accept", { quoteId: 1 }), thing ?? "Request"],
        [await post(clientId, "/rfq/1000000/cancel", {}), thing ?? "Request"],
        [
          await post(clientId, "/barriers/1000000/close", { autoAccept: true, expiresInMs: 20_000 }),
          thing ?? "Contract"
        ],
        [await service.call("DELETE", `/partner/v1/clients/${clientId}/orders/1000000`, { key }), thing ?? "Order"]
      ] as const
      for (const [{ status, json }, what] of answers)
        assert.deepStrictEqual([status, json.msg], [404, `${what} not found.`])
    }
  })

  it("D4: a request that the venue has not answered yet is invisible: it is not listed, read, accepted or cancelled", async () => {
    const clientId = await trader()
    answering.closeUnsafe()
    const asking = post(clientId, "/rfq", rfqBody({ autoAccept: false }))
    const [row] = await poll(
      () => ofClient(service, "rfqs", clientId),
      ({ length }) => length === 1
    )
    const path = `/clients/${clientId}/rfq`
    if (row?.state !== "CREATING") return assert.fail("the venue has answered")
    assert.deepStrictEqual((await get(service, key, path)).json.data.rfqs, [])
    const answers = [
      await get(service, key, `${path}/${row.id}`),
      await post(clientId, `/rfq/${row.id}/accept`, { quoteId: 1 }),
      await post(clientId, `/rfq/${row.id}/cancel`, {})
    ]
    assert.deepStrictEqual(
      answers.map(({ status, json }) => [status, json.msg]),
      answers.map(() => [404, "Request not found."])
    )
    answering.openUnsafe()
    assert.strictEqual((await asking).status, 200)
  }, 20_000)

  it("D4: a cancel ends the request at the venue; a second one and an accept are refused", async () => {
    const clientId = await trader()
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
    const quoteId = world.quote(rfqId, "60000")
    await until(clientId, rfqId, (rfq) => rfq.quotes.length === 1)
    const { status, json } = await post(clientId, `/rfq/${rfqId}/cancel`, {})
    assert.deepStrictEqual([status, json.data], [200, { rfqId, state: "CANCELLED" }])
    const notOpen = [400, 4000, "The request is not open."]
    assert.deepStrictEqual(refusal(await post(clientId, `/rfq/${rfqId}/cancel`, {})), notOpen)
    assert.deepStrictEqual(refusal(await post(clientId, `/rfq/${rfqId}/accept`, { quoteId })), notOpen)
    const { quotes } = await rfqOf(clientId, rfqId)
    assert.deepInclude(quotes[0], { quoteId, state: "EXPIRED", acceptable: false })
  })

  it("D4: an accept that arrives while the request's end is being written finds it ended", async () => {
    const clientId = await trader()
    const { rfqId, clientUid } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
    const quoteId = world.quote(rfqId, "60000")
    await until(clientId, rfqId, (rfq) => rfq.quotes.length === 1)
    const target = `R-${rfqId}`
    const request = { ref: `${target}-elsewhere`, account: clientUid, target }
    const ended = async () => {
      world.venue.apply({ type: "call", name: "cancelRequest", request })
      await until(clientId, rfqId, ({ state }) => state === "CANCELLED")
    }
    const accepts: Array<Promise<Answer>> = []
    await heldAt(service, "rfqs", ended, async () => {
      accepts.push(post(clientId, `/rfq/${rfqId}/accept`, { quoteId }))
      // Answered after the accept has found the request.
      for (let n = 0; n < 3; n++) assert.strictEqual((await rfqOf(clientId, rfqId)).state, "OPEN")
    })
    assert.deepStrictEqual((await Promise.all(accepts)).map(refusal), [[400, 4000, "The request is not open."]])
    assert.deepStrictEqual(
      (await ofClient(service, "rfqs", clientId)).map(({ state }) => state),
      ["CANCELLED"]
    )
  })

  it("A2-21: the venue refuses: 400 with the request's data, and the row has the reason", async () => {
    const clientId = await trader()
    world.failing((name) => (name === "requestQuotes" ? { refused: "not today" } : {}))
    const { status, json } = await post(clientId, "/rfq", rfqBody()).finally(() => world.failing(() => ({})))
    assert.strictEqual(status, 400)
    assert.deepInclude(json.data, { state: "REJECTED", rejectReason: "not today" })
    assert.deepInclude(await rfqOf(clientId, json.data.rfqId), { state: "REJECTED", rejectReason: "not today" })
  })

  it("A2-26: a request that the venue never receives answers 502 with its state, and a new key makes another", async () => {
    const clientId = await trader()
    const headers = { "Idempotency-Key": `never-${clientId}` }
    world.failing((name) => (name === "requestQuotes" ? { lost: "before" } : {}))
    const first = await call("POST", clientId, "/rfq", rfqBody(), headers).finally(() => world.failing(() => ({})))
    const [row] = await ofClient(service, "rfqs", clientId)
    assert.deepStrictEqual([first.status, first.json], [502, notReached({ rfqId: row?.id, state: "REJECTED" })])
    const again = await call("POST", clientId, "/rfq", rfqBody(), headers)
    assert.deepStrictEqual([again.status, again.text], [502, first.text])
    assert.strictEqual((await post(clientId, "/rfq", rfqBody())).status, 200)
  }, 20_000)

  it("A1-51, A2-26: the venue's answer is lost: 502 under the key, and the accept is found out by itself", async () => {
    const clientId = await trader()
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
    const quoteId = world.quote(rfqId, "60000")
    await until(clientId, rfqId, (rfq) => rfq.quotes.length === 1)
    const headers = { "Idempotency-Key": `lost-${rfqId}` }
    world.failing((name) => (name === "read" ? {} : { lost: "before" }))
    const accepting = call("POST", clientId, `/rfq/${rfqId}/accept`, { quoteId }, headers)
    const first = await routes.after(world.requested("voidRefs"), answerWithin, accepting)
    assert.deepStrictEqual([first.status, first.json.code], [502, 5020], first.text)
    assert.deepStrictEqual(first.json.data, { reason: "OUTCOME_PENDING", rfqId, quoteId, accepting: true })
    assert.isTrue((await rfqOf(clientId, rfqId)).accepting)
    assert.deepStrictEqual(refusal(await post(clientId, `/rfq/${rfqId}/cancel`, {})).slice(0, 2), [400, 4000])
    world.failing(() => ({}))
    const again = await call("POST", clientId, `/rfq/${rfqId}/accept`, { quoteId }, headers)
    assert.strictEqual(again.text, first.text)
    const after = await until(clientId, rfqId, (rfq) => !rfq.accepting)
    assert.strictEqual(after.state, "OPEN")
    assert.isFalse(after.quotes[0].acceptable)
  }, 20_000)

  it.each([
    ["a market of nobody", { symbol: "DOGE-USDC-KO" }, 404, "This market is not offered."],
    ["another family", { symbol: "BTC-USDC-PERP" }, 404, "This market is not offered."],
    ["off the tick", { "barrier.level": "58000.05" }, 400, "The barrier level must be a multiple of 0.1."],
    ["beyond the price", { "barrier.level": "60000" }, 400, "The barrier of a long contract must be below the price."],
    ["too near", { "barrier.level": "59940.1" }, 400, "The barrier must be at least 0.1 percent away from the price."],
    ["too dear", { qty: "1" }, 400, "The premium and the commission exceed the client's free margin."],
    ["too small", { qty: "0.0001" }, 400, "The quantity is worth less than the market's minimum of 100 USDC."]
  ] as const)(
    "A2-110: %s: the request is refused as by preview and explain",
    async (_name, paths, status, sentence) => {
      const clientId = await trader()
      const body = rfqBody(paths)
      const explained = (await post(clientId, "/rfq/explain", body)).json.data
      const previewed = await post(clientId, "/rfq/preview", body)
      const before = await rowCounts(service)
      const answer = await post(clientId, "/rfq", body)
      assert.deepStrictEqual([answer.status, answer.json.msg], [status, sentence])
      assert.deepStrictEqual(await rowCounts(service), before)
      assert.deepInclude(explained, { write: "rfq", outcome: "REFUSED", code: answer.json.code, sentence })
      const told = previewed.status === 200 ? previewed.json.data.reason : previewed.json.msg
      assert.strictEqual(told, sentence)
    }
  )

  it("another partner's request, or an invalid id, is not found", async () => {
    const clientId = await trader()
    const { rfqId } = (await post(clientId, "/rfq", rfqBody({ autoAccept: false }))).json.data
    const other = await service.partner()
    const path = `/clients/${clientId}/rfq/${rfqId}`
    assert.strictEqual((await get(service, other.key, path)).status, 404)
    const unheard = [String(rfqId + 1_000_000), "9223372036854775808", "0", "x"]
    for (const id of unheard) {
      assert.strictEqual((await get(service, key, `/clients/${clientId}/rfq/${id}`)).status, 404, id)
      assert.strictEqual((await post(clientId, `/rfq/${id}/cancel`, {})).status, 404, id)
      assert.strictEqual((await post(clientId, `/rfq/${id}/accept`, { quoteId: 1 })).status, 404, id)
    }
    assert.strictEqual(
      (await post(clientId, `/rfq/${rfqId}/accept`, { quoteId: 999_999 })).json.msg,
      "Quote not found."
    )
  })

  it("a READ key may use explain, and no other POST", async () => {
    const reader = await service.partner({}, "READ")
    const clientId = await trader()
    const send = (path: string) =>
      service.call("POST", `/partner/v1/clients/${clientId}${path}`, {
        key: reader.key,
        raw: JSON.stringify(rfqBody())
      })
    for (const path of ["/rfq", "/rfq/preview", "/rfq/1/accept", "/rfq/1/cancel", "/barriers/1/close"]) {
      assert.deepStrictEqual([(await send(path)).status, (await send(path)).json.code], [403, 4034], path)
    }
    // The key's scope allows the request: the client belongs to another partner.
    assert.strictEqual((await send("/rfq/explain")).json.msg, "Client not found.")
  })
})
