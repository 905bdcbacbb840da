/**
 * The simulated partner's webhook receiver over real TLS: which deliveries it accepts, which faults it reports, and how
 * it misbehaves on purpose (doc 3, Webhook registration and delivery; operator surface, `sim partner listen`).
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import * as fc from "fast-check"
import { freshSeconds, isFresh, isSignedBy, signatureOf } from "../../simulator/partner/deliverySignature.ts"
import { SeenDeliveries } from "../../simulator/partner/SeenDeliveries.ts"
import { acknowledge, misbehave, privateLocation, scripted } from "../../simulator/partner/WebhookBehaviour.ts"
import { bodyLimit, startWebhookReceiver } from "../../simulator/partner/WebhookReceiver.ts"
import { parsePayload } from "../../simulator/partner/DeliveryPayload.ts"
import { demoDeliveryLine } from "../../cli/views/deliveryLine.ts"
import { recorded } from "../../src/http/examples/recorded.ts"
import { bodyOf, deliver, now, secret, startWorld, type World } from "./receiverWorld.ts"

const inWorld = (
  options: Parameters<typeof startWorld>[0],
  test: (world: World) => Effect.Effect<void, unknown, Scope.Scope>
) => Effect.scoped(Effect.flatMap(startWorld(options), test))

describe("verification by the receiver", () => {
  it("A3-29: the figure of an independent implementation, with whs_ in the key", () => {
    const body =
      '{"id":1,"event":"webhook.test","partnerId":7,"clientId":null,"clientUid":null,"partnerClientRef":null,"ts":1795132800000,"data":{"message":"ok","requestedAt":1795132800000}}'
    assert.strictEqual(
      signatureOf("whs_0123456789abcdef0123456789abcdef", "1795132800", Buffer.from(body)),
      "v1=1fd15ee456acc96d39de77b1e64eb240a09495f2c0856f57774a5279c3d120c0"
    )
  })

  it("doc 3, signature: one changed byte of body, timestamp or signature is noticed", () => {
    const timestamp = "1795132800"
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (body, at, by) => {
          const signature = signatureOf(secret, timestamp, body)
          const changed = Uint8Array.from(body)
          changed[at % body.length] = (changed[at % body.length] as number) ^ by
          const spot = 3 + (at % 64)
          const other = signature[spot] === "0" ? "1" : "0"
          assert.isTrue(isSignedBy(["whs_other", secret], timestamp, body, signature))
          assert.isFalse(isSignedBy([secret], timestamp, changed, signature))
          assert.isFalse(isSignedBy([secret], "1795132801", body, signature))
          assert.isFalse(
            isSignedBy([secret], timestamp, body, signature.slice(0, spot) + other + signature.slice(spot + 1))
          )
          assert.isFalse(isSignedBy([], timestamp, body, signature))
        }
      )
    )
  })

  it.each([
    ["1795132800", true],
    [String(1_795_132_800 - freshSeconds), true],
    [String(1_795_132_800 + freshSeconds), true],
    [String(1_795_132_800 - freshSeconds - 1), false],
    [String(1_795_132_800 + freshSeconds + 1), false],
    ["1795132800000", false],
    ["1795132800.0", false],
    ["", false]
  ])("SC-WHK-10: the timestamp %s is fresh: %s", (timestamp, fresh) =>
    assert.strictEqual(isFresh(timestamp, now), fresh)
  )
})

describe("the receiver", () => {
  it.live("doc 3, Webhook: a signed and fresh delivery is acknowledged and reported", () =>
    inWorld({}, ({ send, received }) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* send(12)).status, 200)
        assert.deepStrictEqual(received, [
          {
            id: 12,
            event: "collateral.booked",
            signatureOk: true,
            fresh: true,
            accepted: true,
            duplicate: false,
            receipts: 1,
            body: JSON.parse(bodyOf(12)),
            problem: null,
            reaction: acknowledge
          }
        ])
      })
    )
  )

  it.live.each([
    ["another secret", { secret: "whs_other" }, 401, { signatureOk: false, fresh: true }],
    ["no signature", { headers: { "x-brokerage-signature": "" } }, 401, { signatureOk: false, fresh: true }],
    [
      "a signature in upper case",
      {
        headers: {
          "x-brokerage-signature": signatureOf(secret, String(now / 1_000), Buffer.from(bodyOf(12))).toUpperCase()
        }
      },
      401,
      { signatureOk: false, fresh: true }
    ],
    ["301 seconds old", { timestamp: String(now / 1_000 - 301) }, 401, { signatureOk: true, fresh: false }],
    ["no delivery", { body: '{"id":12}' }, 400, { signatureOk: true, fresh: true }],
    ["no JSON", { body: "{" }, 400, { signatureOk: true, fresh: true }],
    ["an event with an escape sequence", { body: bodyOf(12, "\u001b[2J") }, 400, { signatureOk: true, fresh: true }],
    [
      "another id in the header",
      { headers: { "x-brokerage-delivery": "13" } },
      400,
      { signatureOk: true, fresh: true }
    ],
    [
      "another event in the header",
      { headers: { "x-brokerage-event": "kyc.rejected" } },
      400,
      { signatureOk: true, fresh: true }
    ]
  ] as const)("doc 3, verification: %s is refused and not remembered", ([, over, status, expected]) =>
    inWorld({}, ({ send, received }) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* send(12, over)).status, status)
        const [first] = received
        assert.deepInclude(first, { ...expected, accepted: false, duplicate: false, receipts: 0, body: null })
        assert.match(first?.problem ?? "", /\.$/)
        assert.strictEqual((yield* send(12)).status, 200)
        assert.deepInclude(received[1], { duplicate: false, receipts: 1, problem: null })
      })
    )
  )

  it.live("SC-WHK-06: an id that was accepted is a duplicate; one that was refused is not", () =>
    inWorld({ behaviour: misbehave({ fail: 1 }) }, ({ send, received }) =>
      Effect.gen(function* () {
        const statuses = [yield* send(1), yield* send(1), yield* send(2), yield* send(1)].map(({ status }) => status)
        assert.deepStrictEqual(statuses, [500, 200, 200, 200])
        assert.deepStrictEqual(
          received.map(({ id, duplicate, receipts }) => [id, duplicate, receipts]),
          [
            [1, false, 1],
            [1, false, 2],
            [2, false, 1],
            [1, true, 3]
          ]
        )
      })
    )
  )

  it("operator surface: failures by status, event and share; the same seed chooses the same", () => {
    const answers = (how: Parameters<typeof misbehave>[0], count: number, event = "kyc.rejected") => {
      const react = misbehave(how)
      return Array.from({ length: count }, (_, index) => {
        const reaction = react(index, { event, receipts: 1 })
        return reaction.type === "answer" ? reaction.status : reaction.type
      })
    }
    assert.deepStrictEqual(answers({ status: 410 }, 2), [410, 410])
    assert.deepStrictEqual(answers({ status: 429, fail: 1 }, 2), [429, 200])
    assert.deepStrictEqual(answers({ fail: 1, events: ["kyc.rejected"] }, 2, "webhook.test"), [200, 200])
    assert.deepStrictEqual(answers({ silent: true, events: ["kyc.rejected"] }, 1), ["silent"])
    const shared = answers({ share: 0.3, status: 503, seed: 9 }, 1_000)
    assert.deepStrictEqual(answers({ share: 0.3, status: 503, seed: 9 }, 1_000), shared)
    assert.notDeepEqual(answers({ share: 0.3, status: 503, seed: 10 }, 1_000), shared)
    const failed = shared.filter((status) => status === 503).length
    assert.isTrue(failed > 230 && failed < 370, String(failed))
    assert.deepStrictEqual(answers({ duplicate: 1 }, 1), ["lost"])
    assert.deepStrictEqual(misbehave({ duplicate: 1 })(0, { event: "kyc.rejected", receipts: 2 }).type, "answer")
    // The first delivery is dropped by either rule, and the choices for later deliveries stay the same.
    assert.deepStrictEqual(answers({ duplicate: 0.5, fail: 1 }, 50).slice(1), answers({ duplicate: 0.5 }, 50).slice(1))
  })

  it.live("SC-WHK-06: an accepted delivery whose answer was lost arrives again as a duplicate", () =>
    inWorld({ behaviour: misbehave({ duplicate: 1 }) }, ({ send, received }) =>
      Effect.gen(function* () {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(send(1))))
        assert.strictEqual((yield* send(1)).status, 200)
        assert.deepStrictEqual(
          received.map(({ accepted, duplicate, receipts }) => [accepted, duplicate, receipts]),
          [
            [true, false, 1],
            [true, true, 2]
          ]
        )
      })
    )
  )

  it.live(
    "SC-WHK-03: a delivery that is acknowledged too late for the sender was accepted: its retry is a duplicate",
    () =>
      inWorld(
        { behaviour: scripted([{ ...acknowledge, delayMillis: 3_600_000 }, acknowledge]) },
        ({ send, received, arrival }) =>
          Effect.gen(function* () {
            const arrived = arrival()
            const gaveUp = yield* Effect.forkChild(Effect.exit(send(1)))
            yield* Effect.promise(() => arrived)
            assert.isUndefined(gaveUp.pollUnsafe())
            yield* Fiber.interrupt(gaveUp)
            assert.strictEqual((yield* send(1)).status, 200)
            assert.deepStrictEqual(
              received.map(({ duplicate }) => duplicate),
              [false, true]
            )
          })
      )
  )

  it.live("SC-WHK-04: --redirect answers 302 to a private address", () =>
    inWorld({ behaviour: misbehave({ redirect: true }) }, ({ send, received }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* send(1), { status: 302, location: privateLocation })
        assert.isFalse(received[0]?.accepted)
      })
    )
  )

  it.live("operator surface: --delay answers later, and not before", () =>
    inWorld({ behaviour: misbehave({ delayMillis: 60 }) }, ({ send }) =>
      Effect.gen(function* () {
        const startedAt = performance.now()
        assert.strictEqual((yield* send(1)).status, 200)
        assert.isAtLeast(performance.now() - startedAt, 58)
      })
    )
  )

  it.live.each([
    ["silent", "left unanswered until the receiver ends"],
    ["reset", "cut off"]
  ] as const)("operator surface: a delivery met by %s is %s", ([type]) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { receiver, ca, arrival } = yield* Scope.provide(startWorld({ behaviour: scripted([{ type }]) }), scope)
      const arrived = arrival()
      let ended = false
      const failure = deliver(receiver.url, ca, 1).then(
        () => "answered",
        (error: NodeJS.ErrnoException) => ((ended = true), error.code)
      )
      yield* Effect.promise(() => arrived)
      if (type === "reset") assert.strictEqual(yield* Effect.promise(() => failure), "ECONNRESET")
      assert.strictEqual(ended, type === "reset")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Effect.promise(() => failure), "ECONNRESET")
    })
  )

  it.live("operator surface: a body over the bound is refused unread by anything but the bound", () =>
    inWorld({}, ({ send, received }) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* send(1, { body: " ".repeat(bodyLimit + 1) })).status, 413)
        assert.deepStrictEqual(received, [])
        const padded = bodyOf(1).padEnd(bodyLimit, " ")
        assert.strictEqual((yield* send(1, { body: padded })).status, 200)
      })
    )
  )

  it.live("operator surface: only POST of the registered path is an endpoint", () =>
    inWorld({}, ({ send, received }) =>
      Effect.gen(function* () {
        const answers = [yield* send(1, { path: "/other" }), yield* send(1, { method: "PUT" })]
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [404, 404]
        )
        assert.deepStrictEqual(received, [])
      })
    )
  )

  it.live("operator surface: a port in use is a failure in words", () =>
    inWorld({}, ({ receiver }) =>
      Effect.gen(function* () {
        const port = Number(new URL(receiver.url).port)
        const refused = yield* Effect.flip(
          startWebhookReceiver({ tls: { cert: "", key: "" }, port, onDelivery: () => {} })
        )
        assert.strictEqual(refused.sentence, "The port can not be listened on (EADDRINUSE).")
      })
    )
  )
})

describe("rotation of the secret (SC-WHK-01)", () => {
  it.live("doc 3, PUT /webhook: the new secret and the one before are believed, older ones not", () =>
    inWorld({}, ({ receiver, send }) =>
      Effect.gen(function* () {
        yield* receiver.rotate(Effect.succeed("whs_second"))
        const during = [yield* send(1), yield* send(2, { secret: "whs_second" })]
        yield* receiver.rotate(Effect.succeed("whs_third"))
        const after = [
          yield* send(3),
          yield* send(4, { secret: "whs_second" }),
          yield* send(5, { secret: "whs_third" })
        ]
        assert.deepStrictEqual(
          [...during, ...after].map(({ status }) => status),
          [200, 200, 401, 200, 200]
        )
      })
    )
  )

  it.live("doc 3, PUT /webhook: a delivery signed with the new secret before the answer arrives waits for it", () =>
    inWorld({}, ({ receiver, send }) =>
      Effect.gen(function* () {
        const answer = yield* Deferred.make<string>()
        const rotation = yield* Effect.forkChild(receiver.rotate(Deferred.await(answer)))
        yield* Effect.yieldNow
        const early = yield* Effect.forkChild(send(1, { secret: "whs_second" }))
        // The receiver handles these later connections one after the other, so it has read the early one by then.
        for (const id of [2, 3, 4, 5]) yield* send(id, { method: "PUT" })
        assert.isUndefined(early.pollUnsafe())
        yield* Deferred.succeed(answer, "whs_second")
        yield* Fiber.join(rotation)
        assert.strictEqual((yield* Fiber.join(early)).status, 200)
      })
    )
  )

  it.live("doc 3, PUT /webhook: a registration that fails leaves the secrets as they were", () =>
    inWorld({}, ({ receiver, send }) =>
      Effect.gen(function* () {
        yield* Effect.flip(receiver.rotate(Effect.fail("refused")))
        assert.strictEqual((yield* send(1)).status, 200)
      })
    )
  )
})

describe("the line of a delivery on the demo's screen", () => {
  it.each(Object.entries(recorded().events))("%s: client, object and amount of the payload", (event, payload) => {
    const body = parsePayload(Buffer.from(JSON.stringify(payload)))
    if (body === null) return assert.fail("the recorded payload is no delivery")
    const { id, clientId, data } = body
    const line = demoDeliveryLine({
      id,
      event,
      body,
      signatureOk: true,
      fresh: true,
      accepted: true,
      duplicate: false,
      receipts: 1,
      problem: null,
      reaction: acknowledge
    })
    assert.match(line, /^ {2}\d\d:\d\d:\d\d {2}[a-z_.]+ {2}#\d+ {2}(client \d+ {2})?\S[^]{2,}$/)
    for (const part of [event, `#${id}`, clientId, data.amount, data.currency, data.ref])
      assert.include(line, String(part ?? ""))
  })
})

describe("memory of ids", () => {
  it("SC-WHK-06: bounded; the id met longest ago is forgotten first", () => {
    const seen = new SeenDeliveries(2)
    seen.note(1, true)
    seen.note(2, true)
    assert.isTrue(seen.note(1, true).duplicate)
    seen.note(3, true)
    assert.deepStrictEqual(seen.note(1, true), { receipts: 3, duplicate: true })
    assert.deepStrictEqual(seen.note(2, true), { receipts: 1, duplicate: false })
  })
})
