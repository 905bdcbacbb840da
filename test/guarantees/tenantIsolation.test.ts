/**
 * A partner can read and change only its own clients: a foreign client is indistinguishable from a missing one on every
 * route of the contract, by status, code, sentence and bytes (doc 1, Errors 4004; A1-02).
 */
import { assert, describe, it } from "@effect/vitest"
import { partnerRoutes } from "../../src/http/features.ts"
import { collateral, get, rowCounts, rowsOf } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"

const { service, partner: owner } = await openScenario()
const stranger = await service.partner()
const clientId = await service.client(owner.key)
const own = await service.client(stranger.key)
await collateral(service, owner.key, clientId, { partnerRef: "secret", direction: "DEPOSIT", amount: "77" })
await collateral(service, stranger.key, own, { partnerRef: "mine", direction: "DEPOSIT", amount: "5" })

const unknownId = 8_999_999

describe("tenant isolation", () => {
  const ofClient = partnerRoutes.routes.filter((route) => route.ofClient)
  const bodies = [{}, { partnerRef: "try", direction: "DEPOSIT", amount: "1" }, { amount: 1 }]

  it("the contract has routes of a client for reads and writes", () => {
    assert.isAtLeast(ofClient.length, 6)
    assert.includeMembers(
      ofClient.map((route) => route.method),
      ["GET", "POST"]
    )
  })

  it.each(ofClient.map(({ method, path }) => [method, path] as const))(
    "4004: %s %s of a foreign client answers as for a missing one",
    async (method, path) => {
      const before = await rowCounts(service)
      const at = (id: number) => path.replace(":clientId", String(id)).replaceAll(/:[a-zA-Z]+/g, "1")
      for (const body of method === "GET" ? [undefined] : bodies) {
        for (const search of method === "GET" ? ["", "?limit=0", "?status=NONE"] : [""]) {
          const [foreign, none] = await Promise.all(
            [clientId, unknownId].map((id) =>
              service.call(method, `${at(id)}${search}`, { key: stranger.key, ...(body === undefined ? {} : { body }) })
            )
          )
          assert.deepStrictEqual([foreign?.status, foreign?.json.code], [404, 4004])
          assert.deepStrictEqual([foreign?.status, foreign?.text], [none?.status, none?.text])
          const names = (answer: typeof foreign) => Object.keys(answer?.headers ?? {}).sort()
          assert.deepStrictEqual(names(foreign), names(none))
        }
      }
      assert.deepStrictEqual(await rowCounts(service), before)
    }
  )

  it("4004: a foreign reference is answered like an unknown one", async () => {
    const [foreign, none] = await Promise.all(
      ["theirs-1", "theirs-0"].map((ref) => get(service, stranger.key, `/clients/by-ref/${ref}`))
    )
    assert.deepStrictEqual([foreign?.status, foreign?.text], [404, none?.text])
  })

  it.each(["/clients?limit=200", "/clients?q=theirs", "/clients?q=", "/collateral?limit=200", "/summary", "/me"])(
    "%s shows only the caller's own objects",
    async (path) => {
      const { status, text } = await get(service, stranger.key, path)
      assert.strictEqual(status, 200)
      for (const mark of ["theirs", "secret", "77.000000", `"clientId":${clientId},`, owner.code]) {
        assert.notInclude(text, mark)
      }
    }
  )

  it("A1-09: a cursor of a foreign client pages through the caller's own objects", async () => {
    const page = (await get(service, stranger.key, `/clients?before=${own + 1_000}`)).json.data.clients
    assert.deepStrictEqual(
      page.map((row: { readonly clientId: number }) => row.clientId),
      [own]
    )
    assert.lengthOf((await get(service, stranger.key, `/clients?before=${own}`)).json.data.clients, 0)
  })

  it("Summary: cash and counts are the caller's own", async () => {
    const { clients, clientCash } = (await get(service, stranger.key, "/summary")).json.data
    assert.deepStrictEqual([clients.total, clientCash[0].cash], [1, "5.000000"])
  })

  it("A1-52: the same Idempotency-Key of two partners is two keys", async () => {
    const headers = { "idempotency-key": "shared-key" }
    const body = { partnerRef: "shared", direction: "DEPOSIT", amount: "1" }
    const [a, b] = [
      await collateral(service, owner.key, clientId, body, headers),
      await collateral(service, stranger.key, own, body, headers)
    ]
    assert.deepStrictEqual([a.status, b.status], [201, 201])
    assert.deepStrictEqual([a.json.data.report.clientId, b.json.data.report.clientId], [clientId, own])
    assert.isUndefined(b.headers["idempotency-replayed"])
  })

  it("A1-52: a key answered for an own client gives no access to a foreign one", async () => {
    const body = { partnerRef: "cross", direction: "DEPOSIT", amount: "1" }
    await collateral(service, stranger.key, own, body, { "idempotency-key": "cross" })
    const { status, json } = await collateral(service, stranger.key, clientId, body, { "idempotency-key": "cross" })
    assert.deepStrictEqual([status, json.code], [409, 4092])
  })

  it("every stored row of a client has its partner", async () => {
    for (const table of ["events", "collateralReports", "postings", "audit"] as const) {
      for (const row of await rowsOf(service, table, "client_id = $1", [BigInt(clientId)])) {
        assert.strictEqual(row.partnerId, owner.partnerId, table)
      }
    }
  })
})
