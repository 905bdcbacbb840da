/**
 * The layout rules as a test: which folder may import which, the order of folders, the places of SQL, file lengths, no
 * barrels, no import cycles, no clock or randomness outside their services, no names of machines or personal folders.
 * Runs in milliseconds.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import { endedCalls, policies, subscriptions } from "../src/runtime/subscriptions.ts"
import { spokenPlaces, unusedNames } from "./support/spokenWords.ts"

const root = resolve(import.meta.dirname, "..")
const maxLines = 400
/** Tables of cases may run longer than code. */
const maxTestLines = 500
const limitOf = (file: string): number => (file.startsWith("test/") ? maxTestLines : maxLines)

interface Area {
  readonly prefix: string
  /** Prefixes its relative imports may reach. */
  readonly imports: ReadonlyArray<string>
  /** Packages it may use; null: any dependency. */
  readonly packages: RegExp | null
}

// The first match holds, so narrower areas stand before wider ones.
const areas: ReadonlyArray<Area> = [
  {
    prefix: "src/machines/",
    imports: ["src/machines/"],
    packages: /^(effect(\/schema\/SchemaJITCompiler)?|xstate(\/graph)?|decimal\.js|any-ascii)$/
  },
  // The venue's surface, which service and simulator share, and the folders that both make (`makeFolder`).
  { prefix: "src/venue/", imports: ["src/machines/", "src/venue/"], packages: /^(effect(\/http-api)?|node:\w+)$/ },
  { prefix: "src/runtime/tables/", imports: ["src/machines/", "src/runtime/tables/"], packages: /^(effect|xstate)$/ },
  {
    prefix: "src/runtime/engine/timers/",
    imports: ["src/machines/", "src/runtime/tables/", "src/runtime/engine/", "src/runtime/subscriptions.ts"],
    packages: null
  },
  {
    prefix: "src/runtime/engine/",
    imports: ["src/machines/", "src/runtime/tables/", "src/runtime/engine/"],
    packages: null
  },
  {
    prefix: "src/runtime/effects/",
    imports: [
      "src/machines/",
      "src/runtime/effects/",
      "src/runtime/engine/",
      "src/runtime/ledger/",
      "src/runtime/store/",
      "src/runtime/tables/"
    ],
    packages: null
  },
  {
    prefix: "src/runtime/ports/",
    imports: [
      "src/machines/",
      "src/venue/",
      "src/runtime/tables/",
      "src/runtime/engine/",
      "src/runtime/ports/",
      "src/runtime/store/"
    ],
    packages: null
  },
  {
    prefix: "src/runtime/store/",
    imports: ["src/machines/", "src/runtime/tables/", "src/runtime/engine/", "src/runtime/store/"],
    packages: null
  },
  {
    prefix: "src/runtime/ledger/",
    imports: [
      "src/machines/",
      "src/runtime/tables/",
      "src/runtime/engine/",
      "src/runtime/store/",
      "src/runtime/ledger/"
    ],
    packages: null
  },
  {
    prefix: "src/runtime/adapters/",
    imports: [
      "src/machines/",
      "src/venue/",
      "src/runtime/adapters/",
      "src/runtime/engine/",
      "src/runtime/ports/",
      "src/runtime/store/databasePool.ts"
    ],
    packages: null
  },
  {
    prefix: "src/runtime/migrations/",
    imports: [
      "src/machines/",
      "src/runtime/tables/",
      "src/runtime/engine/",
      "src/runtime/migrations/",
      "src/runtime/store/"
    ],
    packages: null
  },
  { prefix: "src/runtime/", imports: ["src/machines/", "src/runtime/", "src/venue/"], packages: null },
  { prefix: "src/http/api/", imports: ["src/machines/", "src/http/api/", "src/venue/"], packages: /^(effect(\/.*)?)$/ },
  { prefix: "src/http/", imports: ["src/machines/", "src/runtime/", "src/http/", "src/venue/"], packages: null },
  { prefix: "cli/", imports: ["cli/", "src/http/api/", "src/machines/", "src/venue/", "simulator/"], packages: null },
  {
    prefix: "simulator/venue/",
    imports: ["simulator/", "src/machines/", "src/venue/", "src/runtime/ports/Venue.ts"],
    packages: null
  },
  { prefix: "simulator/", imports: ["simulator/", "src/http/api/", "src/machines/", "src/venue/"], packages: null }
]

