/**
 * Tables of typed inputs: moments and durations, dates and zones, profiles, key files, and the sources of a key
 * (operator surface, rules for every command).
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CliFailure } from "../../cli/CliIo.ts"
import { findConnection, partnerKey } from "../../cli/connection.ts"
import { momentOption, parseDate, parseMoment, Relative } from "../../cli/moment.ts"
import { profileNames, readProfile } from "../../cli/profile.ts"
import { textOfBytes } from "../../cli/textFile.ts"
import { recordingIo, runRecorded } from "../operator/operatorHarness.ts"

const noon = Date.UTC(2026, 10, 27, 12)
const hour = 3_600_000

describe("operator surface, times as people write them", () => {
  it.each([
    ["2h", "ago", noon - 2 * hour],
    ["2h", "ahead", noon + 2 * hour],
    ["90s", "ago", noon - 90_000],
    ["7d", "ahead", noon + 168 * hour],
    ["99999d", "ago", 0],
    ["0", "ago", 0],
    ["1795780800000", "ago", 1_795_780_800_000],
    ["2026-11-01", "ago", Date.UTC(2026, 10, 1)],
    ["2026-11-01T09:30", "ago", Date.UTC(2026, 10, 1, 9, 30)],
    ["2026-11-01 09:30", "ahead", Date.UTC(2026, 10, 1, 9, 30)],
    ["2026-11-01T09:30:15", "ago", Date.UTC(2026, 10, 1, 9, 30, 15)],
    ["2026-11-01T09:30:15.25", "ago", Date.UTC(2026, 10, 1, 9, 30, 15, 250)],
    ["2026-11-01T09:30Z", "ago", Date.UTC(2026, 10, 1, 9, 30)],
    ["2026-11-01T09:30+02:00", "ago", Date.UTC(2026, 10, 1, 7, 30)],
    ["2026-11-01T09:30-05:30", "ago", Date.UTC(2026, 10, 1, 15)],
    ["2024-02-29", "ago", Date.UTC(2024, 1, 29)],
    ["1970-01-01", "ago", 0]
  ] as const)("%s (%s) is a moment", (text, direction, at) => {
    assert.strictEqual(parseMoment(text, direction, noon), at)
  })

  it.each([
    "",
    " ",
    "yesterday",
    "-2h",
    "0h",
    "2w",
    "1.5h",
    "2H",
    "-1",
    "01",
    "1e3",
    "99999999999999999",
    "2026-02-29",
    "2026-06-31",
    "2026-13-01",
    "2026-11-1",
    "26-11-01",
    "01.11.2026",
    "11/01/2026",
    "2026-11-01T25:00",
    "2026-11-01T09",
    "2026-11-01T09:30 CET",
    "2026-11-01T09:30+0200",
    "2026-11-01T09:30z",
    "1969-12-31",
    "2026-11-01T00:00\n"
  ])("%j is no moment", (text) => assert.isNull(parseMoment(text, "ago", noon)))

  it("a date alone accepts no duration, and an option names its form and keeps its limit", () => {
    assert.isNull(parseDate("2h"))
    const { parseArg, description } = momentOption("--to <time>", "before", { latest: 1_000 })
    assert.match(description, /^before: 2h, 2026-11-01/)
    assert.strictEqual(parseArg?.("1000", undefined), 1_000)
    assert.throws(() => parseArg?.("1001", undefined), /It must be a time such as 2h/)
    assert.throws(() => parseArg?.("2x", undefined), /It must be a time such as 2h/)
  })

  it.each(["1000000000", "1795132800", "99999999999"])(
    "%s is refused as seconds, and the sentence names milliseconds",
    (text) => {
      const { parseArg } = momentOption("--to <time>", "before")
      assert.throws(
        () => parseArg?.(text, undefined),
        `${text} is a number of seconds: write it in Unix milliseconds, ${text}000.`
      )
    }
  )
  it.each(["0", "999999999", "100000000000", "1795132800000"])("%s counts as milliseconds", (text) => {
    assert.strictEqual(momentOption("--to <time>", "before").parseArg?.(text, undefined), Number(text))
  })

  it("a date as an inclusive end is its last millisecond; a time of day is itself", () => {
    const { parseArg } = momentOption("--to <time>", "inclusive", { isLastMoment: true })
    assert.strictEqual(parseArg?.("2026-10-31", undefined), Date.UTC(2026, 10, 1) - 1)
    assert.strictEqual(parseArg?.("2026-10-31T00:00", undefined), Date.UTC(2026, 9, 31))
    assert.strictEqual(parseArg?.("1000", undefined), 1_000)
  })

  it.each([
    ["2h", {}, noon - 2 * 3_600_000],
    ["2h", { direction: "ahead" }, noon + 2 * 3_600_000],
    ["99999999d", {}, 0]
  ] as const)("%s %j is counted from the service's clock", (text, how, at) => {
    const given: unknown = momentOption("--to <time>", "before", how).parseArg?.(text, undefined)
    assert.instanceOf(given, Relative)
    assert.strictEqual(given.from(noon), at)
    const bounded: unknown = momentOption("--to <time>", "x", { ...how, latest: -1 }).parseArg?.(text, undefined)
    assert.instanceOf(bounded, Relative)
    assert.deepStrictEqual(refusalOf(() => bounded.from(noon))[0], 2)
  })
})

const folder = mkdtempSync(join(tmpdir(), "brokerage-inputs-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const profiles = join(folder, "brokerage", "profiles")
mkdirSync(profiles, { recursive: true })
const keyFile = join(folder, "operator.key")
writeFileSync(keyFile, "bok_one\n")
const env = { XDG_CONFIG_HOME: folder }

const write = (name: string, content: unknown): void =>
  writeFileSync(join(profiles, `${name}.json`), typeof content === "string" ? content : JSON.stringify(content))
/** Exit status and sentence of a refusal. */
const refusalOf = (run: () => unknown): readonly [status: number, sentence: string] => {
  try {
    run()
  } catch (error) {
    if (error instanceof CliFailure) return [error.status, error.message]
    throw error
  }
  throw new Error("it was taken")
}

