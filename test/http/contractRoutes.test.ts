/**
 * The contract of requests for quotes and knock-out contracts, for partners and for staff: routes and their rules, and
 * examples and all possible answers that fit the published schemas (doc 2, Barrier contracts; operator surface; A1-02).
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import Ajv2020 from "ajv/dist/2020.js"
import { BarriersApi } from "../../src/http/api/BarriersApi.ts"
import { contractExamples as examples } from "../fixtures/contractExamples.ts"
import { CloseOutGroup } from "../../src/http/api/operator/CloseOutGroup.ts"
import { CommandRules } from "../../src/http/api/operator/CommandRules.ts"
import { ContractGroup, ContractView } from "../../src/http/api/operator/ContractGroup.ts"
import { ExplainGroup } from "../../src/http/api/operator/ExplainGroup.ts"
import { operatorRoles, resolutions } from "../../src/http/api/operator/operatorTokens.ts"
import { RfqGroup } from "../../src/http/api/operator/RfqGroup.ts"
import { ResolveBody, Resolved, venueResolve } from "../../src/http/api/operator/venueResolve.ts"
import { MarginApi } from "../../src/http/api/MarginApi.ts"
import { MarginGroup } from "../../src/http/api/operator/MarginGroup.ts"
import { RfqApi } from "../../src/http/api/RfqApi.ts"
import { type Group, RouteTable } from "../../src/http/middleware/routes.ts"
import {
  type CloseReason,
  closeReasons,
  type ContractList,
  contractLists,
  ContractWire
} from "../../src/machines/contract/ContractWire.ts"
import { type CloseOutState, closeOutStates, CloseOutWire } from "../../src/machines/margin/CloseOutWire.ts"
import {
  AcceptWire,
  ClosedWire,
  OpenedWire,
  type QuoteState,
  quoteStates,
  QuoteWire,
  type RfqState,
  rfqStates,
  RfqWire
} from "../../src/machines/rfq/RfqWire.ts"
import { RfqPreview } from "../../src/machines/rfq/rfqPreview.ts"
import { bodyCaps } from "../../src/machines/shared/Limits.ts"
import { samplesOf } from "./standIn.ts"

const groups: ReadonlyArray<Group> = [RfqApi, BarriersApi, MarginApi]
const table = new RouteTable("", groups)

const spec = OpenApi.fromApi(HttpApi.make("contracts").add(RfqApi, BarriersApi, MarginApi))
const ajv = new Ajv2020.default({ strict: false, allErrors: true })
ajv.addSchema(spec as object, "api")
/** The validator of a route's success. */
const answerOf = (operation: string) => {
  const { method, path } = table.routes.find((route) => route.operation === operation) ?? { method: "", path: "" }
  const parts = ["paths", path.replace(/:(\w+)/g, "{$1}"), method.toLowerCase(), "responses", "200"]
  const pointer = [...parts, "content", "application/json", "schema"].map((part) =>
    encodeURIComponent(part.replaceAll("/", "~1"))
  )
  const found = ajv.getSchema(`api#/${pointer.join("/")}`)
  if (found === undefined) throw new Error(`no schema of ${operation}`)
  return found
}

