/**
 * The atlas over a real service: access, visibility by role, absence of changes, ten thousand objects in one state; and
 * in a real browser, if one is installed: the printed link, a waiting client, its path (operator surface, atlas).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { readFileSync } from "node:fs"
import { type Browser, chromium, type Page } from "playwright-core"
import { movers, stepTriggersOf } from "../../src/machines/stepTriggers.ts"
import { type Kind, kinds, machines } from "../../src/machines/registry.ts"
import { keyOfTicket, makeTicket } from "../../src/http/operator/atlas/atlasTickets.ts"
import { boundedReads, pageReads } from "../../src/http/operator/atlas/atlasApp.ts"
import { nextOf, pathOf } from "../../src/http/operator/atlas/objectPath.ts"
import { operatorCommands } from "../../src/http/api/operator/commands.ts"
import { operatorRoles } from "../../src/http/api/operator/operatorTokens.ts"
import { begin, step } from "../../src/runtime/engine/machine/step.ts"
import { onboard, person, query } from "../support/Builders.ts"
import { atlasCalls, type Got } from "./atlasCalls.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"
import { chromiumPath, hasTool, skipNote } from "../support/tools.ts"

const missing = skipNote("chromium")
const hostile = "<script>alert(1)</script> 山田"

let service: OperatorService
let clientId: number

const { get, linkOf, cookieOf } = atlasCalls(() => service)

/** The answer to a person is a page in the operator's language. */
const isPageThatEnds = ({ headers, body }: Got): void => {
  assert.match(String(headers["content-type"]), /^text\/html/)
  assert.include(String(headers["content-security-policy"]), "default-src 'none'")
  assert.include(body, "Run <code>brokerage atlas</code> again")
}

/** In the page: by how much the end of the picture lies outside of the viewport that is scrolled to its end. */
const endsOver = `(() => {
  const map = document.getElementById("map")
  map.scrollTo(map.scrollWidth, map.scrollHeight)
  const room = map.getBoundingClientRect()
  const end = document.querySelector("figure.shown svg").getBoundingClientRect()
  return { right: Math.max(0, end.right - room.right), bottom: Math.max(0, end.bottom - room.bottom) }
})()`

beforeAll(async () => {
  service = await startOperatorService({ settings: { fourEyes: new Set(["ledger adjust"]) } })
  const partner = await service.partner({ code: "ATLAS" })
  const body = person(1, "atlas", { "attestation.riskRating": "HIGH", "kyc.personalInfo.first_name": hostile })
  clientId = (await onboard(service, partner.key, body)).json.data.clientId
}, 120_000)
afterAll(() => service.stop())

