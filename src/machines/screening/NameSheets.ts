/**
 * Patterns of many names side by side in the memory of a small WebAssembly program (lackingLetters.wat): a row for each bit
 * of a pattern, a column for each name. One operation compares 128 names, and stops when each of them lacks too many letters
 * of the query; the rarest letters come first. So a search in 200,000 names takes about 60 us, less than a walk through a
 * tree. Names are added and removed one by one (decision 10; F26).
 */
import { lackingLetters } from "./lackingLetters.generated.ts"
import {
  type Demand,
  firstKindOf,
  isMet,
  kinds,
  type NamePattern,
  patternBits,
  patternOf,
  prefixOf
} from "./NamePattern.ts"

declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

interface Program {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number }
  /** Finds columns that lack few bits of the query, and returns their number; lackingLetters.wat describes the parameters. */
  readonly find: (from: number, to: number, queryEnd: number, begin: number) => number
}

const program = new WebAssembly.Module(Uint8Array.from(atob(lackingLetters), (byte) => byte.charCodeAt(0)))

/** A search. Names are identified by numbers. */
export interface Search {
  readonly query: NamePattern
  readonly demand: Demand
  /** Receives each name that may meet the demand, possibly twice, and possibly some that do not. */
  readonly found: Array<number>
  /** The number of compared names, for measurements. */
  seen: number
}

/** Some of the names, stored in `128 << size` columns. */
export interface Sheet {
  /** The index of the first word of the sheet's rows. */
  start: number
  size: number
  count: number
}

/** The number of names that one operation compares, and the words that they take in a row. */
const together = 128
const togetherWords = 4

/** A row for each bit and for each kind of first character; then the head and the number of each name. */
const rows = patternBits + kinds
const recordWords = 2

/** The distance between rows in words. At a power of two, the rows would compete for few lines of the processor's cache. */
const strideOf = (size: number): number => (togetherWords << size) + (size < 4 ? 0 : 16)
const wordsOf = (size: number): number => rows * strideOf(size) + recordWords * (together << size)
const recordOf = ({ start, size }: Sheet, column: number): number =>
  start + rows * strideOf(size) + recordWords * column

/** The program's own memory is one page; its results begin at this word. */
const pageWords = 16_384
const foundAt = 1_024
/** The number of columns whose names always fit in the results together, a multiple of `together`. */
const mostAtOnce = Math.floor((pageWords - foundAt) / together)
/** Pages added at once: 4 MB. */
const pagesAtOnce = 64

/** The largest number that the five bits of a count can hold, and the number of bits that a result has for its column. */
const mostCounted = 31
const columnBits = 24

export class NameSheets {
  readonly #textOf: (name: number) => string
  readonly #program = new WebAssembly.Instance(program).exports as Program
  /** The program's whole memory. A growth of the memory needs a new array, because the old one is then detached. */
  #words = new Int32Array(this.#program.memory.buffer)
  #end = pageWords
  /** Start words of released sheets, by size. */
  readonly #free: Array<Array<number>> = []
  /** The number of added names with each bit. */
  readonly #common = new Uint32Array(patternBits)

  /** @param textOf the text of an added name, by its number */
  constructor(textOf: (name: number) => string) {
    this.#textOf = textOf
  }

