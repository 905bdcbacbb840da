/**
 * Bodies that would cost the operator surface memory or time, dry runs with a wrong parameter, and the caching headers
 * of every answer (doc 1, Limits: body caps; A1-01, A1-27; operator surface, rules).
 */
import { assert, describe, it } from "@effect/vitest"
import { maxImportPiece } from "../../src/http/api/operator/ScreeningGroup.ts"
import { bodyCaps, bodyMembers, shownFaults } from "../../src/machines/shared/Limits.ts"
import { type CallOptions } from "../http/callServer.ts"
import { openOperatorScenario, operatorCalls } from "./operatorScenario.ts"

const { service, key } = await openOperatorScenario({ partner: { code: "LARGE" } })
const request = operatorCalls(service)
const clientId = await service.client(key)

const send = async (path: string, raw: string, headers: NonNullable<CallOptions["headers"]> = {}, method = "POST") => {
  const answer = await request(method, path, {
    key: service.keys.ADMIN,
    ...(method === "GET" ? {} : { raw }),
    headers
  })
  const json = answer.json as {
    readonly code: number
    readonly msg: string
    readonly data?: { readonly errors?: Readonly<Record<string, string>> }
  }
  return { ...answer, json, told: [answer.status, json?.code, json?.msg] }
}
const repeated = (item: string, times: number) => Array.from({ length: times }, () => item).join(",")
const padded = (bytes: number) => `{"reason":"r","x":"${"x".repeat(bytes - 21)}"}`
const chunked = { "transfer-encoding": "chunked", "content-length": [] }

const entriesPath = "/screening/imports/1/entries"
const tooLarge = [413, 4000, "The request body is larger than this route allows."]
const tooMany = [400, 4000, `The request body has more than ${bodyMembers} members and entries.`]

describe("doc 1, Limits: body caps of operator commands", () => {
  const caps: ReadonlyArray<readonly [path: string, cap: number]> = [
    ["/partners/LARGE/reliance", bodyCaps.operator],
    ["/partners/LARGE/cidrs", bodyCaps.operator],
    ["/approvals/1/grant", bodyCaps.operator],
    ["/appropriateness", bodyCaps.questionnaire],
    [entriesPath, bodyCaps.watchListPiece]
  ]
  it.each(caps)("%s accepts %i bytes and not one more, declared or not", async (path, cap) => {
    for (const headers of [{}, chunked]) {
      assert.notStrictEqual((await send(path, padded(cap), headers)).status, 413)
      const over = await send(path, padded(cap + 1), headers)
      assert.deepStrictEqual([over.told, over.headers["connection"]], [tooLarge, "close"])
    }
  })

  it("the largest piece of a watch list that the command line sends fits", () => {
    const entry = { name: "\u{20000}".repeat(200), dob: "1990-01-01", country: "DE", list: "SANCTIONS" }
    const piece = { offset: 4_999_999, entries: Array.from({ length: maxImportPiece }, () => entry) }
    assert.isBelow(Buffer.byteLength(JSON.stringify(piece)), bodyCaps.watchListPiece)
  })

  it("an unknown key, or one without the role, gets that answer unread, however long the body", async () => {
    for (const [key, status] of [
      ["bok_wrong", 401],
      [service.keys.SUPPORT, 403]
    ] as const) {
      const answer = await request("POST", entriesPath, {
        key,
        raw: padded(2_000_000)
      })
      assert.strictEqual(answer.status, status)
    }
  })
})

describe("A1-01: operator bodies are judged before they are built", () => {
  it.each([
    [entriesPath, `{"offset":0,"entries":[${repeated("1", 500_000)}]}`],
    [entriesPath, `{"offset":0,"entries":[${repeated("[]", 300_000)}]}`],
    ["/appropriateness", `{"questionnaire":{"questions":[${repeated("1", 60_000)}]}}`]
  ])("%s with more members than any body has is one sentence", async (path, raw) => {
    assert.deepStrictEqual((await send(path, raw)).told, tooMany)
  })

  it("nested too deeply, half a surrogate pair and U+0000 are answered as on the partner surface", async () => {
    const deep = await send("/appropriateness", `{"questionnaire":${"[".repeat(5_000)}${"]".repeat(5_000)}}`)
    assert.deepStrictEqual(deep.told, [400, 4000, "The request body is nested too deeply."])
    for (const text of ["\\u0000", "\\ud800"]) {
      const { status, json } = await send("/partners/LARGE/reliance", `{"status":"APPROVED","reason":"${text}"}`)
      assert.deepStrictEqual([status, json.code, json.data], [400, 4000, { reason: "INVALID_BODY" }])
    }
  })
})

