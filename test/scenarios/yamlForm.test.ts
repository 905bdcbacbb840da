/**
 * The form of scenario files: each fault of a file is reported with its line and the probable intention; every scenario
 * of the catalogue is a file, or is listed here with the reason (docs/scenarios.md).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { allScenarios, findScenarios, groups } from "../../simulator/scenarios/runner/findScenarios.ts"
import { invariants } from "../../simulator/scenarios/runner/invariants.ts"
import { matchers } from "../../simulator/scenarios/runner/matching.ts"
import { readScenario } from "../../simulator/scenarios/runner/readScenario.ts"
import { type Scenario, stepForms } from "../../simulator/scenarios/runner/Scenario.ts"
import { shortNames } from "../../simulator/scenarios/runner/vocabulary.ts"

const head = "id: SC-CUS-01\ntitle: A deposit\n"

/** The pieces from which the fuzz builds its texts. */
const yamlPieces = [
  "id: SC-CUS-01\n",
  "title: x\n",
  "steps:\n",
  "  - partner: client anna\n",
  "    expect: ",
  "kill: service\n",
  "__proto__: 1\n",
  "<<: *a\n",
  "%YAML 9\n",
  ..."{}[]?:-'\"~$\n\t\u0000",
  ..."!above |!has |!!set |*a|&a |1e9999|.nan|---\n|  ".split("|")
]

/** The faults of a file, as `LINE: sentence`. */
const complaints = (text: string): ReadonlyArray<string> => {
  const result = readScenario("x.yaml", text)
  return "id" in result ? [] : result.map(({ line, sentence }) => `${line}: ${sentence}`)
}

const scenario = (text: string): Scenario => {
  const result = readScenario("x.yaml", text)
  if (!("id" in result)) throw new Error(JSON.stringify(result))
  return result
}

