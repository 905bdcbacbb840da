/**
 * The published description: its routes and answers, the soundness of its schemas, and answers of the server that fit
 * them (doc 1, Endpoints; architecture 11).
 */
import { assert, afterAll, beforeAll, describe, it } from "@effect/vitest"
import { SchemaAST } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import Ajv2020 from "ajv/dist/2020.js"
import { directDocument, openApiDocument, openApiText } from "../../src/http/openApiDocument.ts"
import { wireErrors } from "../../src/http/api/WireErrors.ts"
import { directRoutes, partnerFeatures, partnerRoutes } from "../../src/http/features.ts"
import type { QueryParameter } from "../../src/http/middleware/queries.ts"
import { report } from "./canned.ts"
import { samplesOf } from "./standIn.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const spec = openApiDocument()
const partner = "/partner/v1"
const common = [401, 403, 404, 408, 413, 429, 500, 503]

type Responses = Readonly<Record<string, { readonly headers?: object }>>
type Method = "get" | "post" | "put" | "delete"

/** Writes without a possible conflict (doc 3, Webhook). */
const withoutConflict: ReadonlyArray<string> = ["webhook.register", "webhook.remove"]

/** Routes whose answer is no JSON of their contract: a file, or an object that is streamed as stored. */
const sent: ReadonlyArray<string> = partnerRoutes.routes
  .filter(({ form }) => form.kind !== "json")
  .map(({ operation }) => operation)
const files: ReadonlyArray<string> = ["statements.pdf", "statements.csv"]

/** Operation, method, path, and the documented answers in addition to those of every partner route. */
const routes = partnerRoutes.routes.map(
  ({
    operation,
    method,
    path,
    form,
    query
  }): readonly [
    id: string,
    method: Method,
    path: string,
    own: ReadonlyArray<number>,
    query: ReadonlyArray<QueryParameter>
  ] => {
    const refusals = method === "GET" ? (query.length > 0 ? [400] : []) : [400, 409]
    const asking =
      /^(market|staking)\.|^margin\.leverage$/.test(operation) ||
      (method !== "GET" && /^(rfq|barriers|orders|swaps|margin)\./.test(operation))
    const venue = asking ? [502] : []
    const unchanged = files.includes(operation) ? [304] : []
    const own = [...form.statuses, ...unchanged, ...refusals, ...venue].filter(
      (status) => status !== 409 || !withoutConflict.includes(operation)
    )
    return [operation, method.toLowerCase() as Method, path.replace(/:(\w+)/g, "{$1}"), own, query]
  }
)

/** Writes of the tables without the (K) mark. */
const keyless: ReadonlyArray<string> = [
  "rfq.preview",
  "rfq.explain",
  "rfq.cancel",
  "orders.explain",
  "swaps.explain",
  "margin.preview"
]

const pointer = (...parts: ReadonlyArray<string>) =>
  `#/${parts.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`

const ajv = new Ajv2020.default({ strict: false, allErrors: true })
ajv.addSchema(spec as object, "api")
const validatorOf = (path: string, method: string, status: number) => {
  const found = ajv.getSchema(
    `api${pointer("paths", path, method, "responses", String(status), "content", "application/json", "schema")}`
  )
  if (found === undefined) throw new Error(`no schema for ${status} of ${method} ${path}`)
  return found
}

