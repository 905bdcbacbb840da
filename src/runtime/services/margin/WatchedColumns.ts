/**
 * What the risk index keeps of accounts and of their positions, a figure a column: a million positions are a hundred million bytes
 * this way, and a look touches nothing that the collector has to go through. Slots are used again.
 */
import { type Entries, nowhere } from "./LevelHeap.ts"

export const noSlot = -1

const startSize = 16

export class WatchedColumns {
  clients = new Float64Array(startSize)
  /** USDC. */
  cash = new Float64Array(startSize)
  premiums = new Float64Array(startSize)
  flags = new Uint8Array(startSize)
  /** The first position of each account; of a free slot the next free one. */
  head = new Int32Array(startSize)
  /** What is held of each USDC of the margin, of accounts for which something may follow. */
  readonly urgency: Entries = { levels: new Float64Array(startSize), places: new Int32Array(startSize).fill(nowhere) }

  /** Of each position: its account, and the account's next one; of a free slot the next free one. */
  owner = new Int32Array(startSize)
  next = new Int32Array(startSize)
  market = new Uint16Array(startSize)
  qty = new Float64Array(startSize)
  entry = new Float64Array(startSize)
  /** 0: none is. */
  chosen = new Uint16Array(startSize)
  told = new Int32Array(startSize)
  /** Entry 2n is the lower end of position n, entry 2n + 1 the upper one. */
  readonly ends: Entries = {
    levels: new Float64Array(2 * startSize),
    places: new Int32Array(2 * startSize).fill(nowhere)
  }

  /** Slots that were ever used. */
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

  /** One that has no positions any more. */
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

  /** Those of an account, all of which are out of the heaps. */
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
    this.told = copied(this.told, new Int32Array(size))
    growEntries(this.ends, 2 * size)
  }
}

/** By half, so that little of a large index is empty. */
const sizeAfter = (size: number): number => size + (size >> 1)

const copied = <A extends { set(from: A): void }>(from: A, to: A): A => {
  to.set(from)
  return to
}

const growEntries = (entries: Entries, size: number): void => {
  entries.levels = copied(entries.levels, new Float64Array(size))
  entries.places = copied(entries.places, new Int32Array(size).fill(nowhere))
}
