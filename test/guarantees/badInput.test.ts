/**
 * Hostile and broken input on every write: the documented error, nothing written, no 500, and the service lives
 * (doc 1, Errors; A1-01, A1-14, A1-27; F2, input grammar).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { brokenInvariants, collateral, get, onboard, person, rowCounts } from "../support/Builders.ts"
import { type Answer, type Service, startService } from "../support/Service.ts"

/** One value of every kind that no field of the contract accepts unchanged, as JSON text. */
const hostile: ReadonlyArray<readonly [string, string]> = [
  ["a number", "1"],
  ["negative zero", "-0"],
  ["2^63", "9223372036854775808"],
  ["a fraction", "0.5"],
  ["a boolean", "true"],
  ["an empty text", '""'],
  ["white space", '" \\u00a0\\t"'],
  ["a control character", '"a\\u0007b"'],
  ["a line separator", '"a\\u2028b"'],
  ["a long text", JSON.stringify("x".repeat(20_000))],
  ["a prototype's name", '"__proto__"'],
  ["an empty object", "{}"],
  ["an object", '{"constructor":{"prototype":{"polluted":true}},"toString":1}'],
  ["an empty list", "[]"],
  ["a list of everything", '[null,1,"a",{},[],true]']
]

/** Amounts in every wrong form (F2). */
const wrongAmounts: ReadonlyArray<unknown> = [
  "0",
  "0.000000",
  "-1",
  "-0",
  "+1",
  "1e3",
  "1E3",
  "1e400",
  "0x10",
  "01",
  "00.1",
  ".5",
  "5.",
  "1,000.00",
  "1.000,00",
  "1_000",
  "1 000",
  "1.0000000",
  "1.0000001",
  "NaN",
  "Infinity",
  "-Infinity",
  "",
  " ",
  "١٢",
  "１",
  "1.2.3",
  "null",
  "9223372036854.775808",
  "1".repeat(19),
  "1".repeat(5_000),
  "$1",
  "1 USDC",
  "1\u200b",
  "1\n2",
  "--1",
  1,
  0,
  -1,
  1.5,
  Number.MAX_SAFE_INTEGER,
  true,
  [],
  ["1"],
  {},
  { toString: "1" },
  null
]

/** Every dotted path to a value inside a body. */
const pathsOf = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value !== "object" || value === null
    ? [path]
    : [
        ...(path.length === 0 ? [] : [path]),
        ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...path, key]))
      ]

/** The body's JSON with the value at a path replaced by raw JSON text. */
const spliced = (body: object, path: ReadonlyArray<string>, raw: string): string => {
  const copy = structuredClone(body)
  const owner = path.slice(0, -1).reduce((at, key) => at[key] as never, copy as Record<string, unknown>)
  owner[path.at(-1) as string] = "@@splice@@"
  return JSON.stringify(copy).replace('"@@splice@@"', () => raw)
}

