/** The modules that a command loads, and the nouns that select them (decision 0038). */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Cli } from "../../cli/Cli.ts"
import { buildProgram } from "../../cli/program.ts"
import { recordingIo } from "../operator/operatorHarness.ts"

const root = join(import.meta.dirname, "../..")

/** Prints the address of each module that the process loads, to the third stream. */
const hook = `import { registerHooks } from "node:module"
import { writeSync } from "node:fs"
registerHooks({ load: (url, context, next) => (writeSync(3, url + "\\n"), next(url, context)) })
`

/** The modules that a command line loads, without those of Node itself. Its exit status does not matter. */
const loadedBy = (args: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const folder = mkdtempSync(join(tmpdir(), "brokerage-loaded-"))
  const file = join(folder, "hook.mjs")
  writeFileSync(file, hook)
  return new Promise((resolve) => {
    const child = execFile(
      "bash",
      [
        "-c",
        'exec 3>&2 2>/dev/null; exec "$@" >/dev/null',
        "_",
        process.execPath,
        "--import",
        file,
        "cli/main.ts",
        ...args
      ],
      { cwd: root, maxBuffer: 10_000_000 },
      (_, __, stderr) => {
        rmSync(folder, { recursive: true, force: true })
        resolve(stderr.split("\n").filter((line) => line.startsWith("file:") && line !== `file://${file}`))
      }
    )
    child.stdin?.end()
  })
}

const nowhere = ["--url", "https://127.0.0.1:1", "--operator-key", "bok_x"]
const call = (words: string) => [...words.split(" "), ...nowhere]

describe("the modules that a command loads", () => {
  it.each<readonly [ReadonlyArray<string>, number]>([
    [["--version"], 60],
    [["--help"], 45],
    [call("queue"), 75],
    [call("client list"), 75],
    [call("order show 7"), 75],
    [call("deposit confirm 7 --yes"), 75]
  ])("%j: at most this number of modules, and no runtime, schema, screen or picture", async (args, most) => {
    const loaded = await loadedBy(args)
    assert.isAbove(loaded.length, 10)
    const heavy = /node_modules\/(effect|@effect|@redis|xstate|ink|react|elkjs|pdfkit|decimal\.js|@peculiar)\//
    assert.deepStrictEqual(
      loaded.filter((url) => heavy.test(url)),
      []
    )
    assert.isAtMost(loaded.length, most, loaded.join("\n"))
  })

  it("each noun alone has the commands that it has in the whole tree, and no noun of another file is missing", async () => {
    const cli = new Cli(recordingIo().io)
    const whole = await buildProgram(cli)
    const listing = await buildProgram(cli, ["--help"])
    assert.strictEqual(listing.helpInformation(), whole.helpInformation(), "cli/nouns.json: run npm run generate")
    for (const command of whole.commands) {
      const alone = await buildProgram(cli, ["--json", "--data-dir", "client", command.name()])
      const found = alone.commands.find((each) => each.name() === command.name())
      assert.strictEqual(found?.helpInformation(), command.helpInformation(), command.name())
      const isShared = command.name() === "completion"
      assert.strictEqual(alone.commands.length === whole.commands.length, isShared, command.name())
    }
  })
})
