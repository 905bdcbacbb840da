/**
 * Names to be found by one least likeness out of a long list: three trees with a third of the letters each for texts
 * that have at most one first character in common with the asked one, and a tree for each two first characters, since
 * Winkler's bonus lets the rest of such names differ more. Source: F26.
 */
import { maxPrefix } from "./nameMatch.ts"
import { beginningOf, type NamePattern } from "./NamePattern.ts"
import { NameTrie, type Search, sharesOf } from "./NameTrie.ts"
import type { RowPool } from "./RowPool.ts"

const shares = sharesOf(3)

export class NameIndex {
  readonly #pool: RowPool
  readonly #byLetters: ReadonlyArray<NameTrie>
  readonly #byBeginning = new Map<number, NameTrie>()

  constructor(pool: RowPool) {
    this.#pool = pool
    this.#byLetters = shares.map((share) => new NameTrie(pool, share))
  }

  add(pattern: NamePattern, slot: number): void {
    for (const trie of this.#triesOf(pattern)) trie.add(pattern, slot)
  }

  remove(pattern: NamePattern, slot: number): void {
    for (const trie of this.#triesOf(pattern)) trie.remove(pattern, slot)
  }

  /** Passes on every slot whose text may meet the demand, possibly more than once, and some that do not. */
  visit(search: Search): void {
    for (const trie of this.#byLetters) trie.visit(search, 1)
    this.#byBeginning.get(beginningOf(search.asked))?.visit(search, maxPrefix)
  }

  #triesOf(pattern: NamePattern): ReadonlyArray<NameTrie> {
    return [...this.#byLetters, getOrMake(this.#byBeginning, beginningOf(pattern), () => new NameTrie(this.#pool))]
  }
}

export const getOrMake = <Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value => {
  const known = map.get(key)
  if (known !== undefined) return known
  const fresh = make()
  map.set(key, fresh)
  return fresh
}
