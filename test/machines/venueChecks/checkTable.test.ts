/**
 * Every member of every schema of the venue's reports has a row: a check, or the reason why it has none. Each reason names
 * something that exists. The test finds schemas in their files, so that a new message without a table fails.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { checkTable, factTable, ownTables } from "../../../src/machines/venueChecks/checkTable.ts"
import * as calls from "../../../src/machines/venue/venueCalls.ts"
import * as events from "../../../src/machines/venue/VenueEvent.ts"
import * as objects from "../../../src/machines/venue/venueObjects.ts"

const root = join(import.meta.dirname, "../../..")

interface Fields {
  readonly fields: Readonly<Record<string, unknown>>
}
const isStruct = (value: unknown): value is Fields =>
  Schema.isSchema(value) && typeof (value as Partial<Fields>).fields === "object"

/** Answers whose only member is a list of messages with tables of their own. */
const lists = new Set(["OrderFills", "Outcomes", "Refs"])

/** Every noun has its messages in a file of its own. */
const nounFiles = readdirSync(join(root, "src/machines/venue")).filter((file) => file.endsWith("AtVenue.ts"))
const nouns: ReadonlyArray<object> = await Promise.all(
  nounFiles.map((file) => import(`../../../src/machines/venue/${file}`))
)

const schemas = Object.entries(Object.assign({}, objects, events, calls, ...nouns)).flatMap(([name, value]) =>
  isStruct(value) && !lists.has(name) ? [[name, Object.keys(value.fields)] as const] : []
)

/** The members of each kind of fact. */
const facts = (events.VenueFact as unknown as { readonly members: ReadonlyArray<Fields> }).members.map(
  ({ fields }) =>
    [(fields["type"] as { readonly schema?: unknown; readonly literal: string }).literal, Object.keys(fields)] as const
)

describe("A2-115: every report of the venue is compared with the request", () => {
  it("every schema of the venue's messages has a table with a row for each member, and no other row", () => {
    assert.sameMembers(
      schemas.map(([name]) => name),
      Object.keys(checkTable)
    )
    for (const [name, members] of schemas) {
      assert.sameMembers(Object.keys(checkTable[name as keyof typeof checkTable]), members, name)
      const own = name in ownTables ? ownTables[name as keyof typeof ownTables] : null
      if (own !== null) assert.sameMembers(Object.keys(own), members, `the venue's own ${name}`)
    }
  })

  it("every kind of fact has a table with a row for each member, and no other row", () => {
    assert.sameMembers(
      facts.map(([type]) => type),
      Object.keys(factTable)
    )
    for (const [type, members] of facts) {
      assert.sameMembers(Object.keys(factTable[type as keyof typeof factTable]), members, type)
    }
  })

  it("the file and the function that a reason names exist", () => {
    const files = new Map<string, string>()
    for (const file of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })) {
      if (file.endsWith(".ts")) files.set(file.split("/").at(-1) ?? file, readFileSync(join(root, "src", file), "utf8"))
    }
    const rows = [...Object.values(checkTable), ...Object.values(factTable), ...Object.values(ownTables)].flatMap(
      (table) => Object.values<unknown>(table)
    )
    for (const row of rows) {
      if (typeof row === "function") continue
      const { because } = row as { readonly because: string }
      for (const [, file = "", name] of because.matchAll(/(\w+\.ts)(?:, (\w+)(?![.\w]))?/g)) {
        const text = files.get(file)
        assert.isDefined(text, `${file}: ${because}`)
        if (name !== undefined) assert.include(text, name, because)
      }
    }
  })
})