  /** The pattern of a query text, with the rarest bits first. */
  query(text: string): NamePattern {
    const pattern = patternOf(text)
    return { ...pattern, bits: pattern.bits.toSorted((a, b) => this.#common[a]! - this.#common[b]!) }
  }

  /** The pattern of an added name, computed from its text. */
  patternFor(name: number): NamePattern {
    return patternOf(this.#textOf(name))
  }

  /** Makes a sheet without names that has room for 128. */
  sheet(): Sheet {
    return { start: this.#take(0), size: 0, count: 0 }
  }

  /** Releases a sheet, so that a later sheet of the same size reuses its memory. */
  drop({ start, size }: Sheet): void {
    this.#words.fill(0, start, start + wordsOf(size))
    while (this.#free.length <= size) this.#free.push([])
    this.#free[size]!.push(start)
  }

  namesOf(sheet: Sheet): ReadonlyArray<number> {
    return Array.from({ length: sheet.count }, (_, column) => this.#nameIn(sheet, column))
  }

  put(sheet: Sheet, name: number, pattern: NamePattern): void {
    if (sheet.count === together << sheet.size) this.#widen(sheet)
    this.#write(sheet, sheet.count, name, pattern)
    sheet.count += 1
  }

  /** Removes a name, found by the pattern with which it was added; the last name fills the gap. */
  remove(sheet: Sheet, name: number, pattern: NamePattern): void {
    const column = this.#columnOf(sheet, name, pattern)
    if (column < 0) return
    sheet.count -= 1
    const last = this.#nameIn(sheet, sheet.count)
    this.#clear(sheet, column)
    if (column === sheet.count) return
    this.#clear(sheet, sheet.count)
    this.#write(sheet, column, last, this.patternFor(last))
  }

  /**
   * Finds every name of a sheet that may meet the demand and shares at most `prefix` first characters with the query. It may
   * also find some names that do not meet it. A name may lack at most `most` of the query's characters; when `first` is true,
   * one less if it has another first character. The result is empty when `most` is negative.
   */
  search(sheet: Sheet, search: Search, prefix: number, most: number, first: boolean): void {
    if (most < 0) return
    const { query, demand, found } = search
    search.seen += sheet.count
    this.#find(sheet, query, most, first, (column, lacking) => {
      const head = this.#words[recordOf(sheet, column)]!
      const common = prefixOf(query.head, head)
      const lackingLetters = first && common === 0 ? lacking - 1 : lacking
      if (common <= prefix && isMet(demand, query, head, lackingLetters)) found.push(this.#nameIn(sheet, column))
    })
  }

  /**
   * Reports each column whose name lacks at most `most` of the query's bits, with the number lacking; this number may be too
   * low.
   */
  #find(
    sheet: Sheet,
    { bits, head }: NamePattern,
    most: number,
    first: boolean,
    report: (column: number, lacking: number) => void
  ): void {
    if (most > mostCounted) {
      for (let column = 0; column < sheet.count; column += 1) report(column, 0)
      return
    }
    const begin = mostCounted - most
    const stride = strideOf(sheet.size)
    let queryEnd = 0
    if (first) this.#words[queryEnd++] = 4 * (sheet.start + (patternBits + firstKindOf(head)) * stride)
    for (const bit of bits) this.#words[queryEnd++] = 4 * (sheet.start + bit * stride)
    const width = Math.ceil(sheet.count / together)
    for (let from = 0; from < width; from += mostAtOnce) {
      const end = foundAt + this.#program.find(from, Math.min(width, from + mostAtOnce), queryEnd, begin)
      for (let at = foundAt; at < end; at += 1) {
        const found = this.#words[at]!
        const column = found & ((1 << columnBits) - 1)
        if (column < sheet.count) report(column, (found >>> columnBits) - begin)
      }
    }
  }

  #columnOf(sheet: Sheet, name: number, pattern: NamePattern): number {
    let place = -1
    this.#find(sheet, pattern, 0, false, (column) => {
      if (this.#nameIn(sheet, column) === name) place = column
    })
    return place
  }

  #nameIn(sheet: Sheet, column: number): number {
    return this.#words[recordOf(sheet, column) + 1]!
  }

  #write(sheet: Sheet, column: number, name: number, { bits, head }: NamePattern): void {
    const stride = strideOf(sheet.size)
    const word = sheet.start + (column >>> 5)
    for (const bit of bits) {
      this.#words[word + bit * stride]! |= 1 << column
      this.#common[bit]! += 1
    }
    this.#words[word + (patternBits + firstKindOf(head)) * stride]! |= 1 << column
    this.#words[recordOf(sheet, column)] = head
    this.#words[recordOf(sheet, column) + 1] = name
  }

  #clear(sheet: Sheet, column: number): void {
    const stride = strideOf(sheet.size)
    const word = sheet.start + (column >>> 5)
    for (let row = 0; row < rows; row += 1) this.#words[word + row * stride]! &= ~(1 << column)
  }

  /** Moves a sheet to twice the width. */
  #widen(sheet: Sheet): void {
    const narrow = { ...sheet }
    sheet.size += 1
    sheet.start = this.#take(sheet.size)
    const width = togetherWords << narrow.size
    for (let row = 0; row < rows; row += 1)
      this.#copy(sheet.start + row * strideOf(sheet.size), narrow.start + row * strideOf(narrow.size), width)
    this.#copy(recordOf(sheet, 0), recordOf(narrow, 0), recordWords * narrow.count)
    this.drop(narrow)
  }

  #copy(to: number, from: number, count: number): void {
    this.#words.copyWithin(to, from, from + count)
  }

  #take(size: number): number {
    const used = this.#free[size]?.pop()
    if (used !== undefined) return used
    const start = this.#end
    this.#end += wordsOf(size)
    if (this.#end > this.#words.length) {
      this.#program.memory.grow(Math.max(pagesAtOnce, Math.ceil((this.#end - this.#words.length) / pageWords)))
      this.#words = new Int32Array(this.#program.memory.buffer)
    }
    return start
  }
}
