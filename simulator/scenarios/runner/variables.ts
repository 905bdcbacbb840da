/**
 * Variables of a scenario file: `$name` is a saved value, `$now` and `$today` are business time with an offset (`$today+1d`),
 * `${prefix}` is a text unique to the run. `$$` is a dollar sign.
 */
import { Matcher } from "./matching.ts"

/** A variable that no step has saved. */
export class UnknownVariable extends Error {
  readonly variable: string

  constructor(variable: string) {
    super(`$${variable} is unknown: no earlier step saved it.`)
    this.variable = variable
  }
}

const spans: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Converts a duration in the schema's form to milliseconds. */
export const millisOf = (duration: string): number => {
  const [, count = "", unit = ""] = /^([0-9]+)(ms|[smhd])$/.exec(duration) ?? []
  return Number(count) * (spans[unit] ?? Number.NaN)
}

export class Variables {
  private readonly values = new Map<string, unknown>()
  private readonly tag: string
  /** Business time, Unix ms. */
  private readonly now: () => number

  /** `tag`: a text that is unique to the run, for `${prefix}`. */
  constructor(tag: string, now: () => number) {
    this.tag = tag
    this.now = now
  }

  set(name: string, value: unknown): void {
    this.values.set(name, value)
  }

  has(name: string): boolean {
    return this.values.has(name)
  }

  /** Throws UnknownVariable. `$item.itemId` is a variable of that name, or a member of `$item`. */
  get(name: string): unknown {
    if (this.values.has(name)) return this.values.get(name)
    const parts = name.split(".")
    for (let length = parts.length - 1; length > 0; length--) {
      const head = parts.slice(0, length).join(".")
      const found = this.values.has(head) ? memberAt(this.values.get(head), parts.slice(length)) : undefined
      if (found !== undefined) return found
    }
    throw new UnknownVariable(name)
  }

  /** A variable alone keeps its type; inside a text it is inserted as text. Matchers and maps are filled recursively. */
  fill(value: unknown): unknown {
    if (typeof value === "string") return this.fillText(value)
    if (value instanceof Matcher) return new Matcher(value.name, this.fill(value.value))
    if (Array.isArray(value)) return value.map((item) => this.fill(item))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [this.textOf(name), this.fill(item)]))
  }

  textOf(text: string): string {
    return text.replaceAll(reference, (whole, ...groups: ReadonlyArray<string | undefined>) =>
      String(this.valueOf(whole, groups))
    )
  }

  private fillText(text: string): unknown {
    const [match] = text.matchAll(reference)
    return match !== undefined && match[0] === text ? this.valueOf(text, match.slice(1)) : this.textOf(text)
  }

  private valueOf(whole: string, [prefix, time, offset, name]: ReadonlyArray<string | undefined>): unknown {
    if (whole === "$$") return "$"
    if (prefix !== undefined) return `${prefix}-${this.tag}`
    if (time === undefined) return this.get(name ?? "")
    const at = this.now() + (offset === undefined ? 0 : signed(offset))
    return time === "now" ? at : new Date(at).toISOString().slice(0, 10)
  }
}

const signed = (offset: string): number => (offset.startsWith("-") ? -1 : 1) * millisOf(offset.slice(1))

const reference =
  /\$\$|\$\{([a-z][a-zA-Z0-9-]{0,30})\}|\$(now|today)(?![a-zA-Z0-9.])([+-][0-9]{1,9}(?:ms|[smhd]))?|\$([a-zA-Z][a-zA-Z0-9]*(?:\.[a-zA-Z0-9]+)*)/g

/** Names of the variables in a text that a step has to set: `$anna.clientUid` without the dollar sign. */
export const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(reference)].flatMap(([, , , , name]) => name ?? [])

/** The member at a path of names and indexes; undefined if absent. */
export const memberAt = (value: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (at, name) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, name)
        ? (at as Readonly<Record<string, unknown>>)[name]
        : undefined,
    value
  )
