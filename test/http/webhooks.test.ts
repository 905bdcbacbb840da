// The webhooks of the published description: every event that the machines emit, in the delivery body that is queued,
// fits what is described for it (doc 3, Webhook and Event catalogue).
import { assert, describe, it } from "@effect/vitest"
import Ajv2020 from "ajv/dist/2020.js"
import { openApiDocument } from "../../src/http/api/openApiDocument.ts"
import { reachable } from "../../src/machines/describe.ts"
import type { EffectOf } from "../../src/machines/Effects.ts"
import { kinds, machines } from "../../src/machines/registry.ts"
import { step } from "../../src/runtime/engine/decide.ts"
import { applyEffects } from "../../src/runtime/engine/Interpreter.ts"

interface WebhookItem {
  readonly post: {
    readonly operationId: string
    readonly security: ReadonlyArray<unknown>
    readonly requestBody: { readonly content: { readonly "application/json": { readonly schema: object } } }
    readonly responses: Readonly<Record<string, unknown>>
  }
}

const spec = openApiDocument()
const webhooks = spec.webhooks as Readonly<Record<string, WebhookItem>>

/** Doc 3, Event catalogue: what something in this service produces today. */
const produced = [
  "client.onboarded",
  "client.review_required",
  "client.level_changed",
  "kyc.rejected",
  "kyc.documents_requested",
  "collateral.booked",
  "collateral.refused"
]

type Told = EffectOf<"event">

/** Every event effect of every sample in every row a machine can be in. */
const emitted: ReadonlyArray<Told> = kinds.flatMap((kind) => {
  const walkable = machines[kind]
  return reachable(walkable).flatMap(({ snapshot, state }) =>
    walkable.samples.flatMap((event) =>
      step(walkable.machine, { state, context: snapshot.context as never }, event as never).effects.filter(
        (effect): effect is Told => effect.type === "event"
      )
    )
  )
})

/** The body that the engine queues for an event. */
const queued = (effect: Told): unknown => {
  const rows: Array<{ readonly body?: string }> = []
  const draft = { put: (_: string, row: object) => void rows.push(row), nextEventSlot: () => 1 }
  const instance = {
    partnerId: 3,
    clientId: 41,
    clientUid: "CL-00000041",
    partnerClientRef: "ref-1",
    endpoint: { state: "ACTIVE" } as never
  }
  applyEffects({ now: 1_700_000_000_000, nextId: () => 9, draft } as never, instance, [effect])
  return JSON.parse(rows.find((row) => row.body !== undefined)?.body ?? "null")
}

const ajv = new Ajv2020.default({ strict: false, allErrors: true })
const validatorOf = (name: string) =>
  ajv.compile(webhooks[name]?.post.requestBody.content["application/json"].schema ?? false)

describe("doc 3, Event catalogue: webhooks of the OpenAPI document", () => {
  it("doc 3: exactly the events produced today, each once, received without our keys and with any 2xx", () => {
    assert.sameMembers(Object.keys(webhooks), produced)
    assert.sameMembers([...new Set(emitted.map(({ name }) => name))], produced)
    const ids = Object.values(webhooks).map(({ post }) => post.operationId)
    assert.strictEqual(new Set(ids).size, produced.length)
    for (const { post } of Object.values(webhooks)) {
      assert.deepStrictEqual(post.security, [])
      assert.deepStrictEqual(Object.keys(post.responses), ["2XX"])
    }
    assert.include(
      spec.tags.map(({ name }) => name),
      "Webhooks"
    )
  })

  it.each(produced)("doc 3, Webhook: the delivery of %s is as described, and nothing less", (name) => {
    const validate = validatorOf(name)
    const bodies = emitted.filter((effect) => effect.name === name).map(queued)
    assert.isNotEmpty(bodies)
    for (const body of bodies) {
      assert.isTrue(validate(body), JSON.stringify([body, validate.errors]))
      const whole = body as Readonly<Record<string, unknown>>
      assert.hasAllKeys(whole, ["id", "event", "partnerId", "clientId", "clientUid", "partnerClientRef", "ts", "data"])
      for (const member of Object.keys(whole)) {
        const { [member]: _, ...rest } = whole
        assert.isFalse(validate(rest), `without ${member}`)
      }
      const data = whole["data"] as Readonly<Record<string, unknown>>
      for (const member of Object.keys(data)) {
        const { [member]: _, ...rest } = data
        assert.isFalse(validate({ ...whole, data: rest }), `data without ${member}`)
      }
    }
  })

  it("A1-28: a duplicate person is no reason that a partner can read", () => {
    assert.notInclude(JSON.stringify(webhooks), "DUPLICATE_PERSON")
  })

  it("doc 3, Collateral report: each event has the status it tells of", () => {
    for (const [name, other] of [
      ["collateral.booked", "REFUSED"],
      ["collateral.refused", "BOOKED"]
    ] as const) {
      const effect = emitted.find((each) => each.name === name)
      assert.isDefined(effect)
      if (effect === undefined) return
      assert.isFalse(validatorOf(name)(queued({ ...effect, data: { ...effect.data, status: other } })))
    }
  })
})
