/**
 * The journal without a database: the guarantees of JournalPg over a MemoryStore, for tests and deterministic simulation. The
 * scheduler and the faults are given, so that runs are deterministic. Held to the same suite as JournalPg,
 * test/runtime/engine/journalConformance.ts (architecture section 4, Journal).
 */
import { Effect } from "effect"
import type { DefectLog } from "../DefectLog.ts"
import { BatchSizes } from "./BatchSizes.ts"
import type { Commit } from "./Commit.ts"
import { makeIdBlocks, type UnusedIds } from "./IdBlocks.ts"
import {
  type Journal,
  journalQueueLimit,
  JournalUnavailable,
  type Lane,
  type Outcome,
  type SubjectImage
} from "./Journal.ts"
import { MemoryStore } from "./MemoryStore.ts"
import { passPausePoint } from "../PausePoints.ts"
import { takeBatch, conclude, concludeLate, type Waiting } from "./takeBatch.ts"

/** The fault that one batch meets. Without members the batch is committed at once. */
export interface BatchFault {
  /** The duration of the batch, in scheduler ms. */
  readonly latencyMillis?: number
  /** The connection is lost either before the batch is committed, or after the commit but before the response. */
  readonly lost?: "before-commit" | "after-commit"
  /** The time after a loss until the store is reachable again, in scheduler ms. */
  readonly awayMillis?: number
}

export interface MemoryFaults {
  /** The fault of the next attempt to write a batch, decided for each attempt; null: no fault. */
  readonly batch?: (commits: ReadonlyArray<Commit>) => BatchFault | null
  /** True for a commit that needs a lock of another session: it is refused, and the other commits of its batch are written. */
  readonly held?: (commit: Commit) => boolean
  /** True while the store is unreachable; called before each batch, load and reconnection. */
  readonly away?: () => boolean
}

export interface JournalMemoryOptions {
  /** The shared store; two journals over one store are two processes over one database. */
  readonly store?: MemoryStore
  /** Names this process in the store; no two share it. */
  readonly owner?: string
  readonly faults?: MemoryFaults
  /** Runs a task later. The default is the next turn of the event loop, whatever the delay. */
  readonly schedule?: (task: () => void, delayMillis: number) => void
  /** The process's wall clock, Unix ms; without it `ownedAt` is never known. */
  readonly wall?: () => number
  /** The longest wait of callers while the outcome of their batch is unknown, in scheduler ms. */
  readonly patienceMillis?: number
  /** Receives the errors that callbacks of commits throw. Default: each is thrown again as an uncaught error. */
  readonly defects?: DefectLog
}

/** The interval of attempts to reach a store that is away, in scheduler ms. */
const reconnectMillis = 50

/** A journal in memory. `end`: a clean stop, which returns the unused ids as the end of JournalPg's scope does. */
type JournalInMemory = Journal["Service"] & { readonly end: Effect.Effect<void> }

/** Takes the store over and starts a journal on it. */
export const makeJournalMemory = (options: JournalMemoryOptions = {}): JournalInMemory => {
  const writer = new MemoryWriter(options)
  const ids = makeIdBlocks(
    (kind) => Effect.sync(() => writer.store.reserveIds(kind)),
    (refill) => Effect.runSync(refill)
  )
  Effect.runSync(Effect.orDie(ids.fill))
  return {
    submit: (commit, done, lane) => writer.submit({ commit, done, defects: options.defects ?? throwAlone, lane }),
    accepting: (lane) => writer.accepting(lane),
    certain: () => writer.certain,
    owns: Effect.callback<boolean>((resume) => writer.schedule(() => resume(Effect.succeed(writer.owns)), 0)),
    owner: writer.owner,
    ownedAt: () => writer.ownedAt,
    held: () => ({ rows: 0, tables: 0 }),
    load: (subjects) =>
      Effect.callback<ReadonlyMap<string, SubjectImage>, JournalUnavailable>((resume) =>
        writer.schedule(() => {
          if (!writer.reachable) return resume(Effect.fail(new JournalUnavailable({ reason: "the store is away" })))
          resume(Effect.sync(() => new Map(subjects.map((subject) => [subject, writer.store.image(subject)]))))
        }, 0)
      ),
    nextId: ids.next,
    // A block of ids is reserved synchronously, so no caller ever has to wait for ids.
    idsRefilled: Effect.void,
    drain: writer.drain,
    onUsurped: (stop) => (writer.stop = stop),
    batchSizes: () => writer.sizes.recent,
    batches: () => writer.sizes,
    end: Effect.map(ids.close, (unused) => writer.end(unused))
  }
}

/** A test double must not hide defects: this ends the process, or fails the running test. */
const throwAlone: DefectLog = (_, cause) =>
  queueMicrotask(() => {
    throw cause
  })

class MemoryWriter {
  readonly store: MemoryStore
  readonly schedule: (task: () => void, delayMillis: number) => void
  readonly sizes = new BatchSizes()
  stop: () => void = () => {}
  private readonly queue: Array<Waiting> = []
  readonly owner: string
  private readonly faults: MemoryFaults
  private readonly patienceMillis: number
  private readonly idle: Array<() => void> = []
  private readonly wall: () => number
  private epoch: number
  private sentAt = -Infinity
  private up = true
  private busy = false
  private usurped = false

