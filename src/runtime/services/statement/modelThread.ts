/**
 * The thread that builds models: reads, puts into canonical text and hashes what the service then stores. Some builds at a time, each
 * from its cut alone. Started by ModelBuilds.ts with a cap on its memory.
 */
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Exit, Fiber, ManagedRuntime, Redacted, Semaphore } from "effect"
import type { SqlError } from "effect/sql"
import { availableParallelism } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import { giveWay } from "../../engine/giveWay.ts"
import { Unavailable } from "../../engine/mailbox/DispatchError.ts"
import type { NewModel, StatementModels } from "../../ports/StatementModels.ts"
import { layerDatabasePool } from "../../store/databasePool.ts"
import { type Built, buildModel } from "./buildStatement.ts"
import {
  aliveMillis,
  type AskedModel,
  type FromModelThread,
  type ModelThreadData,
  piecesOnTheWay,
  type ToModelThread
} from "./modelProtocol.ts"
import { reasonOf } from "./reasonOf.ts"

const port = parentPort
if (port === null) throw new Error("this is a thread of the service")
// Somebody waits for it, if not as urgently as those whom the service answers meanwhile.
giveWay("some")

/** A page is read while another one is written, by one processor fewer than there are: callers find one free, in the database too. */
const connections = Math.min(3, Math.max(1, availableParallelism() - 1))

const database = ManagedRuntime.make(
  layerDatabasePool({
    url: Redacted.make((workerData as ModelThreadData).databaseUrl),
    maxConnections: connections,
    applicationName: "brokerage-statements"
  })
)

const say = (message: FromModelThread, transfer: ReadonlyArray<ArrayBuffer> = []): void =>
  // A thread speaks to its parent alone: there is no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(message, [...transfer])

interface Running {
  readonly room: Semaphore.Semaphore
  fiber: Fiber.Fiber<void> | null
}

const running = new Map<number, Running>()

/** Hands pieces to the service, which stores them, and keeps what is said of the whole. */
class Handed {
  whole: NewModel | null = null
  private readonly job: number
  private readonly room: Semaphore.Semaphore

  constructor(job: number, room: Semaphore.Semaphore) {
    this.job = job
    this.room = room
  }

  readonly write: StatementModels["Service"]["write"] = ({ number, section, content }) =>
    Effect.map(this.room.take(1), () => {
      // Bytes of their own: what belongs to a pool can't be handed over.
      const bytes = new TextEncoder().encode(content as string)
      say({ type: "piece", job: this.job, number, section, bytes }, [bytes.buffer as ArrayBuffer])
    })

  readonly finish = (model: NewModel): Effect.Effect<number> =>
    Effect.sync(() => {
      this.whole = model
      return model.id
    })

  /** What is stored is the service's. */
  readonly drop = (): Effect.Effect<void> => Effect.void
}

const built = (models: Handed, { modelId, building, head, terms }: AskedModel) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    buildModel(models, modelId, { building: { ...building, sql }, head, terms })
  )

const told = (job: number, models: Handed, exit: Exit.Exit<Built, Unavailable | SqlError.SqlError>): void => {
  if (Exit.isSuccess(exit)) return say({ type: "built", job, built: exit.value, whole: models.whole })
  if (Cause.hasInterruptsOnly(exit.cause)) return
  const error = Cause.squash(exit.cause)
  if (error instanceof Unavailable) return say({ type: "away", job })
  say({ type: "failed", job, reason: reasonOf(error) })
}

const begin = (job: number, asked: AskedModel): void => {
  const room = Semaphore.makeUnsafe(piecesOnTheWay)
  const own: Running = { room, fiber: null }
  running.set(job, own)
  const models = new Handed(job, room)
  own.fiber = database.runFork(
    Effect.map(Effect.exit(built(models, asked)), (exit) => told(job, models, exit)).pipe(
      Effect.ensuring(Effect.sync(() => void running.delete(job)))
    )
  ) as Fiber.Fiber<void>
}

const alive = setInterval(() => {
  if (running.size > 0) say({ type: "alive" })
}, aliveMillis)
alive.unref()

port.on("message", (message: ToModelThread) => {
  if (message.type === "build") return begin(message.job, message.asked)
  const own = running.get(message.job)
  if (own === undefined) return
  if (message.type === "taken") return void Effect.runFork(own.room.release(1))
  running.delete(message.job)
  if (own.fiber !== null) Effect.runFork(Fiber.interrupt(own.fiber))
})
