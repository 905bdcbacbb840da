/**
 * No dead code: every file is reached from an entry, and every exported name is used by another file that imports its
 * file. The test reads the sources as text, like the layout rules, because the imports of this repository have one
 * form.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")

/** Transition rows are read by the names of their files and exports (test/machines/transitions.test.ts). */
const isReadByName = (file: string): boolean => /^test\/machines\/transitions\/\w+Rows\.ts$/.test(file)

/** Files that Node, vitest or npm loads first. */
const isEntry = (file: string): boolean =>
  isReadByName(file) ||
  /\.test\.ts$|^scripts\/[^/]+\.ts$|^(bench|cli|simulator\/venue)\/main\.ts$|^test\/(support\/(globalSetup|silence)|operator\/sharedService)\.ts$|^vitest\.config\.ts$/.test(
    file
  )

/** The imports of a file, dynamic ones included. The benchmark names its child processes by paths in its own folder. */
const importsOf = (file: string, text: string): ReadonlyArray<string> => {
  const specifiers = [...text.matchAll(/(?:\bfrom |^import |\bimport\()\s*"(\.[^"]+)"/gm)].map(([, specifier = ""]) =>
    join(dirname(file), specifier)
  )
  const children = [...text.matchAll(/\bnew Child(?:<[^>]*>)?\("([^"]+)"\)/g)].map(([, path = ""]) =>
    join("bench", path)
  )
  // Threads are named by their file.
  const threads = [...text.matchAll(/\bnew URL\("([^"]+\.ts)", import\.meta\.url\)/g)].map(([, path = ""]) =>
    join(dirname(file), path)
  )
  return [...specifiers, ...children, ...threads]
}

const exportsOf = (text: string): ReadonlyArray<string> => [
  ...[
    ...text.matchAll(
      /^export (?:declare )?(?:abstract )?(?:const|function|async function|class|interface|type|let) (\w+)/gm
    )
  ].map(([, name = ""]) => name),
  ...[...text.matchAll(/^export (?:const|let) \{([^}]+)\}/gm)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim().split(/:\s*/).at(-1) ?? "")
  )
]

const withoutComments = (text: string): string => text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "")

export interface DeadCode {
  /** Files that no entry reaches. */
  readonly files: ReadonlyArray<string>
  /** `FILE NAME` of exports that no other file imports and the file itself does not need. */
  readonly names: ReadonlyArray<string>
}

export const deadCode = (files: ReadonlyMap<string, string>): DeadCode => {
  const importers = new Map<string, Set<string>>()
  const reached = new Set<string>()
  const imports = new Map([...files].map(([file, text]) => [file, importsOf(file, text)] as const))
  for (const [file, targets] of imports) {
    for (const target of targets) importers.set(target, (importers.get(target) ?? new Set()).add(file))
  }
  const waiting = [...files.keys()].filter(isEntry)
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    waiting.push(...(imports.get(file) ?? []).filter((target) => files.has(target)))
  }
  const words = new Map([...files].map(([file, text]) => [file, withoutComments(text).match(/\w+/g) ?? []] as const))
  const has = new Map([...words].map(([file, list]) => [file, new Set(list)] as const))
  const names = [...files].flatMap(([file, text]) =>
    exportsOf(text)
      .filter((name) => !(isReadByName(file) && name.endsWith("Rows")))
      .filter((name) => ![...(importers.get(file) ?? [])].some((other) => has.get(other)?.has(name)))
      // A name that its own file uses should not be exported, but is not dead.
      .filter((name) => (words.get(file) ?? []).filter((word) => word === name).length < 2)
      .map((name) => `${file} ${name}`)
  )
  return { files: [...files.keys()].filter((file) => !reached.has(file)), names }
}

const readTree = (folders: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(
    folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => [relative(root, path), readFileSync(path, "utf8")] as const)
    )
  )

describe("dead code", () => {
  it("there is none", () =>
    assert.deepStrictEqual(
      deadCode(
        new Map([
          ...readTree(["src", "cli", "simulator", "scripts", "bench", "test"]),
          ["vitest.config.ts", readFileSync(join(root, "vitest.config.ts"), "utf8")]
        ])
      ),
      { files: [], names: [] }
    ))

  const used = 'import { used } from "../src/a.ts"\nused()'

  it("catches a name that nobody imports, and lets pass what its own file needs", () =>
    assert.deepStrictEqual(
      deadCode(
        new Map([
          ["scripts/x.ts", used],
          ["src/a.ts", "export const used = () => inner\nexport const inner = 1\nexport interface Dead {}"]
        ])
      ),
      { files: [], names: ["src/a.ts Dead"] }
    ))

  it("catches a name that only another file of the same word uses", () =>
    assert.deepStrictEqual(
      deadCode(
        new Map([
          ["scripts/x.ts", used],
          ["scripts/y.ts", "const dead = 1\ndead"],
          ["src/a.ts", "export const used = () => 1\nexport const dead = 2"]
        ])
      ).names,
      ["src/a.ts dead"]
    ))

  it("catches a file that no entry reaches, also when it is imported by another such file", () =>
    assert.deepStrictEqual(
      deadCode(
        new Map([
          ["scripts/x.ts", used],
          ["src/a.ts", "export const used = () => 1"],
          ["src/b.ts", 'import { c } from "./c.ts"\nc()'],
          ["src/c.ts", "export const c = () => 1"]
        ])
      ).files,
      ["src/b.ts", "src/c.ts"]
    ))
})
