/**
 * The thread that builds models: reads, puts into canonical text, hashes, seals and stores, so that none of it passes through the
 * memory of those who serve. Some builds at a time, each from its cut alone. Started by ModelBuilds.ts with a cap on its memory.
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
  type AskedModel,
  type FromModelThread,
  type ModelThreadData,
  type ToModelThread
} from "./modelProtocol.ts"
import { reasonOf } from "./reasonOf.ts"

const port = parentPort
if (port === null) throw new Error("this is a thread of the service")
// Somebody waits for it, if not as urgently as those whom the service answers meanwhile.
giveWay("some")

const { databaseUrl, keyring } = workerData as ModelThreadData

/** Of keys that have come from another thread: bytes. */
const ownKeys = ({ current, keys }: SealingKeys): SealingKeys => ({
  current,
  keys: new Map([...keys].map(([number, bytes]) => [number, Buffer.from(bytes)]))
})
const sealing = makeSealing(ownKeys(keyring))

/**
 * A page is read while another one is written, by one processor fewer than there are: callers find one free, in the database too. One
 * more stores pieces.
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

const say = (message: FromModelThread): void =>
  // A thread speaks to its parent alone: there is no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(message)

interface Running {
  readonly fiber: Fiber.Fiber<void>
  /** Pieces that the service has heard of. */
  readonly heard: Semaphore.Semaphore
}

const running = new Map<number, Running>()

/** Stores a piece while the next one is made, and keeps what is said of the whole: the service finishes it, or drops it. */
class Writing {
  whole: NewModel | null = null
  private readonly job: number
  private readonly heard: Semaphore.Semaphore
  private readonly store: Pick<StatementModels["Service"], "write">
  private onTheWay: Fiber.Fiber<unknown, Unavailable> | null = null

  constructor(job: number, store: Pick<StatementModels["Service"], "write">, heard: Semaphore.Semaphore) {
    this.job = job
    this.heard = heard
    this.store = store
  }

  readonly write = (piece: NewPiece): Effect.Effect<void, Unavailable> =>
    Effect.gen({ self: this }, function* () {
      yield* this.settled
      const written = Effect.andThen(
        Effect.map(this.store.write(piece), () => say({ type: "written", job: this.job })),
        this.heard.take(1)
      )
      // Later ones look whether the first is there.
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

const told = (
  job: number,
  exit: Exit.Exit<readonly [Built, NewModel | null], Unavailable | SqlError.SqlError>
): void => {
  if (Exit.isSuccess(exit)) return say({ type: "built", job, built: exit.value[0], whole: exit.value[1] })
  if (Cause.hasInterruptsOnly(exit.cause)) return
  const error = Cause.squash(exit.cause)
  if (error instanceof Unavailable) return say({ type: "away", job })
  say({ type: "failed", job, reason: reasonOf(error) })
}

const nowhere = { write: () => Effect.void }

const build = (job: number, { modelId, isStored, building, head, terms }: AskedModel, heard: Semaphore.Semaphore) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const writing = new Writing(job, isStored ? yield* StatementModels : nowhere, heard)
    const built = yield* buildModel(writing, modelId, { building: { ...building, sql }, head, terms })
    return [built, writing.whole] as const
  })

const begin = (job: number, asked: AskedModel): void => {
  const heard = Semaphore.makeUnsafe(0)
  const fiber = database.runFork(
    Effect.map(Effect.exit(build(job, asked, heard)), (exit) => told(job, exit)).pipe(
      Effect.ensuring(Effect.sync(() => void running.delete(job)))
    )
  ) as Fiber.Fiber<void>
  running.set(job, { fiber, heard })
}

const alive = setInterval(() => {
  if (running.size > 0) say({ type: "alive" })
}, aliveMillis)
alive.unref()

port.on("message", (message: ToModelThread) => {
  if (message.type === "build") return begin(message.job, message.asked)
  if (message.type === "keys") return sealing.adopt(ownKeys(message.keyring))
  const own = running.get(message.job)
  if (own === undefined) return
  if (message.type === "heard") return void Effect.runFork(own.heard.release(1))
  running.delete(message.job)
  Effect.runFork(Fiber.interrupt(own.fiber))
})
