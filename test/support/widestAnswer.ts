/**
 * The widest answer that a schema allows: long names with wide, combining and control characters, numbers with all
 * their digits, the longest value of each list of tokens. It is generated from the schema, so it covers new answers as
 * well.
 */
import type { Schema, SchemaAST } from "effect"

/** Wide, combining, joined, right-to-left and control characters, in and outside of words. */
export const hostileText =
  "Ödegård-Kälhöfer 張偉株式会社 e\u0301\u0301\u0301lan \u001b[31mred\u0007\u202e\u2028 👩‍👩‍👧‍👦 verylongwordwithoutanyspaceatallinsideit_and_more NOT_STARTED\n"
const widestNumber = 8_888_888_888_888_888
const anyTime = 1_795_785_192_832

/** `rows`: the number of entries of each list. */
export const widestOf = (schema: Schema.Top, rows: number): unknown => wide(schema.ast, "", rows, 0)

const wide = (ast: SchemaAST.AST, name: string, rows: number, depth: number): unknown => {
  switch (ast._tag) {
    case "Objects": {
      const members = ast.propertySignatures.map(({ name: member, type }) => [
        member,
        wide(type, String(member), rows, depth + 1)
      ])
      const indexed = ast.indexSignatures.map(({ type }, index) => [`member${index}`, wide(type, "", rows, depth + 1)])
      return Object.fromEntries([...members, ...indexed])
    }
    case "Arrays": {
      // Lists inside of rows stay short: a page of ten thousand rows has ten thousand of them.
      const length = depth > 2 ? Math.min(rows, 3) : rows
      const [item] = ast.rest.length > 0 ? ast.rest : ast.elements
      return item === undefined ? [] : Array.from({ length }, () => wide(item, name, rows, depth + 1))
    }
    case "Union":
      return widest(ast.types.map((type) => wide(type, name, rows, depth)))
    case "Literal":
      return ast.literal
    case "Number":
      return /At$|^ts$|Ts$|period/.test(name) ? anyTime : widestNumber
    case "String":
      return /^(key|prefix)$/.test(name) ? `bok_${"k".repeat(43)}` : hostileText
    case "Boolean":
      return false
    case "Null":
    case "Undefined":
      return null
    case "Suspend":
      return depth > 8 ? null : wide(ast.thunk(), name, rows, depth + 1)
    default:
      // For a schema that accepts any JSON.
      return {
        note: hostileText,
        nested: { amounts: ["1.000000", "2.000000"], at: anyTime },
        list: [{ a: 1 }, { b: null }]
      }
  }
}

const widest = (values: ReadonlyArray<unknown>): unknown =>
  values.reduce((most, value) => (lengthOf(value) > lengthOf(most) ? value : most))

const lengthOf = (value: unknown): number => (value === null ? -1 : (JSON.stringify(value) ?? "").length)
