/**
 * Virtual time of a simulation: every task of every process runs from one queue, in one synchronous loop, so that a seed
 * decides the whole run. A lane is one process (or the world outside): killed, its tasks are gone as after kill -9;
 * stalled, they wait as under a long pause. Source: architecture, Time and chance.
 */
import { Clock, Duration, Effect, Scheduler } from "effect"

interface Task {
  readonly at: number
  readonly order: number
  readonly lane: Lane
  readonly run: () => void
}

/** Thrown by a task to end its lane at that very point. */
export class LaneKilled extends Error {}

export class Timeline {
  now: number
  /** The lane whose task runs. */
  current: Lane | null = null
  private order = 0
  /** A binary heap by time, then by order of scheduling. */
  private readonly heap: Array<Task> = []

  /** `start`: Unix ms. */
  constructor(start: number) {
    this.now = start
  }

  add(lane: Lane, run: () => void, delayMillis: number): void {
    // Whole milliseconds, as a clock shows them, whatever somebody asked to sleep.
    this.push({ at: this.now + Math.ceil(Math.max(0, delayMillis)), order: this.order++, lane, run })
  }

  /** Runs everything due up to `until` (Unix ms), or until `enough` says so after a task. */
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

  /** Nothing happens for a while: what was due meanwhile comes late, in its order. */
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

  /** Runs `task` later; the answer cancels it. */
  after(delayMillis: number, task: () => void): () => void {
    let cancelled = false
    this.timeline.add(this, () => (cancelled ? undefined : task()), delayMillis)
    return () => {
      cancelled = true
    }
  }

  /** Ends the lane: nothing of it runs any more. */
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

/** What takes the place of the process's chance and console. */
export interface Outside {
  /** Frames of an error's stack that are kept: thousands of failures in a run are answers that nobody prints. */
  readonly frames: number
  /** A number in [0, 1). */
  readonly chance: () => number
  /** Takes what a living lane prints; what is printed after a lane's death is lost. */
  readonly print: (text: string) => void
}

/**
 * Runs a simulation with the process's own timers, clocks, chance and console replaced by those of the timeline. The middleware
 * that waits by `setTimeout` so waits in virtual time, and a real timer could not slip in unnoticed.
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

/** Puts values in place; the answer puts the old ones back. */
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
