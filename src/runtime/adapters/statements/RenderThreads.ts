/**
 * Statements rendered in threads of their own, so that nobody waits for a document of thousands of pages: few of them, each with a
 * cap on its memory (architecture, Engine; STS-31). A thread whose reader has gone, that failed, or that ran out of memory is
 * ended; the next job gets a new one. One that is done waits for the next job.
 */
import { Effect, Layer, Option, Queue, Scope, Semaphore, Stream } from "effect"
import { Worker } from "node:worker_threads"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { type RenderJob, StatementRenderer } from "../../ports/StatementRenderer.ts"
import type { FromThread, Piece, ToThread } from "./protocol.ts"

export interface RenderThreadsOptions {
  /** Threads at a time. */
  readonly threads?: number
  /** Of each, megabytes: what a statement of 250,000 rows takes, with room. */
  readonly memoryMegabytes?: number
  /** The thread's program: a test's. */
  readonly program?: URL
}

const usual = {
  threads: 2,
  memoryMegabytes: 320,
  program: new URL("renderThread.ts", import.meta.url)
}

/** Jobs that wait for a thread; one more is asked to come back. */
const waitingJobs = 32

const away = new Unavailable({ unknown: false })

/** A thread and what it says. */
interface Thread {
  readonly worker: Worker
  inbox: Queue.Queue<FromThread>
  /** It is between jobs, and well. */
  idle: boolean
  ended: boolean
}

export const layerRenderThreads = (given: RenderThreadsOptions = {}): Layer.Layer<StatementRenderer> =>
  Layer.effect(
    StatementRenderer,
    Effect.gen(function* () {
      const options = { ...usual, ...given }
      const permits = Semaphore.makeUnsafe(options.threads)
      const idle: Array<Thread> = []
      let waiting = 0

      const open = Effect.gen(function* () {
        const found = idle.pop()
        const inbox = yield* Queue.unbounded<FromThread>()
        if (found !== undefined && !found.ended) {
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

      /** A thread for as long as the scope is open. */
      const thread: Effect.Effect<Thread, Unavailable, Scope.Scope> = Effect.gen(function* () {
        if (waiting >= waitingJobs) return yield* away
        waiting++
        yield* Effect.acquireRelease(
          permits.take(1).pipe(Effect.ensuring(Effect.sync(() => void waiting--))),
          () => permits.release(1),
          { interruptible: true }
        )
        return yield* Effect.acquireRelease(open, close)
      })

      return StatementRenderer.of({
        render: (job) =>
          Stream.unwrap(
            Effect.map(thread, (own) => {
              const { pieces: _, ...head } = job
              tell(own, { type: "job", head })
              return chunksOf(own, job)
            })
          )
      })
    })
  )

const startThread = (
  { program, memoryMegabytes }: { readonly program: URL; readonly memoryMegabytes: number },
  inbox: Queue.Queue<FromThread>
): Thread => {
  const worker = new Worker(program, {
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 32 },
    // What it prints is nobody's, and it knows nothing of the service's environment.
    stdout: true,
    stderr: true,
    env: {}
  })
  const thread: Thread = { worker, inbox, idle: false, ended: false }
  const fail = (reason: string) => {
    thread.ended = true
    Queue.offerUnsafe(thread.inbox, { type: "failed", reason })
  }
  worker.on("message", (message: FromThread) => void Queue.offerUnsafe(thread.inbox, message))
  worker.on("error", (error) => fail(error instanceof Error ? error.message : "the thread failed"))
  worker.on("exit", () => fail("the thread has ended"))
  return thread
}

// A thread of our own: there is no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const tell = ({ worker }: Thread, message: ToThread): void => worker.postMessage(message)

/** Feeds the thread what it wants until it is done; a chunk is taken when the next one is asked for. */
const chunksOf = (thread: Thread, { pieces }: RenderJob): Stream.Stream<Uint8Array, Unavailable> => {
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
  let owes = false
  const chunk: Effect.Effect<Option.Option<Uint8Array>, Unavailable> = Effect.gen(function* () {
    if (owes) tell(thread, { type: "taken" })
    owes = false
    for (;;) {
      const message = yield* Queue.take(thread.inbox)
      if (message.type === "chunk") {
        owes = true
        return Option.some(message.bytes)
      }
      if (message.type === "done") {
        thread.idle = true
        return Option.none()
      }
      if (message.type === "failed") {
        yield* Effect.logError("a statement could not be rendered", message.reason)
        return yield* away
      }
      tell(thread, { type: "piece", piece: yield* nextPiece })
    }
  })
  return Stream.unfold(0, () =>
    Effect.map(chunk, (found) => (Option.isNone(found) ? undefined : ([found.value, 0] as const)))
  )
}
