/**
 * Parses JSON so that `JSON.stringify` writes the same text again, apart from white space between tokens and escapes in
 * names. `JSON.parse` alone would change the digits of numbers such as 1.10 and the order of names such as "2", and would
 * drop duplicate names. Here, a number or string that JavaScript would write differently becomes a raw JSON value, and an
 * object keeps the order of its names. An object that lost a duplicate name is recorded as lossy (doc 3, Endpoints; A3-07).
 */

/** JSON with the functions for raw values, whose types TypeScript's library lacks. */
const raw = JSON as typeof JSON & {
  rawJSON(text: string): RawValue
  isRawJSON(value: unknown): value is RawValue
}

interface RawValue {
  readonly rawJSON: string
}

/** Objects whose names are not in JavaScript's order, and objects that lost a duplicate name or `__proto__`. */
const reordered = new WeakSet<object>()
const lossy = new WeakSet<object>()

/** The value of a JSON text. Throws a SyntaxError if the text is not JSON. */
export const parseExact = (text: string): unknown => {
  const parsed: unknown = JSON.parse(text)
  return JSON.stringify(parsed) === text ? parsed : new Parser(text).value()
}

/** True if no object in the value has lost a member: a duplicate name, or the name `__proto__`. */
export const isWhole = (value: unknown): boolean =>
  !isContainer(value) ||
  (!lossy.has(value) && !Object.hasOwn(value, "__proto__") && Object.values(value).every(isWhole))

/**
 * True if `JSON.parse` keeps each member of the text, and each number as it is written. The order of names is not compared.
 */
export const isPlain = (value: unknown): boolean =>
  raw.isRawJSON(value)
    ? value.rawJSON.startsWith('"')
    : !isContainer(value) || (isWhole(value) && Object.values(value).every(isPlain))

/** The plain value. A raw string becomes a string; a raw number becomes its text, because a number would lose digits. */
export const plainOf = (value: unknown): unknown => {
  if (!raw.isRawJSON(value)) return value
  return value.rawJSON.startsWith('"') ? JSON.parse(value.rawJSON) : value.rawJSON
}

/** Restores in `value`, which another parser made from the same text, the exact members of `written` (from `parseExact`). */
export const restoreExact = (value: unknown, written: unknown): void => {
  if (!isContainer(value) || !isContainer(written)) return
  for (const [name, member] of Object.entries(written)) {
    if (!Object.hasOwn(value, name)) continue
    if (raw.isRawJSON(member) || (isContainer(member) && reordered.has(member))) value[name] = member
    else restoreExact(value[name], member)
  }
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !raw.isRawJSON(value)

/** One token, after white space: a punctuation mark, a string, or a number or word. */
const token = /[ \t\n\r]*([{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^ \t\n\r{}[\],:"]+)/y

/** A JSON text without the white space between its tokens. */
export const withoutSpace = (text: string): string => text.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\n\r]+/g, "$1")

/** Parses a text that `JSON.parse` has accepted, so it checks no syntax. */
class Parser {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  value(first: string = this.next()): unknown {
    if (first === "{") return this.object()
    if (first === "[") return this.array()
    const value: unknown = JSON.parse(first)
    return JSON.stringify(value) === first ? value : raw.rawJSON(first)
  }

  private next(): string {
    token.lastIndex = this.at
    const found = token.exec(this.text)?.[1] as string
    this.at = token.lastIndex
    return found
  }

  private array(): ReadonlyArray<unknown> {
    const items: Array<unknown> = []
    for (let first = this.next(); first !== "]"; first = this.next()) if (first !== ",") items.push(this.value(first))
    return items
  }

  private object(): object {
    const members: Record<string, unknown> = {}
    const names: Array<string> = []
    let isWhole = true
    for (let first = this.next(); first !== "}"; first = this.next()) {
      if (first === ",") continue
      const name = JSON.parse(first) as string
      this.next() // the colon
      const member = this.value()
      if (name === "__proto__" || Object.hasOwn(members, name)) isWhole = false
      if (name === "__proto__") continue
      if (!Object.hasOwn(members, name)) names.push(name)
      members[name] = member
    }
    const object = Object.keys(members).every((name, index) => name === names[index])
      ? members
      : inOrder(members, names)
    if (!isWhole) lossy.add(object)
    return object
  }
}

/**
 * An object that lists its names in their original order. JavaScript would put names that are whole numbers first, so a proxy
 * gives the order.
 */
const inOrder = (members: Record<string, unknown>, names: ReadonlyArray<string>): object => {
  const ordered = new Proxy(members, { ownKeys: () => names })
  reordered.add(ordered)
  return ordered
}
