/**
 * Market data of the direct API on the real service: no credential is needed, each answer has the shape of the partner's
 * answer, and the reads of an address have a limit of their own (doc 2, Direct client API summary).
 */
import { assert, describe, it } from "@effect/vitest"
import { directRoutes, partnerRoutes } from "../../src/http/features.ts"
import { rateLimits } from "../../src/machines/shared/Limits.ts"
import { openScenario } from "../support/Scenario.ts"
import { perp, perpVenue } from "../support/perpVenue.ts"

const { service, key } = await openScenario({ layerVenue: perpVenue().layerVenue })

/** The names of an answer's members at every depth; the values change between two reads. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== "object" || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]))
}

describe("market data of the direct API", () => {
  it.each(directRoutes.routes.filter(({ isPublic }) => isPublic).map(({ path, query }) => [path, query] as const))(
    "%s answers as the partner's route, without a credential and with any",
    async (path, query) => {
      const twin = partnerRoutes.routes.find((route) => route.path === path.replace("/v1", "/partner/v1"))
      const search = query.some(({ name }) => name === "symbol") ? `?symbol=${perp}` : ""
      const ofPartner = await service.call("GET", `${twin?.path}${search}`, { key })
      const answers = [
        await service.call("GET", `${path}${search}`),
        await service.call("GET", `${path}${search}`, { headers: { authorization: "Bearer bak_unknown" } }),
        await service.call("GET", `${path}${search}`, { key })
      ]
      for (const { status, json, headers } of answers) {
        assert.deepStrictEqual([status, shapeOf(json)], [ofPartner.status, shapeOf(ofPartner.json)])
        assert.strictEqual(headers["ratelimit-limit"], String(rateLimits.publicPerMinute))
      }
    }
  )

  it("refuses bad parameters and unknown markets as the partner's route does", async () => {
    for (const search of ["", "?symbol=NONE", `?symbol=${perp}&symbol=${perp}`]) {
      const [direct, partner] = [
        await service.call("GET", `/v1/ticker${search}`),
        await service.call("GET", `/partner/v1/ticker${search}`, { key })
      ]
      assert.deepStrictEqual([direct.status, direct.text], [partner.status, partner.text])
    }
  })

  it.each([
    ["GET", "/v1/nothing"],
    ["GET", "/v1"],
    ["POST", "/v1/ticker"],
    ["GET", "/v1/market-trades"],
    ["GET", "/v1/Ticker"],
    ["GET", "/v1/openapi.json/x"]
  ])("4010: %s %s without a credential is 401, whether the path exists or not", async (method, path) => {
    const { status, json, headers } = await service.call(method, path)
    assert.deepStrictEqual([status, json.code, json.msg], [401, 4010, "A valid session or API key is required."])
    assert.isUndefined(headers["ratelimit-limit"])
  })

  it("4290: the reads of one address are limited, whatever credential they send; partners are not concerned", async () => {
    const read = () => service.call("GET", "/v1/trading-status", { headers: { authorization: "Bearer bst_x" } })
    let last = await read()
    for (let n = 0; last.status === 200 && n < rateLimits.publicPerMinute; n += 50)
      last = (await Promise.all(Array.from({ length: 50 }, read))).at(-1) ?? last
    assert.deepStrictEqual([last.status, last.json.code, last.headers["ratelimit-remaining"]], [429, 4290, "0"])
    assert.isAtLeast(Number(last.headers["retry-after"]), 1)
    assert.strictEqual((await service.call("GET", "/partner/v1/trading-status", { key })).status, 200)
  })
})
