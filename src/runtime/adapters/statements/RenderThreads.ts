/**
 * Statements rendered in threads of their own, so that nobody waits for a document of thousands of pages: few of them, each with a
 * cap on its memory (architecture, Engine; STS-31). A thread whose reader has gone, that failed, that says nothing any more, or that
 * ran out of memory is ended; the next job gets a new one. One that is done waits for the next job.
 */
import { Effect, Layer, Option, Queue, Scope, Semaphore, Stream } from "effect"
import { Worker } from "node:worker_threads"
import { statementLimits } from "../../../machines/shared/Limits.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { type RenderJob, StatementRenderer } from "../../ports/StatementRenderer.ts"
import type { FromThread, Piece, ToThread } from "./protocol.ts"

export interface RenderThreadsOptions {
  /** Threads at a time. */
  readonly threads: number
  /** Jobs that wait for one, and how long each may, milliseconds. */
  readonly waiting: number
  readonly waitMillis: number
  /** Jobs of one partner that run or wait. */
  readonly ofPartner: number
  /** How long a thread may say nothing while it owes a word, milliseconds. */
  readonly silentMillis: number
  /** Of each thread, megabytes: what a statement of 250,000 rows takes, with room. */
  readonly memoryMegabytes: number
  /** The thread's program: a test's. */
  readonly program: URL
}

const usual: RenderThreadsOptions = {
  ...statementLimits.files,
  memoryMegabytes: 320,
  program: new URL("renderThread.ts", import.meta.url)
}

const away = new Unavailable({ unknown: false })

/** What ends a thread without a fault of the renderer's: the same job may be well in another one. */
interface Lost {
  readonly type: "lost"
  readonly reason: string
}

/** A thread and what it says. */
interface Thread {
  readonly worker: Worker
  inbox: Queue.Queue<FromThread | Lost>
  /** It is between jobs, and well. */
  idle: boolean
  ended: boolean
}

export const layerRenderThreads = (given: Partial<RenderThreadsOptions> = {}): Layer.Layer<StatementRenderer> =>
  Layer.effect(
    StatementRenderer,
    Effect.gen(function* () {
      const options = { ...usual, ...given }
      const permits = Semaphore.makeUnsafe(options.threads)
      const room = new Room(options)
      const idle: Array<Thread> = []

      const open = Effect.gen(function* () {
        const inbox = yield* Queue.unbounded<FromThread | Lost>()
        // One that was lost between two jobs is none to take.
        for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
          if (found.ended) continue
          found.inbox = inbox
          found.idle = false
          found.worker.ref()
          return found
        }
        return startThread(options, inbox)
      })

      const close = (thread: Thread) =>
        Effect.sync(() => {
          if (thread.idle && !thread.ended) {
            // One that waits for work keeps no process alive.
            thread.worker.unref()
            return void idle.push(thread)
          }
          thread.ended = true
          void thread.worker.terminate()
        })

      yield* Effect.addFinalizer(() =>
        Effect.promise(() => Promise.all(idle.splice(0).map(({ worker }) => worker.terminate())))
      )

      const permit = Effect.timeoutOrElse(permits.take(1), {
        duration: options.waitMillis,
        orElse: () => Effect.fail(away)
      })

      /** A thread for as long as the scope is open. */
      const thread = (partnerId: number): Effect.Effect<Thread, Unavailable, Scope.Scope> =>
        Effect.gen(function* () {
          if (!room.has(partnerId)) return yield* away
          yield* Effect.acquireRelease(room.enter(partnerId), () => room.leave(partnerId))
          yield* Effect.acquireRelease(permit, () => permits.release(1), { interruptible: true })
          return yield* Effect.acquireRelease(open, close)
        })

      return StatementRenderer.of({
        render: (job) =>
          Stream.unwrap(
            Effect.map(thread(job.partnerId), (own) => {
              const { pieces: _, partnerId: __, ...head } = job
              tell(own, { type: "job", head })
              return chunksOf(own, job, options.silentMillis)
            })
          )
      })
    })
  )