/** The parts of one folder, its folders and files: each imports only those before it, types included. */
export interface Order {
  readonly folder: string
  readonly parts: ReadonlyArray<string>
}

const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

/** The list of a code block of docs/architecture.md, right below the line that introduces it. */
const drawn = (below: string): ReadonlyArray<string> => {
  const [, block = ""] = readFileSync(join(root, "docs/architecture.md"), "utf8").split(`${below}\n\n\`\`\`\n`)
  return words(block.slice(0, block.indexOf("```")))
}

const orders: ReadonlyArray<Order> = [
  {
    folder: "src/machines/",
    parts: drawn(
      "The parts of `src/machines` stand in one order, and each imports only those before it, types counted:"
    )
  },
  {
    folder: "src/runtime/services/",
    parts: words(`
      shared partners market account screening webhooks money venue statements
      trading clients reconciliation margin lifecycle operations
    `)
  }
]

/** Modules in the folder of ports that build a port's parameters; they are no ports, and have no doubles. */
const portValues = new Set(["src/runtime/ports/VenueConnection.ts"])

/** The command line starts the service by this one dynamic import; everything else of it is a client. */
const exceptions = new Set(["cli/main.ts -> src/main.ts"])

/** Where wall clock, chance and environment may be read directly. */
const impureAllowed = [
  /^src\/machines\/shared\/CalendarDate\.ts$/, // new Date(ms) of a given time
  /^src\/runtime\/adapters\/postgresBinaries\.ts$/, // the environment a child process starts with
  /^cli\//,
  /^simulator\//,
  /^bench\//,
  /^scripts\//,
  /^test\//
]
const impure = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bprocess\.env\b/

