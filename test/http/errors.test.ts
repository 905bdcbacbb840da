/**
 * The error table: every refusal has a row in the published registry, and every answer the envelope (doc 1, Errors and
 * Envelope; A1-03).
 */
import { assert, afterAll, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { wireErrors } from "../../src/http/api/WireErrors.ts"
import { invalidWhole } from "../../src/machines/shared/RequestBody.ts"
import {
  defect,
  gateRefusals,
  invalid,
  refusalText,
  toWire,
  type WireRefusal
} from "../../src/machines/shared/wireRefusal.ts"
import {
  checkFields,
  conflict,
  invalidFields,
  refuse,
  type Refusal,
  unknown
} from "../../src/machines/shared/Refusal.ts"
import { Unavailable } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import type { Answer } from "./callServer.ts"
import { clientId } from "./canned.ts"
import { type Running, startStubServer, Stub } from "./stubServer.ts"

const collateral = `/partner/v1/clients/${clientId}/collateral`

const after = {
  initialMarginAfter: "1200.000000",
  maintenanceMarginAfter: "600.000000",
  freeMarginAfter: "-200.000000",
  marginLevelAfter: "83.33",
  riskStateAfter: "MARGIN_CALL"
}

const table: ReadonlyArray<readonly [refusal: Refusal, status: number, code: number, data: unknown]> = [
  [invalidFields({ email: "Bad." }), 400, 4000, { reason: "INVALID_FIELDS", errors: { email: "Bad." } }],
  [invalidWhole("ORDER_ENDED", "Bad."), 400, 4000, { reason: "ORDER_ENDED" }],
  [
    { _tag: "Invalid", reason: "CLOSE_REQUEST_OPEN", sentence: "Open already.", errors: null, data: { rfqId: 5 } },
    400,
    4000,
    { reason: "CLOSE_REQUEST_OPEN", rfqId: 5 }
  ],
  [{ _tag: "TooLarge", sentence: "Too large." }, 413, 4000, { reason: "BODY_TOO_LARGE" }],
  [unknown("Client"), 404, 4004, { reason: "UNKNOWN_CLIENT" }],
  [
    {
      _tag: "Unverified",
      action: "DEPOSIT:CRYPTO",
      level: "NONE",
      requiredLevel: "MICA",
      missingBlocks: ["SOURCE_OF_WEALTH"]
    },
    403,
    4030,
    { action: "DEPOSIT:CRYPTO", level: "NONE", requiredLevel: "MICA", missingBlocks: ["SOURCE_OF_WEALTH"] }
  ],
  [{ _tag: "RelianceNotApproved" }, 403, 4036, { error: "RELIANCE_NOT_APPROVED" }],
  [{ _tag: "EmailTaken" }, 409, 4090, { reason: "EMAIL_IN_USE" }],
  [{ _tag: "MarginBreach", after }, 409, 4090, { reason: "WOULD_BREACH_MARGIN", wouldBreach: true, ...after }],
  [{ _tag: "LeverageMismatch", sent: 5, stored: 10 }, 409, 4091, { leverageSent: 5, leverageStored: 10 }],
  [{ _tag: "RetakeTooEarly", retakeAt: 7 }, 429, 4290, { reason: "RETAKE_TOO_EARLY", retakeAt: 7 }],
  [conflict("REONBOARD", "Taken.", { clientId: 1 }), 409, 4092, { reason: "REONBOARD", clientId: 1 }]
]

const listed = ({ status, code }: { readonly status: number; readonly code: number }) =>
  wireErrors.some((row) => row.status === status && row.code === code)

describe("doc 1, Errors: the registry", () => {
  for (const [refusal, status, code, data] of table) {
    it(`doc 1, Errors: ${refusal._tag} is ${status} ${code}`, () => {
      const wire = toWire(refusal)
      assert.deepStrictEqual([wire.status, wire.code, wire.data], [status, code, data as never])
      assert.isTrue(listed(wire))
    })
  }

  for (const [name, wire] of Object.entries<WireRefusal>({
    ...gateRefusals,
    invalid: invalid("INVALID_HTTP", "Bad."),
    defect: defect("x")
  })) {
    it(`doc 1, Errors: gate refusal ${name} is in the registry and speaks in sentences`, () => {
      assert.isTrue(listed(wire))
      assert.match(wire.msg, /^[A-Z].*\.$/)
    })
  }

  it("doc 1, Envelope: msg and error are the same sentence; data is present only if there is some", () => {
    assert.strictEqual(
      refusalText(gateRefusals.scope),
      '{"code":4034,"msg":"This partner key cannot use this endpoint.","error":"This partner key cannot use this endpoint."}'
    )
    assert.strictEqual(
      refusalText(invalid("INVALID_HTTP", "Bad.")),
      '{"code":4000,"msg":"Bad.","error":"Bad.","data":{"reason":"INVALID_HTTP"}}'
    )
    assert.strictEqual(
      refusalText(gateRefusals.suspended),
      '{"code":4037,"msg":"This partner is suspended.","error":"This partner is suspended.","data":{"error":"PARTNER_SUSPENDED"}}'
    )
  })
})

describe("A1-03: the envelope on every route", () => {
  let server: Running
  beforeAll(async () => {
    server = await startStubServer()
  })
  afterAll(() => server.close())
  beforeEach(() => {
    const { partner, onboard, collateral, client, failReads } = new Stub()
    Object.assign(server.stub, { partner, onboard, collateral, client, failReads, healthy: true })
  })

  const isEnvelope = (answer: Answer, status: number, code: number) => {
    assert.strictEqual(answer.status, status)
    assert.strictEqual(answer.headers["content-type"], "application/json")
    assert.match(String(answer.headers["x-request-id"]), /^[0-9a-f-]{36}$/)
    const body = answer.json as { readonly code: number; readonly msg: string; readonly error: string }
    assert.strictEqual(body.code, code)
    assert.strictEqual(body.msg, body.error)
    assert.isTrue(listed({ status, code }))
  }

  it("A1-03: bare routes answer refusals in the envelope", async () => {
    isEnvelope(await server.call("GET", "/partner/v1/clients/7/balances"), 404, 4004)
    isEnvelope(await server.call("GET", "/partner/v1/clients/41/balances?at=x"), 400, 4000)
  })

  it("doc 1, Rules of POST /clients: field errors are a map of dotted paths", async () => {
    const errors = { "kyc.personalInfo.citizenships.1": "The country is listed twice." }
    server.stub.onboard = () => Effect.succeed(refuse(invalidFields(errors)))
    const answer = await server.call("POST", "/partner/v1/clients", { body: {} })
    isEnvelope(answer, 400, 4000)
    assert.deepInclude(answer.json, { msg: checkFields, data: { reason: "INVALID_FIELDS", errors } })
  })

  it("doc 3, Collateral report rules: a refused report carries its report", async () => {
    const data = { reportId: 5, status: "REFUSED", refusal: "No.", report: { reportId: 5 } }
    server.stub.collateral = () => Effect.succeed(refuse(conflict("MARGIN_SHORT", "No.", data)))
    const answer = await server.call("POST", collateral, { body: {} })
    isEnvelope(answer, 409, 4092)
    assert.deepInclude(answer.json, { msg: "No.", data: { reason: "MARGIN_SHORT", ...data } })
  })

  it("doc 1, Errors 5030: database away is 503 5030 with Retry-After on reads and writes", async () => {
    server.stub.failReads = Effect.fail(new Unavailable({ unknown: false })) as never
    for (const path of ["/partner/v1/summary", "/partner/v1/clients", "/partner/v1/clients/41/balances"]) {
      const answer = await server.call("GET", path)
      isEnvelope(answer, 503, 5030)
      assert.strictEqual(answer.headers["retry-after"], "1")
    }
    isEnvelope(await server.call("POST", collateral, { body: {} }), 503, 5030)
  })

  it("architecture 5: a defect answers its id and nothing else", async () => {
    server.stub.failReads = Effect.die(new Error("secret detail"))
    const answer = await server.call("GET", "/partner/v1/summary")
    isEnvelope(answer, 500, 5000)
    assert.notInclude(answer.text, "secret")
    assert.match((answer.json as { data: { id: string } }).data.id, /^[0-9a-f-]{36}$/)
    server.stub.client = () => {
      throw new Error("secret detail")
    }
    server.stub.failReads = null
    isEnvelope(await server.call("GET", "/partner/v1/clients/41"), 500, 5000)
  })

  it("A1-01: outside the partner prefix unknown paths and verbs are answered the same way, without a key", async () => {
    for (const path of ["/nowhere", "/partner", "/partner/v2/me", "/partner/v10", "/DOCS", "/docs/", "//docs"]) {
      isEnvelope(await server.call("GET", path, { key: null }), 404, 4004)
    }
    isEnvelope(await server.call("POST", "/healthz", { key: null, body: {} }), 404, 4004)
    isEnvelope(await server.call("DELETE", "/openapi.json", { key: null }), 404, 4004)
    isEnvelope(await server.call("PATCH", "/docs", { key: null }), 404, 4004)
  })

  it("A1-55: healthz is 503 5030 while the database is away", async () => {
    server.stub.healthy = false
    isEnvelope(await server.call("GET", "/healthz", { key: null }), 503, 5030)
  })
})