describe("doc 2, Barrier contracts: the routes", () => {
  const of = (rules: { readonly [name: string]: unknown }) => ({ reliance: false, bodyCap: bodyCaps.rfq, ...rules })
  const routes = [
    ["POST", "/clients/:clientId/rfq", of({ idempotent: true })],
    ["POST", "/clients/:clientId/rfq/preview", of({ idempotent: false })],
    ["POST", "/clients/:clientId/rfq/explain", of({ idempotent: false, reads: true })],
    ["GET", "/clients/:clientId/rfq", { idempotent: false, reliance: false, bodyCap: 0 }],
    ["GET", "/clients/:clientId/rfq/:rfqId", { idempotent: false, reliance: false, bodyCap: 0 }],
    ["POST", "/clients/:clientId/rfq/:rfqId/accept", of({ idempotent: true })],
    ["POST", "/clients/:clientId/rfq/:rfqId/cancel", of({ idempotent: false, bodyless: true })],
    ["GET", "/clients/:clientId/barriers", { idempotent: false, reliance: false, bodyCap: 0 }],
    ["POST", "/clients/:clientId/barriers/:contractId/close", of({ idempotent: true, bodyless: true })],
    ["GET", "/clients/:clientId/margin", { idempotent: false, reliance: false, bodyCap: 0 }]
  ]

  it("doc 2, Endpoints: exactly these, with their (K) marks and caps", () =>
    assert.deepStrictEqual(
      // orderContract.test.ts covers the routes of the margin group that only orders need.
      table.routes
        .filter(({ path }) => !/leverage|preview/.test(path) || path.includes("/rfq"))
        .map(({ method, path, rules }) => [method, path, rules]),
      routes as never
    ))

  it("doc 2: a fixed segment is no request's id", () => {
    for (const [path, operation] of [
      ["/clients/41/rfq/preview", "rfq.preview"],
      ["/clients/41/rfq/explain", "rfq.explain"],
      ["/clients/41/rfq/7/accept", "rfq.accept"],
      ["/clients/41/barriers/7/close", "barriers.close"]
    ] as const) {
      assert.strictEqual(table.match("POST", path)?.route.operation, operation)
    }
  })

  it("doc 2, Limits: a page of contracts has 1 to 500 rows, 100 by default", () => {
    const { query } = table.routes.find(({ operation }) => operation === "barriers.list") ?? { query: [] }
    assert.deepStrictEqual(
      query.map(({ name, usual }) => [name, usual]),
      [
        ["state", "open"],
        ["limit", 100],
        ["before", undefined]
      ]
    )
  })

  it("the description of every write names the data of its 400 and 502", () => {
    for (const [path, words] of [
      ["/clients/{clientId}/rfq", ["{rfqId, state, rejectReason}", "502 with data {rfqId}"]],
      ["/clients/{clientId}/rfq/{rfqId}/accept", ["502 with data {rfqId, quoteId, accepting: true}"]],
      ["/clients/{clientId}/rfq/{rfqId}/cancel", ["502 with data {rfqId}"]],
      ["/clients/{clientId}/barriers/{contractId}/close", ["data {rfqId}", "502 with data {rfqId, contractId}"]]
    ] as const) {
      const operation = spec.paths[path]?.post
      for (const word of words) assert.include(operation?.description, word)
      for (const status of [400, 409, 502]) assert.property(operation?.responses, String(status))
    }
  })
})

