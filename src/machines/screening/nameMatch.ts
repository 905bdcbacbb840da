/**
 * The Jaro-Winkler likeness of two texts. Floating point is exact enough: a likeness is not money, and every comparison uses
 * the same function. Source: F26; Winkler (1990), the golden cases SCR-001..SCR-003.
 */
const prefixWeight = 0.1

/** The number of first characters that may earn Winkler's bonus. */
export const maxPrefix = 4

/** Absorbs the rounding of bounds; the scores themselves are never rounded. */
const slack = 1e-9

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

/** The number of paired characters, and the number of pairs that are out of order. */
interface Pairs {
  count: number
  outOfOrder: number
}

const pairs: Pairs = { count: 0, outOfOrder: 0 }

/** The largest distance at which two equal characters still count as a pair. */
const reachOf = (a: string, b: string): number => Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)

/** Positions are bits of 32-bit words; each plain character has room for `longestPlaced` positions. */
const wordBits = 32
const placeWords = 8
const longestPlaced = placeWords * wordBits
const placedCodes = 128
/**
 * Work memory: positions of each code in b, taken positions of b, and paired codes of a. It is cleared after each pair of
 * texts.
 */
const placesOf = new Int32Array(placedCodes * placeWords)
const takenOf = new Int32Array(placeWords)
const pairedOf = new Uint8Array(longestPlaced)

const clearPlaces = (b: string, length: number): void => {
  for (let j = 0; j < length; j += 1) placesOf[b.charCodeAt(j) * placeWords + (j >>> 5)] = 0
}

/** Records the positions of each character of b. Returns false, with no position recorded, when the memory is too small. */
const notePlaces = (b: string): boolean => {
  if (b.length > longestPlaced) return false
  for (let j = 0; j < b.length; j += 1) {
    const code = b.charCodeAt(j)
    if (code >= placedCodes) {
      clearPlaces(b, j)
      return false
    }
    placesOf[code * placeWords + (j >>> 5)]! |= 1 << j
  }
  return true
}

/** Takes the first free position of a character in b between two positions; false when there is none. */
const takePlace = (code: number, from: number, to: number): boolean => {
  const last = to >>> 5
  for (let word = from >>> 5; word <= last; word += 1) {
    const near = (word === from >>> 5 ? -1 << from : -1) & (word === last ? (2 << to) - 1 : -1)
    const free = placesOf[code * placeWords + word]! & near & ~takenOf[word]!
    if (free !== 0) {
      takenOf[word]! |= free & -free
      return true
    }
  }
  return false
}

/** Counts the paired characters of a and b that differ in order, and frees the positions. */
const countOutOfOrder = (b: string): number => {
  let outOfOrder = 0
  let next = 0
  for (let word = 0; word * wordBits < b.length; word += 1) {
    for (let taken = takenOf[word]!; taken !== 0; taken &= taken - 1) {
      const place = word * wordBits + 31 - Math.clz32(taken & -taken)
      if (b.charCodeAt(place) !== pairedOf[next]) outOfOrder += 1
      next += 1
    }
    takenOf[word] = 0
  }
  return outOfOrder
}

/**
 * Pairs each character of a with the first free equal character of b within half the longer text. Returns no pairs as soon as
 * fewer than `least` are possible.
 */
const pairUp = (a: string, b: string, least: number): Pairs => {
  if (a.length > longestPlaced || !notePlaces(b)) return pairUpAny(a, b)
  const reach = reachOf(a, b)
  const mostUnpaired = a.length - least
  let count = 0
  for (let i = 0; i < a.length && i - count <= mostUnpaired; i += 1) {
    const code = a.charCodeAt(i)
    if (code >= placedCodes || !takePlace(code, Math.max(0, i - reach), Math.min(b.length - 1, i + reach))) continue
    pairedOf[count] = code
    count += 1
  }
  clearPlaces(b, b.length)
  pairs.outOfOrder = countOutOfOrder(b)
  pairs.count = count < least ? 0 : count
  return pairs
}

/** `pairUp` for texts of any characters and length. */
const pairUpAny = (a: string, b: string): Pairs => {
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

/** Jaro likeness, 0 to 1. An empty text has likeness 0 with any text. */
export const jaro = (a: string, b: string): number => jaroOrLess(a, b, 0)

/** The Jaro likeness, or 0 when fewer than `least` characters pair. */
const jaroOrLess = (a: string, b: string, least: number): number => {
  if (a.length === 0 || b.length === 0) return 0
  if (a === b) return 1
  const { count, outOfOrder } = pairUp(a, b, least)
  if (count === 0) return 0
  return (count / a.length + count / b.length + (count - outOfOrder / 2) / count) / 3
}

const withPrefix = (plain: number, prefix: number): number => plain + prefixWeight * prefix * (1 - plain)

/** Jaro-Winkler likeness, 0 to 1: weight 0.1 for each of at most four common first characters. */
export const jaroWinkler = (a: string, b: string): number => withPrefix(jaro(a, b), commonPrefix(a, b))

/** The number of characters that must pair for a Jaro likeness; which of them pair does not matter. */
export const pairsNeeded = (jaroScore: number, a: number, b: number): number =>
  Math.max(1, Math.ceil(((3 * jaroScore - 1) * a * b) / (a + b) - slack))

/** Whether two texts reach `likeness`, without computing their exact likeness. */
export const isAlike = (a: string, b: string, likeness: number): boolean => {
  const prefix = commonPrefix(a, b)
  const least = pairsNeeded(jaroNeeded(likeness, prefix), a.length, b.length)
  return withPrefix(jaroOrLess(a, b, least), prefix) >= likeness - slack
}
