/**
 * The files and folders that README and docs name, and the targets of their links, exist; the glossary has every noun.
 * Runs in milliseconds.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")

/** `a/{b,c}.ts` is a/b.ts and a/c.ts. */
const spread = (path: string): ReadonlyArray<string> => {
  const braces = /^(.*?)\{([^{}]*)\}(.*)$/.exec(path)
  if (braces === null) return [path]
  const [, head = "", choices = "", tail = ""] = braces
  return choices.split(",").flatMap((choice) => spread(`${head}${choice}${tail}`))
}

/** A heading as the part of a link behind `#`. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .replaceAll(" ", "-")

const headingsOf = (page: string): ReadonlySet<string> =>
  new Set([...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading)))

/**
 * The names on a page that `read` does not find: paths in backticks that begin with a folder of the tree and have no
 * placeholder, and links. `read` returns a page's text, the empty text for any other file or folder, or null.
 */
export const missing = (file: string, page: string, read: (path: string) => string | null): ReadonlyArray<string> => {
  const paths = [...page.matchAll(/`((?:src|cli|simulator|scripts|bench|test|docs|bin|\.ci)\/[^`\s<>*:]*)`/g)]
    .flatMap(([, path = ""]) => spread(path))
    .filter((path) => read(path) === null)
  const links = [...page.matchAll(/\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)/g)]
    .filter(([, to = "", anchor]) => {
      const text = to === "" ? page : read(join(dirname(file), to))
      return text === null || (anchor !== undefined && !headingsOf(text).has(anchor))
    })
    .map(([link]) => link.slice(2, -1))
  return [...paths, ...links]
}

/**
 * Names of source files in backticks that no path ends with. `missing` handles those that begin with a folder of the
 * tree.
 */
export const unknownFiles = (page: string, files: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...page.matchAll(/`((?!(?:src|cli|simulator|scripts|bench|test|docs)\/)[^`\s<>*:]*\.(?:tsx?|sql))`/g)]
    .flatMap(([, path = ""]) => spread(path))
    .filter((path) => !files.some((file) => `/${file}`.endsWith(`/${path}`)))

/** Folders of the pure core that no row of the glossary covers. */
export const unnamedNouns = (folders: ReadonlyArray<string>, glossary: string): ReadonlyArray<string> =>
  folders.filter((folder) => !new RegExp(`^\\|.*\`${folder}[\`/]`, "m").test(glossary))

/** Folders that belong to no noun: shared code, and the published data of sandboxes. */
const noNouns = ["shared", "sandbox"]

const readPath = (path: string): string | null => {
  const full = join(root, path)
  // The walk through an invented noun names its files as if they existed.
  if (existsSync(join(root, "test/fixtures/plantedNoun/files", `${path}.txt`))) return ""
  if (!existsSync(full)) return null
  return path.endsWith(".md") ? readFileSync(full, "utf8") : ""
}

/**
 * The contract file of a route by the rule of the README: named after the segment behind the client, otherwise after
 * the first one.
 */
export const routeFile = (path: string): string => {
  const [first = "", second, third] = path.split("/").slice(3)
  const segment = !path.startsWith("/partner/v1/") ? "system" : second === "{clientId}" ? (third ?? first) : first
  const name = segment.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())
  return `src/http/api/${name}Api.ts`
}

/** Routes that the contract file of the rule does not contain, or whose group has no file of handlers. */
export const misplacedRoutes = (
  paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>,
  read: (file: string) => string | null
): ReadonlyArray<string> =>
  Object.entries(paths).flatMap(([path, operations]) => {
    const written = path.replace("/partner/v1/", "/").replaceAll(/\{(\w+)\}/g, ":$1")
    const groups = Object.values(operations).flatMap(({ operationId }) => operationId?.split(".")[0] ?? [])
    const handlers = groups.filter((group) => group !== "system").map((group) => `src/http/handlers/${group}.ts`)
    const holds = read(routeFile(path))?.includes(`"${written}"`) === true
    return holds && handlers.every((file) => read(file) !== null) ? [] : [path]
  })

