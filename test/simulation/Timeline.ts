/**
 * Virtual time of a simulation. All tasks of all processes run from one queue in one synchronous loop, so that a seed
 * decides the whole run. A lane is one process, or the world outside. The tasks of a killed lane never run, as after
 * kill -9; those of a stalled lane wait, as during a long pause. Source: architecture, Time and chance.
 */
import { Clock, Duration, Effect, Scheduler } from "effect"

interface Task {
  readonly at: number
  readonly order: number
  readonly lane: Lane
  readonly run: () => void
}

/** A task throws it to end its lane at that point. */
export class LaneKilled extends Error {}

export class Timeline {
  now: number
  /** The lane of the running task. */
  current: Lane | null = null
  private order = 0
  /** A binary heap by time, then by order of scheduling. */
  private readonly heap: Array<Task> = []

  /** `start`: Unix ms. */
  constructor(start: number) {
    this.now = start
  }

  add(lane: Lane, run: () => void, delayMillis: number): void {
    // Whole milliseconds, like a clock, whatever duration a sleep has.
    this.push({ at: this.now + Math.ceil(Math.max(0, delayMillis)), order: this.order++, lane, run })
  }

  /** Runs all tasks due up to `until` (Unix ms), or until `enough` returns true after a task. */
  run(until: number, enough: () => boolean = () => false): void {
    while (!enough()) {
      const next = this.heap[0]
      if (next === undefined || next.at > until) {
        this.now = Math.max(this.now, until)
        return
      }
      this.pop()
      this.now = Math.max(this.now, next.at)
      const { lane } = next
      if (!lane.alive) continue
      if (lane.stalledUntil > this.now) this.push({ ...next, at: lane.stalledUntil })
      else this.perform(lane, next.run)
    }
  }

  /** Jumps forward in time. Tasks due meanwhile run late, in their order. */
  leap(millis: number): void {
    this.now += millis
  }

  private perform(lane: Lane, run: () => void): void {
    this.current = lane
    try {
      run()
    } catch (error) {
      if (!(error instanceof LaneKilled)) throw error
    } finally {
      this.current = null
    }
  }

  private push(task: Task): void {
    const { heap } = this
    let index = heap.push(task) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!before(task, heap[parent] as Task)) break
      heap[index] = heap[parent] as Task
      index = parent
    }
    heap[index] = task
  }

  private pop(): void {
    const { heap } = this
    const last = heap.pop() as Task
    if (heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1] as Task, heap[child] as Task)) child++
      if (!before(heap[child] as Task, last)) break
      heap[index] = heap[child] as Task
      index = child
    }
    heap[index] = last
  }
}

const before = (a: Task, b: Task): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

export class Lane {
  readonly name: string
  readonly timeline: Timeline
  alive = true
  /** Unix ms; tasks due earlier wait until then. */
  stalledUntil = 0
  /** Effect's clock on this lane. */
  readonly clock: Clock.Clock
  /** Effect's scheduler on this lane. */
  readonly scheduler: Scheduler.Scheduler

  constructor(timeline: Timeline, name: string) {
    this.timeline = timeline
    this.name = name
    this.scheduler = new Scheduler.MixedScheduler("async", (run) => this.after(0, run))
    this.clock = makeClock(this)
  }

  /** Runs `task` later. Returns a function that cancels it. */
  after(delayMillis: number, task: () => void): () => void {
    let cancelled = false
    this.timeline.add(this, () => (cancelled ? undefined : task()), delayMillis)
    return () => {
      cancelled = true
    }
  }

  /** Ends the lane. Its tasks no longer run. */
  kill(): void {
    this.alive = false
  }
}

const makeClock = (lane: Lane): Clock.Clock => {
  const { timeline } = lane
  const millis = () => timeline.now
  const nanos = () => BigInt(Math.round(timeline.now)) * 1_000_000n
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration: Duration.Duration) =>
      Effect.callback<void>((resume) => {
        const cancel = lane.after(Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(cancel)
      })
  } as Clock.Clock
}

/** Replacements for the process's randomness and console. */
export interface Outside {
  /**
   * Kept frames of an error's stack. A run makes thousands of failures that are answers, and nothing prints their
   * stacks.
   */
  readonly frames: number
  /** A number in [0, 1). */
  readonly chance: () => number
  /** Receives the output of a living lane; that of a dead lane is dropped. */
  readonly print: (text: string) => void
}

/**
 * Runs a simulation with the process's timers, clocks, randomness and console replaced by those of the timeline. So
 * middleware that uses `setTimeout` waits in virtual time, and a timer outside of every lane throws.
 */
export const inVirtualTime = <A>(timeline: Timeline, { chance, print, frames }: Outside, run: () => A): A => {
  const laneNow = (): Lane => {
    if (timeline.current === null) throw new Error("a timer was set outside of every lane")
    return timeline.current
  }
  const cancels = new Map<object, () => void>()
  const later = (task: (...given: ReadonlyArray<unknown>) => void, delay = 0, ...given: ReadonlyArray<unknown>) => {
    const handle = { ref: () => handle, unref: () => handle }
    cancels.set(
      handle,
      laneNow().after(delay, () => {
        cancels.delete(handle)
        task(...given)
      })
    )
    return handle
  }
  const cancel = (handle: object): void => {
    cancels.get(handle)?.()
    cancels.delete(handle)
  }
  const say = (...given: ReadonlyArray<unknown>): void => {
    if (timeline.current?.alive !== false) print(given.map(String).join(" "))
  }
  const restore = replace([
    [console, "log", say],
    [console, "error", say],
    [globalThis, "setTimeout", later],
    [globalThis, "clearTimeout", cancel],
    [globalThis, "setImmediate", (task: () => void) => later(task, 0)],
    [globalThis, "clearImmediate", cancel],
    [globalThis, "setInterval", () => refuse("setInterval")],
    [globalThis, "queueMicrotask", () => refuse("queueMicrotask")],
    [performance, "now", () => timeline.now],
    [Date, "now", () => timeline.now],
    [Math, "random", chance],
    [Error, "stackTraceLimit", frames]
  ])
  try {
    return run()
  } finally {
    restore()
  }
}

const refuse = (what: string): never => {
  throw new Error(`${what} has no place in a simulation`)
}

/** Sets properties. Returns a function that restores the previous ones. */
const replace = (places: ReadonlyArray<readonly [object, string, unknown]>): (() => void) => {
  const kept = places.map(([holder, name]) => [holder, name, Object.getOwnPropertyDescriptor(holder, name)] as const)
  for (const [holder, name, value] of places)
    Object.defineProperty(holder, name, { value, configurable: true, writable: true, enumerable: true })
  return () => {
    for (const [holder, name, descriptor] of kept)
      if (descriptor === undefined) Reflect.deleteProperty(holder, name)
      else Object.defineProperty(holder, name, descriptor)
  }
}