describe("bad input", () => {
  let service: Service
  let key: string
  let clientId: number
  let persons = 0

  beforeAll(async () => {
    service = await startService()
    key = (await service.partner()).key
    clientId = await service.client(key)
    await collateral(service, key, clientId, { partnerRef: "funds", direction: "DEPOSIT", amount: "10" })
  })
  afterAll(async () => {
    assert.deepStrictEqual(await brokenInvariants(service), [])
    await service.stop()
  })

  const raw = (path: string, text: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
    service.call("POST", `/partner/v1${path}`, { key, raw: text, headers })
  const writes = () => ["/clients", `/clients/${clientId}/collateral`]
  /** Runs a test that may write nothing: no table has more or fewer rows after it. */
  const unchanged = (run: () => Promise<void>) => async () => {
    const before = await rowCounts(service)
    await run()
    assert.deepStrictEqual(await rowCounts(service), before)
  }
  /** Checks for 400 4000 in the envelope, with one sentence. */
  const documented = ({ status, json }: Answer, what: string) => {
    assert.deepStrictEqual([status, json?.code], [400, 4000], what)
    assert.strictEqual(json.error, json.msg, what)
    assert.match(json.msg, /^[A-Z][^\n]*\.$/, what)
  }

  const broken: ReadonlyArray<readonly [string, string | Uint8Array]> = [
    ["no JSON", "hello"],
    ["half an object", '{"a":'],
    ["two values", "{} {}"],
    ["a trailing comma", '{"a":1,}'],
    ["single quotes", "{'a':1}"],
    ["a comment", "{/* */}"],
    ["NaN", '{"amount":NaN}'],
    ["a byte order mark", "\ufeff{}"],
    ["bytes that are not UTF-8", Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ["an overlong UTF-8 sequence", Uint8Array.from([0x22, 0xc0, 0x80, 0x22])],
    ["null", "null"],
    ["a list", "[]"],
    ["a text", '"{}"'],
    ["a number", "1"],
    ["10,000 lists deep", "[".repeat(10_000) + "]".repeat(10_000)],
    ["10,000 objects deep", '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000)],
    ["10,000 deep inside a field", `{"partnerRef":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
    ["U+0000 in a text", '{"partnerRef":"a\\u0000b"}'],
    ["U+0000 in a name", '{"a\\u0000b":1}'],
    ["half of a surrogate pair", '{"partnerRef":"\\ud800"}'],
    ["the other half", '{"x":["\\udc00"]}'],
    ["1e400", '{"occurredAt":1e400}'],
    ["an unescaped line break", '{"a":"b\nc"}']
  ]

  it.each(broken)("A1-01: a body of %s is 400 on every write, keyed or not", async (name, body) => {
    const before = await rowCounts(service)
    for (const [n, path] of writes().entries()) {
      for (const headers of [{}, { "idempotency-key": `broken-${n}-${name.replaceAll(/[^\w]/g, "-")}` }]) {
        const answer = await raw(path, body, headers)
        documented(answer, path)
      }
    }
    // The keyed refusal of a readable body is stored as an answer; no other row is written.
    const after = await rowCounts(service)
    assert.deepStrictEqual({ ...after, answers: 0 }, { ...before, answers: 0 })
  })

  it(
    "A1-01: an empty body is no JSON on a route with required fields",
    unchanged(async () => {
      for (const path of writes()) {
        const answer = await raw(path, "")
        documented(answer, path)
        assert.deepStrictEqual(answer.json.data, { reason: "INVALID_BODY" })
      }
    })
  )

  it("A1-27: every hostile value in every field of POST /clients is a field error under that field", async () => {
    const body = person(++persons, "hostile", {
      residencyCountry: "DE",
      "kyc.personalInfo.middle_name": "Maria",
      "identityCheck.documentExpiry": "2099-01-01",
      "attestation.screening.provider": "Desk"
    })
    const checks = pathsOf(body).flatMap((path) => hostile.map(([name, text]) => ({ path, name, text })))
    assert.isAbove(checks.length, 900)
    let refused = 0
    // A few requests at a time, because the test is about answers, not load.
    for (let at = 0; at < checks.length; at += 32) {
      const chunk = checks.slice(at, at + 32)
      const answers = await Promise.all(chunk.map(({ path, text }) => raw("/clients", spliced(body, path, text))))
      for (const [index, answer] of answers.entries()) {
        const { path, name } = chunk[index] as (typeof checks)[number]
        const what = `${path.join(".")} as ${name}`
        // Some values are valid for some fields. Such a body creates a client; the next test covers it.
        if (answer.status === 201 || answer.status === 409) continue
        documented(answer, what)
        const places = Object.keys(answer.json.data.errors)
        const near = (place: string) => {
          const [a, b] = [place.split("."), path]
          return (
            a.every((part, n) => n >= b.length || part === b[n]) || b.every((part, n) => n >= a.length || part === a[n])
          )
        }
        // A flag that is set requires other fields of its section.
        assert.isTrue(places.every(near) || name === "a boolean", `${what}: ${places}`)
        refused++
      }
    }
    assert.isAbove(refused, 800)
  })

  it(
    "Refusal rules: every hostile value in every field of a collateral report",
    unchanged(async () => {
      const body = {
        partnerRef: "hostile",
        direction: "DEPOSIT",
        amount: "1",
        currency: "USDC",
        sourceAsset: "EURD",
        txRef: "0x1",
        occurredAt: 1_700_000_000_000
      }
      // Valid values: optional texts may be empty, and a time is any positive integer up to now.
      const right = new Set([
        "sourceAsset as an empty text",
        "sourceAsset as white space",
        "sourceAsset as a prototype's name",
        "txRef as an empty text",
        "txRef as white space",
        "txRef as a prototype's name",
        "partnerRef as a prototype's name",
        "occurredAt as a number"
      ])
      for (const path of pathsOf(body)) {
        for (const [name, text] of hostile) {
          const what = `${path[0]} as ${name}`
          if (right.has(what)) continue
          const answer = await raw(`/clients/${clientId}/collateral`, spliced(body, path, text))
          documented(answer, what)
          assert.deepStrictEqual(Object.keys(answer.json.data.errors), path, what)
        }
      }
    })
  )

  it(
    "F2: an amount in any other form than a plain decimal text is 400",
    unchanged(async () => {
      for (const amount of wrongAmounts) {
        const answer = await collateral(service, key, clientId, { partnerRef: "amount", direction: "DEPOSIT", amount })
        documented(answer, JSON.stringify(amount))
        assert.deepStrictEqual(Object.keys(answer.json.data.errors), ["amount"], JSON.stringify(amount))
        if (typeof amount === "string" && amount.trim().length > 3) assert.notInclude(answer.json.msg, amount)
      }
    })
  )

  it("A1-01: __proto__ members are dropped, unknown ones ignored, the last of two wins", async () => {
    const path = `/clients/${clientId}/collateral`
    const before = await rowCounts(service)
    const polluted = '{"__proto__":{"amount":"5","polluted":true},"partnerRef":"p","direction":"DEPOSIT"}'
    const answer = await raw(path, polluted)
    documented(answer, "amount from __proto__")
    assert.isUndefined(({} as Record<string, unknown>)["polluted"])
    assert.deepStrictEqual(await rowCounts(service), before)
    const doubled =
      '{"partnerRef":"double","direction":"WITHDRAWAL","direction":"DEPOSIT","amount":"9","amount":"0.000002","constructor":{"prototype":1}}'
    const booked = await raw(path, doubled)
    assert.deepStrictEqual([booked.status, booked.json.data.report.amount], [201, "0.000002"])
  })

  it(
    "Limits: a body over the route's cap is 413 4000, one within it is checked",
    unchanged(async () => {
      const padded = (length: number) => `{"partnerClientRef":"${"x".repeat(length - 23)}"}`
      const over = await raw("/clients", padded(256 * 1024 + 1))
      assert.deepStrictEqual([over.status, over.json.code], [413, 4000])
      documented(await raw("/clients", padded(256 * 1024)), "256 KiB exactly")
      const megabyte = "x".repeat(1024 * 1024)
      const long = { partnerRef: megabyte, direction: "DEPOSIT", amount: megabyte }
      assert.strictEqual((await collateral(service, key, clientId, long)).status, 413)
      assert.strictEqual((await onboard(service, key, { email: megabyte })).status, 413)
    })
  )

  it.each([
    ["empty", ""],
    ["of 129 characters", "k".repeat(129)],
    ["with a space", "a b"],
    ["outside ASCII", "k\u00e9y"]
  ])("A1-52: an Idempotency-Key %s is 400", (_, header) =>
    unchanged(async () => {
      documented(await raw(`/clients/${clientId}/collateral`, "{}", { "idempotency-key": header }), header)
    })()
  )

  it("A1-51: a refused keyed request stores its answer and nothing else", async () => {
    const before = await rowCounts(service)
    const body = { partnerRef: "keyed", direction: "DEPOSIT", amount: "x" }
    documented(await collateral(service, key, clientId, body, { "idempotency-key": "refused-once" }), "keyed")
    assert.deepStrictEqual(await rowCounts(service), { ...before, answers: (before["answers"] ?? 0) + 1 })
  })

  it.each([
    "/clients?q=%00",
    "/clients?q=%ff",
    "/clients?q='%20OR%201=1--",
    "/clients?limit=1;DROP%20TABLE%20clients",
    `/clients?q=${"%25".repeat(300)}`
  ])("A1-09: the query %s is answered without a defect", async (path) =>
    assert.include([200, 400], (await get(service, key, path)).status)
  )

  it("the service continues: a valid report is booked and a valid client onboarded", async () => {
    const body = { partnerRef: "alive", direction: "DEPOSIT", amount: "1" }
    assert.strictEqual((await collateral(service, key, clientId, body)).status, 201)
    assert.strictEqual((await onboard(service, key, person(++persons, "alive"))).status, 201)
  })
})