  constructor(options: JournalMemoryOptions) {
    this.store = options.store ?? new MemoryStore()
    this.owner = options.owner ?? "memory"
    this.faults = options.faults ?? {}
    this.schedule = options.schedule ?? ((task) => void setImmediate(task))
    this.patienceMillis = options.patienceMillis ?? 3_000
    this.wall = options.wall ?? (() => -Infinity)
    // A journal whose store another process took over has to notice that even while it has no work.
    this.epoch = this.store.takeOver(this.owner, () =>
      this.schedule(() => {
        if (this.up && !this.busy) this.usurp([])
      }, 0)
    )
  }

  accepting(lane: Lane = "callers"): boolean {
    return this.up && (lane === "internal" || this.queue.length < journalQueueLimit)
  }

  get certain(): boolean {
    return this.up
  }

  get owns(): boolean {
    return this.reachable && this.store.epoch === this.epoch
  }

  get reachable(): boolean {
    return this.up && this.faults.away?.() !== true
  }

  get ownedAt(): number {
    return this.up ? this.sentAt : -Infinity
  }

  submit(waiting: Waiting): void {
    if (!this.accepting(waiting.lane)) return conclude(waiting, { _tag: "Unavailable", unknown: false })
    this.queue.push(waiting)
    if (this.busy) return
    this.busy = true
    this.schedule(() => this.flush(), 0)
  }

  end(unused: ReadonlyArray<UnusedIds>): void {
    if (this.up) this.store.returnIds(this.owner, unused)
    this.up = false
  }

  readonly drain: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.busy) this.idle.push(() => resume(Effect.void))
    else resume(Effect.void)
  })

  private flush(): void {
    if (this.queue.length === 0) return this.rest()
    const batch = takeBatch(this.queue)
    this.sizes.push(batch.length)
    this.send(batch)
  }

  private rest(): void {
    this.busy = false
    for (const resume of this.idle.splice(0)) resume()
  }

  private send(batch: ReadonlyArray<Waiting>): void {
    const fault = this.faults.batch?.(batch.map((waiting) => waiting.commit)) ?? {}
    const sentAt = this.wall()
    this.schedule(() => this.write(batch, fault, sentAt), fault.latencyMillis ?? 0)
  }

  private write(batch: ReadonlyArray<Waiting>, fault: BatchFault, sentAt: number): void {
    if (this.usurped) return this.settle(batch, { _tag: "Unavailable", unknown: false })
    if (fault.lost === "before-commit" || this.faults.away?.() === true) return this.lose(batch, false, fault)
    if (this.store.epoch !== this.epoch) return this.settle(this.usurp(batch), { _tag: "Unavailable", unknown: false })
    passPausePoint("before-commit")
    const outcomes = batch.map((waiting) => ({
      waiting,
      outcome:
        this.faults.held?.(waiting.commit) === true
          ? ({ _tag: "Unavailable", unknown: false } as const)
          : this.store.apply(waiting.commit)
    }))
    passPausePoint("after-commit")
    const lost = fault.lost === "after-commit"
    if (!lost) this.sentAt = sentAt
    for (const { waiting, outcome } of outcomes) if (!lost || outcome._tag !== "Committed") conclude(waiting, outcome)
    if (!lost) return this.flush()
    this.lose(
      outcomes.filter(({ outcome }) => outcome._tag === "Committed").map(({ waiting }) => waiting),
      true,
      fault
    )
  }

  private settle(batch: ReadonlyArray<Waiting>, outcome: Outcome): void {
    for (const waiting of batch) conclude(waiting, outcome)
    this.flush()
  }

  /**
   * Another process has taken the store over, so this journal stops for good. Returns the batch that was being written: its
   * callers still wait.
   */
  private usurp(batch: ReadonlyArray<Waiting>): ReadonlyArray<Waiting> {
    this.up = false
    for (const waiting of this.queue.splice(0)) conclude(waiting, { _tag: "Unavailable", unknown: false })
    if (!this.usurped) this.stop()
    this.usurped = true
    return batch
  }

  /**
   * Loses the connection together with the batch. The writer learns whether it was committed only after it has reconnected.
   */
  private lose(batch: ReadonlyArray<Waiting>, committed: boolean, fault: BatchFault): void {
    this.up = false
    const giveUpWaiting = (): void => {
      for (const waiting of batch) conclude(waiting, { _tag: "Unavailable", unknown: true })
      for (const waiting of this.queue.splice(0)) conclude(waiting, { _tag: "Unavailable", unknown: false })
    }
    const poll = (waitMillis: number, waitedMillis: number, concluded: boolean): void => {
      const left = this.patienceMillis - waitedMillis
      if (!concluded && waitMillis > left) {
        return this.schedule(() => {
          giveUpWaiting()
          poll(waitMillis - left, this.patienceMillis, true)
        }, left)
      }
      this.schedule(() => {
        if (this.faults.away?.() === true) poll(reconnectMillis, waitedMillis + waitMillis, concluded)
        else this.resolve(batch, committed, concluded)
      }, waitMillis)
    }
    poll(fault.awayMillis ?? 0, 0, false)
  }

  private resolve(batch: ReadonlyArray<Waiting>, committed: boolean, concluded: boolean): void {
    if (this.store.owner !== this.owner) return this.settle(this.usurp(batch), { _tag: "Unavailable", unknown: true })
    this.epoch = ++this.store.epoch
    if (concluded && committed) concludeLate(batch)
    this.up = true
    if (concluded || committed) this.settle(concluded ? [] : batch, { _tag: "Committed" })
    else this.send(batch)
  }
}
