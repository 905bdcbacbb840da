/**
 * The thread that builds models: reads, writes canonical text, hashes, seals and stores, so that the work stays out of
 * the memory of the serving threads. A few builds run in parallel, each from its own cut. ModelBuilds.ts starts it
 * with a memory limit.
 */
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Exit, Fiber, Layer, ManagedRuntime, Redacted, Semaphore } from "effect"
import type { SqlError } from "effect/sql"
import { availableParallelism } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import { giveWay } from "../../../engine/giveWay.ts"
import { Unavailable } from "../../../engine/mailbox/DispatchError.ts"
import { makeSealing, type SealingKeys } from "../../../engine/sealing/Sealing.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { type NewModel, type NewPiece, StatementModels } from "../../../ports/StatementModels.ts"
import { layerDatabasePool } from "../../../store/databasePool.ts"
import { type Built, buildModel } from "../model/buildStatement.ts"
import {
  aliveMillis,
  type ModelRequest,
  type FromModelThread,
  type ModelThreadData,
  type ToModelThread
} from "./modelProtocol.ts"
import { reasonOf } from "./reasonOf.ts"

const port = parentPort
if (port === null) throw new Error("this is a thread of the service")
// A caller waits for the build, but less urgently than callers of the service.
giveWay("some")

const { databaseUrl, keyring } = workerData as ModelThreadData

/** Keys arrive from another thread as plain bytes. */
const ownKeys = ({ current, keys }: SealingKeys): SealingKeys => ({
  current,
  keys: new Map([...keys].map(([number, bytes]) => [number, Buffer.from(bytes)]))
})
const sealing = makeSealing(ownKeys(keyring))

/**
 * One page is read while another is written, on one processor fewer than there are: callers find a free one, in the
 * database too. One more connection stores pieces.
 */
const connections = Math.min(3, Math.max(1, availableParallelism() - 1)) + 1

const database = ManagedRuntime.make(
  StatementModels.layer.pipe(
    Layer.provide(SealingService.layer(sealing)),
    Layer.provideMerge(
      layerDatabasePool({
        url: Redacted.make(databaseUrl),
        maxConnections: connections,
        applicationName: "brokerage-statements"
      })
    )
  )
)

const send = (message: FromModelThread): void =>
  // A thread posts to its parent alone, so there is no origin to name.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(message)

interface Running {
  readonly fiber: Fiber.Fiber<void>
  /** Pieces that the service has acknowledged. */
  readonly acknowledged: Semaphore.Semaphore
}

const running = new Map<number, Running>()

/**
 * Stores a piece while the next one is made, and keeps the head of the model: the service finishes the model, or drops
 * it.
 */
class Writing {
  whole: NewModel | null = null
  private readonly job: number
  private readonly acknowledged: Semaphore.Semaphore
  private readonly store: Pick<StatementModels["Service"], "write">
  private onTheWay: Fiber.Fiber<unknown, Unavailable> | null = null

  constructor(job: number, store: Pick<StatementModels["Service"], "write">, acknowledged: Semaphore.Semaphore) {
    this.job = job
    this.acknowledged = acknowledged
    this.store = store
  }

  readonly write = (piece: NewPiece): Effect.Effect<void, Unavailable> =>
    Effect.gen({ self: this }, function* () {
      yield* this.settled
      const written = Effect.andThen(
        Effect.map(this.store.write(piece), () => send({ type: "written", job: this.job })),
        this.acknowledged.take(1)
      )
      // Later pieces check that the first one is stored.
      if (piece.number === 0) yield* written
      else this.onTheWay = yield* Effect.forkChild(written)
    })

  readonly finish = (model: NewModel): Effect.Effect<number, Unavailable> =>
    Effect.map(this.settled, () => {
      this.whole = model
      return model.id
    })

  readonly drop = (): Effect.Effect<void> => Effect.void

  private get settled(): Effect.Effect<unknown, Unavailable> {
    return this.onTheWay === null ? Effect.void : Fiber.join(this.onTheWay)
  }
}

const report = (
  job: number,
  exit: Exit.Exit<readonly [Built, NewModel | null], Unavailable | SqlError.SqlError>
): void => {
  if (Exit.isSuccess(exit)) return send({ type: "built", job, built: exit.value[0], whole: exit.value[1] })
  if (Cause.hasInterruptsOnly(exit.cause)) return
  const error = Cause.squash(exit.cause)
  if (error instanceof Unavailable) return send({ type: "away", job })
  send({ type: "failed", job, reason: reasonOf(error) })
}

const nowhere = { write: () => Effect.void }

const build = (
  job: number,
  { modelId, isStored, building, head, terms }: ModelRequest,
  acknowledged: Semaphore.Semaphore
) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const writing = new Writing(job, isStored ? yield* StatementModels : nowhere, acknowledged)
    const built = yield* buildModel(writing, modelId, { building: { ...building, sql }, head, terms })
    return [built, writing.whole] as const
  })

const begin = (job: number, model: ModelRequest): void => {
  const acknowledged = Semaphore.makeUnsafe(0)
  const fiber = database.runFork(
    Effect.map(Effect.exit(build(job, model, acknowledged)), (exit) => report(job, exit)).pipe(
      Effect.ensuring(Effect.sync(() => void running.delete(job)))
    )
  ) as Fiber.Fiber<void>
  running.set(job, { fiber, acknowledged })
}

const alive = setInterval(() => {
  if (running.size > 0) send({ type: "alive" })
}, aliveMillis)
alive.unref()

port.on("message", (message: ToModelThread) => {
  if (message.type === "build") return begin(message.job, message.model)
  if (message.type === "keys") return sealing.adopt(ownKeys(message.keyring))
  const own = running.get(message.job)
  if (own === undefined) return
  if (message.type === "stored") return void Effect.runFork(own.acknowledged.release(1))
  running.delete(message.job)
  Effect.runFork(Fiber.interrupt(own.fiber))
})
