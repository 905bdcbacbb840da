/**
 * `--dry-run`: every command that writes has a dry run, which shows the effect and writes nothing (operator surface;
 * A3-45).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Command } from "commander"
import { readFileSync } from "node:fs"
import { request } from "node:https"
import { Cli } from "../../cli/Cli.ts"
import { buildProgram } from "../../cli/program.ts"
import { isWriting, operatorCommands } from "../../src/http/api/operator/commands.ts"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { layerVenueControlMemory } from "../../src/runtime/ports/VenueControlMemory.ts"
import { quietVenue } from "../support/quietVenue.ts"
import { collateral, query } from "../support/Builders.ts"
import { type OperatorService, recordingIo, runRecorded, startOperatorService } from "./operatorHarness.ts"

let service: OperatorService
let world: Awaited<ReturnType<typeof makeWorld>>
beforeAll(async () => {
  const venue = { controls: layerVenueControlMemory(quietVenue()) }
  service = await startOperatorService({ settings: { fourEyes: new Set(["key issue"]) }, venue })
  world = await makeWorld()
})
afterAll(() => service.stop())

/** One object for every command. */
const makeWorld = async () => {
  const broker = await service.partner({ code: "BROK", custody: "BROKER", collateralAsset: "", sandbox: false })
  const partner = await service.partner({ code: "PART" })
  const post = async (path: string, key: string, body: unknown) => {
    const { status, json, text } = await service.call("POST", `/partner/v1${path}`, { key, body })
    if (status >= 300) throw new Error(text)
    return json.data
  }
  const idle = await service.client(partner.key)
  const clientId = await service.client(broker.key)
  await service.done(["client", "restrict", String(idle), "NO_WITHDRAWALS", "--reason", "r"])
  const held = sampleOnboarding(901, "dry", Date.now())
  const { first_name, last_name } = held.kyc.personalInfo
  const entry = await service.done(["screening", "add", "--name", `${first_name} ${last_name}`, "--list", "SANCTIONS"])
  const heldId = (await post("/clients", broker.key, held)).clientId as number
  const deposit = { currency: "USDC", amount: "100" }
  const confirmed = await post(`/clients/${clientId}/deposits`, broker.key, { partnerRef: "d1", ...deposit })
  await service.done(["deposit", "confirm", String(confirmed.noticeId)])
  const notice = await post(`/clients/${clientId}/deposits`, broker.key, { partnerRef: "d2", ...deposit })
  const withdraw = (partnerRef: string) =>
    post(`/clients/${clientId}/withdrawals`, broker.key, { partnerRef, currency: "USDC", amount: "1" })
  const requested = await withdraw("w1")
  const approved = await withdraw("w2")
  await service.done(["withdrawal", "approve", String(approved.requestId)])
  const upload = { name: "w9.pdf", purpose: "w9", dataBase64: Buffer.from("%PDF-1.7\nx").toString("base64") }
  const document = await post(`/clients/${clientId}/documents`, broker.key, upload)
  const open = ["break", "open", "--scope", "PART", "--currency", "USDC", "--amount", "1", "--reason", "r"]
  const opened = await service.done(open)
  await service.done(["market", "halt", "ALL", "--message", "m"])
  const pending = await service.done(["key", "issue", "PART", "--label", "l", "--scope", "READ"], "SECOND")
  const { operators } = await service.done(["operator", "list"])
  const begun = await send("POST", "/screening/imports", { source: "S", version: "1", count: 2, hash: "0".repeat(64) })
  return {
    client: String(clientId),
    idle: String(idle),
    held: String(heldId),
    entryId: String(entry.entryId),
    noticeId: String(notice.noticeId),
    requested: String(requested.requestId),
    approved: String(approved.requestId),
    documentId: String(document.documentId),
    breakId: String(opened.breakId),
    keyId: String(partner.keyId),
    approvalId: String(pending.approvalId),
    operatorId: String(operators.at(-1).operatorId),
    importId: String(begun.json.data?.importId),
    partnerKey: partner.key
  }
}

