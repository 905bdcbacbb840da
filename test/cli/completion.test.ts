/** Completion scripts: made from the tree of commands, and understood by the shells (operator surface, rules for every command). */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runRecorded } from "../operator/operatorHarness.ts"
import { hasTool, skipNote } from "../support/tools.ts"

/** The completions that bash offers at the end of the line. */
const offers = (script: string, line: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words = ["brokerage", ...line].map((word) => `'${word}'`).join(" ")
  const asked = `${script}\nCOMP_WORDS=(${words}); COMP_CWORD=${line.length}; _brokerage; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-s"], { input: asked, encoding: "utf8" })
  assert.deepStrictEqual([status, stderr], [0, ""])
  return stdout.split("\n").filter((word) => word !== "")
}

const folder = mkdtempSync(join(tmpdir(), "brokerage-completion-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
/** Not every shell can read a script from a socket, and the input of a child process is a socket. */
const inFile = (script: string): string => {
  const file = join(folder, "script")
  writeFileSync(file, `${script}\n`)
  return file
}

describe("brokerage completion", () => {
  it.skipIf(!hasTool("bash"))(
    `bash offers commands, options and tokens at their places${skipNote("bash")}`,
    async () => {
      const { stdout, status } = await runRecorded(["completion", "bash"])
      assert.strictEqual(status, 0)
      assert.deepStrictEqual(offers(stdout, ["withd"]), ["withdrawal"])
      assert.includeMembers([...offers(stdout, ["withdrawal", ""])], ["list", "approve", "pay"])
      assert.notInclude(offers(stdout, ["withdrawal", ""]), "--profile")
      assert.includeMembers([...offers(stdout, ["withdrawal", "-"])], ["--profile", "--json"])
      assert.deepStrictEqual(offers(stdout, ["key", "issue", "ACME", "--scope", ""]), ["READ", "TRADE"])
      assert.deepStrictEqual(offers(stdout, ["partner", "reliance", "ACME", "APP"]), ["APPROVED"])
      assert.include(offers(stdout, ["partner", "create", "--lic"]), "--licence")
      assert.deepStrictEqual(offers(stdout, ["serve", "--kill"]), [])
    }
  )

  it.skipIf(!hasTool("fish"))(
    `fish offers the same, after options of the root too, and reports no error${skipNote("fish")}`,
    async () => {
      const { stdout } = await runRecorded(["completion", "fish"])
      const asked = (line: string): ReadonlyArray<string> => {
        const ran = spawnSync("fish", ["--no-config", inFile(`${stdout}\ncomplete -C '${line}'`)], { encoding: "utf8" })
        assert.deepStrictEqual([ran.status, ran.stderr], [0, ""], line)
        return ran.stdout.split("\n").flatMap((each) => each.split("\t")[0] || [])
      }
      assert.deepStrictEqual(asked("brokerage withd"), ["withdrawal"])
      assert.includeMembers([...asked("brokerage --json withdrawal ")], ["approve", "list", "pay"])
      assert.deepStrictEqual(asked("brokerage key issue ACME --scope "), ["READ", "TRADE"])
      assert.deepStrictEqual(asked("brokerage partner reliance ACME APP"), ["APPROVED"])
      assert.deepStrictEqual(asked("brokerage partner create --lic"), ["--licence"])
      assert.deepStrictEqual(asked("brokerage serve --kill"), [])
    }
  )

  it.skipIf(!hasTool("zsh"))(`zsh accepts the script as the completion of brokerage${skipNote("zsh")}`, async () => {
    const { stdout } = await runRecorded(["completion", "zsh"])
    const asked = [
      "autoload -U compinit; compinit -D -u",
      stdout,
      "COMP_WORDS=(brokerage key issue ACME --scope ''); COMP_CWORD=5; COMPREPLY=()",
      "emulate -L bash -c _brokerage 2>&1; print -l $_comps[brokerage] $COMPREPLY"
    ].join("\n")
    const { status, stderr, stdout: said } = spawnSync("zsh", ["-f", "-s"], { input: asked, encoding: "utf8" })
    assert.deepStrictEqual([status, stderr], [0, ""])
    assert.match(said, /_brokerage/)
  })

  for (const shell of ["bash", "zsh", "fish"] as const) {
    // bash reads the script for zsh too.
    const reader = shell === "zsh" && !hasTool("zsh") ? "bash" : shell
    it.skipIf(!hasTool(reader))(`${reader} reads the script for ${shell}${skipNote(reader)}`, async () => {
      const { stdout } = await runRecorded(["completion", shell])
      assert.include(stdout, "withdrawal")
      const { status, stderr } = spawnSync(reader, ["-n", inFile(stdout)], { encoding: "utf8" })
      assert.deepStrictEqual([status, stderr], [0, ""])
    })
  }

  it("another shell is wrong usage", async () => {
    assert.strictEqual((await runRecorded(["completion", "tcsh"])).status, 2)
  })
})
