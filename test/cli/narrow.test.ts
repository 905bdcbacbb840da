/**
 * Every view fits a terminal of 80 columns, whatever its content: each command is run with the widest answer that its
 * contract allows, and no line is wider, contains a control sequence or is raw JSON (operator surface, rules for every
 * command).
 */
import { assert, describe, it } from "@effect/vitest"
import type { Argument, Command, Option } from "commander"
import { HttpApi } from "effect/http-api"
import type { Schema } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import stringWidth from "string-width"
import { Cli } from "../../cli/Cli.ts"
import type { CallService, OperatorClient } from "../../cli/OperatorClient.ts"
import { buildProgram } from "../../cli/program.ts"
import { machineDocument } from "../../cli/machineDiagram.ts"
import { runCli } from "../../cli/runCli.ts"
import { kinds } from "../../src/machines/registry.ts"
import { OperatorApi } from "../../src/http/api/OperatorApi.ts"
import { recordingIo } from "../operator/operatorHarness.ts"
import { widestOf } from "../support/widestAnswer.ts"

const answers = new Map<string, Schema.Top>()
HttpApi.reflect(OperatorApi, {
  onGroup: () => undefined,
  onEndpoint: ({ group, endpoint, successes }) => {
    const success = [...successes.values()][0]?.[0]
    if (success !== undefined) answers.set(`${group.identifier} ${endpoint.identifier}`, success)
  }
})

/** A service that gives the widest possible answer to every call, and a dry run only if the call requests it. */
const wideService =
  (rows: number): CallService =>
  ({ dryRun }, use) => {
    const answer = (command: string) => {
      const schema = answers.get(command)
      if (schema === undefined) throw new Error(`no such endpoint: ${command}`)
      const { dryRun: would, ...wide } = widestOf(schema, rows) as { readonly dryRun?: unknown }
      return Promise.resolve(dryRun === true ? { ...wide, dryRun: would } : { ...wide, code: 0 })
    }
    const group = (noun: string) => new Proxy({}, { get: (_, verb) => () => answer(`${noun} ${String(verb)}`) })
    const client = new Proxy({}, { get: (_, noun) => group(String(noun)) })
    return use(client as OperatorClient)
  }

interface Leaf {
  readonly path: ReadonlyArray<string>
  readonly command: Command
}

const program = await buildProgram(new Cli(recordingIo().io))

const leaves = (): ReadonlyArray<Leaf> => {
  const found: Array<Leaf> = []
  const visit = (command: Command, path: ReadonlyArray<string>): void => {
    if (command.commands.length === 0) found.push({ path, command })
    for (const child of command.commands) visit(child, [...path, child.name()])
  }
  visit(program, [])
  return found
}

/** Options that a command needs besides its required words. */
const oneOf: Readonly<Record<string, string>> = { "sim clock advance": "1h" }

const words = ({ path, command }: Leaf): ReadonlyArray<string> => [
  ...path,
  ...[oneOf[path.join(" ")] ?? []].flat(),
  ...command.registeredArguments.filter(({ required }) => required).map(valueOf),
  ...command.options.filter(({ mandatory }) => mandatory).flatMap((option) => [option.long ?? "", valueOf(option)])
]

const valueOf = (wanted: Argument | Option): string => {
  const name = wanted.name().toLowerCase()
  return (
    wanted.argChoices?.[0] ?? (/^(from|to|since|until|revision|levels|limit|calls)$/.test(name) ? "1" : sampleOf(name))
  )
}

const samples: Readonly<Record<string, () => string>> = {
  file: () => list,
  output: () => join(folder, "out"),
  duration: () => "1h",
  object: () => "order:1"
}
const sampleOf = (name: string): string => samples[name]?.() ?? "1"

const folder = mkdtempSync(join(tmpdir(), "brokerage-narrow-"))
const list = join(folder, "list.csv")
writeFileSync(list, "name,dob,country,list\nA B,1970-01-01,DE,PEP\n")

/** Commands that run services, runs and streams of their own: their output is no view of an answer. */
const without = new Set(
  "serve|watch|tour|completion|sim run|sim list|sim venue serve|sim partner run|sim partner listen|sim reset|sim venue set|sim venue path|screening import|ledger export|statement get|statement verify|document show|appropriateness publish|metrics|atlas|machine show".split(
    "|"
  )
)
const viewed = leaves().filter(({ path }) => !without.has(path.join(" ")))