describe("doc 1, Versioning: the OpenAPI document", () => {
  it("doc 1, Versioning: OpenAPI 3.1, description version 2.4.1, exactly these partner routes", () => {
    assert.match(spec.openapi, /^3\.1\./)
    assert.strictEqual(spec.info.version, "2.4.1")
    const described = Object.entries(spec.paths).flatMap(([path, operations]) =>
      path.startsWith(`${partner}/`) ? Object.keys(operations).map((method) => [method, path]) : []
    )
    assert.deepStrictEqual(described.sort(), routes.map(([, method, path]) => [method, path]).sort())
  })

  for (const [id, method, path, own] of routes) {
    it(`${id}: documents its answers, its key and a sound schema for each`, () => {
      const operation = spec.paths[path]?.[method]
      assert.strictEqual(operation?.operationId, id)
      assert.deepStrictEqual(
        Object.keys(operation?.responses ?? {})
          .map(Number)
          .sort(),
        [...own, ...common].sort()
      )
      assert.deepStrictEqual(operation?.security, [{ bearer: [] }, { partnerKey: [] }])
      for (const status of [...own, ...common]) {
        if (!files.includes(id) || status >= 400) validatorOf(path, method, status)
      }
      const names = operation?.parameters.map(({ name }) => name) ?? []
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) assert.include(names, name)
      assert.strictEqual(
        names.includes("idempotency-key"),
        (method === "post" && !id.startsWith("explain.") && !keyless.includes(id)) ||
          id === "appropriateness.mifid" ||
          id === "kyc.update" ||
          id === "margin.chooseLeverage"
      )
    })
  }

  it("doc 1, Errors: every code of the registry is documented under its status", () => {
    for (const { code, status } of wireErrors) {
      const described = routes.some(([, method, path]) => {
        const responses = spec.paths[path]?.[method]?.responses as
          | Record<string, { readonly description: string }>
          | undefined
        return responses?.[status]?.description.includes(`${code}:`) === true
      })
      assert.isTrue(described, `${status} ${code}`)
    }
  })

  it("doc 1, Onboarding request: the body's rules are in the description", () => {
    const validate = ajv.getSchema(
      `api${pointer("paths", `${partner}/clients`, "post", "requestBody", "content", "application/json", "schema")}`
    )
    assert.isFalse(validate?.({ partnerClientRef: "x" }))
    assert.includeMembers(
      (validate?.errors ?? []).map((error) => (error.params as { missingProperty?: string }).missingProperty),
      ["email", "kyc", "identityCheck", "attestation"]
    )
  })

  const bodyOf = (method: string, path: string) => {
    const schema = ["paths", path, method, "requestBody", "content", "application/json", "schema"]
    const validate = ajv.getSchema(`api${pointer(...schema)}`)
    if (validate === undefined) throw new Error(`no body for ${method} ${path}`)
    return validate
  }

  it("doc 1, below kyc.declarationsMica: document references are described where they may be sent, and only there", () => {
    const described = (method: "post" | "put", path: string) => JSON.stringify(spec.paths[path]?.[method]?.requestBody)
    for (const name of ["utility_bill_document_id", "w9_document_id", "document_ids"]) {
      assert.notInclude(described("post", `${partner}/clients`), name)
      assert.include(described("put", `${partner}/clients/{clientId}/kyc`), name)
    }
  })

  it("A3-21: a bulk report is described by its rules: by its size, each entry on its own", () => {
    const fits = bodyOf("post", `${partner}/settlement/report`)
    const good = { itemId: 1, status: "FAILED" }
    for (const entry of [good, {}, { ...good, status: "PENDING" }, { ...good, itemId: "1" }, null, 7, "x", []]) {
      assert.isTrue(fits({ items: [good, entry] }), JSON.stringify(entry))
    }
    for (const items of [[], Array.from({ length: 501 }, () => good), "x", undefined]) assert.isFalse(fits({ items }))
  })

  it("A1-01: a field that need not be sent may be null, one that must be may not", () => {
    const fits = bodyOf("post", `${partner}/clients/{clientId}/collateral`)
    const report = { partnerRef: "r", direction: "DEPOSIT", amount: "1" }
    for (const name of ["sourceAsset", "txRef", "occurredAt", "currency"]) {
      assert.isTrue(fits({ ...report, [name]: null }), name)
    }
    for (const name of Object.keys(report)) assert.isFalse(fits({ ...report, [name]: null }), name)
  })

  it("doc 3, Collateral report: the source asset of a report is a text, never null", () => {
    const schema = ajv.getSchema(`api${pointer("components", "schemas", "CollateralReport")}`)
    assert.isTrue(schema?.(report))
    assert.isFalse(schema?.({ ...report, sourceAsset: null }))
  })

  it("A1-01: a numeric path or query parameter is an integer with its bounds, and none is a text that looks like one", () => {
    let integers = 0
    for (const [id, method, path] of routes) {
      for (const { name, in: place, schema } of spec.paths[path]?.[method]?.parameters ?? []) {
        if (place !== "path" && place !== "query") continue
        const described = schema as Readonly<Record<string, unknown>>
        assert.notMatch(JSON.stringify(described), /\[Ee\]/, `${id} ${name}`)
        if (described["type"] !== "integer") continue
        integers++
        assert.isNumber(described["minimum"] ?? described["exclusiveMinimum"], `${id} ${name}`)
        assert.isNumber(described["maximum"], `${id} ${name}`)
        if (name === "limit") assert.isNumber(described["default"], `${id} ${name}`)
      }
    }
    assert.isAbove(integers, 40)
  })

  it("every needed path parameter and header has an example that its schema accepts; each operation has its own example keys", () => {
    const shown = Object.values(spec.paths).flatMap((item) =>
      (["get", "post", "put", "delete"] as const).flatMap((method) => item[method]?.parameters ?? [])
    ) as ReadonlyArray<{ in: string; name: string; schema: object; example?: unknown }>
    const needed = shown.filter((each) => each.in !== "query")
    for (const { name, schema, example } of needed)
      assert.isTrue(example !== undefined && ajv.validate(schema, example), name)
    const keys = needed.flatMap(({ name, example }) => (name === "idempotency-key" ? [example] : []))
    assert.isAbove(keys.length, 10)
    assert.lengthOf(new Set(keys), keys.length)
  })

  it("EVT-10: only answers of lists with a cursor have the header for it", () => {
    const linked = routes.filter(([, method, path]) => {
      const responses = spec.paths[path]?.[method]?.responses as Responses | undefined
      const headers = responses?.["200"]?.headers
      return headers !== undefined && "Link" in headers
    })
    assert.deepStrictEqual(
      linked.map(([id]) => id),
      ["account.notifications", "statements.list"]
    )
  })

  it("STS-32: a statement is described as its object, its files by their media types and headers", () => {
    const path = `${partner}/clients/{clientId}/statements/{sid}`
    const detail = validatorOf(path, "get", 200)
    assert.isFalse(detail({ statementId: 1 }))
    for (const [form, type] of [
      ["pdf", "application/pdf"],
      ["csv", "text/csv; charset=utf-8; header=present"]
    ]) {
      const responses = spec.paths[`${path}/${form}`]?.get?.responses as Readonly<
        Record<string, { readonly content?: object; readonly headers: object }>
      >
      assert.deepStrictEqual(Object.keys(responses["200"]?.content ?? {}), [type])
      assert.containsAllKeys(responses["200"]?.headers, ["ETag", "Content-Disposition", "Cache-Control"])
      assert.isUndefined(responses["304"]?.content)
    }
  })

  it.each([
    ["openapi.json", openApiDocument],
    ["openapi-direct.json", directDocument]
  ])("docs/%s equals the contract (run scripts/generateOpenApi.ts)", (file, document) => {
    assert.strictEqual(readFileSync(join(import.meta.dirname, "../../docs", file), "utf8"), openApiText(document()))
  })

  it("each route of the direct API shows its access, its limit's headers and recorded examples", () => {
    const direct = directDocument()
    const operations = Object.values(direct.paths).flatMap(({ get }) => (get === undefined ? [] : [get]))
    assert.lengthOf(operations, directRoutes.routes.length)
    for (const { operationId, responses, ...operation } of operations) {
      assert.propertyVal(operation, "x-access", "Public", operationId)
      const found = responses as unknown as Responses
      assert.containsAllKeys(found["200"]?.headers, ["RateLimit-Limit", "X-Request-Id"], operationId)
      assert.containsAllKeys(found, ["200", "429", "503"], operationId)
    }
    const text = JSON.stringify(direct.paths)
    for (const name of Object.keys(direct.components["examples" as never] as object)) assert.include(text, `/${name}"`)
  })
})

