/**
 * Every read of the partner surface on the real service: shapes, paging, filters, look-ups, HEAD (doc 1, Partner
 * profile to Summary; doc 2, Account reads; doc 3, Collateral report; A1-01, A1-06, A1-09, A1-13, A1-18, A1-54).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { collateral, get, onboard, person } from "../support/Builders.ts"
import { type Answer, type Service, startService } from "../support/Service.ts"

interface Row {
  readonly clientId: number
  readonly partnerClientRef: string
}

/** Persons whose fields the filter must distinguish; the reference decides which one a row is. */
const people = [
  { ref: "plain-1", email: "first@mail.example", first: "Anna", last: "Albrecht" },
  { ref: "per%cent", email: "second@mail.example", first: "Ben", last: "Bergmann" },
  { ref: "under_score", email: "third@mail.example", first: "Clara", last: "Castell" },
  { ref: "back\\slash", email: "fourth@mail.example", first: "David", last: "Dorn" },
  { ref: "a/b c?d&e", email: "fifth+tag@mail.example", first: "Élodie", last: "Müller" },
  { ref: `${"x".repeat(63)}😀`, email: "sixth@mail.example", first: "Felix", last: "O'Falk" },
  { ref: "held-7", email: "seventh@mail.example", first: "Greta", last: "Gruber", rating: "HIGH" }
] as const

