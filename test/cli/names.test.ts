/**
 * Arguments and options that name an object, and the confirmations of commands that grant or remove access (operator
 * surface, rules for every command; exit status 2).
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import type { Argument, Command, Option } from "commander"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Cli } from "../../cli/Cli.ts"
import { exitStatus } from "../../cli/CliIo.ts"
import { buildProgram } from "../../cli/program.ts"
import { recordingIo, runRecorded } from "../operator/operatorHarness.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-names-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, "file.json")
writeFileSync(file, "{}")

/** Placeholders of names: a good name, and texts that can name no object. */
const id = { good: "7", bad: ["", "abc", "0", "007", "7.5", "7 ", "O7", "7".repeat(20)] }
const client = { good: "ACME/acme-1", bad: ["", "0", "007", "a\u0007b", "x".repeat(255)] }
const names: Readonly<Record<string, { readonly good: string; readonly bad: ReadonlyArray<string> }>> = {
  ID: id,
  id,
  KEYID: id,
  CASEID: id,
  DOCUMENTID: id,
  DELIVERYID: id,
  APPROVALID: id,
  CONTRACTID: id,
  C: client,
  P: { good: "ACME", bad: ["", "007", "two words", "-", "x".repeat(33)] },
  "ALL|P|C": { good: "ALL", bad: client.bad },
  OBJECT: { good: "order:7", bad: ["", "order", "order:", "order:abc", "order:O-7", "client:7", "order:7:8"] },
  "KIND:ID": { good: "client:7", bad: ["", "client", "client:", ":7", "client::7"] }
}
/** Commands whose ids have further forms: any object of a machine is named as the commands of its kind name it. */
const byClient = new Set(["machine inspect", "machine instances"])

/** Options that the command needs with --json. */
const more: Readonly<Record<string, string>> = { "ledger export": `--output=${join(folder, "out")}` }

/** Good values of the other required arguments and options, by placeholder. */
const values: Readonly<Record<string, string>> = {
  decimal: "1",
  percent: "7.5",
  time: "2026-11-01",
  QTY: "1",
  PRICE: "1",
  D: "1",
  file,
  FILE: file,
  SYMBOL: "BTC-PERP",
  KIND: "order",
  STATE: "OPEN",
  symbol: "BTC-PERP"
}

interface Place {
  readonly path: string
  readonly command: Command
}

const placesOf = (command: Command, path: string): ReadonlyArray<Place> =>
  command.commands.length === 0
    ? [{ path, command }]
    : command.commands.flatMap((child) => placesOf(child, `${path} ${child.name()}`.trim()))

const places = placesOf(await buildProgram(new Cli(recordingIo().io)), "")

const placeholderOf = (option: Option): string => /[<[](.*)[>\]]/.exec(option.flags)?.[1] ?? ""
const valueOf = (part: Argument | Option, placeholder: string): string =>
  part.argChoices?.[0] ?? names[placeholder]?.good ?? values[placeholder] ?? "x"

/** A complete line of the command; `over` replaces the value of one argument or option. */
const lineOf = ({ path, command }: Place, over: { readonly part: Argument | Option; readonly text: string } | null) => {
  const text = (part: Argument | Option, placeholder: string) =>
    over !== null && part === over.part ? over.text : valueOf(part, placeholder)
  const options = command.options.filter((option) => option.mandatory || option === over?.part)
  return [
    ...path.split(" "),
    ...command.registeredArguments.map((argument) => text(argument, argument.name())),
    ...options.map((option) => `${option.long}=${text(option, placeholderOf(option))}`),
    ...(more[path] === undefined ? [] : [more[path]])
  ]
}

const nowhere = ["--yes", "--json", "--url", "https://127.0.0.1:1", "--operator-key", "bok_x"]