describe("operator surface, profiles", () => {
  it("paths are relative to the profile's folder; absent members are null; names are sorted", () => {
    write("prod", { url: "https://b.example:8443", ca: "prod.pem", operatorKeyFile: keyFile })
    write("bare", { url: "https://b.example" })
    writeFileSync(join(profiles, "no profile.json"), "{}")
    writeFileSync(join(profiles, "notes.txt"), "")
    assert.deepStrictEqual(readProfile("prod", env), {
      url: "https://b.example:8443",
      ca: join(profiles, "prod.pem"),
      operatorKeyFile: keyFile
    })
    assert.deepStrictEqual(readProfile("bare", env), { url: "https://b.example", ca: null, operatorKeyFile: null })
    assert.deepStrictEqual(profileNames(env), ["bare", "prod"])
    assert.deepStrictEqual(profileNames({ XDG_CONFIG_HOME: join(folder, "none") }), [])
  })

  it.each([
    ["../prod", null, /takes a name of letters/],
    ["a.b", null, /takes a name of letters/],
    ["", null, /takes a name of letters/],
    ["x".repeat(65), null, /takes a name of letters/],
    ["missing", null, /There is no profile missing.*There are: /],
    ["broken", "{", /must hold one JSON object/],
    ["list", "[]", /must hold one JSON object/],
    ["nothing", "null", /must hold one JSON object/],
    [
      "keyed",
      { url: "https://b", operatorKey: "bok_x" },
      /unknown member operatorKey. Known are: url, ca, operatorKeyFile/
    ],
    ["urlless", { ca: "x" }, /url is missing/],
    ["number", { url: "https://b", ca: 1 }, /ca must be a path/]
  ] as const)("%s is wrong usage with a reason", (name, content, said) => {
    if (content !== null) write(name, content)
    const [status, sentence] = refusalOf(() => readProfile(name, env))
    assert.strictEqual(status, 2)
    assert.match(sentence, said)
  })

  it("a profile is never mixed with the environment: the key of one service is never sent to another", () => {
    write("bare", { url: "https://b.example" })
    const { io } = recordingIo({ env: { ...env, BROKERAGE_OPERATOR_KEY: "bok_other", BROKERAGE_URL: "https://other" } })
    assert.match(refusalOf(() => findConnection({ profile: "bare" }, io))[1], /An operator key is needed/)
    const named = findConnection({ profile: "bare", operatorKeyFile: keyFile }, io)
    assert.deepInclude(named, { url: "https://b.example", operatorKey: "bok_one", ca: null })
    assert.strictEqual(findConnection({ url: "https://c" }, io).operatorKey, "bok_other")
  })
})

/** Forms in which editors and shells write a text. */
const marked: ReadonlyArray<readonly [mark: string, write: (text: string) => Uint8Array]> = [
  ["a line end", (text) => Buffer.from(`${text}\n`)],
  ["a line end of Windows", (text) => Buffer.from(`${text}\r\n`)],
  ["white space around", (text) => Buffer.from(`\n ${text}\t `)],
  ["a byte order mark", (text) => Buffer.from(`\ufeff${text}`)],
  ["UTF-16", (text) => Buffer.from(`\ufeff${text}\r\n`, "utf16le")],
  ["UTF-16, the other way round", (text) => Buffer.from(`\ufeff${text}\n`, "utf16le").swap16()]
]