describe("operator surface, atlas", () => {
  it("a link opens it once it is signed, and no address contains the key", async () => {
    const link = await linkOf("SUPPORT")
    assert.notInclude(link.href, service.keys.SUPPORT)
    const { status, headers, body } = await get(`${link.pathname}${link.search}`)
    assert.strictEqual(status, 200)
    assert.match(
      String(headers["set-cookie"]),
      /^__Secure-atlas=[^;]+; Path=\/atlas; Max-Age=28800; HttpOnly; Secure; SameSite=Strict$/
    )
    assert.include(body, `url=/atlas"`)
    const ticket = link.searchParams.get("ticket") ?? ""
    const [keyId = "", until = "", signature = ""] = ticket.split(".")
    const other = signature.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))
    const forged = [
      `1.${until}.${signature}`,
      `${keyId}.${Number(until) + 1}.${signature}`,
      `${keyId}.${until}.${other}`,
      "x"
    ]
    for (const wrong of forged) {
      const refused = await get(`/atlas?ticket=${wrong}`)
      if (wrong === ticket) continue
      assert.deepStrictEqual([refused.status, refused.headers["set-cookie"]], [403, undefined], wrong)
      isPageThatEnds(refused)
    }
    // The link alone is no session.
    assert.strictEqual((await get("/atlas/counts", { cookie: `__Secure-atlas=${ticket}` })).status, 401)
    const page = await get("/atlas")
    assert.strictEqual(page.status, 401)
    isPageThatEnds(page)
  })

  it("its page loads nothing from elsewhere and allows no script but its own", async () => {
    const { status, headers, body } = await get("/atlas", { cookie: await cookieOf(await linkOf()) })
    assert.strictEqual(status, 200)
    const policy = String(headers["content-security-policy"])
    assert.match(policy, /default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+';/)
    assert.notInclude(policy, "unsafe")
    assert.notMatch(body, /https?:\/\/(?!www\.w3\.org\/2000\/svg)/)
    for (const kind of kinds) assert.include(body, `data-kind="${kind}"`)
    assert.strictEqual(headers["cache-control"], "no-store")
  })

  it("every route is a GET: nothing else is answered, and nothing is written by any", async () => {
    const cookie = await cookieOf(await linkOf())
    const written = () => query(service, "SELECT count(*) AS n FROM audit")
    const before = await written()
    const paths = [
      "/atlas",
      "/atlas/counts",
      "/atlas/instances?kind=client&state=KYC_PENDING",
      `/atlas/object?kind=client&id=${clientId}`
    ]
    for (const path of paths) {
      assert.strictEqual((await get(path, { cookie })).status, 200, path)
      for (const method of ["POST", "PUT", "PATCH", "DELETE"])
        assert.strictEqual((await get(path, { cookie }, method)).status, 404, `${method} ${path}`)
    }
    assert.deepStrictEqual(await written(), before)
    for (const path of [
      "/atlas/nothing",
      "/atlas/instances?kind=client&state=NOPE",
      "/atlas/object?kind=client&id=999999"
    ])
      assert.strictEqual((await get(path, { cookie })).status, 404, path)
    const wrong = await get("/atlas/instances?kind=client&state=ACTIVE&after=x", { cookie })
    assert.strictEqual(wrong.status, 400)
  })

  it("a waiting client is found with its names, its path, its possible next steps and their actors", async () => {
    const cookie = await cookieOf(await linkOf("SUPPORT"))
    const counts = JSON.parse((await get("/atlas/counts", { cookie })).body)
    assert.strictEqual(counts.role, "SUPPORT")
    const client = counts.machines.find(({ name }: { readonly name: string }) => name === "client")
    assert.deepStrictEqual(client.states, { KYC_PENDING: 1 })
    const page = JSON.parse((await get("/atlas/instances?kind=client&state=KYC_PENDING", { cookie })).body)
    const [waiting] = page.instances
    assert.strictEqual(waiting.id, String(clientId))
    assert.include(waiting.client.displayName, hostile)
    assert.strictEqual(waiting.partner.code, "ATLAS")
    assert.isNumber(waiting.since)
    const object = JSON.parse((await get(`/atlas/object?kind=client&id=${clientId}`, { cookie })).body)
    const [first] = object.path
    assert.deepInclude(first, { event: "ONBOARD", guard: "otherwise", to: "KYC_PENDING" })
    assert.include(first.effects, "event client.review_required")
    assert.isString(first.requestId)
    const clear = object.next.find((move: { readonly event: string }) => move.event === "COMPLIANCE_APPROVE")
    assert.deepStrictEqual(clear.movers, [
      { by: "operator", does: "kyc clear", roles: ["ADMIN", "COMPLIANCE"], secondKey: false }
    ])
    const related = new Set(object.related.map(({ kind }: { readonly kind: Kind }) => kind))
    assert.includeMembers([...related], ["kycPackage", "verificationBlock", "case"])
  })

  it("Four eyes: an approval and its object link to each other; roles are its command's, and a second key is named", async () => {
    const line = ["ledger", "adjust", String(clientId), "--currency", "USDC", "--amount", "1", "--reason", "r"]
    const { approvalId } = await service.done(line, "FINANCE")
    const cookie = await cookieOf(await linkOf())
    const shown = async (kind: Kind, id: number) =>
      JSON.parse((await get(`/atlas/object?kind=${kind}&id=${id}`, { cookie })).body)
    const [newest] = (await shown("client", clientId)).related
    assert.deepInclude(newest, { kind: "approval", id: String(approvalId), state: "PENDING" })
    const approval = await shown("approval", approvalId)
    assert.deepInclude(approval.related[0], { kind: "client", id: String(clientId), state: "KYC_PENDING" })
    assert.include(approval.owner.client.displayName, hostile)
    const grant = approval.next.find((move: { readonly event: string }) => move.event === "GRANT")
    assert.deepStrictEqual(grant.movers[0].roles, ["ADMIN", "FINANCE"])
    const pay = nextOf({ kind: "withdrawalRequest", state: "APPROVED", context: {} }, new Set(["withdrawal pay"]))
    assert.deepStrictEqual(
      pay.flatMap(({ event, movers: all }) => all.map(({ secondKey }) => [event, secondKey])).toSorted(),
      [
        ["FAIL", false],
        ["PAY", true]
      ]
    )
    await service.done(["approval", "refuse", String(approvalId)])
    assert.notInclude(JSON.stringify((await shown("client", clientId)).related), '"approval"')
    assert.lengthOf((await shown("approval", approvalId)).related, 1, "a decided one still leads there")
  })

  it.each(operatorRoles)(
    "what partners and clients are called is shown to %s as its commands show it",
    async (role) => {
      const cookie = await cookieOf(await linkOf(role))
      const paths = ["/atlas/instances?kind=client&state=KYC_PENDING", `/atlas/object?kind=client&id=${clientId}`]
      const [page, object] = await Promise.all(
        paths.map(async (path) => JSON.parse((await get(path, { cookie })).body))
      )
      for (const { client, partner } of [page.instances[0], object.owner]) {
        assert.strictEqual(client !== null, operatorCommands.get("client show")?.roles.includes(role))
        assert.strictEqual(partner !== null, operatorCommands.get("partner show")?.roles.includes(role))
      }
      assert.notInclude(JSON.stringify({ ...object, owner: null }), "山田")
    }
  )

  it("odd questions are refused in words, and break nothing", async () => {
    const cookie = await cookieOf(await linkOf("SUPPORT"))
    const long = "9".repeat(3_000)
    const odd: ReadonlyArray<readonly [string, number]> = [
      ["/atlas/instances", 404],
      ["/atlas/instances?kind=__proto__&state=OPEN", 404],
      ["/atlas/instances?kind=client&state=constructor", 404],
      ["/atlas/instances?kind=client&state=ACTIVE&after=", 400],
      [`/atlas/instances?kind=client&state=ACTIVE&after=${long}`, 400],
      ["/atlas/instances?kind=client&state=ACTIVE&after=-1", 400],
      ["/atlas/instances?kind=client&state=ACTIVE&after=1:PEP", 400],
      ["/atlas/instances?kind=verificationBlock&state=APPROVED&after=1:%00", 400],
      ["/atlas/instances?kind=verificationBlock&state=APPROVED&after=1:%27%3B--", 200],
      ["/atlas/object?kind=client&id=", 404],
      ["/atlas/object?kind=client&id=%00", 404],
      ["/atlas/object?kind=partner&id=%3Cscript%3E", 404],
      [`/atlas/object?kind=order&id=${long}`, 404],
      ["/atlas/object?kind=order&id=9223372036854775808", 404],
      ["/atlas/object?kind=verificationBlock&id=1:%F0%9F", 404],
      [`/atlas/object?kind=client&id=${clientId}&before=${long}`, 200],
      [`/atlas/object?kind=client&id=${clientId}&before=-1`, 200],
      ["/atlas/counts?x=%ZZ", 200],
      ["/atlas/", 404],
      ["/atlas/..%2foperator", 404],
      ["/ATLAS", 404]
    ]
    for (const [path, status] of odd) {
      const answer = await get(path, { cookie })
      assert.strictEqual(answer.status, status, `${path.slice(0, 80)}: ${answer.body.slice(0, 200)}`)
      // A name that contains markup appears only in JSON, which browsers do not render as a page.
      assert.match(String(answer.headers["content-type"]), /^application\/json/)
    }
    const head = await get("/atlas/counts", { cookie }, "HEAD")
    assert.deepStrictEqual([head.status, head.body], [200, ""])
    // A session gives access to nothing else, neither as a cookie nor as a key.
    const [, session = ""] = cookie.split("=")
    for (const headers of [{ cookie }, { authorization: `Bearer ${session}` }])
      assert.strictEqual((await get("/operator/v1/clients", headers)).status, 401)
  })

  it("a link runs out", async () => {
    const { sealing } = service.database
    const keyId = 1
    const ticket = makeTicket(sealing, "link", keyId, 1_000)
    assert.strictEqual(keyOfTicket(sealing, "link", ticket, 999), keyId)
    assert.strictEqual(keyOfTicket(sealing, "link", ticket, 1_000), null)
    assert.strictEqual(keyOfTicket(sealing, "session", ticket, 999), null)
    const late = await get(`/atlas?ticket=${ticket}`)
    assert.strictEqual(late.status, 403)
    isPageThatEnds(late)
  })

  it.effect("a thousand pages that ask at once: few are read for at a time, and the rest is refused at once", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const bounded = yield* boundedReads("refused")
      let reading = 0
      let most = 0
      const read = Effect.gen(function* () {
        most = Math.max(most, ++reading)
        yield* Deferred.await(gate)
        reading--
        return "read"
      })
      const asked = yield* Effect.forEach(Array.from({ length: 1_000 }), () =>
        Effect.forkChild(bounded(read), { startImmediately: true })
      )
      yield* Deferred.succeed(gate, undefined)
      const answers = yield* Effect.forEach(asked, Fiber.join)
      const { atOnce, waiting } = pageReads
      assert.strictEqual(most, atOnce)
      assert.strictEqual(answers.filter((answer) => answer === "read").length, atOnce + waiting)
      assert.strictEqual(yield* bounded(Effect.succeed("read")), "read")
    })
  )

  it("a session ends with its key", async () => {
    const { key, operatorId } = await service.done(["operator", "create", "--label", "guest", "--role", "SUPPORT"])
    const connection = ["--url", service.url, "--ca", service.caFile, "--operator-key", key]
    const cookie = await cookieOf(new URL((await runRecorded(["atlas", "--json", ...connection])).json.url))
    assert.strictEqual((await get("/atlas/counts", { cookie })).status, 200)
    await service.done(["operator", "revoke", String(operatorId)])
    assert.strictEqual((await get("/atlas/counts", { cookie })).status, 401)
  })

  it("ten thousand objects in a state are listed in pages, oldest first, by the command line too", async () => {
    await query(
      service,
      `INSERT INTO recon_breaks SELECT (jsonb_populate_record(NULL::recon_breaks, to_jsonb(b) || jsonb_build_object('id', 1000000 + n))).*
         FROM recon_breaks b, generate_series(1, 10000) n WHERE b.id = $1`,
      [
        BigInt(
          (
            await service.done([
              "break",
              "open",
              "--scope",
              "ALL",
              "--currency",
              "EUR",
              "--amount",
              "1",
              "--reason",
              "t"
            ])
          ).breakId
        )
      ]
    )
    const ids: Array<number> = []
    for (let after: string | null = "0"; after !== null;) {
      const args: ReadonlyArray<string> = after === "0" ? [] : ["--after", after]
      const page = await service.done(
        ["machine", "instances", "reconBreak", "open", "--limit", "1000", ...args],
        "SUPPORT"
      )
      assert.isAtMost(page.instances.length, 1_000)
      ids.push(...page.instances.map(({ id }: { readonly id: string }) => Number(id)))
      after = page.nextAfter
    }
    assert.lengthOf(ids, 10_001)
    assert.deepStrictEqual(
      ids,
      ids.toSorted((a, b) => a - b)
    )
    const block = await service.done(["machine", "instances", "verificationBlock", "APPROVED", "--limit", "2"])
    const next = ["machine", "instances", "verificationBlock", "APPROVED", "--limit", "2", "--after", block.nextAfter]
    assert.notDeepEqual((await service.done(next)).instances, block.instances)
    const said = async (...of: ReadonlyArray<string>) =>
      (await service.cli(["machine", "instances", ...of])).refusal.msg
    assert.strictEqual(await said("withdrawal", "OPEN"), "Machine not found; did you mean withdrawalRequest?")
    assert.match(await said("payment", "APPROVED"), /^Machine not found\. The machines are partner, reliance, /)
    assert.strictEqual(await said("recconbreak", "OPEN"), "Machine not found; did you mean reconBreak?")
    const states = "KYC_PENDING, ACTIVE, RESTRICTED, KYC_REJECTED, CLOSED"
    assert.include(await said("client", "NOPE"), `The states of client are ${states}.`)
  })
})