describe("docs", () => {
  const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => relative(root, join(root, "docs", name)))

  it.each(["README.md", "CONTRIBUTING.md", ...pages])("what %s names exists", (file) =>
    assert.deepStrictEqual(missing(file, readFileSync(join(root, file), "utf8"), readPath), [])
  )

  const folders = ["src", "cli", "simulator", "scripts", "bench", "test", "linters"]
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => !name.includes("node_modules"))
      .map((name) => `${folder}/${name.replace(/\.txt$/, "")}`)
  )

  it.each(["README.md", "CONTRIBUTING.md", ...pages])("each source file that %s names in short exists", (file) =>
    assert.deepStrictEqual(unknownFiles(readFileSync(join(root, file), "utf8"), files), [])
  )

  it("finds a short name of no file", () =>
    assert.deepStrictEqual(unknownFiles("`order/a.ts` `order/b.ts` `b.ts` `src/x.ts`", ["src/order/a.ts"]), [
      "order/b.ts",
      "b.ts"
    ]))

  const nouns = readdirSync(join(root, "src/machines"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !noNouns.includes(entry.name))
    .map(({ name }) => `src/machines/${name}`)

  it("the glossary has every noun of the pure core", () =>
    assert.deepStrictEqual(unnamedNouns(nouns, readFileSync(join(root, "docs/glossary.md"), "utf8")), []))

  it("the glossary has each term once", () => {
    const rows = readFileSync(join(root, "docs/glossary.md"), "utf8").matchAll(/^\| ([^|]+) \|.*\|$/gm)
    const terms = [...rows].map(([, term]) => term)
    const twice = terms.filter((term, at) => terms.indexOf(term) !== at && !/^(-+|name|term|word)/.test(term ?? ""))
    assert.isAbove(terms.length, 50)
    assert.deepStrictEqual(twice, [])
  })

  it("finds a noun without a row, also beside one whose name begins alike", () =>
    assert.deepStrictEqual(
      unnamedNouns(["src/machines/a", "src/machines/b"], "| ab | `src/machines/ab` |\n| b | `src/machines/b/B.ts` |"),
      ["src/machines/a"]
    ))

  it("the path of an order can be read in at most 40 files, in their order", () => {
    const [, list = ""] = readFileSync(join(root, "docs/orders.md"), "utf8").split("\n## Reading list\n")
    const rows = [...list.matchAll(/^\| (\d+) \| `([^`]+)` \| (.+) \|$/gm)]
    const files = rows.map(([, , file = ""]) => file)
    assert.isAtLeast(files.length, 20)
    assert.isAtMost(files.length, 40)
    assert.deepStrictEqual(
      rows.map(([, place]) => Number(place)),
      files.map((_, at) => at + 1)
    )
    assert.lengthOf(new Set(files), files.length)
    assert.deepStrictEqual(
      files.filter((file) => !existsSync(join(root, file))),
      []
    )
  })

  it("a route is found in the contract file and the handlers that the README derives from its path", () => {
    const { paths } = JSON.parse(readFileSync(join(root, "docs/openapi.json"), "utf8"))
    assert.isAbove(Object.keys(paths).length, 70)
    const text = (file: string) => (existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : null)
    assert.deepStrictEqual(misplacedRoutes(paths, text), [])
  })

  it("names a route in another file, and one without handlers", () => {
    const files = new Map([
      ["src/http/api/MarketTradesApi.ts", `"/market-trades" "/clients/:clientId/ledger"`],
      ["src/http/handlers/market.ts", ""]
    ])
    const paths = {
      "/partner/v1/market-trades": { get: { operationId: "market.trades" } },
      "/partner/v1/clients/{clientId}/ledger": { get: { operationId: "market.ledger" } },
      "/healthz": { get: { operationId: "system.healthz" } }
    }
    assert.deepStrictEqual(
      misplacedRoutes(paths, (file) => files.get(file) ?? null),
      ["/partner/v1/clients/{clientId}/ledger", "/healthz"]
    )
  })

  const tree = new Map([
    ["src/a.ts", ""],
    ["src/b.ts", ""],
    ["docs/page.md", "# The Page\n## A part, of it\n"]
  ])

  it.each([
    ["a file that has moved", "see `src/c.ts`", ["src/c.ts"]],
    ["one of two in braces", "see `src/{a,c}.ts`", ["src/c.ts"]],
    ["a link to nowhere", "[x](docs/other.md)", ["docs/other.md"]],
    ["a part that a page has not", "[x](docs/page.md#another)", ["docs/page.md#another"]],
    [
      "nothing where all is there",
      "`src/{a,b}.ts` `src/<noun>/x.ts` [x](docs/page.md#a-part-of-it) [y](https://a.b)",
      []
    ]
  ])("finds %s", (_title, page, expected) =>
    assert.deepStrictEqual(
      missing("README.md", page, (path) => tree.get(path) ?? null),
      expected
    )
  )
})