describe("scenario files: faults are reported with their line", () => {
  const broken: ReadonlyArray<readonly [string, string, ReadonlyArray<string>]> = [
    [
      "a misspelt key of the scenario",
      `${head}stepps:\n  - clock: 1d\n`,
      ['3: a scenario has no key stepps; did you mean "steps"?', "1: steps is missing from a scenario"]
    ],
    ["no steps", `${head}steps: []\n`, ["3: steps must have at least one step"]],
    [
      "an id of another form",
      "id: CUS-1\ntitle: x\nsteps:\n  - clock: 1d\n",
      ["1: id must be an id such as SC-CUS-01"]
    ],
    [
      "a misspelt actor",
      `${head}steps:\n  - clock: 1d\n  - parner: onboard anna\n`,
      [
        '5: a step begins with one of partner, operator, venue, clock, receiver, event, together, kill; did you mean "partner"?'
      ]
    ],
    [
      "two actors in one step",
      `${head}steps:\n  - partner: onboard anna\n    clock: 1d\n`,
      ["4: a step can have only one of partner, clock"]
    ],
    [
      "a misspelt key of a step",
      `${head}steps:\n  - partner: onboard anna\n    expct: { status: 201 }\n`,
      ['5: a step of partner has no key expct; did you mean "expect"?']
    ],
    [
      "a misspelt expectation, where it stands",
      `${head}steps:\n  - partner: onboard anna\n    expect:\n      code: 0\n      stauts: 201\n`,
      ['7: a step of partner has no key stauts; did you mean "status"?']
    ],
    [
      "a misspelt short name",
      `${head}steps:\n  - partner: onbord anna\n`,
      ['4: partner has no line "onbord"; did you mean "onboard"?']
    ],
    [
      "a short name without its words",
      `${head}steps:\n  - partner: deposit anna\n`,
      ["4: usage: deposit CLIENT AMOUNT [CURRENCY]"]
    ],
    [
      "a route without a path",
      `${head}steps:\n  - partner: GET clients\n`,
      ["4: GET needs exactly one path that begins with /"]
    ],
    [
      "a wrong duration",
      `${head}steps:\n  - clock: tomorrow\n`,
      ["4: clock must be a duration such as 500ms, 15s or 8h, or a day such as 04-07, at most the 28th"]
    ],
    [
      "a matcher that there is not",
      `${head}steps:\n  - partner: client anna\n    expect: { data: !anny x }\n`,
      ['5: there is no matcher !anny; did you mean "any"?']
    ],
    [
      "a status that is no number",
      `${head}steps:\n  - partner: client anna\n    expect: { status: created }\n`,
      ["5: expect.status must be a whole number"]
    ],
    [
      "a duration that is no text",
      `${head}steps:\n  - clock: 5\n`,
      ["4: clock must be a duration such as 500ms, 15s or 8h, or a day such as 04-07, at most the 28th"]
    ],
    ["an id that is no text", "id: 5\ntitle: x\nsteps:\n  - clock: 1d\n", ["1: id must be an id such as SC-CUS-01"]],
    [
      "a custody model that there is not",
      `${head}given:\n  partner: { custody: NOBODY }\nsteps:\n  - clock: 1d\n`,
      ["4: given.partner.custody must be BROKER or PARTNER"]
    ],
    [
      "a step that can't be sent together",
      `${head}steps:\n  - together:\n      - clock: 1d\n      - partner: client anna\n    answers: [{}, {}]\n`,
      ["5: only steps of partner, operator and venue can run together"]
    ],
    [
      "a write that would be repeated",
      `${head}steps:\n  - partner: onboard anna\n    within: 5s\n`,
      ["4: within repeats the step, so it needs a read, or a write with an idempotencyKey"]
    ],
    [
      "a partner that is not given",
      `${head}given:\n  partners: { rival: {} }\nsteps:\n  - partner: GET /me\n    by: rivall\n`,
      ['6: given.partners has no partner "rivall"; did you mean "rival"?']
    ],
    [
      "kills whose members do not fit together",
      `${head}steps:\n  - kill: service\n    for: 5s\n  - kill: database\n    at: [after-commit]\n  - kill: service\n    at: [after-commit]\n  - kill: database\n    during:\n      - partner: client anna\n  - kill: service\n    at: [after-claim]\n    client: anna\n    during:\n      - partner: client anna\n`,
      [
        "4: for applies only to a kill of the database",
        "6: at applies only to a kill of the service",
        "8: at must name one point for each step of during",
        "10: during requires for",
        "13: client applies only to kills before and after a commit"
      ]
    ],
    [
      "a kill of what is not killed, at a point that there is not",
      `${head}steps:\n  - kill: venue\n    at: [after-comit]\n`,
      [
        "4: kill must be service or database",
        "5: at.0 must be one of after-claim, after-decide, before-commit, after-commit"
      ]
    ],
    [
      "a step that can't be sent during a kill",
      `${head}steps:\n  - kill: database\n    for: 5s\n    during:\n      - clock: 1d\n`,
      ["7: only steps of partner, operator and venue can run during a kill"]
    ],
    ["an alias of nothing", `${head}steps: *none\n`, ["3: the alias *none has no anchor before it"]],
    [
      "an alias that leads back to itself",
      `${head}steps: &all\n  - together: *all\n    answers: []\n`,
      ["4: maps and lists are nested too deeply"]
    ],
    [
      "numbers that no answer can have",
      `${head}steps:\n  - partner: GET /me\n    expect:\n      data: { a: 1e9999 }\n      body: !above .nan\n      msg: -.inf\n`,
      [
        "6: 1e9999 is not a number that an answer can contain",
        "7: .nan is not a number that an answer can contain",
        "8: -.inf is not a number that an answer can contain"
      ]
    ],
    [
      "numbers without a value where something else is asked for, each said once",
      `id: .nan\ntitle: &none 1e9999\ngiven: { clients: .inf, partner: { read: -.inf } }\nsteps:\n  - .nan\n  - clock: *none\n  - partner: client anna\n    expect: { status: .nan, code: !anny 5, msg: !above x }\n  - receiver: main\n    answers: [.nan]\n`,
      [
        "1: .nan is not a number that an answer can contain",
        "2: 1e9999 is not a number that an answer can contain",
        "3: .inf is not a number that an answer can contain",
        "3: -.inf is not a number that an answer can contain",
        "5: .nan is not a number that an answer can contain",
        "8: .nan is not a number that an answer can contain",
        '8: there is no matcher !anny; did you mean "any"?',
        "8: !above takes a number or decimal text",
        "10: .nan is not a number that an answer can contain"
      ]
    ],
    ["a file that is a number without a value", ".nan\n", ["1: .nan is not a number that an answer can contain"]],
    [
      "lists too deep to be read, said once",
      `${head}steps: ${"[".repeat(3_000)}${"]".repeat(3_000)}\n`,
      ["3: maps and lists are nested too deeply"]
    ],
    [
      "matchers with values of another form",
      `${head}steps:\n  - partner: GET /me\n    expect:\n      msg: !matches "("\n      data: !size x\n      body: !unordered x\n`,
      ["6: !matches takes a regular expression", "7: !size takes a whole number", "8: !unordered takes a list"]
    ],
    [
      "everything at once, in the order of the lines",
      `${head}steps:\n  - clock: soon\n  - partner: onbord anna\n  - operator: ledger verify\n    exepct: {}\n`,
      [
        "4: clock must be a duration such as 500ms, 15s or 8h, or a day such as 04-07, at most the 28th",
        '5: partner has no line "onbord"; did you mean "onboard"?',
        '7: a step of operator has no key exepct; did you mean "expect"?'
      ]
    ],
    [
      "text that is no YAML",
      `${head}steps: [\n`,
      ["4: Flow sequence in block collection must be sufficiently indented and end with a ]"]
    ],
    [
      "a second scenario in the file",
      `${head}steps:\n  - clock: 1d\n---\n${head}steps:\n  - clock: 2d\n`,
      ["5: a file can have only one scenario"]
    ],
    ["a key twice", `${head}title: Again\nsteps:\n  - clock: 1d\n`, ["3: Map keys must be unique"]],
    [
      "more partners than a run has codes for",
      `${head}given:\n  partners:\n${Array.from({ length: 11 }, (_, n) => `    p${n}: {}\n`).join("")}steps:\n  - clock: 1d\n`,
      ["5: given.partners must have at most 10 partners"]
    ],
    ["an empty file", "", ["1: a scenario must be a map with id, title and steps"]]
  ]

  it.each(broken)("%s", (_title, text, expected) => assert.deepStrictEqual(complaints(text), expected.toSorted(byLine)))

  it("of many faults the first twenty are reported", () => {
    const said = complaints(`${head}steps:\n${"  - clok: 1d\n".repeat(150)}`)
    assert.lengthOf(said, 21)
    assert.match(said[0] ?? "", /^4: a step begins with one of .* did you mean "clock"\?$/)
    assert.strictEqual(said[20], "24: and 130 more")
  })

  it("any file is read or refused by line, each fault once and none without a sentence", () => {
    const piece = fc.constantFrom(...yamlPieces)
    const text = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.array(fc.oneof(piece, fc.string({ maxLength: 4 })), { maxLength: 30 }).map((parts) => parts.join(""))
    )
    fc.assert(
      fc.property(fc.constantFrom("", `${head}steps:\n  - partner: client anna\n    expect: `), text, (start, rest) => {
        const result = readScenario("x.yaml", start + rest)
        if ("id" in result) return
        const lines = (start + rest).split("\n").length
        assert.isNotEmpty(result)
        assert.isAtMost(result.length, 21)
        for (const { line, sentence } of result) {
          assert.isTrue(Number.isInteger(line) && line >= 1 && line <= lines, `line ${line} of ${lines}`)
          assert.isNotEmpty(sentence)
        }
        assert.lengthOf(new Set(result.map((each) => JSON.stringify(each))), result.length)
      }),
      { numRuns: 1_000, examples: [["", "!has ---\n]"]] }
    )
  })

  it("a file of more than 256 KiB is not read", () =>
    assert.deepStrictEqual(complaints(`${head}# ${"x".repeat(256 * 1024)}\n`), ["1: a scenario has at most 256 KiB"]))

  it("nor is a device that never ends", () =>
    assert.deepStrictEqual(findScenarios(["/dev/zero"]).complaints, ["/dev/zero:1: a scenario has at most 256 KiB"]))
})