describe("reads", () => {
  let service: Service
  let partner: Awaited<ReturnType<Service["partner"]>>
  let ids: ReadonlyArray<number>
  const read = (path: string): Promise<Answer> => get(service, partner.key, path)
  const refs = (answer: Answer): ReadonlyArray<string> =>
    answer.json.data.clients.map((row: Row) => row.partnerClientRef)

  beforeAll(async () => {
    service = await startService()
    partner = await service.partner({ collateralAsset: "EURD" })
    const made: Array<number> = []
    for (const [n, { ref, email, first, last, ...rest }] of people.entries()) {
      const body = person(n, "reads", {
        partnerClientRef: ref,
        email,
        "kyc.personalInfo.first_name": first,
        "kyc.personalInfo.last_name": last,
        "attestation.riskRating": "rating" in rest ? rest.rating : "LOW"
      })
      made.push((await onboard(service, partner.key, body)).json.data.clientId)
    }
    ids = made
    for (let n = 1; n <= 5; n++) {
      await collateral(service, partner.key, ids[0] as number, {
        partnerRef: `in-${n}`,
        direction: "DEPOSIT",
        amount: `${n}.5`
      })
    }
    await collateral(service, partner.key, ids[0] as number, {
      partnerRef: "out",
      direction: "WITHDRAWAL",
      amount: "2"
    })
    await collateral(service, partner.key, ids[0] as number, {
      partnerRef: "no",
      direction: "WITHDRAWAL",
      amount: "99"
    })
    await collateral(service, partner.key, ids[1] as number, { partnerRef: "b-1", direction: "DEPOSIT", amount: "7" })
  })
  afterAll(() => service.stop())

  describe("GET /me", () => {
    it("Partner profile: exactly the documented members", async () => {
      const { status, json } = await read("/me")
      const { asOf, key } = json.data
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(json, {
        code: 0,
        data: {
          partner: {
            partnerId: partner.partnerId,
            code: partner.code,
            name: `Partner ${partner.code}`,
            legalName: `Partner ${partner.code} AG`,
            country: "DE",
            licenceType: "MICA_CASP",
            relianceStatus: "APPROVED",
            status: "ACTIVE",
            sandbox: true,
            custodyModel: "PARTNER",
            collateralAsset: "EURD",
            limits: { readPerMinute: 1_000_000, tradePerMinute: 1_000_000 },
            allowedCidrs: []
          },
          key: {
            keyId: partner.keyId,
            label: "test",
            prefix: partner.key.slice(0, 10),
            scope: "TRADE",
            createdAt: key.createdAt,
            lastUsedAt: key.lastUsedAt
          },
          webhook: null,
          asOf
        }
      })
      assert.isBelow(Math.abs(asOf - Date.now()), 60_000)
    })

    it("A1-06: lastUsedAt is null before the first use", async () => {
      const fresh = await service.partner()
      const { json } = await get(service, fresh.key, "/me")
      assert.isNull(json.data.key.lastUsedAt)
    })
  })

  describe("GET /clients", () => {
    it("Client row: exactly the documented members, the same in list, by id and by reference", async () => {
      const id = ids[0] as number
      const row = (await read(`/clients/${id}`)).json.data
      assert.deepStrictEqual(row, {
        clientId: id,
        clientUid: `${partner.code}-${String(id).padStart(8, "0")}`,
        partnerClientRef: "plain-1",
        email: "first@mail.example",
        displayName: "Anna Albrecht",
        verificationLevel: "MICA",
        lifecycleState: "ACTIVE",
        categorization: "RETAIL",
        riskState: null,
        cashUsdc: "15.500000",
        createdAt: row.createdAt
      })
      assert.deepStrictEqual((await read("/clients/by-ref/plain-1")).json.data, row)
      assert.deepStrictEqual((await read("/clients?limit=200")).json.data.clients.at(-1), row)
    })

    it("A1-09: newest first, the cursor is exclusive, nextBefore ends the walk", async () => {
      const seen: Array<number> = []
      let path = "/clients?limit=3"
      for (let pages = 0; pages < 4; pages++) {
        const { clients, hasMore, nextBefore } = (await read(path)).json.data
        seen.push(...clients.map((row: Row) => row.clientId))
        assert.strictEqual(nextBefore, hasMore ? seen.at(-1) : null)
        if (!hasMore) break
        path = `/clients?limit=3&before=${nextBefore}`
      }
      assert.deepStrictEqual(seen, ids.toReversed())
      const exact = (await read("/clients?limit=7")).json.data
      assert.deepStrictEqual([exact.clients.length, exact.hasMore, exact.nextBefore], [7, false, null])
      const none = (await read(`/clients?before=${ids[0]}`)).json.data
      assert.deepStrictEqual(none, { clients: [], hasMore: false, nextBefore: null })
    })

    it.each([
      ["an e-mail in another case", "FIRST@MAIL", ["plain-1"]],
      ["part of a display name", "anna al", ["plain-1"]],
      ["a reference in another case", "PLAIN-1", ["plain-1"]],
      ["a percent sign", "%", ["per%cent"]],
      ["an underscore", "_", ["under_score"]],
      ["a backslash", "\\", ["back\\slash"]],
      ["an apostrophe", "o'f", [people[5].ref]],
      ["letters outside ASCII in another case", "MÜLLER", ["a/b c?d&e"]],
      ["letters outside ASCII, decomposed", "E\u0301lodie", ["a/b c?d&e"]],
      ["white space around it", "  clara ", ["under_score"]],
      ["nobody", "zzz", []]
    ])("A1-09: q finds %s", async (_, q, expected) => {
      assert.deepStrictEqual(refs(await read(`/clients?q=${encodeURIComponent(q)}`)), expected)
    })

    it.each([
      ["q empty", "q=", 7],
      ["q of white space", "q=%20%20", 7],
      ["state ACTIVE", "state=ACTIVE", 6],
      ["state KYC_PENDING", "state=KYC_PENDING", 1],
      ["state CLOSED", "state=CLOSED", 0],
      ["level MICA", "level=MICA", 6],
      ["level NONE", "level=NONE", 1],
      ["both", "level=MICA&state=KYC_PENDING", 0],
      ["q and state", "q=mail.example&state=KYC_PENDING", 1]
    ])("A1-09: the filter %s", async (_, search, count) => {
      assert.lengthOf(refs(await read(`/clients?${search}`)), count)
    })

    it.each([
      ["/clients", 200],
      ["/collateral", 200],
      ["/clients/ID/collateral", 200],
      ["/clients/ID/ledger", 500]
    ])("Endpoints: malformed paging of %s answers 400", async (route, max) => {
      const path = route.replace("ID", String(ids[0]))
      const bad = ["0", String(max + 1), "-1", "1.5", "01", "+1", "1e2", "", "%201", "abc", "9".repeat(30)]
      for (const limit of bad) {
        const { status, json } = await read(`${path}?limit=${limit}`)
        assert.deepStrictEqual([status, json.code, Object.keys(json.data.errors)], [400, 4000, ["limit"]], limit)
      }
      for (const before of ["0", "-5", "1.0", "x", "", "0x10", "99999999999999999999"]) {
        const { status, json } = await read(`${path}?before=${before}`)
        assert.deepStrictEqual([status, Object.keys(json.data.errors)], [400, ["before"]], before)
      }
      for (const limit of [1, max]) assert.strictEqual((await read(`${path}?limit=${limit}`)).status, 200)
      assert.strictEqual((await read(`${path}?limit=1&limit=2`)).status, 400)
    })

    it.each([
      ["/clients?state=active"],
      ["/clients?state="],
      ["/clients?level=MIFID"],
      ["/collateral?status=booked"],
      ["/collateral?status=PENDING"]
    ])("A1-09: %s is no exact token", async (path) => {
      const { status, json } = await read(path)
      assert.deepStrictEqual([status, json.code], [400, 4000])
    })
  })

  describe("GET /clients/by-ref", () => {
    it.each(people.map(({ ref }, index) => [ref, index] as const))(
      "A1-18: finds %s percent-encoded",
      async (ref, index) => {
        const { status, json } = await read(`/clients/by-ref/${encodeURIComponent(ref)}`)
        assert.deepStrictEqual([status, json.data?.clientId], [200, ids[index]])
      }
    )

    it("A1-18: the path form is trimmed and brought to NFC as the reference was", async () => {
      const decomposed = "Cafe\u0301-9"
      const made = await onboard(service, partner.key, person(99, "reads", { partnerClientRef: decomposed }))
      ids = [...ids, made.json.data.clientId]
      for (const form of [decomposed, "Café-9", " Café-9\u00a0"]) {
        const { status, json } = await read(`/clients/by-ref/${encodeURIComponent(form)}`)
        assert.deepStrictEqual([status, json.data?.clientId], [200, made.json.data.clientId], form)
      }
    })

    it.each([
      ["another case", "PLAIN-1"],
      ["an unknown one", "nobody"],
      ["more than 64 characters", "x".repeat(65)],
      ["white space alone", "%20"],
      ["a broken escape", "%zz"],
      ["half of a UTF-8 sequence", "%C3"],
      ["U+0000", "a%00b"],
      ["a wildcard", "%25"]
    ])("A1-18: %s is unknown", async (_, segment) => {
      const { status, json } = await read(`/clients/by-ref/${segment}`)
      assert.deepStrictEqual([status, json.code, json.msg], [404, 4004, "Client not found."])
    })
  })

  it.each(["0", "-1", "01", "1.0", "1e3", "abc", "9223372036854775808", "99999999999999999999", "9007199254740993"])(
    "A1-01: the path id %s is an unknown client on every route",
    async (id) => {
      for (const tail of ["", "/verification", "/balances", "/ledger", "/collateral"]) {
        const { status, json } = await read(`/clients/${id}${tail}`)
        assert.deepStrictEqual([status, json.code, json.msg], [404, 4004, "Client not found."], tail)
      }
    }
  )

  it("A1-13: the summary counts every state and level, zeros included", async () => {
    const { asOf, ...data } = (await read("/summary")).json.data
    const total = ids.length
    assert.isNumber(asOf)
    assert.deepStrictEqual(data, {
      clients: {
        total,
        byState: { KYC_PENDING: 1, ACTIVE: total - 1, RESTRICTED: 0, KYC_REJECTED: 0, CLOSED: 0 },
        byLevel: { NONE: 1, MICA: total - 1, MICA_MIFID: 0 }
      },
      clientCash: [{ currency: "USDC", cash: "22.500000", reserved: "0.000000", total: "22.500000" }],
      openBarriers: 0,
      openSwaps: 0,
      pendingDeposits: 0,
      pendingWithdrawals: 0,
      pendingReviews: 1
    })
    const empty = await service.partner()
    const nothing = (await get(service, empty.key, "/summary")).json.data
    assert.deepStrictEqual(nothing.clientCash, [
      { currency: "USDC", cash: "0.000000", reserved: "0.000000", total: "0.000000" }
    ])
    assert.strictEqual(nothing.clients.total, 0)
  })

  describe("money", () => {
    it("Balances: the bare shape of a client with cash and of one without", async () => {
      const line = (cash: string) => ({
        currency: "USDC",
        kind: "CASH",
        cash,
        reserved: "0.000000",
        total: cash,
        free: cash,
        venueAsset: "USDC",
        equity: cash,
        unrealizedPnl: "0.000000",
        freeMargin: cash,
        mark: "1",
        markFresh: true,
        value: cash,
        valueCurrency: "USDC",
        staked: "0.000000",
        swapClaims: "0.000000",
        stakedValue: "0.000000",
        claimsValue: "0.000000"
      })
      for (const [id, cash] of [
        [ids[0], "15.500000"],
        [ids[2], "0.000000"]
      ] as const) {
        const { status, json } = await read(`/clients/${id}/balances`)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(Object.keys(json), ["balances", "portfolioValue", "portfolioCurrency", "portfolio"])
        const [{ displayDecimals, ...first }, ...others] = json.balances
        assert.isNumber(displayDecimals)
        assert.deepStrictEqual([first, others], [line(cash), []])
        assert.deepStrictEqual([json.portfolioValue, json.portfolioCurrency], [cash, "USDC"])
        assert.deepInclude(json.portfolio, { cashTotal: cash, reserved: "0.000000", currency: "USDC" })
      }
    })

    it("Ledger: client postings alone, newest first, paged by posting id", async () => {
      const path = `/clients/${ids[0]}/ledger`
      const all = (await read(path)).json.data
      assert.deepStrictEqual(Object.keys(all), ["postings", "hasMore", "nextBefore"])
      assert.deepStrictEqual(
        all.postings.map((posting: { readonly amount: string }) => posting.amount),
        ["-2.000000", "5.500000", "4.500000", "3.500000", "2.500000", "1.500000"]
      )
      const { postingId, txId, ts, refs: references, ...rest } = all.postings[0]
      assert.deepStrictEqual(rest, {
        type: "PARTNER_COLLATERAL_OUT",
        actor: `partner:${partner.code}`,
        reason: null,
        amount: "-2.000000",
        currency: "USDC",
        kind: "cash"
      })
      assert.isTrue([postingId, txId, ts].every(Number.isSafeInteger))
      assert.deepInclude(references, { partnerId: partner.partnerId, partnerRef: "out", direction: "WITHDRAWAL" })
      const walked: Array<unknown> = []
      let before = ""
      for (let pages = 0; pages < 4; pages++) {
        const page = (await read(`${path}?limit=2${before}`)).json.data
        walked.push(...page.postings)
        if (!page.hasMore) break
        before = `&before=${page.nextBefore}`
      }
      assert.deepStrictEqual(walked, all.postings)
    })

    it("Collateral lists: newest first, status filter, paging, partner-wide and per client", async () => {
      const list = async (path: string) =>
        (await read(path)).json.data.reports.map((report: { readonly partnerRef: string }) => report.partnerRef)
      const own = ["no", "out", "in-5", "in-4", "in-3", "in-2", "in-1"]
      assert.deepStrictEqual(await list(`/clients/${ids[0]}/collateral`), own)
      assert.deepStrictEqual(await list("/collateral"), ["b-1", ...own])
      assert.deepStrictEqual(await list("/collateral?status=REFUSED"), ["no"])
      assert.deepStrictEqual(await list("/collateral?status=BOOKED&limit=2"), ["b-1", "out"])
      assert.deepStrictEqual(await list(`/clients/${ids[1]}/collateral?status=REFUSED`), [])
      const page = (await read("/collateral?limit=3")).json.data
      assert.deepStrictEqual([page.hasMore, page.nextBefore], [true, page.reports[2].reportId])
      assert.deepStrictEqual(await list(`/collateral?limit=3&before=${page.nextBefore}`), ["in-5", "in-4", "in-3"])
      const last = (await read(`/collateral?before=${page.nextBefore}`)).json.data
      assert.deepStrictEqual([last.hasMore, last.nextBefore], [false, null])
    })
  })

  it("A1-54, SC-PLT-03: HEAD has the headers and Content-Length of GET and no body", async () => {
    const id = ids[0]
    const routes = ["/me", "/clients", `/clients/${id}`, "/clients/by-ref/plain-1", "/summary", "/collateral"]
    const tails = ["verification", "balances", "ledger", "collateral"].map((tail) => `/clients/${id}/${tail}`)
    const refused = ["/nowhere", "/clients/999999", "/clients?limit=0"]
    const ignored = new Set(["date", "x-request-id", "ratelimit-remaining", "ratelimit-reset"])
    const compared = ({ status, headers }: Answer) => [
      status,
      Object.entries(headers).filter(([name]) => !ignored.has(name))
    ]
    for (const route of [...routes, ...tails, ...refused]) {
      const [whole, head] = [await read(route), await service.call("HEAD", `/partner/v1${route}`, { key: partner.key })]
      assert.strictEqual(head.text, "", route)
      assert.deepStrictEqual(compared(head), compared(whole), route)
      assert.strictEqual(head.headers["content-length"], String(Buffer.byteLength(whole.text)), route)
    }
  })
})
