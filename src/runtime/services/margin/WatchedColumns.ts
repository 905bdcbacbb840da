/**
 * Column store of the risk index: typed arrays of accounts and positions. A million positions take about 100 MB, and the garbage
 * collector has no objects to trace. Free slots are reused.
 */
import { type Entries, nowhere } from "./LevelHeap.ts"

export const noSlot = -1

const startSize = 16

export class WatchedColumns {
  clients = new Float64Array(startSize)
  /** The cash of each account, USDC. */
  cash = new Float64Array(startSize)
  premiums = new Float64Array(startSize)
  flags = new Uint8Array(startSize)
  /** The first position of each account. In a free slot: the next free account slot. */
  head = new Int32Array(startSize)
  /** The ratio of equity to margin, for due accounts. */
  readonly urgency: Entries = { levels: new Float64Array(startSize), places: new Int32Array(startSize).fill(nowhere) }

  /** `owner`: the account of each position. `next`: the account's next position. In a free slot: the next free position slot. */
  owner = new Int32Array(startSize)
  next = new Int32Array(startSize)
  market = new Uint16Array(startSize)
  qty = new Float64Array(startSize)
  entry = new Float64Array(startSize)
  /** The client's chosen leverage. 0: the client has chosen none. */
  chosen = new Uint16Array(startSize)
  notified = new Int32Array(startSize)
  /** Entry 2n is the lower end of position n, entry 2n + 1 the upper one. */
  readonly ends: Entries = {
    levels: new Float64Array(2 * startSize),
    places: new Int32Array(2 * startSize).fill(nowhere)
  }

  /** The number of account slots that were ever used. */
  accounts = 0
  private usedPositions = 0
  private freeAccounts = noSlot
  private freed = noSlot
  positions = 0

  newAccount(): number {
    const free = this.freeAccounts
    const slot = free === noSlot ? this.accounts++ : free
    if (free !== noSlot) this.freeAccounts = this.head[free] as number
    else if (slot === this.clients.length) this.growAccounts()
    this.head[slot] = noSlot
    return slot
  }

  /** Frees the slot of an account without positions. */
  freeAccount(slot: number): void {
    this.clients[slot] = noSlot
    this.head[slot] = this.freeAccounts
    this.freeAccounts = slot
  }

  isUsed(slot: number): boolean {
    return this.clients[slot] !== noSlot
  }

  newPosition(account: number): number {
    const free = this.freed
    const slot = free === noSlot ? this.usedPositions++ : free
    if (free !== noSlot) this.freed = this.next[free] as number
    else if (slot === this.owner.length) this.growPositions()
    this.positions++
    this.owner[slot] = account
    this.next[slot] = this.head[account] as number
    this.head[account] = slot
    return slot
  }

  /** Frees the positions of an account. The caller has removed their ends from the heaps. */
  freePositions(account: number): void {
    for (let at = this.head[account] as number; at !== noSlot;) {
      const next = this.next[at] as number
      this.next[at] = this.freed
      this.freed = at
      this.positions--
      at = next
    }
    this.head[account] = noSlot
  }

  private growAccounts(): void {
    const size = sizeAfter(this.clients.length)
    this.clients = copied(this.clients, new Float64Array(size))
    this.cash = copied(this.cash, new Float64Array(size))
    this.premiums = copied(this.premiums, new Float64Array(size))
    this.flags = copied(this.flags, new Uint8Array(size))
    this.head = copied(this.head, new Int32Array(size))
    growEntries(this.urgency, size)
  }

  private growPositions(): void {
    const size = sizeAfter(this.owner.length)
    this.owner = copied(this.owner, new Int32Array(size))
    this.next = copied(this.next, new Int32Array(size))
    this.market = copied(this.market, new Uint16Array(size))
    this.qty = copied(this.qty, new Float64Array(size))
    this.entry = copied(this.entry, new Float64Array(size))
    this.chosen = copied(this.chosen, new Uint16Array(size))
    this.notified = copied(this.notified, new Int32Array(size))
    growEntries(this.ends, 2 * size)
  }
}

/** The next size of an array: half as much again, which limits the empty part of a large index. */
const sizeAfter = (size: number): number => size + (size >> 1)

const copied = <A extends { set(from: A): void }>(from: A, to: A): A => {
  to.set(from)
  return to
}

const growEntries = (entries: Entries, size: number): void => {
  entries.levels = copied(entries.levels, new Float64Array(size))
  entries.places = copied(entries.places, new Int32Array(size).fill(nowhere))
}
