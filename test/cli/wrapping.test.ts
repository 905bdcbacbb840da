/**
 * Help, usage errors and refusals on terminals of any width: lines break between words only, no identifier is split,
 * and a refusal names the wrong fields and the reason for each (operator surface, exit status).
 */
import { assert, describe, it } from "@effect/vitest"
import type { Command } from "commander"
import { Cli } from "../../cli/Cli.ts"
import { CliFailure, type Envelope, exitStatus } from "../../cli/CliIo.ts"
import type { CallService } from "../../cli/OperatorClient.ts"
import { buildProgram } from "../../cli/program.ts"
import { refusalLines } from "../../cli/refusalText.ts"
import { runCli } from "../../cli/runCli.ts"
import { wrapText, wrapWords } from "../../cli/views/wrapWords.ts"
import { recordingIo } from "../operator/operatorHarness.ts"

const program = await buildProgram(new Cli(recordingIo().io))

/** The help of every command, formatted for this number of columns. */
const helpAt = (columns: number): ReadonlyArray<readonly [path: string, help: string]> => {
  const found: Array<readonly [string, string]> = []
  const visit = (command: Command, path: string): void => {
    found.push([path, command.configureOutput({ getOutHelpWidth: () => columns }).helpInformation()])
    for (const child of command.commands) visit(child, `${path} ${child.name()}`)
  }
  visit(program, "brokerage")
  return found
}

/** The text that a command prints on a terminal with this number of columns, to both outputs. */
const printedAt = async (columns: number, args: ReadonlyArray<string>, callService?: CallService) => {
  const { io, printed } = recordingIo({ size: () => ({ columns, rows: 24 }), errorColumns: () => columns })
  const status = await runCli(args, io, callService)
  return { status, text: printed.stdout + printed.stderr }
}
const wordsOf = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((word) => word !== "")

/** A wider line must be a single word, which can't be broken. */
const assertFits = (text: string, columns: number): void => {
  for (const line of text.split("\n")) if (line.trim().includes(" ")) assert.isAtMost(line.length, columns, line)
}

const reference = 10_000

