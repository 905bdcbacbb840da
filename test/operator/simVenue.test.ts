/**
 * `sim venue` through the command line, against controls that record their requests: the request and the answer of each
 * command, refusals, audit rows (operator surface, sim venue; C1).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { VenueControlError } from "../../src/runtime/ports/VenueControl.ts"
import { layerVenueControlMemory, type VenueScript } from "../../src/runtime/ports/VenueControlMemory.ts"
import { VenueMemory } from "../../src/runtime/ports/VenueMemory.ts"
import { noChange } from "../../src/venue/VenueCommand.ts"
import { rowCounts } from "../support/Builders.ts"
import { quietVenue, quietView } from "../support/quietVenue.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

let service: OperatorService
let clientId: number
let uid: string
let folder: string
const script: VenueScript = quietVenue()
/** The route that opens accounts. */
let isRefused = false
const books = new VenueMemory({
  now: () => Date.now(),
  fault: () => (isRefused ? { refused: "No more accounts." } : {})
})
beforeAll(async () => {
  service = await startOperatorService({
    layerVenue: books.layer(),
    venue: { controls: layerVenueControlMemory(script) }
  })
  const partner = await service.partner({ code: "VEN" })
  clientId = await service.client(partner.key)
  uid = (await service.done(["client", "show", String(clientId)])).clientUid
  folder = mkdtempSync(join(tmpdir(), "brokerage-venue-"))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await service.stop()
})
beforeEach(() => {
  const { show, command } = quietVenue()
  Object.assign(script, { show, command })
  script.sent.length = 0
})

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const venue = (...words: ReadonlyArray<string>) => ["sim", "venue", ...words]
const lastAudit = async () => {
  const { entries } = await service.done(["audit", "tail", "--limit", "500"])
  const { action, after, role } = entries.at(-1)
  return { action, after, role }
}

const symbol = "BTC-USDC-PERP"
const noFault = { route: "all", symbol: null, forMillis: null, times: null, delayMillis: null }

/** The words after `sim venue`, the command that they send, and its audit row. */
const commands: ReadonlyArray<
  readonly [line: () => ReadonlyArray<string>, sent: () => object, audited: string | null]
> = [
  [
    () => ["price", symbol, "60000"],
    () => ({ type: "price", symbol, price: "60000", only: null }),
    "symbol BTC-USDC-PERP, price 60000"
  ],
  [
    () => ["price", "BTC-PERP", "60000"],
    () => ({ type: "price", symbol, price: "60000", only: null }),
    "symbol BTC-USDC-PERP, price 60000"
  ],
  [
    () => ["price", symbol, "0.5", "--only", "mark"],
    () => ({ type: "price", symbol, price: "0.5", only: "mark" }),
    "symbol BTC-USDC-PERP, price 0.5, only mark"
  ],
  [
    () => ["path", symbol, file("path.csv", "offsetMs,price\r\n0,60000\r\n1500,60100.5\r\n\r\n")],
    () => ({
      type: "path",
      symbol,
      points: [
        { offsetMs: 0, price: "60000" },
        { offsetMs: 1500, price: "60100.5" }
      ]
    }),
    "symbol BTC-USDC-PERP, points 2"
  ],
  [
    () => ["book", symbol, "--size", "0"],
    () => ({ type: "book", symbol, size: "0", levels: null, spread: null }),
    "symbol BTC-USDC-PERP, size 0"
  ],
  [
    () => ["book", symbol, "--size", "2.5", "--levels", "10", "--spread", "4"],
    () => ({ type: "book", symbol, size: "2.5", levels: 10, spread: 4 }),
    "symbol BTC-USDC-PERP, size 2.5, levels 10, spread 4"
  ],
  [
    () => ["funding", symbol, "-0.0001"],
    () => ({ type: "funding", symbol, rate: "-0.0001" }),
    "symbol BTC-USDC-PERP, rate -0.0001"
  ],
  [
    () => ["funding", symbol, "+0.01"],
    () => ({ type: "funding", symbol, rate: "0.01" }),
    "symbol BTC-USDC-PERP, rate 0.01"
  ],
  [() => ["halt", symbol], () => ({ type: "halt", symbol }), "symbol BTC-USDC-PERP"],
  [() => ["resume", symbol], () => ({ type: "resume", symbol }), "symbol BTC-USDC-PERP"],
  [() => ["delist", symbol], () => ({ type: "delist", symbol }), "symbol BTC-USDC-PERP"],
  [
    () => ["offer", "ETH", "--rate-bps", "450", "--tenor-days", "30", "--qty", "10"],
    () => ({ type: "offer", symbol: "ETH", rateBps: 450, tenorDays: 30, qty: "10" }),
    "symbol ETH, rateBps 450, tenorDays 30, qty 10"
  ],
  [() => ["pay", "12"], () => ({ type: "pay", contractId: 12, amount: null }), "contractId 12"],
  [
    () => ["pay", "12", "--amount", "0.5"],
    () => ({ type: "pay", contractId: 12, amount: "0.5" }),
    "contractId 12, amount 0.5"
  ],
  [
    () => ["correct-fee", "12", "0.25"],
    () => ({ type: "correctFee", contractId: 12, fee: "0.25" }),
    "contractId 12, fee 0.25"
  ],
  [() => ["dealers", "silent"], () => ({ type: "dealers", mood: "silent" }), "mood silent"],
  [() => ["fault", "outage"], () => ({ type: "fault", kind: "outage", ...noFault }), "kind outage, route all"],
  [
    () => "fault slow --route rfq --symbol BTC-USDC-PERP --for 90s --times 3 --delay 15m".split(" "),
    () => ({ type: "fault", kind: "slow", route: "rfq", symbol, forMillis: 90_000, times: 3, delayMillis: 900_000 }),
    "kind slow, route rfq, symbol BTC-USDC-PERP, forMillis 90000, times 3, delayMillis 900000"
  ],
  [() => ["clear"], () => ({ type: "clear" }), null],
  [
    () => ["set", file("knobs.yaml", "# nothing is changed\n")],
    () => ({ type: "set", knobs: "# nothing is changed\n" }),
    "knobs of 21 characters"
  ]
]

