/**
 * The letters of a text in 96 bits and one word: enough to refuse most pairs of names without reading them.
 * The inequality: a Jaro likeness of j between texts of a and b characters needs m paired equal characters with m/a + m/b >=
 * 3j - 1, so at least (3j - 1)ab/(a + b) characters in common. A Jaro-Winkler likeness of w with p common first characters
 * (at most 4) needs j >= (w - 0.1p)/(1 - 0.1p). A pattern never shows fewer common characters, nor a shorter common
 * beginning, than the texts have; so a refused pair can't reach w (F26).
 */
import { jaroNeeded, maxPrefix, pairsNeeded } from "./nameMatch.ts"

/**
 * The letters A-Z and the space have one kind each. All other characters share these 27 kinds, so that texts of other scripts
 * can differ too. Different characters of the same kind count as common: the count may be too high, never too low.
 */
export const kinds = 27
const kindOf = (code: number): number => (code >= 65 && code <= 90 ? code - 65 : code === 32 ? 26 : code % kinds)

/**
 * Letters with the number of their bits: the nth character of a kind sets the kind's nth bit, so the bits common to two
 * patterns are characters in common.
 */
const letterBits = "A7 E5 I5 N5 O5 R5 L4 S4 T4 H4 M4 U4 D3 K3 B3 C3 F3 G3 P3 V3 Y3 Z3 J2 W2 X2 Q1"
export const patternBits = 96
const mostRoom = 7
const room = new Uint8Array(kinds)
/** The bit of the nth character of a kind, by kind times `mostRoom` plus n. */
const bitOf = new Uint8Array(kinds * mostRoom)
let bitsUsed = 0
for (let nth = 0; nth < mostRoom; nth += 1) {
  for (const letter of [...letterBits.split(" "), " 3"]) {
    const kind = kindOf(letter.charCodeAt(0))
    room[kind] = Number(letter.slice(1))
    if (nth < Number(letter.slice(1))) bitOf[kind * mostRoom + nth] = bitsUsed++
  }
}

/** The longest text whose length fits into the eight bits for it. */
export const maxPatternLength = 255
/** The highest value of the four bits that count characters without a bit. It means this many or more. */
const manyExtra = 15

export interface NamePattern {
  readonly length: number
  /** The positions of the set bits among the 96, in the order of the text's characters. */
  readonly bits: ReadonlyArray<number>
  /** First four characters, five bits each from the top; length, eight bits; number of characters without a bit, four bits. */
  readonly head: number
}

const counts = new Uint16Array(kinds)

/** The pattern of a text of at least one character; a text longer than `maxPatternLength` can be a query only. */
export const patternOf = (text: string): NamePattern => {
  counts.fill(0)
  const bits: Array<number> = []
  let head = 0
  for (let i = 0; i < text.length; i += 1) {
    const kind = kindOf(text.charCodeAt(i))
    const before = counts[kind]!
    counts[kind] = before + 1
    if (i < maxPrefix) head |= (kind + 1) << (27 - 5 * i)
    if (before < room[kind]!) bits.push(bitOf[kind * mostRoom + before]!)
  }
  head |= (Math.min(text.length, maxPatternLength) << 4) | Math.min(text.length - bits.length, manyExtra)
  return { length: text.length, bits, head }
}

/** The kind of the first character of a text, from its head. */
export const firstKindOf = (head: number): number => (head >>> 27) - 1

/** A number for the first two characters: equal for texts with equal first two characters. */
export const beginningOf = (head: number): number => head >>> 22

const lengthIn = (head: number): number => (head >>> 4) & 255

/** The number of common first characters, by the highest bit in which two heads differ. */
const prefixByZeros = Uint8Array.from({ length: 33 }, (_, zeros) => Math.min(maxPrefix, Math.floor(zeros / 5)))

/** The number of common first characters of two texts, from their heads; it may be too high, never too low. */
export const prefixOf = (head: number, other: number): number => prefixByZeros[Math.clz32(head ^ other)]!

/** A number of characters that no text has; it means that no text of this length can match. */
const outOfReach = 0xffff

/** The number of characters that texts of two lengths must share to reach a Jaro likeness; `outOfReach` if they can't. */
const sharedNeeded = (jaroScore: number, a: number, b: number): number => {
  const shared = pairsNeeded(jaroScore, a, b)
  return shared > Math.min(a, b) ? outOfReach : shared
}

/** The requirement of one minimum likeness for a text of one length: how many of its characters another text may lack. */
export class Demand {
  readonly #length: number
  /**
   * The number of characters that the two texts must share, by length of the other text and length of their common
   * beginning.
   */
  readonly #shared = new Uint16Array((maxPatternLength + 1) * (maxPrefix + 1)).fill(outOfReach)
  /** The smallest number of `#shared` over all lengths of the other text, by length of the common beginning. */
  readonly #least = new Uint16Array(maxPrefix + 1).fill(outOfReach)

  constructor(likeness: number, length: number) {
    this.#length = length
    for (let prefix = 0; prefix <= maxPrefix; prefix += 1) {
      for (let other = 1; other <= maxPatternLength; other += 1) {
        const shared = sharedNeeded(jaroNeeded(likeness, prefix), length, other)
        this.#shared[other * (maxPrefix + 1) + prefix] = shared
        this.#least[prefix] = Math.min(this.#least[prefix]!, shared)
      }
    }
  }

  /**
   * How many of the query's characters a text of `other` characters may lack and still match, if its first `prefix` characters
   * are those of the query; negative when no such text can match.
   */
  mayLack(other: number, prefix: number): number {
    return this.#length - this.#shared[other * (maxPrefix + 1) + prefix]!
  }

  /** Like `mayLack`, for a text whose length is not known. */
  mayLackAnywhere(prefix: number): number {
    return this.#length - this.#least[prefix]!
  }
}

/** True if a text that lacks `lacking` bits of the query may still share enough characters with it. */
export const isMet = (demand: Demand, query: NamePattern, other: number, lacking: number): boolean => {
  const extra = other & manyExtra
  const mine = query.length - query.bits.length
  // Characters without a bit count as common, up to the smaller number of them in either text.
  const more = extra === manyExtra ? 0 : Math.max(0, mine - extra)
  return lacking + more <= demand.mayLack(lengthIn(other), prefixOf(query.head, other))
}

/** The minimum likeness of one search, with the requirement for each length of text. */
export class Floor {
  readonly likeness: number
  readonly #demands: Array<Demand | undefined> = []

  constructor(likeness: number) {
    // Below this likeness a text could match with no required character at all, so no pattern could refuse it.
    if (jaroNeeded(likeness, maxPrefix) <= 1 / 3) throw new RangeError("The likeness floor is too low to index.")
    this.likeness = likeness
  }

  /** The requirement for a query of that length. It is computed once for each length. */
  demand(length: number): Demand {
    if (length > maxPatternLength) return new Demand(this.likeness, length)
    return (this.#demands[length] ??= new Demand(this.likeness, length))
  }

  /** True if texts of these lengths can reach the likeness. */
  allows(length: number, other: number): boolean {
    return sharedNeeded(jaroNeeded(this.likeness, maxPrefix), length, other) !== outOfReach
  }
}
