/**
 * Routes with a success in the envelope, and routes with a bare success: each route of the contract is compared with
 * the tables of the specification (doc 1, Envelope; doc 1 to 3, Endpoints; A1-03).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { partnerRoutes } from "../../src/http/features.ts"
import type { Route } from "../../src/http/middleware/routes.ts"
import { type Running, startStubServer } from "./stubServer.ts"

/**
 * The routes that the tables mark as bare, including those that are not built yet; all others have the envelope. Paths
 * after the partner prefix, `C` for `/clients/{clientId}`, parameters as the contract names them.
 */
const bare: ReadonlyArray<string> = [
  "GET /instruments",
  "GET /tickers",
  "GET /orderbook",
  "GET /market-trades",
  "GET /index-price",
  "GET /funding",
  "GET /market-info",
  "GET /currencies",
  "POST C/orders",
  "GET C/orders",
  "DELETE C/orders/:orderId",
  "GET C/positions",
  "GET C/trades",
  "GET C/position-history",
  "GET C/margin",
  "POST C/margin/preview",
  "GET C/leverage",
  "PUT C/leverage",
  "POST C/leverage",
  "GET C/balances",
  "GET C/statements",
  "POST C/statements"
]

const nameOf = ({ method, path }: Route): string =>
  `${method} ${path.replace("/partner/v1", "").replace(/^\/clients\/:clientId\//, "C/")}`

const values: Readonly<Record<string, string>> = {
  clientId: "41",
  itemId: "6",
  rid: "41",
  rfqId: "501",
  contractId: "77",
  orderId: "601",
  offerId: "31",
  swapId: "812",
  partnerClientRef: encodeURIComponent("ref 1/ä")
}
const concrete = ({ path, query }: Route): string => {
  const wanted = query.filter(({ wanted }) => wanted !== undefined).map(({ name }) => `${name}=BTC-USDC-PERP`)
  return `${path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? "1")}?${wanted.join("&")}`
}

/** The one answer with more members than the envelope (doc 2, GET /ticker; A2-112) also has msg, sequence and time. */
const membersOf = (route: Route): ReadonlyArray<string> =>
  nameOf(route) === "GET /ticker" ? ["code", "msg", "data", "asOfSeq", "ts"] : ["code", "data"]

interface ObjectSchema {
  readonly required?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, unknown>>
}
type Content = { readonly content?: { readonly "application/json"?: { readonly schema: ObjectSchema } } }

describe("A1-03: the envelope, route by route", () => {
  let server: Running
  beforeAll(async () => {
    server = await startStubServer()
  })
  afterAll(() => server.close())

  const { paths } = openApiDocument()
  // Files and streamed answers have no members; other tests cover them.
  for (const route of partnerRoutes.routes.filter(({ form }) => form.kind === "json")) {
    const { method, path } = route
    const isBare = bare.includes(nameOf(route))
    it(`A1-03: ${nameOf(route)} is ${isBare ? "bare" : "in the envelope"}, as described and as answered`, async () => {
      const operation = paths[path.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase() as "get"]
      const described = Object.entries(operation?.responses ?? {}).filter(([status]) => Number(status) < 300)
      assert.isNotEmpty(described)
      for (const [status, response] of described) {
        const schema = (response as Content).content?.["application/json"]?.schema
        assert.strictEqual(schema?.required?.join() === membersOf(route).join(), !isBare, status)
        assert.strictEqual(schema?.properties?.["code"] !== undefined, !isBare, status)
      }
      const answer = await server.call(method, concrete(route), method === "GET" ? {} : { body: {} })
      assert.isBelow(answer.status, 300, answer.text)
      const members = Object.keys(answer.json as object)
      if (isBare) assert.notIncludeMembers(members, ["code", "data"])
      else assert.deepStrictEqual([members, (answer.json as { code: number }).code], [membersOf(route), 0])
    })
  }
})
