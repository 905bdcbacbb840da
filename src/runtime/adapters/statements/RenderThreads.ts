/**
 * Renders statements in worker threads, so that a document of thousands of pages blocks no request: a few threads, each with a
 * memory limit (architecture, Engine; STS-31). A thread is terminated if its reader has gone, if it failed, after a heartbeat
 * timeout, or when it runs out of memory; the next job then gets a new thread. A thread that finished its job waits for the
 * next job.
 */
import { Effect, Fiber, Layer, Option, Queue, Scope, Stream } from "effect"
import { Worker } from "node:worker_threads"
import { statementLimits } from "../../../machines/shared/Limits.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { type RenderJob, StatementRenderer } from "../../ports/StatementRenderer.ts"
import { ProcessorTurns } from "./ProcessorTurns.ts"
import type { FromThread, PackedPiece, RenderThreadData, ToThread } from "./protocol.ts"
import { type Seat, Seats, type SeatsOptions } from "./Seats.ts"

export interface RenderThreadsOptions extends SeatsOptions {
  /** Heartbeat timeout, ms: the thread is terminated after this much silence while a reply is due. */
  readonly silentMillis: number
  /** Memory limit of each thread, megabytes: enough for a statement of 250,000 rows, with a reserve. */
  readonly memoryMegabytes: number
  /** The thread's program; tests replace it. */
  readonly program: URL
}

const usual: RenderThreadsOptions = {
  ...statementLimits.files,
  memoryMegabytes: 320,
  program: new URL("renderThread.ts", import.meta.url)
}

const away = new Unavailable({ unknown: false })

/** The loss of a thread without a fault of the renderer: the same job may succeed in another one. */
interface Lost {
  readonly type: "lost"
  readonly reason: string
}
/** Preempted: the seat went to another partner's job. */
interface Cut {
  readonly type: "cut"
}
type ThreadMessage = FromThread | Lost | Cut

/** A thread and its messages. */
interface Thread {
  readonly worker: Worker
  inbox: Queue.Queue<ThreadMessage>
  /** True while the thread is between jobs and healthy. */
  idle: boolean
  /** True while the reader has not taken the thread's output. */
  isHeldUp: boolean
  ended: boolean
}

export const layerRenderThreads = (given: Partial<RenderThreadsOptions> = {}): Layer.Layer<StatementRenderer> =>
  Layer.effect(
    StatementRenderer,
    Effect.gen(function* () {
      const options = { ...usual, ...given }
      const seats = new Seats(options)
      const turns = ProcessorTurns.make()
      const idle: Array<Thread> = []

      const open = Effect.gen(function* () {
        const inbox = yield* Queue.unbounded<ThreadMessage>()
        // Skips threads that died while idle.
        for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
          if (found.ended) continue
          found.inbox = inbox
          found.idle = false
          found.isHeldUp = false
          found.worker.ref()
          return found
        }
        return startThread(options, turns, inbox)
      })

      const close = (thread: Thread) =>
        Effect.sync(() => {
          if (thread.idle && !thread.ended) {
            // An idle thread must not keep the process alive.
            thread.worker.unref()
            return void idle.push(thread)
          }
          thread.ended = true
          void thread.worker.terminate()
        })

      yield* Effect.addFinalizer(() =>
        Effect.promise(() => Promise.all(idle.splice(0).map(({ worker }) => worker.terminate())))
      )

      /** Lends a thread until the scope closes or another partner's job preempts this one. */
      const thread = (partnerId: number): Effect.Effect<Thread, Unavailable, Scope.Scope> =>
        Effect.gen(function* () {
          const seat: Seat | null = yield* Effect.acquireRelease(
            Effect.sync(() => seats.enter(partnerId)),
            (taken) => Effect.sync(() => taken !== null && seats.leave(taken))
          )
          if (seat === null || !(yield* seats.granted(seat))) return yield* away
          const own = yield* Effect.acquireRelease(open, close)
          seat.isHeldUp = () => own.isHeldUp
          seat.cut = () => {
            own.ended = true
            void own.worker.terminate()
            Queue.offerUnsafe(own.inbox, { type: "cut" })
          }
          return own
        })

      return StatementRenderer.of({
        render: (job) =>
          Stream.unwrap(
            Effect.gen(function* () {
              const own = yield* thread(job.partnerId)
              const { pieces: _, partnerId: __, ...head } = job
              send(own, { type: "job", head })
              return chunksOf(own, yield* readAhead(job.pieces), options.silentMillis)
            })
          )
      })
    })
  )

