/**
 * An index of names for searches with a minimum likeness. A search reads two groups. The group of all names finds those that
 * share at most the first character with the text. The group of names with the text's first two characters finds the others:
 * Winkler's bonus for the common beginning allows more differences between them (F26).
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
