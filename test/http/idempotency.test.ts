/**
 * Idempotency-Key: at most one execution, the same bytes for every retry, and the answers that are not stored (doc 1,
 * Idempotency; A1-51..A1-53).
 */
import { assert, afterAll, beforeAll, beforeEach, describe, it, vi } from "@effect/vitest"
import canonicalize from "canonicalize"
import { Deferred, Effect, Result } from "effect"
import * as fc from "fast-check"
import type { Rendered } from "../../src/machines/shared/answerText.ts"
import { AnswerKeeper, answerRow } from "../../src/runtime/services/shared/KeyedRequest.ts"
import {
  canonicalOf,
  comparedBody,
  fingerprintOf,
  Idempotency,
  isIdempotencyKey,
  olderFingerprintOf
} from "../../src/http/middleware/idempotency.ts"
import { RecentAnswers } from "../../src/http/middleware/RecentAnswers.ts"
import { accept, conflict, refuse, type Refusal } from "../../src/machines/shared/Refusal.ts"
import { Unavailable } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { answerClaim } from "../../src/runtime/engine/journal/Commit.ts"
import { setPauseTrigger } from "../../src/runtime/engine/PausePoints.ts"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import type { AnswerRow } from "../../src/runtime/tables/engine.ts"
import type { Answer } from "./callServer.ts"
import { clientId, collateralBooked, now, onboarded, partner } from "./canned.ts"
import { type Running, startStubServer, Stub, stubSealing } from "./stubServer.ts"

const day = 86_400_000
const collateral = `/partner/v1/clients/${clientId}/collateral`
let server: Running
let name = 0
beforeAll(async () => {
  server = await startStubServer({ waitMillis: 40 })
})
afterAll(() => server.close())
beforeEach(() => {
  Object.assign(server.stub, new Stub(), {
    answers: server.stub.answers,
    keep: server.stub.keep,
    ended: server.stub.ended
  })
  name++
})

const post = (path: string, body: unknown, key = `key-${name}`, on: Running = server) =>
  on.call("POST", path, { body, headers: { "idempotency-key": key } })
const replayed = (answer: Answer) => answer.headers["idempotency-replayed"] ?? null
const codeOf = (answer: Answer): unknown => (answer.json as { readonly code: unknown }).code

describe("A1-51: replay", () => {
  it("A1-51: the first answer is returned byte for byte, marked, without a second run", async () => {
    const first = await post(collateral, { a: 1, b: [2, "ä"] })
    const again = await post(collateral, { b: [2, "ä"], a: 1.0 })
    assert.deepStrictEqual([first.status, replayed(first)], [201, null])
    assert.deepStrictEqual([again.status, again.text, replayed(again)], [201, first.text, "true"])
    assert.strictEqual(again.headers["content-type"], first.headers["content-type"])
    assert.strictEqual(server.stub.runs, 1)
  })

  it("A1-51: a refusal of the service is stored like a success", async () => {
    server.stub.onboard = () => Effect.succeed(refuse(conflict("REONBOARD", "Taken.", { clientId: 1 })))
    const first = await post("/partner/v1/clients", {})
    server.stub.onboard = () => Effect.succeed(accept(onboarded))
    const again = await post("/partner/v1/clients", {})
    assert.deepStrictEqual([first.status, again.status, again.text], [409, 409, first.text])
    assert.strictEqual(replayed(again), "true")
  })

  it("A1-51: a refusal before the service is stored too: 4004", async () => {
    const missing = `/partner/v1/clients/77/collateral`
    assert.strictEqual((await post(missing, {}, "k-missing")).status, 404)
    server.stub.client = () => null
    assert.strictEqual(replayed(await post(missing, {}, "k-missing")), "true")
  })

  it("A1-52: another body, path or method under the same key is a conflict", async () => {
    await post(collateral, { a: 1 })
    for (const answer of [await post(collateral, { a: 2 }), await post("/partner/v1/clients", { a: 1 })]) {
      assert.deepStrictEqual([answer.status, codeOf(answer), replayed(answer)], [409, 4092, null])
    }
    assert.strictEqual(server.stub.runs, 1)
  })

  it("A1-53: an answer of an earlier process is found by the commit that loses its key", async () => {
    const earlier = await post(collateral, { a: 1 })
    const later = await startStubServer()
    later.stub.answers = server.stub.answers
    const again = await post(collateral, { a: 1 }, `key-${name}`, later)
    const other = await post(collateral, { a: 2 }, `key-${name}`, later)
    await later.close()
    assert.deepStrictEqual([again.status, again.text, replayed(again)], [201, earlier.text, "true"])
    assert.deepStrictEqual([other.status, codeOf(other)], [409, 4092])
  })

  it("A1-52: the key is free 24 hours after the first answer, not a millisecond earlier", async () => {
    await post(collateral, { a: 1 })
    server.stub.businessNow = now + day - 1
    assert.strictEqual(replayed(await post(collateral, { a: 1 })), "true")
    server.stub.businessNow = now + day
    const fresh = await post(collateral, { a: 2 })
    assert.deepStrictEqual([fresh.status, replayed(fresh), server.stub.runs], [201, null, 3])
    assert.strictEqual(replayed(await post(collateral, { a: 2 })), "true")
  })
})