const startThread = (
  { program, memoryMegabytes }: Pick<RenderThreadsOptions, "program" | "memoryMegabytes">,
  turns: ProcessorTurns,
  inbox: Queue.Queue<ThreadMessage>
): Thread => {
  const worker = new Worker(program, {
    workerData: { turns: turns.shared } satisfies RenderThreadData,
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 32 },
    // Discards the thread's output; passes no environment variables.
    stdout: true,
    stderr: true,
    env: {}
  })
  const { threadId } = worker
  const thread: Thread = { worker, inbox, idle: false, isHeldUp: false, ended: false }
  const lose = (reason: string) => {
    // A thread that was terminated on purpose is no loss.
    if (thread.ended) return
    thread.ended = true
    Queue.offerUnsafe(thread.inbox, { type: "lost", reason })
  }
  worker.on("message", (message: FromThread) => void Queue.offerUnsafe(thread.inbox, message))
  worker.on("error", (error) => lose(error instanceof Error ? error.message : "the thread failed"))
  worker.on("exit", () => {
    turns.leave(threadId)
    lose("the thread has ended")
  })
  return thread
}

// A message to a worker thread of this process has no target origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const send = ({ worker }: Thread, message: ToThread): void => worker.postMessage(message)

/** Emits the pieces in order, then null; the next page is read while the pieces of the last one are processed. */
const readAhead = (
  pieces: RenderJob["pieces"]
): Effect.Effect<Effect.Effect<PackedPiece | null, Unavailable>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const read = (after: number) => Effect.forkIn(pieces(after), scope)
    let page: Array<PackedPiece> = []
    let ahead: Fiber.Fiber<ReadonlyArray<PackedPiece & { readonly number: number }>, Unavailable> | null = null
    let isBegun = false
    return Effect.gen(function* () {
      while (page.length === 0) {
        if (ahead === null && isBegun) return null
        isBegun = true
        const found = yield* Fiber.join(ahead ?? (yield* read(-1)))
        const last = found.at(-1)
        ahead = last === undefined ? null : yield* read(last.number)
        page = found.map(({ section, content }) => ({ section, content }))
      }
      return page.shift() ?? null
    })
  })

/** Sends the thread the pieces that it requests until it is done; a chunk counts as taken when the next one is requested. */
const chunksOf = (
  thread: Thread,
  nextPiece: Effect.Effect<PackedPiece | null, Unavailable>,
  silentMillis: number
): Stream.Stream<Uint8Array, Unavailable> => {
  // Every wait is for a reply that is due, so silence beyond the limit means that the thread hangs.
  const nextMessage = Effect.suspend(() =>
    Effect.timeoutOrElse(Queue.take(thread.inbox), {
      duration: silentMillis,
      orElse: () => Effect.succeed<Lost>({ type: "lost", reason: "the thread does not answer" })
    })
  )
  const chunk: Effect.Effect<Option.Option<Uint8Array>, Unavailable> = Effect.gen(function* () {
    if (thread.isHeldUp) send(thread, { type: "taken" })
    thread.isHeldUp = false
    for (;;) {
      const message = yield* nextMessage
      if (message.type === "chunk") {
        thread.isHeldUp = true
        return Option.some(message.bytes)
      }
      if (message.type === "done") {
        thread.idle = true
        return Option.none()
      }
      // A fault of the renderer is a defect: the same job would fail again.
      if (message.type === "failed") return yield* Effect.die(new Error(`a statement: ${message.reason}`))
      if (message.type === "cut") {
        yield* Effect.logInfo(
          "the download of a slow reader of a statement was ended: another partner waited for the rendering thread"
        )
        return yield* away
      }
      if (message.type === "lost") {
        yield* Effect.logError(
          "a thread that renders statements was lost: its reader gets 503 or a truncated file, and the next file gets a new thread",
          message.reason
        )
        return yield* away
      }
      send(thread, { type: "piece", piece: yield* nextPiece })
    }
  })
  return Stream.unfold(0, () =>
    Effect.map(chunk, (found) => (Option.isNone(found) ? undefined : ([found.value, 0] as const)))
  )
}
