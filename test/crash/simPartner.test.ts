/** `sim partner run` as a command: its lines, its options and its exit status (operator surface, rules; Developers and QA). */
import { assert, describe, it } from "@effect/vitest"
import { Command } from "commander"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Cli } from "../../cli/Cli.ts"
import { addSimPartnerCommands } from "../../cli/commands/simPartner.ts"
import { type Mistake, startStubService } from "./StubService.ts"

interface Ran {
  readonly status: number
  readonly lines: ReadonlyArray<string>
}

/** Runs the command as a user types it. */
const run = (args: ReadonlyArray<string>) =>
  Effect.promise(async (): Promise<Ran> => {
    let stdout = ""
    const cli = new Cli({
      stdout: (text) => void (stdout += text),
      stderr: () => {},
      env: {},
      terminal: false,
      canPrompt: () => true,
      size: () => null,
      errorColumns: () => null,
      page: () => Promise.resolve(false),
      progress: null,
      confirm: () => true,
      stopped: () => new Promise(() => {}),
      serve: async () => 0
    })
    const program = new Command("brokerage").option("--json").option("--url <url>").option("--ca <file>")
    addSimPartnerCommands(program.command("sim"), cli)
    await program.parseAsync(["sim", "partner", "run", "--key", "pbk_test", ...args], { from: "user" })
    return { status: cli.status, lines: stdout.trimEnd().split("\n") }
  })

const load = ["--clients", "4", "--rate", "100", "--for", "2s", "--seed", "5"]

const withService = (mistake: Mistake) =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "brokerage-sim-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const service = yield* startStubService({ dataDir: folder, seed: 3, faults: 0.1, mistake })
    const ca = join(folder, "authority.pem")
    writeFileSync(ca, service.ca)
    return ["--url", service.url, "--ca", ca]
  })

describe("sim partner run", () => {
  it.live("SC-ONB-17: with --json one document a line, the summary last, exit status 0 if all records agree", () =>
    Effect.gen(function* () {
      const { status, lines } = yield* run(["--json", ...(yield* withService("none")), ...load])
      const documents = lines.map((line) => JSON.parse(line) as Record<string, Record<string, unknown>>)
      assert.strictEqual(status, 0)
      assert.isAbove(documents.length, 1)
      assert.isTrue(documents.slice(0, -1).every((document) => typeof document.progress?.acknowledged === "number"))
      const summary = documents.at(-1)?.summary
      assert.strictEqual(summary?.ok, true)
      assert.strictEqual(summary?.clients, 4)
      assert.strictEqual(summary?.seed, 5)
    }).pipe(Effect.scoped)
  )

  it.live("SC-PLT-04: exit status 1 and a sentence when the service lost a report", () =>
    Effect.gen(function* () {
      const { status, lines } = yield* run([...(yield* withService("forgets a report")), ...load])
      assert.strictEqual(status, 1)
      assert.match(lines.join("\n"), /was acknowledged and is missing/)
      assert.match(lines.at(-1) ?? "", /contradicts/)
    }).pipe(Effect.scoped)
  )

  it.live("operator surface: exit status 3 at once when no server listens at the address", () =>
    Effect.gen(function* () {
      const { status, lines } = yield* run(["--url", "https://127.0.0.1:1", ...load])
      assert.strictEqual(status, 3)
      assert.deepStrictEqual(lines, [""], "no progress and no summary")
    })
  )
})
