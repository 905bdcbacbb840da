/**
 * The published description: which routes and answers it documents, that its schemas are sound, and that what the
 * server answers fits them (doc 1, What the service does and Endpoints; architecture 11).
 */
import { assert, afterAll, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import Ajv2020 from "ajv/dist/2020.js"
import { openApiDocument, openApiText } from "../../src/http/api/openApiDocument.ts"
import { wireErrors } from "../../src/http/api/WireErrors.ts"
import { partnerRoutes } from "../../src/http/features.ts"
import { report } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const spec = openApiDocument()
const partner = "/partner/v1"
const common = [401, 403, 404, 408, 413, 429, 500, 503]

/** Operation, method, path, and what it documents besides the answers every partner route has. */
const routes: ReadonlyArray<
  readonly [id: string, method: "get" | "post" | "put" | "delete", path: string, own: ReadonlyArray<number>]
> = [
  ["profile.me", "get", `${partner}/me`, [200]],
  ["profile.summary", "get", `${partner}/summary`, [200]],
  ["clients.list", "get", `${partner}/clients`, [200, 400]],
  ["clients.getByRef", "get", `${partner}/clients/by-ref/{partnerClientRef}`, [200]],
  ["clients.get", "get", `${partner}/clients/{clientId}`, [200]],
  ["clients.create", "post", `${partner}/clients`, [201, 400, 409]],
  ["kyc.update", "put", `${partner}/clients/{clientId}/kyc`, [200, 400, 409]],
  ["kyc.get", "get", `${partner}/clients/{clientId}/kyc`, [200]],
  ["verification.get", "get", `${partner}/clients/{clientId}/verification`, [200]],
  ["documents.upload", "post", `${partner}/clients/{clientId}/documents`, [201, 400, 409]],
  ["documents.list", "get", `${partner}/clients/{clientId}/documents`, [200]],
  ["appropriateness.questionnaire", "get", `${partner}/appropriateness-test`, [200]],
  ["appropriateness.submit", "post", `${partner}/clients/{clientId}/appropriateness`, [200, 400, 409]],
  ["appropriateness.acknowledge", "post", `${partner}/clients/{clientId}/appropriateness/acknowledge`, [200, 400, 409]],
  ["appropriateness.mifid", "put", `${partner}/clients/{clientId}/mifid`, [200, 400, 409]],
  ["deposits.file", "post", `${partner}/clients/{clientId}/deposits`, [200, 201, 400, 409]],
  ["deposits.listOfClient", "get", `${partner}/clients/{clientId}/deposits`, [200, 400]],
  ["deposits.list", "get", `${partner}/deposits`, [200, 400]],
  ["withdrawals.request", "post", `${partner}/clients/{clientId}/withdrawals`, [200, 201, 400, 409]],
  ["withdrawals.cancel", "post", `${partner}/clients/{clientId}/withdrawals/{rid}/cancel`, [200, 400, 409]],
  ["withdrawals.listOfClient", "get", `${partner}/clients/{clientId}/withdrawals`, [200, 400]],
  ["withdrawals.list", "get", `${partner}/withdrawals`, [200, 400]],
  ["collateral.report", "post", `${partner}/clients/{clientId}/collateral`, [200, 201, 400, 409]],
  ["collateral.listOfClient", "get", `${partner}/clients/{clientId}/collateral`, [200, 400]],
  ["explain.collateral", "post", `${partner}/clients/{clientId}/collateral/explain`, [200, 400, 409]],
  ["explain.deposit", "post", `${partner}/clients/{clientId}/deposits/explain`, [200, 400, 409]],
  ["explain.withdrawal", "post", `${partner}/clients/{clientId}/withdrawals/explain`, [200, 400, 409]],
  ["collateral.list", "get", `${partner}/collateral`, [200, 400]],
  ["settlement.listItems", "get", `${partner}/settlement/items`, [200, 400]],
  ["settlement.reportItems", "post", `${partner}/settlement/report`, [200, 400, 409]],
  ["settlement.report", "get", `${partner}/settlement`, [200, 400]],
  ["settlement.summary", "get", `${partner}/settlement/summary`, [200, 400]],
  ["settlement.interfirm", "get", `${partner}/settlement/interfirm`, [200, 400]],
  ["settlement.reportItem", "post", `${partner}/settlement/items/{itemId}/report`, [200, 400, 409]],
  ["account.balances", "get", `${partner}/clients/{clientId}/balances`, [200, 400]],
  ["account.summary", "get", `${partner}/clients/{clientId}/account/summary`, [200]],
  ["account.ledger", "get", `${partner}/clients/{clientId}/ledger`, [200, 400]],
  ["webhook.register", "put", `${partner}/webhook`, [200, 400]],
  ["webhook.get", "get", `${partner}/webhook`, [200]],
  ["webhook.remove", "delete", `${partner}/webhook`, [200, 400]],
  ["webhook.test", "post", `${partner}/webhook/test`, [200, 400, 409]],
  ["webhook.deliveries", "get", `${partner}/webhook/deliveries`, [200, 400]]
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
    assert.deepStrictEqual(
      partnerRoutes.routes
        .map(({ operation, method, path }) => [operation, method.toLowerCase(), path.replace(/:(\w+)/g, "{$1}")])
        .sort(),
      routes.map(([id, method, path]) => [id, method, path]).sort()
    )
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
      for (const status of [...own, ...common]) validatorOf(path, method, status)
      const names = operation?.parameters.map(({ name }) => name) ?? []
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) assert.include(names, name)
      assert.strictEqual(
        names.includes("idempotency-key"),
        (method === "post" && !id.startsWith("explain.")) || id === "appropriateness.mifid" || id === "kyc.update"
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

  it("doc 1, below kyc.declarationsMica: document references are described where they may be sent, and there alone", () => {
    const described = (method: "post" | "put", path: string) => JSON.stringify(spec.paths[path]?.[method]?.requestBody)
    for (const name of ["utility_bill_document_id", "w9_document_id", "document_ids"]) {
      assert.notInclude(described("post", `${partner}/clients`), name)
      assert.include(described("put", `${partner}/clients/{clientId}/kyc`), name)
    }
  })

  it("A3-21: a bulk report is described as it is judged: by its size, each entry for itself", () => {
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

  it("docs/openapi.json is what the contract says (run scripts/generateOpenApi.ts)", () => {
    assert.strictEqual(readFileSync(join(import.meta.dirname, "../../docs/openapi.json"), "utf8"), openApiText())
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
      .replace("{partnerClientRef}", encodeURIComponent("ref 1/ä"))

  for (const [id, method, path] of routes) {
    it(`${id}: success and refusals`, async () => {
      const check = (answer: { readonly status: number; readonly json: unknown }) => {
        const validate = validatorOf(path, method, answer.status)
        assert.isTrue(validate(answer.json), JSON.stringify(validate.errors))
      }
      const body = method === "post" || method === "put" ? { body: {} } : {}
      const call = (target: string, key?: string | null) =>
        server.call(method.toUpperCase(), target, { ...body, ...(key === undefined ? {} : { key }) })
      const success = await call(concrete(path))
      assert.isBelow(success.status, 300)
      check(success)
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
