/**
 * Memory of the name trees: rows of patterns in blocks, and the nodes that lead to them, in a few large typed arrays.
 * A search waits for memory far longer than it computes, so what is read together lies together and nothing is reached
 * through more than one object. Blocks and nodes are handed out one by one and blocks are used again; nothing is ever
 * moved as a whole except the table of nodes when it doubles. Source: F26.
 */
import { type NamePattern, rowWords, writeRow } from "./NamePattern.ts"

/** Rows of a chunk. A block lies within one chunk; a larger block gets a chunk of its own. */
const chunkBits = 15
const chunkRows = 1 << chunkBits

/** Rows of the smallest block; each further size doubles it. */
const smallest = 4

/**
 * Words of a node. A leaf has -1 - size of its block, its first row and its rows in use; a branch has 1 and the word
 * where its children begin; all nothing where there is no node.
 */
const nodeWords = 3

/** Most children of a branch. They lie side by side in one line of the processor's cache. */
export const mostChildren = 5
const familyWords = 16

export class RowPool {
  readonly #chunks: Array<Uint32Array> = []
  /** Free blocks by size. */
  readonly #free: Array<Array<number>> = []
  /** The part of the last chunk not handed out yet. */
  #next = 0
  #end = 0
  /** Nodes by the word where they begin. Word 0 begins none. */
  #nodes = new Int32Array(familyWords)
  /** The words handed out so far. */
  #lastWord = familyWords
  /** Single nodes, which are few, still to be handed out of the last family. */
  #single = familyWords

  /** A new leaf without rows, which no branch leads to. */
  leaf(): number {
    if (this.#single + nodeWords > this.#lastWord || this.#single % familyWords === familyWords - 1) {
      this.#single = this.#family()
    }
    const leaf = this.#single
    this.#single += nodeWords
    this.#fill(leaf, 0, this.#takeBlock(0), 0)
    return leaf
  }

  isLeaf(node: number): boolean {
    return this.#nodes[node]! < 0
  }

  /** Rows of a leaf. */
  rowsOf(leaf: number): number {
    return this.#nodes[leaf + 2]!
  }

  /** The chunk with a leaf's rows, which begin at word `startOf`. */
  chunkOf(leaf: number): Uint32Array {
    return this.#chunks[this.#nodes[leaf + 1]! >>> chunkBits]!
  }

  startOf(leaf: number): number {
    return (this.#nodes[leaf + 1]! & (chunkRows - 1)) * rowWords
  }

  /** The child of a branch at a place, 0 if there is none. */
  childAt(branch: number, place: number): number {
    const child = this.#nodes[branch + 1]! + place * nodeWords
    return this.#nodes[child] === 0 ? 0 : child
  }

  put(leaf: number, slot: number, pattern: NamePattern): void {
    const at = this.#newRow(leaf)
    writeRow(this.chunkOf(leaf), at, slot, pattern)
  }

  /** Takes off one row of the slot; the last row fills the gap. */
  remove(leaf: number, slot: number): void {
    const rows = this.chunkOf(leaf)
    const start = this.startOf(leaf)
    const last = start + (this.rowsOf(leaf) - 1) * rowWords
    for (let at = start; at <= last; at += rowWords) {
      if (rows[at] !== slot) continue
      rows.copyWithin(at, last, last + rowWords)
      this.#nodes[leaf + 2]! -= 1
      return
    }
  }

  /** Makes a leaf a branch with its rows shared out to new leaves. */
  divide(leaf: number, placeOf: (rows: Uint32Array, at: number) => number): void {
    const rows = this.chunkOf(leaf)
    const start = this.startOf(leaf)
    const end = start + this.rowsOf(leaf) * rowWords
    const size = -1 - this.#nodes[leaf]!
    const block = this.#nodes[leaf + 1]!
    const children = this.#family()
    this.#nodes[leaf] = 1
    this.#nodes[leaf + 1] = children
    this.#nodes[leaf + 2] = 0
    for (let at = start; at < end; at += rowWords) this.copyRow(this.child(leaf, placeOf(rows, at)), rows, at)
    this.#giveBlock(size, block)
  }

  /** Gives the rows of a leaf that nothing leads to any more back. */
  drop(leaf: number): void {
    this.#giveBlock(-1 - this.#nodes[leaf]!, this.#nodes[leaf + 1]!)
  }

  copyRow(leaf: number, from: Uint32Array, at: number): void {
    const to = this.#newRow(leaf)
    this.chunkOf(leaf).set(from.subarray(at, at + rowWords), to)
  }

  /** The child of a branch, a new leaf if there was none. */
  child(branch: number, place: number): number {
    const child = this.#nodes[branch + 1]! + place * nodeWords
    if (this.#nodes[child] === 0) this.#fill(child, 0, this.#takeBlock(0), 0)
    return child
  }

  /** The word where one more row of the leaf begins; its block is changed for a larger one when it is full. */
  #newRow(leaf: number): number {
    const size = -1 - this.#nodes[leaf]!
    const count = this.rowsOf(leaf)
    if (count === smallest << size) {
      const rows = this.chunkOf(leaf)
      const start = this.startOf(leaf)
      const block = this.#nodes[leaf + 1]!
      this.#fill(leaf, size + 1, this.#takeBlock(size + 1), count)
      this.chunkOf(leaf).set(rows.subarray(start, start + count * rowWords), this.startOf(leaf))
      this.#giveBlock(size, block)
    }
    this.#nodes[leaf + 2] = count + 1
    return this.startOf(leaf) + count * rowWords
  }

  #fill(leaf: number, size: number, block: number, count: number): void {
    this.#nodes[leaf] = -1 - size
    this.#nodes[leaf + 1] = block
    this.#nodes[leaf + 2] = count
  }

  /** Room for the children of a branch. */
  #family(): number {
    const first = this.#lastWord
    this.#lastWord += familyWords
    if (this.#lastWord > this.#nodes.length) {
      const wider = new Int32Array(Math.max(16_384, this.#nodes.length * 2))
      wider.set(this.#nodes)
      this.#nodes = wider
    }
    return first
  }

  #takeBlock(size: number): number {
    const used = this.#free[size]?.pop()
    if (used !== undefined) return used
    const rows = smallest << size
    if (rows > chunkRows) return (this.#chunks.push(new Uint32Array(rows * rowWords)) - 1) * chunkRows
    if (this.#end - this.#next < rows) {
      this.#next = (this.#chunks.push(new Uint32Array(chunkRows * rowWords)) - 1) * chunkRows
      this.#end = this.#next + chunkRows
    }
    this.#next += rows
    return this.#next - rows
  }

  #giveBlock(size: number, block: number): void {
    while (this.#free.length <= size) this.#free.push([])
    this.#free[size]?.push(block)
  }
}