describe("architecture 11: answers fit the published description", () => {
  let server: Running
  beforeAll(async () => {
    server = await startStubServer()
  })
  afterAll(() => server.close())

  const concrete = (path: string) =>
    path
      .replace("{clientId}", "41")
      .replace("{itemId}", "6")
      .replace("{rid}", "41")
      .replace("{rfqId}", "501")
      .replace("{contractId}", "77")
      .replace("{orderId}", "12044")
      .replace("{sid}", "4711")
      .replace("{partnerClientRef}", encodeURIComponent("ref 1/ä"))

  it("every answer that a success schema allows fits its published form", () => {
    for (const { api } of partnerFeatures) {
      for (const endpoint of Object.values(api.endpoints).filter(HttpApiEndpoint.isHttpApiEndpoint)) {
        const operation = `${api.identifier}.${endpoint.identifier}`
        if (sent.includes(operation)) continue
        const [, method = "get", path = ""] = routes.find(([id]) => id === operation) ?? []
        for (const schema of endpoint.success) {
          const validate = validatorOf(path, method, SchemaAST.resolveAt<number>("httpApiStatus")(schema.ast) ?? 200)
          for (const sample of samplesOf(schema, operation, 25)) {
            assert.isTrue(
              validate(JSON.parse(JSON.stringify(sample))),
              `${operation}: ${JSON.stringify(validate.errors)}`
            )
          }
        }
      }
    }
  })

  for (const [id, method, path, , query] of routes) {
    it(`${id}: success and refusals`, async () => {
      const check = (answer: { readonly status: number; readonly json: unknown }) => {
        const validate = validatorOf(path, method, answer.status)
        assert.isTrue(validate(answer.json), JSON.stringify(validate.errors))
      }
      const body = method === "post" || method === "put" ? { body: {} } : {}
      const call = (target: string, key?: string | null) =>
        server.call(method.toUpperCase(), target, { ...body, ...(key === undefined ? {} : { key }) })
      const wanted = query
        .filter((parameter) => parameter.wanted !== undefined)
        .map(({ name }) => `${name}=BTC-USDC-PERP`)
      const success = await call(`${concrete(path)}?${wanted.join("&")}`)
      assert.isBelow(success.status, 300)
      if (!sent.includes(id)) check(success)
      const unauthorized = await call(concrete(path), null)
      assert.strictEqual(unauthorized.status, 401)
      check(unauthorized)
      if (path.includes("{clientId}")) {
        const foreign = await call(path.replace("{clientId}", "42"))
        assert.strictEqual(foreign.status, 404)
        check(foreign)
      }
    })
  }
})