describe("doc 2, RFQ and Barrier contract: the shapes", () => {
  const data = (example: unknown) => ({ code: 0, data: example })

  it.each([
    ["rfq.request", examples.rfq],
    ["rfq.preview", examples.preview],
    ["rfq.explain", examples.explanation],
    ["rfq.list", examples.rfqs],
    ["rfq.get", examples.closing],
    ["rfq.accept", examples.opened],
    ["rfq.accept", examples.closed],
    ["rfq.cancel", examples.cancelled],
    ["barriers.list", examples.contracts],
    ["barriers.close", examples.closing]
  ])("%s: the example is an answer", (operation, example) => {
    const validate = answerOf(operation)
    assert.isTrue(validate(data(example)), JSON.stringify(validate.errors))
  })

  it("margin.picture: bare, and the example is an answer", () => {
    const validate = answerOf("margin.picture")
    assert.isTrue(validate(examples.margin), JSON.stringify(validate.errors))
    assert.isFalse(validate(data(examples.margin)))
    assert.isFalse(table.routes.find(({ operation }) => operation === "margin.picture")?.form.enveloped)
  })

  it("every answer that a success schema allows fits its published form", () => {
    for (const group of groups) {
      for (const endpoint of Object.values(group.endpoints).filter(HttpApiEndpoint.isHttpApiEndpoint)) {
        const operation = `${group.identifier}.${endpoint.identifier}`
        const validate = answerOf(operation)
        for (const schema of endpoint.success) {
          for (const sample of samplesOf(schema, operation, 25)) {
            const told = JSON.parse(JSON.stringify(sample)) as unknown
            assert.isTrue(validate(told), `${operation}: ${JSON.stringify(validate.errors)}`)
          }
        }
      }
    }
  })

  it("doc 2: exactly the documented members", () => {
    const words = (text: string) => text.split(/[\s,]+/).toSorted()
    const members = (schema: { readonly fields: object }) => Object.keys(schema.fields).toSorted()
    assert.deepStrictEqual(
      members(RfqWire),
      words(
        "rfqId, clientId, clientUid, venueRfqId, clOrdId, symbol, side, direction, qty, barrierLevel, takeProfit, expiryTs, expiryDefaulted, expiresAt, expiresInMs, state, createdAt, updatedAt, rejectReason, accepting, autoAccept, autoAcceptNote, closeContractId, contractEntry, acceptedQuoteId, contractId, entryPrice, commission, maxLossAtRequest, premium, markAtRequest, impliedLeverage, potentialProfit, strictTakeProfit, premiumBps, quotes, currency"
      )
    )
    assert.deepStrictEqual(
      members(QuoteWire),
      words(
        "quoteId, price, qty, validUntil, validForMs, impliedMaxLoss, impliedPremium, impliedLeverage, impliedPotentialProfit, impliedPnl, state, acceptable, notAcceptableReason"
      )
    )
    assert.deepStrictEqual(
      members(RfqPreview),
      words(
        "accepted, reason, mark, maxLoss, premium, estimatedCommission, requiredFreeMargin, freeMarginBefore, freeMarginAfter, impliedLeverage, potentialProfit, maxLeverage, expiryTs, expiryDefaulted, strictTakeProfit, premiumBps, knockOutRebateBps, strictTakeProfitPremiumBps, strictTakeProfitOffered, currency"
      )
    )
    const accepted =
      "rfqId, venueRfqId, quoteId, contractId, tradeId, symbol, side, direction, qty, entry, barrierLevel, takeProfit, expiryTs, commission, strictTakeProfit, premiumBps, ts, currency"
    assert.deepStrictEqual(members(OpenedWire), words(`${accepted}, maxLoss, premium, leverage, potentialProfit`))
    assert.deepStrictEqual(members(ClosedWire), words(`${accepted}, settlePrice, realizedPnl`))
    assert.deepStrictEqual(
      members(ContractWire),
      words(
        "contractId, symbol, side, qty, entry, barrierLevel, takeProfit, expiryTs, expiresInMs, state, openedAt, closedAt, settlePrice, pnl, mark, markFresh, distanceAbs, distancePct, distanceToTpAbs, distanceToTpPct, unrealizedPnl, requirement, maxLoss, premium, potentialProfit, leverage, commission, notional, venueRfqId, rfqId, closeReason, closeRfqId, strictTakeProfit, premiumBps, currency"
      )
    )
  })

  it("doc 2: exactly the documented tokens", () => {
    const states: ReadonlyArray<RfqState> = ["OPEN", "ACCEPTED", "CANCELLED", "EXPIRED", "REJECTED"]
    const ofQuotes: ReadonlyArray<QuoteState> = ["LIVE", "EXPIRED", "WITHDRAWN", "ACCEPTED", "SUPERSEDED"]
    const reasons: ReadonlyArray<CloseReason> = [
      "knockOut",
      "takeProfit",
      "expiry",
      "earlyClose",
      "liquidation",
      "finalSettlement"
    ]
    const lists: ReadonlyArray<ContractList> = ["open", "history"]
    assert.deepStrictEqual([rfqStates, quoteStates, closeReasons, contractLists] as ReadonlyArray<unknown>, [
      states,
      ofQuotes,
      reasons,
      lists
    ])
  })

  it("the two forms of an accept differ by their members", () => {
    const read = Schema.decodeUnknownSync(AcceptWire)
    assert.property(read(examples.opened), "premium")
    assert.property(read(examples.closed), "realizedPnl")
    const { realizedPnl: _, ...neither } = examples.closed
    assert.throws(() => read(neither))
  })
})

