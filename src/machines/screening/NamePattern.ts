/**
 * What a text is made of, in five 32-bit words: enough to refuse most pairs of names without reading either.
 *
 * The inequality: a Jaro likeness of j between texts of a and b characters needs m paired equal characters with
 * m/a + m/b >= 3j - 1, so at least (3j - 1)ab/(a + b) characters in common; and a Jaro-Winkler likeness of w with p
 * common first characters (at most 4) needs j >= (w - 0.1p)/(1 - 0.1p). A pattern never tells fewer characters in common
 * and never a shorter common beginning than there are, so what it refuses cannot reach w. Source: F26.
 */
import { jaroNeeded, maxPrefix } from "./nameMatch.ts"

/**
 * Letters A-Z and the space have a kind each; all other characters share these 27, so that other scripts are told apart
 * too. Characters of one kind that differ count as common: too many, never too few.
 */
const kinds = 27
export const kindOf = (code: number): number => (code >= 65 && code <= 90 ? code - 65 : code === 32 ? 26 : code % kinds)

/**
 * Letters with their bits: n characters of a kind are written as n ones, so the ones common to two patterns count common
 * characters. Together 96, with three for the space. The first word has the first of every letter and the second of the
 * five commonest: what one text has there and the other lacks refuses most pairs before the rest is read.
 */
const letterBits = "A7 E5 I5 N5 O5 R5 L4 S4 T4 H4 M4 U4 D3 K3 B3 C3 F3 G3 P3 V3 Y3 Z3 J2 W2 X2 Q1"
const wordBits = 32
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

/** Longest text that fits in the eight bits of its length. */
export const maxPatternLength = 255
/** Characters beyond the room of their kinds; this many stands for any number. */
const manyExtra = 15

export interface NamePattern {
  readonly text: string
  /** Characters by kind. */
  readonly counts: Uint16Array
  /** First four characters, five bits each from the top; length, eight bits; characters without room, four bits. */
  readonly head: number
  readonly low: number
  readonly middle: number
  readonly high: number
}

/** The pattern of a text of at most `maxPatternLength` characters; of a longer one only the counts mean something. */
export const patternOf = (text: string): NamePattern => {
  const counts = new Uint16Array(kinds)
  const words = [0, 0, 0]
  let extra = 0
  let head = 0
  for (let i = 0; i < text.length; i += 1) {
    const kind = kindOf(text.charCodeAt(i))
    const before = counts[kind] ?? 0
    counts[kind] = before + 1
    if (i < maxPrefix) head |= (kind + 1) << (27 - 5 * i)
    if (before >= (room[kind] ?? 0)) extra += 1
    else {
      const bit = bitOf[kind * mostRoom + before] ?? 0
      words[bit >>> 5] = (words[bit >>> 5] ?? 0) | (1 << (bit & 31))
    }
  }
  head |= (Math.min(text.length, maxPatternLength) << 4) | Math.min(extra, manyExtra)
  const [low = 0, middle = 0, high = 0] = words
  return { text, counts, head, low, middle, high }
}

/** The first two characters: equal when those of the texts are. */
export const beginningOf = ({ head }: NamePattern): number => head >>> 22

/** Common first characters by the highest bit in which two heads differ. */
const prefixByZeros = Uint8Array.from({ length: 33 }, (_, zeros) => Math.min(maxPrefix, Math.floor(zeros / 5)))