describe("operator surface, bytes that shells and editors add", () => {
  it.each(marked)("a key with %s is the key, in a file, an option and a variable", (_, written) => {
    const bytes = written("bok_one")
    writeFileSync(join(folder, "marked.key"), bytes)
    const from = (globals: object, variables: Record<string, string> = {}) =>
      findConnection({ url: "https://b", ...globals }, recordingIo({ env: variables }).io).operatorKey
    assert.strictEqual(from({ operatorKeyFile: join(folder, "marked.key") }), "bok_one")
    const text = textOfBytes(bytes)
    assert.strictEqual(from({ operatorKey: text }), "bok_one")
    assert.strictEqual(from({}, { BROKERAGE_OPERATOR_KEY: text }), "bok_one")
    assert.strictEqual(from({}, { BROKERAGE_OPERATOR_KEY_FILE: `${join(folder, "marked.key")}\n` }), "bok_one")
    assert.strictEqual(partnerKey(text), "bok_one")
  })

  it.each(marked)("a profile with %s is the profile", (_, written) => {
    writeFileSync(
      join(profiles, "marked.json"),
      written(JSON.stringify({ url: " https://b.example\n", ca: "b.pem\r\n" }))
    )
    const profile = { url: "https://b.example", ca: join(profiles, "b.pem"), operatorKeyFile: null }
    assert.deepStrictEqual(readProfile("marked", env), profile)
  })

  it.each(["bok_a\nbok_b", "bok_\u0000a", "bok_\u00e9", "b\u0000o\u0000k\u0000", "\ufffd\ufffdb", "x".repeat(1_025)])(
    "%j is no key, and refused in one sentence from every source",
    async (text) => {
      writeFileSync(join(folder, "marked.key"), text)
      const places: ReadonlyArray<readonly [globals: object, variables: Record<string, string>]> = [
        [{ operatorKeyFile: join(folder, "marked.key") }, {}],
        [{ operatorKey: text }, {}],
        [{}, { BROKERAGE_OPERATOR_KEY: text }]
      ]
      for (const [globals, variables] of places) {
        const { io } = recordingIo({ env: variables })
        const [status, sentence] = refusalOf(() => findConnection({ url: "https://b", ...globals }, io))
        assert.strictEqual(status, 2)
        assert.match(sentence, /^[^\n]* must hold one key and nothing else\.$/)
      }
      const ran = await runRecorded(["queue", "--json", "--url", "https://b", "--operator-key", text])
      assert.deepStrictEqual([ran.status, ran.stdout, JSON.parse(ran.stderr).code], [2, "", 4000])
      const partner = ["sim", "partner", "run", "--clients", "1", "--rate", "1", "--for", "1s", "--key", text]
      const simulated = await runRecorded([...partner, "--json", "--url", "https://b"])
      assert.deepStrictEqual(
        [simulated.status, JSON.parse(simulated.stderr).msg],
        [2, "The key of --key must hold one key and nothing else."]
      )
    }
  )

  it("a file that is not text is refused in one sentence", () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x62])
    writeFileSync(join(profiles, "bytes.json"), bytes)
    assert.match(refusalOf(() => readProfile("bytes", env))[1], /bytes\.json is not UTF-8 or UTF-16 text\.$/)
    writeFileSync(join(folder, "bytes.key"), bytes)
    const keyed = { url: "https://b", operatorKeyFile: join(folder, "bytes.key") }
    assert.match(refusalOf(() => findConnection(keyed, recordingIo().io))[1], /bytes\.key can not be read\.$/)
  })

  it.each(marked)("a file of JSON with %s is read, for --config and as a questionnaire", async (_, written) => {
    const file = join(folder, "marked.json")
    writeFileSync(file, written(JSON.stringify({ port: "no port" })))
    const serve = await runRecorded(["serve", "--config", file, "--json"])
    assert.deepStrictEqual(
      [serve.status, JSON.parse(serve.stderr).msg],
      [2, "The setting port of --config has the wrong form."]
    )
    const publish = await runRecorded([
      "appropriateness",
      "publish",
      file,
      "--json",
      "--data-dir",
      join(folder, "none")
    ])
    assert.deepStrictEqual([publish.status, JSON.parse(publish.stderr).code], [3, 5030])
  })
})

describe("operator surface, the key file", () => {
  const at = (content: string | null): (() => unknown) => {
    const file = join(folder, "some.key")
    rmSync(file, { force: true })
    if (content !== null) writeFileSync(file, content)
    return () => findConnection({ url: "https://b", operatorKeyFile: file }, recordingIo().io)
  }

  it.each([
    [null, /can not be read/],
    ["", /one key and nothing else/],
    ["\n", /one key and nothing else/],
    ["bok_a\nbok_b\n", /one key and nothing else/],
    ["-----BEGIN PRIVATE KEY-----\nx\n", /one key and nothing else/]
  ])("%j is wrong usage", (content, said) => {
    const [status, sentence] = refusalOf(at(content))
    assert.strictEqual(status, 2)
    assert.match(sentence, said)
  })

  it("one line, with or without its end, is the key; a key beside it is one too many; plain http is refused", () => {
    for (const content of ["bok_one", "bok_one\n", "bok_one\r\n"])
      assert.deepInclude(at(content)() as object, { operatorKey: "bok_one" })
    const { io } = recordingIo()
    const both = { url: "https://b", operatorKey: "bok_x", operatorKeyFile: keyFile }
    assert.match(refusalOf(() => findConnection(both, io))[1], /give one of them/)
    assert.match(refusalOf(() => findConnection({ ...both, url: "http://b" }, io))[1], /https/)
  })
})