describe("operator surface, sim venue: what each command sends", () => {
  it.each(commands)("%s", async (line, sent, audited) => {
    const words = venue(...line())
    assert.deepStrictEqual(await service.done(words), { number: 42, at: quietView.at, id: null, ...noChange })
    assert.deepStrictEqual(script.sent, [sent()])
    const action = `venue.${(sent() as { readonly type: string }).type}`
    assert.deepStrictEqual(await lastAudit(), { action, after: audited, role: "ADMIN" })

    script.sent.length = 0
    const before = await rowCounts(service)
    const { answer, would } = await service.done([...words, "--dry-run"])
    assert.deepStrictEqual(answer, { number: 41, at: quietView.at, id: null, ...noChange })
    assert.deepStrictEqual(would, { rows: { audit: 1 }, events: [], postings: [] })
    assert.deepStrictEqual([script.sent, await rowCounts(service)], [[], before])
    for (const role of ["FINANCE", "COMPLIANCE", "SUPPORT"] as const) {
      assert.strictEqual((await service.cli(words, role)).refusal.code, 4034)
    }
    assert.deepStrictEqual(script.sent, [])
  })

  it("A2-97: execute opens the client's account, and accepts its id or uid", async () => {
    for (const [client, qty, sent] of [
      [String(clientId), "-0.5", "-0.5"],
      [uid, "+2", "2"]
    ] as const) {
      script.sent.length = 0
      const line = venue("execute", client, symbol, qty, "--reason", "deleverage")
      await service.done(line)
      const command = { type: "execute", account: uid, symbol, qty: sent, reason: "deleverage", price: null } as const
      assert.deepStrictEqual(script.sent, [command])
      assert.strictEqual(books.executed.get(`U-${uid}`), 1)
      script.sent.length = 0
      await service.done([...line, "--dry-run"])
      assert.deepStrictEqual(script.sent, [])
    }
    isRefused = true
    const other = await service.client((await service.partner({ code: "VEO" })).key)
    const refused = await service.cli(venue("execute", String(other), symbol, "1", "--reason", "liquidation"))
    isRefused = false
    assert.deepStrictEqual([refused.refusal.code, script.sent], [4000, []])
    assert.match(refused.refusal.msg, /^The venue refuses this: No more accounts\.$/)
    const nobody = await service.cli(venue("execute", "999999", symbol, "1", "--reason", "liquidation"))
    assert.deepStrictEqual([nobody.status, nobody.refusal.code, nobody.refusal.msg], [1, 4004, "Client not found."])
  })

  it("the answer names the new object, the changes and the venue's immediate reactions", async () => {
    const order = (id: number) => ({ id, ref: `O-${id}`, account: uid, symbol, state: "FILLED" as const })
    const change = {
      ...noChange,
      did: "offer 9: 1 ETH",
      filled: { count: 7, first: [1, 2, 3, 4, 5, 6].map(order) },
      ended: { count: 1, first: [{ ...order(3), ref: "A-4", state: "KNOCKED_OUT" as const }] }
    }
    script.command = () => ({ number: 50, at: quietView.at, id: 9, ...change })
    const line = venue("offer", "ETH", "--rate-bps", "1", "--tenor-days", "1", "--qty", "1")
    assert.deepInclude(await service.done(line), { id: 9, ...change })
    const shown = await runRecorded([...line, ...service.connection("ADMIN")])
    assert.match(
      shown.stdout,
      /^venue\.offer: symbol ETH, [^\n]*\n\noffer 9: 1 ETH; [^\n]*\n\nlast event +50\nbusiness time +2026-11-18 .*Z\nid +9\n$/
    )
    const names = [1, 2, 3, 4, 5].map((id) => `O-${id} FILLED`).join(", ")
    assert.include(shown.stdout, `7 orders filled (${names}, 2 more); 1 contract ended (A-4 KNOCKED_OUT)`)
  })

  it("restart answers when another process is there", async () => {
    let looks = 0
    script.show = () => {
      looks++
      if (looks === 1) return quietView
      if (looks < 4) return new VenueControlError({ why: "unreached", detail: "ECONNREFUSED" })
      return { ...quietView, number: 60, startedAt: quietView.startedAt + 5 }
    }
    script.command = () => new VenueControlError({ why: "lost", detail: "ECONNRESET" })
    assert.strictEqual((await service.done(venue("restart"))).number, 60)
    assert.deepStrictEqual([script.sent, looks], [[{ type: "restart" }], 4])
    assert.deepStrictEqual(await lastAudit(), { action: "venue.restart", after: null, role: "ADMIN" })
  })
})