const ones = (word: number): number => {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Ones of `once` and twice the ones of `twice`, counted together: neither alone fills its four bits in between. */
const weightedOnes = (once: number, twice: number): number => {
  const pairs = once - ((once >>> 1) & 0x55555555)
  const doubled = twice - ((twice >>> 1) & 0x55555555)
  const fours =
    (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333) + 2 * ((doubled & 0x33333333) + ((doubled >>> 2) & 0x33333333))
  return Math.imul((fours & 0x0f0f0f0f) + ((fours >>> 4) & 0x0f0f0f0f), 0x01010101) >>> 24
}

/** Absorbs the rounding of the bounds; the scores themselves are never rounded. */
const slack = 1e-9

/** Stands for more characters than any text has. */
const outOfReach = 0xffff

/** Characters two texts must share for a Jaro likeness. */
const sharedNeeded = (jaroScore: number, a: number, b: number): number => {
  const shared = Math.max(1, Math.ceil(((3 * jaroScore - 1) * a * b) / (a + b) - slack))
  return shared > Math.min(a, b) ? outOfReach : shared
}

/** One least likeness of names, with what it demands of pairs of patterns. */
export class Floor {
  readonly #likeness: number
  /** By length of the text asked for. */
  readonly #demands: Array<Uint16Array | undefined> = []

  constructor(likeness: number) {
    // Below this a text could match with none of its characters required, and no pattern would prove anything.
    if (jaroNeeded(likeness, maxPrefix) <= 1 / 3) throw new RangeError("The likeness floor is too low to index.")
    this.#likeness = likeness
  }

  /** Characters to share, by length of the other text times five plus length of the common beginning. */
  demand(length: number): Uint16Array {
    const known = this.#demands[length]
    if (known !== undefined) return known
    const demand = new Uint16Array((maxPatternLength + 1) * (maxPrefix + 1)).fill(outOfReach)
    for (let other = 1; other <= maxPatternLength; other += 1)
      for (let prefix = 0; prefix <= maxPrefix; prefix += 1)
        demand[other * (maxPrefix + 1) + prefix] = sharedNeeded(jaroNeeded(this.#likeness, prefix), length, other)
    if (length <= maxPatternLength) this.#demands[length] = demand
    return demand
  }

  /** True when texts of these lengths can reach the likeness at all. */
  allows(length: number, other: number): boolean {
    return sharedNeeded(jaroNeeded(this.#likeness, maxPrefix), length, other) !== outOfReach
  }
}

/** Words of a row: slot, head, low, middle, high. */
export const rowWords = 5

export const writeRow = (rows: Uint32Array, at: number, slot: number, pattern: NamePattern): void => {
  rows[at] = slot
  rows[at + 1] = pattern.head
  rows[at + 2] = pattern.low
  rows[at + 3] = pattern.middle
  rows[at + 4] = pattern.high
}

/** How often the row's text has characters of a kind; only told up to the kind's room. */
export const countInRow = (rows: Uint32Array, at: number, kind: number): number => {
  let count = 0
  for (let nth = 0; nth < (room[kind] ?? 0); nth += 1) {
    const bit = bitOf[kind * mostRoom + nth] ?? 0
    count += ((rows[at + 2 + Math.floor(bit / wordBits)] ?? 0) >>> (bit % wordBits)) & 1
  }
  return count
}

export const lengthInRow = (rows: Uint32Array, at: number): number => ((rows[at + 1] ?? 0) >>> 4) & 255

/**
 * Passes on the slots of all rows from word `start` to `end` whose texts may share what `demand` asks for and lack at most
 * `most` characters of the asked one.
 */
export const judgeRows = (
  rows: Uint32Array,
  start: number,
  end: number,
  asked: NamePattern,
  demand: Uint16Array,
  most: number,
  pass: (slot: number) => void
): void => {
  const { text, head, low, middle, high } = asked
  const extra = head & 15
  for (let at = start; at < end; at += rowWords) {
    // Characters that the other text lacks for certain: most rows are done with here.
    const lacking = ones(low & ~rows[at + 2]!)
    if (lacking > most) continue
    const other = rows[at + 1]!
    const needed = demand[((other >>> 4) & 255) * (maxPrefix + 1) + prefixByZeros[Math.clz32(other ^ head)]!]!
    if (lacking > text.length - needed) continue
    const x = rows[at + 2]! & low
    const y = rows[at + 3]! & middle
    const z = rows[at + 4]! & high
    const odd = x ^ y
    // Added up bit by bit before they are counted.
    const shared = weightedOnes(odd ^ z, (x & y) | (odd & z))
    const both = Math.min(extra, other & 15)
    if (shared + both >= needed || (both === manyExtra && needed !== outOfReach)) pass(rows[at]!)
  }
}
