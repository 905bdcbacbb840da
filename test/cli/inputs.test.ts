/**
 * What people type, by table: moments and durations, dates and zones, profiles, key files, and where a key may come from (operator
 * surface, rules for every command).
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CliFailure } from "../../cli/CliIo.ts"
import { findConnection } from "../../cli/connection.ts"
import { momentOption, parseDate, parseMoment, Relative } from "../../cli/moment.ts"
import { profileNames, readProfile } from "../../cli/profile.ts"
import { recordingIo } from "../operator/operatorHarness.ts"

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
  ])("%j is none", (text) => assert.isNull(parseMoment(text, "ago", noon)))

  it("a date alone takes no duration, and an option says what it takes and keeps its bound", () => {
    assert.isNull(parseDate("2h"))
    const { parseArg, description } = momentOption("--to <time>", "before", { latest: 1_000 })
    assert.match(description, /^before: 2h, 2026-11-01/)
    assert.strictEqual(parseArg?.("1000", undefined), 1_000)
    assert.throws(() => parseArg?.("1001", undefined), /It must be a time such as 2h/)
    assert.throws(() => parseArg?.("2x", undefined), /It must be a time such as 2h/)
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
/** Exit status and sentence of what is refused. */
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
  it("paths are seen from the profile's folder; what it does not say is null; names are sorted", () => {
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
  ] as const)("%s is wrong usage that says why", (name, content, said) => {
    if (content !== null) write(name, content)
    const [status, sentence] = refusalOf(() => readProfile(name, env))
    assert.strictEqual(status, 2)
    assert.match(sentence, said)
  })

  it("nothing of a profile is mixed with the environment: the key of one service never goes to another", () => {
    write("bare", { url: "https://b.example" })
    const { io } = recordingIo({ env: { ...env, BROKERAGE_OPERATOR_KEY: "bok_other", BROKERAGE_URL: "https://other" } })
    assert.match(refusalOf(() => findConnection({ profile: "bare" }, io))[1], /An operator key is needed/)
    const named = findConnection({ profile: "bare", operatorKeyFile: keyFile }, io)
    assert.deepInclude(named, { url: "https://b.example", operatorKey: "bok_one", ca: null })
    assert.strictEqual(findConnection({ url: "https://c" }, io).operatorKey, "bok_other")
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
