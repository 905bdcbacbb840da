/**
 * Finds names with one minimum likeness. One group has all names, for texts that share at most one first character. Each pair
 * of first characters has another group, because Winkler's bonus allows more differences between such names (F26).
 */
import { NameGroup } from "./NameGroup.ts"
import { beginningOf, type NamePattern } from "./NamePattern.ts"
import type { NameSheets, Search } from "./NameSheets.ts"

export class NameIndex {
  readonly #sheets: NameSheets
  readonly #all: NameGroup
  readonly #byBeginning = new Map<number, NameGroup>()

  constructor(sheets: NameSheets) {
    this.#sheets = sheets
    this.#all = new NameGroup(sheets)
  }

  add(name: number, pattern: NamePattern): void {
    this.#all.add(name, pattern)
    this.#beginning(pattern).add(name, pattern)
  }

  remove(name: number, pattern: NamePattern): void {
    this.#all.remove(name, pattern)
    this.#beginning(pattern).remove(name, pattern)
  }

  /** Finds every name that may meet the demand, and possibly some that do not. */
  search(search: Search): void {
    this.#all.search(search, 1)
    this.#byBeginning.get(beginningOf(search.query.head))?.search(search)
  }

  #beginning({ head }: NamePattern): NameGroup {
    return getOrMake(this.#byBeginning, beginningOf(head), () => new NameGroup(this.#sheets))
  }
}

export const getOrMake = <Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value => {
  const known = map.get(key)
  if (known !== undefined) return known
  const fresh = make()
  map.set(key, fresh)
  return fresh
}
