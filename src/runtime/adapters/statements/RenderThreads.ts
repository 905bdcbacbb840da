/**
 * Statements rendered in threads of their own, so that nobody waits for a document of thousands of pages: few of them, each with a
 * cap on its memory (architecture, Engine; STS-31). A thread whose reader has gone, that failed, that says nothing any more, or that
 * ran out of memory is ended; the next job gets a new one. One that is done waits for the next job.
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
/** Its place is another partner's now. */
interface Cut {
  readonly type: "cut"
}
type Word = FromThread | Lost | Cut

/** A thread and what it says. */
interface Thread {
  readonly worker: Worker
  inbox: Queue.Queue<Word>
  /** It is between jobs, and well. */
  idle: boolean
  /** What it made waits to be taken by its reader. */
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
        const inbox = yield* Queue.unbounded<Word>()
        // One that was lost between two jobs is none to take.
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

      /** A thread for as long as the scope is open, or until its reader is cut. */
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
              tell(own, { type: "job", head })
              return chunksOf(own, yield* readAhead(job.pieces), options.silentMillis)
            })
          )
      })
    })
  )

const startThread = (
  { program, memoryMegabytes }: Pick<RenderThreadsOptions, "program" | "memoryMegabytes">,
  turns: ProcessorTurns,
  inbox: Queue.Queue<Word>
): Thread => {
  const worker = new Worker(program, {
    workerData: { turns: turns.shared } satisfies RenderThreadData,
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 32 },
    // What it prints is nobody's, and it knows nothing of the service's environment.
    stdout: true,
    stderr: true,
    env: {}
  })
  const { threadId } = worker
  const thread: Thread = { worker, inbox, idle: false, isHeldUp: false, ended: false }
  const lose = (reason: string) => {
    // One that was ended on purpose is no loss.
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

// A thread of our own: there is no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const tell = ({ worker }: Thread, message: ToThread): void => worker.postMessage(message)

/** The pieces one after the other, null behind the last; the next page is read while those of the last one are worked on. */
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

/** Feeds the thread what it wants until it is done; a chunk is taken when the next one is asked for. */
const chunksOf = (
  thread: Thread,
  nextPiece: Effect.Effect<PackedPiece | null, Unavailable>,
  silentMillis: number
): Stream.Stream<Uint8Array, Unavailable> => {
  // It owes a word whenever this waits for one: it has been told that its chunk was taken.
  const word = Effect.suspend(() =>
    Effect.timeoutOrElse(Queue.take(thread.inbox), {
      duration: silentMillis,
      orElse: () => Effect.succeed<Lost>({ type: "lost", reason: "the thread does not answer" })
    })
  )
  const chunk: Effect.Effect<Option.Option<Uint8Array>, Unavailable> = Effect.gen(function* () {
    if (thread.isHeldUp) tell(thread, { type: "taken" })
    thread.isHeldUp = false
    for (;;) {
      const message = yield* word
      if (message.type === "chunk") {
        thread.isHeldUp = true
        return Option.some(message.bytes)
      }
      if (message.type === "done") {
        thread.idle = true
        return Option.none()
      }
      // A fault of the renderer's is a defect: the same job would meet it again.
      if (message.type === "failed") return yield* Effect.die(new Error(`a statement: ${message.reason}`))
      if (message.type === "cut") {
        yield* Effect.logInfo("a slow reader of a statement was cut: another partner waited")
        return yield* away
      }
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