const byLine = (a: string, b: string): number => Number.parseInt(a, 10) - Number.parseInt(b, 10)

describe("scenario files: their contents", () => {
  it("ten lines are a scenario; one that moves time or the venue runs alone, and its needs are known", () => {
    const found = scenario(
      `${head}given:\n  clients: [anna]\nsteps:\n  - partner: report anna DEPOSIT 5\n  - clock: 1d\n  - event: collateral.booked\n`
    )
    assert.deepInclude(found, { id: "SC-CUS-01", title: "A deposit", alone: true, needs: ["webhooks", "clock"] })
    assert.deepStrictEqual(
      found.steps.map(({ kind, line }) => `${line} ${kind}`),
      ["6 partner", "7 clock", "8 event"]
    )
  })

  it("a killing scenario needs a service of its own and runs alone; a write with a key may be repeated", () => {
    const write = "  - partner: report anna DEPOSIT 5\n    idempotencyKey: one\n    within: 5s\n"
    const kills = scenario(`${head}steps:\n  - kill: service\n${write}`)
    assert.deepInclude(kills, { own: true, alone: true, needs: ["own"] })
    assert.deepInclude(scenario(`${head}own: true\nsteps:\n${write}`), { own: true, alone: true })
    assert.deepInclude(scenario(`${head}steps:\n${write}`), { own: false, alone: false, needs: [] })
  })

  it("market data and the venue need a venue", () => {
    const found = scenario(`${head}steps:\n  - partner: GET /ticker?symbol=BTC-USDC-PERP\n`)
    assert.deepStrictEqual([found.needs, found.alone], [["venue"], false])
    assert.isTrue(scenario(`${head}steps:\n  - venue: clear\n`).alone)
  })
})

