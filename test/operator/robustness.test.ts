/**
 * The operator surface under unusual input and failures: sentences for wrong fields, names that the database can't
 * hold, failed statements, callers who disconnect, and the end of the sandbox's time (operator surface, rules; doc 1,
 * error registry).
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { HttpEffect } from "effect/http"
import { operatorServices } from "../../src/http/operator/operatorFeatures.ts"
import { makeOperatorApp } from "../../src/http/operator/OperatorServer.ts"
import { clockEnd } from "../../src/runtime/services/shared/clockEnd.ts"
import { expectLog } from "../support/expectLog.ts"
import { openOperator, operatorCalls } from "./operatorScenario.ts"

const service = await openOperator()
const request = operatorCalls(service)

interface Envelope {
  readonly code: number
  readonly msg: string
  readonly data?: { readonly errors?: Readonly<Record<string, string>>; readonly errorId?: string }
}

const send = async (method: "GET" | "POST", path: string, body?: unknown) => {
  const answer = await request(method, path, {
    key: service.keys.ADMIN,
    ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } })
  })
  return { status: answer.status, headers: answer.headers, json: answer.json as Envelope }
}

describe("A1-14: operator sentences", () => {
  const limit = "The limit must be a whole number from 1 to 1000."
  const advance = "The advance in milliseconds must be a whole number from 1 to 316224000000."
  const read = "The read limit must be a whole number from 1 to 1000000000."
  it.each([
    ["GET", "/audit?limit=abc", undefined, { limit }],
    ["GET", "/audit?limit=1e2", undefined, { limit }],
    ["GET", "/audit?limit=0x10", undefined, { limit }],
    ["GET", "/audit?limit=1.0", undefined, { limit }],
    ["GET", "/audit?limit=", undefined, { limit }],
    ["GET", "/audit?limit=1001", undefined, { limit }],
    ["GET", "/audit?limit=1&limit=2", undefined, { limit }],
    ["GET", "/audit?since=now", undefined, { since: "The time must be a whole number from 0 to 9007199254740991." }],
    ["GET", "/cases?open=maybe", undefined, { open: "The open mark must be one of: true, false." }],
    ["GET", "/clients?partner=a&partner=b", undefined, { partner: "It must be one id or name." }],
    ["POST", "/sim/clock", {}, { advanceMillis: "The advance in milliseconds is required." }],
    ["POST", "/sim/clock", { advanceMillis: "5" }, { advanceMillis: advance }],
    ["POST", "/sim/clock", { advanceMillis: null }, { advanceMillis: advance }],
    ["POST", "/sim/clock", { advanceMillis: 1.5 }, { advanceMillis: advance }],
    ["POST", "/partners/A/limits", { read: "1" }, { read }],
    ["POST", "/partners/A/cidrs", {}, { cidrs: "The address ranges are required." }],
    ["POST", "/partners/A/cidrs", { cidrs: 1 }, { cidrs: "The address ranges must be a list of 0 to 256 entries." }],
    ["POST", "/partners/A/cidrs", { cidrs: [1] }, { "cidrs.0": "Each entry must be text." }]
  ] as ReadonlyArray<readonly ["GET" | "POST", string, unknown, Readonly<Record<string, string>>]>)(
    "%s %s %j is 400 code 4000 with a plain sentence",
    async (method, path, body, errors) => {
      const { status, json } = await send(method, path, body)
      assert.deepStrictEqual([status, json.code, json.data?.errors], [400, 4000, errors])
    }
  )

  it("plain digits are taken", async () => {
    assert.strictEqual((await send("GET", "/audit?limit=1&after=0&since=0")).status, 200)
  })
})

describe("A1-01: names the database can't hold", () => {
  it.each([
    "/clients/%00",
    "/clients/A%00-00000001",
    "/audit?client=%00",
    "/audit?partner=%00",
    "/audit?object=%00",
    "/audit?object=client:%00",
    "/clients?partner=%00",
    "/partners/%00",
    "/machines/client/%00",
    "/machines/%00/1",
    "/machines/approval/%00",
    "/machines/verificationBlock/%00:PEP"
  ])("%s is 400 code 4000, reported at its name", async (path) => {
    const { status, json } = await send("GET", path)
    assert.deepStrictEqual([status, json.code], [400, 4000])
    assert.deepStrictEqual(Object.values(json.data?.errors ?? {}), ["It must be one id or name."])
  })
})

describe("doc 1, error registry: failed statements", () => {
  const sql = (text: string) => service.run(Effect.flatMap(PgClient.PgClient, (client) => client.unsafe(text)))

  it.each([
    ["watch_entries", "/screening"],
    ["audit", "/audit"],
    ["approvals", "/approvals"],
    ["clients", "/clients/NOBODY-00000001"]
  ])("5000: a statement on %s that the server refuses is a defect with an id", async (table, path) => {
    expectLog(/operator request failed by a defect: .* code=42P01/)
    await sql(`ALTER TABLE ${table} RENAME TO moved_away`)
    try {
      const { status, headers, json } = await send("GET", path)
      assert.deepStrictEqual([status, json.code, headers["retry-after"]], [500, 5000, undefined])
      assert.match(json.data?.errorId ?? "", /^[0-9a-f-]{36}$/)
    } finally {
      await sql(`ALTER TABLE moved_away RENAME TO ${table}`)
    }
  })
})

describe("operator surface, callers who hang up", () => {
  /** Runs one request as the server does and aborts it once it waits for its body. Returns the log lines. */
  const hangUp = () =>
    service.run(
      Effect.scoped(
        Effect.gen(function* () {
          const app = yield* Effect.provideContext(makeOperatorApp, yield* Layer.build(operatorServices))
          const logged: Array<unknown> = []
          const recorder = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
          const handle = HttpEffect.toWebHandler(Effect.provide(app, recorder))
          const reading = Promise.withResolvers<void>()
          const caller = new AbortController()
          const answer = handle(
            new Request("https://localhost/operator/v1/operators", {
              method: "POST",
              headers: { authorization: `Bearer ${service.keys.ADMIN}`, "content-type": "application/json" },
              body: new ReadableStream({ pull: () => reading.resolve() }),
              signal: caller.signal,
              duplex: "half"
            } as RequestInit)
          )
          yield* Effect.promise(() => reading.promise)
          caller.abort()
          return { status: (yield* Effect.promise(() => answer)).status, logged }
        })
      )
    )

  it("a caller who hangs up is no defect: nothing is logged", async () => {
    assert.deepStrictEqual(await hangUp(), { status: 499, logged: [] })
  })
})

describe("operator surface, sim clock: the end of time", () => {
  const advance = (advanceMillis: number) => send("POST", "/sim/clock", { advanceMillis })

  it("business time stays before the year 2100, however often it is moved", async () => {
    const step = 3_650 * 86_400_000
    let now = ((await send("GET", "/sim/clock")).json.data as unknown as { readonly now: number }).now
    while (now + step < clockEnd) {
      const { status, json } = await advance(step)
      assert.strictEqual(status, 200)
      now = (json.data as unknown as { readonly now: number }).now
    }
    const before = (await service.done(["sim", "clock", "show"])).offsetMillis
    const { status, json } = await advance(step)
    assert.deepStrictEqual(
      [status, json.code, json.data?.errors],
      [400, 4000, { advanceMillis: "The clock can't be moved into the year 2100 or later." }]
    )
    assert.strictEqual((await service.done(["sim", "clock", "show"])).offsetMillis, before)
    assert.strictEqual((await advance(1_000)).status, 200)
  })
})
