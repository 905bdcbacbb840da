/**
 * Answers that can't be written, and the file of --output: it exists only once it is complete, and it never replaces a
 * file that is not regular (operator surface, rules for every command, document show and ledger export).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type CliFailure, exitStatus } from "../../cli/CliIo.ts"
import { intoFile, refuseExisting } from "../../cli/outputFile.ts"
import { type OperatorService, startOperatorService } from "../operator/operatorHarness.ts"
import { rowsOf } from "../support/Builders.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-output-"))
const main = join(import.meta.dirname, "../../cli/main.ts")
const children: Array<ChildProcess> = []
let service: OperatorService
beforeAll(async () => {
  service = await startOperatorService()
})
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL")
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const endOf = (child: ChildProcess) =>
  new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stderr: string }>(
    (resolve) => {
      let stderr = ""
      child.stderr?.on("data", (chunk: Buffer) => void (stderr += chunk.toString("utf8")))
      child.once("close", (code, signal) => resolve({ code, signal, stderr }))
    }
  )
const started = (args: ReadonlyArray<string>, stdout: number | "pipe") => {
  const child = spawn(process.execPath, args, { stdio: ["ignore", stdout, "pipe"] })
  children.push(child)
  return child
}

describe("operator surface, exit status 3: an answer that can't be written", () => {
  /** Runs a command whose stdout is a file that can't be written. */
  const unheard = async (args: ReadonlyArray<string>) => {
    const file = join(folder, "read-only")
    writeFileSync(file, "")
    const stdout = openSync(file, "r")
    const ended = await endOf(started([main, ...args], stdout))
    closeSync(stdout)
    return ended
  }
  const sentence = "The answer could not be written (EBADF): check the audit before repeating the command."

  it("a command that was carried out reports an unknown outcome, like a connection that broke", async () => {
    const create = ["operator", "create", "--label", "unheard", "--role", "SUPPORT", ...service.connection("ADMIN")]
    const { code, stderr } = await unheard([...create, "--json"])
    assert.strictEqual(code, exitStatus.unreachable)
    assert.deepStrictEqual(JSON.parse(stderr), {
      code: 5030,
      msg: sentence,
      error: sentence,
      data: { outcomeUnknown: true }
    })
    const { operators } = await service.done(["operator", "list"])
    assert.lengthOf(
      operators.filter(({ label }: { readonly label: string }) => label === "unheard"),
      1
    )
  })

  it("without --json stderr has the sentence alone", async () => {
    const { code, stderr } = await unheard(["partner", "list", ...service.connection("ADMIN")])
    assert.deepStrictEqual([code, stderr], [exitStatus.unreachable, `${sentence}\n`])
  })

  it("a reader that closes the pipe is no failure", async () => {
    const child = started([main, "--help"], "pipe")
    child.stdout?.destroy()
    const { code, stderr } = await endOf(child)
    assert.deepStrictEqual([code, stderr], [exitStatus.done, ""])
  })
})

describe("operator surface, --output", () => {
  const exporting = (output: string) => ["ledger", "export", "--format", "csv", "--output", output]
  const export_ = (output: string) => service.cli(exporting(output))
  const fifo = (name: string): string => {
    const path = join(folder, name)
    assert.strictEqual(spawnSync("mkfifo", [path]).status, 0)
    return path
  }
  const link = (name: string): string => {
    const path = join(folder, name)
    writeFileSync(`${path}.target`, "mine")
    symlinkSync(`${path}.target`, path)
    return path
  }

  it("a pipe, a link and a folder are never replaced, with or without --yes, and no request is sent for them", async () => {
    const reads = async () => (await rowsOf(service, "audit", "action LIKE 'document.%'", [])).length
    const before = await reads()
    for (const path of [fifo("pipe"), link("link"), folder]) {
      const kind = lstatSync(path).mode
      for (const run of [service.unsure, service.cli]) {
        for (const ran of [
          await run(exporting(path)),
          await run(["document", "show", "1", "--reason", "r", "--output", path])
        ]) {
          assert.deepStrictEqual([ran.status, ran.refusal.code], [exitStatus.refused, 4092], path)
          assert.match(ran.refusal.msg, /not a regular file/)
        }
      }
      assert.strictEqual(lstatSync(path).mode, kind, path)
    }
    assert.strictEqual(readFileSync(join(folder, "link.target"), "utf8"), "mine")
    assert.strictEqual(await reads(), before)
  })

  it("a path that can't be a file is refused in one sentence, and no request is sent for it", async () => {
    const before = (await rowsOf(service, "audit", "action LIKE 'document.%'", [])).length
    writeFileSync(join(folder, "regular"), "")
    for (const path of [
      join(folder, "regular", "x.pdf"),
      join(folder, "none", "x.pdf"),
      join(folder, "x".repeat(300))
    ]) {
      for (const words of [exporting(path), ["machine", "show", "client", "--output", path]]) {
        const { status, refusal } = await service.cli(words)
        assert.deepStrictEqual(
          [status, refusal.msg],
          [exitStatus.usage, "The file of --output can not be written."],
          path
        )
      }
    }
    assert.strictEqual((await rowsOf(service, "audit", "action LIKE 'document.%'", [])).length, before)
  })

  it("a file that is not regular is not replaced under the name of the unfinished file either", async () => {
    const path = join(folder, "unfinished.csv")
    fifo("unfinished.csv.part")
    assert.strictEqual((await export_(path)).refusal.code, 4092)
    assert.isTrue(lstatSync(`${path}.part`).isFIFO())
    assert.isFalse(existsSync(path))
  })

  it("a regular file is replaced with --yes, by one that only its owner can read; leftovers of a killed export have no effect", async () => {
    const path = join(folder, "books.csv")
    for (const name of [path, `${path}.part`]) writeFileSync(name, "mine", { mode: 0o644 })
    assert.strictEqual((await service.unsure(exporting(path))).status, exitStatus.refused)
    assert.strictEqual(readFileSync(path, "utf8"), "mine")
    const ran = await export_(path)
    assert.strictEqual(ran.status, exitStatus.done, ran.stderr)
    assert.notStrictEqual(readFileSync(path, "utf8"), "mine")
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    assert.isFalse(existsSync(`${path}.part`))
  })

  it("a file that appears under the name meanwhile is checked again before it is replaced", async () => {
    const path = join(folder, "meanwhile")
    const failure = await intoFile(path, (write) => {
      write("books")
      symlinkSync(join(folder, "nowhere"), path)
      return Promise.resolve()
    }).then(
      () => null,
      (error: CliFailure) => error
    )
    assert.strictEqual(failure?.status, exitStatus.refused)
    assert.isTrue(lstatSync(path).isSymbolicLink())
    assert.isFalse(existsSync(`${path}.part`))
    assert.throws(() => refuseExisting(path, { yes: true }), /not a regular file/)
  })

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "an export ended by %s leaves no file and ends with that signal",
    async (signal) => {
      const path = join(folder, `ended-${signal}`)
      const script = `
      import { intoFile } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../cli/outputFile.ts")).href)}
      await intoFile(${JSON.stringify(path)}, (write) => {
        write("half")
        console.log("writing")
        return new Promise(() => setInterval(() => {}, 1_000))
      })`
      const child = started(["--input-type=module", "--eval", script], "pipe")
      const ended = endOf(child)
      await new Promise((resolve) => child.stdout?.once("data", resolve))
      assert.isTrue(existsSync(`${path}.part`))
      child.kill(signal)
      assert.strictEqual((await ended).signal, signal)
      assert.deepStrictEqual([existsSync(path), existsSync(`${path}.part`)], [false, false])
    }
  )
})