describe("A1-51: what gives the key back", () => {
  it("A1-51: reliance that is not approved is the partner's state, no answer to the request: 4036 is not stored", async () => {
    const refuseIn = [
      () => server.stub.setPartner({}, "NONE"),
      () => (server.stub.onboard = () => Effect.succeed(refuse({ _tag: "RelianceNotApproved" })))
    ]
    for (const [n, refusing] of refuseIn.entries()) {
      const before = server.stub.onboard
      refusing()
      for (const _ of [1, 2]) {
        const refused = await post("/partner/v1/clients", {}, `reliance-${n}`)
        assert.deepStrictEqual([refused.status, codeOf(refused), replayed(refused)], [403, 4036, null])
      }
      assert.isUndefined(server.stub.answers.get(answerClaim(`partner:${partner.row.id}`, `reliance-${n}`)))
      server.stub.setPartner({}, "APPROVED")
      server.stub.onboard = before
      const done = await post("/partner/v1/clients", {}, `reliance-${n}`)
      assert.deepStrictEqual([done.status, replayed(done)], [201, null])
    }
  })

  it("A1-51: 503, 500, a body that is no JSON and a bad key are not stored", async () => {
    server.stub.collateral = () => Effect.fail(new Unavailable({ unknown: false })) as never
    const away = await post(collateral, { a: 1 })
    assert.deepStrictEqual([away.status, codeOf(away), away.headers["retry-after"]], [503, 5030, "1"])
    server.stub.collateral = () => Effect.die(new Error("secret detail"))
    const broken = await post(collateral, { a: 1 })
    assert.deepStrictEqual([broken.status, codeOf(broken)], [500, 5000])
    assert.notInclude(broken.text, "secret")
    assert.strictEqual(
      (await server.call("POST", collateral, { raw: "{", headers: { "idempotency-key": `key-${name}` } })).status,
      400
    )
    server.stub.collateral = () => Effect.succeed(collateralBooked)
    const done = await post(collateral, { a: 2 })
    assert.deepStrictEqual([done.status, replayed(done)], [201, null])
  })

  const passing: ReadonlyArray<readonly [name: string, refusal: Refusal, status: number, code: number]> = [
    ["a retake before its time", { _tag: "RetakeTooEarly", retakeAt: now + 1_001 }, 429, 4290],
    ["a document over 8 MB", { _tag: "TooLarge", sentence: "Too large." }, 413, 4000]
  ]
  for (const [what, refusal, status, code] of passing) {
    it(`A1-51: ${what} is not stored: ${status} ${code} frees the key`, async () => {
      server.stub.collateral = () => Effect.succeed(refuse(refusal))
      for (const _ of [1, 2]) {
        const refused = await post(collateral, { a: 1 })
        assert.deepStrictEqual([refused.status, codeOf(refused), replayed(refused)], [status, code, null])
      }
      assert.isUndefined(server.stub.answers.get(answerClaim(`partner:${partner.row.id}`, `key-${name}`)))
      server.stub.collateral = () => Effect.succeed(collateralBooked)
      const done = await post(collateral, { a: 2 })
      assert.deepStrictEqual([done.status, replayed(done), server.stub.runs], [201, null, 3])
    })

    it(`A1-51, A1-53: ${what}: a key answered by an earlier process is replayed, or a conflict, all the same`, async () => {
      const earlier = await post(collateral, { a: 1 })
      const later = await startStubServer()
      later.stub.answers = server.stub.answers
      later.stub.collateral = () => Effect.succeed(refuse(refusal))
      const again = await post(collateral, { a: 1 }, `key-${name}`, later)
      const other = await post(collateral, { a: 2 }, `key-${name}`, later)
      later.stub.businessNow = now + day
      const expired = await post(collateral, { a: 1 }, `key-${name}`, later)
      await later.close()
      assert.deepStrictEqual([again.status, again.text, replayed(again)], [201, earlier.text, "true"])
      assert.deepStrictEqual([other.status, codeOf(other)], [409, 4092])
      assert.deepStrictEqual([expired.status, codeOf(expired)], [status, code])
    })
  }

  it("A1-04: the Retry-After of another attempt is whole seconds, rounded up, until the attempt is allowed", async () => {
    for (const [millis, seconds] of [
      [1_001, "2"],
      [1_000, "1"],
      [0, "1"]
    ] as const) {
      server.stub.collateral = () => Effect.succeed(refuse({ _tag: "RetakeTooEarly", retakeAt: now + millis }))
      assert.strictEqual((await post(collateral, { a: 1 })).headers["retry-after"], seconds)
    }
  })

  it("A1-51: a suspended partner, a rate limit and a foreign scope never reach the key", async () => {
    server.stub.setPartner({ state: "SUSPENDED" })
    assert.strictEqual((await post(collateral, { a: 1 })).status, 403)
    server.stub.setPartner({ state: "ACTIVE", tradePerMinute: 0 })
    assert.strictEqual((await post(collateral, { a: 1 })).status, 429)
    server.stub.setPartner({ tradePerMinute: 1_000_000 })
    assert.deepStrictEqual(replayed(await post(collateral, { a: 1 })), null)
  })
})