/** The number of scenarios in the catalogue under each name. */
const catalogue: Readonly<Record<string, number>> = {
  ONB: 20,
  CUS: 12,
  SET: 11,
  WHK: 10,
  PLT: 8,
  MKT: 18,
  RFQ: 10,
  BAR: 11,
  ORD: 37,
  SPT: 4,
  MRG: 25,
  FUN: 6,
  STK: 9,
  ACC: 1,
  STM: 8
}

/** The reason for a missing file, by id or by the beginning of ids. */
const without: Readonly<Record<string, string>> = {
  "WHK-05": "needs a name server of its own (test/runtime/webhooks/webhookAddresses.test.ts)",
  "WHK-09": "no route writes a notification late (test/runtime/webhooks/feedSweep.test.ts)",
  "PLT-06": "needs sessions of the direct API",
  "PLT-07": "needs event streams",
  "ORD-23": "the venue never says a trade twice with other figures"
}

/** The parts of a scenario that its file leaves out, and their precondition. */
const narrower: Readonly<Record<string, string>> = {
  "RFQ-01":
    "quotes that come after the accept: the venue ends the request, and they are never made (test/scenarios/rfq.test.ts)",
  "BAR-07": "the close that wins: a mark that moves later finds it ended (test/guarantees/knockOutOnce.test.ts)",
  "RFQ-04": "a quote withdrawn before the accept: no command takes a single one back (test/scenarios/rfq.test.ts)",
  "RFQ-10":
    "a millisecond beyond the longest expiry: the clock of the run is not the service's (test/machines/rfqBody.test.ts)",
  "BAR-03": "both at one moment: a price that is set counts at once (test/venue)",
  "STK-05":
    "a take that is found executed after it was released: the venue does not lie (test/scenarios/stakingLate.test.ts)",
  "CUS-05":
    "that NORMAL is still the recorded state: it is the mark's within a second (test/machines/withdrawalBody.test.ts)",
  "ORD-06":
    "a fill that comes after the venue itself has refused or cancelled its order: no command makes one; staff end the order too early instead",
  "ORD-08": "the cancel that wins: what comes first can't be chosen",
  "ORD-20": "a report of an account that leaves an order out: the venue leaves none out",
  "ONB-18":
    "a first call of 7 s: one that waits for the venue is answered after 5 s (test/http/idempotency.test.ts holds one for longer than the wait)",
  "MRG-15": "the alarm: it is a line of the service's log",
  "MRG-16": "the venue voids a lost order as soon as it is asked: that the write-off waits is in riskDecisions.test.ts",
  "PLT-04": "the send of a webhook (SC-WHK-07)",
  "MRG-20": "ten thousand accounts: a scenario onboards a dozen (npm run bench -- --only margin --rows crowd)",
  "FUN-03": "in the stamp's own millisecond: orders have none to choose (test/runtime/funding/fundingBooking.test.ts)",
  "FUN-04":
    "a posting of the difference: it takes a loss at one place of the stream (test/runtime/funding/fundingBooking.test.ts)",
  "PLT-08": "a step back: the business clock only goes forward; that a stamp is paid once is in SC-FUN-01"
}

