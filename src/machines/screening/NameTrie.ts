/**
 * Patterns of names in a tree: by length first, then, if it has letters, by how often each occurs, one a level. With m
 * characters to share, at most a - m characters of the asked text and b - m of the other may stay unpaired: a search
 * goes down only while the letters that one has more of than the other fit in. So the part of the tree that is seen
 * grows far slower than the list. Entries come and go one by one; nothing is ever rebuilt. Source: F26.
 */
import { maxPrefix } from "./nameMatch.ts"
import { countInRow, judgeRows, kindOf, lengthInRow, type NamePattern, rowWords } from "./NamePattern.ts"
import { mostChildren, type RowPool } from "./RowPool.ts"

/** A letter (its number among the kinds of NamePattern) and the count from which on a level tells no more apart. */
interface Level {
  readonly kind: number
  readonly most: number
}

const levelsOf = (letters: string, most: number): ReadonlyArray<Level> =>
  [...letters].map((letter) => ({ kind: kindOf(letter.charCodeAt(0)), most }))

/**
 * The letters whose counts differ most from name to name come first; the order only matters for speed. No level tells
 * more apart than a pattern has room for.
 */
const allLevels: ReadonlyArray<Level> = [
  ...levelsOf("AEINOR", mostChildren - 1),
  ...levelsOf(" LSTHMUKD", 3),
  ...levelsOf("VCBGYZPFJWX", 2)
]

/** Rows of a leaf before it divides. */
const leafRows = 32

/** A question to the trees. */
export interface Search {
  readonly asked: NamePattern
  /** Characters to share; see Floor. */
  readonly demand: Uint16Array
  readonly pass: (slot: number) => void
  /** Characters of the asked text that the texts being looked at may lack. */
  most: number
  /** Rows looked at, for whoever measures. */
  seen: number
}

/**
 * Which share of the letters a tree has, out of how many. When all letters together may differ by d characters, they
 * cannot differ by more than b1 in the first share and by more than b2 in the second and so on if the b + 1 add up to
 * d + 1. So each tree is asked for few differences only, and together they miss nothing.
 */
export interface Share {
  readonly number: number
  readonly of: number
  readonly levels: ReadonlyArray<Level>
}

export const sharesOf = (of: number): ReadonlyArray<Share> =>
  Array.from({ length: of }, (_, number) => ({
    number,
    of,
    levels: allLevels.filter((_level, i) => i % of === number)
  }))

/** No letters at all: texts by length alone, for those that are few or of whom much may differ. */
const byLengthAlone: Share = { number: 0, of: 1, levels: [] }

const differencesIn = ({ number, of }: Share, all: number): number =>
  Math.floor((all + 1) / of) + (number < (all + 1) % of ? 1 : 0) - 1

/** Texts of at most `maxPatternLength` characters, each with the slot of its entry. */
export class NameTrie {
  readonly #pool: RowPool
  readonly #share: Share
  /** The only leaf while there are few texts, then by length. */
  #root: number
  #byLength: Array<number> | null = null

  constructor(pool: RowPool, share: Share = byLengthAlone) {
    this.#pool = pool
    this.#share = share
    this.#root = pool.leaf()
  }

  add(pattern: NamePattern, slot: number): void {
    if (this.#byLength === null && this.#pool.rowsOf(this.#root) >= leafRows) this.#divideByLength()
    const [leaf, depth] = this.#leafOf(pattern)
    const level = this.#share.levels[depth]
    if (this.#pool.rowsOf(leaf) < leafRows || level === undefined || this.#byLength === null) {
      this.#pool.put(leaf, slot, pattern)
      return
    }
    this.#pool.divide(leaf, (rows, at) => Math.min(countInRow(rows, at, level.kind), level.most))
    this.add(pattern, slot)
  }

  remove(pattern: NamePattern, slot: number): void {
    this.#pool.remove(this.#leafOf(pattern)[0], slot)
  }

  /**
   * Passes on every slot whose text may meet the demand and has at most `prefix` first characters in common with the
   * asked one, with some that do not and some that have more in common.
   */
  visit(search: Search, prefix: number = maxPrefix): void {
    if (this.#byLength === null) {
      search.most = search.asked.text.length
      judge(this.#pool, this.#root, search)
      return
    }
    const length = search.asked.text.length
    for (const [other, node] of this.#byLength.entries()) {
      const shared = search.demand[other * (maxPrefix + 1) + prefix]!
      if (node === 0 || shared > other) continue
      const some = differencesIn(this.#share, length + other - 2 * shared)
      search.most = length - shared
      if (some >= 0) descend(this.#pool, this.#share.levels, node, 0, search, length - shared, other - shared, some)
    }
  }

  /** The leaf of a text and the number of levels above it. */
  #leafOf({ text, counts }: NamePattern): readonly [leaf: number, depth: number] {
    let node = this.#byLength === null ? this.#root : this.#at(this.#byLength, text.length)
    let depth = 0
    for (; !this.#pool.isLeaf(node); depth += 1) {
      const { kind, most } = this.#share.levels[depth]!
      node = this.#pool.child(node, Math.min(counts[kind]!, most))
    }
    return [node, depth]
  }

  #at(byLength: Array<number>, length: number): number {
    while (byLength.length <= length) byLength.push(0)
    return (byLength[length] ||= this.#pool.leaf())
  }

  #divideByLength(): void {
    const byLength: Array<number> = []
    const rows = this.#pool.chunkOf(this.#root)
    const start = this.#pool.startOf(this.#root)
    const end = start + this.#pool.rowsOf(this.#root) * rowWords
    for (let at = start; at < end; at += rowWords)
      this.#pool.copyRow(this.#at(byLength, lengthInRow(rows, at)), rows, at)
    this.#pool.drop(this.#root)
    this.#byLength = byLength
  }
}

const judge = (pool: RowPool, leaf: number, search: Search): void => {
  const start = pool.startOf(leaf)
  const count = pool.rowsOf(leaf)
  search.seen += count
  judgeRows(pool.chunkOf(leaf), start, start + count * rowWords, search.asked, search.demand, search.most, search.pass)
}

/** `mine` and `theirs`: characters that may still stay unpaired on either side, `some` on both together. */
const descend = (
  pool: RowPool,
  levels: ReadonlyArray<Level>,
  node: number,
  depth: number,
  search: Search,
  mine: number,
  theirs: number,
  some: number
): void => {
  if (pool.isLeaf(node)) {
    judge(pool, node, search)
    return
  }
  const { kind, most } = levels[depth]!
  const count = search.asked.counts[kind]!
  const last = Math.min(most, count + Math.min(theirs, some))
  for (let other = Math.min(most, Math.max(0, count - Math.min(mine, some))); other <= last; other += 1) {
    const child = pool.childAt(node, other)
    if (child === 0) continue
    // At `most` the other may have any number from there on.
    const more = other === most ? 0 : Math.max(0, count - other)
    const less = Math.max(0, other - count)
    descend(pool, levels, child, depth + 1, search, mine - more, theirs - less, some - more - less)
  }
}
