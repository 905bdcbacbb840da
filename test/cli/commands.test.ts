/**
 * The command line covers the whole operator contract: some command calls every endpoint, and every file of commands is
 * part of the command tree. The test reads the sources as text; the compiler checks that the calls fit the contract.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { operatorCommands } from "../../src/http/api/operator/commands.ts"

const root = join(import.meta.dirname, "../../cli")
const files = new Map(
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")] as const)
)

/** Names after `export const add` that no other file calls or loads for the command tree, each with its file. */
const unwired = (texts: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...texts].flatMap(([file, text]) =>
    file.startsWith("commands/")
      ? [...text.matchAll(/^export const (add\w+)/gm)].flatMap(([, name = ""]) =>
          [...texts].some(([other, its]) => other !== file && (its.includes(`${name}(`) || its.includes(`.${name}]`)))
            ? []
            : [`${file}: ${name}`]
        )
      : []
  )

/** Commands of the contract that no file calls: `api.deposit.confirm(`, `api.kyc["reject-person"](`. */
const uncalled = (commands: Iterable<string>, texts: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const all = [...texts.values()].join("\n")
  return [...commands].filter((command) => {
    const [group = "", endpoint = ""] = command.split(" ")
    return !all.includes(`.${group}.${endpoint}(`) && !all.includes(`.${group}["${endpoint}"](`)
  })
}

describe("the command line and the operator contract", () => {
  it("every endpoint is called by a command", () => {
    const missing = uncalled(operatorCommands.keys(), files)
    assert.deepStrictEqual(missing, [], "no file of cli calls these endpoints of src/http/api/operator")
  })

  it("every file of commands stands in the tree", () => {
    const missing = unwired(files)
    assert.deepStrictEqual(missing, [], "neither cli/program.ts nor another command adds these commands")
  })

  it("a piece of a command names an existing command, which is no piece itself", () => {
    for (const [command, { partOf }] of operatorCommands) {
      if (partOf !== undefined) assert.isTrue(operatorCommands.get(partOf)?.partOf === undefined, command)
      if (partOf !== undefined) assert.isTrue(operatorCommands.has(partOf), command)
    }
  })

  it("a noun without a command, or outside of the tree, is named", () => {
    const voucher = 'export const addVoucherCommands = () => cli.call((api) => api.voucher["pay-out"]())'
    const planted = new Map([...files, ["commands/voucher.ts", voucher]])
    assert.deepStrictEqual(unwired(planted), ["commands/voucher.ts: addVoucherCommands"])
    assert.deepStrictEqual(uncalled(["voucher pay-out", "voucher cancel"], planted), ["voucher cancel"])
  })
})
