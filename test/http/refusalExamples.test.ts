/**
 * Every documented answer of the partner surface has an example, and every example is a possible answer: it fits the
 * schema at each of its places, has a code that the registry assigns to that status, and has the service's sentence
 * (doc 1, Errors; doc 2, Orders, margin, leverage, positions).
 */
import { assert, describe, it } from "@effect/vitest"
import Ajv2020 from "ajv/dist/2020.js"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { refusalExamples, refusalsByHand } from "../../src/http/examples/refusalExamples.ts"
import { wireErrors } from "../../src/http/api/WireErrors.ts"
import { partnerRoutes } from "../../src/http/features.ts"
import { defect, gateRefusals, refusalText, toWire, type WireRefusal } from "../../src/machines/shared/wireRefusal.ts"
import { conflict, notOffered, venueAway } from "../../src/machines/shared/Refusal.ts"

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
const { examples } = spec.components as unknown as {
  readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: { readonly code: number } }>>
}
const named = (name: string) => {
  const found = examples[name]
  if (found === undefined) throw new Error(`no example ${name}`)
  return found
}
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

  it("each fits the published form of its answer, and has a code of its status", () => {
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

  it("each appears somewhere, and every row of the registry has one", () => {
    const standing = refusals.flatMap((each) => namesOf(each).map((name) => ({ name, status: each.status })))
    assert.includeMembers([...new Set(standing.map(({ name }) => name))], Object.keys(refusalExamples))
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

describe("the examples of refusals are answers of the service", () => {
  const said: Readonly<Record<string, WireRefusal>> = {
    unauthorized: gateRefusals.unauthorized,
    scope: gateRefusals.scope,
    suspended: gateRefusals.suspended,
    unknownClient: gateRefusals.unknownClient,
    notOffered: toWire(notOffered),
    accountClosed: toWire(conflict("ACCOUNT_CLOSED", "The account is closed.")),
    keyReused: gateRefusals.keyReused,
    rateLimited: gateRefusals.rateLimited,
    tooSlow: gateRefusals.tooSlow,
    routeCap: gateRefusals.routeCap,
    edgeCap: gateRefusals.edgeCap,
    unknownRoute: gateRefusals.route,
    inProgress: gateRefusals.inProgress,
    defect: defect("6f0a1c1e-0b6e-4b53-9a0a-6f6f0f3a2d11"),
    venueAway: toWire(venueAway),
    unavailable: gateRefusals.unavailable,
    noVenue: toWire({ _tag: "NoVenue", sentence: "No venue is attached to this service." })
  }
  it.each(Object.entries(said))("%s", (name, refusal) => {
    assert.deepStrictEqual<unknown>(refusalExamples[name]?.value, JSON.parse(refusalText(refusal)))
  })

  it("few are written by hand, each of them occurs in the service and states why no scenario causes it", () => {
    assert.deepStrictEqual(Object.keys(refusalsByHand), [
      "tooSlow",
      "routeCap",
      "edgeCap",
      "unknownRoute",
      "inProgress",
      "defect",
      "venueAway",
      "unavailable",
      "noVenue"
    ])
    for (const [name, why] of Object.entries(refusalsByHand)) {
      assert.property(said, name)
      assert.match(why, / /)
    }
  })
})
