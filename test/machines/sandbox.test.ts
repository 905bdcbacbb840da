/**
 * The sandbox's names and table of outcomes as data: complete for the registry, consistent with the screening rules,
 * and the same in every publication (operator surface, Developers and QA; F26).
 */
import { assert, describe, it } from "@effect/vitest"
import type { Command } from "commander"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Cli } from "../../cli/Cli.ts"
import { buildProgram } from "../../cli/program.ts"
import { recordingIo, runRecorded } from "../operator/operatorHarness.ts"
import { sandboxPage } from "../../scripts/generateSandbox.ts"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { sandboxText } from "../../src/http/api/sandboxText.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { statesOf } from "../../src/machines/describe.ts"
import { type Kind, kinds, machines } from "../../src/machines/registry.ts"
import {
  sandboxEntries,
  sandboxNameOf,
  sandboxNames,
  sandboxPerson,
  sandboxRetry
} from "../../src/machines/sandbox/sandboxNames.ts"
import { sandboxOutcomes, strayOutcomes } from "../../src/machines/sandbox/sandboxOutcomes.ts"
import { makeScreener, screen, type ScreenedPerson } from "../../src/machines/screening/screen.ts"

const stored = (kind: Kind): ReadonlyArray<string> =>
  statesOf(machines[kind].machine).flatMap(({ name }) => (name === "NEW" ? [] : [name]))

describe("sandbox outcomes", () => {
  it.each(kinds)("%s: every stored state has a row, in the machine's order, with the way to reach it", (kind) => {
    const rows = sandboxOutcomes.filter(({ machine }) => machine === kind)
    assert.deepStrictEqual(
      rows.map(({ state }) => state),
      stored(kind)
    )
    for (const { how } of rows) assert.isNotEmpty(how)
  })

  it("no row names a state that its machine lacks", () => assert.deepStrictEqual(strayOutcomes, []))

  it("every last name in the table is a published one", () => {
    const named = sandboxOutcomes.flatMap(({ how }) => [...how.matchAll(/\b[A-Z][a-z]{7,}\b/g)].map(([word]) => word))
    assert.isAbove(named.length, 10)
    for (const word of named) assert.isNotNull(sandboxNameOf(word), word)
  })
})

const program = await buildProgram(new Cli(recordingIo().io))

describe("sandbox outcomes, commands", () => {
  const lines = [
    ...new Set(sandboxOutcomes.flatMap(({ how }) => [...how.matchAll(/`([^`]+)`/g)].map(([, line]) => line)))
  ]

  it.each(lines)("`%s` is a command with these options and words", (line = "") => {
    const words = line.split(" ")
    let command: Command = program
    for (const word of words) command = command.commands.find((each) => each.name() === word) ?? command
    assert.isEmpty(command.commands, "a group of commands is none")
    const known = command.options.map(({ long }) => long)
    for (const flag of words.filter((word) => word.startsWith("--"))) assert.include(known, flag)
    // The arguments follow the command's own name; a single upper case letter stands for any value.
    const given = words.slice(words.lastIndexOf(command.name()) + 1)
    for (const [index, { argChoices }] of command.registeredArguments.entries()) {
      const word = given[index]
      if (argChoices !== undefined && word !== undefined && word.length > 1) assert.include(argChoices, word)
    }
  })
})

const screener = makeScreener(
  sandboxEntries.map((entry, index) => ({ entryId: index + 1, source: "SANDBOX", ...entry }))
)
const screened = (firstName: string, lastName: string, over: Partial<ScreenedPerson> = {}) =>
  screen(
    screener,
    sandboxPerson({ firstName, middleName: null, lastName, dob: "1980-05-05", nationalities: ["DE"], ...over }),
    new Set()
  ).outcome

describe("sandbox names", () => {
  it("each name exists once, in any spelling", () => {
    const lower = sandboxNames.map(({ lastName }) => lastName.toLowerCase())
    assert.strictEqual(new Set(lower).size, lower.length)
    assert.strictEqual(sandboxNameOf(" SANCTIONlisted ")?.lastName, "Sanctionlisted")
    for (const other of ["", "Sanction", "Sanctionlisted-Smith", "constructor"]) assert.isNull(sandboxNameOf(other))
  })

  it.each(sandboxNames)("F26: $lastName is screened as published, with any other names", ({ lastName, entry }) => {
    const expected = entry === null ? "CLEAR" : lastName === "Sanctionlisted" ? "HIT" : "POSSIBLE"
    for (const first of ["Anna", "Maximilian", "X", "Брокер"]) {
      assert.strictEqual(screened(first, lastName), expected, first)
      assert.strictEqual(screened(first, lastName, { middleName: "Maria", dob: null }) === "CLEAR", entry === null)
    }
  })

  it("F26: no other name is similar to an entry, also without a birth date", () => {
    for (let n = 0; n < 132; n++) {
      const { first_name, last_name, date_of_birth } = sampleOnboarding(n, "near", 0).kyc.personalInfo
      assert.strictEqual(screened(first_name, last_name, { dob: date_of_birth }), "CLEAR")
      assert.strictEqual(screened(first_name, last_name, { dob: null }), "CLEAR")
    }
    for (const last of ["Cleared", "Possible", "Sandbox", "Sanders", "Broker", "Personrejecter", "Documents"])
      assert.strictEqual(screened("Clara", last, { dob: null }), "CLEAR", last)
  })

  it("steps are in order and inside the time in which a refused one is tried again", () => {
    for (const { lastName, steps } of sandboxNames) {
      const times = steps.map(({ afterMillis }) => afterMillis)
      assert.deepStrictEqual(
        times,
        [...new Set(times)].toSorted((a, b) => a - b),
        lastName
      )
      for (const at of times) assert.isBelow(at, sandboxRetry.untilMillis)
    }
  })
})

describe("sandbox names, published", () => {
  it("the reference has the same text as docs/sandbox.md, which is current (run scripts/generateSandbox.ts)", () => {
    assert.include(openApiDocument().info.description ?? "", sandboxText())
    assert.strictEqual(readFileSync(join(import.meta.dirname, "../../docs/sandbox.md"), "utf8"), sandboxPage())
    for (const { lastName } of sandboxNames) assert.include(sandboxText(), `\`${lastName}\``)
    for (const { state } of sandboxOutcomes) assert.include(sandboxText(), `\`${state}\``)
  })

  it("`sim names` prints names and states without a service", async () => {
    const shown = await runRecorded(["sim", "names"])
    assert.strictEqual(shown.status, 0)
    for (const { lastName } of sandboxNames) assert.include(shown.stdout, lastName)
    assert.include(shown.stdout, "CLOSED (final)")
    const { json } = await runRecorded(["sim", "names", "--json"])
    assert.deepStrictEqual(json.states, sandboxOutcomes)
    assert.deepStrictEqual(
      json.names.map(({ lastName }: { readonly lastName: string }) => lastName),
      sandboxNames.map(({ lastName }) => lastName)
    )
  })

  it("`sim names --machine` shows the states of one machine; another word is wrong usage", async () => {
    const { json } = await runRecorded(["sim", "names", "--machine", "client", "--json"])
    assert.deepStrictEqual(
      json.states.map(({ state }: { readonly state: string }) => state),
      stored("client")
    )
    const refused = await runRecorded(["sim", "names", "--machine", "nothing", "--json"])
    assert.deepStrictEqual([refused.status, refused.refusal.code], [2, 4000])
  })
})
