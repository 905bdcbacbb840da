/**
 * The thread that builds models: reads rows, writes canonical text, hashes, seals and stores. So this work stays out of
 * the memory of the threads that serve callers. A few builds run concurrently, each on its own cut. ModelBuilds.ts
 * starts the thread with a memory limit.
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
// A caller waits for each build, but callers of the service are more urgent.
giveWay("some")

const { databaseUrl, keyring } = workerData as ModelThreadData

/** The keys as buffers: another thread's message contains them as plain bytes. */
const ownKeys = ({ current, keys }: SealingKeys): SealingKeys => ({
  current,
  keys: new Map([...keys].map(([number, bytes]) => [number, Buffer.from(bytes)]))
})
const sealing = makeSealing(ownKeys(keyring))

/**
 * The connections for reads are fewer than the processors, so that one processor stays free for callers, in the
 * database too. One page is read while another is written. One more connection stores pieces.
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
  // The thread posts only to its parent, so there is no origin to name.
  port.postMessage(message)

interface Running {
  readonly fiber: Fiber.Fiber<void>
  /** Counts the pieces that the service has acknowledged. */
  readonly acknowledged: Semaphore.Semaphore
}

const running = new Map<number, Running>()

/**
 * Stores each piece while the next one is made, and keeps the head of the model. The service then finishes or deletes
 * the model.
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
      // Later pieces depend on the first one, so it is stored before the next is made.
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
