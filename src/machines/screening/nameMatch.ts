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

/** How many characters are paired, and how many of the pairs stand in another order. */
interface Pairs {
  count: number
  outOfOrder: number
}

const pairs: Pairs = { count: 0, outOfOrder: 0 }

/** How far a character may be from its partner. */
const reachOf = (a: string, b: string): number => Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)

/** Longest text whose places fit in the bits of one number, and codes that have a set of places. */
const shortText = 31
const shortCodes = 128
/** Places of each code in b; empty between two pairs of texts. */
const placesOf = new Int32Array(shortCodes)

const fitsBits = (text: string): boolean => {
  if (text.length > shortText) return false
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) >= shortCodes) return false
  return true
}

/** `pairUp` for two short texts of plain letters, with sets of places as bits: the first free place is the lowest bit. */
const pairUpShort = (a: string, b: string): Pairs => {
  const reach = reachOf(a, b)
  for (let j = 0; j < b.length; j += 1) placesOf[b.charCodeAt(j)]! |= 1 << j
  let pairedA = 0
  let pairedB = 0
  for (let i = 0; i < a.length; i += 1) {
    // Places from i - reach to i + reach that are not taken.
    const near = (i + reach >= shortText ? -1 : (2 << (i + reach)) - 1) & (i > reach ? -1 << (i - reach) : -1)
    const free = placesOf[a.charCodeAt(i)]! & near & ~pairedB
    if (free === 0) continue
    pairedA |= 1 << i
    pairedB |= free & -free
  }
  for (let j = 0; j < b.length; j += 1) placesOf[b.charCodeAt(j)] = 0
  pairs.count = 0
  pairs.outOfOrder = 0
  for (; pairedA !== 0; pairedA &= pairedA - 1, pairedB &= pairedB - 1) {
    pairs.count += 1
    const [i, j] = [31 - Math.clz32(pairedA & -pairedA), 31 - Math.clz32(pairedB & -pairedB)]
    if (a.charCodeAt(i) !== b.charCodeAt(j)) pairs.outOfOrder += 1
  }
  return pairs
}

/** Pairs each character of a with the first free equal one of b not farther away than half the longer text. */
const pairUp = (a: string, b: string): Pairs => {
  const reach = reachOf(a, b)
  const takenB = new Uint8Array(b.length)
  const paired: Array<number> = []
  for (let i = 0; i < a.length; i += 1) {
    const code = a.charCodeAt(i)
    const end = Math.min(b.length, i + reach + 1)
    for (let j = Math.max(0, i - reach); j < end; j += 1) {
      if (b.charCodeAt(j) !== code || takenB[j] === 1) continue
      takenB[j] = 1
      paired.push(code)
      break
    }
  }
  pairs.count = paired.length
  pairs.outOfOrder = 0
  let next = 0
  for (let j = 0; j < b.length; j += 1) {
    if (takenB[j] === 0) continue
    if (b.charCodeAt(j) !== paired[next]) pairs.outOfOrder += 1
    next += 1
  }
  return pairs
}

/** Jaro likeness, 0 to 1. An empty text is like nothing. Source: F26. */
export const jaro = (a: string, b: string): number => {
  if (a.length === 0 || b.length === 0) return 0
  if (a === b) return 1
  const { count, outOfOrder } = fitsBits(a) && fitsBits(b) ? pairUpShort(a, b) : pairUp(a, b)
  if (count === 0) return 0
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
