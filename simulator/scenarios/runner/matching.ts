/**
 * Compares expected with found values. A map must have exactly its members, a list exactly its items in order; other values
 * must be equal. A matcher (`!any`, `!has`) has its own rule. Returns the first difference as a sentence.
 */
import { plural } from "../../../src/machines/shared/Text.ts"

/** The tags of matchers with their rules. */
export const matchers = {
  any: "present, and not null",
  absent: "not present",
  not: "any other value",
  has: "a list that has an item like this, or like each of these",
  size: "a list or text of this length",
  matches: "text that fits the regular expression",
  above: "a number or decimal text greater than this",
  below: "a number or decimal text less than this",
  unordered: "a list of these items in any order"
} as const
export type MatcherName = keyof typeof matchers

export class Matcher {
  readonly name: MatcherName
  readonly value: unknown

  constructor(name: MatcherName, value: unknown) {
    this.name = name
    this.value = value
  }
}

/** The first difference as a sentence without its full stop; null for none. `path` names the compared value. */
export const difference = (expected: unknown, found: unknown, path: string): string | null => {
  if (expected instanceof Matcher) return byMatcher(expected, found, path)
  if (Array.isArray(expected)) return ofLists(expected, found, path)
  if (isMap(expected)) return ofMaps(expected, found, path)
  return Object.is(expected, found) ? null : unlike(path, found, shown(expected))
}

const ofMaps = (expected: Readonly<Record<string, unknown>>, found: unknown, path: string): string | null => {
  if (!isMap(found)) return unlike(path, found, "a map")
  for (const [name, value] of Object.entries(expected)) {
    const its = difference(value, Object.hasOwn(found, name) ? found[name] : undefined, `${path}.${name}`)
    if (its !== null) return its
  }
  return null
}

const ofLists = (expected: ReadonlyArray<unknown>, found: unknown, path: string): string | null => {
  if (!Array.isArray(found)) return unlike(path, found, "a list")
  for (const [index, item] of expected.entries()) {
    const its = difference(item, found[index], `${path}.${index}`)
    if (its !== null) return its
  }
  return found.length === expected.length
    ? null
    : `${path} has ${plural(found.length, "item")}, expected ${expected.length}: ${shown(found)}`
}

const byMatcher = ({ name, value }: Matcher, found: unknown, path: string): string | null => {
  const unless = (holds: boolean, meaning: string) => (holds ? null : unlike(path, found, meaning))
  switch (name) {
    case "any":
      return unless(found !== undefined && found !== null, "something")
    case "absent":
      return unless(found === undefined, "nothing")
    case "not":
      return unless(difference(value, found, path) !== null, `anything but ${shown(value)}`)
    case "size":
      return unless(
        (Array.isArray(found) || typeof found === "string") && found.length === value,
        `size ${shown(value)}`
      )
    case "matches":
      return unless(
        typeof found === "string" && new RegExp(String(value), "u").test(found),
        `text like ${String(value)}`
      )
    case "above":
      return unless(compareDecimals(found, value) === 1, `more than ${shown(value)}`)
    case "below":
      return unless(compareDecimals(found, value) === -1, `less than ${shown(value)}`)
    case "has":
      return unless(hasAll(Array.isArray(value) ? value : [value], found), `a list with ${shown(value)}`)
    case "unordered":
      return unless(
        Array.isArray(value) &&
          Array.isArray(found) &&
          found.length === value.length &&
          hasEachBy(value, found, (each: unknown, item: unknown) => difference(each, item, "") === null),
        `${shown(value)} in any order`
      )
  }
}

const hasAll = (wanted: ReadonlyArray<unknown>, found: unknown): boolean =>
  Array.isArray(found) && wanted.every((each) => found.some((item) => difference(each, item, "") === null))

/** Whether each wanted item can be paired with a found item that it matches. A found item is paired at most once. */
export const hasEachBy = <A, B>(
  wanted: ReadonlyArray<A>,
  found: ReadonlyArray<B>,
  fits: (wanted: A, found: B) => boolean
): boolean => {
  if (wanted.length === 0) return true
  const [first, ...rest] = wanted
  return found.some((item, index) => fits(first as A, item) && hasEachBy(rest, found.toSpliced(index, 1), fits))
}

/** Compares two decimals of any length exactly: -1, 0 or 1; null if one of them is no number. */
export const compareDecimals = (left: unknown, right: unknown): -1 | 0 | 1 | null => {
  const [a, b] = [decimalOf(left), decimalOf(right)]
  if (a === null || b === null) return null
  const places = Math.max(a.places, b.places)
  const difference = a.units * 10n ** BigInt(places - a.places) - b.units * 10n ** BigInt(places - b.places)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

const decimalOf = (value: unknown): { readonly units: bigint; readonly places: number } | null => {
  if (typeof value !== "string" && typeof value !== "number") return null
  const match = /^(-?)([0-9]{1,40})(?:\.([0-9]{1,40}))?$/.exec(String(value))
  if (match === null) return null
  const [, sign = "", whole = "", fraction = ""] = match
  return { units: BigInt(`${sign}${whole}${fraction}`), places: fraction.length }
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Matcher)

const unlike = (path: string, found: unknown, expected: string): string =>
  `${path} is ${shown(found)}, expected ${expected}`

/** A value as text of a few lines at most. */
export const shown = (value: unknown): string => {
  const text = value === undefined ? "missing" : (JSON.stringify(value, matcherText) ?? String(value))
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}

const matcherText = (_: string, value: unknown): unknown =>
  value instanceof Matcher ? `!${value.name}${value.value === null ? "" : ` ${shown(value.value)}`}` : value
