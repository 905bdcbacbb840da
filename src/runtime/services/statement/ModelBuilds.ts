/**
 * Models of statements are built in a thread of their own, so that nobody waits for a statement of very many rows (STS-21, STS-22):
 * it reads, writes the canonical text and hashes it; the service stores what it is handed, piece by piece. The thread begins with the
 * first statement. One that is lost (out of memory, ended, or saying nothing) ends the builds in it, as if the database had been
 * away; the next build gets a new one.
 */
import { Context, Effect, Layer, Queue, type Redacted, Redacted as Secret, Semaphore } from "effect"
import { Worker } from "node:worker_threads"
import { statementLimits } from "../../../machines/shared/Limits.ts"
import { Unavailable } from "../../engine/mailbox/DispatchError.ts"
import { passPausePoint } from "../../engine/PausePoints.ts"
import type { StatementModels } from "../../ports/StatementModels.ts"
import type { Built, StatementFacts } from "./buildStatement.ts"
import type { FromModelThread, ModelThreadData, ToModelThread } from "./modelProtocol.ts"

export interface ModelBuildsOptions {
  /** Builds at a time; any further one waits. */
  readonly running: number
  /** How long the thread may say nothing, wall milliseconds. */
  readonly silentMillis: number
  /** Of the thread, megabytes: what the largest statements take, with room. */
  readonly memoryMegabytes: number
  /** The thread's program: a test's. */
  readonly program: URL
}

const usual: ModelBuildsOptions = {
  ...statementLimits.models,
  memoryMegabytes: 512,
  program: new URL("modelThread.ts", import.meta.url)
}

type Store = Pick<StatementModels["Service"], "write" | "finish" | "drop">

export class ModelBuilds extends Context.Service<
  ModelBuilds,
  {
    /** Builds the model of these facts and stores it; what was stored of one that fails is dropped. */
    build(store: Store, modelId: number, facts: StatementFacts): Effect.Effect<Built, Unavailable>
  }
>()("brokerage/runtime/services/statement/ModelBuilds") {
  static readonly layer = (
    databaseUrl: Redacted.Redacted,
    given: Partial<ModelBuildsOptions> = {}
  ): Layer.Layer<ModelBuilds> =>
    Layer.effect(
      ModelBuilds,
      Effect.gen(function* () {
        const options = { ...usual, ...given }
        const permits = Semaphore.makeUnsafe(options.running)
        const thread = new ModelThread(options, { databaseUrl: Secret.value(databaseUrl) })
        yield* Effect.addFinalizer(() => thread.end)
        return ModelBuilds.of({
          build: (store, modelId, facts) =>
            permits
              .withPermits(1)(thread.build(store, modelId, facts))
              .pipe(Effect.onError(() => Effect.ignore(store.drop(modelId))))
        })
      })
    )
}

const away = new Unavailable({ unknown: false })

interface Lost {
  readonly type: "lost"
  readonly reason: string
}

type Inbox = Queue.Queue<FromModelThread | Lost>

/** The thread of now, and what it says to each of its builds. */
class ModelThread {
  private readonly options: ModelBuildsOptions
  private readonly data: ModelThreadData
  private readonly inboxes = new Map<number, Inbox>()
  private worker: Worker | null = null
  private lastJob = 0

  constructor(options: ModelBuildsOptions, data: ModelThreadData) {
    this.options = options
    this.data = data
  }

  build(store: Store, modelId: number, { building, head, terms }: StatementFacts): Effect.Effect<Built, Unavailable> {
    const { sql: _, ...rest } = building
    return Effect.scoped(
      Effect.gen({ self: this }, function* () {
        const inbox: Inbox = yield* Queue.unbounded<FromModelThread | Lost>()
        const job = ++this.lastJob
        yield* Effect.acquireRelease(
          Effect.sync(() => this.enter(job, inbox)),
          () => Effect.sync(() => this.leave(job))
        )
        this.tell({ type: "build", job, asked: { modelId, building: rest, head, terms } })
        return yield* this.taken(store, { modelId, ...building.client }, job, inbox)
      })
    )
  }

  get end(): Effect.Effect<void> {
    return Effect.promise(async () => {
      await this.worker?.terminate()
    })
  }

  /** Stores what the thread hands over, until it says how the build has ended. */
  private taken(
    store: Store,
    {
      modelId,
      partnerId,
      clientId
    }: { readonly modelId: number; readonly partnerId: number; readonly clientId: number },
    job: number,
    inbox: Inbox
  ): Effect.Effect<Built, Unavailable> {
    const word = Effect.timeoutOrElse(Queue.take(inbox), {
      duration: this.options.silentMillis,
      orElse: () => Effect.sync((): Lost => this.lose("the thread says nothing"))
    })
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        const message = yield* word
        if (message.type === "piece") {
          const { number, section, bytes: content } = message
          yield* store.write({ modelId, number, partnerId, clientId, section, content })
          passPausePoint("piece-written")
          this.tell({ type: "taken", job })
        } else if (message.type === "built") {
          const { built, whole } = message
          if (!built.ok || whole === null) return built
          return { ok: true, model: { ...built.model, modelId: yield* store.finish(whole) } }
        } else if (message.type === "failed") return yield* Effect.die(new Error(message.reason))
        else if (message.type === "away") return yield* away
        else if (message.type === "lost") {
          yield* Effect.logError("the thread that builds statements was lost", message.reason)
          return yield* away
        }
      }
    })
  }

  private enter(job: number, inbox: Inbox): void {
    this.inboxes.set(job, inbox)
    this.worker ??= this.start()
    this.worker.ref()
  }

  /** Whether the build has ended or nobody wants it any more. */
  private leave(job: number): void {
    this.inboxes.delete(job)
    this.tell({ type: "stop", job })
    // A thread that waits for work keeps no process alive.
    if (this.inboxes.size === 0) this.worker?.unref()
  }

  private start(): Worker {
    const { program, memoryMegabytes } = this.options
    const worker = new Worker(program, {
      workerData: this.data,
      resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 32 },
      // What it prints is nobody's, and it knows nothing of the service's environment.
      stdout: true,
      stderr: true,
      env: {}
    })
    const lose = (reason: string) => worker === this.worker && this.lose(reason)
    worker.on("message", (message: FromModelThread) => worker === this.worker && this.hear(message))
    worker.on("error", (error) => lose(error instanceof Error ? error.message : "the thread failed"))
    worker.on("exit", () => lose("the thread has ended"))
    return worker
  }

  private hear(message: FromModelThread): void {
    if (message.type !== "alive") {
      const inbox = this.inboxes.get(message.job)
      return inbox === undefined ? undefined : void Queue.offerUnsafe(inbox, message)
    }
    for (const inbox of this.inboxes.values()) Queue.offerUnsafe(inbox, message)
  }

  /** Ends the thread and all builds in it. */
  private lose(reason: string): Lost {
    const lost: Lost = { type: "lost", reason }
    const { worker } = this
    this.worker = null
    void worker?.terminate()
    for (const inbox of this.inboxes.values()) Queue.offerUnsafe(inbox, lost)
    return lost
  }

  private tell(message: ToModelThread): void {
    // A thread of our own: there is no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.worker?.postMessage(message)
  }
}
