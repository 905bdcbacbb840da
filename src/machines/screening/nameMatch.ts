/**
 * Names as comparable text and the Jaro-Winkler likeness of two of them.
 * Floating point is fine here: a likeness is no money, and every place that compares it uses the same function.
 * Source: F26; Winkler (1990), the golden cases SCR-001 to SCR-003.
 */
import { nameTitles, transliterate } from "./Transliteration.ts"

const prefixWeight = 0.1

/** Characters at the front that may earn Winkler's bonus. */
export const maxPrefix = 4

/** Length of the common beginning of two texts, at most `maxPrefix`. */
export const commonPrefix = (a: string, b: string): number => {
  const limit = Math.min(maxPrefix, a.length, b.length)
  let length = 0
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length += 1
  return length
}

/** The Jaro likeness needed for a given Jaro-Winkler likeness when `prefix` characters are common at the front. */
export const jaroNeeded = (jaroWinklerScore: number, prefix: number): number =>
  (jaroWinklerScore - prefixWeight * prefix) / (1 - prefixWeight * prefix)

/** Marks of the characters paired so far, used again for every pair of texts. */
let markedA = new Uint8Array(256)
let markedB = new Uint8Array(256)

const clearMarks = (a: number, b: number): void => {
  if (Math.max(a, b) > markedA.length) {
    markedA = new Uint8Array(2 * Math.max(a, b))
    markedB = new Uint8Array(2 * Math.max(a, b))
    return
  }
  markedA.fill(0, 0, a)
  markedB.fill(0, 0, b)
}

/** Pairs each character of a with the first free equal one of b not farther away than half the longer text. */
const pairUp = (a: string, b: string): number => {
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)
  clearMarks(a.length, b.length)
  let count = 0
  for (let i = 0; i < a.length; i += 1) {
    const code = a.charCodeAt(i)
    const end = Math.min(b.length, i + reach + 1)
    for (let j = Math.max(0, i - reach); j < end; j += 1) {
      if (b.charCodeAt(j) !== code || markedB[j] === 1) continue
      markedA[i] = 1
      markedB[j] = 1
      count += 1
      break
    }
  }
  return count
}

/** Jaro likeness, 0 to 1. An empty text is like nothing. Source: F26. */
export const jaro = (a: string, b: string): number => {
  if (a.length === 0 || b.length === 0) return 0
  if (a === b) return 1
  const count = pairUp(a, b)
  if (count === 0) return 0
  let outOfOrder = 0
  let j = 0
  for (let i = 0; i < a.length; i += 1) {
    if (markedA[i] === 0) continue
    while (markedB[j] === 0) j += 1
    if (a.charCodeAt(i) !== b.charCodeAt(j)) outOfOrder += 1
    j += 1
  }
  return (count / a.length + count / b.length + (count - outOfOrder / 2) / count) / 3
}

/** Jaro-Winkler likeness, 0 to 1: weight 0.1 for each of at most four common first characters. Source: F26. */
export const jaroWinkler = (a: string, b: string): number => {
  const plain = jaro(a, b)
  return plain + prefixWeight * commonPrefix(a, b) * (1 - plain)
}

/**
 * The words of a name: transliterated, upper case, without punctuation and titles. Apostrophes join (O'Brian is
 * OBRIAN), all other punctuation separates. A name made of titles alone keeps them: somebody may be called Master.
 * Source: F26.
 */
export const nameTokens = (name: string): ReadonlyArray<string> => {
  const words = transliterate(name.replace(/['’‘ʼʻ`´′]/g, ""))
    .replace(/\bPH\.? ?D\b/g, "PHD")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 0)
  const names = words.filter((word) => !nameTitles.has(word))
  return names.length > 0 ? names : words
}

const sorted = (tokens: ReadonlyArray<string>): string => tokens.toSorted().join(" ")

/**
 * The two texts of one name that are compared: all its words, and surname with first name alone, words sorted in both.
 */
export interface NameForms {
  readonly full: string
  readonly short: string
}

/** Forms of a client's name, whose parts are known. Source: F26. */
export const personForms = (firstName: string, middleName: string | null, lastName: string): NameForms => {
  const first = nameTokens(firstName)
  const last = nameTokens(lastName)
  return { full: sorted([...first, ...nameTokens(middleName ?? ""), ...last]), short: sorted([...last, ...first]) }
}

/**
 * Forms of a listed name. "SURNAME, First Middle" shows which word is which; without a comma nothing does, and the
 * short form is the whole name, so that the order of its words never matters. Source: F26.
 */
export const listedForms = (name: string): NameForms => {
  const full = sorted(nameTokens(name))
  const comma = name.indexOf(",")
  if (comma < 0) return { full, short: full }
  const surname = nameTokens(name.slice(0, comma))
  const first = nameTokens(name.slice(comma + 1))[0]
  return { full, short: first === undefined || surname.length === 0 ? full : sorted([...surname, first]) }
}

/** nameScore of F26: the better of the full names and of surname with first name, 0 to 1. */
export const nameScore = (person: NameForms, listed: NameForms): number => {
  const full = jaroWinkler(person.full, listed.full)
  if (person.short === person.full && listed.short === listed.full) return full
  return Math.max(full, jaroWinkler(person.short, listed.short))
}