describe("operator surface, output on a terminal", () => {
  const whole = new Map(helpAt(reference))

  it.each([40, 80, 200])("help of every command at %s columns has the same words, none of them broken", (columns) => {
    for (const [path, text] of helpAt(columns)) {
      assertFits(text, columns)
      assert.deepStrictEqual(wordsOf(text), wordsOf(whole.get(path) ?? ""), path)
    }
  })

  it("the text below the options wraps too", async () => {
    for (const columns of [40, 80])
      assertFits((await printedAt(columns, ["sim", "partner", "listen", "--help"])).text, columns)
  })

  it.each([20, 40, 80, 200])("wrong usage at %s columns", async (columns) => {
    const wrong = [
      ["client", "restrict", "1", "FOO", "--reason", "r"],
      ["audit", "tail", "--since", "2x"],
      ["ledger", "adjust", "1"],
      ["deposit", "list", "--status", "NO_SUCH_STATUS_AT_ALL"],
      ["statement", "generate", "1"]
    ]
    for (const args of wrong) {
      const { status, text } = await printedAt(columns, args)
      assert.strictEqual(status, exitStatus.usage)
      assertFits(text, columns)
      assert.deepStrictEqual(wordsOf(text), wordsOf((await printedAt(reference, args)).text))
    }
  })

  const plain =
    "The amount must be a plain decimal number such as 12.50 or -12.50, without exponent, grouping or spaces."
  const check = "Please check the highlighted fields."
  const adjust = program.commands
    .find((command) => command.name() === "ledger")
    ?.commands.find((command) => command.name() === "adjust")

  it.each<readonly [string, Omit<Envelope, "error" | "code">, ReadonlyArray<string>]>([
    [
      "one field, by its option",
      { msg: check, data: { reason: "INVALID_FIELDS", errors: { amount: plain } } },
      [`--amount: ${plain} (INVALID_FIELDS)`]
    ],
    [
      "several, one a line; what is no option has the contract's name",
      { msg: check, data: { reason: "INVALID_FIELDS", errors: { amount: plain, "entries.3.name": "It is empty." } } },
      ["2 fields are wrong. (INVALID_FIELDS)", `  --amount: ${plain}`, "  entries.3.name: It is empty."]
    ],
    [
      "a sentence that the field repeats is said once",
      { msg: plain, data: { reason: "INVALID_FIELDS", errors: { amount: plain } } },
      [`--amount: ${plain} (INVALID_FIELDS)`]
    ],
    [
      "a reason",
      { msg: "It is decided.", data: { reason: "APPROVAL_DECIDED" } },
      ["It is decided. (APPROVAL_DECIDED)"]
    ],
    ["what stands in the way", { msg: "No.", data: { blockers: ["1 order"] } }, ["No.", "  1 order"]],
    ["several sentences, one a line", { msg: "a.yaml:3: one\nb.yaml:4: two" }, ["a.yaml:3: one", "  b.yaml:4: two"]],
    ["neither", { msg: "Authentication required." }, ["Authentication required."]]
  ])("a refusal: %s", (_, envelope, lines) =>
    assert.deepStrictEqual(refusalLines({ code: 4000, error: envelope.msg, ...envelope }, adjust ?? null), lines)
  )

  it("refused at 40 columns: wrapped like other output; with --json the unchanged envelope", async () => {
    const envelope = {
      code: 4000,
      msg: check,
      error: check,
      data: { reason: "INVALID_FIELDS", errors: { amount: plain } }
    }
    const refusing: CallService = () => Promise.reject(new CliFailure(exitStatus.refused, envelope))
    const line =
      "ledger adjust 1 --currency USDC --amount x --reason r --yes --url https://127.0.0.1:1 --operator-key k"
    const { status, text } = await printedAt(40, line.split(" "), refusing)
    assert.strictEqual(status, exitStatus.refused)
    assert.strictEqual(
      text,
      "refused: --amount: The amount must be a\nplain decimal number such as 12.50 or\n-12.50, without exponent, grouping or\nspaces. (INVALID_FIELDS)\n"
    )
    assert.deepStrictEqual(JSON.parse((await printedAt(40, [...line.split(" "), "--json"], refusing)).text), envelope)
  })

  it.each<readonly [string, number, string]>([
    ["", 5, ""],
    ["a b c", 3, "a b\nc"],
    ["  ab cd ef", 6, "  ab\n    cd\n    ef"],
    ["verificationBlock:5:PEP is it", 10, "verificationBlock:5:PEP\nis it"],
    ["張張 張張", 5, "張張\n張張"],
    ["one\ntwo three", 5, "one\ntwo\nthree"]
  ])("%j in %s columns", (text, columns, wrapped) => {
    assert.strictEqual(wrapText(text, columns), wrapped)
    assert.strictEqual(wrapText(text, null), text)
    assert.strictEqual(wrapWords("a", 0).join(), "a")
  })

  it("a list of trading names its client as an argument or by --client, and not by both", async () => {
    const asked: Array<unknown> = []
    const list = ({ query }: { readonly query: object }) => {
      asked.push(query)
      return Promise.resolve({ code: 0, data: { contracts: [], rfqs: [], hasMore: false, nextBefore: null } })
    }
    const service: CallService = (_, use) => use({ contract: { list }, rfq: { list } } as never)
    const line = (words: string) => `${words} --json --url https://127.0.0.1:1 --operator-key k`.split(" ")
    for (const words of ["contract list 5", "rfq list --client 5", "contract list 5 --client 5", "rfq list"])
      assert.strictEqual((await printedAt(80, line(words), service)).status, exitStatus.done)
    const { status, text } = await printedAt(80, line("contract list 5 --client 6"), service)
    assert.deepStrictEqual([status, JSON.parse(text).code], [exitStatus.usage, 4000])
    assert.deepStrictEqual(asked, [{ client: "5" }, { client: "5" }, { client: "5" }, {}])
  })

  it("a duration counts from the service's clock, which is read once; a date reads no clock", async () => {
    const asked: Array<string> = []
    const service: CallService = (_, use) => {
      const api = {
        queue: { show: () => (asked.push("clock"), Promise.resolve({ code: 0, data: { asOf: 10_000_000 } })) },
        audit: {
          tail: ({ query }: { readonly query: { readonly since: number } }) => {
            asked.push(String(query.since))
            return Promise.resolve({ code: 0, data: { entries: [], nextAfter: 0 } })
          }
        }
      }
      return use(api as never)
    }
    const line = (since: string) =>
      `audit tail --since ${since} --json --url https://127.0.0.1:1 --operator-key k`.split(" ")
    for (const since of ["1h", "5", "2026-11-01"]) await printedAt(80, line(since), service)
    assert.deepStrictEqual(asked, ["clock", "6400000", "5", "1793491200000"])
  })
})
