/**
 * Processor turns of the threads beside the main thread. There is one turn fewer than there are processors, so that
 * one processor is free for requests and the database. A turn ends with each piece of work, and a waiting thread has
 * none. The limit is voluntary: a thread that has waited too long continues without a turn.
 */
import { availableParallelism } from "node:os"

/** How long a thread waits for its turn, milliseconds: longer than a piece of work takes. */
const patienceMillis = 1_000

/** The index of the number of ended turns; the owners of the turns follow, 0: free. */
const endedAt = 0

export class ProcessorTurns {
  /** The memory that the threads share. */
  readonly shared: SharedArrayBuffer
  private readonly cells: Int32Array<SharedArrayBuffer>
  private readonly patienceMillis: number

  /** `patience`: how long a thread waits for its turn, milliseconds. */
  constructor(shared: SharedArrayBuffer, patience = patienceMillis) {
    this.shared = shared
    this.patienceMillis = patience
    this.cells = new Int32Array(shared)
  }

  static make(processors = availableParallelism()): ProcessorTurns {
    const turns = Math.max(1, processors - 1)
    return new ProcessorTurns(new SharedArrayBuffer((1 + turns) * Int32Array.BYTES_PER_ELEMENT))
  }

  /** Waits for a turn; only for threads that serve no requests. `owner`: its id, not 0. */
  take(owner: number): void {
    const until = performance.now() + this.patienceMillis
    for (;;) {
      const ended = Atomics.load(this.cells, endedAt)
      for (let turn = endedAt + 1; turn < this.cells.length; turn++)
        if (Atomics.compareExchange(this.cells, turn, 0, owner) === 0) return
      const left = until - performance.now()
      if (left <= 0 || Atomics.wait(this.cells, endedAt, ended, left) === "timed-out") return
    }
  }

  /** Ends the turn of a thread, if it has one: its own, or that of a terminated thread. */
  leave(owner: number): void {
    for (let turn = endedAt + 1; turn < this.cells.length; turn++)
      if (Atomics.compareExchange(this.cells, turn, owner, 0) === owner) {
        Atomics.add(this.cells, endedAt, 1)
        Atomics.notify(this.cells, endedAt)
      }
  }
}