interface Sent {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

const send = (method: string, path: string, body?: unknown, key = service.keys.ADMIN): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      `${service.url}${path.startsWith("/operator") ? path : `/operator/v1${path}`}`,
      {
        method,
        ca: readFileSync(service.caFile),
        agent: false,
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` }
      },
      (incoming) => {
        let text = ""
        incoming.on("data", (chunk) => void (text += String(chunk)))
        incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, json: JSON.parse(text) }))
      }
    )
    outgoing.on("error", reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })

/** Every byte of every table. */
const contents = async (): Promise<Readonly<Record<string, unknown>>> => {
  const tables = await query<{ readonly name: string }>(
    service,
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"
  )
  const parts = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, count(*) AS n, md5(string_agg(t::text, '|' ORDER BY t::text)) AS hash FROM "${name}" t`
  )
  const rows = await query<{ readonly name: string; readonly n: bigint; readonly hash: string | null }>(
    service,
    parts.join(" UNION ALL ")
  )
  return Object.fromEntries(rows.map(({ name, n, hash }) => [name, `${n} ${hash}`]))
}

interface Row {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The status of the command in this setup, if it fails. */
  readonly status?: number
  /** A table to which the command would write. */
  readonly writes?: string
}

const reason = "a reason"
const symbol = "BTC-USDC-PERP"

/** Every command to the simulated venue writes only its audit row. */
const rowsOfVenue = (): Readonly<Record<string, Row>> => {
  const bodies: Readonly<Record<string, object>> = {
    restart: {},
    set: { knobs: "{}" },
    price: { symbol, price: "1" },
    path: { symbol, path: "0,1" },
    book: { symbol, size: "1" },
    funding: { symbol, rate: "-0.1" },
    execute: { client: world.client, symbol, qty: "-1", reason: "liquidation" },
    fault: { kind: "outage" },
    dealers: { mood: "silent" },
    halt: { symbol },
    resume: { symbol },
    delist: { symbol },
    offer: { symbol: "ETH", rateBps: 1, tenorDays: 1, qty: "1" },
    pay: { contractId: 1 },
    "correct-fee": { contractId: 1, fee: "1" },
    clear: {}
  }
  return Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [`venue ${name}`, { body, writes: "audit" } as const])
  )
}
/** A valid request for every command that writes. */
const rowsOfCommands = (): Readonly<Record<string, Row>> => {
  const client = { client: world.client }
  const idle = { client: world.idle }
  const held = { client: world.held }
  const requested = { requestId: world.requested }
  const approved = { requestId: world.approved }
  const person = { name: "Some Body", dob: null, country: null, list: "SANCTIONS" }
  const creation = { code: "NEW", name: "N", legalName: "N AG", country: "DE", licence: "MICA_CASP" }
  return {
    "partner create": { body: creation, writes: "partners" },
    "partner status": { params: { partner: "PART" }, body: { status: "SUSPENDED", reason }, writes: "partners" },
    "partner custody": {
      params: { partner: "PART" },
      body: { custody: "BROKER", reason }
    },
    "partner reliance": { params: { partner: "PART" }, body: { status: "SUSPENDED", reason }, writes: "reliances" },
    "partner limits": { params: { partner: "PART" }, body: { read: 7 }, writes: "partners" },
    "partner cidrs": { params: { partner: "PART" }, body: { cidrs: ["10.0.0.0/8"] }, writes: "partners" },
    "key issue": { params: { partner: "PART" }, body: { label: "new", scope: "READ" }, writes: "approvals" },
    "key revoke": { params: { keyId: world.keyId }, body: {}, writes: "api_keys" },
    "operator create": { body: { label: "l", role: "SUPPORT" }, writes: "operator_keys" },
    "operator revoke": { params: { operatorId: world.operatorId }, body: {}, writes: "operator_keys" },
    "client restrict": { params: client, body: { restriction: "FROZEN", reason }, writes: "clients" },
    "client lift": { params: idle, body: { restriction: "NO_WITHDRAWALS" }, writes: "clients" },
    "client categorize": { params: client, body: { categorization: "PROFESSIONAL", reason }, writes: "clients" },
    "client close": { params: idle, body: { reason }, writes: "clients" },
    "client reopen": { params: client, body: { reason }, status: 409 },
    "client downgrade": { params: client, body: { reason }, status: 409 },
    "client payout": { params: client, body: { currency: "USDC", amount: "1", reason }, status: 409 },
    "screening add": { body: { name: "Some Body", list: "PEP" }, writes: "watch_entries" },
    "screening remove": { params: { entryId: world.entryId }, writes: "watch_entries" },
    "screening import": {
      body: { source: "T", version: "1", count: 1, hash: "1".repeat(64) },
      writes: "watch_imports"
    },
    "screening entries": {
      params: { importId: world.importId },
      body: { offset: 0, entries: [person] },
      writes: "watch_entries"
    },
    "screening finish": { params: { importId: world.importId }, body: {}, status: 409 },
    "kyc clear": { params: held, body: { note: "another person" }, writes: "clients" },
    "kyc reject": { params: held, body: { reason }, writes: "kyc_packages" },
    "kyc reject-person": { params: held, body: { reason }, writes: "clients" },
    "kyc request-documents": { params: client, body: { note: "a copy" }, writes: "kyc_packages" },
    "kyc sample": { params: client, writes: "kyc_packages" },
    "document delete": { params: { documentId: world.documentId }, body: { reason }, writes: "documents" },
    "appropriateness publish": { body: { questionnaire: questionnaire1 }, writes: "questionnaires" },
    "deposit confirm": { params: { noticeId: world.noticeId }, body: {}, writes: "postings" },
    "deposit reject": { params: { noticeId: world.noticeId }, body: { reason }, writes: "deposit_notices" },
    "withdrawal approve": { params: requested, writes: "postings" },
    "withdrawal reject": { params: requested, body: { reason }, writes: "withdrawal_requests" },
    "withdrawal pay": { params: approved, writes: "withdrawal_requests" },
    "withdrawal fail": { params: approved, body: { reason }, writes: "postings" },
    "break open": { body: { scope: "ALL", currency: "USDC", amount: "1", reason }, writes: "recon_breaks" },
    "break close": { params: { breakId: world.breakId }, body: { reason }, writes: "recon_breaks" },
    "market halt": { body: { scope: "PERP", message: "m" }, writes: "trading_halts" },
    "market resume": { body: { scope: "ALL" }, writes: "trading_halts" },
    "interfirm record": {
      params: { partner: "PART" },
      body: { amount: "1", periodFrom: 1, periodTo: 2, txRef: "t" },
      writes: "interfirm_records"
    },
    "ledger adjust": { params: client, body: { currency: "USDC", amount: "1", reason }, writes: "postings" },
    "webhook redeliver": { params: { deliveryId: "1" }, status: 404 },
    "venue probe": { body: { client: world.client }, status: 503 },
    "venue reconcile": { body: { client: "NO-00000001" }, status: 404 },
    "venue resolve": { body: { object: "rfq:1", as: "void", reason }, status: 404 },
    "order cancel": { params: { orderId: "1" }, body: { reason }, status: 404 },
    "closeout widen": { params: { closeOutId: "1" }, body: { to: "7", reason }, status: 404 },
    "swap writeoff": { params: { swapId: "1" }, body: { amount: "1", reason }, status: 404 },
    "statement generate": { params: client, body: { kind: "ACCOUNT" }, writes: "statements" },
    "statement correct": { params: { statementId: "1" }, body: { reason }, status: 404 },
    "quarantine drop": { params: { quarantineId: "1" }, status: 404 },
    // The harness keeps no key file, so there is nothing to rotate.
    "encryption rotate": { status: 409 },
    ...rowsOfVenue(),
    "sim reset": {},
    "clock advance": { body: { advanceMillis: 3_600_000 }, writes: "audit" },
    "approval grant": { params: { approvalId: world.approvalId }, writes: "api_keys" },
    "approval refuse": { params: { approvalId: world.approvalId }, writes: "approvals" }
  }
}

