/**
 * Every documented answer of the partner surface has an example, and every example is an answer: it fits the schema of each place
 * where it stands, has a code that the registry gives to that status, and says what the service says (doc 1, Errors; doc 2,
 * Orders, margin, leverage, positions).
 */
import { assert, describe, it } from "@effect/vitest"
import Ajv2020 from "ajv/dist/2020.js"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { refusalExamples } from "../../src/http/api/refusalExamples.ts"
import { wireErrors } from "../../src/http/api/WireErrors.ts"
import { partnerRoutes } from "../../src/http/features.ts"
import { refusingOrder } from "../../src/http/orderRefusals.ts"
import { gateRefusals, invalid, refusalText, toWire, type WireRefusal } from "../../src/http/toWire.ts"
import { capSentence } from "../../src/machines/order/LeverageBody.ts"
import { orderUnanswered } from "../../src/machines/order/orderAnswers.ts"
import { preTradeSentences } from "../../src/machines/order/preTrade.ts"
import { checkFields, conflict, notOffered, unknown, venueAway } from "../../src/machines/shared/Refusal.ts"

const spec = openApiDocument()
const ajv = new Ajv2020.default({ strict: false, allErrors: true })
ajv.addSchema(spec as object, "api")

type Body = { readonly schema?: object; readonly examples?: Readonly<Record<string, { readonly $ref: string }>> }
interface Documented {
  readonly operation: string
  readonly status: number
  readonly body: Body
  readonly validate: (value: unknown) => boolean
}

const part = (text: string) => encodeURIComponent(text.replaceAll("~", "~0").replaceAll("/", "~1"))

const documented: ReadonlyArray<Documented> = partnerRoutes.routes.flatMap(({ operation, method, path: form }) => {
  const path = form.replace(/:(\w+)/g, "{$1}")
  const verb = method.toLowerCase() as "get"
  const responses = (spec.paths[path]?.[verb]?.responses ?? {}) as Record<
    string,
    { readonly content?: Readonly<Record<string, Body>> }
  >
  return Object.entries(responses).flatMap(([status, { content }]) => {
    const body = content?.["application/json"]
    if (body === undefined) return []
    const at = ["paths", path, verb, "responses", status, "content", "application/json", "schema"].map(part).join("/")
    const validate = ajv.getSchema(`api#/${at}`)
    if (validate === undefined) throw new Error(`no schema of ${operation} ${status}`)
    return [{ operation, status: Number(status), body, validate: (value: unknown) => validate(value) === true }]
  })
})

const refusals = documented.filter(({ status }) => status >= 400)
const named = (name: string) => refusalExamples[name as keyof typeof refusalExamples]
const namesOf = ({ body }: Documented) =>
  Object.values(body.examples ?? {}).map(({ $ref }) => $ref.replace("#/components/examples/", ""))

describe("doc 1, Errors: the examples of refusals", () => {
  it("every documented refusal of every route has one", () => {
    assert.isAbove(refusals.length, 500)
    assert.deepStrictEqual(
      refusals.filter((each) => namesOf(each).length === 0).map(({ operation, status }) => `${operation} ${status}`),
      []
    )
  })

  it("each fits what is published of the answer that it is of, and has a code of its status", () => {
    for (const each of refusals) {
      for (const name of namesOf(each)) {
        const { value } = named(name)
        const where = `${name} of ${each.operation} ${each.status}`
        assert.isTrue(each.validate(value), where)
        assert.isTrue(
          wireErrors.some(({ code, status }) => code === value.code && status === each.status),
          where
        )
      }
    }
  })

  it("each stands somewhere, and every row of the registry has one", () => {
    const standing = refusals.flatMap((each) => namesOf(each).map((name) => ({ name, status: each.status })))
    assert.sameMembers([...new Set(standing.map(({ name }) => name))], Object.keys(refusalExamples))
    for (const { code, status } of wireErrors) {
      const shown = standing.some(({ name, status: at }) => at === status && named(name).value.code === code)
      assert.isTrue(shown, `${status} ${code}`)
    }
  })

  it("doc 2: the routes of trading show every code that they can answer", () => {
    const codes = (operation: string) => [
      ...new Set(
        refusals
          .filter((each) => each.operation === operation)
          .flatMap((each) => namesOf(each).map((name) => named(name).value.code))
      )
    ]
    const always = [4000, 4004, 4010, 4034, 4037, 4130, 4290, 5000, 5030]
    assert.sameMembers(codes("orders.place"), [...always, 4030, 4091, 4092, 5020])
    assert.sameMembers(codes("orders.cancel"), [...always, 4092, 5020])
    assert.sameMembers(codes("margin.preview"), [...always, 4030, 4092, 5020])
    for (const operation of ["margin.chooseLeverage", "margin.postLeverage"]) {
      assert.sameMembers(codes(operation), [...always, 4090, 4092, 5020])
    }
    for (const operation of ["orders.list", "orders.open", "positions.list", "positions.trades", "positions.history"]) {
      assert.sameMembers(codes(operation), always)
    }
  })
})

describe("the examples of refusals are what the service says", () => {
  const closed = conflict("The account is closed.")
  const placed = { orderId: 12_044, clOrdId: "O-12044" }
  const after = {
    initialMarginAfter: "6000.000000",
    maintenanceMarginAfter: "3000.000000",
    freeMarginAfter: "-1000.000000",
    marginLevelAfter: "83.33",
    riskStateAfter: "MARGIN_CALL"
  }
  const said: ReadonlyArray<readonly [keyof typeof refusalExamples, WireRefusal]> = [
    ["tooSlow", gateRefusals.tooSlow],
    ["routeCap", gateRefusals.routeCap],
    ["edgeCap", gateRefusals.edgeCap],
    ["unknownRoute", gateRefusals.route],
    ["unknownClient", gateRefusals.unknownClient],
    ["unknownOrder", toWire(unknown("Order"))],
    ["notOffered", toWire(notOffered)],
    ["unauthorized", gateRefusals.unauthorized],
    ["scope", gateRefusals.scope],
    ["reliance", gateRefusals.reliance],
    ["suspended", gateRefusals.suspended],
    ["emailTaken", toWire({ _tag: "EmailTaken" })],
    ["marginBreach", toWire({ _tag: "MarginBreach", after })],
    ["leverageMismatch", toWire({ _tag: "LeverageMismatch", sent: 10, stored: 5 })],
    ["accountClosed", toWire(closed)],
    ["keyReused", gateRefusals.keyReused],
    ["inProgress", gateRefusals.inProgress],
    ["rateLimited", gateRefusals.rateLimited],
    ["venueAway", toWire(venueAway)],
    ["orderInFlight", toWire(orderUnanswered({ ...placed, state: "SENT" }))],
    ["cancelInFlight", toWire(orderUnanswered({ ...placed, state: "PENDING_CANCEL" }))],
    ["unavailable", gateRefusals.unavailable],
    ["orderNotWritten", refusingOrder(invalid(preTradeSentences.short))]
  ]
  it.each(said)("%s", (name, refusal) => {
    assert.deepStrictEqual<unknown>(refusalExamples[name].value, JSON.parse(refusalText(refusal)))
  })

  it("aboveCap", () => {
    const errors = { leverage: capSentence(11, 10) ?? "" }
    assert.deepStrictEqual<unknown>(
      refusalExamples.aboveCap.value,
      JSON.parse(refusalText(invalid(checkFields, errors)))
    )
  })
})
