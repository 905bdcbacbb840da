/**
 * Builds models of statements in a worker thread, so that a statement with very many rows delays no caller. The thread
 * reads the rows, writes the canonical text, hashes, seals and stores it piece by piece. The service completes the
 * model. The thread starts with the first statement. If the thread is lost (out of memory, exited, or silent), its
 * builds end as if the database were unavailable, and the next build starts a new thread (STS-21, STS-22).
 */
import { Context, Effect, Layer, Queue, type Redacted, Redacted as Secret, Semaphore } from "effect"
import { Worker } from "node:worker_threads"
import { statementLimits } from "../../../../machines/shared/Limits.ts"
import { Unavailable } from "../../../engine/mailbox/DispatchError.ts"
import { passPausePoint } from "../../../engine/PausePoints.ts"
import type { Sealing } from "../../../engine/sealing/Sealing.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import type { StatementModels } from "../../../ports/StatementModels.ts"
import type { Built, StatementFacts } from "../model/buildStatement.ts"
import type { FromModelThread, ModelThreadData, ToModelThread } from "./modelProtocol.ts"

export interface ModelBuildsOptions {
  /** The most concurrent builds; further builds wait. */
  readonly running: number
  /** Heartbeat timeout of the thread, wall ms. */
  readonly silentMillis: number
  /** Memory limit of the thread, megabytes. It leaves a reserve beyond the need of the largest statements. */
  readonly memoryMegabytes: number
  /** The thread's program, which tests replace. */
  readonly program: URL
}

const usual: ModelBuildsOptions = {
  ...statementLimits.models,
  memoryMegabytes: 512,
  program: new URL("modelThread.ts", import.meta.url)
}

/** The store of the model; null: nothing is stored. */
type Store = Pick<StatementModels["Service"], "finish" | "drop"> | null

export class ModelBuilds extends Context.Service<
  ModelBuilds,
  {
    /** Builds and stores the model of these facts. The pieces of a failed build are deleted. */
    build(store: Store, modelId: number, facts: StatementFacts): Effect.Effect<Built, Unavailable>
  }
>()("brokerage/runtime/services/statements/build/ModelBuilds") {
  static readonly layer = (
    databaseUrl: Redacted.Redacted,
    given: Partial<ModelBuildsOptions> = {}
  ): Layer.Layer<ModelBuilds, never, SealingService> =>
    Layer.effect(
      ModelBuilds,
      Effect.gen(function* () {
        const options = { ...usual, ...given }
        const permits = Semaphore.makeUnsafe(options.running)
        const thread = new ModelThread(options, Secret.value(databaseUrl), yield* SealingService)
        yield* Effect.addFinalizer(() => thread.end)
        return ModelBuilds.of({
          build: (store, modelId, facts) =>
            permits
              .withPermits(1)(thread.build(store, modelId, facts))
              .pipe(Effect.onError(() => (store === null ? Effect.void : Effect.ignore(store.drop(modelId)))))
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

/** The thread that builds models now, and the inbox of each of its builds. */
class ModelThread {
  private readonly options: ModelBuildsOptions
  private readonly databaseUrl: string
  private readonly sealing: Sealing
  /** The key that the thread seals with. */
  private sealsWith = 0
  private readonly inboxes = new Map<number, Inbox>()
  private worker: Worker | null = null
  private lastJob = 0

  constructor(options: ModelBuildsOptions, databaseUrl: string, sealing: Sealing) {
    this.options = options
    this.databaseUrl = databaseUrl
    this.sealing = sealing
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
        this.sendKeys()
        this.send({ type: "build", job, model: { modelId, isStored: store !== null, building: rest, head, terms } })
        return yield* this.ended(store, modelId, job, inbox)
      })
    )
  }

  get end(): Effect.Effect<void> {
    return Effect.promise(async () => {
      await this.worker?.terminate()
    })
  }

  /** Handles the thread's messages about a build until it ends. */
  private ended(store: Store, modelId: number, job: number, inbox: Inbox): Effect.Effect<Built, Unavailable> {
    const next = Effect.timeoutOrElse(Queue.take(inbox), {
      duration: this.options.silentMillis,
      orElse: () => Effect.sync((): Lost => this.lose("the thread does not answer"))
    })
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        const message = yield* next
        if (message.type === "written") {
          passPausePoint("piece-written")
          this.send({ type: "stored", job })
        } else if (message.type === "built") {
          const { built, whole } = message
          if (!built.ok || whole === null || store === null) return built
          return { ok: true, model: { ...built.model, modelId: yield* store.finish(whole) } }
        } else if (message.type === "failed") return yield* Effect.die(new Error(message.reason))
        else if (message.type === "away") return yield* away
        else if (message.type === "lost") {
          yield* Effect.logError(
            "the thread that builds statements was lost: its builds fail, and the next build starts a new thread",
            message.reason
          )
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

  /** Removes a build that has ended or was abandoned. */
  private leave(job: number): void {
    this.inboxes.delete(job)
    this.send({ type: "stop", job })
    // An idle thread must not keep the process alive.
    if (this.inboxes.size === 0) this.worker?.unref()
  }

  private start(): Worker {
    const { program, memoryMegabytes } = this.options
    const keyring = this.sealing.keyring()
    this.sealsWith = keyring.current
    const worker = new Worker(program, {
      workerData: { databaseUrl: this.databaseUrl, keyring } satisfies ModelThreadData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 32 },
      // Discard the thread's output; pass no environment variables.
      stdout: true,
      stderr: true,
      env: {}
    })
    const lose = (reason: string) => worker === this.worker && this.lose(reason)
    worker.on("message", (message: FromModelThread) => worker === this.worker && this.receive(message))
    worker.on("error", (error) => lose(error instanceof Error ? error.message : "the thread failed"))
    worker.on("exit", () => lose("the thread has ended"))
    return worker
  }

  private receive(message: FromModelThread): void {
    this.sendKeys()
    if (message.type !== "alive") {
      const inbox = this.inboxes.get(message.job)
      return inbox === undefined ? undefined : void Queue.offerUnsafe(inbox, message)
    }
    for (const inbox of this.inboxes.values()) Queue.offerUnsafe(inbox, message)
  }

  /**
   * Sends the keys after a rotation. The thread sends a message every second, and then gets the new key. So all values
   * that it sealed with the old key are in the database long before the last search for such values.
   */
  private sendKeys(): void {
    if (this.sealing.current() === this.sealsWith) return
    const keyring = this.sealing.keyring()
    this.sealsWith = keyring.current
    this.send({ type: "keys", keyring })
  }

  /** Ends the thread, and with it all its builds. */
  private lose(reason: string): Lost {
    const lost: Lost = { type: "lost", reason }
    const { worker } = this
    this.worker = null
    void worker?.terminate()
    for (const inbox of this.inboxes.values()) Queue.offerUnsafe(inbox, lost)
    return lost
  }

  private send(message: ToModelThread): void {
    // The thread is this process's own, so there is no origin to name.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.worker?.postMessage(message)
  }
}
