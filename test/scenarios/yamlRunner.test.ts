/**
 * The parts of the runner of scenarios: expectations and their first difference, variables, bodies, command lines,
 * waits, the JUnit file, and the progress display.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { Writable } from "node:stream"
import { linesOf, scenarioBoard } from "../../cli/views/scenarioBoard.ts"
import { type Answer, ofCommand, ofRoute, unexpectedIn } from "../../simulator/scenarios/runner/Answer.ts"
import { withMembers } from "../../simulator/scenarios/runner/bodies.ts"
import { closest } from "../../src/machines/shared/closest.ts"
import { splitLine } from "../../simulator/scenarios/runner/performStep.ts"
import { eventually } from "../../simulator/scenarios/runner/eventually.ts"
import { junitOf } from "../../simulator/scenarios/runner/junit.ts"
import { compareDecimals, difference, Matcher, type MatcherName } from "../../simulator/scenarios/runner/matching.ts"
import type { ScenarioResult } from "../../simulator/scenarios/runner/runScenario.ts"
import type { Scenario } from "../../simulator/scenarios/runner/Scenario.ts"
import { memberAt, millisOf, UnknownVariable, Variables } from "../../simulator/scenarios/runner/variables.ts"
import { shortNames } from "../../simulator/scenarios/runner/vocabulary.ts"

describe("expectations", () => {
  const m = (name: MatcherName, value: unknown = null) => new Matcher(name, value)

  it.each<readonly [string, unknown, unknown]>([
    ["members of a map", { a: 1 }, { a: 1, b: 2 }],
    ["a list, item by item", [1, { a: "x" }], [1, { a: "x", b: 0 }]],
    ["something", m("any"), 0],
    ["nothing", { a: m("absent") }, { b: 1 }],
    ["anything but", m("not", 5), 6],
    ["an item of a list", m("has", { a: 1 }), [{ a: 2 }, { a: 1, b: 3 }]],
    ["several items of a list", m("has", [1, 2]), [2, 3, 1]],
    ["a size", m("size", 2), [1, 2]],
    ["a shape of text", m("matches", "^pbk_"), "pbk_1"],
    ["more, as decimals", m("above", "9.99"), "10.000001"],
    ["less, as decimals", m("below", 0), "-0.000001"],
    ["any order", m("unordered", [{ a: 1 }, { a: 2 }]), [{ a: 2 }, { a: 1 }]]
  ])("hold: %s", (_title, expected, found) => assert.isNull(difference(expected, found, "data")))

  it.each<readonly [string, unknown, unknown, string]>([
    ["another figure", { cash: "1.00" }, { cash: "1.000000" }, 'data.cash is "1.000000", expected "1.00"'],
    ["a number for a text", { amount: 100 }, { amount: "100" }, 'data.amount is "100", expected 100'],
    ["a member that is not there", { a: { b: 1 } }, { a: {} }, "data.a.b is missing, expected 1"],
    ["no map", { a: 1 }, null, "data is null, expected a map"],
    ["an item too many", [1], [1, 2], "data has 2 items, expected 1: [1,2]"],
    ["an item deep inside", [{ a: [1, 2] }], [{ a: [1, 3] }], "data.0.a.1 is 3, expected 2"],
    ["null is nothing to have", m("any"), null, "data is null, expected something"],
    ["it is there", m("absent"), 1, "data is 1, expected nothing"],
    ["the very one", m("not", 5), 5, "data is 5, expected anything but 5"],
    ["no such item", m("has", { a: 1 }), [{ a: 2 }], 'data is [{"a":2}], expected a list with {"a":1}'],
    ["another size", m("size", 2), [1], "data is [1], expected size 2"],
    ["another shape", m("matches", "^a"), "b", 'data is "b", expected text like ^a'],
    ["as much is not more", m("above", "10"), "10.000", 'data is "10.000", expected more than "10"'],
    ["no number", m("below", 1), "x", 'data is "x", expected less than 1'],
    ["one item for two", m("unordered", [1, 1]), [1, 2], "data is [1,2], expected [1,1] in any order"]
  ])("do not hold: %s", (_title, expected, found, sentence) =>
    assert.strictEqual(difference(expected, found, "data"), sentence)
  )

  it("decimals are compared exactly, however long", () => {
    assert.strictEqual(compareDecimals("0.1000000000000000000000000000001", "0.1"), 1)
    assert.strictEqual(compareDecimals("-5", "-5.0"), 0)
    assert.isNull(compareDecimals("1e3", 1))
  })

  const answer = (status: number, body: object): Answer =>
    ofRoute({ status, body: Buffer.from(JSON.stringify(body)), replayed: false, retryAfter: null })
  const refused = answer(409, { code: 4092, msg: "No.", error: "No.", data: { errors: { a: "b" } } })

  it("an answer must succeed unless a status or code is expected", () => {
    assert.isNull(unexpectedIn({}, answer(201, { code: 0, data: {} })))
    assert.isNull(unexpectedIn({ code: 4092, msg: "No.", errors: { a: "b" } }, refused))
    assert.match(unexpectedIn({ data: {} }, refused) ?? "", /^the service refused \(status 409\): .*"No\."/)
    assert.match(unexpectedIn({ status: 200 }, refused) ?? "", /^status is 409, expected 200; the answer: 409 \{/)
  })

  it("a command is an answer: its document, or its refusal", () => {
    const done = ofCommand({ exit: 0, document: { clientId: 4 }, refusal: null })
    assert.isNull(unexpectedIn({ status: 0, code: 0, data: { clientId: 4 } }, done))
    const not = ofCommand({ exit: 1, document: null, refusal: { code: 4092, msg: "No." } })
    assert.isNull(unexpectedIn({ code: 4092, msg: "No." }, not))
    assert.match(unexpectedIn({}, not) ?? "", /^the service refused \(status 1\)/)
  })
})

describe("short names that are as large as asked", () => {
  const sample = (name: string, words: Readonly<Record<string, string>>) =>
    shortNames[name]?.sample?.({
      words,
      person: 1,
      tag: "s1",
      now: 0,
      fresh: () => "s1-1",
      answers: () => Promise.resolve(null)
    })
  const bytesOf = (words: Readonly<Record<string, string>>): number => {
    const { dataBase64 } = sample("upload", words) as { readonly dataBase64: string }
    return Buffer.from(dataBase64, "base64").length
  }

  it("a picture has the requested number of bytes, and never fewer than a picture needs", () => {
    assert.strictEqual(bytesOf({ BYTES: "8388609" }), 8_388_609)
    assert.deepStrictEqual([bytesOf({}), bytesOf({ BYTES: "1" })], [70, 70])
  })

  it("a list has the requested number of entries", () => {
    const { items } = sample("bulk", { ITEM: "7", COUNT: "501" }) as { readonly items: ReadonlyArray<unknown> }
    assert.lengthOf(items, 501)
    assert.deepStrictEqual(items[500], { itemId: 7, status: "SETTLED", partnerTxRef: "s1-1" })
  })

  it.each(["", "-1", "1.5", "1e3", "x", "10001"])("of %j entries there is no list", (COUNT) => {
    assert.throws(() => sample("bulk", { ITEM: "7", COUNT }), `"${COUNT}" is not a whole number up to 10000.`)
  })
})

describe("variables", () => {
  const at = Date.UTC(2026, 10, 22, 23, 0)
  const variables = new Variables("s1", () => at)
  variables.set("anna", 7)
  variables.set("anna.uid", "CL-7")
  variables.set("item", { itemId: 12, refs: { a: "b" } })

  it.each<readonly [string, unknown, unknown]>([
    ["a whole text keeps the type", "$anna", 7],
    ["inside a text it is written out", "/clients/$anna/kyc", "/clients/7/kyc"],
    ["a name with a point", "$anna.uid", "CL-7"],
    ["a member of what was saved", "$item.refs.a", "b"],
    ["a text that is this run's own", "${ref}", "ref-s1"],
    ["business time", "$now", at],
    ["and some time later", "$now+5m", at + 300_000],
    ["a day", "$today", "2026-11-22"],
    ["the day after", "$today+2h", "2026-11-23"],
    ["a dollar sign", "5 $$anna", "5 $anna"],
    ["in maps, lists and matchers", { a: ["$anna", new Matcher("has", "$anna")] }, { a: [7, new Matcher("has", 7)] }],
    ["what is no text stays", { a: 1, b: null }, { a: 1, b: null }]
  ])("%s", (_title, text, expected) => assert.deepStrictEqual(variables.fill(text), expected))

  it("a variable that no step has saved is named", () => {
    assert.throws(() => variables.fill("$ben"), UnknownVariable, "$ben is unknown")
    assert.throws(() => variables.fill("$item.refs.c"), UnknownVariable, "$item.refs.c is unknown")
  })

  it("durations and paths", () => {
    assert.deepStrictEqual(["500ms", "15s", "2d"].map(millisOf), [500, 15_000, 172_800_000])
    assert.strictEqual(memberAt({ a: [{ b: 5 }] }, ["a", "0", "b"]), 5)
    assert.isUndefined(memberAt({ a: null }, ["a", "toString"]))
  })
})

describe("requests", () => {
  const none = { body: undefined, with: {}, without: [] }

  it("a sample with members replaced, added and left out; the sample stays as it is", () => {
    const sample = { a: 1, b: { c: 2, d: 3 }, e: 4 }
    const changes = { body: { a: "x" }, with: { "b.c": 5, "f.g": 6 }, without: ["e", "b.d"] }
    assert.deepStrictEqual(withMembers(sample, changes), { a: "x", b: { c: 5 }, f: { g: 6 } })
    assert.deepStrictEqual(sample, { a: 1, b: { c: 2, d: 3 }, e: 4 })
    assert.isUndefined(withMembers(undefined, none))
    assert.deepStrictEqual(withMembers(undefined, { ...none, body: [1] }), [1])
  })

  it("a command line is split as a shell splits it", () => {
    assert.deepStrictEqual(splitLine(`client restrict $anna FROZEN  --reason "court order" x='a b'`), [
      "client",
      "restrict",
      "$anna",
      "FROZEN",
      "--reason",
      "court order",
      "x=a b"
    ])
    assert.isNull(splitLine('partner list "x'))
  })

  it("the nearest known word is suggested, or none", () => {
    assert.strictEqual(closest("recieve", ["receive", "refuse"]), '; did you mean "receive"?')
    assert.strictEqual(closest("xyz", ["receive", "refuse"]), "")
  })
})

describe("waiting", () => {
  const looks = (answers: ReadonlyArray<string | null>) => {
    let asked = 0
    return { look: Effect.sync(() => answers[Math.min(asked++, answers.length - 1)] ?? null), asked: () => asked }
  }

  it.live("checks until nothing is missing", () =>
    Effect.gen(function* () {
      const { look, asked } = looks(["a", "b", null])
      assert.isNull(yield* eventually(look, 10_000))
      assert.strictEqual(asked(), 3)
    })
  )

  it.live("answers the last missing part at its timeout", () =>
    Effect.gen(function* () {
      const { look } = looks(["a", "still"])
      assert.strictEqual(yield* eventually(look, 30), "still")
    })
  )
})

const result: ScenarioResult = {
  id: "SC-CUS-01",
  title: "A & B",
  file: "x.yaml",
  ok: true,
  millis: 1_500,
  done: 2,
  steps: 2,
  failure: null
}
const failed: ScenarioResult = {
  ...result,
  id: "SC-CUS-02",
  file: "y.yaml",
  ok: false,
  failure: { line: 7, step: "partner: GET /me", sentence: 'msg is "<no>"\u0000\nnot' }
}

describe("JUnit", () => {
  it("is one test case a scenario, failures with place and sentence, everything escaped", () =>
    assert.strictEqual(
      junitOf([result, failed], 5),
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites tests="2" failures="1" errors="0" time="3.000">',
        '  <testsuite name="scenarios" tests="2" failures="1" errors="0" time="3.000">',
        '    <properties><property name="seed" value="5"/></properties>',
        '    <testcase classname="SC-CUS-01" name="A &amp; B" file="x.yaml" time="1.500"/>',
        '    <testcase classname="SC-CUS-02" name="A &amp; B" file="y.yaml" time="1.500">',
        '      <failure message="msg is &quot;&lt;no&gt;&quot;?&#10;not">line 7, partner: GET /me</failure>',
        "    </testcase>",
        "  </testsuite>",
        "</testsuites>",
        ""
      ].join("\n")
    ))
})

describe("what sim run shows", () => {
  const scenario = (id: string, file: string): Scenario => ({
    file,
    id,
    title: "A & B",
    alone: false,
    own: false,
    given: {},
    needs: [],
    steps: [{ kind: "clock", line: 4, clock: "1d" }]
  })

  it("elsewhere than on a terminal one line a scenario, and what failed where", () => {
    const lines: Array<string> = []
    const board = linesOf((text) => void lines.push(text))
    board.ended(scenario("SC-CUS-01", "x.yaml"), result)
    board.ended(scenario("SC-CUS-02", "y.yaml"), failed)
    board.close()
    assert.deepStrictEqual(lines, [
      "passed  SC-CUS-01  A & B  1.5 s\n",
      'FAILED  SC-CUS-02  A & B  1.5 s\n        y.yaml:7: partner: GET /me\n        msg is "<no>"??not\n'
    ])
  })

  it("on a terminal it shows the running ones with their step, the ended ones above them, and their number", async () => {
    let drawn = ""
    const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => ((drawn += chunk.toString()), done()) })
    const terminal = Object.assign(stream, { columns: 200, rows: 50, isTTY: true }) as unknown as NodeJS.WriteStream
    const [first, second] = [scenario("SC-CUS-01", "x.yaml"), scenario("SC-CUS-02", "y.yaml")]
    const board = scenarioBoard([first, second], false, terminal)
    board.began(first)
    board.began(second)
    board.at(second, 1, "clock: 1d")
    await vi.waitFor(() => assert.match(drawn, /SC-CUS-02 {2}1\/1 {2}[0-9.]+ s {2}clock: 1d/), { timeout: 20_000 })
    board.ended(first, result)
    board.ended(second, failed)
    board.close()
    assert.match(drawn, /passed {2}SC-CUS-01[^]*FAILED {2}SC-CUS-02[^]*y\.yaml:7: partner: GET \/me[^]*2 of 2/)
  })
})