describe("docs/scenarios.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/scenarios.md"), "utf8")
  /** The first cells of the tables under a heading. */
  const cells = (heading: string) =>
    [...(page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "").matchAll(/^\| `([^`]+)`.*\|$/gm)].map(
      ([, cell = ""]) => cell
    )

  it("has every kind of step, every short name, every matcher and every invariant, as they are", () => {
    assert.deepStrictEqual(cells("Steps"), Object.keys(stepForms))
    const lines = Object.entries(shortNames).map(
      ([name, { method, path, words, does }]) => `| \`${[name, ...words].join(" ")}\` | ${method} ${path}: ${does} |`
    )
    for (const line of lines) assert.include(page, line)
    assert.lengthOf(cells("Short names"), lines.length)
    for (const [name, meaning] of Object.entries(matchers)) assert.include(page, `| \`!${name}\` | ${meaning} |`)
    assert.deepStrictEqual(
      cells("Values").filter((cell) => cell.startsWith("!")),
      Object.keys(matchers).map((name) => `!${name}`)
    )
    for (const name of Object.keys(invariants)) assert.include(page, `| ${name} | `)
    for (const name of Object.keys(groups)) assert.include(page, name)
  })

  it("its scenario in ten lines can be read", () => {
    const [, text = ""] = /```yaml\n([^]*?)```/.exec(page) ?? []
    assert.deepStrictEqual(complaints(text), [])
    assert.strictEqual(scenario(text).steps.length, 3)
  })
})

describe("the catalogue of scenarios", () => {
  const { scenarios, complaints: wrong } = allScenarios()
  const ids = scenarios.map(({ id }) => id)

  it("every file can be read, and is named after its id", () => {
    assert.deepStrictEqual(wrong, [])
    assert.deepStrictEqual(
      scenarios.filter(({ id, file }) => basename(file) !== `${id.toLowerCase()}.yaml`).map(({ file }) => file),
      []
    )
  })

  it("every scenario of the catalogue is a file or has its reason, and never both", () => {
    const all = Object.entries(catalogue).flatMap(([name, count]) =>
      Array.from({ length: count }, (_, at) => `SC-${name}-${String(at + 1).padStart(2, "0")}`)
    )
    const excused = (id: string) => id.slice(3) in without || id.slice(3, 6) in without
    assert.deepStrictEqual(
      all.filter((id) => ids.includes(id) === excused(id)),
      []
    )
    assert.deepStrictEqual(
      ids.filter((id) => !all.includes(id)),
      []
    )
  })

  it("each part that a file leaves out of its scenario is listed here with its reason", () =>
    assert.deepStrictEqual(
      Object.keys(narrower).filter((id) => !ids.includes(`SC-${id}`)),
      []
    ))

  it("a group, the beginning of an id and an id find their scenarios, each once; a misspelt one is named", () => {
    const found = (...words: ReadonlyArray<string>) => findScenarios(words).scenarios.map(({ id }) => id)
    for (const prefix of Object.values(groups)) assert.isNotEmpty(ids.filter((id) => id.startsWith(prefix)))
    assert.deepStrictEqual(
      found("custody"),
      ids.filter((id) => id.startsWith("SC-CUS"))
    )
    assert.deepStrictEqual(found("cus-01", "SC-CUS-01", "sc-cus-01"), ["SC-CUS-01"])
    assert.deepStrictEqual(found("SC-CUS-1"), ["SC-CUS-10", "SC-CUS-11", "SC-CUS-12"])
    assert.deepStrictEqual(findScenarios(["custdy"]).complaints, [
      'No scenario matches "custdy"; did you mean "custody"?'
    ])
    assert.deepStrictEqual(findScenarios(["nope"]).complaints, [
      'No scenario matches "nope": brokerage sim list shows all scenarios.'
    ])
    assert.deepStrictEqual(findScenarios(["nowhere/x.yaml"]).complaints, ["nowhere/x.yaml:1: the file can not be read"])
  })
})