describe("doc 1, Idempotency: a concurrent request", () => {
  /** A service that runs until it is released; resolves once it has started. */
  const held = () => {
    const gate = Deferred.makeUnsafe<void>()
    const started = new Promise<void>((resolve) => {
      server.stub.collateral = () =>
        Effect.suspend(() => {
          resolve()
          return Effect.as(Deferred.await(gate), collateralBooked)
        })
    })
    return { started, release: () => Deferred.doneUnsafe(gate, Effect.void) }
  }

  it("doc 1, Idempotency 2: it waits for the running one and gets its bytes", async () => {
    const waiting = await startStubServer({ waitMillis: 20_000 })
    const { started, release } = held()
    waiting.stub.collateral = server.stub.collateral
    const first = post(collateral, { a: 1 }, "k", waiting)
    await started
    const second = post(collateral, { a: 1 }, "k", waiting)
    // The server has received the second request once a third one, sent later for the same partner, has been answered.
    const other = await post(collateral, { a: 2 }, "k", waiting)
    release()
    const [one, two] = await Promise.all([first, second])
    await waiting.close()
    assert.deepStrictEqual([other.status, codeOf(other)], [409, 4092])
    assert.deepStrictEqual([two.status, two.text], [one.status, one.text])
    assert.deepStrictEqual([replayed(one), replayed(two), waiting.stub.runs], [null, "true", 1])
  })

  it("doc 1, Idempotency 2: after the wait the answer is that the request is still in progress", async () => {
    const { started, release } = held()
    const first = post(collateral, { a: 1 })
    await started
    const late = await post(collateral, { a: 1 })
    release()
    assert.deepStrictEqual([late.status, codeOf(late), (await first).status, server.stub.runs], [409, 4092, 201, 1])
    assert.include(late.text, "still in progress")
  })

  it("doc 1, Idempotency 4: when the running one fails, one waiting request runs and the others get its answer", async () => {
    const idempotency = new Idempotency({
      answers: { find: () => Effect.succeed(null), discardExpired: () => Effect.void },
      clock: { now: () => now },
      waitMillis: 20_000
    })
    const request = { principal: "partner:1", key: "k", fingerprint: "f" } as const
    const gates = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
    let runs = 0
    const execute = () =>
      Effect.suspend(() => {
        const run = runs++
        const gate = gates[run]
        const end =
          run === 0
            ? Effect.fail(new Unavailable({ unknown: false }))
            : Effect.succeed(answerRow(request, { status: 201, body: "{}" }, now))
        return gate === undefined ? end : Effect.andThen(Deferred.await(gate), end)
      })
    const ask = () => Effect.runPromise(Effect.result(idempotency.answer(request, execute)))
    const asked = [ask(), ask(), ask(), ask(), ask()]
    assert.strictEqual(runs, 1)
    // The second run does not end before all waiting requests have received the failure of the first.
    for (const [at, gate] of gates.entries()) {
      Deferred.doneUnsafe(gate, Effect.void)
      await vi.waitFor(() => assert.isAbove(runs, at))
      await new Promise(setImmediate)
    }
    const outcomes = (await Promise.all(asked)).map((result) =>
      Result.isSuccess(result) ? result.success.replayed : "failed"
    )
    assert.deepStrictEqual([outcomes, runs], [["failed", false, true, true, true], 2])
  })

  it("A1-51: the row that a commit stored is the answer; the rendered answer of a lost commit is not", async () => {
    const idempotency = new Idempotency({
      answers: { find: () => Effect.succeed(null), discardExpired: () => Effect.void },
      clock: { now: () => now }
    })
    const render = (body: string): Rendered => ({ status: 201, body })
    const ask = (key: string, commits: ReadonlyArray<string>) => {
      const request = { principal: "partner:1", key, fingerprint: "f" } as const
      const execute = Effect.sync(() => {
        const keeper = new AnswerKeeper(request, render)
        keeper.row("lost", { now })
        for (const body of commits) keeper.committed(keeper.row(body, { now }) ?? assert.fail(`${body} is not kept`))
        return keeper.stored ?? render("not stored")
      })
      return Effect.runPromise(idempotency.answer(request, () => execute))
    }
    assert.strictEqual((await ask("a", ["stored"])).body, "stored")
    assert.strictEqual((await ask("b", [])).body, "not stored")
    assert.deepStrictEqual([(await ask("a", ["another"])).body, (await ask("a", [])).replayed], ["stored", true])
  })

  it("A1-53: the claim is held when the pause point after it is passed", async () => {
    let passed = 0
    setPauseTrigger("after-claim", () => passed++)
    await post(collateral, { a: 1 })
    await post(collateral, { a: 1 })
    await server.call("POST", collateral, { body: {} })
    setPauseTrigger("after-claim", null)
    assert.strictEqual(passed, 1)
  })
})