const columns = 80
const run = async (args: ReadonlyArray<string>, rows: number, over = {}) => {
  const { io, printed } = recordingIo({
    terminal: true,
    size: () => ({ columns, rows: 24 }),
    confirm: (_, deed) => {
      printed.stdout += `${deed}\n`
      return true
    },
    // A command that follows changes is stopped at once.
    stopped: () => Promise.resolve(),
    ...over
  })
  const connected = [...args, "--url", "https://127.0.0.1:1", "--operator-key", "bok_x"]
  const status = await runCli(connected, io, wideService(rows))
  return { status, lines: unstyled(printed.stdout).trimEnd().split("\n"), printed }
}

/** The renderer's styles are the only control sequences. */
// oxlint-disable-next-line no-control-regex
const unstyled = (line: string): string => line.replaceAll(/\u001b\[[0-9;]*[mHJK]/g, "")

describe("operator surface, a terminal of 80 columns", () => {
  it.each(viewed.map((leaf) => [leaf.path.join(" "), leaf] as const))("%s", async (name, leaf) => {
    const { status, lines, printed } = await run(words(leaf), 3)
    assert.notStrictEqual(status, 2, `${name}: ${lines.join("\n")}`)
    for (const line of lines) assert.isAtMost(stringWidth(line), columns, `${name}: ${line}`)
    for (const line of [...lines, ...unstyled(printed.stderr).split("\n")]) {
      assert.notMatch(line, /[\p{Cc}\p{Cf}\u2028\u2029]/u, name)
      assert.notMatch(line, /\{"|\[\{|\[object/, name)
    }
  })

  it.each(kinds)("machine show %s", async (kind) => {
    const { status, lines } = await run(["machine", "show", kind], 3)
    assert.strictEqual(status, 0)
    for (const line of lines) assert.isAtMost(stringWidth(line), columns, line)
    assert.notMatch(lines.join("\n"), /\bdoc \d/)
    for (const { event, from, to } of machineDocument(kind).transitions)
      assert.isTrue(
        lines.some((line) => [from, event, to].every((name) => line.includes(name))),
        `${from} ${event} ${to}`
      )
  })

  it("ten thousand rows wrap like three, and are complete with --wide", async () => {
    const { lines } = await run(["client", "list"], 10_000)
    assert.isAtLeast(lines.length, 10_000)
    const wide = await run(["client", "list", "--wide"], 10)
    assert.isAbove(Math.max(...wide.lines.map((line) => stringWidth(line))), columns)
    assert.notInclude(wide.lines.join("\n"), "Not shown")
  })

  it("a list that grows with the clients has pages: no command requests it as a whole", () => {
    const whole = leaves()
      .filter(({ path }) => path.at(-1) === "list" || path.at(-1) === "deliveries" || path.at(-1) === "tail")
      .filter(({ command }) => !command.options.some(({ long }) => long === "--limit"))
    // The length of these answers depends on the firm's own data, or they concern one client: its documents, its
    // position in each market.
    assert.deepStrictEqual(whole.map(({ path }) => path.join(" ")).toSorted(), [
      "document list",
      "key list",
      "machine list",
      "market list",
      "operator list",
      "partner list",
      "position list",
      "sim list"
    ])
  })

  it.each([20, 40, 200])("%s columns: audit tail fits", async (width) => {
    const { lines } = await run(["audit", "tail"], 3, { size: () => ({ columns: width, rows: 24 }) })
    for (const line of lines) assert.isAtMost(stringWidth(line), width, line)
  })

  it.each([
    ["NO_COLOR", { env: { NO_COLOR: "1" } }],
    ["a dumb terminal", { env: { TERM: "dumb" } }],
    ["a pipe", { terminal: false, size: () => null }]
  ])("%s gets no style", async (_, over) => {
    const { lines, printed } = await run(["client", "list"], 3, over)
    assert.isNotEmpty(lines)
    assert.notInclude(printed.stdout, "\u001b[")
  })

  it("output longer than the terminal goes to the pager, and to stdout without one", async () => {
    const paged: Array<string> = []
    const page = (text: string) => Promise.resolve(paged.push(text) > 1)
    const first = await run(["client", "list"], 100, { page })
    assert.deepStrictEqual([paged.length, first.printed.stdout], [1, paged[0]])
    const second = await run(["client", "list"], 100, { page })
    assert.deepStrictEqual([paged.length, second.printed.stdout], [2, ""])
    await run(["client", "list", "--json"], 100, { page })
    assert.strictEqual(paged.length, 2)
    rmSync(folder, { recursive: true, force: true })
  })
})