const pathOf = (path: string, params: Readonly<Record<string, string>> = {}): string =>
  path.replaceAll(/:([a-zA-Z]+)/g, (_, name: string) => params[name] ?? "0")

describe("operator surface, --dry-run", () => {
  it("the table of this test has a request for every command that writes", () => {
    const writing = [...operatorCommands.keys()].filter(isWriting)
    assert.sameMembers(Object.keys(rowsOfCommands()), writing)
  })

  it("every command that writes answers a dry run, and not a byte of the database changes", async () => {
    const before = await contents()
    for (const [command, { params, body, status = 200, writes }] of Object.entries(rowsOfCommands())) {
      const { method = "", path = "" } = operatorCommands.get(command) ?? {}
      const sent = await send(method, `${pathOf(path, params)}?dryRun=true`, body)
      assert.strictEqual(sent.status, status, `${command}: ${JSON.stringify(sent.json)}`)
      if (writes !== undefined) assert.property(sent.json.dryRun.rows, writes, `${command}`)
      assert.deepStrictEqual(await contents(), before, command)
    }
  })

  it("its answer is the effect of the command", async () => {
    const path = `/operator/v1/deposits/${world.noticeId}/confirm`
    const dry = await send("POST", `${path}?dryRun=true`, { note: "seen" })
    assert.deepInclude(dry.json.data, { status: "CONFIRMED", decisionNote: "seen" })
    assert.deepStrictEqual(
      dry.json.dryRun.events.map(({ event }: { event: string }) => event),
      ["deposit.confirmed"]
    )
    assert.deepStrictEqual(
      dry.json.dryRun.postings.map(({ amount, currency }: { amount: string; currency: string }) => [amount, currency]),
      [
        ["100.000000", "USDC"],
        ["-100.000000", "USDC"]
      ]
    )
    const done = await send("POST", path, { note: "seen" })
    assert.strictEqual(done.json.dryRun, undefined)
    assert.deepStrictEqual(
      { ...done.json.data, ledgerTxId: null, decidedAt: null },
      { ...dry.json.data, ledgerTxId: null, decidedAt: null }
    )
  })

  it("a client is shown as it would be, and the next read shows it unchanged", async () => {
    const path = `/operator/v1/clients/${world.client}/restrict?dryRun=true`
    const dry = await send("POST", path, { restriction: "NO_NEW_RISK", reason })
    assert.deepStrictEqual(dry.json.data.restrictions, ["NO_NEW_RISK"])
    const now = await service.done(["client", "show", world.client])
    assert.deepStrictEqual(now.restrictions, [])
  })

  it("a unique fact that is taken refuses the dry run as it refuses the command", async () => {
    const body = { code: "PART", name: "N", legalName: "N AG", country: "DE", licence: "MICA_CASP" }
    const dry = await send("POST", "/operator/v1/partners?dryRun=true", body)
    const done = await send("POST", "/operator/v1/partners", body)
    assert.deepStrictEqual(dry, done)
    assert.deepStrictEqual([dry.status, dry.json.msg], [409, "Another partner has this code."])
  })

  it("no key is shown that was never issued", async () => {
    const dry = await send("POST", "/operator/v1/operators?dryRun=true", { label: "l", role: "SUPPORT" })
    assert.deepInclude(dry.json.data, { key: "bok_(dry run)", prefix: "bok_(dry run)" })
    const granted = await send("POST", `/operator/v1/approvals/${world.approvalId}/grant?dryRun=true`)
    assert.deepInclude(granted.json.data.result, { key: "pbk_(dry run)", prefix: "pbk_(dry run)" })
  })

  it.each([
    ["status", { status: "SUSPENDED", reason }],
    ["status", { status: "CLOSED", reason }],
    ["custody", { custody: "BROKER", reason }],
    ["cidrs", { cidrs: [] }]
  ])("?dryRun=false on partner %s is no dry run: %j is judged as without it", async (verb, body) => {
    const { code } = await service.partner({ sandbox: false, collateralAsset: "EURD" })
    const twin = await service.partner({ sandbox: false, collateralAsset: "EURD" })
    const asked = await send("POST", `/operator/v1/partners/${code}/${verb}?dryRun=false`, body)
    const plain = await send("POST", `/operator/v1/partners/${twin.code}/${verb}`, body)
    assert.deepStrictEqual([asked.status, asked.json.dryRun], [200, undefined], JSON.stringify(asked.json))
    assert.deepStrictEqual(Object.keys(asked.json.data), Object.keys(plain.json.data))
  })

  it.each(["dryRun=true", "dry-run=true"])(
    "?%s on partner custody requests the blockers, in every spelling",
    async (asked) => {
      const sent = await send("POST", `/operator/v1/partners/PART/custody?${asked}`, { custody: "BROKER", reason })
      assert.deepStrictEqual([sent.status, sent.json.data.dryRun], [200, true])
    }
  )

  it.each(["dryrun=true", "DRY_RUN=true", "dry-run=true"])("?%s is a dry run too", async (spelling) => {
    const before = await contents()
    const sent = await send("POST", `/operator/v1/screening?${spelling}`, { name: "Some Body", list: "PEP" })
    assert.deepStrictEqual(sent.json.dryRun.rows, { watch_entries: 1, audit: 1 })
    assert.deepStrictEqual(await contents(), before)
  })

  it.each(["dryRun=1", "dryRun", "dryRun=yes", "dryRun=TRUE"])("?%s is refused, not carried out", async (spelling) => {
    const before = await contents()
    const sent = await send("POST", `/operator/v1/screening?${spelling}`, { name: "Some Body", list: "PEP" })
    assert.deepStrictEqual(
      [sent.status, sent.json.code, sent.json.data.errors],
      [400, 4000, { dryRun: "It must be true or false." }]
    )
    assert.deepStrictEqual(await contents(), before)
  })

  it.each([
    ["kyc", () => `/operator/v1/clients/${world.client}/kyc/show`],
    ["document", () => `/operator/v1/documents/${world.documentId}/show`]
  ] as const)(
    "operator surface: an audited read (%s) has no dry run: it would be a read without its audit row",
    async (_, path) => {
      const sent = await send("POST", `${path()}?dryRun=true`, { reason })
      assert.deepStrictEqual([sent.status, Object.keys(sent.json.data.errors)], [400, ["dryRun"]])
    }
  )

  it("the role is judged first", async () => {
    const sent = await send("POST", "/operator/v1/screening?dryRun=true", { name: "x" }, service.keys.SUPPORT)
    assert.deepStrictEqual([sent.status, sent.json.code], [403, 4034])
  })

  it("partner requests beside it are written as ever", async () => {
    const path = `/operator/v1/clients/${world.client}/restrict?dryRun=true`
    const body = { restriction: "FROZEN", reason }
    const clientId = await service.client(world.partnerKey)
    const report = {
      partnerRef: "beside",
      direction: "DEPOSIT",
      amount: "5",
      currency: "USDC",
      txRef: "t",
      occurredAt: Date.now() - 1
    }
    const [booked] = await Promise.all([
      collateral(service, world.partnerKey, clientId, report),
      ...Array.from({ length: 5 }, () => send("POST", path, body))
    ])
    assert.strictEqual(booked?.status, 201, booked?.text)
  })
})