/** Jobs that run or wait: bounded as a whole, and for each partner, so that one partner's readers don't take all of it. */
class Room {
  private readonly most: number
  private readonly ofPartner: number
  private readonly inside = new Map<number, number>()
  private total = 0

  constructor({ threads, waiting, ofPartner }: RenderThreadsOptions) {
    this.most = threads + waiting
    this.ofPartner = ofPartner
  }

  has(partnerId: number): boolean {
    return this.total < this.most && (this.inside.get(partnerId) ?? 0) < this.ofPartner
  }

  enter(partnerId: number): Effect.Effect<void> {
    return Effect.sync(() => this.count(partnerId, 1))
  }

  leave(partnerId: number): Effect.Effect<void> {
    return Effect.sync(() => this.count(partnerId, -1))
  }

  private count(partnerId: number, by: 1 | -1): void {
    this.total += by
    const left = (this.inside.get(partnerId) ?? 0) + by
    if (left === 0) this.inside.delete(partnerId)
    else this.inside.set(partnerId, left)
  }
}

const startThread = (
  { program, memoryMegabytes }: { readonly program: URL; readonly memoryMegabytes: number },
  inbox: Queue.Queue<FromThread | Lost>
): Thread => {
  const worker = new Worker(program, {
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 32 },
    // What it prints is nobody's, and it knows nothing of the service's environment.
    stdout: true,
    stderr: true,
    env: {}
  })
  const thread: Thread = { worker, inbox, idle: false, ended: false }
  const lose = (reason: string) => {
    thread.ended = true
    Queue.offerUnsafe(thread.inbox, { type: "lost", reason })
  }
  worker.on("message", (message: FromThread) => void Queue.offerUnsafe(thread.inbox, message))
  worker.on("error", (error) => lose(error instanceof Error ? error.message : "the thread failed"))
  worker.on("exit", () => lose("the thread has ended"))
  return thread
}

// A thread of our own: there is no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const tell = ({ worker }: Thread, message: ToThread): void => worker.postMessage(message)

/** Feeds the thread what it wants until it is done; a chunk is taken when the next one is asked for. */
const chunksOf = (
  thread: Thread,
  { pieces }: RenderJob,
  silentMillis: number
): Stream.Stream<Uint8Array, Unavailable> => {
  let after = -1
  let ready: Array<Piece> = []
  let ended = false
  const nextPiece: Effect.Effect<Piece | null, Unavailable> = Effect.gen(function* () {
    if (ready.length === 0 && !ended) {
      const page = yield* pieces(after)
      after = page.at(-1)?.number ?? after
      ended = page.length === 0
      ready = page.map(({ section, content }) => ({ section, content }))
    }
    return ready.shift() ?? null
  })
  // It owes a word whenever this waits for one: it has been told that its chunk was taken.
  const word = Effect.suspend(() =>
    Effect.timeoutOrElse(Queue.take(thread.inbox), {
      duration: silentMillis,
      orElse: () => Effect.succeed<Lost>({ type: "lost", reason: "the thread says nothing" })
    })
  )
  let owes = false
  const chunk: Effect.Effect<Option.Option<Uint8Array>, Unavailable> = Effect.gen(function* () {
    if (owes) tell(thread, { type: "taken" })
    owes = false
    for (;;) {
      const message = yield* word
      if (message.type === "chunk") {
        owes = true
        return Option.some(message.bytes)
      }
      if (message.type === "done") {
        thread.idle = true
        return Option.none()
      }
      // A fault of the renderer's is a defect: the same job would meet it again.
      if (message.type === "failed") return yield* Effect.die(new Error(`a statement: ${message.reason}`))
      if (message.type === "lost") {
        yield* Effect.logError("a thread that renders statements was lost", message.reason)
        return yield* away
      }
      tell(thread, { type: "piece", piece: yield* nextPiece })
    }
  })
  return Stream.unfold(0, () =>
    Effect.map(chunk, (found) => (Option.isNone(found) ? undefined : ([found.value, 0] as const)))
  )
}