describe("operator surface: reads of requests, contracts and episodes, and what ends them by hand", () => {
  class Resolving extends HttpApiGroup.make("venue").add(venueResolve) {}
  const staff = [RfqGroup, ContractGroup, MarginGroup, CloseOutGroup, Resolving, ExplainGroup]

  it("each command with its roles; only resolving and widening are an administrator's, and wait for a second key", () => {
    const found = staff.flatMap((group) =>
      Object.values(group.endpoints).map(({ identifier, method, path, annotations }) => {
        const { roles, fourEyes } = Context.get(annotations, CommandRules)
        return [`${group.identifier} ${identifier}`, method, path, roles, fourEyes] as const
      })
    )
    const others = ["explain collateral", "explain deposit", "explain withdrawal"]
    assert.deepStrictEqual<ReadonlyArray<unknown>>(
      found.filter(([name]) => !others.includes(name)),
      [
        ["rfq list", "GET", "/rfqs", operatorRoles, undefined],
        ["rfq show", "GET", "/rfqs/:rfqId", operatorRoles, undefined],
        ["contract list", "GET", "/contracts", operatorRoles, undefined],
        ["contract show", "GET", "/contracts/:contractId", operatorRoles, undefined],
        ["margin show", "GET", "/clients/:client/margin", operatorRoles, undefined],
        ["margin watch", "GET", "/markets/:symbol/near-accounts", operatorRoles, undefined],
        ["closeout list", "GET", "/closeouts", operatorRoles, undefined],
        ["closeout show", "GET", "/closeouts/:closeOutId", operatorRoles, undefined],
        ["closeout widen", "POST", "/closeouts/:closeOutId/widen", ["ADMIN"], "usual"],
        ["venue resolve", "POST", "/venue/resolve", ["ADMIN"], "usual"],
        ["explain rfq", "GET", "/clients/:client/explain/rfq", operatorRoles, undefined],
        ["explain order", "GET", "/clients/:client/explain/order", operatorRoles, undefined]
      ]
    )
  })

  it("a contract names its owner; an episode is one of its steps; a resolution is one of three", () => {
    const [contract] = examples.contracts.barriers
    const view = { ...contract, clientId: 41, clientUid: "ACME-00000041" }
    assert.deepStrictEqual(Schema.decodeUnknownSync(ContractView)(view), view as never)
    const episode = {
      closeOutId: 3,
      clientId: 41,
      clientUid: "ACME-00000041",
      startedAt: 1,
      endedAt: null,
      closeOutEquity: "-1.000000",
      marginBase: "0.000000",
      orders: 0,
      contracts: 1,
      widenedTo: null,
      writtenOff: "0.000000",
      repaid: "0.000000"
    }
    const steps: ReadonlyArray<CloseOutState> = closeOutStates
    for (const state of steps) Schema.decodeUnknownSync(CloseOutWire)({ ...episode, state })
    assert.throws(() => Schema.decodeUnknownSync(CloseOutWire)({ ...episode, state: "OVER" }))
    const body = { object: "rfq:7", reason: "The venue's mail of today", tradeId: 1, price: "1", qty: "1" }
    for (const as of resolutions) {
      Schema.decodeUnknownSync(ResolveBody)({ ...body, as })
      Schema.decodeUnknownSync(Resolved)({ object: body.object, as, state: "ACCEPTED", breakId: null })
    }
    assert.throws(() => Schema.decodeUnknownSync(ResolveBody)({ ...body, as: "lost" }))
  })
})