describe("the path of an object", () => {
  it("D14: a delivery after eight attempts has eight, and its redelivery", () => {
    const { machine } = machines.webhookDelivery
    let row: { readonly state: string; readonly context: unknown } = begin(machine, { nextAt: 0, attempts: 0 })
    for (let at = 1; at <= 8; at++)
      row = step(machine, row as never, {
        type: "ATTEMPT_FAILED",
        at,
        status: 500,
        error: "The endpoint answered 500."
      }) as never
    const way = pathOf({
      kind: "webhookDelivery",
      state: row.state,
      context: row.context as never,
      history: [],
      own: [],
      hasMore: false,
      isNewest: true
    })
    assert.strictEqual(way.length, 8)
    assert.deepStrictEqual(
      way.map(({ from, to }) => `${from} ${to}`),
      ["PENDING RETRYING", ...Array.from({ length: 7 }, () => "RETRYING RETRYING")]
    )
  })

  it.each([
    ["client.restrict", "COMPLIANCE", "ACTIVE", "RESTRICTED NO_NEW_RISK", "RESTRICT to RESTRICTED"],
    ["client.restrict", "SYSTEM", "ACTIVE", "RESTRICTED FROZEN", "MATCHED to RESTRICTED"],
    ["client.lift", "COMPLIANCE", "RESTRICTED", "RESTRICTED FROZEN", "LIFT to RESTRICTED"],
    ["client.lift", "COMPLIANCE", "RESTRICTED", "ACTIVE", "LIFT to ACTIVE"]
  ])("%s by %s from %s to %s is %s", (action, role, before, after, said) => {
    const audit = { auditId: 1, stream: "client", partnerId: 1, clientId: 1, ts: 1, object: "client:1" } as const
    const history = [{ ...audit, keyLabel: "k", requestId: "r", role, action, before, after, reason: null }]
    const told = { kind: "client", context: {}, history, own: [], hasMore: true, isNewest: false } as const
    const [step] = pathOf({ ...told, state: before })
    assert.strictEqual(`${step?.event} to ${step?.to}`, said)
  })

  it("every event names its actor, by existing commands and routes", () => {
    const { paths } = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8"))
    for (const kind of kinds)
      for (const event of Object.keys(movers[kind])) {
        assert.isNotEmpty(stepTriggersOf(kind, event), `${kind} ${event}`)
        for (const { by, does } of stepTriggersOf(kind, event)) {
          if (by === "operator") assert.isTrue(operatorCommands.has(does), does)
          if (by !== "partner") continue
          const [method = "", path = ""] = does.split(" ")
          assert.isDefined(paths[`/partner/v1${path}`]?.[method.toLowerCase()], does)
        }
      }
    assert.deepStrictEqual(nextOf({ kind: "client", state: "CLOSED", context: {} }, new Set()), [])
  })
})