/** Statements are texts of the store; the journal, the schema and the server's own start have theirs beside them. */
const statementsAllowed = [
  /^src\/runtime\/store\//,
  /^src\/runtime\/engine\/journal\//, // the database's half of one port: the batch is one statement
  /^src\/runtime\/migrations\//,
  /^src\/runtime\/adapters\/EmbeddedPostgres\.ts$/,
  /^(bench|scripts|test)\//
]
/** A text in SQL, or the client given one. */
const statement =
  /\bSELECT\s|\bINSERT INTO\s|\bDELETE FROM\s|\bUPDATE \w+ SET\s|\bSET LOCAL\s|\.unsafe\s*[<(]|\bsql\s*(?:<[^`;]*>)?`/

/** Code that opens a connection to the database, and the files that may have it because they limit the time. */
const connecting = /\bPg(?:Client\.(?:make|layer)|Connection\.make|Pool\.make|Pool\.layer)/
const connectingAllowed =
  /^(?:src\/runtime\/(?:store\/databasePool|engine\/journal\/WriterConnection)\.ts$|(?:bench|scripts|test)\/)/

/** One function turns figures into texts, so that no minus precedes a zero. */
const figureText = /\.toFixed\(/
const figureTextAllowed = /^(?:src\/machines\/shared\/Money\.ts$|(?:cli|simulator|bench|scripts|test|linters)\/)/

export interface Violation {
  readonly file: string
  readonly rule: string
}

const importsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^(?:import|export)\s(?:[^"'`;]*?\sfrom\s)?"([^"]+)"|\bimport\("([^"]+)"\)/gm)].map(
    (match) => (match[1] ?? match[2]) as string
  )

/** Services subscribe to commits under a name of `subscriptions.ts`, which alone gives the order of listeners and policies. */
const subscribing = /\.(?:onCommitted|onDecided|onCallEnded)\(/
const subscribingAllowed = /^(?:src\/runtime\/subscriptions\.ts$|test\/)/

/** A hook outside of any function. Files of one worker share modules, so such a hook would hold for the first of them. */
const topHook = /^(?:after|before)(?:All|Each)\(/m
const isSharedByTests = (file: string): boolean =>
  /^test\/(?!.*\.test\.ts$)/.test(file) && file !== "test/support/silence.ts"

const headless = "begins with no block comment that says what the file is"

/** Every violation of the rules in a tree of (path, text). */
export const tidy = (files: ReadonlyMap<string, string>): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  for (const [file, text] of files) {
    const report = (rule: string) => violations.push({ file, rule })
    const limit = limitOf(file)
    if (text.split("\n").length > limit + 1) report(`more than ${limit} lines`)
    if (!text.startsWith("/**")) report(headless)
    if (/(^|\/)index\.tsx?$/.test(file)) report("no barrels")
    if (figureText.test(text) && !figureTextAllowed.test(file))
      violations.push({ file, rule: "writes a figure by toFixed: decimalText (shared/Money.ts) does it" })
    if (impure.test(text) && !impureAllowed.some((allowed) => allowed.test(file)))
      report("clock, chance or environment outside their services")
    if (statement.test(text) && !statementsAllowed.some((allowed) => allowed.test(file)))
      report("SQL outside src/runtime/store")
    if (connecting.test(text) && !connectingAllowed.test(file))
      report("opens a connection to the database that has no limit: makeDatabasePool does it")
    if (subscribing.test(text) && !subscribingAllowed.test(file))
      report("registers with the host by itself: src/runtime/subscriptions.ts does it")
    if (/^(?:src|cli|simulator)\//.test(file))
      for (const place of spokenPlaces(file, text)) report(`${place}: CONTRIBUTING.md has the terms`)
    if (topHook.test(text) && isSharedByTests(file)) report("registers a hook for the first file of a worker alone")
    // Its index loads the 650 modules of a key-value store's driver.
    if (importsOf(text).includes("@effect/platform-node")) report("all of @effect/platform-node")
    if (/\/(?:home|root|work|Users)\/[a-z]/.test(text)) report("names a folder of one machine")
    const area = areas.find(({ prefix }) => file.startsWith(prefix))
    if (area === undefined) continue
    for (const specifier of importsOf(text)) {
      if (!specifier.startsWith(".")) {
        if (area.packages !== null && !area.packages.test(specifier)) report(`package ${specifier}`)
        continue
      }
      if (!/\.tsx?$/.test(specifier)) report(`extension missing: ${specifier}`)
      const target = join(dirname(file), specifier)
      if (!area.imports.some((prefix) => target.startsWith(prefix)) && !exceptions.has(`${file} -> ${target}`))
        report(`imports ${target}`)
    }
  }
  return violations
}

/** Imports from a part of a folder to a later one, and parts that the order does not list. */
export const upward = (files: ReadonlyMap<string, string>, { folder, parts }: Order): ReadonlyArray<Violation> => {
  const partOf = (file: string): string => file.slice(folder.length).split("/", 1)[0] as string
  return [...files].flatMap(([file, text]) => {
    if (!file.startsWith(folder)) return []
    const own = parts.indexOf(partOf(file))
    if (own === -1) return [{ file, rule: `${partOf(file)} stands in no order of ${folder}` }]
    return importsOf(text)
      .map((specifier) => join(dirname(file), specifier))
      .filter((target) => target.startsWith(folder) && parts.indexOf(partOf(target)) > own)
      .map((target) => ({ file, rule: `imports ${target}, which stands after it` }))
  })
}

/** Casts past the compiler in the whole of the program; none of them without its reason in the line above. */
const maxCasts = 10

/** The places where code casts past the compiler, and whether a comment directly above gives the reason. */
export const castsOf = (files: ReadonlyMap<string, string>) =>
  [...files].flatMap(([file, text]) => {
    const lines = text.split("\n")
    return lines.flatMap((line, index) =>
      line.includes("as unknown as")
        ? [{ place: `${file}:${index + 1}`, reasoned: /^\s*(\/\/|\*)/.test(lines[index - 1] ?? "") }]
        : []
    )
  })

/** Groups of files that import one another in a circle; types count, because a circle of types is a circle to a reader too. */
export const cycles = (files: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const edges = new Map(
    [...files].map(([file, text]) => [
      file,
      importsOf(text)
        .filter((s) => s.startsWith("."))
        .map((s) => join(dirname(file), s))
    ])
  )
  const found = new Set<string>()
  const state = new Map<string, "open" | "done">()
  const visit = (file: string, path: ReadonlyArray<string>): void => {
    if (state.get(file) === "done") return
    const at = path.indexOf(file)
    if (at >= 0) return void found.add(path.slice(at).toSorted().join(" -> "))
    for (const next of edges.get(file) ?? []) visit(next, [...path, file])
    state.set(file, "done")
  }
  for (const file of files.keys()) visit(file, [])
  return [...found]
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

describe("tidy", () => {
  const tree = readTree(["src", "cli", "simulator", "scripts", "bench", "test"])

  it("the layout rules hold", () => assert.deepStrictEqual(tidy(tree), []))
  it("each spoken name that stays is in use", () => assert.deepStrictEqual(unusedNames(tree), []))
  it(`at most ${maxCasts} casts past the compiler, each with its reason`, () => {
    const casts = castsOf(readTree(["src", "cli", "simulator"]))
    assert.deepStrictEqual(
      casts.filter(({ reasoned }) => !reasoned),
      []
    )
    assert.isAtMost(casts.length, maxCasts, casts.map(({ place }) => place).join(", "))
  })
  it("each name of the subscriptions is a file that subscribes under it, and no other does", () => {
    const names = [...Object.values(subscriptions).flat(), ...endedCalls, ...policies]
    const places = [...tree]
      .filter(([file]) => file.startsWith("src/"))
      .flatMap(([file, text]) =>
        [...text.matchAll(/\b(?:subscribe|subscribeToEndedCalls|enforce)\([^"]*"(\w+)"/g)].map(([, name]) => ({
          file,
          name
        }))
      )
    assert.deepStrictEqual(
      places.filter(({ file, name }) => basename(file, ".ts") !== name),
      []
    )
    assert.sameMembers([...new Set(places.map(({ name }) => name))], [...new Set(names)])
  })
  it("every port has its double beside it", () => {
    const ports = [...tree.keys()].filter(
      (file) => file.startsWith("src/runtime/ports/") && !file.endsWith("Memory.ts") && !portValues.has(file)
    )
    assert.isNotEmpty(ports)
    assert.deepStrictEqual(
      ports.filter((port) => !tree.has(port.replace(".ts", "Memory.ts"))),
      []
    )
  })

  it.each(orders)("the parts of $folder import only those before them", (order) => {
    assert.deepStrictEqual(upward(tree, order), [])
    const standing = order.parts.filter((part) => readdirSync(join(root, order.folder)).includes(part))
    assert.deepStrictEqual(standing, order.parts)
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
    const rows = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, part]) => part).join(" ")
    const text = `${words(page).join(" ")} ${rows}`
    assert.include(text, order.parts.join(" "), "docs/architecture.md draws another order")
  })

  it("no import circles", () => assert.deepStrictEqual(cycles(readTree(["src", "cli", "simulator"])), []))

  it.each([
    [
      "an upward import",
      "src/machines/client/x.ts",
      'import { Ledger } from "../../runtime/ledger/Ledger.ts"',
      "imports src/runtime/ledger/Ledger.ts"
    ],
    [
      "the engine below the store",
      "src/runtime/engine/x.ts",
      'import { x } from "../store/x.ts"',
      "imports src/runtime/store/x.ts"
    ],
    [
      "a description of a table on the engine",
      "src/runtime/tables/x.ts",
      'import type { Commit } from "../engine/journal/Commit.ts"',
      "imports src/runtime/engine/journal/Commit.ts"
    ],
    [
      "a client that reaches into the service",
      "cli/x.ts",
      'import { x } from "../src/runtime/x.ts"',
      "imports src/runtime/x.ts"
    ],
    [
      "a foreign package in the pure core",
      "src/machines/x.ts",
      'import { x } from "node:crypto"',
      "package node:crypto"
    ],
    ["a missing extension", "src/http/x.ts", 'import { x } from "./y"', "extension missing: ./y"],
    [
      "a clock in a service",
      "src/runtime/services/client/x.ts",
      `const now = ${"Date"}.now()`,
      "clock, chance or environment outside their services"
    ],
    [
      "a statement in a service",
      "src/runtime/services/client/x.ts",
      'const text = "SELECT id FROM clients WHERE uid = $1"',
      "SQL outside src/runtime/store"
    ],
    [
      "a statement given to the client",
      "src/http/x.ts",
      "const rows = yield* sql.unsafe<{ readonly n: bigint }>(text)",
      "SQL outside src/runtime/store"
    ],
    [
      "a statement as a template",
      "src/runtime/workers/x.ts",
      "yield* sql<{ readonly id: bigint }>`VALUES (1)`",
      "SQL outside src/runtime/store"
    ],
    [
      "a connection without a limit",
      "src/runtime/workers/x.ts",
      "const connection = PgClient.layer({ url, maxConnections: 1 })",
      "opens a connection to the database that has no limit: makeDatabasePool does it"
    ],
    [
      "a listener beside the list",
      "src/runtime/services/margin/x.ts",
      'host.onCommitted("orders", (row) => this.take(row))',
      "registers with the host by itself: src/runtime/subscriptions.ts does it"
    ],
    [
      "a hook of a module that test files share",
      "test/support/x.ts",
      "afterEach(() => {})",
      "registers a hook for the first file of a worker alone"
    ],
    [
      "a spoken comment",
      "cli/x.ts",
      "// Whoever asks: `said`",
      "a comment with Whoever: CONTRIBUTING.md has the terms"
    ],
    ["a spoken name", "cli/x.ts", "const wasTold = `said ${asks}`", "the name wasTold: CONTRIBUTING.md has the terms"],
    ["a barrel", "src/runtime/index.ts", "", "no barrels"],
    ["a heavy barrel", "src/http/x.ts", 'import { A } from "@effect/platform-node"', "all of @effect/platform-node"],
    ["a long file", "src/runtime/x.ts", "\n".repeat(maxLines + 5), `more than ${maxLines} lines`]
  ])("catches %s", (_title, file, text, rule) =>
    assert.deepStrictEqual(tidy(new Map([[file, `/** x */\n${text}`]])), [{ file, rule }])
  )

  it("catches a header of another form", () =>
    assert.deepStrictEqual(tidy(new Map([["src/http/x.ts", "// x"]])), [{ file: "src/http/x.ts", rule: headless }]))

  it("catches a cast without a reason", () => {
    const reasoned = "// Both are what the table says.\nx as unknown as Y"
    assert.deepStrictEqual(
      castsOf(
        new Map([
          ["src/a.ts", reasoned],
          ["src/b.ts", "x as unknown as Y"]
        ])
      ),
      [
        { place: "src/a.ts:2", reasoned: true },
        { place: "src/b.ts:1", reasoned: false }
      ]
    )
  })

  it("catches an import up an order, a type too, and a part that the order does not list", () => {
    const order = { folder: "src/machines/", parts: ["shared", "Effects.ts", "client"] }
    const files = new Map([
      ["src/machines/shared/a.ts", 'import type { B } from "../client/b.ts"\nimport { Schema } from "effect"'],
      ["src/machines/Effects.ts", 'import { a } from "./shared/a.ts"'],
      ["src/machines/client/b.ts", 'import { c } from "./c.ts"\nimport type { E } from "../Effects.ts"'],
      ["src/machines/late/d.ts", ""],
      ["src/http/e.ts", 'import { b } from "../machines/client/b.ts"']
    ])
    assert.deepStrictEqual(upward(files, order), [
      { file: "src/machines/shared/a.ts", rule: "imports src/machines/client/b.ts, which stands after it" },
      { file: "src/machines/late/d.ts", rule: "late stands in no order of src/machines/" }
    ])
  })

  it("catches an import circle", () =>
    assert.deepStrictEqual(
      cycles(
        new Map([
          ["src/a.ts", 'import { b } from "./b.ts"'],
          ["src/b.ts", 'import { a } from "./a.ts"']
        ])
      ),
      ["src/a.ts -> src/b.ts"]
    ))
})
