/**
 * The reference has an example of each body, answer, event, refusal and schema: recorded by a scenario, taken from the
 * service's sentences, or a sample value. Each example fits the schema at its place.
 */
import { assert, describe, it } from "@effect/vitest"
import Ajv2020 from "ajv/dist/2020.js"
import { recorded } from "../../src/http/examples/recorded.ts"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { differentShape, distil } from "../../scripts/examples/distil.ts"

interface Media {
  readonly schema?: object
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>
}
interface Part {
  readonly content?: Readonly<Record<string, Media>>
}
interface Operation {
  readonly operationId: string
  readonly requestBody?: Part
  readonly responses: Readonly<Record<string, Part>>
}

const spec = openApiDocument()
const ajv = new Ajv2020.default({ strict: false, allErrors: true, formats: { binary: true } })
ajv.addSchema(spec as object, "api")
const escaped = (text: string) => encodeURIComponent(text.replaceAll("~", "~0").replaceAll("/", "~1"))

/**
 * The schema of health has its own example. Files, pages and the description itself need no second copy, and a PDF is
 * no text.
 */
const shownElsewhere = [
  "system.healthz 200",
  "statements.pdf 200",
  "system.openapi 200",
  "system.partnerOpenapi 200",
  "system.docs 200"
]

interface Place {
  readonly name: string
  readonly media: Media
  readonly pointer: ReadonlyArray<string>
}

const placesIn = (root: "paths" | "webhooks"): ReadonlyArray<Place> =>
  Object.entries(spec[root] as Readonly<Record<string, Readonly<Record<string, Operation>>>>).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId, requestBody, responses }]) => {
      const parts = Object.entries(responses).map(([status, part]) => [status, part, ["responses", status]] as const)
      const body = requestBody === undefined ? [] : [["request", requestBody, ["requestBody"]] as const]
      return [...body, ...parts].flatMap(([what, part, way]) =>
        Object.entries(part.content ?? {}).map(([type, media]) => ({
          name: `${operationId} ${what}`,
          media,
          pointer: [root, path, method, ...way, "content", type, "schema"]
        }))
      )
    })
  )

const places = [...placesIn("paths"), ...placesIn("webhooks")]
const examples = spec.components as unknown as {
  readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>
  readonly schemas: Readonly<Record<string, { readonly examples?: ReadonlyArray<unknown> }>>
}
const shownAt = ({ media }: Place) =>
  Object.values(media.examples ?? {}).map(({ $ref }) => $ref.slice("#/components/examples/".length))

const failureOf = (pointer: ReadonlyArray<string>, value: unknown): string | null => {
  const validate = ajv.getSchema(`api#/${pointer.map(escaped).join("/")}`)
  if (validate === undefined) return "there is no such schema"
  return validate(value) === true ? null : JSON.stringify(validate.errors)
}

describe("examples of the reference", () => {
  it("every body, answer and event has one", () => {
    assert.isAbove(places.length, 900)
    const without = places.filter((place) => shownAt(place).length === 0).map(({ name }) => name)
    assert.sameMembers(without, shownElsewhere)
  })

  it("each fits the schema of each place where it appears", () => {
    for (const place of places) {
      for (const name of shownAt(place)) {
        const example = examples.examples[name]
        assert.isDefined(example, name)
        assert.isNull(failureOf(place.pointer, example?.value), `${name} at ${place.name}`)
      }
    }
  })

  it("each appears somewhere", () => {
    assert.sameMembers([...new Set(places.flatMap(shownAt))], Object.keys(examples.examples))
  })

  it("every schema of the components has one that fits", () => {
    for (const [name, schema] of Object.entries(examples.schemas)) {
      assert.isNotEmpty(schema.examples, name)
      for (const each of schema.examples ?? []) assert.isNull(failureOf(["components", "schemas", name], each), name)
    }
  })

  it("a list that is shown shows something", () => {
    const empty = Object.entries(examples.examples).filter(([, { value }]) => {
      const answer = value as { readonly data?: object }
      const members = Object.values(answer.data ?? answer)
      return members.length === 0 || (members.some(Array.isArray) && members.flat().length === 0)
    })
    assert.deepStrictEqual(
      empty.map(([name]) => name),
      []
    )
  })

  it("nothing of a run is in them: no code of a scenario's firm, no address of its receiver, no secret", () => {
    const text = JSON.stringify(recorded())
    assert.notMatch(text, /127\.0\.0\.1|Scenario |"s[0-9a-z]{5}0-/)
    for (const [secret] of text.matchAll(/whs_\w+/g)) assert.match(secret, /^whs_0123456789/)
  })
})

describe("distil: from the answers of a run to examples", () => {
  const said = (path: string, status: number, answer: unknown) =>
    JSON.stringify({ kind: "route", method: "GET", path, request: null, status, answer })

  it("the first answer with the same members counts, of refusals the first of each reason; unknown routes don't", () => {
    const lines = [
      said("/clients/7", 404, { code: 4004, data: { reason: "A" } }),
      said("/clients/8", 404, { code: 4004, data: { reason: "B" } }),
      said("/clients/9", 404, { code: 4004, data: { reason: "A" }, more: 1 }),
      said("/clients/7?x=1", 200, { a: 1 }),
      said("/clients/8", 200, { a: 2 }),
      said("/clients/8", 200, { b: 1 })
    ]
    assert.deepStrictEqual(distil([...lines, said("/nothing", 200, {})].join("\n")), {
      operations: {
        "clients.get": {
          answers: {
            200: [{ a: 1 }, { b: 1 }],
            404: [
              { code: 4004, data: { reason: "A" } },
              { code: 4004, data: { reason: "B" } }
            ]
          }
        }
      },
      events: {}
    })
  })

  it.each([
    [{ a: 1 }, { a: 2 }, null],
    [{ a: 1 }, { a: "1" }, "/a"],
    [{ a: 1 }, { a: 1, b: 2 }, "/b"],
    [{ a: 1, b: 2 }, { a: 1 }, "/b"],
    [{ a: null }, { a: { b: 1 } }, null],
    [{ a: [] }, { a: [1] }, null],
    [{ a: [{ b: 1 }] }, { a: [{ c: 1 }] }, "/a/0/b"],
    [{ a: [] }, { a: {} }, "/a"],
    [1, "1", ""]
  ])("%j and %j: %s", (a, b, found) => assert.strictEqual(differentShape(a, b), found))
})
