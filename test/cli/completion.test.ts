/** Completion scripts: made from the tree of commands, and understood by the shells (operator surface, rules for every command). */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { runRecorded } from "../operator/operatorHarness.ts"

/** What bash would offer at the end of the line. */
const offers = (script: string, line: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words = ["brokerage", ...line].map((word) => `'${word}'`).join(" ")
  const asked = `${script}\nCOMP_WORDS=(${words}); COMP_CWORD=${line.length}; _brokerage; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-s"], { input: asked, encoding: "utf8" })
  assert.deepStrictEqual([status, stderr], [0, ""])
  return stdout.split("\n").filter((word) => word !== "")
}

const has = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0

describe("brokerage completion", () => {
  it.runIf(has("bash"))("bash offers commands, options and tokens where they stand", async () => {
    const { stdout, status } = await runRecorded(["completion", "bash"])
    assert.strictEqual(status, 0)
    assert.deepStrictEqual(offers(stdout, ["withd"]), ["withdrawal"])
    assert.includeMembers([...offers(stdout, ["withdrawal", ""])], ["list", "approve", "pay", "--profile"])
    assert.deepStrictEqual(offers(stdout, ["key", "issue", "ACME", "--scope", ""]), ["READ", "TRADE"])
    assert.deepStrictEqual(offers(stdout, ["partner", "reliance", "ACME", "APP"]), ["APPROVED"])
    assert.include(offers(stdout, ["partner", "create", "--lic"]), "--licence")
    assert.deepStrictEqual(offers(stdout, ["serve", "--kill"]), [])
  })

  it.each(["bash", "zsh", "fish"].map((shell) => [shell, shell === "zsh" && !has("zsh") ? "bash" : shell] as const))(
    "the script for %s is one that %s reads",
    async (shell, reader) => {
      const { stdout } = await runRecorded(["completion", shell])
      assert.include(stdout, "withdrawal")
      if (!has(reader)) return
      const { status, stderr } = spawnSync(reader, ["-n"], { input: stdout, encoding: "utf8" })
      assert.deepStrictEqual([status, stderr], [0, ""])
    }
  )

  it("another shell is wrong usage", async () => {
    assert.strictEqual((await runRecorded(["completion", "tcsh"])).status, 2)
  })
})
