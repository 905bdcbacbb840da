/**
 * The webhooks of the published description: every event of the machines, in the queued delivery body, fits its
 * description (doc 3, Webhook and Event catalogue).
 */
import { assert, describe, it } from "@effect/vitest"
import Ajv2020 from "ajv/dist/2020.js"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { reachable } from "../../src/machines/describe.ts"
import type { EffectOf, EventName, FeedEventName } from "../../src/machines/Effects.ts"
import { kinds, machines } from "../../src/machines/registry.ts"
import { begin, step } from "../../src/runtime/engine/machine/step.ts"
import { queueDelivery } from "../../src/runtime/effects/queueDelivery.ts"

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

/** Doc 3, events derived from the notification feed, by its present kinds. */
const derived = [
  ["client.verification_decision", "VERIFICATION_DECISION"],
  ["margin.restriction_set", "RESTRICTION_SET"],
  ["margin.restriction_lifted", "RESTRICTION_LIFTED"],
  ["money.movement", "MONEY_MOVEMENT"],
  ["barrier.near_take_profit", "BARRIER_NEAR_TP"],
  ["barrier.near_barrier", "BARRIER_NEAR_KO"],
  ["barrier.expiry_soon", "BARRIER_EXPIRY_SOON"],
  ["swap.settled", "SWAP_SETTLED"],
  ["swap.defaulted", "SWAP_DEFAULTED"],
  ["statement.ready", "STATEMENT_READY"]
] as const

/** Events about the partner itself, without a client (doc 3, Webhook). */
const ofPartner = ["webhook.test"]

type Told = Pick<EffectOf<"event">, "data"> & { readonly name: EventName | FeedEventName }

/** Every event effect of every creation, and of every sample in every reachable row of a machine. */
const emitted: ReadonlyArray<Told> = kinds.flatMap((kind) => {
  const walkable = machines[kind]
  const born = walkable.inputs.flatMap((input) => begin(walkable.machine, input as never).effects)
  const moved = reachable(walkable).flatMap(({ snapshot, state }) =>
    walkable.samples.flatMap(
      (event) => step(walkable.machine, { state, context: snapshot.context as never }, event as never).effects
    )
  )
  return [...born, ...moved].filter((effect) => effect.type === "event")
})
/** Events that this service produces at present. */
const produced: ReadonlyArray<string> = [...new Set(emitted.map(({ name }) => name))]
const names = [...produced, ...derived.map(([name]) => name)]

const swept: ReadonlyArray<Told> = derived.map(([name, kind]) => ({ name, data: { kind, ref: "7", ts: 1 } }))
const all: ReadonlyArray<Told> = [...emitted, ...swept]

/** The body that the engine queues for an event. */
const queued = (effect: Told): unknown => {
  const rows: Array<{ readonly body?: string }> = []
  const draft = { put: (_: string, row: object) => void rows.push(row) }
  const endpoint = { state: "ACTIVE" } as never
  const instance = ofPartner.includes(effect.name)
    ? { partnerId: 3, clientId: null, endpoint }
    : { partnerId: 3, clientId: 41, clientUid: "CL-00000041", partnerClientRef: "ref-1", endpoint }
  queueDelivery({ now: 1_700_000_000_000, nextId: () => 9, draft } as never, instance, effect)
  return JSON.parse(rows.find((row) => row.body !== undefined)?.body ?? "null")
}

const ajv = new Ajv2020.default({ strict: false, allErrors: true })
const validatorOf = (name: string) =>
  ajv.compile(webhooks[name]?.post.requestBody.content["application/json"].schema ?? false)

describe("doc 3, Event catalogue: webhooks of the OpenAPI document", () => {
  it("doc 3: exactly the events produced today, each once, received without our keys and with any 2xx", () => {
    assert.sameMembers(Object.keys(webhooks), names)
    const ids = Object.values(webhooks).map(({ post }) => post.operationId)
    assert.strictEqual(new Set(ids).size, names.length)
    for (const { post } of Object.values(webhooks)) {
      assert.deepStrictEqual(post.security, [])
      assert.deepStrictEqual(Object.keys(post.responses), ["2XX"])
    }
    assert.include(
      spec.tags.map(({ name }) => name),
      "Webhooks"
    )
  })

  it.each(names)("doc 3, Webhook: the delivery of %s is as described, and nothing less", (name) => {
    const validate = validatorOf(name)
    const bodies = all.filter((effect) => effect.name === name).map(queued)
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

  it("doc 3, Webhook: the client fields are null on partner-level events, and only there", () => {
    for (const name of names) {
      const effect = all.find((each) => each.name === name)
      assert.isDefined(effect)
      if (effect === undefined) return
      const body = queued(effect) as Readonly<Record<string, unknown>>
      const other = ofPartner.includes(name)
        ? { clientId: 41, clientUid: "CL-00000041", partnerClientRef: "ref-1" }
        : { clientId: null, clientUid: null, partnerClientRef: null }
      for (const [member, value] of Object.entries(other))
        assert.isFalse(validatorOf(name)({ ...body, [member]: value }), `${name} ${member}`)
    }
  })

  it("A1-28: a duplicate person is no reason that a partner can read", () => {
    assert.notInclude(JSON.stringify(webhooks), "DUPLICATE_PERSON")
  })

  it("doc 3, Collateral report: each event has its own status", () => {
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