const program = await buildProgram(new Cli(recordingIo().io))

/** The commands that offer a dry run, by their last two words. */
const offering = (): ReadonlyArray<string> => {
  const found: Array<string> = []
  const visit = (command: Command, path: ReadonlyArray<string>): void => {
    if (command.options.some(({ long }) => long === "--dry-run")) found.push(path.slice(-2).join(" "))
    for (const child of command.commands) visit(child, [...path, child.name()])
  }
  visit(program, [])
  return found
}

describe("operator surface, --dry-run on the command line", () => {
  it("every command that writes has the option, and no other", () => {
    const writing = [...operatorCommands]
      .filter(([command, { partOf }]) => isWriting(command) && partOf === undefined)
      .map(([command]) => command)
    assert.sameMembers([...offering()], writing)
  })

  it("prints the answer and the would-be rows, without a confirmation", async () => {
    const before = await contents()
    const line = ["client", "close", world.idle, "--reason", reason, "--dry-run"]
    const printed = await service.done(line)
    assert.deepStrictEqual([printed.dryRun, printed.answer.lifecycleState], [true, "CLOSED"])
    assert.isAbove(printed.would.rows.audit, 0)
    const shown = await runRecorded([...line, ...service.connection("ADMIN")])
    assert.strictEqual(shown.status, 0, shown.stderr)
    assert.match(shown.stdout, /^Dry run: nothing is written\.\n[^]*\nIt would write:\n/)
    assert.deepStrictEqual(await contents(), before)
  })

  it("a list of blockers has the form of other dry runs too", async () => {
    const line = ["partner", "custody", "PART", "BROKER", "--reason", reason, "--dry-run"]
    const { status, json: printed, refusal } = await service.cli(line)
    assert.deepStrictEqual([status, refusal.data], [1, { blockers: printed.blockers }])
    const shown = await runRecorded([...line, ...service.connection("ADMIN")])
    assert.deepStrictEqual([shown.status, shown.stdout], [1, ""])
    assert.match(shown.stderr, /^refused: It would be refused: items are still open\.\n {2}/)
    const { answer, would, ...list } = printed
    assert.deepStrictEqual([Object.keys(list).sort(), answer], [["blockers", "dryRun", "partnerId"], list])
    assert.deepStrictEqual(Object.keys(would).sort(), ["events", "postings", "rows"])
  })

  it("a key that was not issued is not to be kept, and has no prefix", async () => {
    const line = ["operator", "create", "--label", "l", "--role", "SUPPORT", "--dry-run"]
    const shown = await runRecorded([...line, ...service.connection("ADMIN")])
    assert.strictEqual(shown.status, 0, shown.stderr)
    assert.include(shown.stdout, "SUPPORT")
    assert.notMatch(shown.stdout, /Keep the key|prefix|bok_/)
    const granted = await runRecorded([
      "approval",
      "grant",
      world.approvalId,
      "--dry-run",
      ...service.connection("ADMIN")
    ])
    assert.strictEqual(granted.status, 0, granted.stderr)
    assert.notMatch(granted.stdout, /prefix|pbk_|has run/)
  })

  it.each([
    ["client", "list"],
    ["ledger", "verify"],
    ["audit", "tail"]
  ])("%s %s only reads and has no such option", async (...line) => {
    assert.strictEqual((await service.cli([...line, "--dry-run"])).status, 2)
  })
})
