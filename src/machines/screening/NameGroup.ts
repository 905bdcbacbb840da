/**
 * A group of names to search: unindexed while they are few, then in one sheet, then in one sheet per length. A search reads
 * only the lengths that can match (F26).
 */
import { maxPrefix } from "./nameMatch.ts"
import type { NamePattern } from "./NamePattern.ts"
import type { NameSheets, Search, Sheet } from "./NameSheets.ts"

/** Up to this many names are all candidates, without an index. */
const fewNames = 32
/**
 * From this many names on, one sheet per length is faster; below it, the overhead of each sheet is larger than the reading it
 * saves.
 */
const manyNames = 1_024

/** A set of names with 1 to `maxPatternLength` characters each, searched together. */
export class NameGroup {
  readonly #sheets: NameSheets
  #few: Array<number> | null = []
  #all: Sheet | null = null
  readonly #byLength: Array<Sheet | undefined> = []

  constructor(sheets: NameSheets) {
    this.#sheets = sheets
  }

  add(name: number, pattern: NamePattern): void {
    if (this.#few !== null && this.#few.length >= fewNames) {
      this.#all = this.#sheets.sheet()
      for (const each of this.#few) this.#sheets.put(this.#all, each, this.#sheets.patternFor(each))
      this.#few = null
    }
    if (this.#all !== null && this.#all.count >= manyNames) {
      for (const each of this.#sheets.namesOf(this.#all)) {
        const other = this.#sheets.patternFor(each)
        this.#sheets.put(this.#ofLength(other), each, other)
      }
      this.#sheets.drop(this.#all)
      this.#all = null
    }
    if (this.#few !== null) this.#few.push(name)
    else this.#sheets.put(this.#all ?? this.#ofLength(pattern), name, pattern)
  }

  remove(name: number, pattern: NamePattern): void {
    if (this.#few === null) this.#sheets.remove(this.#all ?? this.#ofLength(pattern), name, pattern)
    else this.#few = this.#few.filter((each) => each !== name)
  }

  /**
   * Finds every name that may meet the demand and shares at most `prefix` first characters. It may also find some names that
   * do not meet it.
   */
  search(search: Search, prefix: number = maxPrefix): void {
    const { demand, found } = search
    if (this.#few !== null) {
      search.seen += this.#few.length
      found.push(...this.#few)
    } else if (this.#all !== null) {
      this.#sheets.search(this.#all, search, prefix, demand.mayLackAnywhere(prefix), false)
    } else {
      for (let length = 1; length < this.#byLength.length; length += 1) {
        const sheet = this.#byLength[length]
        const most = demand.mayLack(length, prefix)
        if (sheet !== undefined)
          this.#sheets.search(sheet, search, prefix, most, prefix === 1 && demand.mayLack(length, 0) < most)
      }
    }
  }

  #ofLength({ length }: NamePattern): Sheet {
    return (this.#byLength[length] ??= this.#sheets.sheet())
  }
}