describe("operator surface, sim venue: refusals", () => {
  const price = venue("price", symbol, "1")

  it.each([
    ["none", "no venue", 5030, /^No venue is attached to this service\.$/],
    ["unreached", "ECONNREFUSED", 5020, /can't be reached \(ECONNREFUSED\): nothing was done/],
    ["closed", "its disk is full", 5020, /takes nothing now \(its disk is full\): nothing was done/],
    ["lost", "ECONNRESET", 5020, /did not answer \(ECONNRESET\), and may have done it: look at sim venue show/],
    ["foreign", "it has no controls of this version", 4092, /is not a simulator that this service controls/],
    ["refused", "BTC-USDC-PERP is delisted.", 4000, /^The venue refuses this: BTC-USDC-PERP is delisted\.$/]
  ] as const)("a venue that is %s: exit status 1 and a sentence", async (why, detail, code, sentence) => {
    const error = new VenueControlError({ why, detail })
    script.command = () => error
    const before = await rowCounts(service)
    const ran = await service.cli(price)
    assert.deepStrictEqual([ran.status, ran.refusal.code, ran.stdout], [1, code, ""])
    assert.match(ran.refusal.msg, sentence)
    if (why === "lost") assert.match((await lastAudit()).after, /, no answer$/)
    else assert.deepStrictEqual(await rowCounts(service), before)
    script.show = () => error
    assert.strictEqual((await service.cli(venue("show"))).refusal.code, code)
    assert.strictEqual((await service.cli([...price, "--dry-run"])).refusal.code, code)
  })

  it("a dry run names a market that the venue does not have", async () => {
    const ran = await service.cli([...venue("price", "BTC-PREP", "1"), "--dry-run"])
    assert.deepStrictEqual(ran.refusal.data.errors, { symbol: "The venue has no market of this name with a price." })
  })

  it.each([
    [["price", "btc", "1"], "symbol", "The symbol must be a symbol such as BTC-USDC-PERP."],
    [["price", symbol, "1e3"], "price", "The price must be a decimal such as 60000.5."],
    [["price", symbol, "-1"], "price", "The price must be a decimal such as 60000.5."],
    [["funding", symbol, "much"], "rate", "The rate must be a decimal with its sign, such as -2.5."],
    [["book", symbol, "--size", "x"], "size", "The size must be a decimal such as 60000.5."],
    [["fault", "slow", "--symbol", "?"], "symbol", "The symbol must be a symbol such as BTC-USDC-PERP."],
    [["fault", "slow", "--for", "2000d"], "forMillis", /must be a whole number from 1 to/],
    [["pay", "1", "--amount", "all"], "amount", "The amount must be a decimal such as 60000.5."]
  ] as const)("%j: the service names the field", async (words, field, sentence) => {
    const ran = await service.cli(venue(...words))
    assert.deepStrictEqual([ran.status, ran.refusal.code, Object.keys(ran.refusal.data.errors)], [1, 4000, [field]])
    const said: string = ran.refusal.data.errors[field]
    if (typeof sentence === "string") assert.strictEqual(said, sentence)
    else assert.match(said, sentence)
    assert.deepStrictEqual(script.sent, [])
  })

  it.each([
    ["an unknown fault", ["fault", "flood"]],
    ["an unknown route", ["fault", "slow", "--route", "mail"]],
    ["a time that is none", ["fault", "slow", "--for", "soon"]],
    ["an unknown mood", ["dealers", "loud"]],
    ["an execution without a reason", ["execute", "1", symbol, "1"]],
    ["an id that is none", ["pay", "first"]],
    ["a book without a size", ["book", symbol]]
  ])("%s is wrong usage", async (_, words) => {
    assert.strictEqual((await service.cli(venue(...words))).status, 2)
    assert.deepStrictEqual(script.sent, [])
  })

  it.each([
    ["", 1, "There must be a line offsetMs,price for each point."],
    ["0,1\nprice\n", 2, "There must be milliseconds and a price, such as 1500,60000.5."],
    ["offsetMs,price\n5,1\n5,2\n", 3, "The milliseconds must rise from line to line."],
    ["0,0\n", 1, "The price must be more than zero."],
    ["0,1\noffsetMs,price\n", 2, "There must be milliseconds and a price, such as 1500,60000.5."],
    ["-1,1\n", 1, "There must be milliseconds and a price, such as 1500,60000.5."]
  ])("a path of %j: file, line and the probable intention", async (text, line, sentence) => {
    const path = file("wrong.csv", text)
    const ran = await service.cli(venue("path", symbol, path))
    assert.deepStrictEqual([ran.status, ran.refusal.msg], [2, `${path}, line ${line}: ${sentence}`])
    assert.deepStrictEqual(script.sent, [])
  })

  it("unknown knobs: file, line and the probable intention", async () => {
    const path = file("wrong.yaml", "# comment\nprocceses: {}\n")
    const ran = await service.cli(venue("set", path))
    assert.strictEqual(ran.status, 2)
    assert.include(ran.refusal.msg, `${path}, line 2: procceses: `)
  })

  it.each([
    ["set", "nowhere.yaml"],
    ["path", "nowhere.csv"]
  ])("%s of a file that is not there", async (verb, name) => {
    const path = join(folder, name)
    const ran = await service.cli(verb === "set" ? venue("set", path) : venue("path", symbol, path))
    assert.deepStrictEqual([ran.status, ran.refusal.msg], [2, `${path} can't be read.`])
  })

  it("a path that is sent past the command line is judged once more", async () => {
    const long = file("long.csv", Array.from({ length: 20_000 }, (_, at) => `${at},${60_000 + at}.123456`).join("\n"))
    await service.done(venue("path", symbol, long))
    assert.strictEqual((script.sent[0] as { readonly points: ReadonlyArray<unknown> }).points.length, 20_000)
  })
})

describe("operator surface, sim venue show", () => {
  it("with --json it shows the venue's own view", async () => {
    assert.deepStrictEqual(await service.done(venue("show")), quietView)
    assert.strictEqual((await service.cli(venue("show"), "SUPPORT")).refusal.code, 4034)
  })

  it("shows a person prices, held ones, paths, dealers and remaining faults", async () => {
    const [first, second] = quietView.markets
    assert.isDefined(first)
    assert.isDefined(second)
    script.show = () => ({
      ...quietView,
      markets: [
        { ...first, held: ["mark", "index"], path: false },
        { ...second, last: null, path: true, halted: true }
      ],
      faults: [
        { kind: "slow", route: "rfq", symbol: null, until: null, timesLeft: 2, struck: 1 },
        {
          kind: "outage",
          route: "all",
          symbol: "BTC-USDC-PERP",
          until: Date.UTC(2090, 0, 1),
          timesLeft: null,
          struck: 0
        },
        { kind: "reset", route: "all", symbol: null, until: null, timesLeft: null, struck: 4 }
      ]
    })
    const { stdout } = await runRecorded([...venue("show"), ...service.connection("ADMIN")])
    const lines = stdout.split("\n").map((line) => line.trim().split(/ {2,}/).join(" | "))
    assert.includeMembers(lines, [
      "last event | 41",
      "seed | 7",
      "connected to | 1 of events, 2 of market data (40 subscriptions)",
      "BTC-USDC-PERP | 60000 | 60001 | 60002 | mark, index",
      "BTC-USDC | 60001 | 60002 | playing | halted",
      "one | normal | 200 ms | 5000 ms",
      "slow | rfq | 2 times | 1",
      "outage | all | BTC-USDC-PERP | until 2090-01-01 00:00:00Z | 0",
      "reset | all | until clear | 4"
    ])
  })
})