describe("operator surface, exit status 2: a text that can name no object", () => {
  const parts = places.flatMap((place) =>
    [
      ...place.command.registeredArguments.map((part) => ({ part, placeholder: part.name() })),
      ...place.command.options.map((part) => ({ part, placeholder: placeholderOf(part) }))
    ].flatMap(({ part, placeholder }) => {
      const named = byClient.has(place.path) && placeholder === "ID" ? client : names[placeholder]
      return named === undefined ? [] : [{ ...named, place, part, placeholder }]
    })
  )

  it("every placeholder that ends in ID is known here", () => {
    const unknown = places.flatMap(({ path, command }) =>
      [...command.registeredArguments.map((part) => part.name()), ...command.options.map(placeholderOf)]
        .filter((placeholder) => /ID$|^id$/.test(placeholder) && names[placeholder] === undefined)
        .map((placeholder) => `${path} ${placeholder}`)
    )
    assert.deepStrictEqual(unknown, [])
    assert.isAbove(parts.length, 100)
  })

  it.each(parts.map((each) => [`${each.place.path} ${each.placeholder}`, each] as const))(
    "%s is refused before a call",
    async (_, { place, part, good, bad }) => {
      const called = await runRecorded([...lineOf(place, { part, text: good }), ...nowhere])
      assert.strictEqual(called.status, exitStatus.unreachable, called.stderr)
      const line = lineOf(place, { part, text: bad[0] ?? "" })
      const { status, stdout, refusal } = await runRecorded([...line, ...nowhere])
      assert.deepStrictEqual([status, stdout, refusal.code], [exitStatus.usage, "", 4000], line.join(" "))
      assert.include(refusal.msg, "It must be ", line.join(" "))
      for (const text of bad) assert.throws(() => void part.parseArg?.(text, undefined), /^It must be /, text)
    }
  )

  it.each([
    ["order show O-7", "O-7"],
    ["order show o-7", "O-7"],
    ["swap show S-7", "S-7"],
    ["closeout show CO-7", "CO-7"],
    ["order show 7", "7"]
  ])("%s accepts the prefix of its kind, and the id alone", async (line, passed) => {
    const { part, command } = { part: 0, command: places.find(({ path }) => line.startsWith(path))?.command }
    const [argument] = command?.registeredArguments.slice(part) ?? []
    assert.strictEqual(argument?.parseArg?.(line.split(" ")[2] ?? "", undefined), passed)
  })
})

describe("operator surface, confirmations of changes of access", () => {
  /** The confirmation and the kind of call of a command line; null when the command calls nothing. */
  const callOf = async (line: string) => {
    const { io } = recordingIo()
    const cli = new Cli(io)
    let made: { readonly confirms: boolean; readonly reads: boolean } | null = null
    cli.call = (_, __, ___, options = {}) => {
      made = { confirms: options.confirm !== undefined, reads: options.reads === true }
      return Promise.resolve()
    }
    const args = line.split(" ")
    await (await buildProgram(cli, args)).parseAsync(args, { from: "user" })
    return made as { readonly confirms: boolean; readonly reads: boolean } | null
  }

  it.each([
    "partner status ACME SUSPENDED --reason r",
    "partner status ACME CLOSED --reason r",
    "partner status ACME ACTIVE --reason r",
    "partner reliance ACME SUSPENDED --reason r",
    "partner reliance ACME REVOKED --reason r",
    "partner reliance ACME APPROVED --reason r",
    "partner custody ACME BROKER --reason r",
    "partner limits ACME --read 1",
    "partner limits ACME --trade 1",
    "partner cidrs ACME 10.0.0.0/8",
    "partner cidrs ACME 0.0.0.0/0",
    "partner cidrs ACME --clear",
    "key revoke 7",
    "operator revoke 7",
    "client restrict 7 FROZEN --reason r",
    "client lift 7 FROZEN",
    "client close 7 --reason r",
    "client reopen 7 --reason r",
    "client downgrade 7 --reason r",
    "market halt ALL --message m",
    "market resume ALL",
    "break open --scope ALL --currency USDC --amount 1 --reason r",
    "break close 7 --reason r"
  ])("%s needs a confirmation", async (line) => {
    assert.deepStrictEqual(await callOf(line), { confirms: true, reads: false })
  })

  it.each(["partner limits ACME", "partner cidrs ACME"])("%s only reads, and needs no confirmation", async (line) => {
    assert.deepStrictEqual(await callOf(line), { confirms: false, reads: true })
  })
})