describe("A1-52: the header", () => {
  const rows: ReadonlyArray<readonly [key: string, fine: boolean]> = [
    ["a", true],
    ["!~", true],
    ["k".repeat(128), true],
    ["k".repeat(129), false],
    ["", false],
    ["a b", false],
    ["ä", false],
    ["a\u007f", false]
  ]
  for (const [key, fine] of rows) {
    it(`A1-52: ${JSON.stringify(key.slice(0, 5))} of ${key.length} is ${fine ? "fine" : "refused"}`, () =>
      assert.strictEqual(isIdempotencyKey(key), fine))
  }

  it("A1-52: a header that is sent twice is refused; on routes without (K) it is ignored", async () => {
    const twice = await server.call("POST", collateral, { body: {}, headers: { "idempotency-key": ["a", "b"] } })
    assert.deepStrictEqual([twice.status, codeOf(twice), server.stub.runs], [400, 4000, 0])
    const read = await server.call("GET", "/partner/v1/me", { headers: { "idempotency-key": "a b" } })
    assert.strictEqual(read.status, 200)
  })

  it("A1-52 [JCS-001]: a flat body's canonical JSON equals that of the library", () => {
    const member = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean()
    )
    const name = fc.oneof(
      fc.string(),
      fc.nat().map(String),
      fc.constantFrom("toJSON", "\u20ac", "\ud83d\ude00", "\ufb33")
    )
    const body = fc.dictionary(name, fc.option(member), { noNullPrototype: true })
    fc.assert(fc.property(body, (flat) => assert.strictEqual(canonicalOf(flat), canonicalize(flat))))
  })

  it("A1-52 [JCS-001]: sameness is canonical JSON, not bytes", () => {
    const keyed = stubSealing.quickFingerprint
    const print = (text: string) => fingerprintOf(keyed, "POST", "/p", JSON.parse(text))
    assert.strictEqual(print('{"b":1e2,"a":"\\u0041"}'), print('{ "a":"A", "b":100 }'))
    assert.notStrictEqual(print('{"a":[1,2]}'), print('{"a":[2,1]}'))
    assert.notStrictEqual(fingerprintOf(keyed, "PUT", "/p", {}), fingerprintOf(keyed, "POST", "/p", {}))
  })

  it("A1-52: of a body whose text is stored, digits and doubled names count too; a plain body is its value alone", () => {
    const form = (text: string) => canonicalOf(comparedBody(JSON.parse(text), text))
    const kinds = [
      ['{"to":12345678901234567890}', ' { "to" :\n12345678901234567890 } '],
      ['{"to":12345678901234567891}'],
      ['{"to":1.10,"by":"\\u0041"}', '{"by": "\\u0041", "to": 1.10}'],
      ['{"to":1.1,"by":"A"}', '{"by":"\\u0041","to":1.1}', '{"b\\u0079":"A","to":1.1}'],
      ['{"to":[1.10]}'],
      ['{"to":[{"rawJSON":"1.10"}],"by":1.0}'],
      ['{"to":[1.10],"by":1.0}'],
      ['{"to":1e2}'],
      ['{"to":100}'],
      ['{"iban":"A B","iban":"B"}', '{ "iban" : "A B" , "iban":"B" }'],
      ['{"iban":"AB","iban":"B"}'],
      ['{"iban":"B"}'],
      ['{"__proto__":1,"iban":"B"}'],
      ['{"2":"x","1":[-1]}', '{"1":[-1],"2":"x"}']
    ]
    for (const [first = "", ...others] of kinds) for (const text of others) assert.strictEqual(form(text), form(first))
    assert.strictEqual(new Set(kinds.map(([text = ""]) => form(text))).size, kinds.length)
    for (const text of ['{"to":1.1,"by":"\\u0041"}', '{"2":"x","1":[-1]}'])
      assert.strictEqual(form(text), canonicalOf(JSON.parse(text)))
  })

  it("A1-52: a text of megabytes is compared by its digest and never written again as JSON", () => {
    let longest = 0
    const keyed = (text: string) => {
      longest = Math.max(longest, text.length)
      return stubSealing.quickFingerprint(text)
    }
    const print = (body: unknown) => fingerprintOf(keyed, "POST", "/p", body)
    const long = "A".repeat(8_000_000)
    const prints = [
      print({ name: "a", data: long }),
      print({ name: "b", data: long }),
      print({ name: "a", data: `${long}A` }),
      print({ name: "a", data: long, more: long }),
      print({ name: "a", more: long })
    ]
    assert.strictEqual(new Set(prints).size, prints.length)
    assert.strictEqual(print({ data: long, name: "a" }), prints[0])
    assert.isBelow(longest, 1_000)
  })

  it("A1-52: a body is stored as a hash under the data key: without the key, trying bodies finds nothing", async () => {
    await post(collateral, { a: 1 })
    const { fingerprint } = server.stub.answers.get(
      answerClaim(`partner:${partner.row.id}`, `key-${name}`)
    ) as AnswerRow
    assert.strictEqual(fingerprint, fingerprintOf(stubSealing.quickFingerprint, "POST", collateral, { a: 1 }))
    assert.match(fingerprint, /^k1:[0-9a-f]{64}$/)
    const other = makeSealing({ current: 1, keys: new Map([[1, Buffer.alloc(32, 6)]]) })
    assert.notStrictEqual(fingerprint, fingerprintOf(other.quickFingerprint, "POST", collateral, { a: 1 }))
    assert.notInclude(fingerprint, olderFingerprintOf("POST", collateral, { a: 1 }))
  })

  it("A1-52: an answer stored with the plain SHA-256 of before is replayed, and still a conflict for another body", async () => {
    const key = `key-${name}`
    const older = {
      principal: `partner:${partner.row.id}`,
      key,
      fingerprint: olderFingerprintOf("POST", collateral, { a: 1 })
    }
    await Effect.runPromise(server.stub.keep({ ...older, status: 201, body: "{}", answeredAt: now }))
    const other = await post(collateral, { a: 2 })
    const again = await post(collateral, { a: 1 })
    assert.deepStrictEqual([other.status, codeOf(other)], [409, 4092])
    assert.deepStrictEqual([again.status, again.text, replayed(again)], [201, "{}", "true"])
  })
})

describe("A1-51: recent answers in memory", () => {
  const answer = (body: string) => ({ fingerprint: "f", status: 200, body, answeredAt: now })

  it("A1-51: the number is limited; answers in use stay", () => {
    const recent = new RecentAnswers({ count: 8, bytes: 1e9 })
    for (let i = 0; i < 100; i++) {
      recent.set(`k${i}`, answer(`${i}`))
      assert.strictEqual(recent.get("k0")?.body, "0")
    }
    const left = Array.from({ length: 100 }, (_, i) => recent.get(`k${i}`)).filter((found) => found !== undefined)
    assert.isAtMost(left.length, 8)
    assert.isAtLeast(left.length, 2)
  })

  it("A1-51: bounded by bytes", () => {
    const recent = new RecentAnswers({ count: 1e6, bytes: 100_000 })
    for (let i = 0; i < 100; i++) recent.set(`k${i}`, answer("x".repeat(10_000)))
    const left = Array.from({ length: 100 }, (_, i) => recent.get(`k${i}`)).filter((found) => found !== undefined)
    assert.isAtMost(left.length, 6)
  })
})