describe.skipIf(!hasTool("chromium"))(`the atlas in a browser${missing}`, () => {
  let browser: Browser
  let page: Page
  const hosts = new Set<string>()
  const complaints: Array<string> = []

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] })
    page = await browser.newPage({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
    page.on("request", (sent) => sent.url().startsWith("data:") || hosts.add(new URL(sent.url()).origin))
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()))
    page.on("pageerror", (error) => complaints.push(error.message))
  }, 120_000)
  afterAll(() => browser.close())

  it("the printed link leads to a waiting client, and to its path, by keyboard", async () => {
    await page.goto((await linkOf()).href)
    await page.waitForURL("**/atlas")
    await page.locator('figure[data-kind="client"] a.open').click()
    const waiting = page.locator('figure[data-kind="client"] .state[data-state="KYC_PENDING"]')
    await waiting.locator(".count", { hasText: "1" }).waitFor()
    await waiting.focus()
    await page.keyboard.press("Enter")
    const row = page.locator("#panel tbody tr", { hasText: hostile })
    await row.locator("a").focus()
    await page.keyboard.press("Enter")
    await page.locator("#panel ol li", { hasText: "ONBOARD" }).waitFor()
    await page.locator("#panel", { hasText: "brokerage kyc clear" }).waitFor()
    await page.locator("figure.shown .arrow.gone").first().waitFor({ state: "attached" })
    assert.strictEqual(await page.locator("#panel script").count(), 0)
    await page.keyboard.press("Escape")
    await row.waitFor()
  }, 120_000)

  it("its waiting time follows the service's clock", async () => {
    const age = page.locator("#panel tbody tr", { hasText: hostile }).locator("[data-since]")
    await service.done(["sim", "clock", "advance", "3h"])
    await age.filter({ hasText: "3 h" }).waitFor()
  }, 120_000)

  it("its events appear while it is followed", async () => {
    await page.locator("#panel tbody tr", { hasText: hostile }).locator("a").click()
    await page.locator("#panel ol li", { hasText: "ONBOARD" }).waitFor()
    await service.done(["kyc", "clear", String(clientId), "--note", "seen"], "COMPLIANCE")
    await page.locator("#panel ol li", { hasText: "COMPLIANCE_APPROVE" }).waitFor()
    await page.locator("#panel h2", { hasText: "ACTIVE" }).waitFor()
    await page
      .locator('figure[data-kind="client"] .arrow title', { hasText: "COMPLIANCE_APPROVE" })
      .first()
      .waitFor({ state: "attached" })
    assert.include(await page.locator(".meaning").textContent(), "transitions scenarios go through")
  }, 120_000)

  it.each([
    [1280, 800],
    [1024, 700]
  ])(
    "the largest machine is shown completely: it is scrolled and dragged, %i x %i",
    async (width, height) => {
      await page.setViewportSize({ width, height })
      await page.goto(`${service.url}/atlas#/order`)
      const picture = page.locator("figure.shown[data-kind=order] svg")
      await picture.waitFor()
      // Scrolled to its end, the end of the picture is inside the viewport.
      const over = await page.evaluate(endsOver)
      assert.deepStrictEqual(over, { right: 0, bottom: 0 })
      await page.evaluate(`document.getElementById("map").scrollTo(0, 0)`)
      const room = await page.locator("#map").boundingBox()
      const corner = await picture.boundingBox()
      assert.isAbove(corner?.width ?? 0, room?.width ?? 0)
      await page.mouse.move((corner?.x ?? 0) + 305, (corner?.y ?? 0) + 4)
      await page.mouse.down()
      await page.mouse.move((corner?.x ?? 0) + 5, (corner?.y ?? 0) + 4)
      await page.mouse.up()
      assert.strictEqual((await picture.boundingBox())?.x, (corner?.x ?? 0) - 300)
      // The selected object is visible beside the panel, and the rest stays reachable.
      await page.evaluate(`location.hash = "#/order/FILLED"`)
      const chosen = page.locator("#map .state.here")
      await chosen.waitFor()
      const [seen, left] = [await chosen.boundingBox(), await page.locator("#map").boundingBox()]
      assert.isAtLeast(seen?.x ?? -1, 0)
      assert.isAtMost((seen?.x ?? 0) + (seen?.width ?? 0), left?.width ?? 0)
      assert.deepStrictEqual(await page.evaluate(endsOver), { right: 0, bottom: 0 })
      await page.setViewportSize({ width: 1280, height: 800 })
    },
    120_000
  )

  it("ten thousand objects can be read page by page", async () => {
    await page.goto(`${service.url}/atlas#/reconBreak/OPEN`)
    const first = page.locator("#panel tbody tr td a").first()
    const rows = page.locator("#panel tbody tr")
    await page.locator("#panel", { hasText: "Page 1 of about 201" }).waitFor()
    assert.strictEqual(await rows.count(), 50)
    const oldest = await first.textContent()
    await page.locator("#panel button", { hasText: "next page" }).click()
    await page.locator("#panel", { hasText: "Page 2 of about 201" }).waitFor()
    assert.notStrictEqual(await first.textContent(), oldest)
    await page.locator("#panel button", { hasText: "page before" }).click()
    await page.locator("#panel", { hasText: "Page 1 of about 201" }).waitFor()
    assert.strictEqual(await first.textContent(), oldest)
  }, 120_000)

  it("a lost service is shown, and the view continues when it is back", async () => {
    await page.route("**/atlas/counts", (route) => route.abort())
    await page.locator("#trouble", { hasText: "does not answer" }).waitFor()
    await page.unroute("**/atlas/counts")
    await page.locator("#trouble").waitFor({ state: "hidden" })
    assert.deepStrictEqual([...hosts], [service.url])
    assert.deepStrictEqual(
      complaints.filter((text) => !text.includes("ERR_FAILED")),
      []
    )
  }, 120_000)
})