describe("A1-27: an answer names a hundred faults at the most", () => {
  it.each([
    [entriesPath, { offset: 0, entries: Array(maxImportPiece + 1).fill(1) }, { entries: 1 }],
    ["/partners/LARGE/cidrs", { cidrs: Array(257).fill(1) }, { cidrs: 1 }],
    ["/appropriateness", { questionnaire: { questions: Array(65).fill(1) } }, { questions: 1 }]
  ])("%s: a list that is too long is one fault, whatever it contains", async (path, body, expected) => {
    const { json } = await send(path, JSON.stringify(body))
    for (const field of Object.keys(expected)) assert.match(json.data?.errors?.[field] ?? "", /must be a list of/)
    assert.isFalse(Object.keys(json.data?.errors ?? {}).some((field) => /\d/.test(field)))
  })

  it.each([
    [entriesPath, { offset: 0, entries: Array(maxImportPiece).fill(1) }],
    ["/partners/LARGE/cidrs", { cidrs: Array(256).fill(1) }],
    ["/partners/LARGE/cidrs", { cidrs: Array(256).fill("x") }],
    [
      "/appropriateness",
      { questionnaire: { questions: Array.from({ length: 64 }, () => ({ options: Array(60).fill(1) })), sections: [] } }
    ]
  ])("%s: of more faults the first hundred are named", async (path, body) => {
    const { status, json } = await send(path, JSON.stringify(body))
    assert.deepStrictEqual(
      [status, json.code, Object.keys(json.data?.errors ?? {}).length],
      [400, 4000, shownFaults.operator]
    )
  })
})

describe("operator surface, dry runs: requested in the query alone", () => {
  const restrictions = async () => (await service.done(["client", "show", String(clientId)])).restriction
  const body = { restriction: "NO_NEW_RISK", reason: "r" }

  it.each(["dryRun[]=true", "dryRun%00=true", "dry.run=true", "dryRun=true;x=1", "dryRun", "%20dryRun=true"])(
    "?%s is refused and nothing is done",
    async (query) => {
      const before = await restrictions()
      const { status, json } = await send(`/clients/${clientId}/restrict?${query}`, JSON.stringify(body))
      assert.deepStrictEqual(
        [status, json.code, Object.keys(json.data?.errors ?? {}), await restrictions()],
        [400, 4000, ["dryRun"], before]
      )
    }
  )

  it.each(["dryRun", "dryrun", "dry_run", "dry-run", "dryRun[]"])(
    "a member %s of the body is refused and nothing is done",
    async (name) => {
      const before = await restrictions()
      const { status, json } = await send(`/clients/${clientId}/restrict`, JSON.stringify({ ...body, [name]: true }))
      assert.deepStrictEqual([status, json.code, await restrictions()], [400, 4000, before])
      assert.deepStrictEqual(json.data?.errors, { [name]: "A dry run is requested in the query: ?dryRun=true." })
    }
  )
})

describe("operator surface, rules: no cache stores answers", () => {
  it.each([
    ["GET", "/partners", 200],
    ["GET", "/metrics", 200],
    ["GET", "/partners/NOBODY", 404],
    ["GET", "/no/such/route", 404],
    ["POST", "/partners", 400],
    ["POST", "/ledger/verify", 404]
  ])("%s %s has Cache-Control: no-store", async (method, path, status) => {
    const answer = await send(path, "{}", {}, method)
    assert.deepStrictEqual([answer.status, answer.headers["cache-control"]], [status, "no-store"])
  })
})

describe("A1-14: names and labels that show nothing", () => {
  const partner = { code: "SHOWN", legalName: "Shown AG", country: "DE", licence: "MICA_CASP" }
  it.each([
    ["/partners", { ...partner, name: "\u202e" }, { name: "The name is required." }],
    ["/operators", { label: "\u200b\u2060", role: "SUPPORT" }, { label: "The label is required." }],
    ["/partners/LARGE/keys", { label: "\u202e\u202c", scope: "READ" }, { label: "The label is required." }],
    ["/screening", { name: "\u2066\u2069", list: "PEP" }, { name: "The name is required." }],
    ["/screening", { name: " ", list: "PEP" }, { name: "The name is required." }],
    [
      "/partners",
      { ...partner, name: "Shown\u202eGA" },
      { name: "The name must not contain characters that change the direction of writing." }
    ]
  ])("%s %j is refused at its field", async (path, body, errors) => {
    const { status, json } = await send(path, JSON.stringify(body))
    assert.deepStrictEqual([status, json.data?.errors], [400, errors])
  })

  it("a listed name is accepted as published: with joiners and direction marks", async () => {
    const { status } = await send("/screening", JSON.stringify({ name: "می\u200cخواهم\u202c", list: "PEP" }))
    assert.strictEqual(status, 200)
  })
})

describe("A1-14: the part of a ledger export", () => {
  it.each([
    ["/ledger/export", "The part is required."],
    ["/ledger/export?part=all", "The part must be one of: accounts, transactions."]
  ])("%s: %s", async (path, sentence) => {
    assert.deepStrictEqual((await send(path, "", {}, "GET")).json.data?.errors, { part: sentence })
  })
})
